"""Whatever is given: an exception, never a crash, and nothing lost."""
import os
import random

import pytest

import bloomery
from bloomery import Filter

EFFORT = int(os.environ.get("BLOOMERY_EFFORT") or "1")
KEYS = [f"key {i}" for i in range(300)]


def images():
    for kind in bloomery.kinds():
        if kind.name in ("egh",) or kind.family == "foreign":
            continue
        labels = [i % 2 for i in range(len(KEYS))] \
            if "separate" in kind.can else None
        yield kind.name, Filter.build(kind.name, KEYS, labels,
                                      items=len(KEYS)).pack()


def work_on(f, rng):
    """All verbs, whatever becomes of them."""
    for call in (lambda: f.contains(KEYS), lambda: f.counts(KEYS),
                 lambda: f.labels(KEYS), lambda: f.stat(),
                 lambda: f.update(KEYS[:20]), lambda: f.remove_all(KEYS[:5]),
                 lambda: f.keys(),
                 lambda: f.__ior__(f.copy()), lambda: f.overlap(f),
                 lambda: f.resize(rng.randrange(2000)),
                 lambda: f.fold(rng.randrange(1, 5)), lambda: f.clear(),
                 lambda: bytes(f), lambda: f.pack(), lambda: repr(f)):
        try:
            call()
        except (bloomery.Error, MemoryError):
            pass


@pytest.mark.parametrize("name,image", images(), ids=lambda v: v
                         if isinstance(v, str) else "")
def test_forged_images(name, image):
    """Bits turned, bytes cut off and put in."""
    rng = random.Random(name)
    for _ in range(20 * EFFORT):
        forged = bytearray(image)
        for _ in range(rng.choice((1, 1, 1, 3, 30))):
            way = rng.randrange(4)
            at = rng.randrange(len(forged)) if forged else 0
            if way < 2 and forged:
                forged[at] ^= 1 << rng.randrange(8)
            elif way == 2:
                del forged[at:at + rng.randrange(1, 200)]
            else:
                forged[at:at] = rng.randbytes(rng.randrange(1, 100))
        try:
            f = Filter.from_bytes(forged)
        except (bloomery.Error, MemoryError):
            continue
        work_on(f, rng)


def any_value(rng, depth=0):
    import numpy as np
    return rng.choice((
        lambda: None, lambda: rng.randrange(-2 ** 70, 2 ** 70),
        lambda: rng.random() * 10 ** rng.randrange(-300, 300),
        lambda: float("nan"), lambda: rng.randbytes(rng.randrange(50)),
        lambda: "".join(map(chr, rng.choices(range(0x11000), k=5))),
        lambda: rng.choice([k.name for k in bloomery.kinds()]),
        lambda: Filter("standard", items=10), lambda: object(), lambda: Filter,
        lambda: np.arange(rng.randrange(20)).astype(rng.choice(
            "i1 u8 f4 S3 U3 O V4 c8 M8[s]".split())),
        lambda: np.zeros((2, 3)), lambda: memoryview(b"abc"), lambda: 1j,
        lambda: [any_value(rng, depth + 1) for _ in range(3)] if depth < 3
        else (), lambda: {"a": 1}, lambda: range(5), lambda: -1, lambda: 0,
        lambda: 2 ** 64, lambda: True, lambda: iter([1, "a"])))()


def test_wrong_types_and_sizes():
    """Random arguments to everything that there is."""
    pytest.importorskip("numpy")
    rng = random.Random(18)
    verbs = [name for name in dir(Filter) if callable(getattr(Filter, name))
             and name not in ("__class__", "__init_subclass__", "close",
                              "__subclasshook__", "save", "__new__", "open",
                              "__setattr__", "__delattr__", "__exit__")]
    functions = [bloomery.advise, bloomery.hashes, bloomery.diff, Filter.build,
                 Filter.plan, Filter.from_bytes, Filter]
    f = Filter("counting", items=100)
    raised = 0
    for _ in range(3000 * EFFORT):
        call = rng.choice(functions) if rng.random() < 0.3 \
            else getattr(f, rng.choice(verbs))
        some = [any_value(rng) for _ in range(rng.randrange(4))]
        named = {rng.choice(("items", "rate", "seed", "hash", "threads")):
                 any_value(rng)} if rng.random() < 0.3 else {}
        try:
            call(*some, **named)
        except (bloomery.Error, TypeError, ValueError, OverflowError,
                MemoryError, KeyError, AttributeError, IndexError):
            raised += 1
    assert raised > 0
    assert len(f.copy().contains([1, 2])) == 2
