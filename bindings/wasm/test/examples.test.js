// examples.test.js - runs the programs and pages of ../examples, and the first steps of
// README.md with the packed package: tools/make/wasm.
import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import test from "node:test";
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { Filter, load } from "../bloomery.js";
import { browser, opened } from "./browser.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const example = (name) => join(root, "examples", name);
const run = promisify(execFile);

const folder = mkdtempSync(join(tmpdir(), "bloomery-wasm-"));
process.on("exit", () => rmSync(folder, { recursive: true }));
await load();

const hosts = Array.from({ length: 5000 }, (_, i) => `host-${i}.example`);
async function blocklist() {
    const from = join(folder, "hosts"), to = join(folder, "blocklist.bly");
    writeFileSync(from, `# a list\n\n${hosts.join("\n").toUpperCase()}  # the last\n` +
        `ads.example\n${hosts[0]}\n`);
    const { stdout } = await run(process.execPath,
                                 [example("build-blocklist.mjs"), from, to]);
    assert.match(stdout, /^5001 hosts in [0-9]+ bytes\n$/);
    return readFileSync(to);
}

test("a blocklist answers as its list, and seldom asks the server", async () => {
    const bytes = await blocklist(), list = new Set([...hosts, "ads.example"]);
    assert.ok(bytes.length < 5001 * 12 / 8, `${bytes.length} bytes`);
    const server = createServer((request, response) => {
        response.end(bytes);
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
        const { blocklist: open } = await import(example("blocklist.js"));
        const url = `http://127.0.0.1:${server.address().port}/blocklist.bly`;
        const { isBlocked, counts } = await open(url, async (host) => list.has(host));
        for (const host of hosts.slice(0, 500))
            assert.ok(await isBlocked(host), host);
        assert.ok(await isBlocked("Deep.Below.ADS.example."));
        const before = counts.confirmed, n = 20_000;
        for (let i = 0; i < n; i++)
            assert.equal(await isBlocked(`other-${i}.test`), false);
        // Two names for each host; "test" is the same one every time.
        const asked = counts.confirmed - before;
        const always = Filter.fromBytes(bytes).contains("test") ? n : 0;
        const mean = n / 256 + always;
        assert.ok(Math.abs(asked - mean) < 5 * Math.sqrt(n / 256),
                  `${asked} requests, where ${mean} are expected`);
    } finally {
        server.closeAllConnections();
        server.close();
    }
});

test("threads build the filter that one thread builds", async () => {
    const all = new Filter("blocked", { items: 1_000_000, rate: 0.001, keys: "text" });
    const files = Array.from({ length: 6 }, (_, i) => {
        const lines = Array.from({ length: 1000 + i }, (_, j) => `line ${i * 900 + j}`);
        all.addMany(lines);
        const file = join(folder, `part-${i}`);
        writeFileSync(file, `${lines.join("\n")}\n`);
        return file;
    });
    const to = join(folder, "threads.bly");
    const { stdout } = await run(process.execPath,
                                 [example("threads.mjs"), to, ...files]);
    assert.match(stdout, /^55[0-9]{2} different lines, estimated\n$/);
    const made = Filter.fromBytes(readFileSync(to));
    const payload = (f) => Buffer.from(f.image().subarray(128));
    assert.ok(payload(made).equals(payload(all)));
});

test("the pages of the examples work in Chromium",
     { skip: browser() ? false : "there is none" }, async () => {
    const said = await opened(browser(), "/test/examples.html", root, 1, {
        "/examples/blocklist.bly": await blocklist(),
        "/examples/blocked": ({ searchParams }) =>
            JSON.stringify(searchParams.get("host") === "ads.example"),
    });
    assert.deepEqual(said.get("/told"), {
        "ads.example": "blocked", "x.ads.example": "blocked",
        "news.example": "allowed", worker: "1 0 1",
        policies: ["true", "CompileError"] });
});

function npm() {
    try {
        execFileSync("npm", ["--version"], { stdio: "ignore" });
        return true;
    } catch {
        return false;
    }
}

// Runs the console blocks of README.md in a folder that has only the archive.
test("README.md's first steps work from the archive alone",
     { skip: npm() ? false : "there is no npm" }, async () => {
    const [archive] = readdirSync(root).filter((name) => name.endsWith(".tgz"));
    const home = mkdtempSync(join(folder, "home-"));
    execFileSync("cp", [join(root, archive), home]);
    const text = readFileSync(join(root, "README.md"), "utf8");
    const [, block] = /^```console\n(.*?)^```$/ms.exec(
        text.slice(text.indexOf("## Install")));
    const parts = block.split(/^\$ /m).slice(1).map((part) => part.split("\n"));
    assert.ok(parts.length <= 3);
    for (const lines of parts) {
        let command = lines.shift();
        while (lines[0]?.startsWith("> "))
            command += `\n${lines.shift().slice(2)}`;
        const { stdout } = await run("sh", ["-c", command], { cwd: home, env: {
            ...process.env, HOME: home, npm_config_cache: join(home, "cache"),
            npm_config_offline: "true", npm_config_audit: "false",
            npm_config_fund: "false", npm_config_update_notifier: "false" } });
        if (!command.startsWith("npm"))
            assert.equal(stdout, lines.join("\n"), command);
    }
    const inside = readdirSync(join(home, "node_modules", "bloomery"));
    assert.deepEqual(inside.sort(), ["LICENSE", "README.md", "bloomery.cjs",
        "bloomery.d.cts", "bloomery.d.ts", "bloomery.js", "bloomery.wasm",
        "inline-sets.cjs", "inline-sets.js", "inline.js", "node.mjs", "package.json",
        "sets.wasm"]);
});
