"""ladder.py - how many keys fit in a filter of some size."""

import json
import math
import subprocess

from svg import Picture

SIZES = [("1 KiB", 2**10, "a packet"), ("32 KiB", 2**15, "first-level cache"),
         ("1 MiB", 2**20, "second-level cache"), ("32 MiB", 2**25, "third-level cache"),
         ("1 GiB", 2**30, "memory")]
RATES = [("1%", "1 %", "accent", "wash"), ("0.1%", "0.1 %", "second", "wash2")]
X, W, ROW, TOP = 118, 426, 74, 92


def bytes_for(build, keys, rate):
    out = subprocess.run([build / "bloomery", "plan", "-k", "standard", "-n",
                          str(keys), "-p", rate, "--json"], check=True,
                         capture_output=True).stdout
    return json.loads(out)["bytes"]


def fits(build, size, rate):
    """The most keys whose filter has at most `size` bytes."""
    low, high = 1, size
    while high - low > 1:
        middle = (low + high) // 2
        if bytes_for(build, middle, rate) <= size:
            low = middle
        else:
            high = middle
    return low


def words(n):
    for unit, name in ((10**6, " million"), (1, "")):
        if n >= unit:
            return (f"{n / unit:,.3g}{name}" if n >= 10**6 and n < 10**9
                    else f"{n:,}")


def draw(build, root):
    p = Picture("ladder", 560, TOP + ROW * len(SIZES) + 28,
                "How many keys fit", "")
    said = []
    p.text(16, 28, "How many keys fit", "big")
    p.text(16, 50, "in a standard filter of this size, at a rate of 1 % and "
           "of 0.1 %", "small quiet")
    for i, (name, size, where) in enumerate(SIZES):
        y = TOP + ROW * i
        p.text(16, y + 4, name, "bold")
        p.text(16, y + 22, where, "small quiet")
        for j, (rate, shown, colour, wash) in enumerate(RATES):
            n = fits(build, size, rate)
            w = 36 + (W - 150) * math.log10(n / 400) / math.log10(1e9 / 400)
            p.rect(X + 26, y - 12 + 26 * j, w, 20, colour, 3)
            p.text(X + 34 + w, y + 3 + 26 * j,
                   f"{words(n)}" + (f"  at {shown}" if i == 0 else ""),
                   colour + " bold")
            said.append(f"{name} at {shown}: {n:,}")
    p.about = "Keys in a standard filter. " + "; ".join(said) + "."
    p.text(16, p.height - 16, "Bars are logarithmic: the next size holds 32 "
           "times as many keys.", "small quiet")
    return [p]
