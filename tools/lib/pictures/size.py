"""size.py - bits for each key of a billion at 1 %, by `bloomery plan`, beside
a sorted list of 64-bit hashes and a hash table of them."""

import json
import math
import subprocess

from svg import Picture

KINDS = ["ribbon", "fuse", "standard", "quotient", "blocked", "cuckoo"]
NOTES = {"ribbon": "fixed set, smallest", "fuse": "fixed set, fast",
         "standard": "add", "quotient": "add, remove, count",
         "blocked": "add, fast", "cuckoo": "add, remove"}
# A table of 8-byte slots that is 7/8 full, as full as fast ones become.
OTHERS = [("sorted list of hashes", 64.0), ("hash table of hashes", 64 * 8 / 7)]
X, W, ROW, TOP = 184, 300, 30, 72


def draw(build, root):
    rows = []
    for kind in KINDS:
        out = subprocess.run([build / "bloomery", "plan", "-k", kind, "-n",
                              "1e9", "-p", "1%", "--json"], check=True,
                             capture_output=True).stdout
        rows.append((kind, json.loads(out)["bits_per_key"]))
    rows += OTHERS
    p = Picture("size", 560, TOP + ROW * len(rows) + 66,
                "Bits per key at a rate of 1 %",
                "; ".join(f"{name}: {bits:.2f}" for name, bits in rows)
                + " bits per key.")
    p.text(16, 30, "Bits per key, at a false-positive rate of 1 %", "big")
    p.text(16, 52, "a billion keys of any length; shorter is smaller",
           "small quiet")
    most = OTHERS[-1][1]
    for i, (name, bits) in enumerate(rows):
        y = TOP + ROW * i
        mine = name in KINDS
        p.text(X - 10, y + 20, name, "mono bold end" if mine else "small end")
        p.rect(X, y + 5, W * bits / most, 20, "accent" if mine else "edge", 3)
        x = X + 8 + W * bits / most
        wide = p.text(x, y + 20, f"{bits:.2f}" if mine else f"{bits:.0f}",
                      "bold accent" if mine else "")
        if mine:
            p.text(x + wide + 14, y + 20, NOTES[name], "small quiet")
    y = TOP + ROW * len(rows)
    x = X + W * math.log2(100) / most
    p.line([(x, TOP), (x, y + 4)], "s-second", 1.5,
           ' stroke-dasharray="4 3"')
    p.text(x + 8, y + 16, f"{math.log2(100):.2f}: no filter can be smaller",
           "small second")
    p.text(16, y + 42, "Hashes have 64 bits; the hash table is 7/8 full. "
           "A table of strings is larger.", "small quiet")
    return [p]
