// entries.mts - is compiled and never run: every entry has types for import.
import { Filter, load } from "bloomery";
import { Filter as Inline } from "bloomery/inline";
import { Filter as Sets } from "bloomery/inline/sets";

export async function right(): Promise<boolean> {
    await load();
    const f: Filter = new Inline("blocked", { items: 10 });
    return f.contains("a") && Sets.fromBytes(f.pack()).contains(7n);
}

export function wrong(f: Sets): void {
    // @ts-expect-error a key is not a boolean
    f.contains(true);
}
