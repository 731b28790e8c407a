"""model.py - a log of requests, and what a cache does for it, without a filter.

    model.py make common|squid REQUESTS OBJECTS
    model.py cache SIZE LOG...

`make` prints a log: few objects often, many seldom, some that change, and lines
that are not counted. `cache` prints what webcache must: the largest number of
objects, the shares of requests and of bytes that the cache answers, all looks,
and those that only hits need.
"""
import collections
import itertools
import random
import re
import sys

COMMON = re.compile(r'^\S+ \S+ .*? ?\[[^]]*\] "((?:[^"\\]|\\.)*)" (\d{3}) (\d+|-)')
SQUID = re.compile(r"^[\d.]+\s+\d+ \S+ \w+/(\d{3}) (\d+) (\S+) (\S+) ")


def line(squid, n, method, path, status, size):
    if squid:
        return "%d.%03d %6d 10.0.0.%d TCP_%s/%d %d %s http://a.example%s - " \
            "HIER_DIRECT/192.0.2.1 text/html" % (
                1700000000 + n // 10, n % 10 * 100, n % 977, n % 250,
                "MISS" if status == 200 else "REFRESH_UNMODIFIED", status,
                size, method, path)
    return '10.0.0.%d - %s [10/Oct/2025:13:%02d:%02d +0000] "%s %s HTTP/1.1" ' \
        '%d %s "http://a.example/\\"x" "Browser/1 (X; [en])"' % (
            n % 250, "-" if n % 3 else "a b", n // 60 % 60, n % 60, method,
            path, status, size if size else "-")


def make(squid, requests, objects):
    draw = random.Random(3)
    weights = list(itertools.accumulate(1 / (i + 1) for i in range(objects)))
    size = [int(draw.paretovariate(1.2) * 800) for _ in range(objects)]
    for n in range(requests):
        i = draw.choices(range(objects), cum_weights=weights)[0]
        path = "/%d/%s" % (i * 7919 % objects, "%22" if i % 5 else '\\"q')
        kind = draw.random()
        if kind < .03:
            print(line(squid, n, "POST", path, 200, 17))
        elif kind < .06:
            print(line(squid, n, "GET", path, 404, 300))
        elif kind < .16:
            print(line(squid, n, "GET", path, 304, 0))
        else:
            if kind < .18:
                size[i] += 1
            print(line(squid, n, "GET", path, 200, size[i]))
    if not squid:
        print('10.0.0.1 - - [10/Oct/2025:14:00:00 +0000] "-" 400 0 "-" "-"')
        print('10.0.0.1 - - [10/Oct/2025:14:00:00 +0000] "\\x16\\x03" 400 0')


def read(names):
    for name in names:
        for text in open(name):
            found = SQUID.match(text)
            if found:
                status, size, method, url = found.groups()
            else:
                request, status, size = COMMON.match(text).groups()
                method, url = (request.split() + ["", ""])[:2]
            if method == "GET" and status in ("200", "304"):
                yield url, None if status == "304" else \
                    0 if size == "-" else int(size)


def cache(room, names):
    there, total = collections.OrderedDict(), 0
    peak = requests = hits = hit_bytes = all_bytes = present = 0
    for url, size in read(names):
        requests += 1
        all_bytes += size or 0
        present += url in there
        if url in there and size in (None, there[url]):
            hits += 1
            hit_bytes += size or 0
            there.move_to_end(url)
            continue
        total -= there.pop(url, 0)
        if size is None or size > room:
            continue
        while total + size > room:
            total -= there.popitem(last=False)[1]
        there[url] = size
        total += size
        peak = max(peak, len(there))
    print(room, peak, "%.4f" % (hits / requests),
          "%.4f" % (hit_bytes / all_bytes), requests, present, sep="\t")


if sys.argv[1] == "make":
    make(sys.argv[2] == "squid", int(sys.argv[3]), int(sys.argv[4]))
else:
    cache(int(sys.argv[2]), sys.argv[3:])
