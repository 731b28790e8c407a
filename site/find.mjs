// find.mjs - the index of the search page, made by lunr.
//
// A document of the index is a part of a page, from one heading of the second
// rank to the next, so that a result leads to the right place. The index is a
// script and not a JSON file, because a page that is opened as a local file can
// load scripts only.
import * as fs from "node:fs";
import { createRequire } from "node:module";
import { plain } from "./code.mjs";

const require = createRequire(import.meta.url);
const lunr = require("lunr");
const LONGEST = 4000;           // letters of a part that are kept for excerpts

// Words end where search.js ends them, as in "bly_new(3)".
lunr.tokenizer.separator = /[^\p{L}\p{N}_]/u;

const words = (html) => plain(html
    .replace(/<(style|title|desc|nav|script)[ >][^]*?<\/\1>/g, " ")
    .replace(/<\/(p|li|td|th|pre|h\d|dt|dd|span)>/g, "$& "))
    .replace(/\s+/g, " ").trim();

// Returns the parts of a page: { page, title, section, heading, text }.
export function partsOf({ page, title, section, main }) {
    const parts = [];
    const pieces = main.split(/(?=<h2[^>]* id=")/);
    for (const piece of pieces) {
        const [, id, inner] = /^<h2[^>]* id="([^"]*)"[^>]*>([^]*?)<\/h2>/
            .exec(piece) ?? [];
        const text = words(piece.replace(/<h1[^]*?<\/h1>/, "")
            .replace(/^<h2[^]*?<\/h2>/, ""));
        if (id === undefined || text !== "")
            parts.push({ page: id === undefined ? page : `${page}#${id}`, title,
                section, heading: id === undefined ? "" : words(inner),
                text });
    }
    return parts;
}

// Writes the index of pages, each { page, title, section, main, weight }.
export function writeIndex(pages, file) {
    const documents = pages.flatMap((page) => partsOf(page).map((part) =>
        ({ ...part, weight: page.weight })));
    const index = lunr(function build() {
        this.ref("id");
        this.field("title", { boost: 8 });
        this.field("heading", { boost: 4 });
        this.field("text");
        documents.forEach((part, id) => this.add({ id, ...part },
            { boost: part.weight * (part.heading ? 1 : 1.5) }));
    });
    const kept = documents.map(({ page, title, section, heading, text }) =>
        [page, title, section, heading, text.slice(0, LONGEST)]);
    fs.writeFileSync(file, '"use strict";\nconst SEARCH = {\n' +
        `documents: ${JSON.stringify(kept)},\nindex: ${JSON.stringify(index)} };\n`);
    return documents.length;
}

export const lunrFile = require.resolve("lunr");
