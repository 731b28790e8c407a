// bloomery.d.ts - the types of bloomery.js. Whatever is refused throws a
// BloomeryError; no call returns another value for what went wrong.

/** Text (its UTF-8), bytes as they are, or a number. An integer of 64 bits is the
 * same key as a number and as a bigint: 7 and 7n are one key, "7" is another. */
export type Key = string | number | bigint | Uint8Array | Uint8ClampedArray |
    ArrayBufferLike | DataView;

/** Arrays of numbers, each a key. */
export type Numbers = Int8Array | Int16Array | Uint16Array | Int32Array |
    Uint32Array | BigInt64Array | BigUint64Array | Float32Array | Float64Array;

/** Keys of one width, one after another. */
export interface Rows {
    bytes: Uint8Array | Uint8ClampedArray | ArrayBufferLike | DataView;
    width: number;
}

/** Keys one after another, and where they begin and end: n + 1 numbers, as Arrow
 * has them. */
export interface Offsets {
    bytes: Uint8Array | Uint8ClampedArray | ArrayBufferLike | DataView;
    offsets: Uint32Array | Int32Array;
}

/** Many keys. Arrays of numbers, rows and offsets go the fastest way. A text and a
 * Uint8Array are one key, and not many. */
export type Keys = Iterable<Key> & object & { BYTES_PER_ELEMENT?: never } |
    Exclude<Numbers, Uint8Array> | Rows | Offsets;

/** A Uint8Array of its own memory, as a Blob or a Response wants: where TypeScript
 * tells that from shared memory, Uint8Array<ArrayBuffer>. */
export type Bytes = ReturnType<Uint8ArrayConstructor["of"]>;

declare global {
    // As lib.esnext.disposable has it, which older TypeScript has not.
    interface SymbolConstructor {
        readonly dispose: unique symbol;
    }
}

/** A number, or a bigint where a number would not be exact. */
export type Whole = number | bigint;

/** An option of another name is an error. */
export interface Options {
    /** Keys that the filter should hold. */
    items?: Whole;
    /** The share of strangers that are found, at so many keys; 0.01 by itself. */
    rate?: number;
    /** Of the hash function. */
    seed?: Whole;
    /** The hash function: "xxh3" by itself. */
    hash?: string;
    /** 16 bytes, of hash "siphash". */
    secret?: Uint8Array;
}

export interface NewOptions extends Options {
    /** The form of the keys: "text", "bytes", "number", "text:case=lower,trim",
     * "int64", …, or "any" for keys of all classes. By itself that of the first
     * key. */
    keys?: string;
}

/** Called about 50 times a second within a call that takes long, with how many keys
 * or bytes are done, and how many there are; that is undefined for keys whose number
 * is not known. If it returns something true, the call throws a BloomeryError of code
 * ECANCELED; what it throws, the call throws. Nothing has changed then, but that a
 * call for many keys keeps the first `done` ones. The library is used by no callback
 * of a call for a whole filter (code BUSY). */
export type Progress = (done: number, total: number | undefined) => unknown;

export interface ProgressOptions {
    progress?: Progress;
}

export interface BuildOptions extends NewOptions, ProgressOptions {
    /** A label for each key, of kinds that carry them. */
    labels?: Iterable<Whole> | BigUint64Array;
}

export interface BytesOptions extends ProgressOptions {
    /** The secret that the filter was made with. */
    secret?: Uint8Array;
    /** The name of another system's format, where the bytes do not tell it. */
    format?: string;
    /** The bytes of memory that a packed filter may take once it is unpacked. One
     * that needs more is an error of code "ELIMIT", before memory is taken. By itself
     * 1 GiB, or 8 times the bytes given where that is more. */
    memoryLimit?: Whole;
}

export interface KindOption {
    name: string;
    range: string;
    standard: string;
    help: string;
}

/** How well a kind is supported: the kinds to meet first are "core". */
export type Tier = "core" | "more" | "experimental";

export interface Kind {
    name: string;
    family: string;
    summary: string;
    /** What it can do: "add", "contains", "remove", "count", "label", ... */
    can: string[];
    tier: Tier;
    options: KindOption[];
}

/** What a filter would be: the fields of bly_plan_t in bloomery.h. Fields that do not
 * apply are missing. */
export interface Plan {
    kind: string;
    capacity: number;
    bytes: number;
    packed: number;
    scratch: number;
    bitsPerKey: number;
    rate: number;
    rateSd: number;
    fill: number;
    lost: number;
    /** The number of keys, added last, that are certainly found; missing: all. */
    window?: number;
    linesPresent: number;
    linesAbsent: number;
    probes: number;
    labelBits?: number;
    labelLeast?: Whole;
    labelMost?: Whole;
    geometry: Whole[];
}

/** What a filter is: the fields of bly_info_t in bloomery.h. Fields that do not apply
 * are missing. */
export interface Stat {
    kind: string;
    /** The form of its keys; "any": not stated. */
    keys?: string;
    hash?: string;
    seed?: Whole;
    /** The mark of the secret that keys are hashed with. */
    mark?: Whole;
    capacity: number;
    bytes: number;
    packed: number;
    /** Bytes of attached data, in formats that have a place for it. */
    attached?: number;
    bitsPerKey: number;
    items: number;
    distinct: number;
    distinctSd: number;
    fill: number;
    fullest?: number;
    rate: number;
    plannedRate: number;
    lost: number;
    /** The number of keys, added last, that are certainly found; missing: all. */
    window?: number;
    saturated: number;
    probes: number;
    labelBits?: number;
    labelLeast?: Whole;
    labelMost?: Whole;
    geometry: Whole[];
    itemsExact: boolean;
    /** How each label that is there stands, for kinds whose labels are ordered. */
    labels?: { label: Whole; fill: number; rate: number; mistaken: number }[];
    /** What it can do, as in Kind, with what its options add. */
    can: string[];
}

export interface Estimate {
    value: number;
    /** Its standard deviation. */
    sd: number;
}

/** How many keys two filters have: each, together, in common, in just one of them,
 * and the share in common; estimated from their bits. */
export interface Overlap {
    a: Estimate;
    b: Estimate;
    either: Estimate;
    both: Estimate;
    differ: Estimate;
    jaccard: Estimate;
}

export interface Listed {
    hash: bigint;
    /** 1, or -1: it is only in what was subtracted. */
    side: 1 | -1;
    /** Where the filter keeps it. */
    key: Uint8Array | undefined;
}

export class BloomeryError extends Error {
    constructor(message: string, status: number, code: string);
    /** A bly_status of bloomery.h, or less than -1000. */
    readonly status: number;
    /** Its name: "EPARAM", "EFULL", "EUNSUPPORTED", "ECORRUPT", ...; "FREED",
     * "TRAP", "BUSY" and "UNLOADED" are JavaScript's own. */
    readonly code: string;
    /** Of ECANCELED in a call for many keys: the keys that it has worked on. */
    readonly done?: number;
}

/** Load the module: "all" kinds, or "sets" alone, which is a quarter as large; or
 * from a URL (which is seen from bloomery.js, if it is relative), its bytes, a Response or a WebAssembly.Module. What is loaded and works
 * is not loaded again. New filters are in the instance that was loaded last. */
export function load(source?: "all" | "sets" | string | URL | BufferSource |
    Response | PromiseLike<Response> | WebAssembly.Module): Promise<void>;

/** The kinds that there are. */
export function kinds(): Kind[];

/** What is needed of a filter: bly_need of <bloomery/advice.h>. */
export interface Need {
    /** Keys that it should hold. */
    items: Whole;
    /** The share of strangers that are found; 0.01 by itself. */
    rate?: number;
    /** The share of the lookups that are of members. */
    present?: number;
    /** What it must be able to do, by the words of Kind.can. */
    can?: string[];
    /** All keys are known before it is built. */
    fixed?: boolean;
    /** What is to be least; "balance" by itself. */
    aim?: "balance" | "fast" | "small";
    /** Bytes that it may have. */
    memory?: Whole;
}

/** One kind, held against the need: bly_advice. */
export interface Advice {
    kind: string;
    tier: Tier;
    fits: boolean;
    /** Another one is as good in all, or better. */
    beaten: boolean;
    why: string;
    limit: string;
    lacks: string;
    /** Nanoseconds of a lookup in a batch, and the plan; of one that fits. */
    nsPresent?: number;
    nsAbsent?: number;
    nsLookup?: number;
    nsAdd?: number;
    plan?: Plan;
}

/** All kinds, ranked for a need: the first is the advice. Not of load("sets"). */
export function advise(need: Need): Advice[];

/** The version of the library. */
export function version(): string;

/** The bytes of memory that the module has: they do not become fewer, and what is
 * given back is used again. */
export function memory(): number;

export class Filter {
    /** An empty filter. kind: a name with options, as in "standard:k=5". */
    constructor(kind?: string, options?: NewOptions);

    /** A filter of all these keys, of any kind; some can be made in no other way,
     * such as "fuse", and are the smallest. */
    static build(kind: string, keys: Keys, options?: BuildOptions): Filter;

    /** A filter from what save() or image() gave, or from the content of a file.
     * All of it is checked, and nothing is trusted. */
    static from(bytes: Uint8Array | ArrayBufferLike | DataView,
                options?: BytesOptions): Filter;

    /** What a filter would be and cost, before there is one. */
    static plan(kind: string, options?: Options): Plan;

    /** The name of its kind. */
    readonly kind: string;

    /** State the form of the keys of a filter that states none. */
    stateKeys(keys: string): void;

    /** False: it was certainly not added. True: perhaps it was. */
    has(key: Key): boolean;
    /** Add a key. True: it was not there; false: it perhaps was. */
    add(key: Key): boolean;
    /** Remove a key that was added, once. Code EABSENT: it is not there. Remove
     * nothing else: it may take others' traces along. */
    remove(key: Key): void;
    /** Remove a key if it is perhaps there. Was it? */
    discard(key: Key): boolean;
    /** How often the key was added, at most; 0 is certain. Infinity: any number of
     * times, for all that this kind can tell. */
    count(key: Key): number;
    /** Store a label with a key. */
    put(key: Key, label: Whole): void;
    /** The label of a key; undefined: it is certainly not there. Code EUNSUPPORTED:
     * this kind stores no labels. */
    get(key: Key): Whole | undefined;
    /** The 64-bit hash by which this filter knows the key. */
    hash(key: Key): bigint;

    /** Add many keys. On an error those before it are in. */
    addAll(keys: Keys, options?: ProgressOptions): void;
    /** Add many keys; 1 where the key was new. */
    addNew(keys: Keys, options?: ProgressOptions): Bytes;
    /** 1 where the key is perhaps there, else 0. */
    hasAll(keys: Keys, options?: ProgressOptions): Bytes;
    /** count() of many keys. */
    countAll(keys: Keys, options?: ProgressOptions): Float64Array;
    /** Remove many keys that were added. Goes on after one that cannot be removed,
     * and then throws what became of the first of these. */
    removeAll(keys: Keys, options?: ProgressOptions): void;
    /** Give each of many keys its label. */
    putAll(keys: Keys, labels: Iterable<Whole> | BigUint64Array,
           options?: ProgressOptions): void;
    /** Which of many keys are perhaps there, and their labels. */
    getAll(keys: Keys, options?: ProgressOptions):
        { found: Uint8Array; labels: BigUint64Array };

    /** Take in the other's keys. Returns this. */
    unite(other: Filter, options?: ProgressOptions): this;
    /** Keep what is in both. Returns this. */
    intersect(other: Filter, options?: ProgressOptions): this;
    /** The difference of two sketches (kind "invertible"): keys() lists it. */
    subtract(other: Filter, options?: ProgressOptions): this;
    /** How many keys the two have in common, estimated. */
    overlap(other: Filter, options?: ProgressOptions): Overlap;

    /** Another filter with the same keys. */
    copy(options?: ProgressOptions): Filter;
    /** An empty filter of the same plan, hash and seed: the two can be united. */
    like(): Filter;
    /** Take all keys out. */
    clear(): void;
    /** Make room for so many keys, or less room. */
    resize(items: Whole, options?: ProgressOptions): void;
    /** Make it so many times smaller, by laying its bits on one another. */
    fold(times: Whole, options?: ProgressOptions): void;
    stat(): Stat;
    /** The keys of a filter that lists them (kinds "invertible" and "egh"). */
    keys(): Listed[];

    /** The bytes of a file: packed, of kinds that can be. */
    save(options?: ProgressOptions): Bytes;
    /** The image as it is in memory, and in C. */
    image(): Bytes;

    /** Give its memory back now; else that happens when the garbage of JavaScript
     * is collected, which knows nothing of this memory. Then all calls throw. */
    free(): void;
    /** The same, at the end of a block: `using f = new Filter(…)`. */
    [Symbol.dispose](): void;
}

