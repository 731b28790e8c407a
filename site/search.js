// search.js - finds words in all pages, with the index of find.mjs.
"use strict";

const MOST = 40;                // pages that are shown
const BEFORE = 60, AFTER = 160; // letters of an excerpt, around its first word

const index = lunr.Index.load(SEARCH.index);
const field = document.getElementById("q");

const wordsOf = (text) => text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];

// Returns the results for some words: parts of pages that have all of them, else
// any of them, else words like them.
function find(words) {
    const ask = (each) => index.query((query) =>
        words.forEach((word, i) => each(query, word, i === words.length - 1)));
    const { REQUIRED, OPTIONAL } = lunr.Query.presence;
    const { TRAILING, NONE } = lunr.Query.wildcard;
    const exact = (presence) => (query, word, last) => {
        const known = words.length > 1 && !lunr.stopWordFilter(word);
        query.term(lunr.stemmer(new lunr.Token(word, {})).toString(), { boost: 10,
            usePipeline: false, wildcard: NONE,
            presence: known || last ? OPTIONAL : presence });
        if (last && !known)
            query.term(word, { usePipeline: false, wildcard: TRAILING,
                presence: OPTIONAL });
    };
    const near = (query, word) => query.term(word, { editDistance: 1 });
    const all = words.filter((word) => lunr.stopWordFilter(word));
    const results = ask(exact(REQUIRED)).filter(({ matchData }) =>
        covers(Object.keys(matchData.metadata), all));
    return results.length > 0 ? results
        : [...ask(exact(OPTIONAL)), ...ask(near)].filter((one, i, list) =>
            list.findIndex(({ ref }) => ref === one.ref) === i);
}

// Has each of the words a term that begins like it?
function covers(terms, words) {
    return words.every((word) => {
        const stem = lunr.stemmer(new lunr.Token(word, {})).toString();
        return terms.some((term) => term.startsWith(stem) ||
            term.startsWith(word));
    });
}

// Returns a text as nodes, with the words that were found in <mark>.
function marked(text, words) {
    const stems = words.map((word) => lunr.stemmer(new lunr.Token(word, {}))
        .toString().replace(/[^\p{L}\p{N}_]/gu, ""));
    const pattern = new RegExp(`(?<![\\p{L}\\p{N}])((?:${
        stems.join("|")})[\\p{L}\\p{N}_]*)`, "giu");
    return text.split(pattern).map((piece, i) => {
        if (i % 2 === 0)
            return piece;
        const mark = document.createElement("mark");
        mark.textContent = piece;
        return mark;
    });
}

function excerpt(text, words) {
    const at = Math.max(0, text.toLowerCase().search(
        new RegExp(words.map((word) => word.slice(0, 5)).join("|"), "i")));
    const from = at <= BEFORE ? 0 : text.indexOf(" ", at - BEFORE) + 1;
    const piece = text.slice(from, at + AFTER);
    return `${from > 0 ? "… " : ""}${piece}${
        at + AFTER < text.length ? " …" : ""}`;
}

function element(name, className, ...children) {
    const made = document.createElement(name);
    made.className = className;
    made.append(...children);
    return made;
}

function link(page, ...text) {
    const made = element("a", "", ...text);
    made.href = page;
    return made;
}

// Returns the result for a page: its best part, and links to other parts.
function result([best, ...others], words) {
    const [page, title, section, heading, text] = best;
    const item = element("li", "",
        link(page, ...marked(heading ? `${title}: ${heading}` : title, words)),
        " ", element("span", "where", section),
        element("p", "", ...marked(excerpt(text, words), words)));
    if (others.length > 0)
        item.append(element("p", "also", "Also: ",
            ...others.slice(0, 6).flatMap(([to, , , name], i) =>
                [i > 0 ? ", " : "", link(to, name || title)])));
    return item;
}

// Results by page, in the order of their best parts.
function byPage(found) {
    const pages = new Map();
    for (const { ref } of found) {
        const part = SEARCH.documents[ref], page = part[0].split("#")[0];
        pages.set(page, [...pages.get(page) ?? [], part]);
    }
    return [...pages.values()];
}

function show() {
    const words = wordsOf(field.value);
    const found = words.length > 0 ? byPage(find(words)) : [];
    const some = found.slice(0, MOST);
    document.getElementById("results").replaceChildren(
        ...some.map((one) => result(one, words)));
    document.getElementById("found").textContent = words.length === 0 ? ""
        : found.length === 0 ? `Nothing found for “${field.value}”.`
            : `${found.length} ${found.length === 1 ? "page" : "pages"}${
                found.length > MOST ? `, of which the best ${MOST} are shown` : ""}.`;
}

let timer;
field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(show, 100);
});
document.getElementById("search").addEventListener("submit", (event) => {
    event.preventDefault();
    history.replaceState(null, "",
        `?q=${encodeURIComponent(field.value)}`);
    show();
});
field.value = new URLSearchParams(location.search).get("q") ?? "";
field.focus();
show();
