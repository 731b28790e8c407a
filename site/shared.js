// shared.js - what the pages with scripts have in common: the library, how
// numbers are said, how elements are made, and how files are taken.
"use strict";

// ---- The library ----

// engine.js has the package's module and the library, gzipped and in base64: so
// the page works from a file, from which a browser would fetch neither.
async function unzipped(base64) {
    const packed = await (await fetch(
        `data:application/gzip;base64,${base64}`)).blob();
    return new Response(packed.stream().pipeThrough(
        new DecompressionStream("gzip"))).arrayBuffer();
}

async function loadEngine() {
    if (ENGINE.wasm === "")
        throw new Error("these pages were built without it");
    const engine = await import(`data:text/javascript;base64,${ENGINE.module}`);
    await engine.load(await unzipped(ENGINE.wasm));
    return engine;
}

// ---- Numbers and elements ----

const $ = (id) => document.getElementById(id);

// element("p", { class: "x" }, "text", child, …)
function element(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes))
        made.setAttribute(key, value);
    made.append(...children);
    return made;
}

function drawn(name, attributes = {}, ...children) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes))
        made.setAttribute(key, value);
    made.append(...children);
    return made;
}

function fact(name, value) {
    return element("div", {}, element("dt", {}, name),
        element("dd", {}, value));
}

// Replaces the text of an element if it differs.
function say(id, text) {
    if ($(id).textContent !== text)
        $(id).textContent = text;
}

const whole = (n) => Math.round(n).toLocaleString("en");

function decimal(n, digits = 3) {
    if (!Number.isFinite(n))
        return "unlimited";
    return n >= 1000 ? whole(n) : String(Number(n.toPrecision(digits)));
}

function percent(rate) {
    const value = rate * 100;
    return `${value >= 1e-3 || value === 0 ? decimal(value)
        : value.toExponential(2).replace("e-", " · 10^-")} %`;
}

function size(bytes) {
    const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
    let unit = 0, value = bytes;
    while (value >= 1024 && unit < units.length - 1) {
        value /= 1024;
        unit++;
    }
    return unit === 0 ? `${whole(bytes)} bytes`
        : `${decimal(value)} ${units[unit]}`;
}

// A rate or a number that a slider says by its logarithm, to two digits.
const power = (exponent) => Number((10 ** Number(exponent)).toPrecision(2));

// later(WORK): a function that does the work once calls of it have stopped
// coming for a moment.
function later(work, milliseconds = 120) {
    let timer;
    return () => {
        clearTimeout(timer);
        timer = setTimeout(work, milliseconds);
    };
}

// ---- Files ----

// Calls take(FILE) with each file that is chosen or dropped on the page.
function takeFiles(take) {
    $("pick").addEventListener("click", () => $("file").click());
    $("file").addEventListener("change", () => {
        if ($("file").files.length > 0)
            take($("file").files[0]);
        $("file").value = "";
    });
    for (const [name, over] of [["dragover", true], ["dragleave", false],
        ["drop", false]])
        $("drop").addEventListener(name, (event) => {
            event.preventDefault();
            $("drop").classList.toggle("over", over);
            if (name === "drop" && event.dataTransfer.files.length > 0)
                take(event.dataTransfer.files[0]);
        });
}
