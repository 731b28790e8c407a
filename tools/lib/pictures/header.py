"""header.py - the 128 bytes of an image's header, as they are in a filter of
a thousand numbers. The fields are those of the table in the format's page."""

import re
import subprocess
import tempfile

from svg import Picture

CELL, ROW, LEFT, TOP = 31, 50, 46, 60
SHORT = {"format version": "version"}
PAGE = "docs/format/README.md"


def fields(root):
    table = re.search(r"^\| 0 \| 8 \| magic(.+\n)+",
                      (root / PAGE).read_text(), re.M).group()
    rows = re.findall(r"^\| (\d+) \| (\d+) \| ([a-z ]+) \|", table, re.M)
    return [(int(at), int(size), name) for at, size, name in rows]


def image(build):
    with tempfile.TemporaryDirectory() as folder:
        lines = "".join(f"{i}\n" for i in range(1, 1001))
        subprocess.run([build / "bloomery", "build", "-n", "1000", "-o",
                        folder + "/f.bly", "-"], input=lines.encode(),
                       check=True)
        with open(folder + "/f.bly", "rb") as file:
            return file.read()


def draw(build, root):
    bytes_ = image(build)
    p = Picture("header", LEFT + 16 * CELL + 18, TOP + 8 * ROW + 62,
                "The header of an image",
                "A map of the 128 bytes before the payload, 16 bytes in a "
                "row, with the bytes of a filter that holds the numbers 1 to "
                "1000.")
    p.text(LEFT, 28, "The 128-byte header", "big")
    p.text(LEFT + 16 * CELL, 28, "seq 1000 | bloomery build -n 1000 -",
           "small mono quiet end")
    for i in range(16):
        p.text(LEFT + (i + 0.5) * CELL, TOP - 8, f"+{i}", "small quiet mid")
    for row in range(8):
        p.text(LEFT - 8, TOP + row * ROW + 30, str(16 * row),
               "small quiet end")
    for i, (at, size, name) in enumerate(fields(root)):
        kind = ("wash", "wash2", "wash3")[i % 3]
        for begin in range(at, at + size, 16 - at % 16 if at % 16 else 16):
            n = min(16 - begin % 16, at + size - begin)
            x, y = LEFT + begin % 16 * CELL, TOP + begin // 16 * ROW
            p.rect(x + 1, y + 1, n * CELL - 2, ROW - 4, kind, 4)
            if begin == at:
                p.text(x + 7, y + 18, SHORT.get(name, name),
                       "small bold", n * CELL - 8)
        for j in range(at, at + size):
            x, y = LEFT + (j % 16 + 0.5) * CELL, TOP + j // 16 * ROW + 38
            seen = (chr(bytes_[j]) if name in ("magic", "kind", "hash")
                    and bytes_[j] else f"{bytes_[j]:02x}")
            p.text(x, y, seen, "small mono mid")
    y = TOP + 8 * ROW
    p.rect(LEFT + 1, y + 6, 16 * CELL - 2, 28, "panel edged", 4)
    p.text(LEFT - 8, y + 25, "128", "small quiet end")
    p.text(LEFT + 8 * CELL, y + 25,
           f"payload: {len(bytes_) - 128:,} bytes, up to byte "
           f"{len(bytes_):,}", "mid")
    p.text(LEFT, y + 53, "Numbers are little-endian. A letter stands for its "
           "ASCII code.", "small quiet")
    return [p]
