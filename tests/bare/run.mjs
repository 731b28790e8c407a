// run.mjs - a WebAssembly program of our tests under Node:
//
//      node run.mjs PROGRAM FOLDER [ARGUMENT...]
//
// It may read FOLDER, by the same name, and has this process's environment.
import { readFile } from "node:fs/promises";
import { argv, env, exit } from "node:process";
import { WASI } from "node:wasi";

const [program, folder, ...rest] = argv.slice(2);
const wasi = new WASI({
    version: "preview1",
    args: [program, ...rest],
    env,
    preopens: { [folder]: folder },
});
const module = await WebAssembly.compile(await readFile(program));
const instance = await WebAssembly.instantiate(module, {
    wasi_snapshot_preview1: wasi.wasiImport,
});
exit(wasi.start(instance));
