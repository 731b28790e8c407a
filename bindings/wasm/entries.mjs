// entries.mjs - makes the entries of the npm package from bloomery.js:
//
//      node entries.mjs FOLDER
//
// FOLDER has bloomery.js, bloomery.d.ts, bloomery.wasm and sets.wasm. These files are
// added:
//
//      bloomery.cjs, .d.cts    for require(), in Node and in test runners
//      an .mjs file            for import in Node: what bloomery.cjs exports, so that a
//                              program which uses both has one library and one Filter
//      inline.js               both modules as text inside: any bundler can bundle it
//      inline-sets.js, .cjs    only sets.wasm inside
//
// The transformations depend on the form of bloomery.js: each is an error if the text
// that it replaces is missing.
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { gzipSync } from "node:zlib";

const folder = process.argv[2];
const source = readFileSync(join(folder, "bloomery.js"), "utf8");

function replaced(text, pattern, by) {
    if (text.search(pattern) < 0)
        throw new Error(`bloomery.js has no ${pattern}`);
    return text.replace(pattern, by);
}

const MODULES = /^const STANDARD = [^]*?^\/\/ The end of the replaced part\.\n/m;

// Returns bloomery.js with modules inside, compressed. `standard` is what load() loads.
function withModules(text, standard, files) {
    const inside = Object.entries(files).map(([name, file]) => {
        const bytes = gzipSync(readFileSync(join(folder, file)), { level: 9 });
        return `    ${name}: () => inflated("${bytes.toString("base64")}"),\n`;
    });
    return replaced(text, MODULES, () => `const STANDARD = "${standard}";
function inflated(base64) {
    const { body } = new Response(bytesIn(base64));
    return new Response(body.pipeThrough(new DecompressionStream("gzip")));
}
const MODULES = {
${inside.join("")}};
`);
}

// Returns the text as CommonJS.
function commonJs(text) {
    const names = [];
    text = text.replace(/^export (class|function|async function) (\w+)/gm,
                        (_, declared, name) => {
                            names.push(name);
                            return `${declared} ${name}`;
                        });
    if (names.length < 7 || /^export\b/m.test(text))
        throw new Error(`bloomery.js exports ${names.join()} and more`);
    text = replaced(text, /await import\(.*? name\)/, "require(name)");
    text = text.replaceAll("import.meta.url",
                           'require("node:url").pathToFileURL(__filename)');
    return [`"use strict";\n${text}\nmodule.exports = { ${names.join(", ")} };\n`, names];
}

const write = (name, text) => writeFileSync(join(folder, name), text);
const [common, names] = commonJs(source);
const sets = withModules(source, "sets", { sets: "sets.wasm" });
write("bloomery.cjs", common);
write("node.mjs", `import library from "./bloomery.cjs";
export const { ${names.join(", ")} } = library;
`);
write("inline.js", withModules(source, "all", { all: "bloomery.wasm", sets: "sets.wasm" }));
write("inline-sets.js", sets);
write("inline-sets.cjs", commonJs(sets)[0]);
copyFileSync(join(folder, "bloomery.d.ts"), join(folder, "bloomery.d.cts"));
