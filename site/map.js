// map.js - all kinds on one map, for a number of keys and a rate.
"use strict";

const ABILITIES = {
    remove: "let keys go", count: "count", unite: "be united",
    label: "carry labels", grow: "grow", forget: "forget", page: "live on disk",
};

let engine;

function need() {
    const can = [...$("abilities").querySelectorAll("input:checked")]
        .map((box) => box.value);
    return {
        items: power($("n").value), rate: power($("rate").value),
        can: can.filter((word) => word !== "fixed"),
        fixed: can.includes("fixed"),
    };
}

// ---- The drawing ----

const HEIGHT = 440, LEFT = 62, RIGHT = 24, TOP = 12, BOTTOM = 44;
let WIDTH = 760;                // as the page has room: letters stay as large

function axis(values, from, to) {
    let low = Math.log10(Math.min(...values)) - 0.06;
    let high = Math.log10(Math.max(...values)) + 0.06;
    if (high - low < 0.2)
        [low, high] = [low - 0.1, high + 0.1];
    const at = (value) =>
        from + (Math.log10(value) - low) / (high - low) * (to - from);
    const ticks = [];
    for (let e = Math.floor(low); e <= high; e++)
        for (const d of high - low > 3 ? [1] : [1, 2, 5])
            if (Math.log10(d * 10 ** e) >= low &&
                Math.log10(d * 10 ** e) <= high)
                ticks.push(d * 10 ** e);
    return { at, ticks };
}

// Names stand beside their points where there is room, the best first.
function place(labels) {
    const taken = [];
    const free = (box) => box.x >= LEFT && box.x + box.w <= WIDTH &&
        box.y >= TOP && box.y + box.h <= HEIGHT - BOTTOM + 4 &&
        !taken.some((other) => box.x < other.x + other.w &&
            other.x < box.x + box.w && box.y < other.y + other.h &&
            other.y < box.y + box.h);
    for (const label of labels)
        taken.push({ x: label.x - 5, y: label.y - 5, w: 10, h: 10 });
    for (const label of labels) {
        const w = label.text.length * 6.6 + 2, h = 14;
        for (const [dx, dy] of [[8, -7], [-8 - w, -7], [-w / 2, -21],
            [-w / 2, 7], [7, -19], [7, 5], [-7 - w, -19], [-7 - w, 5]]) {
            const box = { x: label.x + dx, y: label.y + dy, w, h };
            if (free(box)) {
                taken.push(box);
                label.at = [box.x, box.y + 11];
                break;
            }
        }
    }
}

function plot(rows, which) {
    WIDTH = Math.max(280, $("plot").clientWidth);
    const y = (row) => which === "time" ? row.nsAbsent : row.plan.rate;
    const across = axis(rows.map((row) => row.plan.bitsPerKey), LEFT, WIDTH - RIGHT);
    const down = axis(rows.map(y), HEIGHT - BOTTOM, TOP);
    const svg = drawn("svg", { width: WIDTH, height: HEIGHT, role: "img",
        "aria-label": `${rows.length} kinds by bits per key and ` +
            `${which === "time" ? "time of a lookup" : "rate"}; the table ` +
            "below has the same numbers" });
    for (const tick of across.ticks) {
        const x = across.at(tick);
        svg.append(drawn("line", { class: "grid", x1: x, x2: x, y1: TOP,
            y2: HEIGHT - BOTTOM }), drawn("text", { x, y: HEIGHT - BOTTOM + 17,
            "text-anchor": "middle" }, decimal(tick)));
    }
    for (const tick of down.ticks) {
        const at = down.at(tick);
        svg.append(drawn("line", { class: "grid", y1: at, y2: at, x1: LEFT,
            x2: WIDTH - RIGHT }), drawn("text", { x: LEFT - 8, y: at + 4,
            "text-anchor": "end" },
            which === "time" ? decimal(tick) : percent(tick)));
    }
    svg.append(drawn("rect", { class: "frame", x: LEFT, y: TOP,
        width: WIDTH - RIGHT - LEFT, height: HEIGHT - BOTTOM - TOP }),
        drawn("text", { x: WIDTH - RIGHT, y: HEIGHT - 8,
            "text-anchor": "end" }, "bits per key"));
    const labels = rows.map((row, i) => ({ text: row.kind, best: i === 0,
        x: across.at(row.plan.bitsPerKey), y: down.at(y(row)) }));
    place(labels);
    for (const label of [...labels].reverse()) {
        const best = label.best ? " best" : "";
        svg.append(drawn("circle", { class: `point${best}`, cx: label.x,
            cy: label.y, r: label.best ? 5.5 : 4 },
            drawn("title", {}, label.text)));
        if (label.at)
            svg.append(drawn("text", { class: `label${best}`, x: label.at[0],
                y: label.at[1] }, label.text));
    }
    $("plot").replaceChildren(svg);
}

// ---- The table, which says the same ----

function cell(text, number) {
    return element("td", number ? { class: "number" } : {}, text);
}

function table(rows) {
    $("table").tBodies[0].replaceChildren(...rows.map((row, i) => element("tr",
        i === 0 ? { class: "best" } : {},
        element("th", { scope: "row" }, element("a",
            { href: `kinds/${row.kind.split(":")[0]}.html` }, row.kind)),
        cell(decimal(row.plan.bitsPerKey, 4), true), cell(whole(row.plan.bytes), true),
        cell(percent(row.plan.rate), true), cell(decimal(row.nsAbsent, 2), true),
        cell(row.why))));
}

function show() {
    const wanted = need();
    $("n-says").textContent = whole(wanted.items);
    $("rate-says").textContent = percent(wanted.rate);
    if (!engine)
        return;
    $("error").textContent = "";
    try {
        const rows = engine.advise(wanted).filter((row) => row.fits);
        $("advice").textContent = rows.length === 0
            ? "No kind can do all of that."
            : `The adviser's choice is ${rows[0].kind}: ` +
              `${size(rows[0].plan.bytes)}, ${decimal(rows[0].plan.bitsPerKey, 4)} bits ` +
              `per key. ${rows.length - 1} more can do what is asked.`;
        $("plot").parentElement.hidden = rows.length === 0;
        if (rows.length > 0)
            plot(rows, $("axis").value);
        table(rows);
    } catch (error) {
        $("error").textContent = error.message;
    }
}

for (const [word, text] of [...Object.entries(ABILITIES),
    ["fixed", "no key comes later"]]) {
    const box = element("input", { type: "checkbox", id: `can-${word}`,
        value: word });
    box.checked = word === "fixed";
    $("abilities").append(element("span", {}, box, " ",
        element("label", { class: "inline", for: box.id }, text)));
}
const soon = later(show, 30);
for (const id of ["n", "rate", "axis", "abilities"])
    $(id).addEventListener("input", soon);
window.addEventListener("resize", soon);
show();
loadEngine().then((loaded) => {
    engine = loaded;
    $("state").textContent = "";
    show();
}, (error) => {
    $("state").textContent = `The library could not be loaded: ${error.message}`;
});
