// browser.js - opens pages in a browser without a window. The pages come from a server on
// this machine, and post what they found to it.
import { spawn } from "node:child_process";
import { accessSync, constants, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { delimiter, extname, join, normalize } from "node:path";
import process, { env } from "node:process";

const TYPES = { ".js": "text/javascript", ".mjs": "text/javascript",
                ".html": "text/html",
                ".wasm": "application/wasm" };
const LONGEST = 300000;         // ms

/** Returns the path of Chromium, or undefined. */
export function browser() {
    if (env.CHROMIUM !== undefined)
        return env.CHROMIUM || undefined;
    for (const folder of (env.PATH ?? "").split(delimiter))
        for (const name of ["chromium", "chromium-browser", "google-chrome"])
            try {
                accessSync(join(folder, name), constants.X_OK);
                return join(folder, name);
            } catch {
                // is not in this folder
            }
    return undefined;
}

// Returns a function that answers requests with the files of a folder. `others` maps
// further paths to contents, or to functions that return them for the URL.
// told(path, value) is called for each JSON value that is posted.
function answer(root, others, told) {
    return (request, response) => {
        const url = new URL(request.url, "http://localhost"), { pathname } = url;
        if (request.method === "POST") {
            let text = "";
            request.on("data", (part) => { text += part; });
            request.on("end", () => {
                response.end();
                told(pathname, JSON.parse(text));
            });
            return;
        }
        const other = others[pathname];
        if (other !== undefined) {
            response.end(typeof other === "function" ? other(url) : other);
            return;
        }
        try {
            const path = join(root, normalize(pathname));
            const bytes = readFileSync(path);
            response.setHeader("Content-Type", TYPES[extname(path)] ?? "text/plain");
            response.end(bytes);
        } catch {
            response.statusCode = 404;
            response.end();
        }
    };
}

// Ends the browser, and then the processes that it started, which are a group.
async function ended(child) {
    if (child?.pid === undefined)
        return;
    if (child.exitCode === null) {
        const gone = new Promise((resolve) => child.once("exit", resolve));
        const late = setTimeout(() => child.kill("SIGKILL"), 10000);
        child.kill();
        await gone;
        clearTimeout(late);
    }
    try {
        process.kill(-child.pid, "SIGKILL");
    } catch {
        // has ended
    }
}

/** Opens the page `url` of the folder `root`, and returns a Map from the paths to which
 * pages posted to the values, once there are `most`. */
export async function opened(path, url, root, most = 1, others = {}) {
    const home = mkdtempSync(join(tmpdir(), "bloomery-browser-"));
    let finished, failed, timer, child;
    const results = new Promise((resolve, reject) => {
        finished = resolve;
        failed = reject;
    });
    // The browser ends with this process.
    const stopped = () => {
        if (child?.pid !== undefined)
            process.kill(-child.pid, "SIGKILL");
        process.exit(1);
    };
    process.once("SIGTERM", stopped).once("SIGINT", stopped);
    const values = new Map();
    const server = createServer(answer(root, others, (path, value) => {
        values.set(path, value);
        if (values.size === most)
            finished(values);
    }));
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
        const page = `http://127.0.0.1:${server.address().port}${url}`;
        child = spawn(path, [
            "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
            "--disable-dev-shm-usage", "--disable-background-networking",
            "--disable-component-update", "--disable-sync", "--disable-extensions",
            "--disable-domain-reliability", "--disable-default-apps",
            "--no-proxy-server", "--metrics-recording-only", "--no-pings",
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
            `--user-data-dir=${home}`, "--remote-debugging-port=0", page,
        ], { stdio: "ignore", env: { ...env, HOME: home }, detached: true });
        child.once("error", failed);
        child.once("exit", (status) => failed(new Error(
            `the browser ended with ${status} before all was posted`)));
        timer = setTimeout(() => failed(new Error(
            `the browser posted to ${[...values.keys()].join()} only`)),
                           LONGEST);
        return await results;
    } finally {
        clearTimeout(timer);
        process.off("SIGTERM", stopped).off("SIGINT", stopped);
        await ended(child);
        server.closeAllConnections?.();
        await new Promise((resolve) => server.close(resolve));
        rmSync(home, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });
    }
}
