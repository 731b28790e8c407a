/* bloom_filters.js - npm's bloom-filters: makes a filter for 2000 keys at 1 % of
 * the lines of standard input, or says how many of them may be in one.
 *
 *      node bloom_filters.js make FILTER
 *      node bloom_filters.js count FILTER
 *
 * npm has installed the package into the current folder.
 */
"use strict";
const fs = require("node:fs");
const { createRequire } = require("node:module");
const { BloomFilter } = createRequire(`${process.cwd()}/`)("bloom-filters");

const [, , job, path] = process.argv;
const lines = fs.readFileSync(0, "utf8").split("\n").slice(0, -1);

if (job === "make") {
    const filter = BloomFilter.create(2000, 0.01);
    for (const line of lines)
        filter.add(line);
    fs.writeFileSync(path, JSON.stringify(filter.saveAsJSON()));
} else {
    const filter = BloomFilter.fromJSON(JSON.parse(fs.readFileSync(path)));
    console.log(lines.filter(line => filter.has(line)).length);
}
