// bundlers.test.js - bundles a program with each bundler, and runs the bundles without
// the package, in Node and in Chromium: tools/make/wasm --bundlers.
//
// BLOOMERY_DEV is a folder where npm installed the bundlers and the package.
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process, { env } from "node:process";
import test from "node:test";
import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";

import { browser, opened } from "./browser.js";

const dev = env.BLOOMERY_DEV;
const apps = join(dev, "apps");
rmSync(apps, { recursive: true, force: true });
mkdirSync(apps);
// A file in that folder finds the packages of that folder.
writeFileSync(join(apps, "bundlers.mjs"), `export * as esbuild from "esbuild";
export { rollup } from "rollup";
export { nodeResolve } from "@rollup/plugin-node-resolve";
export * as vite from "vite";
export { default as webpack } from "webpack";
`);
const { esbuild, nodeResolve, rollup, vite, webpack } =
    await import(pathToFileURL(join(apps, "bundlers.mjs")));
const run = promisify(execFile);

// The bundles run in a folder from which no package can be found.
const out = mkdtempSync(join(tmpdir(), "bloomery-bundles-"));
process.on("exit", () => rmSync(out, { recursive: true }));

// Writes a program and returns its path. A program in Node prints, and a page posts,
// the number of kinds, two answers, and the error of load() if there is one.
function app(name, { entry = "bloomery", source = "", node = false, common = false,
                     before = "" } = {}) {
    const file = join(apps, `${name}.${common ? "cjs" : "mjs"}`);
    const report = node ? "console.log(JSON.stringify(said))"
        : `await fetch("/told/${name}", { method: "POST", body: JSON.stringify(said) })`;
    writeFileSync(file, `${common
        ? `const { load, kinds, Filter } = require("${entry}");`
        : `import { load, kinds, Filter } from "${entry}";`}
${before}
async function main() {
    const said = {};
    try {
        await load(${source});
        const f = new Filter("blocked", { items: 1000 });
        f.addMany(["a", "b"]);
        const g = Filter.fromJSON(JSON.parse(JSON.stringify(f)));
        Object.assign(said, { found: [...g.containsMany(["a", "c"])],
                              many: kinds().length > 20 });
    } catch (error) {
        said.error = error.code + ": " + error.message;
    }
    ${report};
}
main();
`);
    return file;
}

const GOOD = { found: [1, 0], many: true }, SETS = { found: [1, 0], many: false };

// ---- Bundling -----------------------------------------------------------------------

// Each bundler returns the file with the program. A warning is an error.
async function byEsbuild(name, file, options) {
    const outfile = join(out, name, options.outfile ?? "app.js");
    const { warnings } = await esbuild.build({ entryPoints: [file], bundle: true, outfile,
                                               logLevel: "silent", ...options, outfile });
    assert.deepEqual(warnings, []);
    return outfile;
}

async function byRollup(name, file, { conditions = [], format = "es" } = {}) {
    const warnings = [];
    const bundle = await rollup({
        input: file, external: [/^node:/], onwarn: ({ message }) => warnings.push(message),
        plugins: [nodeResolve({ exportConditions: conditions })] });
    const path = join(out, name, format === "cjs" ? "app.cjs" : "app.mjs");
    await bundle.write({ file: path, format });
    await bundle.close();
    assert.deepEqual(warnings, []);
    return path;
}

async function byWebpack(name, file, options = {}) {
    const stats = await promisify(webpack)({
        mode: "production", entry: file, performance: false,
        output: { path: join(out, name), filename: "app.js", publicPath: "auto" },
        optimization: { minimize: options.minimize ?? false }, target: options.target });
    const { errors, warnings } = stats.toJson({ all: false, errors: true, warnings: true });
    assert.deepEqual([...errors, ...warnings].map(({ message }) => message), []);
    return join(out, name, "app.js");
}

async function byVite(name, file, { ssr = false } = {}) {
    const warnings = [];
    const customLogger = vite.createLogger("warn");
    customLogger.warn = customLogger.warnOnce = (message) => warnings.push(message);
    await vite.build({
        root: apps, base: "./", configFile: false, logLevel: "warn", customLogger,
        ssr: ssr ? { noExternal: true } : undefined,
        build: { outDir: join(out, name), emptyOutDir: false, minify: false, ssr,
                 rollupOptions: { input: file, output: {
                     entryFileNames: ssr ? "app.mjs" : "app.js" } } } });
    assert.deepEqual(warnings, []);
    return join(out, name, ssr ? "app.mjs" : "app.js");
}

// ---- Programs for Node --------------------------------------------------------------

async function printed(path) {
    const { stdout } = await run(process.execPath, [path], { cwd: tmpdir() });
    return JSON.parse(stdout);
}

const node = { node: true };
for (const [name, bundle] of Object.entries({
    "esbuild, CommonJS": (name) => byEsbuild(name, app("esbuild", node),
                                             { platform: "node", outfile: "app.cjs" }),
    "esbuild, ES modules": (name) => byEsbuild(name, app("esbuild-es", node),
        { platform: "node", format: "esm", outfile: "app.mjs" }),
    "esbuild, minified": (name) => byEsbuild(name, app("esbuild-min", node),
        { platform: "node", minify: true, outfile: "app.cjs" }),
    "esbuild of require()": (name) => byEsbuild(name,
        app("esbuild-common", { ...node, common: true }),
        { platform: "node", outfile: "app.cjs" }),
    "webpack": (name) => byWebpack(name, app("webpack", node), { target: "node" }),
    "webpack of require()": (name) => byWebpack(name,
        app("webpack-common", { ...node, common: true }), { target: "node" }),
    "Rollup": (name) => byRollup(name, app("rollup", node), { conditions: ["node"] }),
    "Rollup, CommonJS": (name) => byRollup(name, app("rollup-common", node),
                                           { conditions: ["node"], format: "cjs" }),
    "Vite": (name) => byVite(name, app("vite", node), { ssr: true }),
}))
    test(`Node runs what ${name} bundled`, async () => {
        const file = await bundle(`node-${name.replace(/\W+/g, "-")}`);
        assert.deepEqual(await printed(file), GOOD);
        assert.deepEqual(readdirSync(join(file, "..")).filter(
            (one) => one.endsWith(".wasm")), []);
    });

// ---- Programs for pages -------------------------------------------------------------

const modules = join(dev, "node_modules", "bloomery");
const beside = (name) => cpSync(join(modules, "bloomery.wasm"),
                                join(out, name, "bloomery.wasm"));
const sets = { entry: "bloomery/inline/sets" }, inline = { entry: "bloomery/inline" };

// Names of bundles to [whether the script is a module, the bundler, the result].
const PAGES = {
    "esbuild-inline": [false, (name) => byEsbuild(name, app(name, inline), {}), GOOD],
    "esbuild-sets": [false, (name) => byEsbuild(name, app(name, sets),
                                                { minify: true }), SETS],
    "esbuild-common": [false, (name) => byEsbuild(name,
        app(name, { ...inline, common: true }), {}), GOOD],
    "esbuild-beside": [true, async (name) => {
        await byEsbuild(name, app(name), { format: "esm" });
        beside(name);
    }, GOOD],
    "esbuild-binary": [true, (name) => byEsbuild(name,
        app(name, { before: 'import bytes from "bloomery/sets.wasm";', source: "bytes" }),
        { format: "esm", loader: { ".wasm": "binary" } }), SETS],
    "esbuild-missing": [true, (name) => byEsbuild(name, app(name), { format: "esm" }),
        /^MISSING: cannot read bloomery\.wasm .*404.*import from "bloomery\/inline"/],
    "rollup-inline": [true, (name) => byRollup(name, app(name, inline)), GOOD],
    "rollup-beside": [true, async (name) => {
        await byRollup(name, app(name));
        beside(name);
    }, GOOD],
    "webpack-default": [false, (name) => byWebpack(name, app(name), { minimize: true }),
                        GOOD],
    "webpack-sets": [false, (name) => byWebpack(name, app(name, { source: '"sets"' })),
                     SETS],
    "webpack-common": [false, (name) => byWebpack(name, app(name, { common: true })),
                       GOOD],
    "webpack-inline": [false, (name) => byWebpack(name, app(name, inline)), GOOD],
    "vite-default": [true, (name) => byVite(name, app(name)), GOOD],
    "vite-sets": [true, (name) => byVite(name, app(name, { source: '"sets"' })), SETS],
    "vite-inline": [true, (name) => byVite(name, app(name, inline)), GOOD],
};


// Starts Vite's development server, and returns it with the URL of a program.
async function served(name, exclude) {
    app(name);
    const server = await vite.createServer({
        root: apps, configFile: false, logLevel: "silent", cacheDir: join(out, name),
        optimizeDeps: { exclude, include: exclude.length > 0 ? [] : ["bloomery"] },
        server: { host: "127.0.0.1", port: 0, strictPort: false, hmr: false,
                  fs: { strict: false } } });
    await server.listen();
    const { port } = server.httpServer.address();
    return [server, `http://127.0.0.1:${port}/${name}.mjs`];
}

test("Chromium runs what Vite's development server serves",
     { skip: browser() ? false : "there is none" }, async () => {
    const all = [await served("served", ["bloomery"]), await served("served-wrong", [])];
    try {
        writeFileSync(join(out, "served.html"), `<!doctype html>\n${all.map(([, url]) =>
            `<script type="module" src="${url}"></script>`).join("\n")}\n`);
        const posted = await opened(browser(), "/served.html", out, all.length);
        assert.deepEqual(posted.get("/told/served"), GOOD);
        assert.match(posted.get("/told/served-wrong").error,
            /^MISSING: cannot read bloomery\.wasm .* import from "bloomery\/inline"/);
    } finally {
        for (const [server] of all)
            await server.close();
    }
});

test("Chromium runs what each bundler made",
     { skip: browser() ? false : "there is none" }, async (t) => {
    const scripts = [];
    for (const [name, [isModule, bundle]] of Object.entries(PAGES)) {
        await t.test(`${name} is bundled`, () => bundle(name));
        const [script] = readdirSync(join(out, name)).filter((one) => /^app\./.test(one));
        scripts.push(`<script src="/${name}/${script}"${
            isModule ? ' type="module"' : ""}></script>`);
    }
    writeFileSync(join(out, "index.html"), `<!doctype html>\n${scripts.join("\n")}\n`);
    const posted = await opened(browser(), "/index.html", out, scripts.length);
    for (const [name, [, , expected]] of Object.entries(PAGES))
        await t.test(`${name} runs`, () => {
            const said = posted.get(`/told/${name}`);
            if (expected instanceof RegExp)
                assert.match(said.error, expected);
            else
                assert.deepEqual(said, expected);
        });
});

test("only bundles that need a module get one", () => {
    const has = (name) => readdirSync(join(out, name), { recursive: true })
        .filter((one) => String(one).endsWith(".wasm")).length;
    assert.deepEqual(["webpack-inline", "vite-inline", "webpack-default",
                      "vite-default"].map(has), [0, 0, 2, 2]);
});
