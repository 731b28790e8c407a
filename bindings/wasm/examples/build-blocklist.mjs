// build-blocklist.mjs - makes the filter that blocklist.js queries:
//
//      node build-blocklist.mjs HOSTS BLOCKLIST.bly
//
// HOSTS has one host a line; "#" begins a comment. Kind "fuse" is the smallest for a set
// that does not change: 10 bits per host for one false alarm in 256.
import { readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import { load, Filter } from "bloomery";

const [from, to] = process.argv.slice(2);
const hosts = readFileSync(from, "utf8").split("\n")
    .map((line) => line.replace(/#.*/, "").trim().toLowerCase())
    .filter((host) => host !== "");

await load();
const filter = Filter.build("fuse", new Set(hosts), { rate: 1 / 256 });
writeFileSync(to, filter.pack());
const { items, bytes } = filter.info();
console.log(`${items} hosts in ${bytes} bytes`);
