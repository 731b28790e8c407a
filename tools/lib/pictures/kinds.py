"""kinds.py - a picture of each kind's memory: the cache lines of a small filter
with the bytes that a lookup reads, and the parts that the payload is made of.
docs/pictures/kinds.json has the lines, as trace.py recorded them."""

import json

from svg import Picture

LEFT, WIDE = 12, 536


def bits(text):
    return [(bit, 1, "wash" if bit == "1" else "panel") for bit in text]


def row(labels, kind="wash2"):
    return [(label, 1, kind) for label in labels]


def numbers(text):
    return [(n, 1, "panel" if n == "0" else "wash") for n in text.split()]


BITS = bits("0010010000101000110001001")


# Returns for the geometry of a filter: the title of its parts, the parts as
# (label, width, class), and a sentence about a key.
PARTS = {
    "standard": lambda g: (
        f"One row of {g[0]:,} bits", BITS,
        f"A key has {g[1]} bits anywhere in the row."),
    "partitioned": lambda g: (
        f"{g[1]} slices of {g[0]:,} bits",
        row([f"slice {i}" for i in range(g[1])]),
        "A key has one bit in each slice."),
    "blocked": lambda g: (
        f"{g[0]} blocks of 512 bits", BITS,
        f"A key has {g[1]} bits, all in one block: one cache line."),
    "split": lambda g: (
        f"{g[0]} blocks of eight lanes of 32 bits",
        row([f"lane {i}" for i in range(8)]),
        "A key has one bit in each lane of one block."),
    "compaction": lambda g: (
        f"{g[0]} lines of {512 // g[1]} slots of {g[1]} bits",
        row(["", "sig", "sig", "", "sig", "", "sig", "sig", "", "sig"]),
        "A key's slots are searched for its signature or an empty one."),
    "floom": lambda g: (
        f"A row of {g[0]:,} bits and an extra array",
        [(f"the row, in {g[2]} regions", 5, "wash2"),
         (f"{2**g[2]:,} bits", 2, "wash3")],
        f"A key has {g[1]} bits of the row. Their regions name one bit more."),
    "rehash": lambda g: (
        f"One row of {g[0]:,} bits", BITS,
        f"A key has {g[1]} bits, each by a hash function of its own."),
    "counting": lambda g: (
        f"{g[0]:,} counters of {g[2]} bits",
        numbers("0 1 0 0 2 1 0 1 0 3 0 1 0 0 1 1"),
        f"A key adds 1 to {g[1]} counters, and a removal takes it away."),
    "variable": lambda g: (
        f"{g[0]:,} counters of {g[3]} bits",
        numbers(f"0 {g[2] + 1} 0 {g[2]} {2 * g[2] + 1} 0 {2 * g[2] - 1} 0 "
                f"{g[2] + 2} 0"),
        f"A key adds a number from {g[2]} to {2 * g[2] - 1} to each of "
        f"{g[1]} counters."),
    "dleft": lambda g: (
        f"A bucket: eight cells of a {g[3]}-bit counter and a {g[2]}-bit "
        "remainder", row([f"cell {i}" for i in range(8)]),
        "A key has one bucket in each of four subtables."),
    "deletable": lambda g: (
        "A row of bits, and a mark for each region of it",
        [(f"{g[0]:,} bits", 5, "wash2"),
         (f"{-(-g[0] // g[2]):,} marks", 2, "wash3")],
        "A mark says that keys share bits of a region: these stay."),
    "cuckoo": lambda g: (
        f"{g[0]} buckets of four fingerprints of {g[1]} bits",
        row(["fingerprint"] * 4),
        "A key's fingerprint is in one of two buckets."),
    "quotient": lambda g: (
        f"{g[2]} blocks of 64 slots",
        [("occupied", 2, "wash"), ("run ends", 2, "wash"),
         ("spill", 1, "wash3"),
         (f"64 remainders of {g[1]} bits", 5, "wash2")],
        "A key's remainder lies in the run of its quotient, in rising order."),
    "expandable": lambda g: (
        "Segments of blocks of 64 slots; the last ones have grown",
        row(["segment"] * 3) + [("segment", 2, "wash2")] * 2,
        "A key's remainder is in a run, as in quotient, of any age's length."),
    "golomb": lambda g: (
        f"A page of {g[2]:,} bytes: {g[3]} buckets",
        [("ends", 2, "wash"), ("codes of the buckets", 5, "wash2"),
         ("free", 1, "panel")],
        "A key's value is in the Golomb code of its bucket."),
    "xor": lambda g: (
        f"Three blocks of {g[2] & 0xffffffff:,} cells of "
        f"{g[1] >> 40 & 255} bits",
        row(["block 0", "block 1", "block 2"]),
        "The XOR of a key's three cells, one in each, is its fingerprint."),
    "fuse": lambda g: (
        f"{(g[2] >> 32) + (g[1] >> 32 & 255) - 1} segments of "
        f"{g[2] & 0xffffffff:,} cells of {g[1] >> 40 & 255} bits",
        [("", 1, "panel"), ("", 1, "panel"), ("cell", 1, "wash"),
         ("cell", 1, "wash"), ("cell", 1, "wash"), ("", 1, "panel"),
         ("", 1, "panel"), ("", 1, "panel")],
        "The XOR of cells in neighbouring segments is the fingerprint."),
    "ribbon": lambda g: (
        f"Tiles of 32 slots of {g[1] >> 32 & 255}"
        + (f" or {(g[1] >> 32 & 255) + 1}" if g[0] >> 48 else "")
        + " bits, in columns",
        row([f"column {i}" for i in range((g[1] >> 32 & 255) + (g[0] >> 48 > 0))]),
        "The XOR of slots in a window of 32 is a key's fingerprint."),
    "gcs": lambda g: (
        "Records of 64 bytes, and then the code",
        [("start", 1, "wash"), ("sizes of 56 blocks", 3, "wash"),
         (f"Golomb codes of {g[0]} blocks", 5, "wash2")],
        "A key's number is in the code of its block."),
    "bloomier": lambda g: (
        "A cell: fingerprint, choice and label",
        [(f"fingerprint, {g[1] >> 40 & 255} bits", 4, "wash2"),
         ("choice, 2", 2, "wash"), (f"label, {g[1] >> 48} bits", 3, "wash3")],
        "The XOR of four cells proves a key, and says which has its label."),
    "approximator": lambda g: (
        f"{g[0]:,} cells of {g[2] & 255} bits",
        numbers("0 42 7 0 42 9 0 0 42 7 0 200"),
        f"A key's label is the least of its {g[1]} cells."),
    "spatial": lambda g: (
        f"{g[0]:,} cells of {g[2]} bits: numbers of areas",
        numbers("0 1 3 0 2 1 0 0 3 1 0 2 2 0"),
        f"A key's area is the least of its {g[1]} cells."),
    "egh": lambda g: (
        f"{g[1]} moduli, and a row of {g[2]:,} places",
        [("count", 1, "wash3"), ("moduli", 3, "wash"),
         ("a group of places for each", 4, "wash2")],
        "A key has the place of its remainder by each modulus."),
    "invertible": lambda g: (
        f"{g[1]} sub-tables of {g[0]} cells; a cell has 16 bytes",
        [("count", 1, "wash"), ("XOR of checks", 2, "wash2"),
         ("XOR of hashes", 3, "wash2")],
        "A cell with one key shows it; taken out, it frees others."),
    "stable": lambda g: (
        f"{g[0]:,} cells, up to {g[2]}",
        numbers("0 15 14 0 12 0 9 15 3 0 1 0 15 7"),
        f"An add sets {g[1]} cells to {g[2]} and lowers {g[3]} others."),
    "twin": lambda g: (
        "Two whole images", row(["A: keys added", "R: keys removed"]),
        "A key is there if it is in A and not in R."),
    "scalable": lambda g: (
        "A directory, and then a chain of whole images",
        [("directory", 2, "wash"), ("slice 0", 2, "wash2"),
         ("slice 1, when 0 is full", 4, "panel")],
        f"A full slice is followed by one of {g[1]} times its capacity."),
    "compressed": lambda g: (
        f"A sparse row of {g[1]:,} bits", bits("0000100000000000010000000"),
        "In memory it is a standard filter; a saved file packs its bits."),
    "aging": lambda g: (
        f"{g[1]} generations, each a whole image",
        [("ring", 1, "wash")] + [(f"generation {i}", 3, "wash2")
                                 for i in range(g[1])],
        f"When one has {g[2]} keys, the oldest is emptied for new ones."),
    "layered": lambda g: (
        f"{g[1]} layers, each a whole image",
        row([f"layer {i}" for i in range(g[1])]),
        "Each repeat of a key goes one layer deeper; the depth is its count."),
    "attenuated": lambda g: (
        f"{g[1]} levels, each a whole image",
        row([f"level {i + 1}" for i in range(g[1])]),
        "A key's label is the first level that has it."),
    "cascade": lambda g: (
        f"Levels: {g[0] >> 24 & 255} with a header, {g[0] >> 32 & 255} without",
        [("members", 3, "wash2"), ("their errors", 2, "wash"),
         ("errors of these", 2, "wash2"), ("…", 1, "panel")],
        "Each level holds the keys that the one before gets wrong."),
    "buffered": lambda g: (
        f"A head and {g[1]} pages of {g[0]:,} bytes",
        [("head", 1, "wash")] + [(f"page {i}", 1, "wash2")
                                 for i in range(g[1])],
        f"A page is a whole image. A key has {g[2]} bits, all in one page."),
}


def strip(p, y, of):
    """Draws the cache lines, and returns the y below them."""
    lines = -(-of["bytes"] // 64)
    per_row = 8 if lines <= 64 else 16 if lines <= 160 else 32
    step = (WIDE + 3) / per_row
    high, gap = (22, 5) if per_row == 8 else (11, 4)
    scale = (step - 3) / 64

    def place(line):
        return LEFT + line % per_row * step, y + line // per_row * (high + gap)

    def lines_of(runs):
        return {i for at, n in runs
                for i in range(at // 64, (at + n - 1) // 64 + 1)}

    def cells(which, kind, width=1.5):
        path = "".join("M{:.1f} {:.1f}h{:.1f}v{}h-{:.1f}z".format(
            *place(i), step - 3, high, step - 3) for i in which)
        if path:
            p.add(f'<path d="{path}" class="{kind}" stroke-width="{width}"/>')

    cells(range(2), "line")
    cells(range(2, lines), "panel")
    bars = ""
    for i, digit in enumerate(of["ones"]):
        if i >= 16 and digit != "0":
            x, top = place(i // 8)
            bars += (f"M{x + (i % 8) * 8 * scale:.1f} {top + high}"
                     f"v-{int(digit, 16) + 1}h{7 * scale:.1f}"
                     f"v{int(digit, 16) + 1}z")
    if bars:
        p.add(f'<path d="{bars}" class="line"/>')
    both = lines_of(of["there"]) & lines_of(of["absent"])
    cells(sorted(lines_of(of["absent"]) - both), "s-second", 2)
    cells(sorted(lines_of(of["there"])), "s-accent", 2)
    for runs, kind, top in ((of["absent"], "second", 0),
                            (of["there"], "accent", high - 4)):
        marks = ""
        for at, n in runs:
            while n > 0:
                part = min(n, 64 - at % 64)
                x, line_y = place(at // 64)
                marks += (f"M{x + at % 64 * scale:.1f} {line_y + top:.1f}"
                          f"h{max(2.5, part * scale):.1f}v4"
                          f"h-{max(2.5, part * scale):.1f}z")
                at, n = at + part, n - part
        p.add(f'<path d="{marks}" class="{kind}"/>')
    if per_row == 8:
        x, top = place(0)
        p.text(x + step, top + 15, "header", "small quiet mid")
    return (y + -(-lines // per_row) * (high + gap),
            len(lines_of(of["there"])), len(lines_of(of["absent"])))


def legend(p, y, kind, words, lines):
    p.rect(LEFT, y - 10, 14, 4, kind, 0)
    p.line([(LEFT, y - 14), (LEFT + 14, y - 14), (LEFT + 14, y),
            (LEFT, y), (LEFT, y - 14)], "s-" + kind, 2)
    plural = "s" if lines != 1 else ""
    p.text(LEFT + 24, y - 2, f"{words} reads {lines} cache line{plural}",
           "small")


def draw_kind(of):
    title, parts, sentence = PARTS[of["kind"]](of["geometry"])
    p = Picture("kinds/" + of["kind"], 560, 2000,
                f"The memory of a {of['kind']} filter", "")
    p.text(LEFT, 30, of["kind"], "big")
    p.text(LEFT, 52, f"{of['keys']:,} keys in {of['bytes']:,} bytes; a box is "
           "a cache line of 64 bytes", "small quiet")
    y, there, absent = strip(p, 66, of)
    legend(p, y + 20, "accent", "a key that is there", there)
    legend(p, y + 42, "second", "a key that is not", absent)
    p.text(LEFT, y + 78, title, "bold")
    x, total = LEFT, sum(part[1] for part in parts)
    for label, weight, kind in parts:
        w = WIDE * weight / total
        p.rect(x, y + 90, w - 3, 30, kind + " edged", 3)
        if label:
            p.text(x + (w - 3) / 2, y + 110, label, "small mid", w - 3)
        x += w
    p.text(LEFT, y + 144, sentence, "")
    p.height = int(y + 160)
    p.about = (f"A filter of {of['keys']:,} keys has "
               f"{-(-of['bytes'] // 64)} cache lines. A lookup of a key that "
               f"is there reads {there} of them, of one that is not "
               f"{absent}. {title}. {sentence}")
    return p


def draw(build, root):
    with open(root / "docs/pictures/kinds.json", encoding="utf-8") as file:
        return [draw_kind(of) for of in json.load(file)]
