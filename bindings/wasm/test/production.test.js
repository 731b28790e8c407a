// production.test.js - tests the sentences of docs/library/javascript-production.md that
// no other test covers.
import { fork, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process, { env } from "node:process";
import test from "node:test";
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { gzipSync } from "node:zlib";

import { Filter, load, memory } from "../bloomery.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const source = new URL("../bloomery.js", import.meta.url).href;
const folder = mkdtempSync(join(tmpdir(), "bloomery-wasm-"));
process.on("exit", () => rmSync(folder, { recursive: true }));
await load();

function script(name, text) {
    const path = join(folder, name);
    writeFileSync(path, text.replaceAll("SOURCE", JSON.stringify(source)));
    return path;
}

const book = env.BLOOMERY_BOOK;
test("the page states the sizes of the entries",
     { skip: book ? false : "BLOOMERY_BOOK is not set" }, () => {
    const page = readFileSync(join(book, "library", "javascript-production.md"), "utf8");
    const size = (name) => gzipSync(readFileSync(join(root, name)), { level: 9 }).length;
    const stated = (row) => {
        const line = page.split("\n").find((one) => one.startsWith(`| \`${row}\``));
        return [...line.split("|").at(-2).matchAll(/\d+/g)].map(([n]) => Number(n));
    };
    for (const [row, ...names] of [["bloomery", "bloomery.js", "bloomery.wasm", "sets.wasm"],
                                   ["bloomery/inline", "inline.js"],
                                   ["bloomery/inline/sets", "inline-sets.js"],
                                   ["bloomery/bloomery.wasm", "bloomery.wasm",
                                    "sets.wasm"]]) {
        const numbers = stated(row);
        assert.equal(numbers.length, names.length, row);
        for (const [i, name] of names.entries())
            assert.ok(Math.abs(size(name) / 1000 - numbers[i]) < 2 + numbers[i] / 50,
                      `${name} has ${size(name)} bytes, and ${numbers[i]} KB are stated`);
    }
});

test("a filter goes to another process as bytes", async () => {
    const child = fork(script("child.mjs", `
        import { Filter, load } from SOURCE;
        await load();
        process.on("message", (bytes) => {
            process.send(Filter.fromBytes(bytes).containsMany(["a", "b", "x"]));
        });
        process.send("ready");`), { serialization: "advanced" });
    await once(child, "message");
    const filter = new Filter("standard", { items: 100, rate: 1e-6 });
    filter.addMany(["a", "b"]);
    assert.throws(() => child.send(filter), /send filter\.transfer\(\)/);
    child.send(filter.pack());
    const [found] = await once(child, "message");
    assert.deepEqual([...found], [1, 1, 0]);
    child.disconnect();
    await once(child, "exit");
});

test("JSON takes a third more than the bytes", () => {
    const filter = new Filter("standard", { items: 10_000 });
    const ratio = JSON.stringify(filter).length / filter.pack().length;
    assert.ok(ratio > 1.33 && ratio < 1.35, `${ratio}`);
});

const LARGE = 40e6;             // bytes

test("a filter is in the module's memory, which does not shrink", () => {
    const { heapUsed } = process.memoryUsage(), before = memory();
    const filter = new Filter(`standard:m=${8 * LARGE},k=1`, {});
    assert.ok(memory() - before > 0.9 * LARGE);
    assert.ok(process.memoryUsage().heapUsed - heapUsed < LARGE / 4);
    const most = memory();
    filter.free();
    assert.equal(memory(), most);
    new Filter(`standard:m=${8 * LARGE},k=1`, {}).free();
    assert.equal(memory(), most, "freed memory is used again");
});

test("the memory of a worker is returned when it ends", async () => {
    const rss = () => process.memoryUsage().rss;
    const worker = new Worker(script("worker.mjs", `
        import { parentPort } from "node:worker_threads";
        import { Filter, load } from SOURCE;
        await load();
        const filter = new Filter("standard:m=${5 * 8 * LARGE},k=1", {});
        filter.clear();                         // writes every page
        parentPort.once("message", () => {});   // keeps the thread
        parentPort.postMessage("ready");`));
    await once(worker, "message");
    const large = rss();
    await worker.terminate();
    for (let i = 0; i < 500 && large - rss() < 4 * LARGE; i++)
        await new Promise((resolve) => setTimeout(resolve, 20));
    assert.ok(large - rss() > 4 * LARGE, `${large} bytes became ${rss()}`);
});

test("signals and timers wait until a call returns", async () => {
    const child = spawn(process.execPath, [script("signal.mjs", `
        import { Filter, load } from SOURCE;
        await load();
        const said = [];
        process.on("SIGTERM", () => {
            console.log([...said, "signal"].join());
            process.exit();
        });
        setTimeout(() => said.push("timer"), 0);
        setInterval(() => {}, 1000);
        const filter = new Filter("standard", { items: 1e6 });
        let sent = false;
        const now = performance.now;
        let time = 0;
        performance.now = () => time += 1000;   // each question is asked
        filter.addMany(Int32Array.from({ length: 1e6 }, (_, i) => i), {
            progress() {
                if (!sent)
                    process.kill(process.pid, "SIGTERM");
                sent = true;
            } });
        performance.now = now;
        said.push(sent ? "call" : "no report");`)],
        { stdio: ["ignore", "pipe", "inherit"] });
    let text = "";
    child.stdout.on("data", (part) => { text += part; });
    await once(child, "close");
    assert.match(text, /^call,(timer,)?signal\n$/);
});

test("SIGTERM without a handler ends the process within a call", async () => {
    const child = spawn(process.execPath, [script("endless.mjs", `
        import { writeSync } from "node:fs";
        import { Filter, load } from SOURCE;
        await load();
        function* endless() {
            writeSync(1, "ready");
            for (;;)
                yield "a";
        }
        new Filter("standard", { items: 10 }).addMany(endless());`)],
        { stdio: ["ignore", "pipe", "inherit"] });
    await once(child.stdout, "data");
    child.kill("SIGTERM");
    const [code, signal] = await once(child, "exit");
    assert.deepEqual([code, signal], [null, "SIGTERM"]);
});
