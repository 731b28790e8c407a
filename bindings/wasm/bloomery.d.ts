// bloomery.d.ts - the types of the package, for import and for require(). A call that
// is refused throws a BloomeryError, or a TypeError if a key is not a key; no call
// reports a failure by its return value.

/** Text (its UTF-8), bytes as they are, or a number. A 64-bit integer is the same key
 * as a number and as a bigint: 7 and 7n are one key, "7" is another. */
export type Key = string | number | bigint | Uint8Array | Uint8ClampedArray |
    ArrayBufferLike | DataView;

/** Arrays of numbers, each of which is a key. */
export type Numbers = Int8Array | Int16Array | Uint16Array | Int32Array |
    Uint32Array | BigInt64Array | BigUint64Array | Float32Array | Float64Array;

/** Keys of equal width, one after another. */
export interface Rows {
    bytes: Uint8Array | Uint8ClampedArray | ArrayBufferLike | DataView;
    width: number;
}

/** Keys one after another. Key i lies from offsets[i] to offsets[i + 1], as in Arrow,
 * so n keys have n + 1 offsets. */
export interface Offsets {
    bytes: Uint8Array | Uint8ClampedArray | ArrayBufferLike | DataView;
    offsets: Uint32Array | Int32Array;
}

/** Many keys. Arrays of numbers, rows and offsets are the fastest. A text and a
 * Uint8Array are single keys. */
export type Keys = Iterable<Key> & object & { BYTES_PER_ELEMENT?: never } |
    Exclude<Numbers, Uint8Array> | Rows | Offsets;

/** A Uint8Array with memory of its own, as a Blob or a Response needs it. In versions
 * of TypeScript that distinguish shared memory, it is Uint8Array<ArrayBuffer>. */
export type Bytes = ReturnType<Uint8ArrayConstructor["of"]>;

declare global {
    // Declared here for versions of TypeScript without lib.esnext.disposable.
    interface SymbolConstructor {
        readonly dispose: unique symbol;
    }
}

/** A number, or a bigint if a number would not be exact. */
export type Whole = number | bigint;

/** Options of every filter. An unknown option is an error. */
export interface Options {
    /** The number of keys that the filter is planned for. */
    items?: Whole;
    /** The false-positive rate at that number; the default is 0.01. */
    rate?: number;
    /** The seed of the hash function. */
    seed?: Whole;
    /** The hash function; the default is "xxh3". */
    hash?: string;
    /** The 16 bytes of secret for hash "siphash". */
    secret?: Uint8Array;
}

export interface PlanOptions extends Options {
    /** The number of keys to which a filter of these options has grown by then. Not all
     * kinds grow. */
    grown?: Whole;
}

export interface NewOptions extends Options {
    /** The form of the keys: "text", "bytes", "number", "text:case=lower,trim",
     * "int64" and so on, or "any" for keys of all classes. The default is the class
     * of the first key. */
    keys?: string;
}

/** Called about 50 times a second during a long call, with the number of keys or bytes
 * that are done and their total, which is undefined if it is not known. If it returns
 * a truthy value, the call throws a BloomeryError with code "ECANCELED"; if it throws,
 * so does the call. Nothing has changed then, except that a call for many keys keeps
 * the first `done` ones. A callback cannot use the library during a call for a whole
 * filter (code "BUSY"). */
export type Progress = (done: number, total: number | undefined) => unknown;

export interface ProgressOptions {
    progress?: Progress;
}

export interface BuildOptions extends NewOptions, ProgressOptions {
    /** One label for each key, for kinds that store labels. */
    labels?: Iterable<Whole> | BigUint64Array;
}

export interface BytesOptions extends ProgressOptions {
    /** The secret that the filter was made with. */
    secret?: Uint8Array;
    /** The name of another system's format, if the bytes do not identify it. */
    format?: string;
    /** The largest memory, in bytes, that a packed filter may need when it is
     * unpacked. A larger one is refused with code "ELIMIT" before memory is allocated.
     * The default is 1 GiB, or 8 times the bytes given if that is more. */
    memoryLimit?: Whole;
}

export interface KindOption {
    name: string;
    range: string;
    standard: string;
    help: string;
}

/** The level of support of a kind. Start with the kinds that are "core". */
export type Tier = "core" | "more" | "experimental";

export interface Kind {
    name: string;
    family: string;
    summary: string;
    /** Its abilities: "add", "contains", "remove", "count", "label" and so on. */
    can: string[];
    tier: Tier;
    options: KindOption[];
}

/** The size, rate and costs of a planned filter: the fields of bly_plan_t in
 * bloomery.h. Fields that do not apply are missing. */
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

/** Facts about a filter: the fields of bly_info_t in bloomery.h. Fields that do not
 * apply are missing. */
export interface Info {
    kind: string;
    /** The form of its keys; "any" if none is stated. */
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
    /** Fill and rate for each label, for kinds whose labels are ordered. */
    labels?: { label: Whole; fill: number; rate: number; mistaken: number }[];
    /** Its abilities, as in Kind, with those that its options add. */
    can: string[];
}

export interface Estimate {
    value: number;
    /** The standard deviation. */
    sd: number;
}

/** Numbers of keys estimated from the bits of two filters: of each, of their union, in
 * both, in exactly one, and the share in both. */
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
    /** 1, or -1 for a key that is only in the filter that was subtracted. */
    side: 1 | -1;
    /** The bytes of the key, if the filter stores them. */
    key: Uint8Array | undefined;
}

/** A filter in JSON: the result of toJSON(). */
export interface FilterJSON {
    type: "bloomery.Filter";
    kind: string;
    /** The bytes of pack(). */
    base64: string;
}

export class BloomeryError extends Error {
    constructor(message: string, status: number, code: string);
    /** A bly_status of bloomery.h, or a number of -1000 or less. */
    readonly status: number;
    /** The name of the status: "EPARAM", "EFULL", "EUNSUPPORTED", "ECORRUPT" and so
     * on. "FREED", "TRAP", "UNLOADED", "BUSY" and "MISSING" exist only in
     * JavaScript. */
    readonly code: string;
    /** For "ECANCELED" in a call for many keys, the number of keys processed. */
    readonly done?: number;
}

/** Loads the module: with "all" kinds, with "sets" only, which is a quarter as large,
 * or from a URL, its bytes, a Response or a WebAssembly.Module. Does nothing if it was
 * the last one loaded. New filters belong to the instance that was loaded last. The
 * default is "all", or "sets" in the entry bloomery/inline/sets. A text that is not a
 * URL is a path in Node, and relative to the page elsewhere. */
export function load(source?: "all" | "sets" | string | URL | BufferSource |
    Response | PromiseLike<Response> | WebAssembly.Module): Promise<void>;

/** Returns all kinds. */
export function kinds(): Kind[];

/** A need for a filter: bly_need of <bloomery/advice.h>. */
export interface Need {
    /** The number of keys; the default with `unknown` is 10^6. */
    items?: Whole;
    /** The false-positive rate; the default is 0.01. */
    rate?: number;
    /** The share of lookups whose key is present. */
    present?: number;
    /** The abilities that are required, as in Kind.can. */
    can?: string[];
    /** Whether all keys are known before the filter is built. */
    fixed?: boolean;
    /** Whether the number of keys is not known. The filter then begins small and grows,
     * and kinds are compared as they are when they have that many items. */
    unknown?: boolean;
    /** The cost to minimise; the default is "balance". */
    aim?: "balance" | "fast" | "small";
    /** The largest size in bytes. */
    memory?: Whole;
}

/** One kind, judged for a need: bly_advice. */
export interface Advice {
    kind: string;
    tier: Tier;
    fits: boolean;
    /** Whether another kind is at least as good in every respect. */
    beaten: boolean;
    why: string;
    limit: string;
    lacks: string;
    /** Nanoseconds per lookup in a batch, and the plan, for a kind that fits. */
    nsPresent?: number;
    nsAbsent?: number;
    nsLookup?: number;
    nsAdd?: number;
    plan?: Plan;
}

/** Ranks all kinds for a need; the first is the advice. Not with load("sets"). */
export function advise(need: Need): Advice[];

/** Returns the version of the library. */
export function version(): string;

/** Returns the bytes of the module's memory. It never shrinks; freed memory is used
 * again. */
export function memory(): number;

export class Filter {
    /** Makes an empty filter. kind is a name with options, as in "standard:k=5". The
     * default is "standard" or, without items, "expandable", which grows. */
    constructor(kind?: string, options?: NewOptions);

    /** Builds a filter from all its keys. Works for every kind; "fuse" and other small
     * kinds can be made in no other way. */
    static build(kind: string, keys: Keys, options?: BuildOptions): Filter;

    /** Returns a filter from the bytes of pack(), image() or transfer(), or from the
     * content of a file. The bytes are checked completely. */
    static fromBytes(bytes: Uint8Array | ArrayBufferLike | DataView,
                     options?: BytesOptions): Filter;

    /** Returns a filter from a parsed result of JSON.stringify(filter). */
    static fromJSON(value: FilterJSON, options?: BytesOptions): Filter;

    /** Returns the size, rate and costs that a filter would have. */
    static plan(kind: string, options?: PlanOptions): Plan;

    /** The name of its kind. */
    readonly kind: string;

    /** States the form of the keys of a filter that states none. */
    stateKeys(keys: string): void;

    /** Returns false if the key was certainly not added, true if it perhaps was. */
    contains(key: Key): boolean;
    /** Adds a key. Returns true if it was certainly not there before. */
    add(key: Key): boolean;
    /** Removes a key that was added, once. Throws "EABSENT" if it is not there. Remove
     * only keys that were added: others may take bits of present keys with them. */
    remove(key: Key): void;
    /** Removes a key if it is perhaps there, and returns whether it was. Like remove(),
     * it is only for keys that were added. */
    discard(key: Key): boolean;
    /** Returns an upper bound of how often the key was added: 0 is certain, and
     * Infinity means that the kind knows no bound. Of keys that lie within others, such
     * as domains, only the key itself is counted. */
    count(key: Key): number;
    /** Stores a label with a key. */
    put(key: Key, label: Whole): void;
    /** Returns the label of a key, or undefined if the key itself is certainly absent.
     * Throws "EUNSUPPORTED" if the kind stores no labels. */
    get(key: Key): Whole | undefined;
    /** Returns the 64-bit hash by which this filter knows the key. */
    hash(key: Key): bigint;

    /** Adds many keys, and returns 1 for each that was certainly not there before, else
     * 0. After an error, the keys before it have been added. */
    addMany(keys: Keys, options?: ProgressOptions): Bytes;
    /** Returns 1 for each key that is perhaps there, else 0. */
    containsMany(keys: Keys, options?: ProgressOptions): Bytes;
    /** Returns count() of each key. */
    countMany(keys: Keys, options?: ProgressOptions): Float64Array;
    /** Removes many keys that were added. Continues after a key that cannot be removed,
     * and throws the first such error at the end. */
    removeMany(keys: Keys, options?: ProgressOptions): void;
    /** Stores one label with each of many keys. */
    putMany(keys: Keys, labels: Iterable<Whole> | BigUint64Array,
            options?: ProgressOptions): void;
    /** Returns 1 for each key that is perhaps there, and the labels. */
    getMany(keys: Keys, options?: ProgressOptions):
        { found: Bytes; labels: BigUint64Array };

    /** Adds the keys of another filter. Returns this filter. */
    unite(other: Filter, options?: ProgressOptions): this;
    /** Keeps the keys that are in both filters. Returns this filter. Keys that lie
     * within others are refused. */
    intersect(other: Filter, options?: ProgressOptions): this;
    /** Makes the difference of two sketches of kind "invertible", whose keys
     * listKeys() returns. Returns this filter. */
    subtract(other: Filter, options?: ProgressOptions): this;
    /** Estimates how many keys two filters have in common. */
    overlap(other: Filter, options?: ProgressOptions): Overlap;

    /** Returns a filter with the same keys. */
    copy(options?: ProgressOptions): Filter;
    /** Returns an empty filter of the same plan, hash and seed, which can be united
     * with this one. */
    like(): Filter;
    /** Removes all keys. */
    clear(): void;
    /** Makes the filter larger or smaller, for so many keys. */
    resize(items: Whole, options?: ProgressOptions): void;
    /** Makes the filter so many times smaller, by OR of its bits. */
    fold(times: Whole, options?: ProgressOptions): void;
    /** Returns facts about the filter. Reads all of it. */
    info(): Info;
    /** Returns the keys of a filter that lists them (kinds "invertible" and "egh"). */
    listKeys(): Listed[];

    /** Returns the bytes of a file, packed if the kind can be. */
    pack(options?: ProgressOptions): Bytes;
    /** Returns the bytes of the filter as they are in memory. */
    image(): Bytes;
    /** Moves the filter into an ArrayBuffer, for postMessage(buffer, [buffer]) and
     * Filter.fromBytes(buffer) on the other side. Frees this filter. */
    transfer(): ArrayBuffer;
    /** Returns an object for JSON.stringify(), which calls this method. */
    toJSON(): FilterJSON;

    /** Frees the filter's memory now. The garbage collector does it later, but does not
     * know how large the filter is. Every other call then throws "FREED". */
    free(): void;
    /** Frees the filter at the end of a block: `using f = new Filter(…)`. */
    [Symbol.dispose](): void;
    readonly [Symbol.toStringTag]: string;
}
