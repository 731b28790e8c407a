// links.mjs - every link of the pages leads somewhere within them:
//
//      node links.mjs FOLDER
//
// A link to another page, or to a place in one, must find it, and so must each
// result of the search. Every page must be reached from the first one. Nothing may
// be loaded from elsewhere, by a page, its style or its scripts. Each page must
// have a language, a title, one main heading, landmarks, the version and the
// licence, and no name twice. Ends in a line "N passed, N failed".
import * as fs from "node:fs";
import * as path from "node:path";
import * as vm from "node:vm";
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

// The file that a link of a page leads to.
function targetOf(name, link) {
    const file = unescape(link).replace(/[?#].*/, "");
    return file === "" ? name
        : path.posix.join(path.posix.dirname(name), decodeURI(file));
}

// Returns what is wrong with a link of that page, or "".
function wrong(name, link) {
    if (/^(mailto|data):/.test(link))
        return "";
    if (/^[a-z]+:|^\/\//.test(link))
        return "";
    const [, anchor] = unescape(link).split("#");
    const target = targetOf(name, link);
    if (!there.has(target))
        return `${link}: there is no ${target}`;
    if (anchor && !pages.get(target)?.names.has(unescape(anchor)) &&
        !pages.get(target)?.names.has(decodeURIComponent(anchor)))
        return `${link}: ${target} has no such place`;
    return "";
}

const linksOf = (text) => [...text.matchAll(/\s(?:href|src|action)="([^"]*)"/g)]
    .map(([, link]) => link);

for (const [name, { text, names, all }] of pages) {
    const foreign = name.startsWith("lab/");
    const links = linksOf(text);
    const found = links.map((link) => wrong(name, link)).filter(Boolean);
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
    for (const mark of ["<header>", '<main id="main">', "<footer>",
        'href="#main"', 'role="search"', "licence</a>", "<li>Bloomery "])
        check(text.includes(mark), `${name}: lacks ${mark}`);
    check(name === "index.html" || (text.includes('<nav class="book"') &&
        text.includes('<nav class="crumbs"')), `${name}: no navigation`);
    check(names.size === all.length, `${name}: a name comes twice: ${
        all.filter((id, i) => all.indexOf(id) !== i).join(", ")}`);
}
for (const name of files.filter((name) => name.endsWith(".css")))
    check(!/@import|url\((?!["']?data:)/.test(
        fs.readFileSync(path.join(root, name), "utf8")), `${name}: loads`);

// Every page is reached from the first one.
const reached = new Set(["index.html"]);
for (const name of reached)
    for (const link of linksOf(pages.get(name)?.text ?? ""))
        if (!/^[a-z]+:/.test(link) && there.has(targetOf(name, link)))
            reached.add(targetOf(name, link));
const lost = [...pages.keys()].filter((name) => !reached.has(name));
check(lost.length === 0, `not reached from index.html: ${lost.join(", ")}`);

// The search knows pages and places that exist.
const { documents } = vm.runInNewContext(`${fs.readFileSync(
    path.join(root, "search-index.js"), "utf8")}; SEARCH`);
const missing = documents.map(([page]) => wrong("index.html",
    page.replaceAll("&", "&amp;"))).filter(Boolean);
check(missing.length === 0, `the search finds ${missing.join("; ")}`);
check(documents.length > pages.size / 2, "the search has few pages");
console.log(`ok - ${pages.size} pages`);
console.log(`${passed} passed, ${failed} failed`);
exit(failed ? 1 : 0);
