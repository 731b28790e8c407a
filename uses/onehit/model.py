"""model.py: a synthetic trace. model.py TRACE C...: an independent model of caches
of C objects. Each line: objects, rule, hits, their share of the requests,
writes."""
import sys
from collections import OrderedDict

M = (1 << 64) - 1
BITS, K, KEYS = 479253, 7, 50000


def shuffled(items, state):
    for i in range(len(items) - 1, 0, -1):
        state = (state + 0x9E3779B97F4A7C15) & M
        z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & M
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & M
        j = (z ^ (z >> 31)) * (i + 1) >> 64
        items[i], items[j] = items[j], items[i]
    return items


def made():
    times = [1] * 75000
    times += [2 + int((25000 / (i + 1)) ** 0.7) for i in range(25000)]
    return shuffled([o for o, n in enumerate(times) for _ in range(n)], 42)


def mix(h):
    h = (h ^ (h >> 33)) * 0xff51afd7ed558ccd & M
    h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53 & M
    return h ^ (h >> 33)


class Always:
    def seen(self, o):
        return True


class Exact:
    def __init__(self):
        self.all = set()

    def seen(self, o):
        known = o in self.all
        self.all.add(o)
        return known


class Two:
    """The current filter and the previous one, with one byte per bit."""
    places = {}

    def __init__(self):
        self.now, self.before, self.n = bytearray(BITS), bytearray(BITS), 0

    def seen(self, o):
        if o not in self.places:
            a = mix(int(o) + 1)
            b = mix(a) | 1
            self.places[o] = [((a + i * b) & M) * BITS >> 64 for i in range(K)]
        at = self.places[o]
        now = all(self.now[p] for p in at)
        before = all(self.before[p] for p in at)
        if not now:
            for p in at:
                self.now[p] = 1
            self.n += 1
            if self.n == KEYS:
                self.now, self.before, self.n = bytearray(BITS), self.now, 0
        return now or before


def replay(trace, c, rule):
    cache, hits, writes = OrderedDict(), 0, 0
    for o in trace:
        if o in cache:
            cache.move_to_end(o)
            hits += 1
        elif rule.seen(o):
            writes += 1
            cache[o] = True
            if len(cache) > c:
                cache.popitem(last=False)
    return hits, "%.4f" % (hits / len(trace)), writes


if len(sys.argv) == 1:
    print(*made(), sep="\n")
else:
    lines = open(sys.argv[1], errors="surrogateescape").read().split("\n")[:-1]
    for c in map(int, sys.argv[2:]):
        print(c, "all", *replay(lines, c, Always()))
        print(c, "exact", *replay(lines, c, Exact()))
        if lines[0].isdigit():
            print(c, "two", *replay(lines, c, Two()))
