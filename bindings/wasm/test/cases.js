// cases.js - the tests that run in Node, in a page and in a worker alike.
//
// Each case is [name, function]. The function gets an object from the host: `golden`,
// the images of tests/golden by their names; `wasm`, a function that promises the
// bytes of bloomery.wasm; and `effort`, the amount of work.
import { advise, BloomeryError, Filter, kinds, load, memory,
         version } from "../bloomery.js";

// ---- Judging ----------------------------------------------------------------------

function ok(value, message = "it is not so") {
    if (!value)
        throw new Error(message);
}

function same(a, b, message = "") {
    if (a instanceof Uint8Array && b instanceof Uint8Array && a.length > 100) {
        const at = a.findIndex((byte, i) => byte !== b[i]);
        if (at >= 0 || a.length !== b.length)
            throw new Error(`${message} byte ${at} is another`);
        return;
    }
    const text = (v) => JSON.stringify(v, (_, x) =>
        typeof x === "bigint" ? `${x}n` : x === Infinity ? "Infinity"
            : ArrayBuffer.isView(x) ? Array.from(x, String) : x);
    if (text(a) !== text(b))
        throw new Error(`${message} ${text(a)?.slice(0, 300)} is not ${
            text(b)?.slice(0, 300)}`);
}

function refused(work, code, part = "") {
    try {
        work();
    } catch (error) {
        ok(error instanceof BloomeryError || error instanceof TypeError,
           `${error} is no error of ours`);
        same(error.code, code, error.message);
        ok(error.message.includes(part) && !error.message.includes("\n"),
           `"${error.message}" does not say "${part}"`);
        ok(error.status < 0 && error.message.length > 0);
        ok(!error.message.includes("bly_"), `"${error.message}" names C's functions`);
        return error;
    }
    throw new Error(`nothing was thrown, and ${code} should be`);
}

// A generator that draws the same numbers everywhere (mulberry32).
export function randomOf(seed) {
    const next = () => {
        seed = (seed + 0x6D2B79F5) | 0;
        let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
        t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
        return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
    return { real: next, below: (n) => Math.floor(next() * n),
             of: (list) => list[Math.floor(next() * list.length)] };
}

const ALL = Array.from({ length: 300 }, (_, i) => `key ${i}`);

// A filter of some keys, of whatever kind.
function made(kind, keys = ALL, options = {}) {
    const separate = kind.can.includes("separate");
    const some = kind.name === "egh" ? keys.slice(0, 20) : keys;
    return Filter.build(kind.name, some, {
        items: some.length, ...options,
        ...(separate ? { labels: some.map((_, i) => i % 2) } : {}),
    });
}

const cases = [];
const it = (name, work) => cases.push([name, work]);
export default cases;

// ---- Golden images ----------------------------------------------------------------

const RATE = 56, RATE_END = 64, PAYLOAD_SUM = 112, HEADER_SUM = 120, HEADER = 128;

// Makes the same choices as tests/golden.c.
function goldenKinds() {
    const names = ["approximator:parts=2", "egh:bits=3"];
    for (const kind of kinds()) {
        names.push(kind.name);
        if (kind.can.includes("pack"))
            names.push(`packed ${kind.name}`);
        for (const { name, range, standard } of kind.options)
            if (range.includes("|"))
                for (const word of range.split(" | "))
                    if (word !== standard)
                        names.push(`${kind.name}:${name}=${word}`);
    }
    return names;
}

const goldenFile = (kind) => kind.replace(/[:= ]/g, "-");

function goldenFilter(name) {
    const kind = name.replace("packed ", "");
    const keys = Array.from({ length: kind.startsWith("egh") ? 10 : 100 },
                            (_, i) => `key-${i}`);
    const options = { items: keys.length, rate: 0.01, seed: 7 };
    let sized = kind;
    try {
        Filter.plan(kind, options);
    } catch {
        if (kind === "rehash:key=whole") {
            sized = `${kind},by=xxh64`;
        } else {
            const { geometry } = Filter.plan("standard", options);
            sized = `${kind},m=${geometry[0]},k=${geometry[1]}`;
        }
    }
    return [Filter.build(sized, keys, { ...options, keys: "any" }), keys];
}

// Where an image within begins, at a multiple of 64, or the end.
function nextImage(bytes, from) {
    for (let at = Math.ceil(from / 64) * 64; at + HEADER <= bytes.length; at += 64)
        if (String.fromCharCode(...bytes.subarray(at, at + 8)) === "bloomery")
            return at;
    return bytes.length;
}

// Byte for byte; but the planned rate comes from the C library's logarithm, and is
// compared as a number.
function compareGolden(name, now, then) {
    same(now.length, then.length, name);
    const equal = (from, to) => {
        for (let i = from; i < to; i++)
            if (now[i] !== then[i])
                throw new Error(`${name}: byte ${i} is ${now[i]} and was ${then[i]}`);
    };
    const rate = (bytes, at) =>
        new DataView(bytes.buffer, bytes.byteOffset + at + RATE, 8).getFloat64(0, true);
    for (let at = 0, next; at < now.length; at = next) {
        next = nextImage(then, at + HEADER);
        equal(at, at + RATE);
        ok(Math.abs(rate(now, at) - rate(then, at)) < 1e-9, `${name}: the rate`);
        equal(at + RATE_END, at + (at === 0 && next < now.length ? PAYLOAD_SUM
                                                                : HEADER_SUM));
        equal(at + HEADER, next);
    }
}

it("golden images are made anew, byte for byte", ({ golden }) => {
    let exact = 0;
    const names = goldenKinds();
    for (const name of names) {
        const then = golden[goldenFile(name)];
        ok(then !== undefined, `there is no golden image of ${name}`);
        const [f] = goldenFilter(name);
        const now = name.startsWith("packed ") ? f.pack() : f.image();
        compareGolden(name, now, then);
        exact += now.every((byte, i) => byte === then[i]);
        f.free();
    }
    ok(names.length > 70 && exact > 0.8 * names.length,
       `${exact} of ${names.length} images are the same in their rates, too`);
});

it("golden images hold their keys", ({ golden }) => {
    for (const name of goldenKinds()) {
        const [again, keys] = goldenFilter(name);
        const f = Filter.fromBytes(golden[goldenFile(name)]);
        ok(f.containsMany(keys).every((yes) => yes === 1), name);
        const { items, seed, hash } = f.info();
        same([items, seed, hash], [keys.length, 7, "xxh3"], name);
        compareGolden(name, f.image(), again.image());
        f.free();
        again.free();
    }
});

// ---- Keys -------------------------------------------------------------------------

const bytesOf = (number, real) => {
    const view = new DataView(new ArrayBuffer(8));
    if (real)
        view.setFloat64(0, number, true);
    else
        view.setBigInt64(0, BigInt(number), true);
    return new Uint8Array(view.buffer);
};

it("numbers are the keys that they are elsewhere", () => {
    const numbers = [
        [7, bytesOf(7)], [7n, bytesOf(7)], [-1, bytesOf(-1)], [0, bytesOf(0)],
        [-0, bytesOf(0)], [1.5, bytesOf(1.5, true)], [2 ** 53, bytesOf(2 ** 53)],
        [2 ** 53 + 2, bytesOf(2 ** 53 + 2)], [-(2 ** 63), bytesOf(-(2n ** 63n))],
        [2 ** 63, bytesOf(2 ** 63, true)], [1e300, bytesOf(1e300, true)],
        [-(2 ** 63) - 2048, bytesOf(-(2 ** 63) - 2048, true)],
        [2 ** 62, bytesOf(2n ** 62n)], [-(2 ** 40) - 1, bytesOf(-(2n ** 40n) - 1n)],
        [2n ** 63n - 1n, bytesOf(2n ** 63n - 1n)],
        [-(2n ** 63n), bytesOf(-(2n ** 63n))],
        [Infinity, bytesOf(Infinity, true)], [5e-324, bytesOf(5e-324, true)],
        [NaN, Uint8Array.of(0, 0, 0, 0, 0, 0, 0xF8, 0x7F)],
    ];
    for (const [number, bytes] of numbers) {
        const f = new Filter("standard", { items: 1000, rate: 1e-9, keys: "any" });
        same(f.hash(number), f.hash(bytes), String(number));
        f.add(number);
        same([f.contains(bytes), f.containsMany([bytes])[0]], [true, 1], String(number));
        const g = f.like();
        g.addMany([number]);             // goes another way
        same(g.image(), f.image(), String(number));
        if (typeof number === "number") {
            const h = f.like();
            h.addMany(Float64Array.of(number));
            same(h.image(), f.image(), `${number} in an array`);
        }
    }
});

it("arrays of numbers are their numbers", () => {
    const f = new Filter("standard", { items: 1000, rate: 1e-9, keys: "any" });
    const some = [-128, -1, 0, 1, 2, 127];
    for (const [Type, list] of [
        [Int8Array, some], [Int16Array, [...some, 3e4, -3e4]],
        [Uint16Array, [0, 1, 65535]], [Int32Array, [...some, 2 ** 31 - 1]],
        [Uint32Array, [0, 2 ** 32 - 1]], [Float32Array, [...some, 0.5, NaN, -0]],
        [Float64Array, [...some, 1e300, 0.1, 2 ** 60]],
        [BigInt64Array, [-1n, 0n, 2n ** 63n - 1n, -(2n ** 63n)]],
        [BigUint64Array, [0n, 1n, 2n ** 63n - 1n]]]) {
        const a = f.like(), b = f.like();
        a.addMany(Type.from(list));
        for (const number of list)
            b.add(number);
        same(a.image(), b.image(), Type.name);
        ok(a.containsMany(list).every((yes) => yes === 1));
        same(a.containsMany(Type.from(list).subarray(1)).length, list.length - 1);
    }
    const big = BigUint64Array.of(1n, 2n, 2n ** 63n);
    const e = refused(() => f.addMany(big), "EPARAM", "number 2 is 2^63 or more");
    same(e.status, -2);
    ok(f.contains(1) && f.contains(2), "those before it are in");
    refused(() => f.add(2n ** 63n), "EPARAM", "64 bits");
    refused(() => f.containsMany([2n ** 64n]), "EPARAM", "64 bits");
});

it("text is its UTF-8, at any length", () => {
    const texts = ["", "a", "é", "日本", "🙂", "a".repeat(47), "a".repeat(48),
                   "a".repeat(49), `${"a".repeat(60)}é`, "é".repeat(30000),
                   "x".repeat(70000), "\0", "a\0b", `${"b".repeat(47)}🙂`];
    const f = new Filter("standard", { items: 1000, rate: 1e-9, keys: "any" });
    for (const text of texts) {
        same(f.hash(text), f.hash(new TextEncoder().encode(text)),
             text.slice(0, 10));
        ok(!f.contains(text) && f.add(text) && f.contains(text), text.slice(0, 10));
    }
    const g = f.like();
    g.addMany(texts);
    same(g.image(), f.image());
    const h = f.like();
    h.addMany(texts.map((text) => new TextEncoder().encode(text)));
    same(h.image(), f.image());
    const i = f.like();
    i.addMany((function* () { yield* texts; })());
    same(i.image(), f.image());
    same(i.containsMany([...texts, "no"]), Uint8Array.of(...texts.map(() => 1), 0));
    for (const text of ["\ud800", `${"a".repeat(60)}\udfff`, "\ud83d🙂"]) {
        refused(() => f.add(text), "EPARAM", "surrogate");
        refused(() => f.contains(text), "EPARAM", "surrogate");
        refused(() => f.containsMany(["a", text]), "EPARAM", "key 1 has half a surrogate");
    }
});

it("bytes are themselves, in whatever holds them", () => {
    const f = new Filter("standard", { items: 1000, rate: 1e-9, keys: "any" });
    const bytes = Uint8Array.of(9, 1, 2, 3, 9);
    f.add(bytes.subarray(1, 4));
    ok(f.contains(Uint8Array.of(1, 2, 3)) && f.contains(Uint8ClampedArray.of(1, 2, 3)));
    ok(f.contains(new DataView(bytes.buffer, 1, 3)) && f.contains("\x01\x02\x03"));
    ok(f.contains(bytes.slice(1, 4).buffer) && !f.contains(bytes));
    const rows = { bytes: Uint8Array.of(1, 2, 3, 4, 5, 6), width: 3 };
    same(f.containsMany(rows), Uint8Array.of(1, 0));
    const ends = { bytes, offsets: Uint32Array.of(1, 4, 4, 5) };
    same(f.containsMany(ends), Uint8Array.of(1, 0, 0));
    f.addMany(ends);
    ok(f.contains("") && f.contains(Uint8Array.of(9)));
    const wide = new Uint8Array(3 * 70000).map((_, i) => i % 251);
    f.addMany({ bytes: wide, width: 70000 });
    ok(f.contains(wide.subarray(70000, 140000)) && f.contains(wide.subarray(140000)));
    const many = new Uint8Array(20000 * 16).map((_, i) => (i >> 4) ^ i);
    f.addMany({ bytes: many, width: 16 });
    ok(f.contains(many.subarray(19999 * 16)));
    refused(() => f.containsMany({ bytes, width: 2 }), "EPARAM", "5 bytes");
    refused(() => f.containsMany({ bytes, width: 0 }), "EPARAM", "width");
    refused(() => f.containsMany({ bytes }), "EPARAM", "width");
    refused(() => f.containsMany({ bytes, offsets: [0, 1] }), "EPARAM", "Uint32Array");
    refused(() => f.containsMany({ bytes, offsets: Uint32Array.of(2, 1) }), "EPARAM", "decrease");
    refused(() => f.containsMany({ bytes, offsets: Uint32Array.of(0, 6) }), "EPARAM",
            "after the bytes");
});

it("what is no key is refused", () => {
    const f = new Filter("counting", { items: 100 });
    const bad = [null, undefined, true, {}, [], () => 0, Symbol("a"), new Date(),
                 new Int32Array(1), new Float64Array(2), f];
    for (const key of bad) {
        for (const verb of ["contains", "add", "remove", "count", "get", "hash",
                            "discard"])
            refused(() => f[verb](key), "EPARAM", "");
        refused(() => f.put(key, 1), "EPARAM", "");
        const e = refused(() => f.containsMany(["a", key]), "EPARAM", "key 1 must be text");
        ok(/ or a bigint, not \w+$/.test(e.message), e.message);
    }
    for (const keys of [null, undefined, 7, "abc", {}, new Uint8Array(3), true,
                        new DataView(new ArrayBuffer(8))])
        for (const verb of ["containsMany", "addMany", "countMany", "removeMany",
                            "getMany"])
            refused(() => f[verb](keys), "EPARAM", "");
    same(f.info().items, 0);
});

it("a filter has the default kind, or the one that another name stands for", () => {
    same(new Filter(undefined, { items: 10 }).kind, "standard");
    same(new Filter("bloom", { items: 10 }).kind, "standard");
});

it("what has gone to a worker holds no keys", () => {
    if (typeof structuredClone !== "function")
        return;
    const gone = (view) => {
        structuredClone(view.buffer, { transfer: [view.buffer] });
        return view;
    };
    const f = new Filter("standard", { items: 100, keys: "any" });
    f.addMany(gone(new Int32Array(5)));
    f.addMany({ bytes: gone(new Uint8Array(8)), width: 4 });
    f.addMany({ bytes: gone(new Uint8Array(8)), offsets: Uint32Array.of(0) });
    f.addMany({ bytes: new Uint8Array(8), offsets: gone(new Uint32Array(3)) });
    same(f.info().items, 0);
    f.add(gone(new Uint8Array(8)));
    ok(f.contains("") && f.containsMany([gone(new Uint8Array(8))])[0] === 1);
    refused(() => f.add(gone(new DataView(new ArrayBuffer(8)))), "EPARAM");
    refused(() => Filter.fromBytes(gone(new Uint8Array(200))), "EFORMAT");
    refused(() => Filter.build("bloomier", ["a"],
                               { labels: gone(new BigUint64Array(1)) }), "EPARAM");
});

// ---- One filter -------------------------------------------------------------------

it("no key is lost, of any kind, and strangers come at the rate", () => {
    const keys = Array.from({ length: 20000 }, (_, i) => i * 7919 - 5e6);
    const others = Float64Array.from({ length: 20000 }, (_, i) => i + 0.5);
    for (const kind of kinds()) {
        if (["egh", "cascade", "invertible"].includes(kind.name))
            continue;
        const f = Filter.build(kind.name, keys, { items: keys.length, rate: 0.01 });
        const { lost, window } = f.info();
        const there = f.containsMany(Int32Array.from(keys));
        if (lost === 0 && (window ?? Infinity) >= keys.length)
            ok(there.every((yes) => yes === 1), kind.name);
        ok(f.contains(keys.at(-1)) && f.contains(BigInt(keys.at(-1))), kind.name);
        const { rate } = f.info();
        const found = f.containsMany(others).reduce((a, b) => a + b);
        const expected = rate * others.length;
        ok(Math.abs(found - expected) <= 6 * Math.sqrt(expected) + 0.1 * expected + 6,
           `${kind.name}: ${found} strangers, where ${expected} are expected`);
        f.free();
    }
});

it("what is built of many keys has them all", () => {
    const lists = [
        Array.from({ length: 30000 }, (_, i) => `word ${i}`),
        [...Array.from({ length: 9000 }, (_, i) => `w ${i}`), "l".repeat(200000), 5],
        BigInt64Array.from({ length: 30000 }, (_, i) => BigInt(i) << 20n),
        Float64Array.from({ length: 30000 }, (_, i) => i / 8),
        new Set(["a", "b", "c"]),
        Array.from({ length: 20000 }, (_, i) => i / 4),
        Array.from({ length: 20000 }, (_, i) => i < 9000 ? i : `n ${i}`),
        ["z".repeat(100000), "y".repeat(100000)],
        [],
    ];
    for (const keys of lists)
        for (const kind of ["fuse", "ribbon", "blocked", "cuckoo", "rehash:by=xxh64"]) {
            const f = Filter.build(kind, keys,
                                   { items: 40000, rate: 0.001, keys: "any" });
            ok(f.containsMany(keys).every((yes) => yes === 1), kind);
            same(f.containsMany(keys).length, keys.length ?? keys.size);
            f.free();
        }
    const rows = { bytes: new Uint8Array(16 * 9000).map((_, i) => i * 31 + (i >> 8)),
                   width: 16 };
    ok(Filter.build("xor", rows).containsMany(rows).every((yes) => yes === 1));
    const g = Filter.build("rehash:key=whole,by=xxh64", ["a", "b"], { items: 10 });
    ok(g.contains("a") && g.contains("b"));
});

it("a key of another class is an error everywhere", () => {
    const keys = { text: ["a", "7", "", "\u00e9"], number: [7, 8n, 2.5],
                   bytes: [Uint8Array.of(55), new Uint8Array(0)] };
    for (const [form, mine] of Object.entries(keys)) {
        const full = new Filter("counting", { items: 100, rate: 1e-9 });
        for (let i = 0; i < 4; i++)
            full.addMany(mine);
        const g = Filter.build("bloomier", mine, { labels: mine.map(() => 1) });
        same([full.info().keys, g.info().keys, full.copy().info().keys],
             [form, form, form]);
        for (const [other, theirs] of Object.entries(keys))
            for (const key of theirs) {
                const f = full.copy();
                const calls = ["contains", "count", "add", "remove", "hash"].flatMap(
                    (c) => [() => f[c](key)]).concat(["containsMany", "addMany",
                    "countMany", "removeMany"].map((c) => () => f[c]([key])),
                    () => g.get(key), () => g.getMany([key]), () => g.put(key, 1),
                    () => g.putMany([key], [1]));
                for (const call of calls)
                    if (other === form)
                        call();
                    else
                        ok(refused(call, "EPARAM", "the filter's keys are") instanceof TypeError);
            }
        for (const none of [new Date(), true, {}, null, undefined, Symbol("s")])
            for (const call of [() => full.contains(none), () => full.addMany([none])])
                ok(refused(call, "EPARAM") instanceof TypeError);
    }
    for (const [form, key, how] of [["hex", "da39", 'Buffer.from(key, "hex")'],
        ["bytes", "a", "new TextEncoder().encode(key)"],
        ["text", Uint8Array.of(97), "new TextDecoder().decode(key)"],
        ["text", 7, "String(key)"], ["number", "7", "Number(key)"]]) {
        const f = new Filter("standard", { items: 9, keys: form });
        refused(() => f.contains(key), "EPARAM", how);
    }
    const failed = new Filter("spatial:areas=3", { items: 9 });
    refused(() => failed.put("x", 9999), "EPARAM", "");
    refused(() => failed.putMany(["x"], [9999]), "EPARAM", "");
    same(failed.info().keys, "any", "a failed call states no form");
    failed.put(7, 1);
    same(failed.info().keys, "number");
    const numbers = new Filter("standard", { items: 9 });
    numbers.addMany(Int32Array.of(7, 8));
    ok(numbers.contains(7) && numbers.contains(7n) && numbers.containsMany([7.0, 8n])[1] === 1);
    refused(() => numbers.containsMany({ bytes: new Uint8Array(8), width: 8 }), "EPARAM",
            "the filter's keys are");
    refused(() => Filter.build("fuse", ["a", 7]), "EPARAM", 'keys: "any"');
    ok(Filter.build("fuse", ["a", 7], { keys: "any" }).contains(7));
    refused(() => new Filter("standard", { items: 9, keys: "texts" }), "EPARAM", "form");
});

it("keys are changed as the form says", () => {
    const f = new Filter("counting", { items: 99, keys: "text:case=lower,trim" });
    f.addMany([" ABC", "x"]);
    same([f.contains("  abc "), f.count("X"), f.containsMany(["aBC", "X "])],
         [true, 1, Uint8Array.of(1, 1)]);
    const g = Filter.build("fuse", Int32Array.of(1, -5), { keys: "int32" });
    same([g.contains(1), g.contains(-5n), g.info().keys], [true, true, "int32"]);
    refused(() => g.contains(2 ** 40), "EPARAM", "integers of 32 bits");
    const folded = new Filter("standard", { items: 9, keys: "text:case=fold" });
    for (const ask of [() => folded.contains("a"), () => folded.add("Ä")])
        refused(ask, "EUNSUPPORTED", "case=fold");      // it has no ICU
    const a = new Filter("standard", { items: 9, keys: "any" }), b = a.copy();
    a.stateKeys("text");
    a.unite(b);                                 // an empty one has no other form
    b.add("b");
    refused(() => a.unite(b), "EMISMATCH", "form");
    b.stateKeys("text");
    same(a.unite(b).info().keys, "text");
});

it("an empty filter takes the form of the other", () => {
    for (const { name, can } of kinds()) {
        if (!can.includes("unite") || !can.includes("add"))
            continue;
        const [a, b, c, lists] = [0, 0, 0, "domain"].map((keys) =>
            new Filter(name, { items: 99, ...(keys === 0 ? {} : { keys }) }));
        a.add("a");
        b.unite(a);
        a.unite(c);
        ok(a.contains("a") && b.contains("a"), name);
        refused(() => b.contains(1), "EPARAM");
        lists.add("example.com");
        c.unite(lists);
        ok(c.contains("www.example.com"), name);
        refused(() => b.unite(c), "EMISMATCH", "form");
    }
});

it("keys lie within others", () => {
    const lists = {
        domain: [["Example.COM.", "*.evil.test"], ["a.b.EXAMPLE.com", "x.evil.test"],
            ["com", "badexample.com"]],
        cidr: [["192.0.2.0/24", "2001:db8::/32"], ["192.0.2.7", "2001:db8::9"],
            ["192.0.3.0", "192.0.0.0/16"]],
        path: [["/srv/www/"], ["/srv/www", "/srv//www/a"], ["/srv", "/srv/www2"]],
    };
    for (const [keys, [entries, inside, outside]] of Object.entries(lists)) {
        const built = Filter.build("fuse", entries, { keys, rate: 1e-6 });
        const added = new Filter("standard", { items: 99, keys, rate: 1e-6 });
        same([added.add(entries[0]), added.add(entries[0])], [true, false]);
        added.addMany(entries);
        for (const f of [built, added, Filter.fromBytes(built.image())]) {
            ok(inside.every((key) => f.contains(key)), keys);
            ok(!outside.some((key) => f.contains(key)), keys);
            same([...f.containsMany([...inside, ...outside])],
                [...inside.map(() => 1), ...outside.map(() => 0)]);
        }
        refused(() => built.contains("a/../b c"), "EPARAM", "");
        refused(() => built.contains(7), "EPARAM", "");
        refused(() => built.copy().intersect(built), "EUNSUPPORTED",
            "cannot be intersected");
        refused(() => Filter.build("bloomier:bits=4", entries,
            { keys, labels: entries.map(() => 1) }), "EUNSUPPORTED", "have no labels");
    }
    refused(() => new Filter("standard", { items: 9, keys: "domain" }).add("ü.de"),
        "EUNSUPPORTED", "other alphabets");
});

it("keys are added, counted, removed and labelled", () => {
    const f = new Filter("counting", { items: 1000 });
    same([f.add("a"), f.add("a"), f.add("b")], [true, false, true]);
    same([f.count("a"), f.count("c"), f.countMany(["a", "b", "c"])],
         [2, 0, Float64Array.of(2, 1, 0)]);
    f.remove("a");
    same([f.count("a"), f.discard("b"), f.discard("b")], [1, true, false]);
    same(refused(() => f.remove("zz"), "EABSENT").status, -14);
    f.addMany(["x", "y"]);
    const e = refused(() => f.removeMany(["x", "nobody", "y"]), "EABSENT");
    ok(e.message.length > 10 && !f.contains("x") && !f.contains("y"));
    same(f.addMany(["n", "n", "a"]), Uint8Array.of(1, 0, 0));
    same(new Filter("standard", { items: 10 }).count("a"), 0);
    const g = new Filter("standard", { items: 10 });
    g.add("a");
    same(g.count("a"), Infinity);
    refused(() => g.remove("a"), "EUNSUPPORTED", "counting");
    refused(() => g.put("a", 1), "EUNSUPPORTED");
    const h = Filter.build("bloomier:bits=64", ["a", "b"],
                           { labels: [5, 2n ** 64n - 1n], keys: "any" });
    same([h.get("a"), h.get("b")], [5, 2n ** 64n - 1n]);
    h.put("a", 9);
    h.putMany(["b"], [8]);
    const { found, labels } = h.getMany(["a", "b", "no"]);
    same([found[0], found[1], labels[0], labels[1]], [1, 1, 9n, 8n]);
    refused(() => h.put("a", -1), "EPARAM", "whole number");
    refused(() => h.put("a"), "EPARAM");
    const none = made(kinds().find(({ name }) => name === "blocked"));
    for (const ask of [() => none.get(ALL[0]), () => none.getMany(ALL)])
        refused(ask, "EUNSUPPORTED", "kind blocked stores no labels");
    refused(() => h.putMany(["a", "b"], [1]), "EPARAM", "2 keys need 2 labels");
    refused(() => h.putMany(["a"], [1, 2]), "EPARAM", "1 keys need 1 labels");
    refused(() => h.putMany({ bytes: new Uint8Array(2), width: 1 }, [1]), "EPARAM",
            "fewer labels");
    same([h.get("a"), h.get("b")], [9, 8]);
    refused(() => Filter.build("bloomier", ["a"], { labels: [1, 2] }), "EPARAM");
    refused(() => Filter.build("bloomier", ["a", "a"], { labels: [1, 2] }), "EPARAM");
});

it("sets are united, cut, compared, folded and cleared", () => {
    const a = new Filter("standard:m=65536,k=4", { items: 1000 });
    const b = a.like();
    a.addMany(ALL.slice(0, 200));
    b.addMany(ALL.slice(100));
    const c = a.copy().unite(b);
    ok(c.containsMany(ALL).every((yes) => yes === 1));
    ok(Math.abs(a.overlap(b).both.value - 100) < 20);
    const d = a.copy().intersect(b);
    ok(d.containsMany(ALL.slice(100, 200)).every((yes) => yes === 1) && !d.contains("key 0"));
    const bytes = a.info().bytes;
    a.fold(2);
    ok(a.info().bytes < bytes && a.contains("key 5"));
    refused(() => a.unite(b), "EMISMATCH");
    refused(() => a.unite({}), "EPARAM", "must be a filter");
    refused(() => a.unite(null), "EPARAM");
    a.clear();
    ok(!a.contains("key 5") && a.info().items === 0);
    const q = new Filter("quotient", { items: 100 });
    q.addMany(ALL.slice(0, 100));
    q.resize(1000);
    ok(q.containsMany(ALL.slice(0, 100)).every((yes) => yes === 1));
    refused(() => a.resize(1000), "EUNSUPPORTED");
    const s = new Filter("invertible:key=8", { items: 20 }), t = s.like();
    s.addMany([1, 2, 3]);
    t.addMany([2, 3, 4]);
    s.subtract(t);
    same(s.listKeys().map(({ key, side }) => [key[0], side]).sort(),
         [[1, 1], [4, -1]]);
    refused(() => a.listKeys(), "EUNSUPPORTED");
});

it("a filter goes out as bytes and comes back", () => {
    for (const kind of kinds()) {
        const f = made(kind);
        for (const bytes of [f.pack(), f.image()]) {
            const g = Filter.fromBytes(bytes);
            same(g.image(), f.image(), kind.name);
            same(g.info(), f.info(), kind.name);
            same(Filter.fromBytes(bytes.buffer).kind, kind.name);
            g.free();
        }
        refused(() => Filter.fromBytes(f.pack().subarray(0, -1)), "ECORRUPT");
        f.free();
    }
    for (const bytes of [null, "abc", 7, [1, 2], {}, new Int32Array(3)])
        refused(() => Filter.fromBytes(bytes), "EPARAM", "bytes of a filter");
    refused(() => Filter.fromBytes(new Uint8Array(0)), "EFORMAT", "there are no bytes");
    refused(() => new Filter("blocked", { items: 9, rate: 0 }), "EPARAM", "not 0");
    refused(() => Filter.fromBytes(new Uint8Array(500)), "EFORMAT");
    // The other system reads the bytes after our header.
    const dcso = new Filter("dcso", { items: 100 });
    dcso.add("a");
    ok(Filter.fromBytes(dcso.pack()).contains("a"));
    const file = dcso.image().subarray(128);
    ok(Filter.fromBytes(file).contains("a") && Filter.fromBytes(file, { format: "dcso" }).contains("a"));
    refused(() => Filter.fromBytes(file, { format: "nope" }), "EPARAM", "nope");
});

// The silent result of structured clone would be {}.
it("structured clone refuses a filter, and transfer() moves it", () => {
    const f = new Filter("standard", { items: 1000 });
    f.addMany(ALL);
    const { port1 } = new MessageChannel();
    for (const clone of [() => structuredClone(f), () => structuredClone({ a: [f] }),
                         () => port1.postMessage(f)]) {
        let error;
        try {
            clone();
        } catch (e) {
            error = e;
        }
        same(error?.name, "DataCloneError", `${error}`);
        ok(!error.message.includes("Symbol") ||
           error.message.includes("send filter.transfer() and call Filter.fromBytes()"),
           error.message);
    }
    port1.close();
    const image = f.image(), buffer = f.transfer();
    same([Object.prototype.toString.call(buffer), buffer.byteLength],
         ["[object ArrayBuffer]", image.length]);
    refused(() => f.contains("a"), "FREED");
    refused(() => f.transfer(), "FREED");
    const there = structuredClone(buffer, { transfer: [buffer] });
    same([buffer.byteLength, there.byteLength], [0, image.length]);
    const g = Filter.fromBytes(there);
    same(g.image(), image);
    ok(g.containsMany(ALL).every((yes) => yes === 1));
});

it("a filter goes to JSON and back", () => {
    for (const kind of kinds()) {
        const f = made(kind);
        const text = JSON.stringify({ rows: [f] });
        ok(text.startsWith(`{"rows":[{"type":"bloomery.Filter","kind":"${kind.name}"`),
           text.slice(0, 80));
        const g = Filter.fromJSON(JSON.parse(text).rows[0]);
        same(g.image(), f.image(), kind.name);
        f.free();
        g.free();
    }
    // Lengths around a multiple of the part that btoa gets.
    for (const m of [98_304, 98_304 + 8, 98_304 - 8, 300_000]) {
        const f = new Filter(`standard:m=${m * 8},k=3`, { items: 1000, seed: m });
        f.addMany(ALL);
        const { base64 } = f.toJSON();
        same(Uint8Array.from(atob(base64), (c) => c.charCodeAt(0)), f.pack());
        f.free();
    }
    const secret = new Uint8Array(16).fill(3);
    const hidden = new Filter("standard", { items: 9, hash: "siphash", secret });
    hidden.add("a");
    ok(Filter.fromJSON(hidden.toJSON(), { secret }).contains("a"));
    refused(() => Filter.fromJSON(hidden.toJSON()), "ESECRET");
    const { type, base64 } = hidden.toJSON();
    for (const bad of [undefined, null, 7, [], {}, { type }, { base64 }, hidden,
                       { type: "Buffer", base64 }, { type, base64: [1] }])
        refused(() => Filter.fromJSON(bad), "EPARAM", "as toJSON() returns it");
    refused(() => Filter.fromJSON(JSON.stringify(hidden)), "EPARAM", "JSON.parse(text)");
    for (const bad of ["*", base64.slice(0, -3), `${base64}é`])
        refused(() => Filter.fromJSON({ type, base64: bad }), "EFORMAT", "base64");
    refused(() => Filter.fromJSON({ type, base64: "" }), "EFORMAT", "no bytes");
    refused(() => Filter.fromJSON({ type, base64: base64.slice(0, -4) }), "ECORRUPT");
    hidden.free();
    refused(() => JSON.stringify({ hidden }), "FREED");
});

it("addMany returns which keys were new", () => {
    const f = new Filter("standard", { items: 100_000, rate: 1e-9 });
    same(f.addMany(["a", "b", "a"]), Uint8Array.of(1, 1, 0));
    same(f.addMany(new Set(["a", "c"])), Uint8Array.of(0, 1));
    const numbers = new Filter("standard", { items: 100_000, rate: 1e-9 });
    const all = Int32Array.from({ length: 20_000 }, (_, i) => i);
    numbers.addMany(all.subarray(0, 10_000));
    same(numbers.addMany(all).indexOf(1), 10_000);
    for (const { name, can } of kinds()) {
        if (!can.includes("add") || can.includes("label"))
            continue;
        const g = new Filter(name, { items: 1000 });
        const added = g.addMany(ALL), again = g.addMany(ALL.slice(0, 1));
        const { lost, window } = g.info();
        same(added.length, ALL.length, name);
        ok(added.reduce((a, b) => a + b) > 0.9 * ALL.length, name);
        ok(lost > 0 || window !== undefined || again[0] === 0, name);
        g.free();
    }
});

it("a secret is kept, and asked for", () => {
    const secret = new Uint8Array(16).map((_, i) => i);
    const f = new Filter("standard", { items: 100, hash: "siphash", secret });
    f.add("a");
    ok(Filter.fromBytes(f.pack(), { secret }).contains("a"));
    refused(() => Filter.fromBytes(f.pack()), "ESECRET");
    refused(() => Filter.fromBytes(f.pack(), { secret: new Uint8Array(16) }), "ESECRET");
    refused(() => new Filter("standard", { items: 1, hash: "siphash" }), "ESECRET");
    for (const bad of [new Uint8Array(15), "sixteen letters.", 7, null])
        refused(() => new Filter("standard", { items: 1, secret: bad }), "ESECRET");
});

it("plans and kinds are told", () => {
    same(Filter.plan("standard", { items: 1e6, rate: 0.01 }).bytes, 1199248);
    const plan = Filter.plan("cuckoo", { items: 1e6, rate: 0.001 });
    ok(plan.bitsPerKey > 12 && plan.bitsPerKey < 15 && plan.window === undefined);
    ok(plan.geometry.length === 4 && plan.rate <= 0.001);
    const all = kinds();
    ok(all.length >= 30 && all[0].name === "standard");
    same(all[0].tier, "core");
    same(all.find(({ name }) => name === "floom").tier, "experimental");
    ok(all.every(({ name, summary, can, options }) => name && summary &&
        can.every((word) => /^[a-z ]+$/.test(word)) && Array.isArray(options)));
    ok(/^\d+\.\d+\.\d+$/.test(version()));
    const f = new Filter("standard", { items: 100, seed: 2n ** 64n - 1n });
    same(f.info().seed, 2n ** 64n - 1n);
    ok(f.info().can.includes("fold"));
});

it("advice is given", () => {
    const best = advise({ items: 1e6, rate: 0.001, can: ["remove"] });
    same([best[0].kind, best[0].fits, best.length > 10], ["cuckoo", true, true]);
    same(best[0].tier, "core");
    ok(best[0].plan.bitsPerKey > 10 && best[0].nsLookup > 0 && best[0].why);
    const small = advise({ items: 1e6, fixed: true, aim: "small" })[0];
    ok(small.plan.bitsPerKey < 9, small.kind);
    for (const need of [{}, undefined, { items: -1 }, { items: 5, can: "remove" },
                        { items: 5, can: ["fly"] }, { items: 5, aim: "great" },
                        { items: 5, present: "all" }, { items: 5, can: [Symbol("a")] },
                        { items: 5, present: 7 }, { items: 5, rate: 3 }])
        refused(() => advise(need), "EPARAM");
});

it("wrong options are errors, in the library's words", () => {
    refused(() => new Filter("fuse", { items: 5 }), "EUNSUPPORTED", "(Filter.build)");
    refused(() => new Filter("nope", { items: 1 }), "EKIND", "unknown kind 'nope'");
    refused(() => new Filter("standard:q=1", { items: 1 }), "EOPTION", "has no option");
    refused(() => new Filter("standard"), "EPARAM");
    refused(() => new Filter("fuse", { items: 5 }), "EUNSUPPORTED");
    refused(() => new Filter("standard", { items: 5, hash: "md5" }), "EHASH");
    refused(() => new Filter("standard", { items: 5, rate: 2 }), "EPARAM");
    refused(() => new Filter("standard", { items: 5, rate: NaN }), "EPARAM");
    refused(() => new Filter("standard", { items: 5, rate: "1" }), "EPARAM", "rate");
    for (const hash of [7, {}, new Uint8Array(16), Object.create(Uint8Array.prototype)])
        refused(() => new Filter("standard", { items: 5, hash }), "EPARAM", "a text");
    refused(() => Filter.fromBytes(new Uint8Array(200), { format: new Uint8Array(3) }),
            "EPARAM", "a text");
    refused(() => new Filter("standard", { items: -5 }), "EPARAM", "-5");
    refused(() => new Filter("standard", { items: 5.5 }), "EPARAM", "5.5");
    refused(() => new Filter("standard", { items: "5" }), "EPARAM", "string");
    refused(() => new Filter("standard", { items: 2n ** 64n }), "EPARAM");
    refused(() => new Filter("standard\0", { items: 5 }), "EPARAM", "zero byte");
    refused(() => new Filter(7, { items: 5 }), "EPARAM", "text");
    refused(() => new Filter("standard", 5), "EPARAM", "object");
    refused(() => new Filter("standard", null), "EPARAM", "object");
    refused(() => new Filter("standard", { item: 5 }), "EPARAM", '"item"; the options are');
    refused(() => new Filter("standard", { items: 5, "a\nb": 1 }), "EPARAM");
    refused(() => Filter.plan("standard", { items: 5, labels: [] }), "EPARAM",
            "labels");
    refused(() => Filter.build("fuse", ["a"], { label: [1] }), "EPARAM", "labels");
    refused(() => Filter.fromBytes(new Uint8Array(200), { key: 1 }), "EPARAM", "secret");
    refused(() => advise({ items: 5, fix: true }), "EPARAM", "fixed");
    const e = refused(() => new Filter("standard", { items: 1e15 }), "ETOOBIG");
    same([e.status, e.name], [-6, "BloomeryError"]);
});

it("a filter that was freed says so", () => {
    const f = new Filter("standard", { items: 10 });
    f.free();
    f.free();
    for (const call of [() => f.contains("a"), () => f.addMany(["a"]), () => f.info(),
                        () => f.pack(), () => f.kind, () => f.copy()])
        refused(call, "FREED", "freed");
    const g = new Filter("standard", { items: 10 });
    refused(() => g.unite(f), "FREED");
    // Freed by whoever yields the keys.
    refused(() => g.addMany((function* () { yield "a"; g.free(); yield "b"; })()),
            "FREED");
});

it("keys that come from code which uses filters, too", () => {
    const f = new Filter("standard", { items: 1e5, rate: 1e-6, keys: "any" });
    const g = new Filter("counting", { items: 1e5, keys: "any" });
    function* keys() {
        for (let i = 0; i < 20000; i++) {
            g.addMany(["other", `k ${i}`]);
            if (i % 1000 === 0)
                Filter.build("fuse", ["a", "b", i], { keys: "any" }).free();
            yield `k ${i}`;
        }
    }
    f.addMany(keys());
    const same20000 = Array.from({ length: 20000 }, (_, i) => `k ${i}`);
    ok(f.containsMany(same20000).every((yes) => yes === 1) && !f.contains("other"));
    const h = Filter.build("fuse", keys(), { keys: "any" });
    ok(h.containsMany(same20000).every((yes) => yes === 1));
    same(g.count("k 5"), 2);
});

// ---- Keys, lists and options that run code ----------------------------------------

const bytesOfText = (text) => new TextEncoder().encode(text);

// Returns a hostile action for a value to take when it is read.
function mischief(random, f, others) {
    return random.of([
        () => others[0].contains("a text that lies in the room"),
        () => others[0].addMany(["x", new Uint8Array(100), 5]),
        () => others[1] = Filter.build("fuse", ["one", 2, "three"]),
        () => new Filter("standard", { items: 1e6 }).free(),    // memory may grow
        () => f.contains(bytesOfText("of the same filter")),
        () => f.addMany(Array.from({ length: 20 }, (_, i) => `more ${i}`)),
        () => f.containsMany(BigInt64Array.of(1n, 2n, 3n)),
        () => [...others[0].containsMany(new Set(["y", "z"]))],
        () => { throw new RangeError("of the caller"); },
        () => f.free(),
    ]);
}

// Calls `act` of any of these, and is no key, or one of the bytes "sly".
function slyKey(random, act) {
    const bytes = bytesOfText("sly");
    const own = (name, value) => Object.defineProperty({}, name, { get: () => {
        act();
        return value;
    } });
    return random.of([
        () => own(Symbol.toStringTag, "ArrayBuffer"),
        () => own("length", 3),
        () => own(Symbol.toPrimitive, () => "sly"),
        () => Object.setPrototypeOf(own("byteLength", 3), Uint8Array.prototype),
        () => ({ toString: act, valueOf: act, toJSON: act }),
        () => new Proxy(bytes, { get: act, getPrototypeOf: act, has: act }),
        () => new Proxy(new ArrayBuffer(3), { get: act, getPrototypeOf: act }),
        () => Object.defineProperties(bytes, Object.fromEntries(
            ["length", "buffer", "byteLength", "constructor", "subarray"].map(
                (name) => [name, { get: act }]))),
        () => new (class extends Uint8Array {
            static get [Symbol.species]() { act(); return Uint8Array; }
        })(bytes),
    ])();
}

// The keys in a list of some kind, which calls `act` before key number `at`. The
// keys of bytes lie in one place, which the next one is written to.
function slyList(random, keys, at, act) {
    const room = new Uint8Array(100);
    function* each() {
        for (const [i, key] of keys.entries()) {
            if (i === at)
                act();
            if (!(key instanceof Uint8Array) || key.length > room.length ||
                Object.getPrototypeOf(key) !== Uint8Array.prototype ||
                Object.hasOwn(key, "length")) {
                yield key;
                continue;
            }
            room.fill(255).set(key);
            yield room.subarray(0, key.length);
        }
    }
    return random.of([
        () => each(),
        () => new Proxy(keys, { get: (all, name) => {
            if (name === `${at}`)
                act();
            return all[name];
        } }),
        () => Object.defineProperty([...keys], at, { get: () => {
            act();
            return keys[at];
        } }),
        () => ({ get [Symbol.iterator]() { act(); return each; } }),
    ])();
}

// A row of keys of 4 bytes.
function slyRow(random, n, act) {
    const bytes = new (class extends Uint8Array {
        static get [Symbol.species]() { act(); return Uint16Array; }
    })(4 * n).map((_, i) => i % 7);
    return random.of([
        { get bytes() { act(); return bytes; }, width: 4 },
        { bytes, get width() { act(); return 4; } },
        new Proxy({ bytes, offsets: Uint32Array.from({ length: n + 1 },
                                                     (_, i) => 4 * i) },
                  { get: (row, name) => { act(); return row[name]; } }),
    ]);
}

function anyKeys(random) {
    const n = random.of([1, 3, 20, 20, 20, random.below(9000)]);
    const kinds = random.below(4);
    return Array.from({ length: n }, (_, i) => [
        `text ${i}`, i * 1.5, bytesOfText(`bytes ${i}`),
        "é".repeat(random.below(60)), BigInt(i), new Uint8Array(70).fill(i)][
        kinds === 0 ? random.below(6) : kinds - 1]);
}

// Makes one call with hostile arguments; returns what was certainly added.
function slyCall(random, f, act) {
    const keys = anyKeys(random), at = random.below(keys.length);
    if (random.below(3) === 0)
        keys.splice(at, 0, slyKey(random, act));
    const all = slyList(random, keys, random.below(keys.length), act);
    const row = slyRow(random, 1 + random.below(20), act);
    const sly = slyKey(random, act);
    return random.of([
        () => { f.addMany(all); return keys; },
        () => { f.addMany(all); return keys; },
        () => {
            same(f.addMany(all).length, keys.length);
            return keys;
        },
        () => { f.add(sly); return [sly]; },
        () => { f.addMany(row);
                return Array.from({ length: 1 }, () => Uint8Array.of(0, 1, 2, 3)); },
        () => {
            const found = f.containsMany(all);
            same(found.length, keys.length);
            return keys.filter((_, i) => found[i] === 1);
        },
        () => { f.countMany(all); f.contains(sly); return []; },
        () => {
            const g = Filter.build("standard", all,
                { get keys() { act(); return "any"; }, get rate() { act(); return 1e-9; } });
            ok(g.containsMany(keys).every((yes) => yes === 1), "a built filter lost a key");
            return [];
        },
        () => { Filter.build("standard", row, { rate: 1e-9 }).free(); return []; },
        () => {
            const image = f.pack();
            Filter.fromBytes(image, { get secret() { act(); } }).free();
            Filter.fromBytes(slyKey(random, act));
            return [];
        },
        () => { new Filter("standard", slyKey(random, act)); return []; },
        () => { advise({ items: 10, can: slyList(random, ["add"], 0, act) });
                return []; },
    ])();
}

it("code that keys, lists and options run loses no key", ({ effort }) => {
    const random = randomOf(22), others = [new Filter("standard", { items: 100 })];
    const settled = { items: 30000, rate: 1e-6, keys: "any" };
    let whole = 0, broken = 0;
    for (let i = 0; i < 400 * effort; i++) {
        const f = new Filter("counting", settled), there = ["apple", 7];
        let left = 3;
        f.addMany(there);
        try {
            for (let j = 0; j < 3; j++) {
                const act = mischief(random, f, others);
                there.push(...slyCall(random, f, () => {
                    if (left-- > 0)
                        act();
                }));
                whole++;
            }
        } catch (error) {
            if (error.message !== "of the caller" && typeof error.status !== "number" &&
                !(error instanceof TypeError))
                throw error;
            ok(error.code !== "TRAP", error.stack);
            broken++;
        }
        try {
            for (const [k, yes] of f.containsMany(there).entries())
                ok(yes === 1, `run ${i}: key ${k} of ${there.length} was lost`);
            f.free();
        } catch (error) {
            same(error.code, "FREED", error.stack);
        }
    }
    ok(whole > 100 && broken > 20 && kinds().length > 10, `${whole}, ${broken}`);
});

it("code between two keys sees and changes nothing that waits", () => {
    const f = new Filter("standard", { items: 100, keys: "any" });
    const g = new Filter("standard", { items: 100 });
    const odd = { get [Symbol.toStringTag]() {
        g.contains("x".repeat(40));
        return "ArrayBuffer";
    } };
    refused(() => f.addMany(["apple", odd, "plum"]), "EPARAM", "key 1 must be text");
    // Each key as it was when it was yielded.
    function* refilled() {
        const room = new Uint8Array(3);
        for (const text of ["abc", "def", "ghi"]) {
            room.set(bytesOfText(text));
            yield room;
        }
    }
    const there = ["abc", "def", "ghi"].map(bytesOfText);
    f.addMany(refilled());
    same([...f.containsMany(there)], [1, 1, 1]);
    same([...Filter.build("fuse", refilled()).containsMany(there)], [1, 1, 1]);
    const labelled = Filter.build("bloomier", refilled(), { labels: [1, 2, 3] });
    same([...labelled.getMany(there).labels], [1n, 2n, 3n]);
    // The class of an empty filter's keys is that of those which are in.
    const h = new Filter("standard", { items: 100 });
    refused(() => h.addMany((function* () {
        yield "a";
        h.stateKeys("number");
        yield "b";
    })()), "EPARAM", "another class");
    h.add(5);
    ok(h.contains(5));
    // A secret that another option's getter takes away.
    const secret = new Uint8Array(16).fill(7);
    refused(() => new Filter("standard", { hash: "siphash", secret, get keys() {
        structuredClone(secret.buffer, { transfer: [secret.buffer] });
        return "any";
    } }), "ESECRET");
});

it("keys of several types fill batches of any size", () => {
    for (const n of [1, 2, 8191, 8192, 8193, 20000]) {
        const keys = Array.from({ length: n }, (_, i) => i % 8192 < 8000 ? i + 0.5
            : i % 3 === 0 ? `t${i}` : i % 3 === 1 ? BigInt(i) : bytesOfText(`b${i}`));
        const f = new Filter("standard", { items: n, rate: 1e-6, keys: "any" });
        f.addMany(keys);
        for (const key of keys)
            ok(f.contains(key), `${n} keys: ${key} was lost`);
        ok(f.containsMany(keys).every((yes) => yes === 1));
        refused(() => new Filter("standard", { items: n }).addMany(
            [...Array(n).fill("a"), 5]), "EPARAM", `key ${n} is a number`);
    }
});

// ---- Enemies ----------------------------------------------------------------------

// All verbs, whatever becomes of them.
function workOn(f, random) {
    const some = ALL.slice(0, 40);
    for (const call of [
        () => f.containsMany(some), () => f.countMany(some), () => f.getMany(some),
        () => f.info(), () => f.addMany(some.slice(0, 20)), () => f.contains("a"),
        () => f.removeMany(some.slice(0, 5)), () => f.listKeys(),
        () => f.unite(f.copy()), () => f.overlap(f),
        () => f.resize(random.below(2000)), () => f.fold(1 + random.below(4)),
        () => f.put("a", 1), () => f.clear(), () => f.image(), () => f.pack(),
        () => f.like().free()]) {
        try {
            call();
        } catch (error) {
            if (typeof error.status !== "number" || error.code === "TRAP")
                throw error;
        }
    }
}

function forged(image, random) {
    let bytes = [...image];
    for (let n = random.of([1, 1, 1, 3, 30]); n > 0; n--) {
        const way = random.below(4), at = random.below(bytes.length + 1);
        if (way < 2 && at < bytes.length)
            bytes[at] ^= 1 << random.below(8);
        else if (way === 2)
            bytes.splice(at, 1 + random.below(200));
        else
            bytes.splice(at, 0, ...Array.from({ length: random.below(100) },
                                              () => random.below(256)));
    }
    return Uint8Array.from(bytes);
}

it("forged images are errors, or filters", ({ effort }) => {
    const random = randomOf(1);
    let taken = 0, thrown = 0;
    const images = [...kinds().map((kind) => made(kind, ALL).pack()),
                    ...["dcso", "guava", "squid", "bip37", "redisbloom",
                        "xorfilter", "parquet", "leveldb"].map((name) => {
                        try {
                            return Filter.build(name, ALL,
                                                { items: ALL.length }).pack();
                        } catch {
                            return new Uint8Array(100);
                        }
                    })];
    for (const image of images)
        for (let i = 0; i < 10 * effort; i++) {
            let f;
            try {
                f = Filter.fromBytes(forged(image, random));
                taken++;
            } catch (error) {
                if (typeof error.status !== "number" || error.code === "TRAP")
                    throw error;
                thrown++;
                continue;
            }
            workOn(f, random);
            f.free();
        }
    ok(thrown > 0, `${taken} taken`);
});

// The error of a foreign iterator that is applied to our objects.
const ALIEN = (() => {
    try {
        return [...Object.create(Uint8Array.prototype)];
    } catch (error) {
        return error.message;
    }
})();

function anyValue(random, depth = 0) {
    return random.of([
        () => undefined, () => null, () => true, () => random.below(1e6) - 5e5,
        () => random.real() * 10 ** (random.below(600) - 300), () => NaN,
        () => -1, () => 0, () => 2 ** 53, () => Infinity, () => -(2n ** 70n),
        () => BigInt(random.below(100)), () => 2n ** 64n, () => Symbol("s"),
        () => String.fromCharCode(...Array.from({ length: 5 },
                                                () => random.below(0x10000))),
        () => "a".repeat(random.below(200)), () => random.of(kinds()).name,
        () => "counting:m=100,k=3", () => new Filter("standard", { items: 10 }),
        () => Filter, () => ({}), () => Object.create(null), () => () => 1,
        () => new Date(NaN), () => /x/,
        () => new (random.of([Int8Array, Uint8Array, Int32Array, Float32Array,
                              Float64Array, Uint32Array, Uint16Array,
                              Uint8ClampedArray]))(random.below(20)),
        () => new BigInt64Array(random.below(9)), () => new ArrayBuffer(8),
        () => BigUint64Array.of(2n ** 64n - 1n), () => new DataView(new ArrayBuffer(3)),
        () => ({ bytes: new Uint8Array(random.below(40)), width: random.below(9) }),
        () => ({ bytes: new Uint8Array(9), offsets: Uint32Array.of(random.below(3),
            random.below(9), random.below(12)) }),
        () => ({ length: 2 ** 40 }), () => ({ [Symbol.iterator]: 7 }),
        () => new Map([[1, 2]]), () => new Set([1, "a"]), () => [[1], [2]],
        () => Promise.resolve(1), () => new Proxy([], {}), () => new Proxy({}, {}),
        () => new WeakMap(),
        () => Object.defineProperty(new Uint8Array(3), "length", { value: 1e9 }),
        () => Object.setPrototypeOf(new Uint8Array(5), Array.prototype),
        () => Object.setPrototypeOf([], Uint8Array.prototype),
        () => Object.create(Uint8Array.prototype), () => new String("text"),
        () => depth < 3 ? Array.from({ length: 3 },
                                     () => anyValue(random, depth + 1)) : [],
        () => ({ items: 9, can: anyValue(random, 3), aim: anyValue(random, 3) }),
        () => ({ items: 9, can: ["add"], present: anyValue(random, 3) }),
        () => ({ items: anyValue(random, 3), rate: anyValue(random, 3) }),
        () => ({ items: random.below(1000), seed: anyValue(random, 3) }),
        () => ({ items: 50, labels: anyValue(random, 3), hash: anyValue(random, 3) }),
        () => ({ format: anyValue(random, 3), secret: anyValue(random, 3) }),
    ])();
}

it("wrong calls are errors, and nothing stops", ({ effort }) => {
    const random = randomOf(2);
    const f = new Filter("counting", { items: 100 });
    const verbs = Object.getOwnPropertyNames(Filter.prototype).filter((name) =>
        !["constructor", "free", "kind", "clear"].includes(name));
    const statics = [(...all) => new Filter(...all), Filter.build, Filter.fromBytes,
                     Filter.plan, advise];
    let thrown = 0;
    f.add("stays");
    for (let i = 0; i < 2500 * effort; i++) {
        const g = random.below(4) === 0 ? new Filter("standard", { items: 10 })
                                        : f.copy();
        const verb = random.of(verbs), make = random.of(statics);
        const all = Array.from({ length: random.below(4) }, () => anyValue(random));
        try {
            const made = random.below(3) === 0 ? make.apply(Filter, all)
                                               : g[verb](...all);
            if (made instanceof Filter && made !== g)
                made.free();
        } catch (error) {
            if (error.message === ALIEN)
                continue;
            if (typeof error.status !== "number" || error.code === "TRAP")
                throw new Error(`${verb}: ${error.stack}`);
            ok(!error.message.includes("\n") && error.message.length > 0);
            thrown++;
        }
        g.free();
        for (const value of all)
            if (value instanceof Filter)
                value.free();
    }
    ok(thrown > 0 && f.contains("stays") && f.info().items === 1);
});

it("memory that is given back is used again", ({ effort }) => {
    const cycle = (i) => {
        const kind = ["standard", "counting", "cuckoo", "scalable", "stable"][i % 5];
        const f = new Filter(kind, { items: 10 + i % 3000, keys: "any" });
        f.addMany(["a", "b", "c"]);
        ok(f.contains("b"));
        if (i % 7 === 0)
            Filter.build("fuse", ["a", "b", i], { keys: "any" }).free();
        if (i % 11 === 0)
            Filter.fromBytes(f.pack()).free();
        if (i % 13 === 0)
            try {
                Filter.build("bloomier", ["a", "a"], { labels: [1, 2] });
            } catch {
                f.info();
            }
        f.free();
    };
    for (let i = 0; i < 6000; i++)
        cycle(i);
    const before = memory();
    for (let i = 0; i < 2500 * effort; i++)
        cycle(i);
    same(memory(), before, "bytes of memory:");
});

// The module with a limit on its memory, of so many pages of 64 KiB.
function limited(wasm, pages) {
    const number = (n) => n < 128 ? [n] : [(n & 127) | 128, ...number(n >> 7)];
    const read = (at) => {
        let n = 0, shift = 0;
        do
            n |= (wasm[at] & 127) << shift;
        while (shift += 7, wasm[at++] & 128);
        return [n, at];
    };
    const out = [...wasm.subarray(0, 8)];
    for (let at = 8; at < wasm.length;) {
        const [length, body] = read(at + 1);
        const MEMORY = 5;
        if (wasm[at] === MEMORY) {
            const limits = [1, 1, ...number(read(body + 2)[0]), ...number(pages)];
            out.push(MEMORY, ...number(limits.length), ...limits);
        } else {
            for (let i = at; i < body + length; i++)
                out.push(wasm[i]);
        }
        at = body + length;
    }
    return Uint8Array.from(out);
}

it("a packed filter beyond the limit of memory is refused", () => {
    const f = new Filter("compressed", { items: 100_000 });
    const bytes = f.pack(), need = f.image().length;
    ok(bytes.length < need / 100);
    refused(() => Filter.fromBytes(bytes, { memoryLimit: need - 1 }), "ELIMIT",
            "(memoryLimit)");
    refused(() => Filter.fromBytes(bytes, { memoryLimit: -1 }), "EPARAM", "memoryLimit");
    same(Filter.fromBytes(bytes, { memoryLimit: need }).image(), f.image());
    same(Filter.fromBytes(bytes).image(), f.image());
});

it("no memory is an error, and the filters stay", async ({ wasm }) => {
    await load(limited(await wasm(), 320));
    const f = new Filter("standard", { items: 1000 });
    f.addMany(ALL);
    const image = new Filter("standard:m=80000000", {}).pack();
    for (let i = 0; i < 5; i++) {
        refused(() => new Filter("standard", { items: 1e8 }), "ENOMEM");
        refused(() => new Filter("scalable", { items: 1e8 }), "ENOMEM");
        refused(() => Filter.build("fuse", new Int32Array(4e6)), "ENOMEM");
        refused(() => f.add("x".repeat(3e7)), "ENOMEM");
        refused(() => Filter.fromBytes(new Uint8Array(3e7)), "ENOMEM");
        refused(() => Filter.fromBytes(image).copy(), "ENOMEM");
    }
    refused(() => new Filter("standard", { items: 2 ** 40 }), "ETOOBIG");
    ok(f.containsMany(ALL).every((yes) => yes === 1) && f.add("one more"));
    await load("all");
});

// Runs a case while a second passes between any two looks at the clock: so each
// question that a call may ask is asked.
function hurried(work) {
    const { performance } = globalThis, now = performance.now;
    let time = 0;
    performance.now = () => time += 1000;
    try {
        work();
    } finally {
        performance.now = now;
    }
}

const LONG = Array.from({ length: 60_000 }, (_, i) => i);

// A progress callback that does something at its call number `at`.
function watching(at = -1, deed = () => true) {
    const told = { calls: 0, done: 0, total: undefined };
    told.progress = (done, total) => {
        ok(told.calls === 0 || done >= told.done || total !== told.total);
        ok(total === undefined || done <= total);
        Object.assign(told, { done, total });
        return told.calls++ === at ? deed() : undefined;
    };
    return told;
}

function moments(calls) {
    return calls <= 20 ? Array.from({ length: calls }, (_, i) => i)
        : Array.from({ length: 20 }, (_, i) => Math.floor(i * (calls - 1) / 19));
}

// Cancels call(options) at up to 20 moments, in both ways. after() says whether all
// is as it should be then.
function cancelled(call, after, name) {
    const whole = watching(), thrown = new Error("stop");
    call({ progress: whole.progress });
    ok(whole.calls > 0, `${name} reports nothing`);
    for (const at of moments(whole.calls)) {
        const error = refused(() => call(watching(at)), "ECANCELED");
        after(error);
        try {
            call(watching(at, () => { throw thrown; }));
            ok(false, "nothing was thrown");
        } catch (error) {
            ok(error === thrown, `${error}`);
        }
        after();
    }
}

it("calls for whole filters are cancelled and change nothing", () => hurried(() => {
    const filled = (kind, keys = LONG) => {
        const f = new Filter(kind, { items: LONG.length });
        f.addMany(keys);
        return f;
    };
    const standard = "standard:m=4194304,k=4";
    for (const [name, kind, call] of [
        ["unite", standard, (f, g, o) => f.unite(g, o)],
        ["intersect", standard, (f, g, o) => f.intersect(g, o)],
        ["subtract", "invertible", (f, g, o) => f.subtract(g, o)],
        ["overlap", standard, (f, g, o) => f.overlap(g, o)],
        ["fold", standard, (f, g, o) => f.fold(2, o)],
        ["resize", "cuckoo", (f, g, o) => f.resize(4 * LONG.length, o)],
        ["copy", standard, (f, g, o) => f.copy(o).free()],
        ["pack", standard, (f, g, o) => f.pack(o)],
        ["from", standard, (f, g, o) => Filter.fromBytes(f.image(), o).free()],
    ]) {
        const f = filled(kind), g = filled(kind, LONG.slice(100)), image = f.image();
        let left;
        cancelled(({ progress }) => {
            const copy = f.copy();
            try {
                call(copy, g, { progress });
            } finally {
                left = copy.image();
                copy.free();
            }
        }, () => same(left, image, name), name);
        f.free();
        g.free();
    }
}));

it("builds are cancelled, and lose no memory", () => hurried(() => {
    const bytes = BigInt64Array.from(LONG, BigInt);
    for (const kind of ["fuse", "ribbon", "gcs", "blocked", "bloomier"])
        for (const keys of [bytes, LONG])
            cancelled(({ progress }) => Filter.build(kind, keys, { progress,
                labels: kind === "bloomier" ? LONG.map((i) => i & 1) : undefined,
            }).free(), () => {}, kind);
    const before = memory();
    for (let i = 0; i < 200; i++)
        refused(() => Filter.build("fuse", bytes,
            { progress: watching(8 + i % 8).progress }), "ECANCELED");
    ok(memory() - before < 8 << 20, `${memory() - before} bytes are lost`);
}));

it("a batch that is cancelled keeps the keys before", () => hurried(() => {
    for (const keys of [LONG, BigInt64Array.from(LONG, BigInt)]) {
        let f;
        cancelled((options) => {
            f = new Filter("standard", { items: LONG.length });
            f.addMany(keys, { progress: options.progress });
        }, (error) => {
            const n = error?.done ?? f.info().items;
            const other = new Filter("standard", { items: LONG.length });
            other.addMany(keys.slice(0, n));
            ok(n > 0);
            same(f.image(), other.image());
        }, "addMany");
    }
    const f = new Filter("counting", { items: LONG.length });
    f.addMany(LONG);
    const error = refused(() => f.removeMany(LONG,
        { progress: watching(2).progress }), "ECANCELED");
    same(f.info().items, LONG.length - error.done);
    for (const call of ["containsMany", "countMany"])
        cancelled((o) => f[call](LONG, { progress: o.progress }), () => {}, call);
    const g = Filter.build("bloomier:bits=8", LONG,
        { labels: LONG.map(() => 0) });
    const { done } = refused(() => g.putMany(LONG, LONG.map(() => 7),
        { progress: watching(1).progress }), "ECANCELED");
    same(g.getMany(LONG).labels.indexOf(0n), done);
}));

it("a progress callback uses the library between two calls only", () =>
    hurried(() => {
        const f = new Filter("standard", { items: 1e6 });
        f.addMany(LONG);
        const g = f.copy();
        let seen = 0;
        const use = () => {
            for (const call of [() => f.contains(1), () => g.add(1), () => f.free(),
                                () => kinds(), () => new Filter("standard",
                                                                { items: 9 })])
                refused(call, "BUSY", "progress callback");
            seen++;
        };
        g.unite(f, { progress: watching(1, use).progress });
        same(seen, 1);
        same(g.containsMany(LONG).indexOf(0), -1);
        g.addMany(LONG, { progress: watching(1, () => void f.contains(1)).progress });
        refused(() => g.unite(f, { progress: 3 }), "EPARAM", "progress must be a function");
        refused(() => g.addMany([1], { progress: null }), "EPARAM");
        refused(() => g.addMany([1], { progres: use }), "EPARAM", "unknown option");
    }));

it("an instance that stopped is told, and another one is loaded", async () => {
    const f = new Filter("standard", { items: 10 });
    let error;
    const deep = () => {
        try {
            f.containsMany([1]);
        } catch (e) {
            error ??= e instanceof BloomeryError ? e : undefined;
        }
        deep();
    };
    try {
        deep();
    } catch {
        // the stack of JavaScript has an end: also within a call
    }
    if (error === undefined)
        return;                         // no call was hit
    same(error.code, "TRAP");
    refused(() => f.contains("a"), "TRAP", "load()");
    refused(() => new Filter("standard", { items: 10 }), "TRAP");
    f.free();
    await load();
    ok(new Filter("standard", { items: 10 }).add("a"));
});

it("what is no module is refused, and what was there stays", async () => {
    const other = Uint8Array.of(0, 0x61, 0x73, 0x6D, 1, 0, 0, 0);
    for (const source of [other, Uint8Array.of(1, 2, 3), 7, null]) {
        let error;
        await load(source).catch((e) => { error = e; });
        ok(error instanceof Error, "nothing was thrown");
    }
    ok(new Filter("standard", { items: 10 }).add("a"));
    await Promise.all([load("sets"), load("all")]);
    ok(kinds().length > 30, "the later call counts");
});

it("the sets alone are a module, too", async () => {
    const other = new Filter("standard", { items: 100 });
    await load("sets");
    same(kinds().map(({ family }) => family).filter((name) => name !== "sets"), []);
    const f = new Filter("standard", { items: 100 });
    f.addMany(ALL.slice(0, 100));
    refused(() => new Filter("cuckoo", { items: 5 }), "EKIND", "choose one of standard");
    refused(() => advise({ items: 5 }), "EPARAM", 'load("all")');
    refused(() => f.unite(other), "EPARAM", "another instance");
    refused(() => other.unite(f), "EPARAM", "another instance");
    refused(() => f.copy({ progress: () => true }), "EPARAM", "no progress");
    f.copy().addMany(ALL.slice(0, 100), { progress: () => false });
    ok(other.add("a") && other.contains("a"));
    refused(() => Filter.fromBytes(Uint8Array.of(1, 2, 3)), "EFORMAT");
    for (const { name } of kinds())
        ok(made({ name, can: [] }).containsMany(ALL).every((yes) => yes === 1), name);
    const image = f.image();
    await load("all");
    ok(kinds().length > 30);
    const again = new Filter("standard", { items: 100 });
    again.addMany(ALL.slice(0, 100));
    same(again.image(), image);
    same(Filter.fromBytes(image).containsMany(ALL.slice(0, 100)).indexOf(0), -1);
});
