// browser.mjs - the pages in a browser, as a reader has them:
//
//      node browser.mjs SHARE SITE COMMAND DEV WORK [SHOTS]
//
// SHARE is "1/2" for the first half of the checks; the halves may run at once.
// SITE is served on loopback and opened in Chromium, which is driven by
// puppeteer-core; axe-core looks for what readers with other means than a mouse
// and eyes would miss, and Lighthouse for what browsers and searchers want. They
// are in DEV/node_modules. COMMAND is `bloomery`, whose files the playground's are
// held against. WORK is a folder for what is made.
// With SHOTS a picture of each kind of page is left there, in both schemes.
// Prints "ok - " and "not ok - " lines, "figure NAME: VALUE" for what is
// measured, and ends in a line "N passed, N failed".
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as http from "node:http";
import { createRequire } from "node:module";
import * as path from "node:path";
import { argv, env, exit } from "node:process";
import { gzipSync } from "node:zlib";

const [share, site, command, dev, work, shots] = argv.slice(2);
const [first, shares] = share.split("/").map(Number);
const tree = path.join(path.dirname(new URL(import.meta.url).pathname), "../..");
const PATIENCE = 10 * 60 * 1000;        // milliseconds: machines may be busy
const require = createRequire(path.join(path.resolve(dev), "x.js"));
const puppeteer = require("puppeteer-core");
const axe = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
let passed = 0, failed = 0;

function check(ok, what, why = "") {
    if (ok)
        passed++;
    else
        failed++;
    console.log(`${ok ? "ok" : "not ok"} - ${what}${ok || !why ? "" : `: ${why}`}`);
}

function figure(name, value) {
    console.log(`figure ${name}: ${value}`);
}

// ---- A server of files, and a browser -----------------------------------------

const TYPES = { ".html": "text/html; charset=utf-8", ".css": "text/css",
    ".js": "text/javascript", ".svg": "image/svg+xml", ".png": "image/png" };
const sent = new Map();         // by path: bytes

const server = http.createServer((request, response) => {
    const name = decodeURIComponent(new URL(request.url, "http://x").pathname);
    const file = path.join(site, path.posix.normalize(name));
    if (!file.startsWith(path.resolve(site)) || !fs.existsSync(file) ||
        fs.statSync(file).isDirectory()) {
        response.writeHead(404).end();
        return;
    }
    const bytes = gzipSync(fs.readFileSync(file), { level: 6 });
    sent.set(name, bytes.length);
    response.writeHead(200, { "content-encoding": "gzip",
        "content-type": TYPES[path.extname(file)] ?? "text/plain" });
    response.end(bytes);
});
await new Promise((done) => server.listen(0, "127.0.0.1", done));
const root = `http://127.0.0.1:${server.address().port}`;
fs.mkdirSync(work, { recursive: true });
const profile = fs.mkdtempSync(path.join(work, "profile-"));
const browser = await puppeteer.launch({
    executablePath: env.CHROMIUM ?? "/usr/bin/chromium",
    headless: true, userDataDir: profile, timeout: PATIENCE,
    protocolTimeout: PATIENCE,
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
        "--disable-background-networking", "--disable-component-update",
        "--disable-sync"],
});

const wrongs = [];              // what pages complained of, or asked others for

async function open(page, width = 1200, scheme = "light") {
    const tab = await browser.newPage();
    tab.setDefaultTimeout(PATIENCE);
    tab.on("pageerror", (error) => wrongs.push(`${page}: ${error.message}`));
    tab.on("console", (message) => {
        if (message.type() === "error")
            wrongs.push(`${page}: ${message.text()}`);
    });
    tab.on("request", (request) => {
        if (!/^(data|blob):/.test(request.url()) &&
            !request.url().startsWith(root) &&
            !request.url().startsWith("file:"))
            wrongs.push(`${page}: asks for ${request.url()}`);
    });
    await tab.setViewport({ width, height: width < 600 ? 780 : 900 });
    await tab.emulateMediaFeatures(
        [{ name: "prefers-color-scheme", value: scheme }]);
    await tab.goto(page.startsWith("file:") ? page : `${root}/${page}`,
        { waitUntil: "load" });
    return tab;
}

const settled = (tab, page) => page === "playground.html"
    ? tab.waitForSelector("#places li")
    : page === "map.html" ? tab.waitForSelector("#plot svg")
        : page === "calculator.html"
            ? tab.waitForSelector("#ladder-table tr:last-child td:last-child")
            : page === "passwords.html"
                ? tab.waitForSelector("#check:not([disabled])") : undefined;

const text = (tab, id) =>
    tab.$eval(`#${id}`, (element) => element.textContent.trim());

// ---- Access for every reader -----------------------------------------------------

const TYPICAL = ["index.html", "playground.html", "map.html", "calculator.html",
    "passwords.html", "search.html?q=false+positive", "kinds/index.html", "kinds/cuckoo.html",
    "docs/index.html", "docs/install.html", "docs/guide/first-filter.html",
    "docs/guide/reading-a-yes.html", "docs/cookbook/logs.html",
    "docs/library/c.html", "docs/reference/formats.html",
    "docs/format/index.html", "docs/readme.html", "docs/project.html",
    "uses/index.html", "uses/spelling.html", "man/index.html",
    "man/bloomery-build.1.html", "man/bly_new.3.html", "man/bloomery-format.5.html",
    "source/include/bloomery.h.html"]
    .filter((page) => fs.existsSync(path.join(site, page.replace(/\?.*/, ""))));

async function fits(tab, page, width) {
    await tab.setViewport({ width, height: width < 600 ? 780 : 900 });
    const over = await tab.evaluate(() =>
        document.documentElement.scrollWidth - window.innerWidth);
    check(over <= 0, `${page}, ${width} wide: nothing is wider than the page`,
        `${over} pixels`);
}

async function readable(tab, page, width, scheme) {
    await tab.emulateMediaFeatures(
        [{ name: "prefers-color-scheme", value: scheme }]);
    const found = await tab.evaluate(async () => (await window.axe.run(document,
        { resultTypes: ["violations"] })).violations.map((one) =>
        `${one.id} (${one.nodes.length}): ${one.nodes[0].target}`));
    check(found.length === 0, `${page}, ${width} wide, ${scheme}: axe finds ` +
        "nothing", found.join("; "));
    if (shots) {
        fs.mkdirSync(shots, { recursive: true });
        await tab.screenshot({ fullPage: width < 600 || /^\w+\.html/.test(page),
            path: path.join(shots,
                `${page.replaceAll("/", "-")}-${width}-${scheme}.png`) });
    }
}

// The button of the first page has one line on a phone.
async function button() {
    const tab = await open("index.html", 390);
    const rows = await tab.$eval(".go .button", (one) =>
        one.getBoundingClientRect().height /
        parseFloat(getComputedStyle(one).lineHeight));
    check(rows < 2, "the button of the first page has one line on a phone",
        rows.toFixed(1));
    await tab.close();
}

// Lines of text have 70 letters at most, on the average of what is seen.
async function lines() {
    const tab = await open("kinds/cuckoo.html", 1600);
    const letters = await tab.evaluate(() => {
        const lengths = [];
        for (const p of document.querySelectorAll(".text > p")) {
            const height = p.getBoundingClientRect().height;
            const each = parseFloat(getComputedStyle(p).lineHeight);
            const rows = Math.round(height / each);
            if (rows > 3)
                lengths.push(p.textContent.length / (rows - 0.5));
        }
        return Math.max(...lengths);
    });
    check(letters <= 72, "lines of text have about 70 letters at most",
        letters.toFixed(1));
    await tab.close();
}

// ---- The playground, from a list to its bits ---------------------------------------

async function drop(tab, file) {
    const input = await tab.$("#file");
    await input.uploadFile(file);
}

async function choose(tab, kind, exponent) {
    await tab.evaluate((value, rate) => {
        document.getElementById("kind").value = value;
        document.getElementById("rate").value = rate;
        document.getElementById("kind").dispatchEvent(
            new Event("input", { bubbles: true }));
    }, kind, exponent);
    await tab.waitForFunction((value) => document.querySelector(
        "#facts dd")?.textContent === value ||
        document.getElementById("build-error").textContent !== "",
    {}, kind);
}

async function ask(tab, word) {
    await tab.evaluate((key) => {
        document.getElementById("key").value = key;
        document.getElementById("ask").requestSubmit();
    }, word);
    return text(tab, "answer");
}

// The file that the page would give, as bytes.
async function downloaded(tab) {
    const base64 = await tab.evaluate(() => new Promise((done) => {
        const take = URL.createObjectURL;
        URL.createObjectURL = (blob) => {
            const reader = new FileReader();
            reader.onload = () => done(reader.result.split(",")[1]);
            reader.readAsDataURL(blob);
            URL.createObjectURL = take;
            return take.call(URL, blob);
        };
        document.getElementById("download").click();
    }));
    return Buffer.from(base64, "base64");
}

const words = Array.from({ length: 3000 },
    (_, i) => `word${(i * 7919) % 100003}`);
const list = path.join(work, "list.txt");
fs.writeFileSync(list, `${words.join("\n")}\n`);

function built(kind, name) {
    const file = path.join(work, name);
    fs.rmSync(file, { force: true });
    execFileSync(command, ["build", "-k", kind, "-p", "0.01", "-o", file, list],
        { stdio: "pipe" });
    return file;
}

async function playground() {
    const tab = await open("playground.html");
    await settled(tab, "playground.html");
    check(/perhaps/.test(await ask(tab, "anvil")), "a member: perhaps");
    check(/certainly not/.test(await ask(tab, "no such word at all")),
        "a stranger: certainly not");
    await drop(tab, list);
    await tab.waitForFunction(() => /3,000 words/.test(
        document.getElementById("said").textContent));
    check(/3,000 lines, of which the first 1,000/.test(await text(tab, "state")),
        "a list is opened, and shown in part");
    await tab.click("#reset");
    check(await text(tab, "state") === "", "that is said of this list alone");
    await drop(tab, list);
    await tab.waitForFunction(() => /3,000 words/.test(
        document.getElementById("said").textContent));
    for (const kind of ["standard", "blocked", "split", "cuckoo", "xor", "fuse",
        "ribbon", "gcs", "quotient", "counting", "compressed"]) {
        await choose(tab, kind, "-2");
        const error = await text(tab, "build-error");
        const theirs = fs.readFileSync(built(kind, `${kind}.bly`));
        const ours = error ? Buffer.alloc(0) : await downloaded(tab);
        check(theirs.equals(ours), `${kind}: the file is the command's`,
            error || `${ours.length} bytes, and ${theirs.length}`);
        check(/perhaps/.test(await ask(tab, words[17])),
            `${kind}: a member is found`);
        const strangers = Number(/takes ([\d,]+)/.exec(
            await text(tab, "strangers"))[1].replace(",", ""));
        check(strangers <= 100 + 4 * Math.sqrt(100) + 10,
            `${kind}: strangers mostly are not`, `${strangers} of 10,000`);
        const why = await text(tab, "why");
        check(/\d+ bytes? of [\d,]+ w/.test(why), `${kind}: says what was read`,
            why);
    }
    // a Bloom filter of 7 bits for each key: any one of them decides
    await choose(tab, "standard", "-2");
    await ask(tab, words[5]);
    const why = await text(tab, "why");
    check(/^[67] bytes .* [67] bits? of them decide/.test(why),
        "standard: the bits of the key, and no others, decide", why);
    await tab.close();
}

// A list as they are: lines that come again, empty ones, no newline at the end,
// bytes that are no UTF-8. With as many items as lines the files are the same.
async function hostile() {
    const lines = [...words.slice(0, 500), "", "", ...words.slice(0, 250),
        "Eisenhüttenstadt", "a\ttab", " blank "];
    const bytes = Buffer.concat([Buffer.from(`${lines.join("\n")}\n`),
        Buffer.from([0xff, 0xfe, 0x00, 0x0a]), Buffer.from("the last")]);
    const file = path.join(work, "hostile.txt");
    fs.writeFileSync(file, bytes);
    const tab = await open("playground.html");
    await settled(tab, "playground.html");
    await drop(tab, file);
    const n = lines.length + 2;
    await tab.waitForFunction((want) => document.getElementById("said")
        .textContent.includes(`${want} words`), {}, n);
    for (const kind of ["standard", "cuckoo", "fuse"]) {
        await choose(tab, kind, "-2");
        const out = path.join(work, "hostile.bly");
        fs.rmSync(out, { force: true });
        execFileSync(command, ["build", "-k", kind, "-n", String(n), "-p", "0.01",
            "--text", "-o", out, file], { stdio: "pipe" });
        check(fs.readFileSync(out).equals(await downloaded(tab)),
            `${kind}: of lines as they are the file is the command's`);
    }
    await tab.close();
}

async function files() {
    const tab = await open("playground.html");
    await settled(tab, "playground.html");
    const file = built("cuckoo", "cuckoo.bly");
    await drop(tab, file);
    await tab.waitForFunction(() => /cuckoo\.bly/.test(
        document.getElementById("said").textContent));
    check(/perhaps/.test(await ask(tab, words[1])),
        "a filter of the command is asked");
    const bytes = fs.readFileSync(file);
    const forged = {
        "flipped.bly": Buffer.from(bytes).fill(bytes[500] ^ 255, 500, 501),
        "short.bly": bytes.subarray(0, 200),
        "header.bly": Buffer.from(bytes).fill(255, 80, 112),
        "none.bly": Buffer.from("no filter"), "empty.bly": Buffer.alloc(0),
    };
    for (const [name, forgery] of Object.entries(forged)) {
        fs.writeFileSync(path.join(work, name), forgery);
        await drop(tab, path.join(work, name));
        await tab.waitForFunction((want) => document.getElementById(
            "file-error").textContent.startsWith(want), {}, name);
        const line = await text(tab, "file-error");
        check(line.length > name.length + 10 && !line.includes("\n"),
            `${name}: refused in a line: ${line}`);
    }
    check(/perhaps/.test(await ask(tab, words[1])),
        "after that the filter before is asked");
    const numbers = path.join(work, "numbers.bly");
    execFileSync(command, ["build", "--as", "number", "-n", "9", "-o", numbers,
        "--key", "7"], { stdio: "pipe" });
    await drop(tab, numbers);
    await tab.waitForFunction(() => /form number/.test(
        document.getElementById("answer").textContent));
    check(true, "a filter of numbers says that its keys are no texts");
    await tab.close();
    execFileSync(command, ["query", "-q", file, "--key", words[1]]);
}

// Types a password and Enter, and returns the verdict of the page.
async function tried(tab, password) {
    await tab.$eval("#password", (field) => { field.value = ""; });
    await tab.type("#password", password);
    await tab.keyboard.press("Enter");
    await tab.waitForFunction(() =>
        document.getElementById("answer").textContent !== "");
    return text(tab, "answer");
}

const sha1 = (word) => createHash("sha1").update(word).digest("hex");

// Opens a file in the page about passwords, and returns why it was refused.
async function offered(tab, file) {
    await tab.evaluate(() => {
        document.getElementById("said").textContent = "";
        document.getElementById("file-error").textContent = "";
    });
    await drop(tab, file);
    await tab.waitForFunction(() => ["said", "file-error"].some((id) =>
        document.getElementById(id).textContent !== ""));
    return text(tab, "file-error");
}

// Passwords in the page of a server and in a file: found as the command finds
// them, and after the page has loaded nothing asks for anything.
async function passwords() {
    const hashes = path.join(work, "hashes.txt");
    const leaked = [...words, "123456", "password", "qwerty", "iloveyou"];
    fs.writeFileSync(hashes, leaked.map((word) => `${sha1(word)}\n`).join(""));
    fs.writeFileSync(path.join(work, "HASHES.txt"),
        leaked.map((word) => `${sha1(word).toUpperCase()}\n`).join(""));
    const others = path.join(work, "other-hashes.txt");
    fs.writeFileSync(others, leaked.map((word) =>
        `${createHash("md5").update(word).digest("hex")}\n`).join(""));
    const made = { "hex.bly": ["--as", "hex", "-k", "fuse", hashes],
        "lower.bly": ["-k", "standard", hashes],
        "upper.bly": ["-k", "ribbon", path.join(work, "HASHES.txt")],
        "circl.bloom": ["-k", "dcso", "--upper", hashes] };
    for (const page of ["passwords.html",
        `file://${path.resolve(site)}/passwords.html`]) {
        const tab = await open(page);
        await settled(tab, "passwords.html");
        const requests = [];
        tab.on("request", (request) => requests.push(request.url()));
        check(/Perhaps/.test(await tried(tab, "123456")) &&
            /Certainly not/.test(await tried(tab, "no such password")),
        `${page}: the demonstration knows a leaked password`);
        for (const [name, options] of Object.entries(made)) {
            const file = path.join(work, name);
            fs.rmSync(file, { force: true });
            execFileSync(command, ["build", "-p", "1e-6", "-o", file,
                ...options], { stdio: "pipe" });
            check(await offered(tab, file) === "", `${name}: is opened`);
            check(/Perhaps/.test(await tried(tab, words[3])) &&
                /Certainly not/.test(await tried(tab, `${words[3]} `)),
            `${name}: one of its passwords is found, and another one is not`);
        }
        const other = path.join(work, "other-hashes.bly");
        fs.rmSync(other, { force: true });
        execFileSync(command, ["build", "--as", "hex", "-p", "1e-6", "-o", other,
            others], { stdio: "pipe" });
        check(await offered(tab, other) === "" &&
            /^Not found/.test(await tried(tab, "123456")) &&
            /NTLM/.test(await text(tab, "why")),
        "a filter of other hashes is not trusted");
        check(await offered(tab, path.join(work, "hex.bly")) === "",
            "another filter takes its place");
        const numbers = path.join(work, "numbers-of-passwords.bly");
        fs.rmSync(numbers, { force: true });
        execFileSync(command, ["build", "--as", "number", "-n", "9", "-o",
            numbers, "--key", "7"], { stdio: "pipe" });
        check(/are not hashes/.test(await offered(tab, numbers)),
            "a filter of numbers is refused");
        check(/\S/.test(await offered(tab, list)), "a list is refused");
        check(/Perhaps/.test(await tried(tab, words[3])),
            "and the filter before it stays");
        const address = await tab.evaluate(() => location.href);
        check(!address.includes("?") && requests.length === 0,
            `${page}: nothing is requested after it has loaded`,
            requests.join(" "));
        const refused = await tab.evaluate((url) => fetch(url).then(() => false,
            () => true), `${root}/index.html`);
        check(refused, `${page}: the browser refuses a connection`);
        await tab.close();
    }
    // The refusal of the last check is an error of the console, as it should be.
    for (let i = wrongs.length; i-- > 0;)
        if (/passwords\.html: .*Content Security Policy/.test(wrongs[i]))
            wrongs.splice(i, 1);
}

// In the page: how many bits of the image decide the last answer, and how many of
// these are in bytes that no recorded load reads, of this lookup or of a batch. Each
// flip opens the image anew, so only every 97th bit of a large image is flipped.
function everyBit() {
    const read = new Set();
    tracer.askBatch();
    for (const { offset, bytes } of tracer.reads())
        for (let i = 0; i < bytes; i++)
            read.add(offset + i);
    const answer = filter.contains(document.getElementById("key").value) ? 1 : 0;
    let deciding = 0, unseen = 0;
    const bits = tracer.image().length * 8, step = bits > 100000 ? 97 : 1;
    for (let bit = 128 * 8; bit < bits; bit += step) {
        const said = tracer.flip(bit >> 3, bit & 7);
        if (said < 0 || said === answer)
            continue;
        deciding++;
        unseen += !read.has(bit >> 3);
    }
    return [deciding, unseen];
}

// Every kind that the menu has is built, or says in a line why it is not.
async function kinds() {
    const tab = await open("playground.html");
    await settled(tab, "playground.html");
    const names = await tab.$$eval("#kind option", (options) =>
        options.map((option) => option.value).filter(Boolean));
    let shown = 0;
    for (const kind of names) {
        await choose(tab, kind, "-2");
        const error = await text(tab, "build-error");
        if (error) {
            console.log(`figure ${kind} is not built of words: ${error}`);
            continue;
        }
        const answer = await ask(tab, "anvil");
        const why = await text(tab, "why");
        check(/perhaps/.test(answer) && /[1-9]\d* bytes? of/.test(why),
            `${kind}: asked, and what it reads is told`, `${answer} ${why}`);
        shown++;
        const [deciding, unseen] = await tab.evaluate(everyBit);
        check(unseen === 0, `${kind}: of ${deciding} bits of the image that ` +
            "decide, all are among what was read", `${unseen} are not`);
    }
    check(shown >= 25, "most kinds are shown", `${shown} of ${names.length}`);
    await tab.close();
}

// By keys alone: each control can be come to, and a slider moved.
async function keyboard() {
    const tab = await open("playground.html");
    await settled(tab, "playground.html");
    const reached = new Set();
    for (let i = 0; i < 80; i++) {
        await tab.keyboard.press("Tab");
        reached.add(await tab.evaluate(() => document.activeElement.id));
    }
    const missing = ["words", "pick", "reset", "kind", "rate", "need-remove",
        "download", "key"].filter((id) => !reached.has(id));
    check(missing.length === 0, "each control is reached by keys",
        missing.join(", "));
    await tab.focus("#rate");
    const before = await text(tab, "rate-says");
    await tab.keyboard.press("ArrowLeft");
    check(await text(tab, "rate-says") !== before, "a slider goes by keys");
    await tab.close();
}

// The names and numbers of the map that lie on one another, and the points that a
// name lies on.
const collisions = () => {
    const boxes = (selector) => [...document.querySelectorAll(`#plot ${selector}`)]
        .map((one) => [one.textContent, one.getBoundingClientRect()]);
    const texts = boxes("text"), points = boxes("circle");
    const meet = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 &&
        a.top < b.bottom - 1 && b.top < a.bottom - 1;
    return texts.flatMap(([name, box], i) =>
        [...texts.slice(i + 1), ...points].filter(([, other]) => meet(box, other))
            .map(([other]) => `${name} and ${other}`));
};

async function labels() {
    for (const width of [360, 1200]) {
        const tab = await open("map.html", width);
        await settled(tab, "map.html");
        for (const axis of ["time", "rate"]) {
            const before = await tab.$eval("#plot svg", (svg) => svg.outerHTML);
            await tab.select("#axis", axis);
            if (axis === "rate")
                await tab.waitForFunction((old) => document.querySelector(
                    "#plot svg").outerHTML !== old, {}, before);
            const found = await tab.evaluate(collisions);
            check(found.length === 0, `the map, ${width} wide, by ${axis}: no names ` +
                "lie on one another", found.join("; "));
            const names = await tab.$$eval("#plot .axis", (all) => all.length);
            check(names === 2, `the map, by ${axis}: both axes have a name`);
        }
        await tab.close();
    }
}

async function map() {
    const tab = await open("map.html");
    await settled(tab, "map.html");
    const first = await text(tab, "advice");
    check(/choice is \w+/.test(first), "the map has an advice");
    const theirs = execFileSync(command, ["advise", "-n", "1M", "-p", "1%",
        "--static"], { encoding: "utf8" });
    const name = /choice is ([\w:=]*\w)/.exec(first)[1];
    check(new RegExp(`^ *1 ${name} `, "m").test(theirs),
        "and it is the command's", name);
    await tab.evaluate(() => {
        document.getElementById("n").value = "3";
        document.getElementById("can-remove").click();
    });
    await tab.waitForFunction((old) => document.getElementById("advice")
        .textContent !== old, {}, first);
    const rows = await tab.$$eval("#table tbody tr", (all) => all.length);
    const points = await tab.$$eval("#plot circle", (all) => all.length);
    check(rows === points && rows > 3, "each kind of the table is on the map",
        `${rows} and ${points}`);
    await tab.close();
}

async function fromFile() {
    const page = `file://${path.resolve(site)}/playground.html`;
    const tab = await open(page);
    await settled(tab, "playground.html");
    check(/perhaps/.test(await ask(tab, "anvil")),
        "the playground works from a file");
    await tab.close();
}

async function costs() {
    for (const page of ["index.html", "kinds/cuckoo.html", "map.html",
        "playground.html"]) {
        sent.clear();
        const begun = performance.now();
        const tab = await open(page);
        const loaded = performance.now() - begun;
        await settled(tab, page);
        const ready = performance.now() - begun;
        const bytes = [...sent.values()].reduce((sum, n) => sum + n, 0);
        figure(`${page}, bytes sent (gzip)`, bytes);
        figure(`${page}, ms until loaded, and until it can be used`,
            `${loaded.toFixed(0)}, ${ready.toFixed(0)}`);
        await tab.close();
    }
}

// ---- Search, code and the calculator ----------------------------------------

// The pages that the search finds for some words, the best first.
async function found(tab, words) {
    await tab.$eval("#q", (field, value) => {
        field.value = value;
        document.getElementById("search").requestSubmit();
    }, words);
    return tab.$$eval("#results > li > a", (links) => links.map((link) =>
        link.getAttribute("href").replace(/#.*/, "")));
}

// Words, and the page that must be among the first three for them.
const WANTED = { "guava": "kinds/guava.html",
    "read a guava filter": "docs/reference/formats.html",
    "remove keys safely": "docs/guide/removing-keys.html",
    "phone blocklist": "docs/cookbook/blocklists.html",
    "exit status": "docs/reference/exit-status.html",
    "install": "docs/install.html", "cuckoo": "kinds/cuckoo.html",
    "bly_contains": "man/bly_contains.3.html",
    "bloomery_fields": "man/bloomery_fields.3.html",
    "read a yes": "docs/guide/reading-a-yes.html" };

async function search() {
    const tab = await open("search.html?q=cuckoo");
    check((await tab.$$("#results li")).length > 0,
        "the search finds the words of its address");
    for (const [words, page] of Object.entries(WANTED)) {
        const pages = (await found(tab, words)).slice(0, 3);
        check(pages.includes(page), `the search for '${words}' finds ${page}`,
            pages.join(", "));
    }
    check((await found(tab, "guava")).includes("kinds/guava.html"),
        "a word is found on several pages");
    check((await found(tab, "cukoo")).includes("kinds/cuckoo.html"),
        "a word with a letter missing is found");
    check((await found(tab, "xyzzyplugh")).length === 0 &&
        /Nothing found/.test(await text(tab, "found")),
    "a word that is nowhere is not found, and the page says so");
    await found(tab, "removing keys");
    const marks = await tab.$$eval("#results mark", (all) =>
        all.map((mark) => mark.textContent.toLowerCase()));
    check(marks.some((mark) => mark.startsWith("remov")),
        "words are marked in titles and excerpts");
    await tab.close();
    const other = await open("kinds/cuckoo.html");
    await other.keyboard.press("/");
    await other.keyboard.type("guava");
    await Promise.all([other.waitForNavigation(), other.keyboard.press("Enter")]);
    check(await other.$eval("#q", (field) => field.value) === "guava" &&
        (await other.$$("#results li")).length > 0,
    "/ and Enter lead from a page to the search");
    await other.close();
    const file = await open(`file://${path.resolve(site)}/search.html?q=guava`);
    check((await file.$$("#results li")).length > 0,
        "the search works from a file");
    await file.close();
}

// The commands of the console blocks of a Markdown file, block by block.
function sessions(source) {
    return [...fs.readFileSync(path.join(tree, source), "utf8")
        .matchAll(/^```console\n([^]*?)^```$/gm)].map(([, block]) => {
        let inside = false;
        return block.split("\n").filter((line) => {
            inside = line.startsWith("$ ") || (inside && line.startsWith("> "));
            return inside;
        }).map((line) => line.slice(2)).join("\n");
    });
}

async function copying() {
    for (const [source, page] of [["README.md", "docs/readme.html"],
        ["docs/guide/first-filter.md", "docs/guide/first-filter.html"]]) {
        if (!fs.existsSync(path.join(tree, source)))
            continue;
        const tab = await open(page);
        const copied = await tab.evaluate(async () => {
            const texts = [];
            Object.defineProperty(navigator, "clipboard", { value: {
                writeText: async (text) => { texts.push(text); } } });
            for (const block of document.querySelectorAll(
                '.code[data-language="console"]'))
                block.querySelector(".copy").click();
            return texts;
        });
        const wanted = sessions(source);
        check(wanted.length > 0 &&
            JSON.stringify(copied) === JSON.stringify(wanted),
        `${page}: the buttons copy the commands alone`, JSON.stringify(
            copied.find((one, i) => one !== wanted[i])));
        await tab.close();
    }
}

// Numbers of a row of the calculator's table, by kind.
const tableOf = (tab) => tab.$$eval("#table tbody tr", (rows) => rows.map((row) =>
    [row.cells[0].textContent, Number(row.cells[1].textContent.replaceAll(",", "")),
        row.cells[4].textContent]));

const planOf = (kind, items, rate) => JSON.parse(execFileSync(command, ["plan", "-k",
    kind, "-n", String(items), "-p", String(rate), "--json"], { encoding: "utf8" }));

async function fill(tab, fields) {
    await tab.evaluate((all) => {
        for (const [id, value] of Object.entries(all)) {
            const field = document.getElementById(id);
            if (field.type === "radio" || field.type === "checkbox")
                field.checked = value;
            else
                field.value = value;
        }
        document.getElementById("n").dispatchEvent(new Event("input",
            { bubbles: true }));
    }, fields);
    await new Promise((done) => setTimeout(done, 300));
    await tab.evaluate(() => new Promise((done) => setTimeout(done)));
}

async function calculator() {
    const tab = await open("calculator.html");
    await settled(tab, "calculator.html");
    for (const [n, items] of [["1M", 1e6], ["12345", 12345]]) {
        await fill(tab, { n, rate: "0.1%", "by-rate": true, all: true });
        const rows = await tableOf(tab);
        const wrong = rows.filter(([kind, bytes]) =>
            planOf(kind, items, 0.001).bytes !== bytes);
        check(rows.length > 20 && wrong.length === 0,
            `${n} keys take as many bytes as by 'bloomery plan', in ${rows.length} ` +
            "kinds", wrong.join("; "));
    }
    await fill(tab, { n: "1M", size: "1 MiB", "by-size": true, all: false });
    const rows = await tableOf(tab);
    check(rows.length >= 3 && rows.every(([, bytes]) => bytes <= 2 ** 20),
        "what is listed for 1 MiB fits it", rows.join("; "));
    const percent = Number(rows.find(([kind]) => kind === "standard")[2]
        .replace(" %", ""));
    check(planOf("standard", 1e6, percent / 100 * 1.01).bytes <= 2 ** 20 &&
        planOf("standard", 1e6, percent / 100 * 0.99).bytes > 2 ** 20,
    "and at no lower rate", `${percent} %`);
    await fill(tab, { n: "many" });
    check(/'many' is not a number of keys/.test(await text(tab, "error")),
        "a number that is none is refused in a line");
    const ladder = await tab.$$eval("#ladder-table tbody tr", (all) =>
        all.map((row) => Number(row.cells[1].textContent.replaceAll(",", ""))));
    const exact = [2 ** 10, 2 ** 15, 2 ** 20, 2 ** 25, 2 ** 30].every((bytes, i) =>
        planOf("standard", ladder[i], 0.01).bytes <= bytes &&
        planOf("standard", Math.ceil(ladder[i] * 1.001) + 1, 0.01).bytes > bytes);
    check(exact, "the sizes hold the keys that the ladder has, and no more",
        ladder.join(", "));
    await tab.close();
}

// A line of a synopsis ends between two options, and not within one.
async function synopses() {
    const tab = await open("man/bloomery-build.1.html");
    const broken = await tab.$$eval(".synopsis .option", (all) => all.filter((one) =>
        one.getBoundingClientRect().height >
            1.5 * parseFloat(getComputedStyle(one).lineHeight))
        .map((one) => one.textContent));
    const count = (await tab.$$(".synopsis .option")).length;
    check(count > 0 && broken.length === 0, "no option of a synopsis is broken",
        `${count}: ${broken.join(", ")}`);
    await tab.close();
}

// A link from the page of a kind opens the playground with that kind.
async function fromKind() {
    const tab = await open("kinds/cuckoo.html");
    await Promise.all([tab.waitForNavigation(), tab.click(".go .button")]);
    await settled(tab, "playground.html");
    check(await tab.$eval("#facts dd", (one) => one.textContent) === "cuckoo",
        "the page of a kind leads to a filter of that kind");
    await tab.close();
}

// ---- Lighthouse's audit -------------------------------------------------------------

// Checks some kinds of pages; axe checks all of them.
async function lighthouse() {
    const { default: look } = await import(require.resolve("lighthouse"));
    const port = Number(new URL(browser.wsEndpoint()).port);
    for (const page of ["index.html", "kinds/cuckoo.html", "man/bly_new.3.html",
        "playground.html"]) {
        const { lhr } = await look(`${root}/${page}`, { port, output: "json",
            logLevel: "silent", maxWaitForLoad: PATIENCE, onlyCategories: [
                "accessibility", "best-practices", "seo"] });
        for (const { title, score, auditRefs } of Object.values(lhr.categories)) {
            const bad = auditRefs.map((ref) => lhr.audits[ref.id]).filter(
                (audit) => audit.score !== null && audit.score < 0.9);
            check(score >= 0.95, `${page}: Lighthouse gives 95 or more for ` +
                title, bad.map((audit) => audit.id).join(", "));
        }
    }
}

// ---- All -----------------------------------------------------------------------------

// The longest come first, so that the shares end at about the same time.
const parts = { kinds, playground, passwords, lighthouse, costs, hostile, files,
    calculator, search, labels, keyboard, map, fromFile, fromKind, copying, synopses, lines,
    button };
for (const page of TYPICAL)
    parts[page] = async () => {
        const tab = await open(page);
        await settled(tab, page);
        await tab.evaluate(axe);
        for (const width of [1600, 800, 360]) {
            await fits(tab, page, width);
            if (width !== 800)
                for (const scheme of ["light", "dark"])
                    await readable(tab, page, width, scheme);
        }
        await tab.close();
    };
try {
    const mine = Object.entries(parts).filter(([name], i) => env.ONLY
        ? env.ONLY.split(",").includes(name) : i % shares === first - 1);
    for (const [name, part] of mine) {
        try {
            await part();
        } catch (error) {
            check(false, `${name} comes to its end`, error.message);
        }
    }
    check(wrongs.length === 0, "no page complains, or asks another host",
        wrongs.slice(0, 5).join("; "));
} finally {
    await browser.close();
    server.close();
    fs.rmSync(profile, { recursive: true, force: true });
}
console.log(`${passed} passed, ${failed} failed`);
exit(failed ? 1 : 0);
