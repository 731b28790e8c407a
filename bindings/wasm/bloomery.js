// bloomery.js - approximate membership: have I seen this key? "Certainly not", or
// "perhaps".
//
//      import { load, Filter } from "bloomery";
//      await load();
//      const f = new Filter("blocked", { items: 1e6, rate: 0.01 });
//      f.add("swordfish");
//      f.has("swordfish");             // true: no false negatives
//
// The library is WebAssembly, in a memory of its own: bloomery.wasm with all
// kinds, sets.wasm with family "sets" alone. One file for Node 18 and later, for
// browsers and for workers; it imports nothing. bloomery.d.ts describes each
// function.

/** What went wrong: the library's own line, and its status. */
export class BloomeryError extends Error {
    constructor(message, status, code) {
        super(message);
        this.name = "BloomeryError";
        this.status = status;
        this.code = code;
    }
}

// A key that is none, or of another class than the filter's.
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

// Can it be gone through, one thing after another?
function listed(value) {
    return typeof value === "object" && value !== null &&
        !ArrayBuffer.isView(value) && typeof value[Symbol.iterator] === "function";
}

// The types of numbers, in the order of wasm.c, and their bytes.
const NUMBERS = {
    Int8Array: [0, 1], Uint8Array: [1, 1], Int16Array: [2, 2],
    Uint16Array: [3, 2], Int32Array: [4, 4], Uint32Array: [5, 4],
    BigInt64Array: [6, 8], BigUint64Array: [7, 8], Float32Array: [8, 4],
    Float64Array: [9, 8],
};

// Returns the bytes of a view or a buffer, or undefined for another value. A buffer
// that was transferred to a worker has none.
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

// Returns a view of some of the bytes, whose length stays: subarray() would call the
// constructor of the caller's class.
function part(bytes, from, to) {
    return new Uint8Array(bufferOf.call(bytes), offsetOf.call(bytes) + from,
                          to - from);
}

// ---- One instance of the module ---------------------------------------------------

const encoder = new TextEncoder();
const decoder = new TextDecoder();
// With this flag only a half of a pair is one.
const LONE = /\p{Surrogate}/u;
const SHORT = 48;               // letters that are encoded here, without a call

// Stands in for output of the C library, which never prints: "bad file".
const none = () => 8;
const SYSTEM = { fd_close: none, fd_seek: none, fd_write: none };

// Each function of the module, which after a trap is called no more: what it was
// at work on may be half done.
function guarded(exports) {
    const out = {};
    let trap;
    const caught = (error) => {
        trap ??= error;
        return new BloomeryError(
            `the instance stopped within a call (${error.message}) and is used ` +
            "no more: load() makes another one, without its filters", -1001,
            "TRAP");
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
        this.inside = false;            // of the callback, which the module called
        this.raised = undefined;        // what it threw, in an array
    }

    // Is it time to report?
    isDue() {
        return this.report !== undefined && performance.now() >= this.next;
    }

    // Reports. True: the call is cancelled.
    tell(done, total) {
        const cancelled = this.report(done, total);
        this.next = performance.now() + PERIOD;
        return Boolean(cancelled);
    }

    // The module calls this. What the callback throws must not pass through the
    // module, whose call would stop half done.
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

    // Counts n more keys. Reports between two calls of the module.
    step(n, counts = true) {
        this.done += counts ? n : 0;
        if (this.isDue() && this.tell(this.done, this.total))
            throw Object.assign(
                new BloomeryError("the progress callback cancelled the call", -22,
                                  "ECANCELED"), { done: this.done });
    }
}

// A secret: nothing else that is given is taken for one.
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
        this.watch = undefined;         // of a call that reports its progress
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
        this.stage = undefined;         // of the last List, for the next one
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

    // Calls a function of the module, which reports its progress. f: its filter, or
    // 0 where it makes one.
    watched(report, f, call) {
        if (report === undefined)
            return call();
        const watch = new Watch(report);
        if (this.c.watch === undefined)
            throw wrong("the module of the sets alone reports no progress of this " +
                        "call: load() the one with all kinds");
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
            out.free();                 // it was too late to cancel it
        throw watch.raised[0];
    }

    // The memory, which is elsewhere once it has grown.
    bytes() {
        return this.u8.length > 0 ? this.u8
            : this.u8 = new Uint8Array(this.memory.buffer);
    }

    // A view of n elements of the memory, until the next call.
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
        // Messages name functions of C in brackets, to be left out.
        const why = this.text(this.c.why())
            .replace("(bly_options.memory_limit)", "(memoryLimit)")
            .replace(/ \(bly_\w+\)/g, "");
        throw new BloomeryError(why, status, this.text(this.c.status(status)));
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

    // `work` with a copy of the bytes in the memory.
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

    // `work` with the addresses of texts that end in a zero byte, and of secrets; 0
    // for what is not given.
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

    // Write the key's bytes to the room; how many they are. A key that does not
    // fit is -1: see `withKey`.
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

    // The key of a filter of this form; what is encoded as without one stays.
    formed(key, form, i) {
        if (form === 0 || (form === TEXT && typeof key === "string") ||
            (form === NUMBER && typeof key === "number"))
            return key;
        refuseOther(form, classOf(key, i), i);
        if (isPlain(form))
            return key;
        if (this.c.form_key === undefined)
            throw wrong("the filter's keys are changed before they are hashed, which " +
                        "the module of the sets alone cannot do: load() the one " +
                        "with all kinds");
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

    // The form that a text names; undefined stays.
    form(text) {
        return text === undefined ? undefined : this.texts([text], (at) => {
            if (at === 0)
                throw wrong("keys must be a text, such as \"text\", not null");
            this.check(this.c.form_read(at));
            return Number(this.number());
        });
    }

    // work(at, n) with the key of any length.
    withKey(key, work) {
        this.alive();
        const n = this.encode(key);
        return n >= 0 ? work(this.at, n)
            : this.lent(typeof key === "string" ? encoder.encode(key)
                                                : keyBytes(key), work);
    }

    // ---- Many keys ----

    // Set some thousand keys after another, and call visit(n, first) of each. The
    // form is what formOf(class of the first key) says.
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

    // Many keys that are of one class as they lie: undefined, they go in so.
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

    // A row of keys of one width, or with their ends, as Arrow has them.
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

    // The keys of an array, a generator or whatever else can be gone through.
    eachOf(keys, visit, formOf) {
        const list = new List(this, visit, formOf);
        for (const key of keys)
            list.add(key);
        list.end();
        this.stage = list.stage;
        return list.first;
    }

    // Keeps all keys in the memory, for a build. The caller's code, which may build
    // filters as well, yields all of them before.
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

// A key as it is now: a generator may write the next one into the same bytes.
function copied(key) {
    const bytes = plainBytes(key);
    return bytes === undefined ? key : new Uint8Array(bytes);
}

// The members of { bytes, width } or { bytes, offsets }, each read once.
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

// Some thousand keys, one after another, and where they end. They are collected
// outside the module's memory, because the code that yields them may call the module,
// which then writes to that memory, lets it grow, or frees the filter. After they are
// copied there, none of the caller's code runs until they are used.
class List {
    constructor(core, visit, formOf = () => 0) {
        this.core = core;
        this.visit = visit;
        this.formOf = formOf;
        this.stage = core.stage ?? new Stage(core);
        core.stage = undefined;
        this.first = this.n = this.used = 0;
        this.given = this.form = 0;     // class of the first key, and the form
        this.direct = false;            // texts are taken as they are
        this.numbers = false;           // there are numbers only
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

    // Has the room place for a key of at most so many bytes? If it never has, the
    // key is used at once, by itself.
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

    // Keys of other types come behind the numbers.
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
                    " has half a surrogate, which is no character: give bytes");
}

function inRange(key) {
    if (BigInt.asIntN(64, key) !== key)
        throw wrong(`${key} is not an integer of 64 bits with a sign: give it as text ` +
                    "or bytes");
    return key;
}

function noKey(key, i) {
    return wrongKey((i === undefined ? "a key" : `key ${i}`) +
                 " must be text, bytes, a number or a bigint, and not " +
                 described(key));
}

// Forms whose keys are bytes as they come, by their class; the class of others.
const TEXT = 2, BYTES = 1, NUMBER = 3;
const CLASSES = [0, BYTES, TEXT, NUMBER, NUMBER, NUMBER, NUMBER, NUMBER, TEXT, BYTES];
const HELD = ["", "bytes", "text", "numbers"];
const GIVEN = ["", "bytes", "text", "a number"];

// How to make a key of the class `held` from one of the class `given`.
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

// Refuses a key of another class than the form's, in the library's words.
function refuseOther(form, given, i) {
    const held = CLASSES[form & 15];
    if (given !== held)
        throw wrongKey(`the filter's keys are ${HELD[held]}, and ${
            i === undefined ? "this one" : `key ${i}`} is ${GIVEN[given]}: ${
            conversion(form, held, given)}, or make it with keys: "any"`);
}

// The bytes of a key that is bytes; undefined: it is something else.
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

// A whole number from 0 to 2^64 - 1.
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

// Whole numbers that may be bigints: the others are small enough for a Number.
const EXACT = new Set(["seed", "mark", "labelLeast", "labelMost", "label"]);
const TEXTS = new Set(["kind", "hash", "keys"]);

const camel = (name) => name.replace(/_(.)/g, (_, letter) => letter.toUpperCase());

// The fields that the library lists, under the names that JavaScript gives them. A
// field that does not apply is missing.
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

let current;                    // the Core that new filters are in
let loading;                    // what was last asked for

function core() {
    if (current === undefined)
        throw new BloomeryError("the library is not loaded yet: await load() first",
                                -1002, "UNLOADED");
    return current.alive();
}

// The module's bytes, or a response that they come in.
async function fetched(url) {
    if (url.protocol !== "file:" || typeof globalThis.process?.versions?.node !==
        "string")
        return fetch(url);
    const { readFile } = await import(
        /* webpackIgnore: true */ /* @vite-ignore */ "node:fs/promises");
    return readFile(url);
}

async function compiled(source) {
    if (source instanceof WebAssembly.Module)
        return source;
    if (source === "all" || source === "sets")
        source = source === "all" ? new URL("bloomery.wasm", import.meta.url)
                                  : new URL("sets.wasm", import.meta.url);
    if (source instanceof URL || typeof source === "string")
        source = await fetched(new URL(source, import.meta.url));
    source = await source;
    if (typeof Response === "function" && source instanceof Response) {
        if (!source.ok)
            throw wrong(`${source.url}: ${source.status} ${source.statusText}`);
        // Some servers know no application/wasm, which compiling as it comes needs.
        source = await source.arrayBuffer();
    }
    if (!ArrayBuffer.isView(source) && !isBuffer(source))
        throw wrong("a module is \"all\", \"sets\", a URL, bytes, a Response or a " +
                    `WebAssembly.Module, and not ${described(source)}`);
    return WebAssembly.compile(source);
}

async function instantiated(source) {
    const module = await compiled(source);
    if (!WebAssembly.Module.exports(module).some(({ name }) => name === "keys_width"))
        throw wrong("that is not a module of Bloomery");
    return Core.of(module);
}

/** Load the module: "all" kinds or "sets" alone, or from a URL, bytes, a Response or
 * a WebAssembly.Module. What is loaded and works is not loaded again. */
export async function load(source = "all") {
    if (loading === undefined || loading.source !== source ||
        loading.core?.trap()) {
        const mine = { source, order: (loading?.order ?? 0) + 1 };
        const before = loading;
        loading = mine;
        mine.done = instantiated(source).then((made) => {
            mine.core = made;
            // If two are loaded at once, the later call counts.
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

/** The kinds that there are. */
export function kinds() {
    const { c } = core();
    return current.told(c.kinds());
}

/** The version of the library. */
export function version() {
    return core().text(core().c.version());
}

/** The bytes of memory that the module has: they do not become fewer, and what is
 * given back is used again. */
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
    // By 0 the library means what is usual.
    if (rate !== undefined && (typeof rate !== "number" || rate === 0))
        throw wrong(`rate must be a number between 0 and 1, not ${
            rate === 0 ? rate : described(rate)}`);
    return { capacity: natural(items, "items"), rate: rate ?? 0,
             seed: natural(seed, "seed"), texts: [kind, hash, hidden(secret)],
             others };
}

// Set it for the next call; `work` gets the kind.
function specified(k, want, work) {
    k.alive();
    return k.texts(want.texts, (name, by, key) => {
        k.c.spec(want.capacity, want.rate, want.seed, by, key);
        return work(name);
    });
}

// The options, each read once. All are among `names`: a misspelt one is not passed
// over.
function wanted(options, ...names) {
    if (options === undefined)
        return {};
    if (typeof options !== "object" || options === null)
        throw wrong(`options must be an object, not ${described(options)}`);
    for (const name of Object.keys(options))
        if (!names.includes(name))
            throw wrong(`unknown option ${JSON.stringify(name.slice(0, 40))}: ` +
                        `there are ${names.join(", ")}`);
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

let hand;                       // a filter that is being made, and not by `new`

const AIMS = ["balance", "fast", "small"];

// The flags of abilities, by their words.
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
                ? `'${word}'` : described(word)}: there are ${all.join(", ")}`);
        return flags | 1n << BigInt(bit);
    }, 0n);
}

/** All kinds, ranked for a need: the first is the advice. */
export function advise(need) {
    const k = core();
    if (k.c.advise === undefined)
        throw wrong("the module of the sets alone cannot advise: load() the one " +
                    "with all kinds");
    const { items, rate, present = 0, can = [], fixed = false, aim = "balance",
            memory } =
        wanted(need, "items", "rate", "present", "can", "fixed", "aim", "memory");
    if (!AIMS.includes(aim))
        throw wrong(`aim must be balance, fast or small, not ${
            typeof aim === "string" ? aim : described(aim)}`);
    if (typeof present !== "number")
        throw wrong(`present must be a number, not ${described(present)}`);
    const flags = abilities(k, can), most = natural(memory, "memory");
    return specified(k, spec("", { items, rate }), () =>
        k.told(k.c.advise(present, flags, fixed ? 1 : 0, AIMS.indexOf(aim), most))
            .map((row) => row.fits ? { ...row, plan: record(row.plan) } : row));
}

export class Filter {
    #core;
    #f = 0;
    #labelled;
    #form = 0;
    #settled = false;           // the form stays as it is
    #first;                     // the form of a key that is being added

    constructor(kind = "standard", options = undefined) {
        if (hand !== undefined) {
            this.#hold(...hand);
            return;
        }
        const k = core();
        const want = spec(kind, options, "keys");
        const form = k.form(want.others.keys);
        specified(k, want, (name) => {
            k.check(k.c.new(name));
            this.#hold(k, k.c.made());
        });
        this.#state(form);
    }

    // The form that was asked for.
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
        return this.#k.told(this.#core.c.stat(this.#f)).items === 0;
    }

    // Returns the form for a key that is added. The first one of an empty filter
    // fixes it, once it is in: #added.
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

    // The filter that the last call of the library made.
    static #made(k, status) {
        k.check(status);
        hand = [k, k.c.made()];
        return new Filter();
    }

    // The instance, of a filter that is there.
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
                ? Filter.#made(k, k.c.build(name, 0))
                : k.lent(bytewise(given), (at) => Filter.#made(k,
                    k.c.build(name, at))));
            const out = k.watched(progress, 0, build);
            if (named === undefined && out.#isForeign())
                return out;
            return out.#state(form);
        } finally {
            if (!k.trap())
                k.c.forget();
        }
    }

    static from(bytes, options = undefined) {
        const k = core();
        const { secret, format, memoryLimit, progress } =
            wanted(options, "secret", "format", "memoryLimit", "progress");
        const limit = natural(memoryLimit, "memoryLimit");
        const image = plainBytes(bytes);
        if (image === undefined)
            throw wrong(`the bytes of a filter are wanted, and not ${
                described(bytes)}`);
        if (lengthOf.call(image) === 0)
            throw new BloomeryError("there are no bytes: is what they were read " +
                "from empty, or were they transferred to a worker?", -7, "EFORMAT");
        const unpack = () => k.texts([hidden(secret), format], (key, name) =>
            k.lent(image, (at, n) => {
                k.c.options(key, name, limit);
                return Filter.#made(k, k.c.unpack(at, n));
            }));
        return k.alive().watched(progress, 0, unpack);
    }

    static plan(kind, options = undefined) {
        const k = core();
        return specified(k, spec(kind, options),
                         (name) => record(k.told(k.c.plan(name))));
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

    // Another system's file has no room for a form.
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

    has(key) {
        const k = this.#k;
        key = k.formed(key, this.#form);
        const n = k.encode(key);
        if (n >= 0)
            return k.c.has(this.#f, k.at, n) === 1;
        return k.withKey(key, (at, long) => k.c.has(this.#f, at, long) === 1);
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

    // Where no label was found: it may be of a kind without.
    #labels() {
        const k = this.#k;
        this.#labelled ??= k.told(k.c.stat(this.#f)).can.includes("label");
        if (!this.#labelled)
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

    // Go through the keys; `verb` is called where some thousand are set.
    #each(keys, options, verb, adding = false) {
        const k = this.#k;
        const { progress } = wanted(options, "progress");
        const watch = new Watch(progress, keys);
        const each = () => k.each(keys, (n, first) => {
            this.#k;                    // it may have been freed between
            verb(k, n, first);
            watch.step(n);
        }, adding ? (given) => this.#formFor(given) : () => this.#form);
        return adding ? this.#adding(each) : each();
    }

    addAll(keys, options = undefined) {
        this.#each(keys, options, (k) => k.check(k.c.add_keys(this.#f)), true);
    }

    addNew(keys, options = undefined) {
        const out = new Rows(Uint8Array);
        this.#each(keys, options, (k, n) => {
            k.check(k.c.add_seen(this.#f));
            const seen = k.view(Uint8Array, k.yes, n);
            const added = out.more(n);
            for (let i = 0; i < n; i++)
                added[i] = seen[i] ^ 1;
        }, true);
        return out.done();
    }

    hasAll(keys, options = undefined) {
        const out = new Rows(Uint8Array, keys);
        this.#each(keys, options, (k, n) => {
            k.check(k.c.has_keys(this.#f));
            out.more(n).set(k.view(Uint8Array, k.yes, n));
        });
        return out.done();
    }

    countAll(keys, options = undefined) {
        const out = new Rows(Float64Array, keys);
        this.#each(keys, options, (k, n) => {
            k.check(k.c.count_keys(this.#f));
            const counts = k.view(BigUint64Array, k.numbers, n), to = out.more(n);
            for (let i = 0; i < n; i++)
                to[i] = bounded(counts[i]);
        });
        return out.done();
    }

    removeAll(keys, options = undefined) {
        let first;
        this.#each(keys, options, (k) => {
            const status = k.c.remove_keys(this.#f);
            if (status === -14 || status === -17)
                first ??= k.failure(status);
            else
                k.check(status);
        });
        if (first !== undefined)
            throw first;
    }

    putAll(keys, labels, options = undefined) {
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
            k.check(k.c.put_keys(this.#f));
        }, true));
    }

    getAll(keys, options = undefined) {
        const found = new Rows(Uint8Array, keys);
        const labels = new Rows(BigUint64Array, keys);
        this.#each(keys, options, (k, n) => {
            k.check(k.c.get_keys(this.#f));
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
            throw wrong(`another filter is wanted, and not ${described(other)}`);
        if (other.#k !== k)
            throw wrong("the other filter is in another instance of the module: " +
                        "Filter.from(other.save()) is one in this");
        return k.watched(progress, this.#f, () => verb(k, this.#f, other.#f));
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

    stat() {
        const k = this.#k;
        return record(k.told(k.c.stat(this.#f)));
    }

    get kind() {
        return this.stat().kind;
    }

    // The keys of a filter that lists them.
    keys() {
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

    save(options = undefined) {
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
}

if (typeof Symbol.dispose === "symbol")
    Object.defineProperty(Filter.prototype, Symbol.dispose,
                          { value: Filter.prototype.free, configurable: true,
                            writable: true });

// Answers: of an array at once, of what has no length in parts.
class Rows {
    static MOST = 1 << 24;      // that a length is believed; there may be more

    constructor(Type, keys) {
        this.Type = Type;
        const n = ArrayBuffer.isView(keys) && typeOf.call(keys) !== undefined
            ? lengthOf.call(keys) : Array.isArray(keys) ? keys.length : 0;
        this.all = new Type(Math.min(n, Rows.MOST) || 0);
        this.used = 0;
    }

    // Where n more answers go.
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
