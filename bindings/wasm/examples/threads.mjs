// threads.mjs - builds a filter of many files with several threads of Node:
//
//      node threads.mjs FILTER.bly FILE...
//
// Each line is a key. Every thread has an instance of the library and a filter of its
// own. The filters have the same plan, so the main thread can unite them; transfer()
// moves them between threads without a copy by postMessage.
import { readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import { Worker, isMainThread, parentPort, workerData } from "node:worker_threads";
import { load, Filter } from "bloomery";

const THREADS = 4, PLAN = { items: 1_000_000, rate: 0.001, keys: "text" };

await load();
if (isMainThread)
    await main(...process.argv.slice(2));
else
    part(workerData);

function part(files) {
    const filter = new Filter("blocked", PLAN);
    for (const file of files) {
        const lines = readFileSync(file, "utf8").split("\n");
        if (lines.at(-1) === "")
            lines.pop();
        filter.addMany(lines);
    }
    const buffer = filter.transfer();           // frees the filter
    parentPort.postMessage(buffer, [buffer]);
}

async function main(to, ...files) {
    const shares = Array.from({ length: Math.min(THREADS, files.length) }, () => []);
    files.forEach((file, i) => shares[i % shares.length].push(file));
    const all = new Filter("blocked", PLAN);
    await Promise.all(shares.map(async (workerData) => {
        const worker = new Worker(new URL(import.meta.url), { workerData });
        const buffer = await new Promise((resolve, reject) => {
            worker.once("message", resolve).once("error", reject);
        });
        const filter = Filter.fromBytes(buffer);
        all.unite(filter);
        filter.free();
    }));
    writeFileSync(to, all.pack());
    console.log(`${Math.round(all.info().distinct)} different lines, estimated`);
}
