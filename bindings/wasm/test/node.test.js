// node.test.js - tests the package in Node, in a thread of Node, and in Chromium if it
// is installed: tools/make/wasm.
//
// BLOOMERY_EFFORT is the amount of work (1; 40 for 10^5 wrong calls), BLOOMERY_COMMAND
// the command, whose files are compared, and CHROMIUM the browser, or empty for none.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { env } from "node:process";
import test from "node:test";
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";
import { serialize } from "node:v8";
import { Worker } from "node:worker_threads";

import { Filter, load, memory } from "../bloomery.js";
import cases from "./cases.js";
import { browser, opened } from "./browser.js";

const here = fileURLToPath(new URL(".", import.meta.url));

// Reads the images. They are lines of hexadecimal digits; "#" begins a comment.
function golden() {
    const folder = join(here, "golden"), out = {};
    for (const file of readdirSync(folder)) {
        const digits = readFileSync(join(folder, file), "latin1")
            .replace(/#.*$/gm, "").replace(/\s+/g, "");
        out[file.replace(/\.hex$/, "")] = Uint8Array.from(Buffer.from(digits, "hex"));
    }
    return out;
}

const given = { golden: golden(), effort: Number(env.BLOOMERY_EFFORT || 1),
                wasm: async () =>
                    readFileSync(new URL("../bloomery.wasm", import.meta.url)) };

await load();
for (const [name, work] of cases)
    test(name, async () => work(given));

test("a thread of Node has an instance of its own", async () => {
    const code = `
        import { parentPort, workerData } from "node:worker_threads";
        const { Filter, load } = await import(workerData);
        await load();
        const f = new Filter("standard", { items: 100 });
        f.addMany(["a", "b"]);
        parentPort.postMessage(f.pack());`;
    const worker = new Worker(new URL(`data:text/javascript,${
        encodeURIComponent(code)}`),
        { workerData: new URL("../bloomery.js", import.meta.url).href });
    const bytes = await new Promise((resolve, reject) => {
        worker.once("message", resolve);
        worker.once("error", reject);
    });
    assert.ok(Filter.fromBytes(bytes).contains("b"));
});

test("a filter in workerData or in v8.serialize() is an error", () => {
    const filter = new Filter("standard", { items: 100 });
    for (const clone of [() => serialize(filter), () => new Worker("", {
        eval: true, workerData: { filter } })])
        assert.throws(clone, /a Filter: send filter.transfer\(\)/);
});

test("console.log shows a filter", () => {
    const f = new Filter("cuckoo", { items: 1000, rate: 0.01 });
    f.addMany(["a", "b"]);
    assert.match(inspect(f), new RegExp("^Filter \\(cuckoo\\) { keys: 'text', items: 2, " +
        "capacity: 1000, rate: [0-9.e-]{1,9}, bytes: [0-9]+ }$"));
    assert.match(inspect({ deep: [{ f }] }, { depth: 0 }), /^{ deep: \[Array\] }$/);
    assert.match(inspect([f]), /Filter \(cuckoo\)/);
    assert.equal(String(f), "[object Filter]");
    f.free();
    assert.equal(inspect(f), "Filter (freed)");
    assert.match(inspect(Object.create(Filter.prototype)), /^Filter \(.*\)$/);
});

test("load() takes a path, and names a module that is missing", async () => {
    const folder = mkdtempSync(join(tmpdir(), "bloomery-wasm-"));
    try {
        const entry = join(folder, "bloomery.mjs");
        writeFileSync(entry, readFileSync(join(here, "..", "bloomery.js")));
        const alone = await import(entry);
        for (const [name, file] of [["all", "bloomery.wasm"], ["sets", "sets.wasm"]])
            await assert.rejects(alone.load(name), (error) => {
                assert.equal(error.code, "MISSING");
                assert.equal(error.cause.code, "ENOENT");
                assert.match(error.message, new RegExp(`^cannot read ${file} .*ENOENT` +
                    '.*: import from "bloomery/inline", or copy the file', "s"));
                return true;
            });
        assert.throws(() => alone.version(), { code: "UNLOADED" });
        await assert.rejects(alone.load("nowhere.wasm"), { code: "ENOENT" });
        writeFileSync(join(folder, "bloomery.wasm"), "<!doctype html>");
        await assert.rejects(alone.load(), { code: "MISSING", message: /not WebAssembly/ });
        await alone.load(join(here, "..", "sets.wasm"));
        assert.ok(alone.kinds().length < 15);
        await alone.load(new URL("../bloomery.wasm", import.meta.url).href);
        assert.ok(alone.kinds().length > 30);
        // Two copies of the package: a filter of the other is not one of ours.
        const other = new alone.Filter("standard", { items: 10 });
        assert.throws(() => new Filter("standard", { items: 10 }).unite(other),
                      /must be a filter of this package, not Filter$/);
    } finally {
        rmSync(folder, { recursive: true });
    }
});

const book = env.BLOOMERY_BOOK;
const page = { skip: book ? false : "BLOOMERY_BOOK is not set" };

test("package.json describes the package", page, () => {
    const read = (path) => readFileSync(path, "utf8");
    const made = JSON.parse(read(join(here, "..", "package.json")));
    for (const field of ["description", "keywords", "homepage", "bugs", "repository",
                         "license", "author", "engines"])
        assert.ok(Object.keys(made[field]).length > 0, field);
    const [, maintainer] = /^Maintainer: (.*)$/m.exec(
        read(join(book, "..", "debian", "control")));
    assert.equal(made.author, maintainer);
    const targets = (value) => typeof value === "string" ? [value]
        : Object.values(value).flatMap(targets);
    for (const target of targets(made.exports))
        assert.ok(target === "./package.json" || made.files.includes(target.slice(2)),
                  `${target} is not in the archive`);
});

test("a module of another version is refused", async () => {
    const path = (name) => join(here, "..", name);
    const folder = mkdtempSync(join(tmpdir(), "bloomery-wasm-"));
    try {
        const text = readFileSync(path("bloomery.js"), "utf8");
        const newer = text.replace(/^const VERSION = ".*";$/m,
                                   'const VERSION = "99.0.0";');
        assert.notEqual(newer, text);
        writeFileSync(join(folder, "newer.mjs"), newer);
        const { load } = await import(join(folder, "newer.mjs"));
        await assert.rejects(load(path("bloomery.wasm")), { code: "EPARAM",
            message: /^the module is version [0-9.]+, and the JavaScript is 99\.0\.0: / });
    } finally {
        rmSync(folder, { recursive: true });
    }
});

test("import and require give one library", async () => {
    const imported = await import("bloomery");
    const required = createRequire(import.meta.url)("bloomery");
    assert.equal(imported.Filter, required.Filter);
    assert.deepEqual(Object.keys(imported).sort(), Object.keys(required).sort());
    await imported.load();
    assert.ok(required.kinds().length > 30);
    const inside = await import("bloomery/inline");
    const sets = await import("bloomery/inline/sets");
    const setsRequired = createRequire(import.meta.url)("bloomery/inline/sets");
    for (const entry of [inside, sets, setsRequired]) {
        assert.deepEqual(Object.keys(entry).sort(), Object.keys(required).sort());
        await entry.load();
        assert.equal(entry.kinds().length > 30, entry === inside);
        await entry.load("sets");
        assert.ok(entry.kinds().length < 15);
        const f = new entry.Filter("blocked", { items: 100 });
        f.addMany(["a", "b"]);
        assert.ok(imported.Filter.fromBytes(f.pack()).contains("b"));
    }
    await assert.rejects(sets.load("all"), { code: "EPARAM", message: /bloomery\/inline/ });
    assert.equal(createRequire(import.meta.url)("bloomery/inline"), required);
    const { version } = createRequire(import.meta.url)("bloomery/package.json");
    assert.equal(version, required.version());
});

const source = new URL("../bloomery.js", import.meta.url).href;

// Runs the JavaScript of a document. If the comment after a call begins with a value,
// the call must return it. Returns the number of such calls.
async function works(path) {
    const blocks = [...readFileSync(path, "utf8").matchAll(/^```js\n(.*?)^```$/gms)];
    const code = blocks.map(([, block]) => block).join("\n")
        .replace('"bloomery"', JSON.stringify(source));
    const claim = /^(?!const|import|await)(.*);\s*\/\/ (true|false|[\d.]+)\b.*$/gm;
    let claims = 0;
    const told = code.replace(claim, (line, call, value) => {
        claims++;
        return `{ const got = ${call}; if (!(Math.abs(got - ${value}) <= 0.1))
                    throw new Error(${JSON.stringify(line)} + " is " + got); }`;
    });
    await import(`data:text/javascript,${encodeURIComponent(told)}`);
    return claims;
}

test("README.md shows true values", async () => {
    assert.ok(await works(join(here, "..", "README.md")) >= 4);
});

const javascript = book && join(book, "library", "javascript.md");
test("the page in the book shows true values", page, async () => {
    assert.ok(await works(javascript) >= 9);
});

test("the page on production shows true values", page, async () => {
    assert.ok(await works(join(book, "library", "javascript-production.md")) >= 1);
});

test("the page in the book has an HTML page that works", page, async () => {
    const [, script] = readFileSync(javascript, "utf8")
        .match(/<script type="module">\n(.*?)<\/script>/s);
    const said = [], asked = [];
    globalThis.page = {
        console: { log: (line) => said.push(line) },
        fetch: async (name) => {
            asked.push(name);
            const taken = new Filter("standard", { items: 100 });
            taken.add("bob");
            return new Response(taken.pack());
        },
    };
    await import(`data:text/javascript,${encodeURIComponent(
        `const { console, fetch } = globalThis.page;\n${script}`.replace(
            '"./bloomery.js"', JSON.stringify(source)))}`);
    await load();
    assert.deepEqual([asked, said], [["taken.bly"], ["certainly free"]]);
});

test("the page in the book has every function", page, async () => {
    const text = readFileSync(javascript, "utf8");
    const ours = await import(source);
    const names = [...Object.keys(ours), ...Object.getOwnPropertyNames(Filter),
                   ...Object.getOwnPropertyNames(Filter.prototype)].filter(
        (name) => !["length", "name", "prototype", "constructor"].includes(name));
    assert.ok(names.length > 40, names.join());
    assert.deepEqual(names.filter(
        (name) => !new RegExp(`[\`.]${name}\\b`).test(text)), []);
});

test("unreachable filters are freed",
     { skip: globalThis.gc ? false : "needs --expose-gc" }, async () => {
    await load();
    const one = () => new Filter("standard", { items: 1e6 }).add("a");
    const rest = () => new Promise((resolve) => setTimeout(resolve, 1));
    for (let i = 0; i < 30; i++)
        one();
    const before = memory();
    for (let i = 0; i < 300; i++) {
        one();
        if (i % 10 === 0) {
            globalThis.gc();
            await rest();
        }
    }
    assert.ok(memory() - before < 30 * 1.3e6, `${memory() - before} bytes more`);
});

const command = env.BLOOMERY_COMMAND;
test("the command makes the same bytes, and reads ours",
     { skip: command ? false : "BLOOMERY_COMMAND is not set" }, () => {
    const folder = mkdtempSync(join(tmpdir(), "bloomery-wasm-"));
    const run = (input, ...all) =>
        execFileSync(command, all, { input, stdio: ["pipe", "pipe", "inherit"] });
    try {
        const words = Array.from({ length: 1000 }, (_, i) => `wörd ${i}`);
        const numbers = Array.from({ length: 1000 }, (_, i) => i * 1.25 - 300);
        const file = join(folder, "f.bly");
        for (const kind of ["standard", "blocked", "split", "cuckoo", "fuse",
                            "ribbon", "quotient"])
            for (const [keys, as] of [[words, []], [numbers, ["--as", "number"]]]) {
                run(`${keys.join("\n")}\n`, "build", "-o", file, "--force", "-k", kind,
                    "-n", "1000", "-p", "0.001", "-s", "3", ...as);
                const f = Filter.build(kind, keys,
                                       { items: 1000, rate: 0.001, seed: 3 });
                // The form differs: the command states how it reads lines.
                const rest = (bytes) => Buffer.concat([bytes.subarray(0, 26),
                    bytes.subarray(28, 120), bytes.subarray(128)]);
                assert.deepEqual(rest(f.pack()), rest(readFileSync(file)), kind);
                f.free();
            }
    } finally {
        rmSync(folder, { recursive: true });
    }
});

test("in Chromium", { skip: browser() ? false : "there is none" }, async (t) => {
    const images = Object.entries(given.golden).map(
        ([name, bytes]) => [name, Array.from(bytes)]);
    const posted = await opened(browser(), "/test/page.html", join(here, ".."), 1, {
        "/given": JSON.stringify({ effort: Math.min(given.effort, 4),
                                   golden: Object.fromEntries(images) }) });
    const results = posted.get("/told");
    assert.ok(results.length >= 2 * cases.length, `${results.length} results`);
    for (const { where, name, error } of results)
        await t.test(`${where}: ${name}`, () => {
            if (error)
                throw new Error(error);
        });
});
