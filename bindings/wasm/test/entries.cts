// entries.cts - is compiled and never run: every entry has types for require().
import bloomery = require("bloomery");
import inline = require("bloomery/inline");
import sets = require("bloomery/inline/sets");

export async function right(): Promise<boolean> {
    await bloomery.load();
    const f: bloomery.Filter = new inline.Filter("blocked", { items: 10 });
    return f.contains("a") && sets.Filter.fromBytes(f.pack()).contains(7n);
}

export function wrong(f: sets.Filter): void {
    // @ts-expect-error a key is not a boolean
    f.contains(true);
}
