// types.ts - is never run: that bloomery.d.ts allows what is right, and nothing else.
import { BloomeryError, Filter, Kind, Plan, Stat, kinds, load, memory,
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
    const yes: boolean = f.add("a") && f.has(7) && f.has(7n) &&
        f.has(new Uint8Array(3)) && f.has(new ArrayBuffer(3));
    const many: Uint8Array = f.hasAll(["a", 1, 2n, new Uint8Array(1)]);
    f.addAll(new BigInt64Array(3));
    f.addAll({ bytes: new Uint8Array(8), width: 4 });
    f.addAll({ bytes: new Uint8Array(8), offsets: new Uint32Array(2) });
    f.addAll(new Set(["a"]));
    f.addAll(function* () { yield "a"; yield 7; }());
    f.addAll([new Uint8Array(1)] as const);
    const closed: { [Symbol.dispose](): void } = f;
    await new Response(new Blob([f.save(), f.image()])).arrayBuffer();
    await new Response(f.save()).arrayBuffer();
    const plan: Plan = Filter.plan("fuse", { items: 1e6 });
    const stat: Stat = f.copy().unite(f).stat();
    const label: number | bigint | undefined =
        Filter.build("bloomier", ["a"], { labels: [1] }).get("a");
    const sum: number = plan.bitsPerKey + stat.rate + f.overlap(f).both.sd + memory();
    const g = Filter.from(f.save(), { format: "bloomery", progress: () => false });
    f.addAll(["a"], { progress: (done, total) => done > (total ?? 0) });
    g.free();
    try {
        f.remove("a");
        closed[Symbol.dispose]();
    } catch (error) {
        if (error instanceof BloomeryError)
            console.log(error.code, error.status + 1, text, yes, many, label, sum);
    }
}

export function wrong(f: Filter): void {
    // @ts-expect-error a key is no boolean
    f.has(true);
    // @ts-expect-error nor null
    f.add(null);
    // @ts-expect-error a width or offsets are missing
    f.hasAll({ bytes: new Uint8Array(3) });
    // @ts-expect-error a number is one key
    f.addAll(7);
    // @ts-expect-error a text is one key
    f.addAll("abc");
    // @ts-expect-error bytes might be one key
    f.addAll(new Uint8Array(3));
    // @ts-expect-error there is no such option
    new Filter("standard", { capacity: 7 });
    // @ts-expect-error it is only read
    f.kind = "blocked";
}
