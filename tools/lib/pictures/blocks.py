"""blocks.py - the parts of `bloomery serve` and of the Redis module."""

from svg import Picture


def serve():
    p = Picture("serve", 560, 310, "bloomery serve",
                "Clients in any language send requests to one process, which "
                "looks keys up in filter files that it has mapped. Another "
                "process writes a new file and renames it over the old one; "
                "the server opens it, and no request waits.")
    p.text(16, 30, "One process answers for all", "big")
    for i, words in enumerate(["web server", "mail server", "script"]):
        y = 56 + 62 * i
        p.box(16, y, 112, 46, [(words, "")])
        p.arrow([(128, y + 23), (196, y + 23)], "second")
    p.rect(196, 56, 152, 170, "wash2 edged", 6)
    for i, (words, kind) in enumerate([("bloomery serve", "mono bold"),
                                       ("reads requests,", "small"),
                                       ("answers them", "small"),
                                       ("in batches", "small")]):
        p.text(272, 112 + 22 * i, words, "mid " + kind)
    for i, words in enumerate(["blocked.bly", "seen.bly"]):
        y = 56 + 62 * i
        p.box(416, y, 128, 46, [(words, "mono")], "wash")
        p.arrow([(348, y + 23), (416, y + 23)], "accent")
    p.text(382, 74, "maps", "small mid accent")
    p.box(416, 246, 128, 46, [("new.bly", "mono")], "panel")
    p.arrow([(480, 246), (480, 164)], "accent")
    p.text(488, 208, "rename", "small accent")
    p.box(196, 246, 152, 46, [("bloomery build", "mono")])
    p.arrow([(348, 269), (416, 269)])
    return p


def redis():
    p = Picture("redis", 560, 300, "The Redis module",
                "A Redis client sends a command to the server; the module "
                "keeps a filter image as a value. The same bytes are in a "
                "filter file, in the server's dump, and on the way to a "
                "replica.")
    p.text(16, 30, "One filter, the same bytes everywhere", "big")
    p.box(16, 76, 120, 62, [("Redis client", ""),
                            ("BLY.ADD seen", "small mono")])
    p.arrow([(136, 107), (204, 107)], "second")
    p.rect(204, 52, 340, 110, "wash2 edged", 6)
    p.text(216, 74, "Redis or Valkey", "bold")
    p.box(216, 86, 124, 62, [("bloomery.so", "mono"),
                             ("the module", "small")], "back")
    p.arrow([(340, 117), (396, 117)], "accent")
    p.box(396, 86, 140, 62, [("filter image", ""),
                             ("the key's value", "small")], "wash")
    for x, wide, name, lines in (
            (16, 156, "BLY.DUMP, BLY.RESTORE", [("seen.bly", "mono"),
                                   ("a filter file", "small")]),
            (202, 156, "SAVE", [("dump.rdb", "mono"),
                                ("the server's file", "small")]),
            (388, 156, "replication", [("replica", ""),
                                       ("of the server", "small")])):
        p.box(x, 222, wide, 62, lines, "wash")
        middle = x + wide / 2
        p.line([(466, 148), (466, 184), (middle, 184)], "s-accent")
        p.arrow([(middle, 184), (middle, 222)], "accent")
        if name.endswith("RESTORE"):
            p.arrow([(middle, 214), (middle, 184), (466, 184), (466, 148)],
                    "accent")
        p.text(middle + 10, 208, name, "small accent")
    return p


def draw(build, root):
    return [serve(), redis()]
