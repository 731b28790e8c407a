// links.mjs - every link of the pages leads somewhere within them:
//
//      node links.mjs FOLDER
//
// A link to another page, or to a place in one, must find it; nothing may be
// loaded from elsewhere, by a page, its style or its scripts. Of each page also
// what no reader with a screen should miss: a language, a title, one main
// heading, and no name twice. Ends in a line "N passed, N failed".
import * as fs from "node:fs";
import * as path from "node:path";
import { argv, exit } from "node:process";

const root = path.resolve(argv[2]);
let passed = 0, failed = 0;

function check(ok, what) {
    if (ok) {
        passed++;
    } else {
        failed++;
        console.log(`not ok - ${what}`);
    }
}

const files = fs.readdirSync(root, { recursive: true })
    .map((name) => name.split(path.sep).join("/"))
    .filter((name) => fs.statSync(path.join(root, name)).isFile());
const there = new Set(files);
const pages = new Map();
for (const name of files.filter((name) => name.endsWith(".html"))) {
    const text = fs.readFileSync(path.join(root, name), "utf8");
    const names = [...text.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id);
    pages.set(name, { text, names: new Set(names), all: names });
}
const unescape = (text) => text.replaceAll("&lt;", "<").replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"').replaceAll("&amp;", "&");

// Returns what is wrong with a link of that page, or "".
function wrong(name, link) {
    if (/^(mailto|data):/.test(link))
        return "";
    if (/^[a-z]+:|^\/\//.test(link))
        return "";
    const [file, anchor] = unescape(link).split("#");
    const target = file === "" ? name
        : path.posix.join(path.posix.dirname(name), decodeURI(file));
    if (!there.has(target))
        return `${link}: there is no ${target}`;
    if (anchor && !pages.get(target)?.names.has(unescape(anchor)) &&
        !pages.get(target)?.names.has(decodeURIComponent(anchor)))
        return `${link}: ${target} has no such place`;
    return "";
}

for (const [name, { text, names, all }] of pages) {
    const foreign = name.startsWith("lab/");
    const found = [...text.matchAll(/\s(?:href|src)="([^"]*)"/g)]
        .map(([, link]) => wrong(name, link)).filter(Boolean);
    check(found.length === 0, `${name}: ${found.join("; ")}`);
    const loaded = [...text.matchAll(
        /<(?:script|link|img|iframe|source)[^>]*(?:src|href)="([^"]*)"/g)]
        .map(([, link]) => link).filter((link) => /^[a-z]+:\/\/|^\/\//.test(link));
    check(loaded.length === 0, `${name}: loads ${loaded.join(", ")}`);
    if (foreign)
        continue;
    check(/<html lang="en">/.test(text), `${name}: no language`);
    check(/<title>[^<]+<\/title>/.test(text), `${name}: no title`);
    check((text.match(/<h1[ >]/g) ?? []).length === 1,
        `${name}: not one main heading`);
    check(names.size === all.length, `${name}: a name comes twice: ${
        all.filter((id, i) => all.indexOf(id) !== i).join(", ")}`);
}
for (const name of files.filter((name) => name.endsWith(".css")))
    check(!/@import|url\((?!["']?data:)/.test(
        fs.readFileSync(path.join(root, name), "utf8")), `${name}: loads`);
console.log(`ok - ${pages.size} pages`);
console.log(`${passed} passed, ${failed} failed`);
exit(failed ? 1 : 0);
