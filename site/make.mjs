// make.mjs - makes the pages of the site, each from its one source:
//
//      node make.mjs TREE BUILD OUT [WASM TRACE]
//
// TREE is the source. BUILD has the command, its man pages (man/, man3/), the
// pages of the kinds and, if `make lab` has run, the lab's report. The pages go to
// OUT. The text of a page is a Markdown file, converted by cmark-gfm, or a man
// page, converted by mandoc. WASM and TRACE are the library for the pages that
// compute with it; without them, these pages say that it was not built.
//
// A link between two documents becomes a link between their pages, and a link to
// any other file of the tree one to a page that shows the file. A link to a
// missing file is an error, and so is a page that docs/README.md lists and nobody
// has written.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import { gzipSync } from "node:zlib";
import { argv, exit } from "node:process";
import { Book, sectionsOf } from "./book.mjs";
import { block, blocks, coloured, escape, picture, plain, unescape } from
    "./code.mjs";
import { lunrFile, writeIndex } from "./find.mjs";

const [tree, build, out, wasm, trace] = argv.slice(2);
const here = path.join(tree, "site");
const problems = [];

// ---- Small things -----------------------------------------------------------

// The file of a source: a path of the tree, or a page of a kind in the build.
const locate = (source) =>
    path.join(source.startsWith("docs/kinds") ? build : tree, source);
const read = (name) => fs.readFileSync(locate(name), "utf8");
const exists = (name) => fs.existsSync(path.join(tree, name));
const command = (...words) => execFileSync(path.join(build, "bloomery"), words,
    { encoding: "utf8" });
const version = /#define BLY_VERSION "(.*)"/.exec(
    read("include/bloomery.h"))[1];
const licence = /^(.*) License/.exec(read("LICENSE"))[1];

function list(folder, pattern) {
    return fs.readdirSync(locate(folder), { withFileTypes: true })
        .filter((entry) => pattern.test(entry.name))
        .map((entry) => entry.name).sort();
}

// The name that a heading has in a link, as GitHub makes it.
function slug(text, seen) {
    const base = text.trim().toLowerCase()
        .replace(/[^\p{L}\p{N}\p{M}_\- ]/gu, "").replaceAll(" ", "-");
    const times = seen.get(base) ?? 0;
    seen.set(base, times + 1);
    return times ? `${base}-${times}` : base;
}

// ---- Which source is which page ---------------------------------------------

const pages = new Map();        // source, as a path of the tree: its page
for (const name of fs.readdirSync(path.join(tree, "docs"), { recursive: true })
    .filter((name) => name.endsWith(".md")).sort())
    pages.set(`docs/${name}`, `docs/${name
        .replace(/(^|\/)README\.md$/, "$1index.md").replace(/md$/, "html")}`);
for (const name of list("docs/kinds", /\.md$/))
    pages.set(`docs/kinds/${name}`, `kinds/${name.replace(/md$/, "html")}`);
pages.set("uses/README.md", "uses/index.html");
for (const name of read("uses/list").split(/\s+/).filter(Boolean))
    pages.set(`uses/${name}/use.md`, `uses/${name}.html`);
for (const name of list("bindings", /./))
    if (exists(`bindings/${name}/README.md`))
        pages.set(`bindings/${name}/README.md`, `bindings/${name}.html`);
pages.set("README.md", "docs/readme.html");
pages.set("site/README.md", "docs/site.html");
pages.set("CHANGELOG.md", "docs/changelog.html");
pages.set("CONTRIBUTING.md", "docs/contributing.html");
pages.set("SECURITY.md", "docs/security.html");
const documents = [...pages];
const kindSources = new Map();  // page of a kind: the file of its essay
// A link to the source of a kind leads to the page of its essay.
for (const [source, page] of documents)
    if (source.startsWith("docs/kinds/")) {
        const essay = /Made from the head of `([^`]*)`/.exec(read(source))[1];
        pages.set(essay, page);
        kindSources.set(page, essay);
    }
// A link to a folder leads to the page of its README.md or use.md.
for (const [source, page] of documents)
    if (/.\/(README|use)\.md$/.test(source))
        pages.set(path.dirname(source), page);
pages.set("docs/kinds", "kinds/index.html");
pages.set("bindings", "docs/index.html#library");

const shown = new Set();        // other files that a page links to

// The page that shows a file of the tree as it is.
function shownPlace(target) {
    shown.add(target);
    return `source/${target}.html`;
}

// Where `target`, a path of the tree, is in the site.
function place(target, from) {
    if (pages.has(target))
        return pages.get(target);
    if (target === ".." || target.startsWith("../") || !exists(target)) {
        problems.push(`${from}: ${target} is missing`);
        return "index.html";
    }
    return shownPlace(target);
}

function relative(from, to) {
    return path.posix.relative(path.posix.dirname(from), to) || path.basename(to);
}

// The links of a document, which are relative to `source`, in the page `page`.
function relink(html, source, page) {
    return html.replace(/ (href|src)="([^"]*)"/g, (all, name, link) => {
        if (/^([a-z]+:|#|$)/.test(link))
            return all;
        const [file, anchor] = unescape(decodeURI(link)).split("#");
        const target = path.posix.normalize(
            path.posix.join(path.posix.dirname(source), file))
            .replace(/\/$/, "");
        return ` ${name}="${escape(relative(page, place(target, source)))}` +
            `${anchor ? `#${escape(anchor)}` : ""}"`;
    });
}

// ---- The order of the pages -------------------------------------------------

const titleOf = (source) => /^# (.*)$/m.exec(read(source))?.[1]
    .replaceAll("`", "") ?? source;

// Returns the sections of the book, with the pages of the items that exist.
function bookSections() {
    return sectionsOf(read("docs/README.md")).map((section) => ({ ...section,
        page: `docs/index.html#${slug(section.title, new Map())}`,
        items: section.items.filter(({ source }) => {
            if (!pages.has(source))
                problems.push(`docs/README.md: ${source} is missing`);
            return pages.has(source);
        }).map((item) => ({ ...item, page: pages.get(item.source) })) }));
}

const kinds = JSON.parse(command("kinds", "--json"));
const familyOf = new Map(kinds.map(({ name, family }) => [name, family]));

function kindsSection() {
    const all = [...kindSources.keys()].map((page) => ({ page,
        title: path.basename(page, ".html") }));
    const families = [...new Set(familyOf.values()), undefined];
    return { title: "All kinds", page: "kinds/index.html",
        items: families.flatMap((family) =>
            all.filter(({ title }) => familyOf.get(title) === family)
                .map((item) => ({ ...item,
                    group: family ?? "other systems' formats" }))) };
}

// The uses by the headings of uses/README.md, which tools/make/uses compares with
// the titles of their pages.
function usesSection() {
    const items = [];
    let group = "";
    for (const line of read("uses/README.md").split("\n")) {
        group = /^## (.*)$/.exec(line)?.[1].replace(/\[(.*?)\]\(.*?\)/g, "$1") ??
            group;
        const [, file, title] = /^\| \[`[\w-]+`\]\((.*?)\) \| (.*) \|$/
            .exec(line) ?? [];
        if (file)
            items.push({ group, title: title.replace(/: .*/, ""),
                page: pages.get(`uses/${file}`) });
    }
    return { title: "Uses", page: "uses/index.html", items };
}

function manualSections() {
    const names = ["man", "man3"].flatMap((folder) =>
        fs.existsSync(path.join(build, folder))
            ? fs.readdirSync(path.join(build, folder)).sort() : []);
    const part = (number) => names.filter((name) => name.endsWith(`.${number}`))
        .map((name) => ({ title: name.slice(0, -2), page: `man/${name}.html`,
            group: headerOf(name) }));
    return ["1", "3", "5", "7"].filter((number) => part(number).length > 0)
        .map((number) => ({ title: `Manual: ${MANUAL[number].toLowerCase()}`,
            page: `man/index.html#${slug(MANUAL[number], new Map())}`,
            items: part(number) }));
}
const MANUAL = { 1: "Commands", 3: "Functions", 5: "Formats", 7: "Concepts" };

// Returns the header that the synopsis of a page of section 3 includes.
function headerOf(name) {
    return name.endsWith(".3") ? /#include <(.*?)>/.exec(fs.readFileSync(
        path.join(build, "man3", name), "utf8"))?.[1] : undefined;
}

// Files that are shown as they are.
function sourceSection() {
    const files = (folder, group, pattern) => fs.readdirSync(
        path.join(tree, folder), { recursive: true })
        .filter((name) => pattern.test(name)).sort()
        .map((name) => ({ group, title: name,
            page: place(`${folder}/${name}`, "site") }));
    return { title: "Headers and examples", page: "source/index.html",
        items: [...files("include", "headers", /\.(h|hpp)$/),
            ...files("examples", "examples", /\.(c|cpp|py|js|mjs|sql)$/)] };
}

const APPS = [["playground", "Playground"], ["calculator", "Calculator"],
    ["map", "Map of the kinds"], ["passwords", "Leaked passwords"]];
// Pages that browsers allow no connections; the library is in a data: URL.
const OFFLINE = ["passwords.html"];

function projectSection() {
    const lab = fs.existsSync(path.join(build, "lab/report.html"))
        ? [{ title: "The lab's report", page: "lab/report.html" }] : [];
    return { title: "The project", page: "docs/project.html",
        items: [...["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md",
            "site/README.md", ...documents.map(([source]) => source)
                .filter((source) => source.startsWith("bindings/"))]
            .map((source) => ({ title: titleOf(source),
                page: pages.get(source) })), ...lab] };
}

const BYTES = "The bytes of each kind";

function order() {
    const sections = bookSections();
    const after = (title, ...more) => {
        const i = sections.findIndex((section) => section.title === title);
        sections.splice(i < 0 ? sections.length : i + 1, 0, ...more);
    };
    after("Cookbook", usesSection());
    after("Choosing a kind", kindsSection());
    after("Reference", ...manualSections(), sourceSection());
    const bytes = documents.filter(([source]) =>
        source.startsWith("docs/format/kinds/"));
    if (bytes.length > 0)
        after("File format", { title: BYTES, page: "docs/format/kinds/index.html",
            items: bytes.map(([source, page]) =>
                ({ title: titleOf(source), page })) });
    sections.push({ title: "In the browser", page: "playground.html", book: true,
        items: APPS.map(([name, title]) => ({ title, page: `${name}.html` })) });
    sections.push(projectSection());
    return sections;
}

const book = new Book(order(), relative);

// ---- The frame of a page ----------------------------------------------------

const sections = [
    ["docs/index.html", "Docs"], ["kinds/index.html", "Kinds"],
    ["uses/index.html", "Uses"], ["man/index.html", "Manual"],
    ["playground.html", "Playground"], ["calculator.html", "Calculator"],
    ["map.html", "Map"],
];
const indexed = [];             // for the search page

// Returns a summary of a page: the beginning of its text, in whole words.
function about(main, title) {
    const text = plain(/<p>([^]*?)<\/p>/.exec(main)?.[1] ?? title)
        .replace(/\s+/g, " ").trim();
    return text.length <= 160 ? text : `${text.slice(0, 157).replace(/ \S*$/, "")} …`;
}

function searchForm(page) {
    return page === "search.html" ? "" : `<form class="search" role="search" ` +
        `action="${escape(relative(page, "search.html"))}">` +
        '<input type="search" name="q" aria-label="Search all pages" ' +
        'placeholder="Search" aria-keyshortcuts="/" autocomplete="off"></form>\n';
}

function footer(page, source) {
    const root = (to) => escape(relative(page, to));
    const from = source ? `<li>Source of this page: <a href="` +
        `${root(shownPlace(source))}"><code>${escape(source)}</code></a></li>\n` : "";
    return `<footer><ul>\n<li>Bloomery ${escape(version)}</li>\n` +
        `<li><a href="${root(shownPlace("LICENSE"))}">${escape(licence)} ` +
        `licence</a></li>\n${from}</ul></footer>\n`;
}

// Keeps a number and its unit on one line.
function bound(html) {
    return html.replace(/<(pre|code|svg)[ >][^]*?<\/\1>|<[^>]*>|(\d)\s(?=%|[KMGT]i?B\b)/g,
        (all, _, digit) => digit ? `${digit}&nbsp;` : all);
}

// write PAGE, with a title, its main part, and what its kind needs: `scripts`, a
// class for its layout, its source, and its weight in the search (0: not found).
function write(page, title, main,
    { scripts = [], kind = "text", source = "", weight = 1 } = {}) {
    const root = (to) => escape(relative(page, to));
    const at = sections.find(([to]) => to === page) ??
        sections.find(([to]) => to.endsWith("/index.html") &&
            path.dirname(to) === page.split("/")[0]);
    const links = sections.map(([to, name]) => `<a href="${root(to)}"` +
        `${at?.[0] === to ? ' aria-current="page"' : ""}>${name}</a>`);
    const front = page === "index.html";
    const section = book.sectionOf(page);
    if (weight > 0)
        indexed.push({ page, title, section: section?.title ?? "", main,
            weight: section?.book ? 2 * weight : weight });
    const file = path.join(out, page);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escape(front ? "Bloomery" : `${title} · Bloomery`)}</title>
<meta name="description" content="${escape(about(main, title))}">
${OFFLINE.includes(page) ? '<meta http-equiv="Content-Security-Policy" ' +
        'content="connect-src data:">\n' : ""}<link rel="icon" href="data:,">
<link rel="stylesheet" href="${root("style.css")}">
${[...scripts, "site.js"].map((name) =>
        `<script defer src="${root(name)}"></script>\n`).join("")}</head>
<body class="${kind}">
<a class="skip" href="#main">Skip to the text</a>
<header>
<a class="name" href="${root("index.html")}">Bloomery</a>
<nav aria-label="Site">
${links.join("\n")}
</nav>
${searchForm(page)}</header>
<div class="frame">
${front ? "" : book.navigation(page)}<main id="main">
${front ? "" : book.crumbs(page, book.titleOf(page) ?? title)}${bound(main)}
${front ? "" : book.turn(page)}</main>
</div>
${footer(page, source)}</body>
</html>
`);
}

// ---- From Markdown ----------------------------------------------------------

// Tables may be wider than the page. They are scrolled by themselves, by keys
// too, so that they can have the focus and have a name.
function scrollable(html) {
    let number = 0;
    return html
        .replace(/<table>[^]*?<\/table>/g, (table) => {
            const first = plain(/<th[^>]*>([^]*?)<\/th>/.exec(table)?.[1] ?? "")
                .trim();
            const name = `Table ${++number}${first ? ` by ${first}` : ""}`;
            return `<div class="scroll" tabindex="0" role="region" ` +
                `aria-label="${escape(name)}">${table}</div>`;
        })
        .replace(/<th([^>]*)>\s*<\/th>/g, "<td$1></td>");
}

// Each heading by its name, and the list of those of the second rank.
function headings(html) {
    const seen = new Map(), contents = [];
    const body = html.replace(/<h([1-6])>([^]*?)<\/h\1>/g, (_, rank, text) => {
        const name = slug(plain(text), seen);
        if (rank === "2")
            contents.push([name, plain(text)]);
        return `<h${rank} id="${escape(name)}">${text}</h${rank}>`;
    });
    return [body, contents];
}

function contentsOf(contents) {
    if (contents.length < 4)
        return "";
    return `<nav class="contents" aria-label="On this page"><ul>\n` +
        contents.map(([name, text]) =>
            `<li><a href="#${escape(name)}">${escape(text)}</a></li>\n`)
            .join("") + "</ul></nav>\n";
}

const CMARK = ["cmark-gfm", "--full-info-string", "-e", "table", "-e",
    "strikethrough"];

function markdown(text) {
    return blocks(execFileSync(CMARK[0], CMARK.slice(1),
        { input: text, encoding: "utf8", maxBuffer: 1 << 26 }));
}

// many COMMAND FILES: the output of `COMMAND FILE` for each, in their order. One
// shell starts them all, because this process is too large to be copied so often.
function many(words, files) {
    const folder = fs.mkdtempSync(path.join(out, "many-"));
    execFileSync("sh", ["-ec", `folder=$1 i=0
        shift
        for file; do
            ${words} "$file" >"$folder/$i"
            i=$((i + 1))
        done`, "many", folder, ...files]);
    const texts = files.map((_, i) =>
        fs.readFileSync(path.join(folder, String(i)), "utf8"));
    fs.rmSync(folder, { recursive: true });
    return texts;
}

const titles = new Map();       // of each document's page

// Puts the pictures of a document into its page.
function pictures(html, source) {
    let number = 0;
    return html.replace(
        /<p>\s*<img src="([^":]*\.svg)"[^>]*\/>\s*<\/p>/g, (all, link) => {
            const file = path.posix.join(path.posix.dirname(source),
                decodeURI(link));
            const id = `${path.basename(file, ".svg")}-${++number}`;
            return exists(file) ? figure(file, `picture-${id}`) : all;
        });
}

const figure = (file, id) =>
    `<figure class="picture" tabindex="0">${picture(read(file), id)}</figure>`;

function documentPage(source, page, made) {
    const kind = page.startsWith("kinds/") ? path.basename(page, ".html") : "";
    let html = made.replaceAll("<!-- raw HTML omitted -->\n", "");
    html = kind ? kindText(html, kind) : html;
    let [text, contents] = headings(scrollable(blocks(pictures(html, source))));
    text = relink(text, source, page);
    const h1 = /<h1[^>]*>([^]*?)<\/h1>/.exec(text);
    if (!h1)
        problems.push(`${source}: it has no title`);
    titles.set(page, plain(h1?.[1] ?? source));
    const end = h1 ? h1.index + h1[0].length : 0;
    const list = contentsOf(contents);
    const [app, words] = familyOf.has(kind)
        ? [`playground.html?kind=${kind}`,
            `Try <code>${kind}</code> in the playground`]
        : BUTTONS[source] ?? [];
    const go = app ? `<p class="go"><a class="button" ` +
        `href="${relative(page, app)}">${words}</a></p>\n` : "";
    write(page, titles.get(page),
        `<article${list ? ' class="has-contents"' : ""}>\n` +
        `${text.slice(0, end)}\n${list}<div class="text">` +
        `${go}${text.slice(end)}</div></article>`,
        { source: kindSources.get(page) ?? source,
            weight: source.startsWith("docs/format/kinds/") ? 0.5 : 1 });
}

// Pages that open with a button which leads to a page that computes.
const BUTTONS = {
    "docs/cookbook/passwords.md":
        ["passwords.html", "Check a password in this browser"],
    "docs/reference/rates.md": ["calculator.html", "Calculate your own size"],
    "docs/guide/sizes-and-rates.md":
        ["calculator.html", "Calculate your own size"],
    "docs/choosing/README.md": ["map.html", "Compare all kinds on a map"],
};

// ---- The pages of the kinds --------------------------------------------------

// The order of their sections: what a reader decides by comes first, and the
// bytes come last. Sections that are not named are between the two.
const RANKS = [/^What it is/, /^When to use/, /^When not/, /^Cost/, /^What it can/,
    /^Options/, /^The picture/];
const LAST = [/^Image/, /^Papers/];

function rank(section) {
    const title = plain(/^<h2>([^]*?)<\/h2>/.exec(section)?.[1] ?? "");
    const find = (all) => all.findIndex((one) => one.test(title));
    return find(RANKS) >= 0 ? find(RANKS)
        : RANKS.length + (find(LAST) >= 0 ? 1 + find(LAST) : 0);
}

function kindText(html, kind) {
    const [head, ...all] = html.replace(/<p><em>Made from[^]*?<\/p>\n*/, "")
        .replace(".</h1>", "</h1>").split(/(?=<h2>)/);
    const sorted = all.map((section) => ({ section, at: rank(section) }))
        .sort((a, b) => a.at - b.at)
        .map(({ section }) => drawing(section, kind));
    return head + sorted.join("");
}

// In the section with the picture, an SVG takes the place of the drawing of
// letters, and the drawing's words stay. What the heading says in brackets is
// about the letters.
function drawing(section, kind) {
    const file = `docs/pictures/kinds/${kind}.svg`;
    if (!/^<h2>The picture/.test(section) || !exists(file))
        return section;
    return section.replace(/^(<h2>The picture).*(<\/h2>)/, "$1$2")
        .replace(/<pre><code>([^]*?)<\/code><\/pre>/, (_, text) => figure(
            file, `picture-${kind}`) + text.split(/\n\s*\n/)
            .filter((one) => /^\s*[A-Z][a-z]* [a-z]/.test(one) && /\.\s*$/.test(one))
            .map((one) => `<p>${one.trim().replace(/\s+/g, " ")}</p>`).join(""));
}

function kindsIndex() {
    const page = "kinds/index.html";
    const [first, second, ...rows] = command("kinds", "--all", "--markdown")
        .trim().split("\n");
    const family = (row) => familyOf.get(/^\| `([\w-]+)`/.exec(row)?.[1]);
    const linked = (table) => table.replace(/^\| (`([\w-]+)`)/gm, "| [$1]($2.html)");
    // The heading of a table names the family, which is its second column.
    const tables = [...new Set(familyOf.values())].map((name) =>
        `## Family ${name}\n\n` + linked([first, second,
            ...rows.filter((row) => family(row) === name)].join("\n")
            .replace(/^(\|[^|]*\|)[^|]*\|/gm, "$1")));
    const [text] = headings(scrollable(markdown(`# Kinds

A *kind* is a way to build a filter. Each has a page: what it is, when to use it and
when not, what it costs, its mathematics and its bytes. The [map](../map.html) compares
what the kinds cost, and the [calculator](../calculator.html) lists their sizes.

${tables.join("\n\n")}

## Other systems' filters

${linked(command("formats", "--markdown"))}`)));
    write(page, "Kinds", `<article class="wide">${text}</article>`);
}

// ---- The manual -------------------------------------------------------------

// The source of a man page: the file of a command, the header of a function, ...
const sourceFiles = ["include", "programs", "search", "similar"]
    .flatMap((folder) => fs.readdirSync(path.join(tree, folder),
        { recursive: true }).map((name) => `${folder}/${name}`));

function manualSource(name) {
    const [, base, part] = /^(.*)\.(\d)$/.exec(name);
    if (part === "3")
        return sourceFiles.find((one) => one.endsWith(`/${headerOf(name)}`)) ?? "";
    if (part === "5")
        return "docs/format/README.md";
    if (part === "7")
        return "programs/bloomery/topics.c";
    const [, mpi, verb] = /^bloomery(-mpi)?(?:-(.*))?$/.exec(base) ?? [];
    const file = verb ? `cmd_${verb}.c` : "main.c";
    return sourceFiles.find((one) => path.basename(one) === file &&
        !one.startsWith("programs/redis") &&
        one.startsWith("programs/mpi/") === Boolean(mpi)) ?? "";
}

function manual() {
    const found = [];
    for (const folder of ["man", "man3"]) {
        const where = path.join(build, folder);
        if (!fs.existsSync(where))
            continue;
        for (const name of fs.readdirSync(where).sort())
            found.push({ name, file: path.join(where, name) });
    }
    const known = new Set(found.map(({ name }) => name));
    const made = many("mandoc -T html -O fragment",
        found.map(({ file }) => file));
    found.forEach(({ name }, i) => write(`man/${name}.html`,
        name.replace(/\.(\d)$/, "($1)"), manualBody(made[i], name, known),
        { source: manualSource(name), weight: WEIGHTS[name.slice(-1)] }));
    return found.map(({ name, file }) => ({ name, what: manualTitle(file) }));
}

// The book says in full what the pages of section 5 repeat.
const WEIGHTS = { 1: 1, 3: 0.7, 5: 0.3, 7: 1 };

// "name - what it is", of a page's section NAME.
function manualTitle(file) {
    const text = fs.readFileSync(file, "utf8");
    const line = /\.SH NAME\n([^]*?)\n\./i.exec(text)?.[1] ?? "";
    return line.replace(/\\-/g, "-").replace(/\\f./g, "").replace(/\\&/g, "")
        .replace(/\s+/g, " ").replace(/^.*? - /, "");
}

// The options of a synopsis: a line may end between two of them, but not within
// one.
function synopsis(html) {
    return html.replace(
        /(<section class="Sh">\s*<h1[^>]* id="SYNOPSIS">[^]*?<\/h1>)([^]*?)(?=<\/section>)/,
        (_, heading, text) => heading + text
            .replace(/<p class="Pp">([^]*?)<\/p>/g, (__, line) =>
                `<p class="Pp synopsis">${line.replace(
                    /\[(?:[^[\]]|\[[^[\]]*\])*\]/g,
                    '<span class="option">$&</span>')}</p>`));
}

// Makes the first row of each table that tbl wrote a row of headings, as in the
// tables of documents.
function tables(html) {
    return html.replace(/<table class="tbl">([^]*?<\/tr>)/g, (_, first) =>
        `<table><thead>${first.replace(/<td(.*?)><b>(.*?)<\/b><\/td>/g,
            "<th$1>$2</th>")}</thead>`)
        .replaceAll(' style="text-align: right;"', ' align="right"');
}

function manualBody(html, name, known) {
    const language = name.endsWith(".3") ? "c" : "";
    const shift = scrollable(tables(synopsis(html)))
        .replace(/<table class="(head|foot)">[^]*?<\/table>/g, "")
        .replace(/<(\/?)h([12])\b/g, (_, end, level) =>
            `<${end}h${Number(level) + 1}`)
        .replace(/<br\/>\n?/g, "<br>")
        .replace(/<pre[^>]*>([^]*?)<\/pre>/g, (_, text) => {
            const code = plain(text.replaceAll("<br>", ""));
            return block(code, /^\$ /m.test(code) ? "console" : language);
        })
        .replace(/<dl class="Bl-tag"[^>]*>/g, '<dl class="Bl-tag">')
        .replace(/(?:<b>)?\b([a-z][\w-]*)(?:<\/b>)?\(([1357])\)/g,
            (all, page, part) => known.has(`${page}.${part}`) &&
                `${page}.${part}` !== name
                ? `<a href="${page}.${part}.html">${page}(${part})</a>` : all);
    return `<article class="manual">\n<h1>` +
        `${escape(name.replace(/\.(\d)$/, "($1)"))}</h1>\n${shift}</article>`;
}

const manualList = (entries) => '<dl class="index">\n' +
    entries.map(({ name, what }) =>
        `<dt><a href="${name}.html">${escape(name.slice(0, -2))}</a></dt>` +
        `<dd>${escape(what)}</dd>\n`).join("") + "</dl>\n";

function manualIndex(entries) {
    const parts = Object.entries(MANUAL).map(([number, title]) => {
        const some = entries.filter(({ name }) => name.endsWith(`.${number}`));
        const groups = [...new Set(some.map(({ name }) => headerOf(name)))];
        return some.length === 0 ? ""
            : `<h2 id="${slug(title, new Map())}">${title}</h2>\n` +
              groups.map((group) => (group
                  ? `<h3><code>${escape(group)}</code></h3>\n` : "") +
                  manualList(some.filter(({ name }) => headerOf(name) === group)))
                  .join("");
    });
    write("man/index.html", "Manual", "<article><h1>Manual</h1>\n" +
        (entries.length === 0
            ? "<p>The man pages were not built, or mandoc is missing.</p>"
            : "<p>The man pages, as <code>make install</code> installs them.</p>\n" +
              parts.join("")) + "</article>");
}

// ---- Lists of pages ----------------------------------------------------------

// A page that lists the pages of a section.
function sectionPage(title, text) {
    const section = book.sections.find((one) => one.title === title);
    const groups = [...new Set(section.items.map(({ group }) => group))];
    write(section.page, title, `<article><h1>${escape(title)}</h1>\n` +
        `<p>${text}</p>\n` + groups.map((group) =>
        (group ? `<h2>${escape(group[0].toUpperCase() + group.slice(1))}</h2>\n` : "") +
        '<ul class="index">\n' + section.items
            .filter((item) => item.group === group)
            .map((item) => `<li>${book.link(section.page, item)}</li>\n`).join("") +
        "</ul>\n").join("") + "</article>", { weight: 0.5 });
}

// ---- The front --------------------------------------------------------------

// Everything on the front page but its links is README's. Its pictures are in a
// column of their own.
const readme = read("README.md");

const readmeSection = (pattern) => readme.split(/^(?=## )/m)
    .find((part) => pattern.test(part)) ?? "";

function readmeText(text) {
    return relink(blocks(pictures(markdown(text), "README.md")), "README.md",
        "index.html");
}

// A recipe: its title in bold, or as a heading, and its commands of ours.
function recipes() {
    const found = [...readmeSection(/^## .*recipes/i).matchAll(
        /(?:\*\*|^### )([^*\n]+)(?:\*\*)?([^]*?)```console\n([^]*?)```/gm)];
    if (found.length !== 3)
        problems.push(`README.md: it has ${found.length} recipes, and not three`);
    return found.map(([, title, , text]) => {
        const lines = text.split("\n")
            .filter((line) => /^\$ .*\bbloomery /.test(line)).join("\n");
        return `<div class="recipe"><h3>${escape(title.replace(/\.$/, ""))}` +
            `</h3>\n${block(lines, "console")}</div>\n`;
    }).join("");
}

function front() {
    const first = /^# .*\n([^]*?)(?=^## )/m.exec(readme)[1];
    const install = readmeSection(/^## Install/).replace(/^## .*\n/, "");
    const drawn = [];
    const text = (markdown) => readmeText(markdown).replace(
        /<figure class="picture"[^]*?<\/figure>\n?/g, (all) => {
            drawn.push(all);
            return "";
        });
    write("index.html", "Bloomery", fs.readFileSync(
        path.join(here, "front.html"), "utf8")
        .replace("{first}", () => text(first))
        .replace("{install}", () => scrollable(text(install)))
        .replace("{pictures}", () => drawn.join(""))
        .replace("{recipes}", recipes), { kind: "front", source: "README.md" });
}

// ---- Files that pages link to -----------------------------------------------

const paths = new Set();
function sourcePages() {
    for (let again = true; again;) {
        again = false;
        for (const name of [...shown].filter((name) => !paths.has(name))) {
            paths.add(name);
            again = true;
            sourcePage(name);
        }
    }
}

function sourcePage(name) {
    const page = `source/${name}.html`, file = path.join(tree, name);
    let body;
    if (fs.statSync(file).isDirectory()) {
        body = "<ul class=\"index\">\n" + fs.readdirSync(file).sort()
            .filter((entry) => !entry.startsWith("."))
            .map((entry) => {
                const target = `${name}/${entry}`;
                return pages.has(target)
                    ? `<li><a href="${relative(page, pages.get(target))}">` +
                      `${escape(entry)}</a></li>\n`
                    : `<li>${escape(entry)}</li>\n`;
            }).join("") + "</ul>";
    } else {
        body = `<pre tabindex="0"><code>${coloured(fs.readFileSync(file, "utf8"),
            path.extname(name).slice(1))}</code></pre>`;
    }
    const listed = book.sectionOf(page);
    write(page, name, `<article><h1><code>${escape(name)}</code></h1>\n${body}` +
        "</article>", { weight: listed ? 0.3 : 0 });
}

// ---- All --------------------------------------------------------------------

if (fs.existsSync(path.join(build, "lab/report.html"))) {
    fs.cpSync(path.join(build, "lab"), path.join(out, "lab"), {
        recursive: true,
        filter: (file) => fs.statSync(file).isDirectory() ||
            /\.(html|svg|png|css)$/.test(file),
    });
}
const made = many(CMARK.join(" "), documents.map(([source]) => locate(source)));
documents.forEach(([source, page], i) => documentPage(source, page, made[i]));
kindsIndex();
let mandoc = true;
try {
    execFileSync("mandoc", ["-T", "lint"], { input: "", stdio: "pipe" });
} catch (error) {
    mandoc = error.code !== "ENOENT";
}
if (!mandoc)
    console.log("note: mandoc is missing: no man pages");
manualIndex(mandoc ? manual() : []);
sectionPage("Headers and examples", "The headers as they are installed, and " +
    "whole programs to start from.");
sectionPage("The project", "Its version history, how to report a vulnerability, " +
    "how to contribute, and the pages of its parts.");
if (book.sections.some(({ title }) => title === BYTES))
    sectionPage(BYTES, "The payload of a filter file, kind by kind.");
front();
for (const [name, title] of APPS)
    write(`${name}.html`, title,
        fs.readFileSync(path.join(here, `${name}.html`), "utf8"),
        { kind: "app", scripts: ["engine.js", "shared.js",
            ...name === "passwords" ? ["passwords-demo.js"] : [],
            `${name}.js`] });
write("search.html", "Search",
    fs.readFileSync(path.join(here, "search.html"), "utf8"), { kind: "app",
        scripts: ["lunr.js", "search-index.js", "search.js"], weight: 0 });
sourcePages();
writeIndex(indexed, path.join(out, "search-index.js"));

// Returns the filter of the page about passwords: some that are on every list.
function leaked() {
    const file = path.join(out, "leaked.bly");
    const hashes = ("123456 123456789 12345678 password qwerty 111111 abc123 " +
        "password1 iloveyou letmein monkey dragon football baseball welcome " +
        "admin login princess sunshine master shadow superman trustno1 " +
        "passw0rd qwerty123").split(" ").map((one) =>
        `${createHash("sha1").update(one).digest("hex")}\n`);
    execFileSync(path.join(build, "bloomery"), ["build", "--as", "hex", "-k",
        "fuse", "-p", "1e-6", "-o", file], { input: hashes.join("") });
    const bytes = fs.readFileSync(file);
    fs.rmSync(file);
    return bytes;
}

const packed = (file) =>
    gzipSync(fs.readFileSync(file), { level: 9 }).toString("base64");
const module = wasm ? fs.readFileSync(
    path.join(tree, "bindings/wasm/bloomery.js")).toString("base64") : "";
fs.writeFileSync(path.join(out, "engine.js"), '"use strict";\n' +
    `const ENGINE = { module: "${module}",\n` +
    `    wasm: "${wasm ? packed(wasm) : ""}" };\n`);
fs.writeFileSync(path.join(out, "trace.js"),
    `"use strict";\nconst TRACE = "${trace ? packed(trace) : ""}";\n`);
fs.writeFileSync(path.join(out, "passwords-demo.js"),
    `"use strict";\nconst DEMO = "${leaked().toString("base64")}";\n`);
fs.copyFileSync(lunrFile, path.join(out, "lunr.js"));
for (const name of ["style.css", "site.js", "shared.js", "search.js",
    ...APPS.map(([app]) => `${app}.js`)])
    fs.copyFileSync(path.join(here, name), path.join(out, name));
for (const problem of problems)
    console.error(`site: ${problem}`);
exit(problems.length ? 1 : 0);
