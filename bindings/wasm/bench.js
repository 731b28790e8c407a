// bench.js - measures lookups and adds in JavaScript, and lookups in a Set for
// comparison: `make bench WHAT=wasm`. Each figure is the least of several runs. Ratios
// within one process hold on other machines better than nanoseconds do.
import { Filter, load } from "./bloomery.js";

const N = 1_000_000, TIMES = 7;

function least(...works) {
    const best = works.map(() => Infinity);
    for (let i = 0; i < TIMES; i++)
        works.forEach((work, which) => {        // in turn
            const begun = performance.now();
            work();
            const ns = (performance.now() - begun) * 1e6 / N;
            best[which] = Math.min(best[which], ns);
        });
    return best;
}

let found = 0;
const each = (keys, contains) => () => {
    for (let i = 0; i < keys.length; i++)
        found += contains(keys[i]);
};

// Shuffles the keys, so that a Set reads memory as in a program.
function shuffled(keys) {
    let seed = 1;
    for (let i = keys.length - 1; i > 0; i--) {
        seed = Math.imul(seed, 1664525) + 1013904223 >>> 0;
        const j = seed % (i + 1);
        [keys[i], keys[j]] = [keys[j], keys[i]];
    }
    return keys;
}

const KEYS = {
    "numbers": shuffled(Array.from({ length: N }, (_, i) => i * 7)),
    "int64 (bigint)": shuffled(BigInt64Array.from({ length: N },
                                                  (_, i) => BigInt(i) << 20n)),
    "texts": shuffled(Array.from({ length: N }, (_, i) => `key number ${i}`)),
};

const round = (ns) => ns.toFixed(1).padStart(7);
for (const source of ["all", "sets"]) {
    await load(source);
    console.log(`${source === "all" ? "bloomery" : "sets"}.wasm: ns a key, of 10^6`);
    for (const [name, keys] of Object.entries(KEYS)) {
        const f = new Filter("blocked", { items: N, rate: 0.01 });
        f.addMany(keys);
        const set = new Set(keys);
        const [one, many, theirs, add] = least(
            each(keys, (key) => f.contains(key)), () => f.containsMany(keys),
            each(keys, (key) => set.has(key)), () => f.addMany(keys));
        console.log(`  ${name.padEnd(15)} contains ${round(one)}, containsMany ${
            round(many)}, Set.has ${round(theirs)}, addMany ${round(add)}; ` +
            `containsMany / Set ${(many / theirs).toFixed(2)}, contains / Set ${
                (one / theirs).toFixed(2)}`);
        f.free();
    }
    const numbers = BigInt64Array.from(KEYS["int64 (bigint)"]);
    for (const kind of ["standard", "split", "cuckoo", "fuse", "ribbon"]) {
        let f;
        try {
            f = Filter.build(kind, numbers, { items: N, rate: 0.01 });
        } catch {
            continue;                   // not in this module
        }
        const [many] = least(() => f.containsMany(numbers));
        console.log(`  ${kind.padEnd(15)} containsMany of int64 ${round(many)}`);
        f.free();
    }
}
if (found === 0)
    throw new Error("nothing was found");
