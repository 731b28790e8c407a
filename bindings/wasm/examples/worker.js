// worker.js - a web worker that answers queries, so that the page never waits.
//
// The first message is a filter as an ArrayBuffer, from transfer() or fetch(). All
// others are { id, keys }, and the answer to each is { id, found }.
import { load, Filter } from "../bloomery.js";          // import maps end at workers

const ready = load();
let filter;

self.onmessage = async ({ data }) => {
    await ready;
    if (data instanceof ArrayBuffer) {
        filter = Filter.fromBytes(data);
        return;
    }
    const found = filter.containsMany(data.keys);
    self.postMessage({ id: data.id, found }, [found.buffer]);
};
