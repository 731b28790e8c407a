// code.mjs - code blocks and pictures, as HTML that needs no script.
//
// Colours come from Prism, which runs here and not in the page. In a
// console block the prompts are apart from the commands, so that neither the
// mouse nor the copy button takes them along. A picture is put into the page
// itself, because only there does it follow the page's colours everywhere.
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const prism = require("prismjs");

export const escape = (text) => text.replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
export const unescape = (text) => text.replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&amp;", "&");
export const plain = (html) => unescape(html.replace(/<[^>]*>/g, ""));

// ---- Code --------------------------------------------------------------------

// The names that Prism has for the languages of blocks and the endings of files.
const LANGUAGES = { c: "c", h: "c", cpp: "cpp", hpp: "cpp", python: "python",
    py: "python", sql: "sql", js: "javascript", mjs: "javascript",
    javascript: "javascript", ts: "typescript", json: "json", sh: "bash",
    bash: "bash", cmake: "cmake", make: "makefile", html: "markup" };
require("prismjs/components/")([...new Set(Object.values(LANGUAGES))]);
// Prism knows no hyphen in the name of an option.
prism.languages.bash.parameter.pattern = /(^|\s)-{1,2}\w[\w-]*(?=[=\s]|$)/;

// Returns the text of a program as HTML with colours. Only the tokens that
// style.css gives a colour are marked.
export function coloured(text, language) {
    const name = LANGUAGES[language];
    if (!name)
        return escape(text);
    const tokens = prism.tokenize(text, prism.languages[name]);
    return tokens.map(html).join("");
}

const COLOURED = new Set(["comment", "string", "char", "keyword", "number",
    "boolean", "parameter", "macro", "builtin", "class-name", "template-string"]);

function html(token) {
    if (typeof token === "string")
        return escape(token);
    const inner = [token.content].flat().map(html).join("");
    return COLOURED.has(token.type)
        ? `<span class="${token.type}">${inner}</span>` : inner;
}

// Returns a console block as HTML: commands, which may continue in lines that
// begin with "> ", and their output.
export function session(text) {
    const lines = text.replace(/\n$/, "").split("\n");
    let inside = false;
    return lines.map((line) => {
        const [, prompt, rest] = /^([$>]) (.*)$/.exec(line) ?? [];
        inside = prompt === "$" || (prompt === ">" && inside);
        return inside
            ? `<span class="prompt">${escape(prompt)} </span>` +
              `<span class="command">${coloured(rest, "bash")}</span>\n`
            : `<span class="output">${escape(line)}</span>\n`;
    }).join("");
}

// Returns a block of code. `file` is the name that its reader gives it, or "".
export function block(text, language, file = "") {
    const body = language === "console" ? session(text)
        : coloured(text, language);
    const kind = language ? ` data-language="${escape(language)}"` : "";
    const name = file ? `<p class="file"><code>${escape(file)}</code></p>` : "";
    return `<div class="code"${kind}>${name}<pre tabindex="0"><code>${body}` +
        "</code></pre></div>";
}

// Gives the blocks of a page their colours; cmark-gfm writes the language as a
// class and the rest of the info string as data-meta.
export function blocks(html) {
    return html.replace(
        /<pre><code(?: class="language-([^"]*)")?(?: data-meta="([^"]*)")?>([^]*?)<\/code><\/pre>/g,
        (_, language = "", file = "", text) =>
            block(unescape(text), language, unescape(file)));
}

// ---- Pictures ----------------------------------------------------------------

// Returns an SVG file as part of a page. Its names and its style sheet get the
// prefix `id`, because pages and other pictures have names and styles too.
export function picture(svg, id) {
    return svg.replace(/^[^]*?(?=<svg[\s>])/, "").trim()
        .replace(/ id="([^"]*)"/g, ` id="${id}-$1"`)
        .replace(/ aria-(labelledby|describedby)="([^"]*)"/g, (_, name, ids) =>
            ` aria-${name}="${ids.replace(/[^\s]+/g, `${id}-$&`)}"`)
        .replace(/ ((?:xlink:)?href)="#/g, ` $1="#${id}-`)
        .replace(/url\(#/g, `url(#${id}-`)
        .replace(/<svg /, `<svg id="${id}" `)
        .replace(/<style>([^]*?)<\/style>/g, (_, css) =>
            `<style>${scoped(css, `#${id}`)}</style>`);
}

// Puts `scope` before each selector of a style sheet, but not before those of
// key frames.
function scoped(css, scope) {
    return css.replace(/\/\*[^]*?\*\//g, "")
        .replace(/([^{}]+)\{/g, (all, selectors) => {
            const first = selectors.trim();
            if (/^(@|from\b|to\b|[\d.]+%)/.test(first))
                return all;
            return `${first.split(",").map((one) =>
                /^(:root|svg)$/.test(one.trim()) ? scope
                    : `${scope} ${one.trim()}`).join(",")}{`;
        });
}
