"""bench.py - what the package takes beside the library behind it: `make
bench WHAT=python`. Each figure is the least of several runs; the ratios are of one
process, and so hold on other machines better than the nanoseconds."""
import pathlib
import sys
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent / "tests"))
import arrow

from bloomery import Filter, _keys
from bloomery._native import ffi, lib

N = 1_000_000


def least(call, times=7):
    def once():
        begun = time.perf_counter()
        call()
        return time.perf_counter() - begun
    return min(once() for _ in range(times))


def batch(name, f, keys, where):
    """A batch from Python, beside the same call from C."""
    present = ffi.new("bool[]", N)

    def from_c():
        where.c.done = 0
        while lib.held_contains_keys(f._h, where.c, present) == lib.HELD_MORE:
            pass

    ours, c = least(lambda: f.contains_many(keys)), least(from_c)
    print(f"{name}: {ours / N * 1e9:.1f} ns a key, from C {c / N * 1e9:.1f}, "
          f"ratio {ours / c:.2f}")


def one(name, f, key):
    keys = [key] * N
    ns = least(lambda: [k in f for k in keys]) - least(lambda: [k for k in keys])
    print(f"{name}: {ns / N * 1e9:.0f} ns, {N / ns / 1e6:.1f} million a second")


f = Filter("blocked", items=2 * N, rate=0.01, keys="any")
integers = np.arange(N)
words = [f"key number {i}" for i in range(N)]
column = arrow.text(words)
f.update(integers)
f.update(column)
one("'in' with bytes", f, b"key number 7")
one("'in' with text", f, "key number 7")
batch("10^6 integers of numpy", f, integers, _keys.from_numpy(np, integers))
batch("10^6 strings of Arrow", f, column, _keys.from_arrow_array(np, column))
print(f"a list of 10^6 texts: {least(lambda: f.contains_many(words), 3) / N * 1e9:.0f}"
      " ns a key")
