// map.js - all kinds on one map, for a number of keys and a rate.
"use strict";

const ABILITIES = {
    remove: "remove keys", count: "count", unite: "unite filters",
    label: "store labels", grow: "grow", forget: "forget", page: "read from disk",
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

const HEIGHT = 440, LEFT = 84, RIGHT = 24, TOP = 12, BOTTOM = 44;
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

// The width of a text in the drawing, in pixels.
const pen = document.createElement("canvas").getContext("2d");

function wide(text, bold) {
    pen.font = `${bold ? "600 " : ""}12px system-ui, sans-serif`;
    return pen.measureText(text).width + 3;
}

const meets = (a, b) => a.x < b.x + b.w && b.x < a.x + a.w &&
    a.y < b.y + b.h && b.y < a.y + a.h;

// Names stand beside their points, the best first: near them if there is room, else
// farther away with a line to the point, but only for a kind as it is without options.
// A name without any room is left out; its point has it as its title, and the table
// has it.
function place(labels) {
    const taken = labels.map((label) =>
        ({ x: label.x - 6, y: label.y - 6, w: 12, h: 12 }));
    const free = (box) => box.x >= LEFT && box.x + box.w <= WIDTH &&
        box.y >= TOP && box.y + box.h <= HEIGHT - BOTTOM &&
        !taken.some((other) => meets(box, other));
    for (const label of labels) {
        const w = wide(label.text, label.best), h = 15;
        const variant = label.text.includes(":");
        for (const far of variant ? [8, 14] : [8, 14, 22, 32, 44]) {
            const spots = [[far, -far], [-far - w, -far], [far, far - h],
                [-far - w, far - h], [-w / 2, -far - h], [-w / 2, far],
                [far, -h / 2], [-far - w, -h / 2]]
                .map(([dx, dy]) => ({ x: label.x + dx, y: label.y + dy, w, h }));
            const box = spots.find(free);
            if (!box)
                continue;
            taken.push(box);
            label.at = [box.x + 1, box.y + 11];
            if (far > 14)
                label.line = [Math.min(Math.max(label.x, box.x), box.x + w),
                    Math.min(Math.max(label.y, box.y), box.y + h)];
            break;
        }
    }
}

// Ticks of an axis whose words have room beside each other.
function apart(ticks, at, says, room) {
    let last = -Infinity;
    return ticks.filter((tick) => {
        const half = room(says(tick)) / 2;
        const open = Math.abs(at(tick) - last) >= half * 2 + 6;
        if (open)
            last = at(tick);
        return open;
    });
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
    const says = which === "time" ? decimal : percent;
    for (const tick of apart(across.ticks, across.at, decimal, wide)) {
        const x = across.at(tick);
        svg.append(drawn("line", { class: "grid", x1: x, x2: x, y1: TOP,
            y2: HEIGHT - BOTTOM }), drawn("text", { x, y: HEIGHT - BOTTOM + 17,
            "text-anchor": "middle" }, decimal(tick)));
    }
    for (const tick of apart(down.ticks, down.at, says, () => 12)) {
        const at = down.at(tick);
        svg.append(drawn("line", { class: "grid", y1: at, y2: at, x1: LEFT,
            x2: WIDTH - RIGHT }), drawn("text", { x: LEFT - 8, y: at + 4,
            "text-anchor": "end" }, says(tick)));
    }
    svg.append(drawn("rect", { class: "frame", x: LEFT, y: TOP,
        width: WIDTH - RIGHT - LEFT, height: HEIGHT - BOTTOM - TOP }),
        drawn("text", { class: "axis", x: (LEFT + WIDTH - RIGHT) / 2,
            y: HEIGHT - 8, "text-anchor": "middle" }, "bits per key"),
        drawn("text", { class: "axis", "text-anchor": "middle",
            transform: `translate(14 ${(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)` },
        which === "time" ? "nanoseconds per lookup of an absent key"
            : "false-positive rate"));
    const labels = rows.map((row, i) => ({ text: row.kind, best: i === 0,
        x: across.at(row.plan.bitsPerKey), y: down.at(y(row)) }));
    place(labels);
    for (const { x, y: top, line } of labels.filter((label) => label.line))
        svg.append(drawn("line", { class: "leader", x1: x, y1: top, x2: line[0],
            y2: line[1] }));
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
              `per key. ${rows.length - 1} more kinds can do this.`;
        $("plot").parentElement.hidden = rows.length === 0;
        if (rows.length > 0)
            plot(rows, $("axis").value);
        table(rows);
    } catch (error) {
        $("error").textContent = error.message;
    }
}

for (const [word, text] of [...Object.entries(ABILITIES),
    ["fixed", "add no keys later"]]) {
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
