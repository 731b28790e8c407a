// types.ts - is compiled and never run: bloomery.d.ts allows correct calls and refuses
// others.
import { BloomeryError, Filter, FilterJSON, Info, Kind, Plan, kinds, load, memory,
         version } from "../bloomery.js";

export async function right(): Promise<void> {
    await load();
    await load("sets");
    await load(new URL("https://example.org/bloomery.wasm"));
    await load(fetch("bloomery.wasm"));
    await load(new Uint8Array(8));
    const all: Kind[] = kinds();
    const text: string = version() + all[0].options[0].help;
    const f = new Filter("blocked", { items: 10n, rate: 0.01, seed: 1 });
    const yes: boolean = f.add("a") && f.contains(7) && f.contains(7n) &&
        f.contains(new Uint8Array(3)) && f.contains(new ArrayBuffer(3));
    const many: Uint8Array = f.containsMany(["a", 1, 2n, new Uint8Array(1)]);
    const added: Uint8Array = f.addMany(new BigInt64Array(3));
    f.addMany({ bytes: new Uint8Array(8), width: 4 });
    f.addMany({ bytes: new Uint8Array(8), offsets: new Uint32Array(2) });
    f.addMany(new Set(["a"]));
    f.addMany(function* () { yield "a"; yield 7; }());
    f.addMany([new Uint8Array(1)] as const);
    const closed: { [Symbol.dispose](): void } = f;
    await new Response(new Blob([f.pack(), f.image()])).arrayBuffer();
    await new Response(f.pack()).arrayBuffer();
    const plan: Plan = Filter.plan("fuse", { items: 1e6 });
    const info: Info = f.copy().unite(f).info();
    const label: number | bigint | undefined =
        Filter.build("bloomier", ["a"], { labels: [1] }).get("a");
    const sum: number = plan.bitsPerKey + info.rate + f.overlap(f).both.sd + memory();
    const g = Filter.fromBytes(f.pack(), { format: "bloomery", progress: () => false });
    const json: FilterJSON = f.toJSON();
    Filter.fromJSON(json, { memoryLimit: 1e6 }).free();
    const buffer: ArrayBuffer = f.copy().transfer();
    structuredClone(buffer, { transfer: [buffer] });
    const [listed] = f.listKeys();
    f.addMany(["a"], { progress: (done, total) => done > (total ?? 0) });
    g.free();
    try {
        f.remove("a");
        closed[Symbol.dispose]();
    } catch (error) {
        if (error instanceof BloomeryError)
            console.log(error.code, error.status + 1, text, yes, many, added, label,
                        sum, listed.hash + 1n);
    }
}

export function wrong(f: Filter): void {
    // @ts-expect-error a key is not a boolean
    f.contains(true);
    // @ts-expect-error nor null
    f.add(null);
    // @ts-expect-error a width or offsets are missing
    f.containsMany({ bytes: new Uint8Array(3) });
    // @ts-expect-error a number is one key
    f.addMany(7);
    // @ts-expect-error a text is one key
    f.addMany("abc");
    // @ts-expect-error bytes might be one key
    f.addMany(new Uint8Array(3));
    // @ts-expect-error the option is `items`
    new Filter("standard", { capacity: 7 });
    // @ts-expect-error it is only read
    f.kind = "blocked";
    // @ts-expect-error JSON text has to be parsed
    Filter.fromJSON("{}");
    // @ts-expect-error the old names are gone
    f.has("a");
    // @ts-expect-error and these
    f.stat();
}
