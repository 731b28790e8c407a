"""rows.py - what `bloomery similar` and a program of fingerprints are held against.

    rows.py most QUERIES.fps LIBRARY.fps K T   the K most similar rows, all compared
    rows.py unread QUERIES.fps LIBRARY.fps T   the share whose number of bits says no
    rows.py fold LIBRARY.fps                   the halves of each row upon each other
    rows.py ones LIBRARY.fps                   the share of bits that are set
"""
import sys


def rows(path):
    with open(path) as file:
        return [line.rstrip("\n").split("\t") for line in file
                if not line.startswith("#")]


def numbers(path):
    """Yields each row's bits as one number, how many are set, and the name."""
    read = ((int(text, 16), name) for text, name in rows(path))
    return [(bits, bin(bits).count("1"), name) for bits, name in read]


def most(queries, library, k, least):
    for q, a, query in queries:
        found = []
        for i, (r, b, name) in enumerate(library):
            both = bin(q & r).count("1")
            found.append((-both / (a + b - both) if both else 0, i, name))
        found = [row for row in sorted(found)[:k] if -row[0] >= least]
        for similarity, _, name in found:
            print("%s\t%.6f\t%s" % (query, -similarity, name))


def unread(queries, library, t):
    out = sum(not t * a <= b <= a / t for _, a, _ in queries
              for _, b, _ in library)
    print("%.3f" % (out / len(queries) / len(library)))


verb, *files = sys.argv[1:]
if verb == "most":
    most(numbers(files[0]), numbers(files[1]), int(files[2]), float(files[3]))
elif verb == "unread":
    unread(numbers(files[0]), numbers(files[1]), float(files[2]))
elif verb == "fold":
    for text, name in rows(files[0]):
        half = len(text) // 2
        print("%0*x\t%s" % (half, int(text[:half], 16) | int(text[half:], 16), name))
else:
    text = rows(files[0])
    print("%.4f" % (sum(b for _, b, _ in numbers(files[0])) /
                    sum(4 * len(digits) for digits, _ in text)))
