// make.mjs - the pages of the site, each from its one source:
//
//      node make.mjs TREE BUILD OUT [WASM TRACE]
//
// TREE is the source; BUILD has the command, its man pages (man/, man3/), the
// pages of the kinds, and, if `make lab` has run, the lab's report;
// the pages go to OUT. The text of
// a page is a document of the tree, made HTML by cmark-gfm, or a man page, by
// mandoc. WASM and TRACE are the library for the pages that work with it; without
// them those only say that it was not built. Links between documents become links between pages, and a link to
// any other file of the tree one to a page that shows it. What is not there to
// be linked stops the run.
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { gzipSync } from "node:zlib";
import { argv, exit } from "node:process";

const [tree, build, out, wasm, trace] = argv.slice(2);
const here = path.join(tree, "site");
const problems = [];

// ---- Small things -----------------------------------------------------------

// The file of a source: a path of the tree, or a page of a kind in the build.
const locate = (source) =>
    path.join(source.startsWith("docs/kinds") ? build : tree, source);
const read = (name) => fs.readFileSync(locate(name), "utf8");
const escape = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;").replaceAll('"', "&quot;");
const unescape = (text) => text.replaceAll("&lt;", "<").replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"').replaceAll("&amp;", "&");
const plain = (html) => unescape(html.replace(/<[^>]*>/g, ""));

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
for (const name of list("docs", /\.md$/))
    pages.set(`docs/${name}`, `docs/${name.replace(/md$/, "html")}`);
for (const name of list("docs/kinds", /\.md$/))
    pages.set(`docs/kinds/${name}`, `kinds/${name.replace(/md$/, "html")}`);
for (const name of read("uses/list").split(/\s+/).filter(Boolean))
    pages.set(`uses/${name}/use.md`, `uses/${name}.html`);
for (const name of list("bindings", /./))
    if (fs.existsSync(path.join(tree, "bindings", name, "README.md")))
        pages.set(`bindings/${name}/README.md`, `bindings/${name}.html`);
pages.set("README.md", "docs/readme.html");
pages.set("site/README.md", "docs/site.html");
pages.set("CHANGELOG.md", "docs/changelog.html");
pages.set("CONTRIBUTING.md", "docs/contributing.html");
pages.set("SECURITY.md", "docs/security.html");
const documents = [...pages];
// A link to the source of a kind leads to the page of its essay.
for (const [source, page] of documents)
    if (source.startsWith("docs/kinds/"))
        pages.set(/Made from the head of `([^`]*)`/.exec(read(source))[1], page);
pages.set("docs", "docs/index.html").set("docs/kinds", "kinds/index.html");
pages.set("uses", "uses/index.html").set("bindings", "docs/index.html");
pages.set("site", "docs/site.html");
for (const [source, page] of documents)
    if (/^(uses|bindings)\/[^/]+\/[^/]+$/.test(source))
        pages.set(path.dirname(source), page);

const shown = new Set();        // other files that a page links to

// Where `target`, a path of the tree, is in the site.
function place(target, from) {
    if (pages.has(target))
        return pages.get(target);
    if (target === ".." || target.startsWith("../") ||
        !fs.existsSync(path.join(tree, target))) {
        problems.push(`${from}: ${target} is not in the tree`);
        return "index.html";
    }
    shown.add(target);
    return `source/${target}.html`;
}

const relative = (from, to) =>
    path.posix.relative(path.posix.dirname(from), to) || path.basename(to);

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

// ---- The frame of a page ----------------------------------------------------

const sections = [
    ["playground.html", "Playground"], ["map.html", "Map"],
    ["kinds/index.html", "Kinds"], ["docs/format.html", "Format"],
    ["docs/index.html", "Docs"], ["uses/index.html", "Uses"],
    ["man/index.html", "Manual"],
];

// Returns a summary of a page: the beginning of its text, in whole words.
function about(main, title) {
    const text = plain(/<p>([^]*?)<\/p>/.exec(main)?.[1] ?? title)
        .replace(/\s+/g, " ").trim();
    return text.length <= 160 ? text : `${text.slice(0, 157).replace(/ \S*$/, "")} …`;
}

// write PAGE, with a title, its main part, and what its kind needs: `scripts`,
// and a class for its width.
function write(page, title, main, { scripts = [], kind = "text" } = {}) {
    const root = (to) => escape(relative(page, to));
    const at = sections.find(([to]) => to === page) ??
        sections.find(([to]) => to.endsWith("/index.html") &&
            path.dirname(to) === path.dirname(page));
    const links = sections.map(([to, name]) => `<a href="${root(to)}"` +
        `${at?.[0] === to ? ' aria-current="page"' : ""}>${name}</a>`);
    const head = page === "index.html" ? "Bloomery" : `${title} · Bloomery`;
    const file = path.join(out, page);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escape(head)}</title>
<meta name="description" content="${escape(about(main, title))}">
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${root("style.css")}">
${scripts.map((name) => `<script defer src="${root(name)}"></script>\n`)
        .join("")}</head>
<body class="${kind}">
<a class="skip" href="#main">Skip to the text</a>
<header>
<a class="name" href="${root("index.html")}">Bloomery</a>
<nav aria-label="Site">
${links.join("\n")}
</nav>
</header>
<main id="main">
${main}
</main>
</body>
</html>
`);
}

// ---- From Markdown ----------------------------------------------------------

// Tables and listings may be wider than the page. They are scrolled by
// themselves, by keys too, so that they can have the focus and have a name.
function scrollable(html) {
    let number = 0;
    return html
        .replace(/<table>[^]*?<\/table>/g, (table) => {
            const first = plain(/<th[^>]*>([^]*?)<\/th>/.exec(table)?.[1] ?? "");
            const name = `Table ${++number}${first ? ` by ${first}` : ""}`;
            return `<div class="scroll" tabindex="0" role="region" ` +
                `aria-label="${escape(name)}">${table}</div>`;
        })
        .replace(/<th([^>]*)>\s*<\/th>/g, "<td$1></td>")
        .replace(/<pre([ >])/g, '<pre tabindex="0"$1');
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

function markdown(text) {
    return execFileSync("cmark-gfm", ["-e", "table", "-e", "strikethrough"],
        { input: text, encoding: "utf8", maxBuffer: 1 << 26 });
}

// many COMMAND FILES: the output of `COMMAND FILE` for each, in their order. One
// shell starts them all: this process is too large to be copied so often.
function many(command, files) {
    const folder = fs.mkdtempSync(path.join(out, "many-"));
    execFileSync("sh", ["-ec", `folder=$1 i=0
        shift
        for file; do
            ${command} "$file" >"$folder/$i"
            i=$((i + 1))
        done`, "many", folder, ...files]);
    const texts = files.map((_, i) =>
        fs.readFileSync(path.join(folder, String(i)), "utf8"));
    fs.rmSync(folder, { recursive: true });
    return texts;
}

const titles = new Map();       // of each document's page

function documentPage(source, page, made) {
    let [html, contents] = headings(scrollable(
        made.replaceAll("<!-- raw HTML omitted -->\n", "")));
    html = relink(html, source, page);
    const h1 = /<h1[^>]*>([^]*?)<\/h1>/.exec(html);
    if (!h1)
        problems.push(`${source}: it has no title`);
    titles.set(page, plain(h1?.[1] ?? source));
    const end = h1 ? h1.index + h1[0].length : 0;
    const list = contentsOf(contents);
    const note = page.startsWith("kinds/")
        ? html.replace(/<p><em>Made from[^]*?<\/p>/, "") : html;
    write(page, titles.get(page),
        `<article${list ? ' class="has-contents"' : ""}>\n` +
        `${note.slice(0, end)}\n${list}<div class="text">` +
        `${note.slice(end)}</div></article>`);
}

// ---- The manual -------------------------------------------------------------

function manual() {
    const found = [];
    for (const [folder, ending] of [["man", ".1"], ["man3", ".3"]]) {
        const where = path.join(build, folder);
        if (!fs.existsSync(where))
            continue;
        for (const name of fs.readdirSync(where).sort())
            if (name.endsWith(ending))
                found.push({ name, file: path.join(where, name) });
    }
    const known = new Set(found.map(({ name }) => name));
    const made = many("mandoc -T html -O fragment",
        found.map(({ file }) => file));
    found.forEach(({ name }, i) => write(`man/${name}.html`,
        name.replace(/\.(\d)$/, "($1)"), manualBody(made[i], name, known)));
    return found.map(({ name, file }) => ({ name, what: manualTitle(file) }));
}

// "name - what it is", of a page's section NAME.
function manualTitle(file) {
    const text = fs.readFileSync(file, "utf8");
    const line = /\.SH NAME\n([^]*?)\n\./i.exec(text)?.[1] ?? "";
    return line.replace(/\\-/g, "-").replace(/\\f./g, "").replace(/\\&/g, "")
        .replace(/\s+/g, " ").replace(/^.*? - /, "");
}

function manualBody(html, name, known) {
    const shift = html
        .replace(/<table class="(head|foot)">[^]*?<\/table>/g, "")
        .replace(/<(\/?)h([12])\b/g, (_, end, rank) =>
            `<${end}h${Number(rank) + 1}`)
        .replace(/<br\/>/g, "<br>")
        .replace(/<pre([ >])/g, '<pre tabindex="0"$1')
        .replace(/<dl class="Bl-tag"[^>]*>/g, '<dl class="Bl-tag">')
        .replace(/(?:<b>)?\b([a-z][\w-]*)(?:<\/b>)?\(([13])\)/g,
            (all, page, part) => known.has(`${page}.${part}`) &&
                `${page}.${part}` !== name
                ? `<a href="${page}.${part}.html">${page}(${part})</a>` : all);
    return `<article class="manual">\n<h1>` +
        `${escape(name.replace(/\.(\d)$/, "($1)"))}</h1>\n${shift}</article>`;
}

function manualIndex(entries) {
    const part = (number) => "<dl class=\"index\">\n" + entries
        .filter(({ name }) => name.endsWith(`.${number}`))
        .map(({ name, what }) => `<dt><a href="${name}.html">` +
            `${escape(name.slice(0, -2))}</a></dt><dd>${escape(what)}</dd>\n`)
        .join("") + "</dl>\n";
    write("man/index.html", "Manual", entries.length === 0
        ? "<article><h1>Manual</h1>\n<p>The man pages were not built, or " +
          "mandoc is not there.</p></article>"
        : "<article><h1>Manual</h1>\n<p>The man pages, as " +
          "<code>make install</code> installs them.</p>\n" +
          `<h2 id="commands">Commands</h2>\n${part(1)}` +
          `<h2 id="functions">Functions of C</h2>\n${part(3)}</article>`);
}

// ---- Lists ------------------------------------------------------------------

function kindsIndex() {
    const table = (text) => relink(scrollable(markdown(text)), "README.md",
        "kinds/index.html");
    const listed = (...more) => execFileSync(path.join(build, "bloomery"),
        [...more, "--markdown"], { encoding: "utf8" });
    const core = listed("kinds").split("\n");
    const all = listed("kinds", "--all").split("\n");
    const others = [...core.slice(0, 2), ...all.filter((row) => !core.includes(row))];
    write("kinds/index.html", "Kinds", "<article class=\"wide\"><h1>Kinds</h1>" +
        "\n<p>A <em>kind</em> is a way to build a filter. Each has a page: " +
        "what it is, a picture of its bytes, its mathematics, its costs, when " +
        "not to use it, its papers. The <a href=\"../map.html\">map</a> " +
        "compares what they cost. The kinds to meet first are the <em>core</em>." +
        "</p>\n<h2 id=\"core\">The core</h2>\n" + table(core.join("\n")) +
        "<h2 id=\"others\">For rarer needs</h2>\n" + table(others.join("\n")) +
        "<h2 id=\"formats\">Other systems' filters</h2>\n" +
        table(listed("formats")) +
        "</article>");
}

function links(page, sources) {
    return "<ul class=\"index\">\n" + sources.map((source) =>
        `<li><a href="${escape(relative(page, pages.get(source)))}">` +
        `${escape(titles.get(pages.get(source)))}</a></li>\n`).join("") +
        "</ul>\n";
}

function docsIndex() {
    const page = "docs/index.html";
    const all = documents.map(([source]) => source);
    const lab = fs.existsSync(path.join(out, "lab/report.html"))
        ? `<li><a href="../lab/report.html">The lab: what papers report, ` +
          `measured anew</a></li>\n` : "";
    write(page, "Docs", "<article><h1>Docs</h1>\n" +
        "<h2 id=\"begin\">Begin</h2>\n" +
        links(page, ["README.md"]) +
        "<h2 id=\"subjects\">Subjects</h2>\n" +
        links(page, all.filter((source) => /^docs\/[^/]+$/.test(source))) +
        "<h2 id=\"bindings\">Elsewhere than in C</h2>\n" +
        links(page, all.filter((source) => source.startsWith("bindings/"))) +
        "<h2 id=\"project\">The project</h2>\n" +
        links(page, ["SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md",
            "site/README.md"])
            .replace("</ul>", `${lab}</ul>`) + "</article>");
}

function usesIndex() {
    const page = "uses/index.html";
    write(page, "Uses", "<article><h1>Uses</h1>\n<p>What filters are used " +
        "for. Each page begins with two commands that work on your own files, " +
        "and says when another way is better.</p>\n" + links(page,
        documents.map(([source]) => source)
            .filter((source) => source.startsWith("uses/"))) + "</article>");
}

// ---- The front --------------------------------------------------------------

// The recipes of README.md: the title in bold, and the commands of ours.
function recipes() {
    const part = /## Three recipes\n([^]*?)\n## /.exec(read("README.md"))[1];
    const found = [...part.matchAll(
        /\*\*(.*?)\*\*([^]*?)```console\n([^]*?)```/g)];
    if (found.length !== 3)
        problems.push("README.md: three recipes are looked for");
    return found.map(([, title, , block]) => {
        const lines = block.split("\n")
            .filter((line) => /^\$ .*\bbloomery /.test(line));
        return `<div class="recipe"><h3>${escape(title.replace(/\.$/, ""))}` +
            `</h3>\n<pre><code>` + lines.map((line) =>
            `<span>${escape(line)}</span>`).join("") +
            `</code></pre></div>\n`;
    }).join("");
}

function front() {
    const first = /\n\n(\*\*Have I[^]*?)\n\n/.exec(read("README.md"))[1];
    write("index.html", "Bloomery", fs.readFileSync(
        path.join(here, "front.html"), "utf8")
        .replace("{sentence}", () => markdown(first))
        .replace("{recipes}", recipes), { kind: "front" });
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
        body = `<pre tabindex="0"><code>${escape(fs.readFileSync(file, "utf8"))}` +
            "</code></pre>";
    }
    write(page, name, `<article><h1><code>${escape(name)}</code></h1>\n${body}` +
        "</article>");
}

// ---- All --------------------------------------------------------------------

if (fs.existsSync(path.join(build, "lab/report.html"))) {
    fs.cpSync(path.join(build, "lab"), path.join(out, "lab"), {
        recursive: true,
        filter: (file) => fs.statSync(file).isDirectory() ||
            /\.(html|svg|png|css)$/.test(file),
    });
}
const made = many("cmark-gfm -e table -e strikethrough",
    documents.map(([source]) => locate(source)));
documents.forEach(([source, page], i) => documentPage(source, page, made[i]));
kindsIndex();
docsIndex();
usesIndex();
let mandoc = true;
try {
    execFileSync("mandoc", ["-T", "lint"], { input: "", stdio: "pipe" });
} catch (error) {
    mandoc = error.code !== "ENOENT";
}
if (!mandoc)
    console.log("note: mandoc is not there: no man pages");
manualIndex(mandoc ? manual() : []);
front();
const apps = { playground: "Playground", map: "Map of the kinds" };
for (const [name, title] of Object.entries(apps))
    write(`${name}.html`, title,
        fs.readFileSync(path.join(here, `${name}.html`), "utf8"),
        { kind: "app", scripts: ["engine.js", "shared.js", `${name}.js`] });
sourcePages();

const packed = (file) =>
    gzipSync(fs.readFileSync(file), { level: 9 }).toString("base64");
const module = wasm ? fs.readFileSync(
    path.join(tree, "bindings/wasm/bloomery.js")).toString("base64") : "";
fs.writeFileSync(path.join(out, "engine.js"), '"use strict";\n' +
    `const ENGINE = { module: "${module}",\n` +
    `    wasm: "${wasm ? packed(wasm) : ""}" };\n`);
fs.writeFileSync(path.join(out, "trace.js"),
    `"use strict";\nconst TRACE = "${trace ? packed(trace) : ""}";\n`);
for (const name of ["style.css", "shared.js", "playground.js", "map.js"])
    fs.copyFileSync(path.join(here, name), path.join(out, name));
for (const problem of problems)
    console.error(`site: ${problem}`);
exit(problems.length ? 1 : 0);
