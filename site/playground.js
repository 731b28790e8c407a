// playground.js - make a filter, ask it, and see which bits answer.
"use strict";

const SMITHS = `anvil bellows bloom bloomery charcoal clay cinder coke crucible
damper draught ember file flue flux forge furnace gangue grate hammer hearth
ingot iron ladle lime magnetite mould nail ore pig poker puddle quench rasp rivet
sand scale shaft slag smelter smith spark steel swage tap temper tongs tuyere
vice weld wrought alloy annealing ash awl axe bar bog brass brine bronze burr
cast chisel chimney copper die drift edge fire fuller galena gate glow goethite
grit haematite hardy hinge horn horseshoe kiln knife lead limonite mandrel
mattock nickel oven oxide patina peat pewter pickaxe pincers plough punch
reduction rust saw scythe shears siderite sickle silver smoke solder spade
spring sprue steam sword tallow tin trivet turf vent wedge wire wood
zinc`.split(/\s+/).join("\n");

const HEADER = 128;
const FLIPS_FOR = 250;          // milliseconds that turning bits may take
const PLACES_MOST = 24;

let engine, tracer;
let filter = null;              // of the engine
let image = null;               // its bytes, as a file has them
let lines = null;               // of a file that is too long for the field
let dropped = "";               // the name of a .bly file that is asked

// ---- The library that tells what it reads -------------------------------------

// The module of trace.c, in a script of its own that comes when all else is
// there.
class Tracer {
    constructor({ exports }) {
        this.c = exports;
        this.key = 0;
    }

    bytes(at, n) {
        return new Uint8Array(this.c.memory.buffer, at, n);
    }

    text(at) {
        const all = this.bytes(at);
        return new TextDecoder().decode(all.subarray(0, all.indexOf(0)));
    }

    lend(bytes) {
        const at = this.c.trace_take(bytes.length);
        if (at === 0)
            throw new Error("out of memory");
        this.bytes(at, bytes.length).set(bytes);
        return at;
    }

    open(image) {
        const at = this.lend(image);
        const status = this.c.trace_open(at, image.length);
        this.c.trace_give(at);
        if (status < 0)
            throw new Error(this.text(this.c.trace_why()));
    }

    // The image as it lies in memory, where a file may have it packed.
    image() {
        return this.bytes(this.c.trace_image(), this.c.trace_bytes());
    }

    ask(text) {
        const key = new TextEncoder().encode(text);
        this.c.trace_give(this.key);
        this.key = this.lend(key);
        return this.c.trace_ask(this.key, key.length);
    }

    askBatch() {
        return this.c.trace_ask_batch();
    }

    reads() {
        const pairs = new Uint32Array(this.c.memory.buffer,
            this.c.trace_reads(), 2 * this.c.trace_count());
        const reads = [];
        for (let i = 0; i < pairs.length; i += 2)
            reads.push({ offset: pairs[i], bytes: pairs[i + 1] });
        return reads;
    }

    // The answer to the last question with one bit turned; -1: no filter.
    flip(byte, bit) {
        return this.c.trace_flip(byte, bit);
    }
}

async function loadTracer() {
    await new Promise((resolve, reject) => {
        const script = element("script", { src: "trace.js" });
        script.onload = resolve;
        script.onerror = () => reject(new Error("trace.js is missing"));
        document.head.append(script);
    });
    let memory;
    const { instance } = await WebAssembly.instantiate(await unzipped(TRACE), {
        wasi_snapshot_preview1: system(() => memory),
    });
    memory = instance.exports.memory;
    instance.exports._initialize();
    return new Tracer(instance);
}

// Provides what the C library needs from a system; there is none.
function system(memory) {
    const none = () => 8;
    return {
        environ_sizes_get(count, bytes) {
            const view = new DataView(memory().buffer);
            view.setUint32(count, 0, true);
            view.setUint32(bytes, 0, true);
            return 0;
        },
        environ_get: () => 0,
        fd_close: none, fd_seek: none, fd_write: none,
        proc_exit() { throw new Error("the library stopped"); },
    };
}

// ---- Keys --------------------------------------------------------------------

function cut(bytes) {
    const keys = [];
    for (let at = 0; at < bytes.length;) {
        let end = bytes.indexOf(10, at);
        if (end < 0)
            end = bytes.length;
        keys.push(bytes.subarray(at, end));
        at = end + 1;
    }
    return keys;
}

const keysNow = () => lines ?? cut(new TextEncoder().encode($("words").value));

async function take(file) {
    $("file-error").textContent = "";
    try {
        const bytes = new Uint8Array(await file.arrayBuffer());
        const magic = new TextDecoder("latin1").decode(bytes.subarray(0, 8));
        if (magic === "bloomery" || /\.bly$/i.test(file.name))
            openFilter(bytes, file.name);
        else
            openList(bytes, file.name);
    } catch (error) {
        $("file-error").textContent = `${file.name}: ${error.message}`;
    }
}

function openList(bytes, name) {
    lines = cut(bytes);
    say("state", "");
    const shown = lines.slice(0, 1000)
        .map((line) => new TextDecoder().decode(line)).join("\n");
    $("words").value = shown;
    if (lines.length > 1000) {
        $("words").value += "\n…";
        say("state", `${name}: ${whole(lines.length)} lines, of which the ` +
            "first 1,000 are shown.");
    }
    build();
}

function openFilter(bytes, name) {
    const opened = engine.Filter.fromBytes(bytes);   // or it throws
    say("state", "");
    use(opened, name);
}

// ---- The filter -----------------------------------------------------------------

function chosen(keys, rate) {
    if ($("kind").value)
        return { kind: $("kind").value, why: "" };
    const can = ["remove", "unite"].filter((word) => $(`need-${word}`).checked);
    const [first] = engine.advise({ items: keys.length, rate, can,
        fixed: $("need-fixed").checked });
    if (!first.fits)
        throw new Error(`no kind can do all of that: ${first.why}`);
    return { kind: first.kind,
        why: `The adviser says ${first.kind}: ${first.why}. ` };
}

// Files of other systems have no room for the form of their keys.
const isForeign = (kind) => engine.kinds().some(({ name, family }) =>
    name === kind && family === "foreign");

function build() {
    const rate = power($("rate").value);
    say("rate-says", percent(rate));
    if (!engine)
        return;
    const keys = keysNow();
    if (keys.length === 0) {
        say("build-error", "Enter at least one word.");
        return;
    }
    try {
        const { kind, why } = chosen(keys, rate);
        const begun = performance.now();
        const made = engine.Filter.build(kind, keys,
            { rate, items: keys.length, keys: "any" });
        const took = performance.now() - begun;
        if (!isForeign(made.kind))
            made.stateKeys("text");         // it was built from bytes of lines
        say("build-error", "");
        say("command", `The same with the command: bloomery build -k ${kind} ` +
            `-n ${keys.length} -p ${rate} -o words.bly words.txt`);
        use(made, "", `${why}${whole(keys.length)} words in ` +
            `${decimal(took, 2)} ms.`);
    } catch (error) {
        say("build-error", error.message);
    }
}

function use(made, name, said = "") {
    if (filter)
        filter.free();
    filter = made;
    dropped = name;
    image = filter.pack();
    const info = filter.info();
    if (name) {
        say("build-error", "");
        say("command", `More about it: bloomery info ${name}`);
    }
    say("said", name ? `The filter in ${name}. Change the words, the kind or the ` +
        "rate to build another one." : said);
    $("facts").replaceChildren(
        fact("kind", info.kind), fact("size", size(image.length)),
        fact("bits per key planned for", decimal(info.bitsPerKey, 4)),
        fact("keys", whole(info.items)),
        fact("fill", percent(info.fill)),
        fact("rate planned", percent(info.plannedRate)),
        fact("current rate, from its bits", percent(info.rate)));
    $("kind-page").textContent = `About ${info.kind}`;
    $("kind-page").href = `kinds/${info.kind}.html`;
    $("download").disabled = false;
    if (tracer)
        tracer.open(image);
    strangers();
    ask();
}

function download() {
    const url = URL.createObjectURL(new Blob([image],
        { type: "application/octet-stream" }));
    const link = element("a", { href: url, download: dropped || "words.bly" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
}

// Can texts be looked up? A filter of numbers, say, has none.
function takesText() {
    const form = filter.info().keys;
    return form === "any" || /^(text|utf16)\b/.test(form);
}

// How many of 10,000 made-up words are taken for members: what the rate is.
function strangers() {
    const asked = 10000;
    let taken = 0;
    if (!takesText()) {
        say("strangers", "");
        return;
    }
    for (let i = 0; i < asked; i++)
        taken += filter.contains(`stranger ${i}`);
    say("strangers", `Of ${whole(asked)} made-up words that are not in it, it ` +
        `takes ${whole(taken)} to be present: ${percent(taken / asked)}.`);
}

// ---- The question ------------------------------------------------------------------

// Reads that follow one another, and touch, are one place.
function placesOf(reads) {
    const places = [];
    for (const { offset, bytes } of reads) {
        const last = places.at(-1);
        if (last && offset <= last.end && offset + bytes >= last.begin) {
            last.begin = Math.min(last.begin, offset);
            last.end = Math.max(last.end, offset + bytes);
            last.reads.push({ offset, bytes });
        } else {
            places.push({ begin: offset, end: offset + bytes,
                reads: [{ offset, bytes }], decides: [], closed: [] });
        }
    }
    return places;
}

// Turn each bit that was read, and ask again. Returns whether all were tried.
function turn(places, read, answer) {
    const until = performance.now() + FLIPS_FOR;
    const tried = new Map();
    let all = true;
    for (const byte of read) {
        if (byte < HEADER)
            continue;
        if (performance.now() > until) {
            all = false;
            break;
        }
        const bits = [];
        for (let bit = 0; bit < 8; bit++)
            bits.push(tracer.flip(byte, bit));
        tried.set(byte, bits);
    }
    for (const place of places)
        for (let byte = place.begin; byte < place.end; byte++)
            (tried.get(byte) ?? []).forEach((said, bit) => {
                if (said < 0)
                    place.closed.push(byte * 8 + bit);
                else if (said !== answer)
                    place.decides.push(byte * 8 + bit);
            });
    return all;
}

function ask() {
    const key = $("key").value;
    if (!filter)
        return;
    if (!takesText()) {
        $("answer").className = "answer no";
        $("answer").replaceChildren("The keys of this filter are not text: they have " +
            `the form ${filter.info().keys}.`);
        for (const id of ["picture", "legend"])
            $(id).hidden = true;
        return;
    }
    const perhaps = filter.contains(key);
    $("answer").className = perhaps ? "answer" : "answer no";
    $("answer").replaceChildren("“", key, "”: ",
        element("strong", {}, perhaps ? "perhaps" : "certainly not"));
    for (const id of ["picture", "legend"])
        $(id).hidden = !tracer;
    if (!tracer)
        return;
    tracer.ask(key);
    const reads = tracer.reads();
    const read = new Set();
    for (const { offset, bytes } of reads)
        for (let i = 0; i < bytes; i++)
            read.add(offset + i);
    const places = placesOf(reads);
    const all = turn(places, read, perhaps ? 1 : 0);
    say("why", words(places, read, perhaps, all));
    draw(places, read);
    $("places").replaceChildren(...places.slice(0, PLACES_MOST).map(
        (place, i) => strip(place, i, read)));
    if (places.length > PLACES_MOST)
        $("places").append(element("li", {}, `… and ${
            places.length - PLACES_MOST} more places.`));
}

const count = (n, one, many = `${one}s`) =>
    `${n === 0 ? "no" : whole(n)} ${n === 1 ? one : many}`;

// Describes what is shown, in words.
function words(places, read, perhaps, all) {
    const decide = new Set(places.flatMap((place) => place.decides)).size;
    const closed = new Set(places.flatMap((place) => place.closed)).size;
    const bytes = tracer.image().length;
    let text = `${count(read.size, "byte")} of ${whole(bytes)} ` +
        `${read.size === 1 ? "was" : "were"} read, in ` +
        `${count(places.length, "place")}. `;
    if (decide > 0)
        text += `${count(decide, "bit")} of them ${decide === 1 ? "decides"
            : "decide"}: if ${decide === 1 ? "it" : "any one of them"} ` +
            `changed, the answer would be ` +
            `“${perhaps ? "certainly not" : "perhaps"}”.`;
    else
        text += "No single bit decides: whichever bit changes, the " +
            `answer stays “${perhaps ? "perhaps" : "certainly not"}”.`;
    if (closed > 0)
        text += ` ${count(closed, "bit")} cannot change, because the bytes ` +
            "would not be a filter any more.";
    if (!all)
        text += " Not all bits were tried, as there are too many.";
    return text;
}

// ---- The pictures --------------------------------------------------------------------

// The whole image, a cell for each bit, or for so many of them: the darker the
// more of them are 1. What was read is lit.
function draw(places, read) {
    const bits = tracer.image(), canvas = $("image");
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    const ratio = window.devicePixelRatio || 1;
    const width = Math.max(280, canvas.parentElement.clientWidth);
    const height = Math.min(280, Math.max(120, bits.length));
    let group = 1;
    while (bits.length * 8 / group > width * height / 16)
        group *= 2;
    const cells = Math.ceil(bits.length * 8 / group);
    const side = Math.max(2, Math.floor(Math.min(12,
        Math.sqrt(width * height / cells))));
    const across = Math.floor(width / side / 8) * 8;
    const down = Math.ceil(cells / across);
    canvas.width = width * ratio;
    canvas.height = down * side * ratio;
    canvas.style.height = `${down * side}px`;
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    const gap = side > 4 ? 1 : 0;
    const ink = colour("--quiet");
    for (let i = 0; i < cells; i++) {
        const share = density(bits, i * group, group);
        if (share === 0)
            continue;
        pen.globalAlpha = group === 1 ? 0.55 : 0.75 * share;
        pen.fillStyle = ink;
        pen.fillRect(i % across * side, Math.floor(i / across) * side,
            side - gap, side - gap);
    }
    pen.globalAlpha = 1;
    const lit = new Set();
    for (const byte of read)
        for (let bit = 0; bit < 8; bit++)
            lit.add(Math.floor((byte * 8 + bit) / group));
    const spot = (cell, more, name) => {
        pen.fillStyle = colour(name);
        pen.fillRect(cell % across * side - more,
            Math.floor(cell / across) * side - more, side - gap + 2 * more,
            side - gap + 2 * more);
    };
    for (const cell of lit) {
        spot(cell, 1, "--wash");
        pen.globalAlpha = 0.7;
        if (density(bits, cell * group, group) > 0)
            spot(cell, 0, "--quiet");
        pen.globalAlpha = 1;
    }
    for (const place of places) {
        for (const bit of place.decides)
            spot(Math.floor(bit / group), side < 6 ? 2 : 1, "--accent");
        if (place.decides.length > 0 || place.begin < HEADER)
            continue;
        pen.strokeStyle = colour("--accent");
        pen.lineWidth = 1.5;
        const first = Math.floor(place.begin * 8 / group);
        pen.strokeRect(first % across * side - 3,
            Math.floor(first / across) * side - 3, side + 5, side + 5);
    }
    say("image-says", `The whole filter, ${size(bits.length)}: a cell is ` +
        `${group === 1 ? "a bit" : `${whole(group)} bits`}, filled where there ` +
        `are ones, its header of ${HEADER} bytes first. In colour: bits that ` +
        "decide; a frame: a place that was read, where none does.");
    canvas.setAttribute("aria-label", `Picture of the filter's ${
        whole(bits.length)} bytes, with ${count(places.length, "place")} lit; ` +
        "the list below has them in words");
}

function density(bits, from, n) {
    let ones = 0;
    const to = Math.min(from + n, bits.length * 8);
    for (let i = from; i < to; i++)
        ones += bits[i >> 3] >> (i & 7) & 1;
    return to > from ? ones / (to - from) : 0;
}

const CELL = 12, BYTE = 8 * CELL + 8;
const ACROSS = 3;               // bytes of a strip beside each other

// The bytes around a place, bit by bit, the lowest of a byte first.
function strip(place, number, read) {
    const bits = tracer.image();
    const rows = Math.min(8, Math.ceil((place.end - place.begin + 2) / ACROSS));
    const from = Math.max(0, place.begin - 1);
    const to = Math.min(bits.length, from + rows * ACROSS);
    const decides = new Set(place.decides), closed = new Set(place.closed);
    const svg = drawn("svg", { width: ACROSS * BYTE, role: "img",
        height: Math.ceil((to - from) / ACROSS) * 36,
        "aria-label": `Bits of the bytes ${from} to ${to - 1}` });
    for (let byte = from; byte < to; byte++) {
        const x = (byte - from) % ACROSS * BYTE;
        const y = Math.floor((byte - from) / ACROSS) * 36;
        svg.append(drawn("text", { x: x + 2, y: y + 10 }, String(byte)),
            drawn("rect", { class: `byte${read.has(byte) ? " read" : ""}`,
                x, y: y + 13, width: 8 * CELL + 4, height: CELL + 4 }));
        for (let bit = 0; bit < 8; bit++) {
            const which = byte * 8 + bit;
            svg.append(drawn("rect", {
                class: `bit${bits[byte] >> bit & 1 ? " one" : ""}` +
                    `${read.has(byte) ? " read" : ""}` +
                    `${decides.has(which) ? " decides" : ""}` +
                    `${closed.has(which) ? " closed" : ""}`,
                x: x + 3 + bit * CELL, y: y + 16, width: CELL - 2,
                height: CELL - 2 }));
        }
    }
    return element("li", {}, element("h3", {}, heading(place, number)),
        element("p", {}, said(place)),
        element("div", { class: "strip", tabindex: "0", role: "region",
            "aria-label": `Bits of place ${number + 1}` }, svg));
}

function heading(place, number) {
    const bytes = place.end - place.begin === 1 ? `byte ${place.begin}`
        : `bytes ${place.begin} to ${place.end - 1}`;
    return `${number + 1}. ${place.end <= HEADER ? "The header's " : ""}` +
        (place.end <= HEADER ? bytes : bytes[0].toUpperCase() + bytes.slice(1));
}

function said(place) {
    const some = (list) => list.length === 1 ? `Bit ${list[0]} decides.`
        : `Bits ${list.slice(0, 12).join(", ")}${
            list.length > 12 ? ` and ${list.length - 12} more` : ""} decide.`;
    const read = place.reads.length === 1 ? ""
        : `Read ${whole(place.reads.length)} times. `;
    if (place.end <= HEADER)
        return `${read}They state the kind and the size.`;
    if (place.decides.length === 0)
        return `${read}None of these bits decides alone.`;
    return read + some(place.decides);
}

// ---- Begin ---------------------------------------------------------------------------

function begin() {
    const kinds = new Map();
    for (const kind of engine.kinds()) {
        if (!kinds.has(kind.family))
            kinds.set(kind.family, element("optgroup",
                { label: kind.family }));
        kinds.get(kind.family).append(element("option", { value: kind.name },
            `${kind.name}: ${kind.summary}`));
    }
    $("kind").append(...kinds.values());
    const asked = new URLSearchParams(location.search).get("kind");
    if (engine.kinds().some(({ name }) => name === asked))
        $("kind").value = asked;
    say("state", "The part that shows the bits is being loaded …");
    build();
}

const soon = later(build);
$("words").value = SMITHS;
$("words").addEventListener("input", () => {
    lines = null;
    say("state", "");
    soon();
});
for (const id of ["kind", "rate", "needs"])
    $(id).addEventListener("input", soon);
$("rate").addEventListener("input",
    () => say("rate-says", percent(power($("rate").value))));
$("reset").addEventListener("click", () => {
    lines = null;
    say("state", "");
    say("file-error", "");
    $("words").value = SMITHS;
    build();
});
takeFiles(take);
$("download").addEventListener("click", download);
$("ask").addEventListener("submit", (event) => {
    event.preventDefault();
    ask();
});
$("key").addEventListener("input", later(ask, 60));
const again = later(() => filter && ask());
window.addEventListener("resize", again);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
say("rate-says", percent(power($("rate").value)));
loadEngine().then((loaded) => {
    engine = loaded;
    begin();
    return loadTracer();
}).then((loaded) => {
    tracer = loaded;
    say("state", "");
    if (image) {
        tracer.open(image);
        ask();
    }
}).catch((error) => say("state",
    `The library could not be loaded: ${error.message}`));
