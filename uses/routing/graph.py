# graph.py - a network of N nodes, M links and an object at each node, and what
# is exactly true of it.
#
#   graph.py make N M FINDS SEED >graph    M beside a ring; half of the FINDS are
#                                          of objects that are nowhere, others
#                                          of one that is up to 4 hops away
#   graph.py exact DEPTH GRAPH >exact      for each "find" how far the nearest
#                                          copy is, "far" beyond DEPTH, "-" where
#                                          there is none; first a line "reach N",
#                                          the most objects beyond any link
import random
import sys


def make(n, m, finds, seed):
    rng = random.Random(seed)
    edges = {(u, (u + 1) % n) for u in range(n)}
    while len(edges) < n + m:
        u, v = rng.randrange(n), rng.randrange(n)
        if u != v and (v, u) not in edges:
            edges.add((u, v))
    near = [[] for u in range(n)]
    for u, v in sorted(edges):
        print("edge", u, v)
        near[u].append(v)
        near[v].append(u)
    held = [f"own{u}" if u % 2 else f"copy{u // 2 % (n // 10)}"
            for u in range(n)]          # every second is one of five copies
    for u in range(n):
        print("object", u, held[u])
    for i in range(finds):
        u = at = rng.randrange(n)
        for step in range(i // 2 % 5):
            at = rng.choice(near[at])
        print("find", u, f"none{i}" if i % 2 else held[at])


def distances(near, start, depth, barred=None):
    """Returns the nodes in reach, without turning straight back."""
    far, level = {start: 0}, [start]
    for hop in range(1, depth + 1):
        level = [v for u in level for v in near.get(u, ())
                 if v not in far
                 and not (u == start and v == barred)
                 and far.setdefault(v, hop) == hop]
    return far


def exact(depth, path):
    near, held, finds = {}, {}, []
    for line in open(path):
        verb, u, x = line.split()
        if verb == "edge":
            near.setdefault(u, set()).add(x)
            near.setdefault(x, set()).add(u)
        elif verb == "object":
            held.setdefault(u, set()).add(x)
        else:
            finds.append((u, x))
    everywhere = set().union(*held.values())
    links = random.Random(1).sample([(u, v) for u in sorted(near)
                                     for v in sorted(near[u])], 300)
    print("reach", max(sum(len(held.get(w, ())) for w in
                           distances(near, v, depth - 1, u))
                       for u, v in links))
    for u, x in finds:
        far = distances(near, u, depth)
        hops = [far[w] for w in far if x in held.get(w, ())]
        print(u, x, min(hops, default="far" if x in everywhere else "-"))


if sys.argv[1] == "make":
    make(*map(int, sys.argv[2:]))
else:
    exact(int(sys.argv[2]), sys.argv[3])
