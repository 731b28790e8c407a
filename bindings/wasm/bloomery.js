// bloomery.js - approximate membership filters for Node, browsers and workers.
//
//      import { load, Filter } from "bloomery";
//      await load();
//      const f = new Filter("blocked", { items: 1e6, rate: 0.01 });
//      f.add("swordfish");
//      f.contains("swordfish");        // true: no false negatives
//
// The library is WebAssembly, in a memory of its own: bloomery.wasm has all kinds,
// and sets.wasm only family "sets". This file imports nothing, and runs in Node 18
// and later. bloomery.d.ts describes each function. entries.mjs makes the other
// entries of the package from this file: CommonJS, and with the modules inside.

/** An error of the library: its message of one line, and its status. */
export class BloomeryError extends Error {
    constructor(message, status, code) {
        super(message);
        this.name = "BloomeryError";
        this.status = status;
        this.code = code;
    }
}

// Makes an error for a value that is not a key, or not of the filter's class.
const wrongKey = (message) =>
    Object.assign(new TypeError(message), { status: -2, code: "EPARAM" });
const wrong = (message) => new BloomeryError(message, -2, "EPARAM");
const FREED = "the filter was freed: make it or load its bytes again";

// Describes a value in an error message.
function described(value) {
    if (value === null)
        return "null";
    if (typeof value !== "object" && typeof value !== "function")
        return typeof value;
    try {
        const name = Object.prototype.toString.call(value).slice(8, -1);
        return /^\w{1,40}$/.test(name) ? name : "object";
    } catch {
        return "object";
    }
}

// ---- Arrays -----------------------------------------------------------------------

// Keys are recognised and read by the language's own getters. They run no code of
// the caller's, whatever a key's class, prototype or proxy defines.
const TypedArray = Object.getPrototypeOf(Uint8Array);
const getter = (type, name) =>
    Object.getOwnPropertyDescriptor(type.prototype, name).get;
const typeOf = getter(TypedArray, Symbol.toStringTag);
const lengthOf = getter(TypedArray, "length");
const bytesOf = getter(TypedArray, "byteLength");
const offsetOf = getter(TypedArray, "byteOffset");
const bufferOf = getter(TypedArray, "buffer");
const inDataView = ["buffer", "byteOffset", "byteLength"]
    .map((name) => getter(DataView, name));
const BUFFERS = [ArrayBuffer, globalThis.SharedArrayBuffer]
    .filter((type) => type !== undefined)
    .map((type) => getter(type, "byteLength"));

// Returns whether a value is an array or another iterable, but not a typed array.
function listed(value) {
    return typeof value === "object" && value !== null &&
        !ArrayBuffer.isView(value) && typeof value[Symbol.iterator] === "function";
}

// Types of number arrays: their numbers in wasm.c, and the bytes of an element.
const NUMBERS = {
    Int8Array: [0, 1], Uint8Array: [1, 1], Int16Array: [2, 2],
    Uint16Array: [3, 2], Int32Array: [4, 4], Uint32Array: [5, 4],
    BigInt64Array: [6, 8], BigUint64Array: [7, 8], Float32Array: [8, 4],
    Float64Array: [9, 8],
};

// Returns the bytes of a view or a buffer, or undefined for another value. A buffer
// that was transferred to a worker is empty.
function viewed(value) {
    const type = typeOf.call(value);
    try {
        if (type === "Uint8Array")
            return lengthOf.call(value) > 0 ? value : new Uint8Array(0);
        if (type === "Uint8ClampedArray")
            return bytewise(value);
        if (type !== undefined)
            return undefined;
        if (ArrayBuffer.isView(value))
            return new Uint8Array(...inDataView.map((get) => get.call(value)));
        return isBuffer(value) ? new Uint8Array(value) : undefined;
    } catch {
        return undefined;
    }
}

function isBuffer(value) {
    return BUFFERS.some((get) => {
        try {
            return get.call(value) >= 0;
        } catch {
            return false;
        }
    });
}

function bytewise(array) {
    return bytesOf.call(array) === 0 ? new Uint8Array(0)
        : new Uint8Array(bufferOf.call(array), offsetOf.call(array),
                         bytesOf.call(array));
}

// Returns a view of some of the bytes. subarray() would call the constructor of the
// caller's class.
function part(bytes, from, to) {
    return new Uint8Array(bufferOf.call(bytes), offsetOf.call(bytes) + from,
                          to - from);
}

// ---- One instance of the module ---------------------------------------------------

const encoder = new TextEncoder();
const decoder = new TextDecoder();
// With the flag u, this matches only an unpaired surrogate.
const LONE = /\p{Surrogate}/u;
const SHORT = 48;               // up to this length, text is encoded in JavaScript

// Stands in for output of the C library, which never prints: "bad file".
const none = () => 8;
const SYSTEM = { fd_close: none, fd_seek: none, fd_write: none };

// Wraps each function of the module. After a trap, the module's memory may be
// inconsistent, so no function is called again.
function guarded(exports) {
    const out = {};
    let trap;
    const caught = (error) => {
        trap ??= error;
        return new BloomeryError(
            `the instance stopped within a call (${error.message}) and its filters ` +
            "are lost: load() makes another one", -1001, "TRAP");
    };
    for (const [name, f] of Object.entries(exports)) {
        if (typeof f !== "function")
            continue;
        const call = [
            () => { try { return f(); } catch (e) { throw caught(e); } },
            (a) => { try { return f(a); } catch (e) { throw caught(e); } },
            (a, b) => { try { return f(a, b); } catch (e) { throw caught(e); } },
            (a, b, c) => {
                try { return f(a, b, c); } catch (e) { throw caught(e); }
            },
        ][f.length];
        out[name] = call ?? ((...all) => {
            try { return f(...all); } catch (e) { throw caught(e); }
        });
    }
    return [out, () => trap];
}

const PERIOD = 20;              // milliseconds between two reports of a call

// The progress callback of one call.
class Watch {
    constructor(report, keys) {
        if (report !== undefined && typeof report !== "function")
            throw wrong(`progress must be a function, not ${described(report)}`);
        this.report = report;
        this.total = ArrayBuffer.isView(keys) && typeOf.call(keys) !== undefined
            ? lengthOf.call(keys) : Array.isArray(keys) ? keys.length : undefined;
        this.done = 0;
        this.next = performance.now() + PERIOD;
        this.inside = false;            // whether the callback is running
        this.raised = undefined;        // the value that it threw, in an array
    }

    // Returns whether it is time to report.
    isDue() {
        return this.report !== undefined && performance.now() >= this.next;
    }

    // Reports, and returns whether the callback cancelled the call.
    tell(done, total) {
        const cancelled = this.report(done, total);
        this.next = performance.now() + PERIOD;
        return Boolean(cancelled);
    }

    // Called by the module. An exception of the callback must not pass through the
    // module, because its call would stop in the middle.
    ask(done, total) {
        if (!this.isDue())
            return 0;
        this.inside = true;
        try {
            return this.tell(done, total) ? 1 : 0;
        } catch (error) {
            this.raised = [error];
            return 1;
        } finally {
            this.inside = false;
        }
    }

    // Counts n more keys, and reports between two calls of the module.
    step(n, counts = true) {
        this.done += counts ? n : 0;
        if (this.isDue() && this.tell(this.done, this.total))
            throw Object.assign(
                new BloomeryError("the progress callback cancelled the call", -22,
                                  "ECANCELED"), { done: this.done });
    }
}

// Marks bytes as a secret, among the texts of a spec.
class Secret {
    constructor(bytes) {
        this.bytes = bytes;
    }
}

class Core {
    // Makes the instance of a module.
    static async of(module) {
        let made;
        const progress = (done, total) => made.watch?.ask(done, total) ?? 0;
        const { exports } = await WebAssembly.instantiate(module,
            { wasi_snapshot_preview1: SYSTEM, bloomery: { progress } });
        made = new Core(exports);
        return made;
    }

    constructor(exports) {
        this.watch = undefined;         // the Watch of the current call
        exports._initialize();
        [this.c, this.trap] = guarded(exports);
        this.memory = exports.memory;
        this.most = this.c.most();
        this.at = this.c.room();
        this.room = 8 * this.most;
        this.offsets = this.c.offsets();
        this.labels = this.c.labels();
        this.numbers = this.c.numbers();
        this.yes = this.c.yes();
        this.stage = undefined;         // a Stage to be used again
        this.u8 = new Uint8Array(this.memory.buffer);
        this.gone = new FinalizationRegistry((f) => {
            if (!this.trap())
                this.c.free(f);
        });
    }

    alive() {
        if (this.trap())
            throw new BloomeryError(
                `the instance has stopped (${this.trap().message}): load() makes ` +
                "another one", -1001, "TRAP");
        if (this.watch?.inside)
            throw new BloomeryError("a progress callback cannot use the library " +
                "within a call of it: do that after the call", -1003, "BUSY");
        return this;
    }

    // Calls a function of the module that reports its progress. f is its filter, or 0
    // if it makes one.
    watched(report, f, call) {
        if (report === undefined)
            return call();
        const watch = new Watch(report);
        if (this.c.watch === undefined)
            throw wrong("the module with \"sets\" only reports no progress for " +
                        "this call: load(\"all\")");
        this.watch = watch;
        let out;
        try {
            this.c.watch(f, 1);
            out = call();
        } catch (error) {
            throw watch.raised === undefined ? error : watch.raised[0];
        } finally {
            this.watch = undefined;
            if (!this.trap())
                this.c.watch(f, 0);
        }
        if (watch.raised === undefined)
            return out;
        if (out instanceof Filter)
            out.free();                 // the callback threw after the last report
        throw watch.raised[0];
    }

    // Returns the memory. Its buffer is replaced when it grows.
    bytes() {
        return this.u8.length > 0 ? this.u8
            : this.u8 = new Uint8Array(this.memory.buffer);
    }

    // Returns a view of n elements of the memory, valid until the next call.
    view(Type, at, n) {
        return new Type(this.memory.buffer, at, n);
    }

    number(i = 0) {
        return this.view(BigUint64Array, this.numbers, i + 1)[i];
    }

    text(at) {
        const u8 = this.bytes();
        return decoder.decode(u8.subarray(at, u8.indexOf(0, at)));
    }

    check(status) {
        if (status >= 0)
            return status;
        throw new BloomeryError(this.text(this.c.why()), status,
                                this.text(this.c.status(status)));
    }

    // Parses a JSON result. Numbers that are not exact in JavaScript are texts.
    told(at) {
        if (at === 0)
            throw this.c.done() < 0 ? this.failure(this.c.done())
                : this.failure(-1);
        return JSON.parse(this.text(at));
    }

    failure(status) {
        try {
            this.check(status);
        } catch (error) {
            return error;
        }
    }

    noMemory() {
        return new BloomeryError("the module is out of memory", -1,
                                 "ENOMEM");
    }

    take(bytes) {
        const at = bytes <= 0xFFFFFFFF ? this.c.take(bytes) >>> 0 : 0;
        if (at === 0)
            throw this.noMemory();
        return at;
    }

    // Calls work(address, length) with a copy of the bytes in the memory.
    lent(bytes, work) {
        const n = lengthOf.call(bytes);
        const at = this.take(n);
        try {
            if (n > 0)
                this.bytes().set(part(bytes, 0, n), at);
            return work(at, n);
        } finally {
            if (!this.trap())
                this.c.give(at);
        }
    }

    // Calls work(...addresses) with copies of texts, which end in a zero byte, and of
    // secrets. The address of an undefined one is 0.
    texts(some, work) {
        const [first, ...rest] = some;
        if (some.length === 0)
            return work();
        const go = (at) => this.texts(rest, (...more) => work(at, ...more));
        if (first === undefined || first === null)
            return go(0);
        if (first instanceof Secret)
            return this.lent(first.bytes, go);
        if (typeof first !== "string")
            throw wrong(`a text is required, not ${described(first)}`);
        if (first.includes("\0"))
            throw wrong("a name cannot contain a zero byte");
        return this.lent(encoder.encode(`${first}\0`), go);
    }

    // ---- One key ----

    // Writes the key's bytes to the room and returns their number, or -1 if they do
    // not fit: see `withKey`.
    encode(key) {
        if (typeof key === "string") {
            const n = key.length;
            if (n > SHORT)
                return this.encodeText(key);
            const u8 = this.bytes(), at = this.at;
            for (let i = 0; i < n; i++) {
                const c = key.charCodeAt(i);
                if (c >= 0x80)
                    return this.encodeText(key);
                u8[at + i] = c;
            }
            return n;
        }
        if (typeof key === "number") {
            this.c.real(this.at, key);
            return 8;
        }
        if (typeof key === "bigint") {
            this.c.integer(this.at, inRange(key));
            return 8;
        }
        const bytes = keyBytes(key);
        const n = lengthOf.call(bytes);
        if (n > this.room)
            return -1;
        const u8 = this.bytes(), at = this.at;
        if (n > SHORT)
            u8.set(part(bytes, 0, n), at);
        else
            for (let i = 0; i < n; i++)
                u8[at + i] = bytes[i];
        return n;
    }

    encodeText(key) {
        refuseLone(key);
        if (3 * key.length > this.room)
            return -1;
        const to = this.bytes().subarray(this.at, this.at + this.room);
        return encoder.encodeInto(key, to).written;
    }

    // Returns the key that a form makes of a value: the value itself if the form does
    // not change its bytes.
    formed(key, form, i) {
        if (form === 0 || (form === TEXT && typeof key === "string") ||
            (form === NUMBER && typeof key === "number"))
            return key;
        refuseOther(form, classOf(key, i), i);
        if (isPlain(form))
            return key;
        if (this.c.form_key === undefined)
            throw wrong("the form of this filter changes its keys, and the module " +
                        "with \"sets\" only cannot do that: load(\"all\")");
        let type = 4, at = this.at;
        const changed = (at, n) => {
            const to = this.c.form_key(form, type, at, n) >>> 0;
            if (to === 0)
                throw this.failure(this.c.done());
            const bytes = this.bytes().slice(to, to + Number(this.number()));
            this.c.give(to);
            return bytes;
        };
        if (typeof key === "number") {
            new DataView(this.memory.buffer).setFloat64(at, key, true);
            return changed(at, 0);
        }
        if (typeof key === "bigint") {
            type = 3;
            new DataView(this.memory.buffer).setBigInt64(at, inRange(key), true);
            return changed(at, 0);
        }
        type = typeof key === "string" ? 1 : 2;
        if (type === 1)
            refuseLone(key, i);
        return this.lent(type === 1 ? encoder.encode(key) : plainBytes(key), changed);
    }

    // Returns the number of the form that a text names, or undefined for undefined.
    form(text) {
        return text === undefined ? undefined : this.texts([text], (at) => {
            if (at === 0)
                throw wrong("keys must be a text, such as \"text\", not null");
            this.check(this.c.form_read(at));
            return Number(this.number());
        });
    }

    // Calls work(address, length) with a key of any length.
    withKey(key, work) {
        this.alive();
        const n = this.encode(key);
        return n >= 0 ? work(this.at, n)
            : this.lent(typeof key === "string" ? encoder.encode(key)
                                                : keyBytes(key), work);
    }

    // ---- Many keys ----

    // Sets the keys, some thousand at a time, and calls visit(n, first) for each part.
    // formOf returns the form for the class of the first key.
    each(keys, visit, formOf) {
        this.alive();
        const type = ArrayBuffer.isView(keys) ? typeOf.call(keys) : undefined;
        if (type !== undefined && type !== "Uint8Array" && NUMBERS[type])
            return this.eachFixed(keys, NUMBER, formOf, visit) ??
                this.eachNumber(keys, type, visit);
        if (typeof keys === "string")
            throw wrong("a text is one key: put it into an array");
        if (listed(keys))
            return this.eachOf(keys, visit, formOf);
        const row = keys instanceof Row ? keys : new Row(keys);
        return this.eachFixed(row, BYTES, formOf, visit) ??
            this.eachRow(row, visit);
    }

    // Adds keys of one class one by one if the form changes them. Returns undefined if
    // their bytes can be used as they are.
    eachFixed(keys, given, formOf, visit) {
        const form = formOf(given);
        if (form === 0)
            return undefined;
        refuseOther(form, given);
        return isPlain(form) ? undefined : this.eachOf(keys, visit, formOf);
    }

    eachNumber(keys, type, visit) {
        const [code, size] = NUMBERS[type];
        const from = bytewise(keys);
        const n = lengthOf.call(from) / size;
        for (let i = 0; i < n; i += this.most) {
            const some = Math.min(this.most, n - i);
            this.bytes().set(part(from, i * size, (i + some) * size), this.at);
            const good = this.c.keys_numbers(code, some);
            if (good > 0)
                visit(good, i);
            if (good < some)
                throw wrong(`number ${i + good} is 2^63 or more, not an integer of ` +
                            "64 bits with a sign: give { bytes, width: 8 }");
        }
        return n;
    }

    // Sets rows of equal width, or keys with offsets as in Arrow.
    eachRow({ from, width, offsets }, visit) {
        if (offsets !== undefined)
            return this.eachEnd(from, offsets, visit);
        if (!Number.isInteger(width) || width < 1)
            throw wrong("a row of keys has a width of 1 byte or more");
        const all = lengthOf.call(from);
        if (all % width !== 0)
            throw wrong(`${all} bytes are not a row of keys of ${width} bytes`);
        const n = all / width;
        const step = Math.min(this.most, Math.floor(this.room / width));
        for (let i = 0; i < n; i += Math.max(step, 1)) {
            const some = Math.min(Math.max(step, 1), n - i);
            const row = part(from, i * width, (i + some) * width);
            if (step === 0) {
                this.lent(row, (at) => {
                    this.c.keys_width(1, at, width);
                    visit(1, i);
                });
                continue;
            }
            this.bytes().set(row, this.at);
            this.c.keys_width(some, this.at, width);
            visit(some, i);
        }
        return n;
    }

    eachEnd(from, offsets, visit) {
        const type = ArrayBuffer.isView(offsets) ? typeOf.call(offsets) : "";
        if (type !== "Uint32Array" && type !== "Int32Array")
            throw wrong("the offsets of keys must be a Uint32Array or an Int32Array");
        const ends = new Uint32Array(bytewise(offsets).slice().buffer);
        const n = Math.max(ends.length - 1, 0);
        for (let i = 0; i < n; i++)
            if (ends[i] > ends[i + 1])
                throw wrong(`the offsets of keys decrease at number ${i + 1}`);
        if (n > 0 && ends[n] > lengthOf.call(from))
            throw wrong("the last key ends after the bytes");
        const list = new List(this, visit);
        for (let i = 0; i < n; i++)
            list.add(part(from, ends[i], ends[i + 1]));
        list.end();
        this.stage = list.stage;
        return n;
    }

    // Sets the keys of any iterable.
    eachOf(keys, visit, formOf) {
        const list = new List(this, visit, formOf);
        for (const key of keys)
            list.add(key);
        list.end();
        this.stage = list.stage;
        return list.first;
    }

    // Keeps all keys in the memory, for a build. An iterable is read to its end
    // first, because its code may build filters as well.
    keep(keys, formOf, watch) {
        const list = listed(keys);
        const all = list ? Array.from(keys, copied)
            : typeof keys !== "object" || ArrayBuffer.isView(keys) ? keys
                : new Row(keys);
        const ends = list || all?.offsets !== undefined;
        this.alive();
        this.c.forget();
        return this.each(all, (n) => {
            if (!this.c.keep(ends))
                throw this.noMemory();
            watch.step(n, false);
        }, formOf);
    }
}

// Returns a copy of a key of bytes, or another key itself: a generator may write the
// next key into the same bytes.
function copied(key) {
    const bytes = plainBytes(key);
    return bytes === undefined ? key : new Uint8Array(bytes);
}

// Holds the members of { bytes, width } or { bytes, offsets }, each read once.
class Row {
    constructor(keys) {
        ({ bytes: this.from, width: this.width, offsets: this.offsets } = keys ?? {});
        this.from = viewed(this.from);
        if (this.from === undefined)
            throw wrong("many keys are an array, an array of numbers, { bytes, " +
                        `width } or { bytes, offsets }, and not ${described(keys)}`);
    }
}

// Memory outside the module for the keys of a List.
class Stage {
    constructor({ room, most }) {
        this.reals = new Float64Array(most);
        this.bytes = new Uint8Array(this.reals.buffer, 0, room);
        this.ends = new Uint32Array(most + 1);
    }
}

// Collects some thousand keys and their ends. They are collected outside the module's
// memory, because the code that yields them may call the module, which then writes to
// that memory, grows it, or frees the filter. After the keys are copied there, none of
// the caller's code runs until they are used.
class List {
    constructor(core, visit, formOf = () => 0) {
        this.core = core;
        this.visit = visit;
        this.formOf = formOf;
        this.stage = core.stage ?? new Stage(core);
        core.stage = undefined;
        this.first = this.n = this.used = 0;
        this.given = this.form = 0;     // class of the first key, and the form
        this.direct = false;            // whether texts are used unchanged
        this.numbers = false;           // whether all keys so far are numbers
    }

    begin(key) {
        this.given = classOf(key, this.first);
        this.form = this.formOf(this.given);
        this.numbers = typeof key === "number" &&
            (this.form === 0 || this.form === NUMBER);
        this.direct = !this.numbers && (this.form === 0 || this.form === TEXT);
    }

    add(key) {
        if (this.n === this.core.most)
            this.end();
        if (this.n === 0)
            this.begin(key);
        if (this.direct && typeof key === "string")
            this.text(key);
        else if (this.numbers && typeof key === "number")
            this.stage.reals[this.n++] = key;
        else
            this.other(key);
    }

    text(key) {
        const n = key.length;
        if (!this.fits(3 * n, key))
            return;
        const { bytes } = this.stage, at = this.used;
        let i = 0;
        if (n <= SHORT)
            for (; i < n; i++) {
                const c = key.charCodeAt(i);
                if (c >= 0x80)
                    break;
                bytes[at + i] = c;
            }
        if (i < n) {
            refuseLone(key, this.first + this.n);
            i = encoder.encodeInto(key, part(bytes, at, at + 3 * n)).written;
        }
        this.stage.ends[++this.n] = this.used = at + i;
    }

    // Makes room for a key of at most so many bytes. Returns false for a key that is
    // larger than the whole room: it was used at once.
    fits(most, key) {
        const { core } = this;
        if (this.used + most <= core.room)
            return true;
        this.end();
        if (most <= core.room) {
            this.begin(key);
            this.mix();
            return true;
        }
        const bytes = typeof key === "string"
            ? (refuseLone(key, this.first), encoder.encode(key)) : keyBytes(key);
        core.alive();
        core.lent(bytes, (at, n) => {
            core.c.keys_width(1, at, n);
            this.visit(1, this.first);
        });
        this.first++;
        return false;
    }

    other(key) {
        this.mix();
        key = this.core.formed(key, this.form, this.first + this.n);
        if (typeof key === "string")
            return this.text(key);
        if (typeof key === "number" || typeof key === "bigint")
            return this.number(key);
        const bytes = plainBytes(key);
        if (bytes === undefined)
            throw noKey(key, this.first + this.n);
        const n = lengthOf.call(bytes);
        if (!this.fits(n, key))
            return;
        const to = this.stage.bytes, at = this.used;
        if (n > SHORT)
            to.set(part(bytes, 0, n), at);
        else
            for (let i = 0; i < n; i++)
                to[at + i] = bytes[i];
        this.stage.ends[++this.n] = this.used = at + n;
    }

    number(key) {
        if (!this.fits(8, key))
            return;
        const { core, stage } = this;
        core.encode(key);
        const u8 = core.bytes();
        for (let i = 0; i < 8; i++)
            stage.bytes[this.used + i] = u8[core.at + i];
        stage.ends[++this.n] = this.used += 8;
    }

    // Turns the numbers collected so far into keys of bytes, so that keys of other
    // types can follow.
    mix() {
        if (!this.numbers)
            return;
        const some = this.stage.reals.slice(0, this.n);
        this.numbers = false;
        this.direct = this.form === 0;
        this.n = this.used = 0;
        for (const key of some)
            this.number(key);
    }

    end() {
        const { core, n, first } = this;
        core.alive();
        if (n > 0) {
            if (this.formOf(this.given) !== this.form)
                throw wrong("the filter got keys of another class while these were " +
                            "read: collect them in an array first");
            this.set();
            this.n = this.used = 0;
            this.first += n;
            this.visit(n, first);
        }
    }

    // Sets the keys for the next call.
    set() {
        const { core, n } = this, { reals, bytes, ends } = this.stage;
        if (this.numbers) {
            core.view(Float64Array, core.at, n).set(reals.subarray(0, n));
            core.c.keys_numbers(NUMBERS.Float64Array[0], n);
        } else {
            core.bytes().set(part(bytes, 0, this.used), core.at);
            core.view(Uint32Array, core.offsets, n + 1).set(ends.subarray(0, n + 1));
            core.c.keys_offsets(n, core.at);
        }
    }
}

function refuseLone(key, i) {
    if (LONE.test(key))
        throw wrong((i === undefined ? "the text" : `key ${i}`) +
                    " has half a surrogate, which is not a character: give bytes");
}

function inRange(key) {
    if (BigInt.asIntN(64, key) !== key)
        throw wrong(`${key} is not an integer of 64 bits with a sign: give it as text ` +
                    "or bytes");
    return key;
}

function noKey(key, i) {
    return wrongKey((i === undefined ? "a key" : `key ${i}`) +
                 " must be text, bytes, a number or a bigint, not " +
                 described(key));
}

// Forms that only state a class, and the class of each form.
const TEXT = 2, BYTES = 1, NUMBER = 3;
const CLASSES = [0, BYTES, TEXT, NUMBER, NUMBER, NUMBER, NUMBER, NUMBER, TEXT, BYTES,
    TEXT, TEXT, TEXT];
const HELD = ["", "bytes", "text", "numbers"];
const GIVEN = ["", "bytes", "text", "a number"];

// Returns how to convert a key of the class `given` to the class `held`.
function conversion(form, held, given) {
    if (held === TEXT)
        return given === BYTES ? "give new TextDecoder().decode(key)"
                               : "give String(key)";
    if (held === NUMBER)
        return given === BYTES ? "give a number" : "give Number(key)";
    return (form & 15) === 9 && given === TEXT
        ? 'give the bytes of its digits, as Buffer.from(key, "hex")'
        : "give bytes, as new TextEncoder().encode(key)";
}

const isPlain = (form) => form < 4 || form === 9;

function classOf(key, i) {
    if (typeof key === "string")
        return TEXT;
    if (typeof key === "number" || typeof key === "bigint")
        return NUMBER;
    if (plainBytes(key) === undefined)
        throw noKey(key, i);
    return BYTES;
}

// Refuses a key of another class than the form's, in the same words as the library.
function refuseOther(form, given, i) {
    const held = CLASSES[form & 15];
    if (given !== held)
        throw wrongKey(`the filter's keys are ${HELD[held]}, and ${
            i === undefined ? "this one" : `key ${i}`} is ${GIVEN[given]}: ${
            conversion(form, held, given)}, or make it with keys: "any"`);
}

// Returns the bytes of a value that is bytes, else undefined.
function plainBytes(key) {
    return typeof key === "object" && key !== null ? viewed(key) : undefined;
}

function keyBytes(key) {
    const bytes = plainBytes(key);
    if (bytes === undefined)
        throw noKey(key);
    return bytes;
}

// ---- Numbers ----------------------------------------------------------------------

// Inexact numbers arrive as text; the largest one means "no bound".
const LARGEST = (1n << 64n) - 1n;
const whole = (text) => typeof text === "string" ? BigInt(text) : text;
const bounded = (n) => n > BigInt(Number.MAX_SAFE_INTEGER) ? Infinity : Number(n);

// Returns a whole number from 0 to 2^64 - 1 as a bigint; 0 for undefined.
function natural(value, name) {
    if (value === undefined)
        return 0n;
    const good = typeof value === "bigint" ||
        (typeof value === "number" && Number.isInteger(value));
    const n = good ? BigInt(value) : -1n;
    if (n < 0n || n > LARGEST)
        throw wrong(`${name} must be a whole number from 0 to 2^64 - 1, not ` +
                    (typeof value === "number" || typeof value === "bigint"
                        ? value : described(value)));
    return n;
}

// Fields that become bigints if a number would not be exact; others are rounded.
const EXACT = new Set(["seed", "mark", "labelLeast", "labelMost", "label"]);
const TEXTS = new Set(["kind", "hash", "keys"]);

const camel = (name) => name.replace(/_(.)/g, (_, letter) => letter.toUpperCase());

// Converts the fields that the library lists to names and values of JavaScript.
// Fields that do not apply are missing.
function record(told) {
    return Object.fromEntries(Object.entries(told).map(([field, value]) => {
        const name = camel(field);
        if (name === "geometry")
            return [name, value.map(whole)];
        if (name === "labels")
            return [name, value.map(record)];
        if (typeof value !== "string" || TEXTS.has(name))
            return [name, value];
        return [name, EXACT.has(name) ? BigInt(value) : Number(value)];
    }));
}

// ---- Loading ----------------------------------------------------------------------

const VERSION = "0.9.0";
let current;                    // the Core for new filters
let loading;                    // the last call of load()

function core() {
    if (current === undefined)
        throw new BloomeryError("the library is not loaded yet: await load() first",
                                -1002, "UNLOADED");
    return current.alive();
}

// Where load() finds its modules. Bundlers that know this pattern copy the files.
// entries.mjs replaces this part in entries that have the modules inside.
const STANDARD = "all";
const MODULES = {
    all: () => fetched(new URL("./bloomery.wasm", import.meta.url)),
    sets: () => fetched(new URL("./sets.wasm", import.meta.url)),
};
// The end of the replaced part.

// Returns the bytes of a module, or a Response with them. In Node, a text without a
// scheme is a path, as in node:fs; elsewhere fetch resolves it.
async function fetched(source) {
    const scheme = /^([a-z][a-z\d+.-]+:)/i.exec(source)?.[0].toLowerCase();
    if (typeof globalThis.process?.versions?.node !== "string" ||
        (scheme !== undefined && scheme !== "file:"))
        return fetch(source);
    const name = "node:fs/promises";
    const { readFile } = await import(/* webpackIgnore: true */ /* @vite-ignore */ name);
    return readFile(scheme === undefined ? source : new URL(source));
}

// Returns the bytes of a Response. compileStreaming() would need the content type
// application/wasm, which some servers do not know.
async function received(response) {
    if (!response.ok)
        throw wrong(`${response.url}: ${response.status} ${response.statusText}`.trim());
    return response.arrayBuffer();
}

const isResponse = (source) =>
    typeof Response === "function" && source instanceof Response;

// Returns the bytes of a module of this package. Some servers answer a wrong URL with
// a page, so the first bytes are checked.
async function ours(name) {
    if (MODULES[name] === undefined)
        throw wrong("this entry contains the module with \"sets\" only: import from " +
                    "\"bloomery/inline\"");
    try {
        const made = await MODULES[name]();
        const bytes = isResponse(made) ? await received(made) : made;
        if (new Uint8Array(bytes).subarray(0, 4).join() !== "0,97,115,109")
            throw wrong(`${made.url} is not WebAssembly`);
        return bytes;
    } catch (cause) {
        const file = name === "all" ? "bloomery.wasm" : "sets.wasm";
        throw Object.assign(new BloomeryError(
            `cannot read ${file} beside the program (${
                cause.message.split("\n")[0]}): import from "bloomery/inline", or ` +
            "copy the file and give load() its URL or bytes", -1004, "MISSING"),
            { cause });
    }
}

async function compiled(source) {
    if (source instanceof WebAssembly.Module)
        return source;
    if (source === "all" || source === "sets")
        source = await ours(source);
    else if (source instanceof URL || typeof source === "string")
        source = await fetched(source);
    source = await source;
    if (isResponse(source))
        source = await received(source);
    if (!ArrayBuffer.isView(source) && !isBuffer(source))
        throw wrong("a module is \"all\", \"sets\", a URL, bytes, a Response or a " +
                    `WebAssembly.Module, not ${described(source)}`);
    return WebAssembly.compile(source);
}

async function instantiated(source) {
    const module = await compiled(source);
    if (!WebAssembly.Module.exports(module).some(({ name }) => name === "keys_width"))
        throw wrong("the source is not a module of Bloomery");
    const made = await Core.of(module);
    const version = made.text(made.c.version());
    if (version !== VERSION)
        throw wrong(`the module is version ${version}, and the JavaScript is ${VERSION}: ` +
                    "is one of them from a cache?");
    return made;
}

/** Loads the module: with "all" kinds, with "sets" only, or from a URL, bytes, a
 * Response or a WebAssembly.Module. Does nothing if it was the last one loaded. */
export async function load(source = STANDARD) {
    if (loading === undefined || loading.source !== source ||
        loading.core?.trap()) {
        const mine = { source, order: (loading?.order ?? 0) + 1 };
        const before = loading;
        loading = mine;
        mine.done = instantiated(source).then((made) => {
            mine.core = made;
            // If two are loaded at the same time, the later call counts.
            if ((current?.order ?? 0) < mine.order) {
                made.order = mine.order;
                current = made;
            }
        });
        mine.done.catch(() => {
            if (loading === mine)
                loading = before;
        });
    }
    await loading.done;
}

/** Returns all kinds. */
export function kinds() {
    const { c } = core();
    return current.told(c.kinds());
}

/** Returns the version of the library. */
export function version() {
    return core().text(core().c.version());
}

/** Returns the bytes of the module's memory. It never shrinks; freed memory is used
 * again. */
export function memory() {
    return core().memory.buffer.byteLength;
}

// ---- Filters ----------------------------------------------------------------------

const SPEC = ["items", "rate", "seed", "hash", "secret"];

// Sets the spec, and returns the values of `more` options.
function spec(kind, options, ...more) {
    if (typeof kind !== "string")
        throw wrong(`a kind must be a text, not ${described(kind)}`);
    const { items, rate, seed, hash, secret, ...others } =
        wanted(options, ...SPEC, ...more);
    // The library takes 0 for its default.
    if (rate !== undefined && (typeof rate !== "number" || rate === 0))
        throw wrong(`rate must be a number between 0 and 1, not ${
            rate === 0 ? rate : described(rate)}`);
    return { capacity: natural(items, "items"), rate: rate ?? 0,
             seed: natural(seed, "seed"), texts: [kind, hash, hidden(secret)],
             others };
}

// Sets the spec for the next call, and calls work(address of the kind's name).
function specified(k, want, work) {
    k.alive();
    return k.texts(want.texts, (name, by, key) => {
        k.c.spec(want.capacity, want.rate, want.seed, by, key);
        return work(name);
    });
}

// Returns the options, each read once. Refuses an option that is not in `names`.
function wanted(options, ...names) {
    if (options === undefined)
        return {};
    if (typeof options !== "object" || options === null)
        throw wrong(`options must be an object, not ${described(options)}`);
    for (const name of Object.keys(options))
        if (!names.includes(name))
            throw wrong(`unknown option ${JSON.stringify(name.slice(0, 40))}; ` +
                        `the options are ${names.join(", ")}`);
    return Object.fromEntries(names.map((name) => [name, options[name]]));
}

function hidden(secret) {
    if (secret === undefined)
        return undefined;
    const bytes = plainBytes(secret);
    if (bytes === undefined || lengthOf.call(bytes) !== 16)
        throw new BloomeryError("a secret must be 16 bytes", -19, "ESECRET");
    return new Secret(new Uint8Array(bytes));
}

// Returns one label per key, as 64-bit numbers.
function labelled(labels) {
    if (typeOf.call(labels) === "BigUint64Array")
        return new BigUint64Array(lengthOf.call(labels) > 0 ? labels : 0);
    const array = ArrayBuffer.isView(labels) && typeOf.call(labels) !== undefined;
    if (!array && !listed(labels))
        throw wrong(`labels must be an array of numbers, not ${described(labels)}`);
    return BigUint64Array.from([...labels], (v) => natural(v ?? null, "a label"));
}

function counted(labels, n) {
    if (labels.length !== n)
        throw wrong(`${n} keys need ${n} labels, not ${labels.length}`);
}

// Returns bytes as base64. btoa takes a string of bytes, which is made in parts: a
// call has a limit on its arguments.
function base64Of(bytes) {
    const PART = 3 << 12;               // a multiple of 3: no padding inside
    const parts = [];
    for (let i = 0; i < bytes.length; i += PART)
        parts.push(btoa(String.fromCharCode(...bytes.subarray(i, i + PART))));
    return parts.join("");
}

function bytesIn(base64) {
    let text;
    try {
        text = atob(base64);
    } catch {
        throw new BloomeryError("base64 of a filter has a wrong character or length: " +
                                "was the text cut off?", -7, "EFORMAT");
    }
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++)
        bytes[i] = text.charCodeAt(i);
    return bytes;
}

let hand;                       // the filter for a constructor called below

const AIMS = ["balance", "fast", "small"];

// Returns the flags of abilities from their words.
function abilities(k, words) {
    if (!Array.isArray(words))
        throw wrong(`can must be an array of words, not ${described(words)}`);
    const all = [];
    for (let i = 0, at; (at = k.c.ability(i)) !== 0; i++)
        all.push(k.text(at));
    return [...words].reduce((flags, word) => {
        const bit = all.indexOf(word);
        if (bit < 0)
            throw wrong(`unknown ability ${typeof word === "string"
                ? `'${word}'` : described(word)}; the abilities are ${all.join(", ")}`);
        return flags | 1n << BigInt(bit);
    }, 0n);
}

/** Ranks all kinds for a need; the first is the advice. */
export function advise(need) {
    const k = core();
    if (k.c.advise === undefined)
        throw wrong("the module with \"sets\" only cannot advise: load(\"all\")");
    const { items, rate, present = 0, can = [], fixed = false, unknown = false,
            aim = "balance", memory } =
        wanted(need, "items", "rate", "present", "can", "fixed", "unknown", "aim",
               "memory");
    if (!AIMS.includes(aim))
        throw wrong(`aim must be balance, fast or small, not ${
            typeof aim === "string" ? aim : described(aim)}`);
    if (typeof present !== "number")
        throw wrong(`present must be a number, not ${described(present)}`);
    const flags = abilities(k, can), most = natural(memory, "memory");
    return specified(k, spec("", { items, rate }), () =>
        k.told(k.c.advise(present, flags, fixed ? 1 : 0, unknown ? 1 : 0,
                          AIMS.indexOf(aim), most))
            .map((row) => row.fits ? { ...row, plan: record(row.plan) } : row));
}

// Structured clone copies a filter's own fields only, and would silently make {} of
// it. It refuses symbols, and the engine's error shows this one's description.
const UNCLONEABLE = Symbol(
    "a Filter: send filter.transfer() and call Filter.fromBytes() there");

const MARK = "bloomery.Filter";         // the `type` of a filter in JSON

export class Filter {
    #core;
    #f = 0;
    #form = 0;
    #settled = false;           // whether the form is final
    #first;                     // the form of the first key, while it is being added
    notCloneable = UNCLONEABLE;

    constructor(kind = undefined, options = undefined) {
        if (hand !== undefined) {
            this.#hold(...hand);
            return;
        }
        const k = core();
        const want = spec(kind ?? (options?.items ? "standard" : "expandable"),
                          options, "keys");
        const form = k.form(want.others.keys);
        specified(k, want, (name) => {
            k.check(k.c.new(name));
            this.#hold(k, k.c.made());
        });
        this.#state(form);
    }

    // Sets the form that the caller stated, if any.
    #state(form) {
        if (form === undefined)
            return this;
        this.#core.check(this.#core.c.form_set(this.#f, form));
        this.#form = form;
        this.#settled = true;
        return this;
    }

    // Makes another filter accept keys of all classes if this one does.
    #also(other) {
        other.#settled = this.#settled;
        return other;
    }

    #isEmpty() {
        return this.#k.told(this.#core.c.info(this.#f)).items === 0;
    }

    // Returns the form for a key that is being added. If the filter is empty, that is
    // the key's class, which #adding states after the key was added.
    #formFor(given) {
        if (this.#form !== 0 || this.#settled)
            return this.#form;
        if (this.#first !== undefined)
            return this.#first;
        if (this.#isEmpty() && !this.#isForeign()) {
            this.#first = given;
            return given;
        }
        this.#settled = true;
        return 0;
    }

    // Calls a function that adds keys, and states the form of the first one.
    #adding(call) {
        try {
            return call();
        } finally {
            const first = this.#first;
            this.#first = undefined;
            if (first !== undefined && !this.#core.trap() && !this.#isEmpty() &&
                this.#core.c.form_set(this.#f, first) >= 0)
                this.#form = first;
        }
    }

    #hold(k, f) {
        hand = undefined;
        this.#core = k;
        this.#f = f;
        this.#form = k.c.form_of(f);
        k.gone.register(this, f, this);
    }

    // Returns the filter that the last call of the library made.
    static #made(k, status) {
        k.check(status);
        hand = [k, k.c.made()];
        return new Filter();
    }

    // Returns the instance, unless the filter was freed.
    get #k() {
        if (this.#f === 0)
            throw new BloomeryError(FREED, -1000, "FREED");
        return this.#core.alive();
    }

    static build(kind, keys, options = undefined) {
        const k = core();
        const want = spec(kind, options, "labels", "keys", "progress");
        const { labels, keys: named, progress } = want.others;
        const watch = new Watch(progress, keys);
        let form = k.form(named);
        const formOf = (given) => form ??= given;
        const given = labels === undefined ? undefined : labelled(labels);
        try {
            const n = k.keep(keys, formOf, watch);
            if (given !== undefined)
                counted(given, n);
            const build = () => specified(k, want, (name) => given === undefined
                ? Filter.#made(k, k.c.build(name, 0, form ?? 0))
                : k.lent(bytewise(given), (at) => Filter.#made(k,
                    k.c.build(name, at, form ?? 0))));
            const out = k.watched(progress, 0, build);
            if (named === undefined && out.#isForeign())
                return out;
            return out.#state(form);
        } finally {
            if (!k.trap())
                k.c.forget();
        }
    }

    static fromBytes(bytes, options = undefined) {
        const k = core();
        const { secret, format, memoryLimit, progress } =
            wanted(options, "secret", "format", "memoryLimit", "progress");
        const limit = natural(memoryLimit, "memoryLimit");
        const image = plainBytes(bytes);
        if (image === undefined)
            throw wrong(`fromBytes() needs the bytes of a filter, not ${
                described(bytes)}`);
        if (lengthOf.call(image) === 0)
            throw new BloomeryError("there are no bytes: the file is empty, or the " +
                "buffer was transferred to a worker", -7, "EFORMAT");
        const unpack = () => k.texts([hidden(secret), format], (key, name) =>
            k.lent(image, (at, n) => {
                k.c.options(key, name, limit);
                return Filter.#made(k, k.c.unpack(at, n));
            }));
        return k.alive().watched(progress, 0, unpack);
    }

    static plan(kind, options = undefined) {
        const k = core(), want = spec(kind, options, "grown");
        const grown = natural(want.others.grown, "grown");
        return specified(k, want, (name) => record(k.told(k.c.plan(name, grown))));
    }

    free() {
        if (this.#f === 0)
            return;
        if (!this.#core.trap())
            this.#core.alive();
        const f = this.#f;
        this.#f = 0;
        this.#core.gone.unregister(this);
        if (!this.#core.trap())
            this.#core.c.free(f);
    }

    // Returns whether the kind is another system's, whose files state no form.
    #isForeign() {
        const { kind } = this;
        return kinds().some(({ name, family }) => name === kind &&
                            family === "foreign");
    }

    stateKeys(keys) {
        const k = this.#k;
        this.#state(k.form(keys));
    }

    // ---- One key ----

    contains(key) {
        const k = this.#k;
        key = k.formed(key, this.#form);
        const n = k.encode(key);
        if (n >= 0)
            return k.c.contains(this.#f, k.at, n) === 1;
        return k.withKey(key, (at, long) => k.c.contains(this.#f, at, long) === 1);
    }

    add(key) {
        const k = this.#k;
        key = k.formed(key, this.#form || this.#formFor(classOf(key)));
        const put = () => k.withKey(key, (at, n) =>
            k.check(k.c.add(this.#f, at, n)) !== 1);
        return this.#first === undefined ? put() : this.#adding(put);
    }

    remove(key) {
        const k = this.#k;
        key = k.formed(key, this.#form);
        k.withKey(key, (at, n) => k.check(k.c.remove(this.#f, at, n)));
    }

    discard(key) {
        try {
            this.remove(key);
        } catch (error) {
            if (error instanceof BloomeryError && error.code === "EABSENT")
                return false;
            throw error;
        }
        return true;
    }

    count(key) {
        const k = this.#k;
        key = k.formed(key, this.#form);
        return k.withKey(key, (at, n) => {
            k.c.count(this.#f, at, n);
            return bounded(k.number());
        });
    }

    put(key, label) {
        const k = this.#k;
        const value = natural(label ?? null, "a label");
        key = k.formed(key, this.#form || this.#formFor(classOf(key)));
        this.#adding(() => k.withKey(key, (at, n) => {
            k.check(k.c.put(this.#f, at, n, value));
        }));
    }

    get(key) {
        const k = this.#k;
        key = k.formed(key, this.#form);
        return k.withKey(key, (at, n) => {
            if (k.c.get(this.#f, at, n) !== 1)
                return this.#labels();
            const label = k.number();
            return label <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(label) : label;
        });
    }

    // Refuses a filter of a kind without labels.
    #labels() {
        if (this.#k.c.labelled(this.#f) === 0)
            throw new BloomeryError(`kind ${this.kind} stores no labels: ` +
                "build one that does with Filter.build(\"bloomier\", keys, { labels })",
                -15, "EUNSUPPORTED");
    }

    hash(key) {
        const k = this.#k;
        key = k.formed(key, this.#form);
        return k.withKey(key, (at, n) => {
            k.c.hash(this.#f, at, n);
            return k.number();
        });
    }

    // ---- Many keys ----

    // Sets the keys, and calls verb(core, n, first) for each some thousand.
    #each(keys, options, verb, adding = false) {
        const k = this.#k;
        const { progress } = wanted(options, "progress");
        const watch = new Watch(progress, keys);
        const each = () => k.each(keys, (n, first) => {
            this.#k;                    // throws if an iterator freed the filter
            verb(k, n, first);
            watch.step(n);
        }, adding ? (given) => this.#formFor(given) : () => this.#form);
        return adding ? this.#adding(each) : each();
    }

    addMany(keys, options = undefined) {
        const out = new Rows(Uint8Array, keys);
        this.#each(keys, options, (k, n) => {
            k.check(k.c.add_many(this.#f));
            const seen = k.view(Uint8Array, k.yes, n), added = out.more(n);
            for (let i = 0; i < n; i++)
                added[i] = seen[i] ^ 1;
        }, true);
        return out.done();
    }

    containsMany(keys, options = undefined) {
        const out = new Rows(Uint8Array, keys);
        this.#each(keys, options, (k, n) => {
            k.check(k.c.contains_many(this.#f));
            out.more(n).set(k.view(Uint8Array, k.yes, n));
        });
        return out.done();
    }

    countMany(keys, options = undefined) {
        const out = new Rows(Float64Array, keys);
        this.#each(keys, options, (k, n) => {
            k.check(k.c.count_many(this.#f));
            const counts = k.view(BigUint64Array, k.numbers, n), to = out.more(n);
            for (let i = 0; i < n; i++)
                to[i] = bounded(counts[i]);
        });
        return out.done();
    }

    removeMany(keys, options = undefined) {
        let first;
        this.#each(keys, options, (k) => {
            const status = k.c.remove_many(this.#f);
            if (status === -14 || status === -17)
                first ??= k.failure(status);
            else
                k.check(status);
        });
        if (first !== undefined)
            throw first;
    }

    putMany(keys, labels, options = undefined) {
        const given = labelled(labels);
        const all = listed(keys) ? Array.from(keys, copied) : keys;
        if (Array.isArray(all))
            counted(given, all.length);
        else if (typeOf.call(all) !== undefined)
            counted(given, lengthOf.call(all));
        counted(given, this.#each(all, options, (k, n, first) => {
            const some = given.subarray(first, first + n);
            if (some.length < n)
                throw wrong("there are fewer labels than keys");
            k.view(BigUint64Array, k.labels, n).set(some);
            k.check(k.c.put_many(this.#f));
        }, true));
    }

    getMany(keys, options = undefined) {
        const found = new Rows(Uint8Array, keys);
        const labels = new Rows(BigUint64Array, keys);
        this.#each(keys, options, (k, n) => {
            k.check(k.c.get_many(this.#f));
            found.more(n).set(k.view(Uint8Array, k.yes, n));
            labels.more(n).set(k.view(BigUint64Array, k.numbers, n));
        });
        this.#labels();
        return { found: found.done(), labels: labels.done() };
    }

    // ---- Two filters ----

    #with(other, options, verb) {
        const k = this.#k;
        const { progress } = wanted(options, "progress");
        if (!(typeof other === "object" && other !== null && #f in other))
            throw wrong(`the other one must be a filter of this package, not ${
                described(other)}`);
        if (other.#k !== k)
            throw wrong("the other filter belongs to another instance of the " +
                        "module: use Filter.fromBytes(other.pack())");
        const answer = k.watched(progress, this.#f, () => verb(k, this.#f, other.#f));
        this.#form = k.c.form_of(this.#f);      // the other's, if it had no keys
        return answer;
    }

    unite(other, options = undefined) {
        this.#with(other, options, (k, a, b) => k.check(k.c.unite(a, b)));
        return this;
    }

    intersect(other, options = undefined) {
        this.#with(other, options, (k, a, b) => k.check(k.c.intersect(a, b)));
        return this;
    }

    subtract(other, options = undefined) {
        this.#with(other, options, (k, a, b) => k.check(k.c.subtract(a, b)));
        return this;
    }

    overlap(other, options = undefined) {
        return this.#with(other, options, (k, a, b) => k.told(k.c.overlap(a, b)));
    }

    // ---- The whole ----

    // Calls a function of the module for the whole filter.
    #whole(options, call) {
        const k = this.#k;
        const { progress } = wanted(options, "progress");
        return k.watched(progress, this.#f, () => call(k));
    }

    copy(options = undefined) {
        return this.#also(this.#whole(options, (k) =>
            Filter.#made(k, k.c.copy(this.#f))));
    }

    like() {
        const k = this.#k;
        return this.#also(Filter.#made(k, k.c.like(this.#f)));
    }

    clear() {
        const k = this.#k;
        k.check(k.c.clear(this.#f));
    }

    resize(items, options = undefined) {
        const n = natural(items ?? null, "items");
        this.#whole(options, (k) => k.check(k.c.resize(this.#f, n)));
    }

    fold(times, options = undefined) {
        const n = natural(times ?? null, "times");
        this.#whole(options, (k) => k.check(k.c.fold(this.#f, n)));
    }

    info() {
        const k = this.#k;
        return record(k.told(k.c.info(this.#f)));
    }

    get kind() {
        const k = this.#k;
        return k.text(k.c.kind(this.#f));
    }

    listKeys() {
        const k = this.#k;
        if (k.c.list === undefined)
            throw new BloomeryError(`${this.kind} filters cannot list their keys`,
                                    -15, "EUNSUPPORTED");
        return k.told(k.c.list(this.#f)).map(({ hash, side, key }) => ({
            hash: BigInt(hash), side,
            key: key === undefined ? undefined
                : Uint8Array.from(key.match(/../g) ?? [], (two) =>
                    parseInt(two, 16)),
        }));
    }

    pack(options = undefined) {
        return this.#whole(options, (k) => this.#packed(k));
    }

    #packed(k) {
        const at = k.c.pack(this.#f) >>> 0;
        if (at === 0)
            throw k.failure(k.c.done());
        const out = k.bytes().slice(at, at + Number(k.number()));
        k.c.give(at);
        return out;
    }

    image() {
        const k = this.#k;
        const at = k.c.image(this.#f) >>> 0;
        return k.bytes().slice(at, at + Number(k.number()));
    }

    transfer() {
        const { buffer } = this.image();
        this.free();
        return buffer;
    }

    toJSON() {
        return { type: MARK, kind: this.kind, base64: base64Of(this.pack()) };
    }

    static fromJSON(value, options = undefined) {
        if (typeof value === "string")
            throw wrong("fromJSON() needs a parsed value: " +
                        "Filter.fromJSON(JSON.parse(text))");
        const { type, base64 } = value ?? {};
        if (type !== MARK || typeof base64 !== "string")
            throw wrong("fromJSON() needs { type, kind, base64 } as toJSON() returns " +
                        `it, not ${described(value)}`);
        return Filter.fromBytes(bytesIn(base64), options);
    }

    get [Symbol.toStringTag]() {
        return "Filter";
    }

    // Shows the filter in Node's console.log. Never throws.
    [Symbol.for("nodejs.util.inspect.custom")](depth, options, inspect) {
        try {
            if (this.#f === 0)
                return "Filter (freed)";
            const { kind, keys, items, capacity, rate, bytes } = this.info();
            const shown = inspect({ keys, items, capacity,
                                    rate: Number(rate.toPrecision(3)), bytes },
                                  { ...options, breakLength: Infinity });
            return `Filter (${kind}) ${shown}`;
        } catch (error) {
            return `Filter (${error.message})`;
        }
    }
}

if (typeof Symbol.dispose === "symbol")
    Object.defineProperty(Filter.prototype, Symbol.dispose,
                          { value: Filter.prototype.free, configurable: true,
                            writable: true });

// Collects answers, one per key. The number of keys may not be known at first.
class Rows {
    static MOST = 1 << 24;      // the largest length for which memory is reserved

    constructor(Type, keys) {
        this.Type = Type;
        const n = ArrayBuffer.isView(keys) && typeOf.call(keys) !== undefined
            ? lengthOf.call(keys) : Array.isArray(keys) ? keys.length : 0;
        this.all = new Type(Math.min(n, Rows.MOST) || 0);
        this.used = 0;
    }

    // Returns the place for n more answers.
    more(n) {
        if (this.used + n > this.all.length) {
            const more = new this.Type(Math.max(2 * this.all.length, this.used + n));
            more.set(this.all.subarray(0, this.used));
            this.all = more;
        }
        this.used += n;
        return this.all.subarray(this.used - n, this.used);
    }

    done() {
        return this.used === this.all.length ? this.all
            : this.all.slice(0, this.used);
    }
}
