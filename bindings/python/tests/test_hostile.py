"""Whatever is given: an exception, never a crash, and nothing lost."""
import array
import os
import pickle
import random
import threading

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


def test_a_limit_of_memory(tmp_path):
    path = tmp_path / "packed.bly"
    f = Filter("compressed", items=100_000)
    f.update(KEYS)
    f.save(path)
    packed = f.pack()
    need = len(bytes(f))
    assert len(packed) < need / 100
    for read in (lambda limit: Filter.from_bytes(packed, memory_limit=limit),
                 lambda limit: Filter.open(path, memory_limit=limit),
                 lambda limit: Filter.open(path, mmap=True,
                                           memory_limit=limit)):
        with pytest.raises(bloomery.LimitError, match=r"\(memory_limit\)") as told:
            read(need - 1)
        assert isinstance(told.value, MemoryError)
        assert told.value.status == -23
        assert all(read(need).contains_many(KEYS))
        assert all(read(0).contains_many(KEYS))


def test_no_growth_beyond_the_limit():
    made = Filter("scalable", items=1000)
    f = Filter.from_bytes(bytes(made), memory_limit=4000)
    for g in (f, f.copy()):
        with pytest.raises(bloomery.LimitError):
            g.update(range(100_000))
        assert len(bytes(g)) <= 4000
    made.update(range(100_000))
    assert len(bytes(made.copy())) > 4000


def test_pickles_have_no_limit():
    f = Filter.from_bytes(Filter("scalable", items=1000).pack(),
                          memory_limit=4000)
    pickle.loads(pickle.dumps(f)).update(range(100_000))


def work_on(f, rng):
    """All verbs, whatever becomes of them."""
    for call in (lambda: f.contains_many(KEYS), lambda: f.count_many(KEYS),
                 lambda: f.get_many(KEYS), lambda: f.info(),
                 lambda: f.update(KEYS[:20]), lambda: f.remove_many(KEYS[:5]),
                 lambda: f.list_keys(),
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
    functions = [bloomery.advise, bloomery.hash_many, bloomery.diff, Filter.build,
                 Filter.plan, Filter.from_bytes, Filter]
    f = Filter("counting", items=100, keys="any")
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
    f.__init__("counting", items=100, keys="any")    # it may be another by now
    assert len(f.copy().contains_many([1, 2])) == 2


class Long(bytes):
    """Bytes that say that they are many."""

    def __len__(self):
        return 1 << 40


class Liar(bytes):
    def __bytes__(self):
        return Long(b"q")


class Text(str):
    def encode(self, *_):
        return Long(b"q")


def test_keys_are_as_long_as_they_are():
    np = pytest.importorskip("numpy")

    class Wide(np.ndarray):
        dtype = property(lambda self: np.dtype("V100000000"))

    f = Filter("standard", items=100, rate=1e-9, keys="any")
    f.add(b"q")
    for key in Long(b"q"), Liar(b"q"), Text("q"):
        assert key in f and f.count(key) != 0
        assert list(f.contains_many([key, b"r"])) == [True, False]
    with pytest.raises(ValueError):
        f.contains_many(np.arange(100).view(Wide))


def test_secrets_are_16_bytes():
    class Short:
        def __len__(self):
            return 16

        def __bytes__(self):
            return b"x"

    for secret in Short(), [1] * 16, 16:
        with pytest.raises(TypeError):
            Filter("standard", items=3, hash="siphash", secret=secret)
    for secret in array.array("H", [1] * 16), b"x":
        with pytest.raises(bloomery.SecretError):
            Filter("standard", items=3, hash="siphash", secret=secret)
    f = Filter(items=3, hash="siphash", secret=bytearray(16))
    assert Filter.from_bytes(f.pack(), secret=bytes(16)) == f


def test_names_have_no_zero_byte(tmp_path):
    f = Filter(items=3)
    path = str(tmp_path / "a")
    f.save(path)
    for call in (lambda: f.save(path + "b\0c"),
                 lambda: f.save(path, format="x\0y"),
                 lambda: Filter.open(path + "\0c"),
                 lambda: Filter.open(path, format="\0"),
                 lambda: Filter("blocked\0c", items=3),
                 lambda: Filter(items=3, hash="xxh3\0c"),
                 lambda: Filter.build("fuse\0c", [1]),
                 lambda: Filter.plan("fuse\0c", items=1),
                 lambda: bloomery.hash_many([1], "fuse\0c")):
        with pytest.raises(bloomery.ParameterError):
            call()
    assert os.listdir(tmp_path) == ["a"]


def test_an_image_that_changes_while_it_is_read():
    """Its header says more bytes and fewer by turns."""
    small = Filter("standard", items=10).pack()
    large = Filter("standard", items=1_000_000).pack()
    image = bytearray(large)
    ended = threading.Event()

    def turn():
        while not ended.is_set():
            image[:128] = small[:128]
            image[:128] = large[:128]

    thread = threading.Thread(target=turn)
    thread.start()
    try:
        for _ in range(100 * EFFORT):
            try:
                f = Filter.from_bytes(image)
            except bloomery.Error:
                continue
            assert bytes(f) == large
    finally:
        ended.set()
        thread.join()


def test_forged_arrow():
    np = pytest.importorskip("numpy")
    from arrow import Array

    f = Filter("standard", items=100, rate=1e-9)
    f.update(["a", "b"])
    words = Array("u", [None, np.array([0, 1, 2], "i4"), b"ab"], 2)
    far = np.array([0, 2 ** 31 - 1, 2], "i4")
    forged = [
        Array("u", [None, np.array([0, 1, 3, 2], "i4"), b"ab"], 3),
        Array("u", [None, np.array([0, -1], "i4"), b"ab"], 1),
        Array("U", [None, np.array([0, -1], "i8"), b"ab"], 1),
        Array("u", [None, np.array([2, 0], "i4"), b"ab"], 1),
        Array("u", [b"\3", far, b"ab"], 2, nulls=1),
        Array("u", [b"\1", np.array([0, 1, 2], "i4"), None], 2, nulls=1),
        Array("u", [None, None, b"ab"], 1), Array("u", [None], 1),
        Array("l", [b"\1", None], 3, nulls=2), Array("l", [None], 1),
        Array("f", [None, None], 3), Array("w:3", [None, None], 3),
        Array("l", [None, np.arange(4)], -4),
        Array("l", [None, np.arange(4)], 2, offset=-2),
        Array("i", [None, np.array([-1, 0], "i4")], 2, dictionary=words),
        Array("L", [None, np.array([2 ** 64 - 1], "u8")], 1,
              dictionary=words),
        Array("i", [None, np.array([2, 0], "i4")], 2, dictionary=words),
        Array("i", [None, None], 2, dictionary=words),
        Array("i", [None, np.array([0], "i4")], 1,
              dictionary=Array("u", [None, far, b"ab"], 2)),
    ]
    for array_ in forged:
        for call in f.contains_many, f.update, f.count_many, bloomery.hash_many:
            with pytest.raises(ValueError):
                call(array_)


def test_arrow_of_nulls_needs_no_dictionary():
    np = pytest.importorskip("numpy")
    from arrow import Array

    words = Array("u", [None, np.array([0], "i4"), b""], 0)
    nulls = Array("i", [b"\0", np.array([9, -9], "i4")], 2, nulls=2,
                  dictionary=words)
    f = Filter("standard", items=10)
    assert list(f.contains_many(nulls)) == [False, False]
    f.update(nulls)
    assert len(f) == 0


@pytest.mark.parametrize("view", [lambda room: room, memoryview,
                                  lambda room: memoryview(room)[:]])
def test_a_generator_that_reuses_its_bytearray(view):
    """Each key is the one that it was when it was yielded."""
    there = [b"abc", b"def", b"ghi"]

    def refilled(first=()):
        yield from first
        room = bytearray(3)
        for key in there:
            room[:] = key
            yield view(room)

    f = Filter("counting", items=10, rate=1e-9)
    f.update(refilled())
    assert list(f.contains_many(refilled())) == [True] * 3
    for key in there:
        assert key in f and f.count(key) == 1
    built = Filter.build("fuse", refilled(), rate=1e-9)
    assert all(key in built for key in there)
    assert list(bloomery.dedup(refilled())) == there
    f.update(refilled([b"an unchanging one"]))
    assert [f.count(key) for key in there] == [2, 2, 2]
    with pytest.raises(TypeError, match=r"yield bytes\(key\)"):
        list(bloomery.dedup(refilled([b"an unchanging one"])))
    assert Filter.build("fuse", [bytearray(b"a"), b"b", bytearray(b"c")])


def test_a_generator_that_changes_the_filter():
    """It is closed, emptied, or added to between two of its keys."""
    def keys(act):
        for i in range(10000):
            if i == 5000:
                act()
            yield i

    f = Filter("standard", items=30000, rate=1e-9)
    f.update(keys(lambda: f.update(range(20000, 30000))))
    assert all(f.contains_many(range(10000)))
    assert all(f.contains_many(range(20000, 30000)))
    with pytest.raises(bloomery.ClosedError):
        f.update(keys(f.close))

    class Odd:
        def __index__(self):
            g.close()
            return 7

    g = Filter("standard", items=10)
    with pytest.raises(bloomery.ClosedError):
        g.update([1, Odd(), 3])
    g = Filter("standard", items=10)
    with pytest.raises(bloomery.ClosedError):
        Odd() in g
