// calculator.js - from a number of keys and a rate to bytes, and back. All numbers
// are plans of the library; what a plan does not give is found by halving.
"use strict";

const SIZES = [2 ** 10, 2 ** 15, 2 ** 20, 2 ** 25, 2 ** 30];
const RATES = [0.01, 0.001, 0.0001];
const LEAST_RATE = 1e-12, MOST_RATE = 0.5;

let engine;

// Returns the plan of a kind, or null if it has none for this need.
function planned(kind, items, rate) {
    try {
        return engine.Filter.plan(kind, { items, rate });
    } catch {
        return null;
    }
}

const fits = (plan, bytes) => plan !== null && plan.bytes <= bytes;

// Returns the plan with the lowest rate that fits the bytes, or null.
function byBytes(kind, items, bytes) {
    let low = Math.log10(LEAST_RATE), high = Math.log10(MOST_RATE);
    let best = planned(kind, items, MOST_RATE);
    if (!fits(best, bytes))
        return null;
    for (let i = 0; i < 40; i++) {
        const middle = (low + high) / 2;
        const plan = planned(kind, items, 10 ** middle);
        if (fits(plan, bytes))
            [high, best] = [middle, plan];
        else
            low = middle;
    }
    return best;
}

// Returns the most keys that a kind holds in some bytes at a rate. The size of most
// kinds is nearly a line, so two steps of three try a little below and above where
// the line meets the bytes; the third halves.
function most(kind, bytes, rate) {
    const bytesFor = (items) => items === 0 ? 0
        : planned(kind, items, rate)?.bytes ?? Infinity;
    let low = 0, high = Math.max(1, Math.floor(bytes / 2));
    while (bytesFor(high) <= bytes && high < 64 * bytes)
        [low, high] = [high, high * 2];
    let below = bytesFor(low), above = bytesFor(high);
    for (let step = 0; high - low > 1; step++) {
        const gap = high - low;
        const share = step % 3 === 2 || above === Infinity ? 0.5
            : (bytes - below) / (above - below) + (step % 3 ? 1 : -1) / 256;
        const items = Math.floor(Math.min(high - 1,
            Math.max(low + 1, low + gap * share)));
        const taken = bytesFor(items);
        if (taken <= bytes)
            [low, below] = [items, taken];
        else
            [high, above] = [items, taken];
    }
    return low;
}

// ---- The fields' values  ---------------------------------------------------------

const SCALES = { "": 1, k: 1e3, m: 1e6, g: 1e9, t: 1e12 };
const UNITS = { "": 1, b: 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, t: 2 ** 40 };

function wrong(id, text) {
    const said = new Error(text);
    said.field = id;
    return said;
}

function keys() {
    const [, number, unit] = /^([\d.,_]+(?:e\d+)?)\s*([kmgt]?)$/i
        .exec($("n").value.trim()) ?? [];
    const n = Math.round(Number(number?.replace(/[,_]/g, "")) *
        SCALES[unit?.toLowerCase()]);
    if (!(n >= 1))
        throw wrong("n", `'${$("n").value}' is not a number of keys. Write 1000000, ` +
            "1e6 or 1M");
    return n;
}

function rate() {
    const [, number, percent] = /^([\d.]+(?:e-?\d+)?)\s*(%?)$/i
        .exec($("rate").value.trim()) ?? [];
    const value = Number(number) / (percent ? 100 : 1);
    if (!(value > 0 && value < 1))
        throw wrong("rate", `'${$("rate").value}' is not a rate between 0 and 1. ` +
            "Write 0.01, 1% or 1e-3");
    return value;
}

function bytes() {
    const [, number, unit] = /^([\d.,]+)\s*([kmgt]?)(?:i?b)?(?:ytes)?$/i
        .exec($("size").value.trim()) ?? [];
    const value = Math.floor(Number(number?.replace(/,/g, "")) *
        UNITS[unit?.toLowerCase()]);
    if (!(value >= 1))
        throw wrong("size", `'${$("size").value}' is not a size. Write 65536, 64 KiB ` +
            "or 1 MiB");
    return value;
}

// ---- The tables ---------------------------------------------------------------------

const cell = (text) => element("td", { class: "number" }, text);

function row(kind, plan, items) {
    const head = element("th", { scope: "row" }, element("a",
        { href: `kinds/${kind}.html` }, kind));
    return element("tr", {}, head, cell(whole(plan.bytes)), cell(size(plan.bytes)),
        cell(decimal(plan.bytes * 8 / items, 4)), cell(percent(plan.rate)));
}

const chosen = () => engine.kinds().filter(({ tier }) =>
    tier === "core" || $("all").checked);

function show() {
    const bySize = $("by-size").checked;
    $("rate-field").hidden = bySize;
    $("size-field").hidden = !bySize;
    for (const id of ["n", "rate", "size"])
        $(id).removeAttribute("aria-invalid");
    $("error").textContent = "";
    try {
        const items = keys(), wanted = bySize ? bytes() : rate();
        const rows = chosen().map(({ name }) => [name, bySize
            ? byBytes(name, items, wanted) : planned(name, items, wanted)])
            .filter(([, plan]) => plan !== null);
        $("table").tBodies[0].replaceChildren(
            ...rows.map(([name, plan]) => row(name, plan, items)));
        if (rows.length === 0)
            throw new Error(bySize ? "No kind holds so many keys in this size."
                : "No kind has a plan for this.");
    } catch (error) {
        if (error.field)
            $(error.field).setAttribute("aria-invalid", "true");
        $("error").textContent = error.message;
    }
}

// Fills the table of sizes cell by cell, so that the page stays usable, and stops if
// another kind is chosen meanwhile.
let ladders = 0;

async function ladder() {
    const kind = $("ladder-kind").value, number = ++ladders;
    const rows = SIZES.map((bytes) => element("tr", {},
        element("th", { scope: "row" }, size(bytes))));
    $("ladder-table").tBodies[0].replaceChildren(...rows);
    for (const [i, bytes] of SIZES.entries())
        for (const rate of RATES) {
            await new Promise((done) => setTimeout(done));
            if (number !== ladders)
                return;
            rows[i].append(cell(whole(most(kind, bytes, rate))));
        }
}

function begin() {
    $("state").textContent = "";
    $("ladder-table").tHead.rows[0].append(...RATES.map((rate) =>
        element("th", { scope: "col", class: "number" }, `keys at ${percent(rate)}`)));
    $("ladder-kind").append(...engine.kinds().filter(({ name }) =>
        planned(name, 1000, 0.01)).map(({ name }) =>
        element("option", { value: name }, name)));
    for (const id of ["n", "rate", "size", "all", "by-rate", "by-size"])
        $(id).addEventListener("input", later(show));
    $("form").addEventListener("submit", (event) => event.preventDefault());
    $("ladder-kind").addEventListener("input", ladder);
    show();
    return ladder();
}

loadEngine().then((loaded) => {
    engine = loaded;
    return begin();
}).catch((error) => {
    $("state").textContent = `The library could not be loaded: ${error.message}`;
});
