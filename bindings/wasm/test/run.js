// run.js - runs the cases in a browser; in a worker, when a message arrives.
import { load } from "../bloomery.js";
import cases from "./cases.js";

export async function run(where) {
    const given = await (await fetch("/given")).json();
    for (const [name, bytes] of Object.entries(given.golden))
        given.golden[name] = Uint8Array.from(bytes);
    given.wasm = async () =>
        new Uint8Array(await (await fetch("../bloomery.wasm")).arrayBuffer());
    const results = [];
    await load();
    for (const [name, work] of cases)
        try {
            await work(given);
            results.push({ where, name });
        } catch (error) {
            results.push({ where, name, error: String(error.stack ?? error) });
        }
    return results;
}

if (typeof WorkerGlobalScope === "function")
    self.onmessage = async () => self.postMessage(await run("worker"));
