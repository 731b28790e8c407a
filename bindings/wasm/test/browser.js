// browser.js - the cases in a browser: a page of a server on this machine alone,
// which tells the server what came out.
import { spawn } from "node:child_process";
import { accessSync, constants, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { delimiter, extname, join, normalize } from "node:path";
import process, { env } from "node:process";

const TYPES = { ".js": "text/javascript", ".html": "text/html",
                ".wasm": "application/wasm" };
const LONGEST = 300000;         // ms

/** The path of Chromium; undefined: there is none. */
export function browser() {
    if (env.CHROMIUM !== undefined)
        return env.CHROMIUM || undefined;
    for (const folder of (env.PATH ?? "").split(delimiter))
        for (const name of ["chromium", "chromium-browser", "google-chrome"])
            try {
                accessSync(join(folder, name), constants.X_OK);
                return join(folder, name);
            } catch {
                // not there
            }
    return undefined;
}

function answer(root, given, told) {
    const images = Object.fromEntries(Object.entries(given.golden).map(
        ([name, bytes]) => [name, Array.from(bytes)]));
    return (request, response) => {
        const { pathname } = new URL(request.url, "http://localhost");
        if (request.method === "POST") {
            let text = "";
            request.on("data", (part) => { text += part; });
            request.on("end", () => {
                response.end();
                told(JSON.parse(text));
            });
            return;
        }
        if (pathname === "/given") {
            response.end(JSON.stringify({ ...given, golden: images }));
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

// End the browser, and then the processes that it started: they are a group.
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
        // they have ended
    }
}

/** What came out of each case: [{ where, name, error }]. */
export async function inBrowser(path, root, given) {
    const home = mkdtempSync(join(tmpdir(), "bloomery-browser-"));
    let told, failed, timer, child;
    const results = new Promise((resolve, reject) => {
        told = resolve;
        failed = reject;
    });
    // Whoever ends this process ends the browser.
    const stopped = () => {
        if (child?.pid !== undefined)
            process.kill(-child.pid, "SIGKILL");
        process.exit(1);
    };
    process.once("SIGTERM", stopped).once("SIGINT", stopped);
    const server = createServer(answer(root, given, (all) => told(all)));
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
        const url = `http://127.0.0.1:${server.address().port}/test/page.html`;
        child = spawn(path, [
            "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
            "--disable-dev-shm-usage", "--disable-background-networking",
            "--disable-component-update", "--disable-sync", "--disable-extensions",
            "--disable-domain-reliability", "--disable-default-apps",
            "--no-proxy-server", "--metrics-recording-only", "--no-pings",
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
            `--user-data-dir=${home}`, "--remote-debugging-port=0", url,
        ], { stdio: "ignore", env: { ...env, HOME: home }, detached: true });
        child.once("error", failed);
        child.once("exit", (status) => failed(new Error(
            `the browser ended with ${status} and told nothing`)));
        timer = setTimeout(() => failed(new Error("the browser told nothing")),
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
