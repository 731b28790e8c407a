"""bench.py - the cost of the package, as a ratio to the same call from C: `make
bench WHAT=python`.

The call from C looks up the same keys, in the layout that the library takes without a
conversion, and does nothing else. Each figure is the least of several runs, in turns;
the ratios are from one process, so they hold on other machines better than the
nanoseconds. The goal is 1.3 for arrays and 3 for lists.
"""
import pathlib
import sys
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent / "tests"))
import arrow

from bloomery import Filter, _keys
from bloomery._native import ffi, lib

N = 1_000_000
TIMES = 9


def once(call):
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


def least(*calls, times=TIMES):
    """Returns the least time of each call, taken in turns."""
    runs = [[once(call) for call in calls] for _ in range(times)]
    return [min(column) for column in zip(*runs)]


def batch(name, f, keys, plain):
    """Looks up a batch from Python, and from C as `plain`."""
    present = ffi.new("bool[]", N)
    where = _keys.whole(_keys.gather(plain, lambda: np))

    def from_c():
        where.c.done = 0
        while lib.held_contains_keys(f._h, where.c, present) == lib.HELD_MORE:
            pass

    ours, c = least(lambda: f.contains_many(keys), from_c)
    print(f"{name:36} {ours / N * 1e9:6.1f} ns a key, from C "
          f"{c / N * 1e9:6.1f}, ratio {ours / c:.2f}")


def one(name, f, key):
    keys = [key] * N
    ours, loop = least(lambda: [k in f for k in keys],
                       lambda: [k for k in keys])
    ns = (ours - loop) / N * 1e9
    print(f"{name:36} {ns:6.0f} ns, {1e3 / ns:.1f} million a second")


def build(name, kind, keys, one_array):
    """Builds from the chunks of a stream, and from one array."""
    ours, array = least(lambda: Filter.build(kind, keys(), threads=1),
                        lambda: Filter.build(kind, one_array, threads=1),
                        times=5)
    print(f"{name:36} {ours / N * 1e9:6.0f} ns a key, from one array "
          f"{array / N * 1e9:.0f}, ratio {ours / array:.2f}")


def filled(*arrays):
    f = Filter("blocked", items=2 * N, rate=0.01, keys="any")
    for keys in arrays:
        f.update(keys)
    return f


def series(values):
    try:
        import pandas
    except ImportError:
        return None
    return pandas.Series(values)


words = [f"key number {i}" for i in range(N)]
integers = np.arange(N)
text = arrow.text(words)
gaps = [w if i % 10 else None for i, w in enumerate(words)]
some = words[:1000]
index = np.arange(N, dtype="i4") % 1000
categories = arrow.Array("i", [None, index], N, dictionary=arrow.text(some))
fixed = np.array(words, "S")
f = filled(integers, text, fixed)

one("'in' with bytes", f, b"key number 7")
one("'in' with text", f, "key number 7")
batch("numpy, int64", f, integers, integers)
batch("numpy, int32", f, integers.astype("i4"), integers)
batch("numpy, float64", f, integers + 0.5, integers)
batch("numpy, bytes of one width", f, fixed, fixed)
batch("numpy, text", f, np.array(words), text)
batch("Arrow, utf8", f, text, text)
batch("Arrow, large_utf8", f, arrow.text(words, 64), text)
batch("Arrow, string_view", f, arrow.views(words), text)
batch("Arrow, utf8 with a tenth missing", f, arrow.text(gaps), text)
batch("Arrow, dictionary", f, categories,
      arrow.text([some[i] for i in index.tolist()]))
batch("Arrow, fixed_size_binary", f,
      arrow.Array(f"w:{fixed.itemsize}", [None, fixed.view("u1")], N), fixed)
batch("Arrow, int64", f, arrow.integers(integers), integers)
if series(integers) is not None:
    batch("pandas, int64", f, series(integers), integers)
    batch("pandas, texts as objects", f, series(words), text)
batch("list of texts", f, words, text)
batch("list of bytes", f, fixed.tolist(), fixed)
batch("list of integers", f, integers.tolist(), integers)
parts = [arrow.text(words[i:i + N // 10]) for i in range(0, N, N // 10)]
for kind in "fuse", "blocked":
    build(f"build {kind}, Arrow, ten chunks", kind,
          lambda: arrow.Chunked(parts), text)
