"""store.py - a store of spans for check.sh, and what a shared hash costs.

    store.py BLOCKS SPANS IDS ASKED

Writes spans to block.01.json …, their ids to ids/block.01 …, ids that are in no
block to `strangers`, IDS ids to `large` and others to `others`; and to `shards`
the answers of two filters in shards for ASKED keys.

Every run gives the same files. Ids are hashes of a number, as random as those
that a tracer draws.
"""
import hashlib
import os
import random
import struct
import sys

GOING_ON = 100                          # traces at a time
LENGTH = 4                              # spans of a trace, on average
SERVICES = ("front", "cart", "stock", "payment", "mail")


def identity(number):
    return hashlib.md5(b"trace %d" % number).hexdigest()


def lines(name, first, end):
    with open(name, "w", encoding="ascii") as out:
        out.writelines(identity(i) + "\n" for i in range(first, end))


def blocks(number, most):
    """Makes blocks of between a fifth of `most` spans and all of them."""
    drawn = random.Random(1)
    going_on = [identity(i) for i in range(GOING_ON)]
    begun = GOING_ON
    os.makedirs("ids", exist_ok=True)
    for block in range(1, number + 1):
        name = "block.%02d" % block
        seen = set()
        with open(name + ".json", "w", encoding="ascii") as out:
            for _ in range(drawn.randint(most // 5, most)):
                draw = drawn.getrandbits(32)
                which = draw % GOING_ON
                out.write('{"trace_id":"%s","service":"%s","micros":%d}\n' % (
                    going_on[which], SERVICES[draw // 512 % 5],
                    draw // 4096))
                seen.add(going_on[which])
                if draw // 128 % LENGTH == 0:
                    going_on[which] = identity(begun)
                    begun += 1
        with open("ids/" + name, "w", encoding="ascii") as out:
            out.writelines(i + "\n" for i in sorted(seen))
    lines("strangers", begun, begun + begun // 8)


# ---- The origin of a shard and of the places in it --------------------------

SHARDS, BITS, PROBES = 16, 4096, 7      # bits of a shard
KEYS = 6838                             # 9.58 bits for each


def words(number):
    """Returns eight numbers of 16 bits: the 16 bytes of an id."""
    return struct.unpack("<8H", hashlib.md5(b"word %d" % number).digest())


def asked(shard_of, others):
    """How many keys are missed, how many others are found, and how many keys
    each shard has, where this word chooses the shard."""
    shard = [set() for _ in range(SHARDS)]
    loads = [0] * SHARDS
    for number in range(KEYS):
        word = words(number)
        loads[word[shard_of] % SHARDS] += 1
        shard[word[shard_of] % SHARDS].update(w % BITS for w in word[:PROBES])

    def found(number):
        word = words(number)
        there = shard[word[shard_of] % SHARDS]
        for w in word[:PROBES]:
            if w % BITS not in there:
                return False
        return True

    return (sum(not found(i) for i in range(KEYS)),
            sum(found(i) for i in range(KEYS, KEYS + others)), loads)


def filled(keys, probes, places):
    """Returns the share of places set by that many probes of each key."""
    return 1 - (1 - 1 / places) ** (keys * probes)


def shared_rate(keys):
    """The first probe has only one in SHARDS places of a shard. Nearly
    all of those are set, so that it tells nothing, and others hit them, too."""
    other = filled(keys, PROBES - 1, BITS)
    own = 1 - (1 - filled(keys, 1, BITS // SHARDS)) * (1 - other)
    return own * ((own + (SHARDS - 1) * other) / SHARDS) ** (PROBES - 1)


def shards(others):
    """The shard from a word of its own, and from that of the first probe: keys
    missed, others found, and the share of others that is expected."""
    missed, found, loads = asked(PROBES, others)
    rate = sum(filled(n, PROBES, BITS) ** PROBES for n in loads) / SHARDS
    answers = [("own", missed, found, rate)]
    missed, found, loads = asked(0, others)
    rate = sum(map(shared_rate, loads)) / SHARDS
    answers.append(("shared", missed, found, rate))
    with open("shards", "w", encoding="ascii") as out:
        out.writelines("%s %d %d %.9f\n" % a for a in answers)


number, most, ids, others = map(int, sys.argv[1:])
blocks(number, most)
lines("large", 0, ids)
lines("others", ids, ids + others)
shards(others)
