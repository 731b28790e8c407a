// blocklist.js - decides in a page whether a host is on the server's blocklist.
//
// The page downloads a filter of all blocked hosts, some bits per host. "No" is certain,
// so nearly all hosts are decided without a request, and the server does not learn
// which hosts a user visits. "Perhaps" is wrong for one host in 256: the server, which
// has the list itself, decides these.
import { load, Filter } from "bloomery";

/** Returns { isBlocked, counts }. `filter` is the URL of the filter, and confirm(host)
 * asks the server. */
export async function blocklist(filter, confirm) {
    // All kinds: "fuse" is not in load("sets").
    await load();
    const answer = await fetch(filter);
    if (!answer.ok)
        throw new Error(`${filter}: ${answer.status} ${answer.statusText}`);
    const blocked = Filter.fromBytes(await answer.arrayBuffer());
    const counts = { queries: 0, confirmed: 0 };

    // Blocks "a.b.example" if the list has it, "b.example" or "example".
    async function isBlocked(host) {
        counts.queries++;
        const labels = host.toLowerCase().replace(/\.$/, "").split(".");
        const names = labels.map((_, i) => labels.slice(i).join("."));
        const perhaps = blocked.containsMany(names);
        for (const [i, name] of names.entries()) {
            if (perhaps[i] === 0)
                continue;
            counts.confirmed++;
            if (await confirm(name))
                return true;
        }
        return false;
    }
    return { isBlocked, counts };
}
