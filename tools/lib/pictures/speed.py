"""speed.py - times beside other tools, from docs/pictures/speed.csv: medians
that `make bench` measured on an idle machine. The column "measured" has the
names of that benchmark; the last job, where a peer is ahead, has none, because
that peer is not part of it."""

import csv
import itertools

from svg import Picture

X, W, ROW = 232, 240, 24


def ours(tool):
    return tool.lower().startswith("bloomery")


def draw(build, root):
    with open(root / "docs/pictures/speed.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    jobs = [(job, list(of)) for job, of in
            itertools.groupby(rows, lambda row: row["job"])]
    p = Picture("speed", 560, 96 + 52 * len(jobs) + ROW * len(rows),
                "Speed beside other tools",
                "; ".join(f"{r['job']}: {r['tool']} {r['value']} {r['unit']}"
                          for r in rows) + ".")
    p.text(16, 30, "Shorter is faster", "big")
    p.text(16, 52, "10 million lines of 56 bytes; seconds", "small quiet")
    y = 70
    before = rows[0]["processor"]
    for job, of in jobs:
        if of[0]["processor"] != before:
            p.line([(16, y + 2), (544, y + 2)], "s-line", 1)
            before = of[0]["processor"]
            y += 6
        p.text(16, y + 22, job, "bold")
        p.text(544, y + 22, before, "small quiet end")
        y += 32
        most = max(float(row["value"]) for row in of)
        for row in of:
            value = float(row["value"])
            mine = ours(row["tool"])
            p.text(X - 10, y + 15, row["tool"], "small mono end"
                   + (" bold" if mine else ""))
            p.rect(X, y + 2, max(3, W * value / most), 17,
                   "accent" if mine else "edge", 3)
            p.text(X + 8 + max(3, W * value / most), y + 16,
                   f"{row['value']} {row['unit']}",
                   "bold accent" if mine else "")
            y += ROW
        y += 20
    return [p]
