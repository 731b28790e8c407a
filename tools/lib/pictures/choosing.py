"""choosing.py - the questions that lead to a kind."""

from svg import Picture

STEPS = [
    (["Is the set fixed when", "the filter is built?"],
     [("fuse", "the fastest"), ("ribbon", "the smallest")]),
    (["Must keys be", "removed later?"],
     [("cuckoo", "small and quick"),
      ("quotient", "smaller, counts and lists"),
      ("counting", "the classic, with counters")]),
    (["Is it an endless stream", "that may forget old keys?"],
     [("aging", "keeps the newest N keys"),
      ("stable", "forgets little by little")]),
    (["Is the number of", "keys unknown?"],
     [("expandable", "grows, keeps its rate"),
      ("scalable", "grows, adds faster")]),
    (["Is the filter larger than", "the processor's cache?"],
     [("blocked", "one cache miss a lookup"),
      ("split", "the same, and Parquet's")]),
]
OTHERS = [
    ("A number with each key", "bloomier"),
    ("No error in a known universe", "cascade"),
    ("Find the differing keys of two sets", "invertible"),
]
LEFT, WIDE, RIGHT, LINE = 16, 208, 272, 22


def draw(build, root):
    p = Picture("choosing", 560, 660, "Which kind of filter",
                "Five questions in turn. "
                + " ".join(f"{' '.join(q)} Then "
                           + ", ".join(name for name, _ in kinds) + "."
                           for q, kinds in STEPS)
                + " Otherwise standard. Further needs: "
                + ", ".join(f"{need}: {name}" for need, name in OTHERS) + ".")
    p.text(LEFT, 30, "Which kind of filter?", "big")
    y = 48
    for question, kinds in STEPS:
        high = max(54, LINE * len(kinds) + 14)
        middle = y + 27
        p.box(LEFT, y, WIDE, 54, [(line, "") for line in question])
        top = middle - 27
        p.rect(RIGHT, top, 560 - RIGHT - LEFT, high, "wash2", 6)
        first = top + (high - LINE * len(kinds)) / 2 + 16
        for i, (name, why) in enumerate(kinds):
            p.text(RIGHT + 12, first + LINE * i, name, "mono bold")
            p.text(RIGHT + 106, first + LINE * i, why, "small")
        p.arrow([(LEFT + WIDE, middle), (RIGHT, middle)])
        p.text((LEFT + WIDE + RIGHT) / 2 - 4, middle - 7, "yes", "small mid")
        p.arrow([(LEFT + WIDE / 2, y + 54), (LEFT + WIDE / 2, y + 94)])
        p.text(LEFT + WIDE / 2 + 8, y + 78, "no", "small")
        y += 94
    p.box(LEFT, y, WIDE, 54, [("standard", "mono bold"),
                              ("any rate, least memory", "small")], "wash2")
    x = RIGHT
    p.text(x, y + 8, "And for rarer needs", "bold")
    for i, (need, name) in enumerate(OTHERS):
        p.text(x, y + 32 + 38 * i, need, "small quiet")
        p.text(x, y + 49 + 38 * i, name, "mono bold")
    return [p]
