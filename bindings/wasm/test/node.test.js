// node.test.js - the cases in Node, in a thread of it, and in Chromium where that is
// there: `npm test`.
//
// BLOOMERY_EFFORT: how much is tried (1; 40 for 10^5 wrong calls). BLOOMERY_COMMAND:
// the command, whose files are compared. CHROMIUM: the browser, or nothing for none.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { env } from "node:process";
import test from "node:test";
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";

import { Filter, load, memory } from "../bloomery.js";
import cases from "./cases.js";
import { browser, inBrowser } from "./browser.js";

const here = fileURLToPath(new URL(".", import.meta.url));

// The images as hexadecimal digits, in lines; "#" begins a comment.
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
        f.addAll(["a", "b"]);
        parentPort.postMessage(f.save());`;
    const worker = new Worker(new URL(`data:text/javascript,${
        encodeURIComponent(code)}`),
        { workerData: new URL("../bloomery.js", import.meta.url).href });
    const bytes = await new Promise((resolve, reject) => {
        worker.once("message", resolve);
        worker.once("error", reject);
    });
    assert.ok(Filter.from(bytes).has("b"));
});

const source = new URL("../bloomery.js", import.meta.url).href;

// The JavaScript of a document works. A call whose comment begins with a value
// returns that value.
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

const book = env.BLOOMERY_BOOK;
const page = { skip: book ? false : "BLOOMERY_BOOK is not set" };
const javascript = book && join(book, "library", "javascript.md");
test("the page in the book shows true values", page, async () => {
    assert.ok(await works(javascript) >= 9);
});

test("the page in the book has a page that works", page, async () => {
    const [, script] = readFileSync(javascript, "utf8")
        .match(/<script type="module">\n(.*?)<\/script>/s);
    const said = [], asked = [];
    globalThis.page = {
        console: { log: (line) => said.push(line) },
        fetch: async (name) => {
            asked.push(name);
            const taken = new Filter("standard", { items: 100 });
            taken.add("bob");
            return new Response(taken.save());
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

test("what nobody holds is given back",
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
                // but for the form, in which the command has what it does to lines
                const rest = (bytes) => Buffer.concat([bytes.subarray(0, 26),
                    bytes.subarray(28, 120), bytes.subarray(128)]);
                assert.deepEqual(rest(f.save()), rest(readFileSync(file)), kind);
                f.free();
            }
    } finally {
        rmSync(folder, { recursive: true });
    }
});

test("in Chromium", { skip: browser() ? false : "there is none" }, async (t) => {
    const results = await inBrowser(browser(), join(here, ".."),
                                    { ...given, effort: Math.min(given.effort, 4) });
    assert.ok(results.length >= 2 * cases.length, `${results.length} results`);
    for (const { where, name, error } of results)
        await t.test(`${where}: ${name}`, () => {
            if (error)
                throw new Error(error);
        });
});
