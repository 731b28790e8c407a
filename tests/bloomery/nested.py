"""nested.py - lists of domains, networks and paths, and what lies within them.

    nested.py make CLASS ENTRIES ASKED      writes ENTRIES lines to the file
                                            `list` and ASKED lines to `asked`
    nested.py mark CLASS                    prints what query --mark must print

The answers are by comparison of labels and components, and by the module
ipaddress.
"""
import ipaddress
import random
import sys

LENGTHS = {4: range(14, 33), 6: range(20, 129)}


def name(draw):
    words = [draw.choice("abcdefghijklmnop") * draw.randrange(1, 3)
             for _ in range(draw.randrange(2, 6))]
    return ".".join(words)


def network(draw):
    if draw.random() < 0.7:
        address = ipaddress.IPv4Address(0x0a000000 | draw.getrandbits(20))
        length = draw.choice(LENGTHS[4])
    else:
        address = ipaddress.IPv6Address(0x20010db8 << 96
                                        | draw.getrandbits(8) << 88
                                        | draw.getrandbits(80))
        length = draw.choice(LENGTHS[6])
    return str(ipaddress.ip_network((address, length), strict=False))


def path(draw):
    return "/" * draw.randrange(2) + name(draw).replace(".", "/")


MAKE = {"domain": name, "cidr": network, "path": path}


def written(text, class_, draw):
    """Another spelling of an entry."""
    if class_ == "domain":
        return draw.choice([text, text.upper(), text + ".", "." + text,
                            "*." + text, "||" + text + "^"])
    if class_ == "path":
        return draw.choice([text, text + "/", text.replace("/", "//")])
    if ":" not in text and draw.random() < 0.1:
        address, length = text.split("/")
        return "::ffff:%s/%d" % (address, int(length) + 96)
    return text


def make(class_, entries, asked):
    draw = random.Random(class_)
    texts = [MAKE[class_](draw) for _ in range(entries)]
    with open("list", "w") as out:
        for text in texts:
            print(written(text, class_, draw), file=out)
    with open("asked", "w") as out:
        for i in range(asked):
            print(MAKE[class_](draw) if i % 4 else draw.choice(texts), file=out)
    with open("entries", "w") as out:
        print(*texts, sep="\n", file=out)


def parents(text, class_):
    """The text and what it lies within, from the innermost on."""
    if class_ == "cidr":
        net = ipaddress.ip_network(text)
        return [str(net.supernet(new_prefix=i))
                for i in range(net.prefixlen, -1, -1)]
    separator = "." if class_ == "domain" else "/"
    parts = text.split(separator)
    n = len(parts)
    if class_ == "domain":
        return [separator.join(parts[i:]) for i in range(n)]
    return [separator.join(parts[:i]) for i in range(n, 0, -1)]


def mark(class_):
    with open("entries") as file:
        entries = set(file.read().split("\n"))
    entries.discard("")
    with open("asked") as file:
        for line in file:
            line = line.rstrip("\n")
            found = [x for x in parents(line, class_) if x in entries]
            print(found[0] if found else "", line, sep="\t")


if sys.argv[1] == "make":
    make(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
else:
    mark(sys.argv[2])
