// page.js - runs the cases in the page and in a worker, and posts the results.
import { run } from "./run.js";

const worker = new Worker(new URL("run.js", import.meta.url), { type: "module" });
const there = new Promise((resolve) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = ({ message }) => resolve([{ where: "worker", name: "it starts",
                                                 error: message ?? "it did not" }]);
    worker.postMessage("run");
});
let results;
try {
    results = [...await run("page"), ...await there];
} catch (error) {
    results = [{ where: "page", name: "it starts", error: String(error.stack) }];
}
await fetch("/told", { method: "POST", body: JSON.stringify(results) });
