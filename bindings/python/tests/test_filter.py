"""Filters: what they do, and what they refuse."""
import copy
import errno
import gc
import pickle
import struct
import threading
from fractions import Fraction

import pytest

import bloomery
from bloomery import Filter
from bloomery._native import ffi, lib

KEYS = [f"key {i}" for i in range(2000)]


def can(kind, *abilities):
    return all(a in kind.can for a in abilities)


def made(kind, keys=KEYS):
    """A filter of any kind with these keys."""
    if kind.name == "egh":
        return Filter.build("egh", [str(i) for i in range(1, 40)])
    if can(kind, "separate"):
        return Filter.build(kind.name, keys, [i % 2 for i in range(len(keys))])
    return Filter.build(kind.name, keys, items=len(keys))


def ours():
    return [k for k in bloomery.kinds() if k.family != "foreign"]


def test_fields_are_the_librarys():
    """The declared types have the names that the library lists."""
    f = Filter("stable", items=100)
    stat, plan = f.info(), Filter.plan("stable", items=100)
    assert list(vars(stat)) == list(type(stat).__annotations__)
    assert list(vars(plan)) == list(type(plan).__annotations__)
    assert stat.kind == "stable" and stat.window == plan.window >= 0
    assert stat.can == tuple(a for a in stat.can if a in f.can) == plan.can != ()
    assert len(stat.geometry) == 4 and stat.labels is stat.mark is None
    assert Filter("standard", items=100).info().window is None
    near = Filter("spatial", items=100, seed=2)
    near["a"] = near.info().label_most
    (label,) = near.info().labels
    assert label["label"] == near.info().label_most and label["fill"] > 0


@pytest.mark.parametrize("kind", ours(), ids=lambda k: k.name)
def test_every_kind(kind):
    f = made(kind)
    if kind.name not in ("egh", "cascade", "twin") and can(kind, "contains") \
            and (f.info().window is None or f.info().window > len(KEYS)):
        assert all(k in f for k in KEYS[:100])
        assert all(f.contains_many(KEYS))
        strangers = sum(f.contains_many([f"stranger {i}" for i in range(5000)]))
        rate = f.info().rate
        assert strangers <= 5000 * rate + 6 * (5000 * rate) ** .5 + 6
    assert f.info().kind == kind.name
    assert f.can >= kind.can - {"share"} or kind.name in ("rehash", "egh")
    for other in (Filter.from_bytes(f.pack()), pickle.loads(pickle.dumps(f)),
                  copy.copy(f)):
        assert other == f and bytes(other) == bytes(f)
    assert kind.name in repr(f) and "<table>" in f._repr_html_()


@pytest.mark.parametrize("kind", ours(), ids=lambda k: k.name)
def test_plans(kind):
    plan = Filter.plan(kind.name, items=1000)
    assert plan.kind == kind.name and plan.bytes > 0
    if not can(kind, "add"):
        return
    f = Filter(kind.name, items=1000)
    assert f.info().bytes == plan.bytes or can(kind, "pack") \
        or kind.family in ("compound", "exact", "frozen")


def test_one_key_and_many_are_alike(np=pytest.importorskip("numpy")):
    one = Filter("counting", items=100, keys="any")
    many = one.like()
    keys = ["a", b"b", 3, 4.5, 7.0, True, bytearray(b"x"), memoryview(b"y")]
    for key in keys:
        one.add(key)
    many.update(keys)
    assert one == many
    assert all(key in one for key in keys)
    assert list(one.contains_many(keys)) == [key in one for key in keys]
    assert list(one.count_many(keys)) == [one.count(key) for key in keys]
    one.remove_many(keys)
    assert one == one.like()


def test_numbers():
    """Equal numbers are one key, and the bytes are as they are documented."""
    f = Filter("standard", items=100, rate=1e-9, keys="any")
    f.update([1, -5, 2.5, -0.0, float("inf"), float("nan"), 2 ** 63 - 1])
    for key in (True, 1.0, -5.0, 0, 0.0, 2.5, struct.pack("<q", 1),
                struct.pack("<q", -5), struct.pack("<d", 2.5),
                struct.pack("<d", float("inf")), bytes([0] * 6 + [0xf8, 0x7f]),
                -float("nan"), b"\xff" * 7 + b"\x7f"):
        assert key in f, key
    for key in ("1", 5, -2.5, 2, False - 1, 2.0 ** 63):
        assert key not in f, key
    whole = Fraction(9007199254740993)  # which no double equals
    f.update([whole, Fraction(10 ** 400, 3), Fraction(1, 10 ** 400)])
    for key in (9007199254740993, whole, float("inf"), 0, -Fraction(5)):
        assert key in f, key
    for key in (9007199254740992, float("-inf"), -Fraction(10 ** 400, 3)):
        assert key not in f, key
    for key in (2 ** 63, 2 ** 64 - 1, -2 ** 63 - 1, 2 ** 200):
        with pytest.raises(OverflowError, match="as text or bytes"):
            key in f
    for key in ((), [], {}, object(), 1j, f):
        with pytest.raises(TypeError, match="a key is text, bytes or a number"):
            key in f
        with pytest.raises(TypeError):
            f.add(key)
        with pytest.raises(TypeError):
            f.update([key])


def test_text_is_utf8():
    f = Filter(items=100, rate=1e-7, keys="any")
    f.update(["grün", "日本", "\U0001f600", "\udcff", ""])
    for key in ("grün".encode(), "日本".encode(), "\U0001f600".encode(),
                b"\xff", b""):
        assert key in f
    with pytest.raises(UnicodeEncodeError):
        "\ud800" in f


def test_messages_name_no_function_of_c():
    full = Filter("cuckoo", items=10)
    some, other = Filter("standard", items=10, keys="text"), \
        Filter("standard", items=10, keys="any")
    some.add("a"), other.add("a")
    for call in (lambda: Filter("fuse", items=10),
                 lambda: [full.add(k) for k in KEYS],
                 lambda: some.unite(other)):
        with pytest.raises(bloomery.Error) as error:
            call()
        assert "bly_" not in str(error.value)
    assert "(state_keys)" in str(error.value)


def test_default_kind_is_that_of_the_header():
    assert Filter(items=10).info().kind == ffi.string(lib.BLY_DEFAULT_KIND).decode()
    assert Filter(items=10, rate=1e-11).add("a")


def test_kinds_have_other_names():
    assert Filter("bloom", items=10).info().kind == "standard"
    assert Filter.build("binary-fuse8", ["a"]).info().kind == "fuse"


def test_counts_removes_and_labels():
    f = Filter("counting", items=100)
    assert f.add("a") and not f.add("a")
    assert f.count("a") == 2 and f.count("b") == 0
    f.remove("a"), f.remove("a")
    with pytest.raises(bloomery.AbsentError, match="(?s).+") as told:
        f.remove("a")
    assert isinstance(told.value, KeyError) and "\n" not in str(told.value)
    assert f.discard("a") is False
    assert Filter(items=10).count("x") == 0
    plain = Filter(items=10)
    plain.add("x")
    assert plain.count("x") is None
    labels = Filter.build("bloomier", KEYS, range(len(KEYS)))
    assert labels[KEYS[77]] == 77 and labels.get("nobody, surely", -1) in (
        -1, *range(1 << 20))
    found, told = labels.get_many(KEYS[:5])
    assert all(found) and list(told) == [0, 1, 2, 3, 4]
    labels[KEYS[3]] = 5
    labels.put_many(KEYS[:2], [9, 8])
    assert (labels[KEYS[3]], labels[KEYS[0]], labels[KEYS[1]]) == (5, 9, 8)
    zones = Filter("spatial:areas=3", items=10)
    zones["here"] = 3
    with pytest.raises(KeyError):
        zones["there"]
    with pytest.raises(ValueError, match="label"):
        zones["x"] = 9


def test_sets():
    a = Filter("standard", items=1000)
    b = a.like()
    a.update(KEYS[:400]), b.update(KEYS[200:600])
    both, either = a & b, a | b
    assert all(both.contains_many(KEYS[200:400]))
    assert all(either.contains_many(KEYS[:600]))
    assert not all(a.contains_many(KEYS[400:600]))        # a and b are as they were
    a |= b
    assert a == either
    a.clear()
    assert a == a.like() and len(a) == 0 and a
    with pytest.raises(bloomery.MismatchError):
        a |= Filter("standard", items=999)
    for verb in ("__or__", "__and__", "__sub__", "__ior__"):
        assert getattr(a, verb)(3) is NotImplemented
    a |= a


def test_sketches():
    ours, theirs = bloomery.diff(KEYS[:-2] + ["mine"], KEYS[2:] + ["yours"])
    assert sorted(ours) == sorted(k.encode() for k in KEYS[:2] + ["mine"])
    assert sorted(theirs) == sorted(k.encode() for k in KEYS[-2:] + ["yours"])
    with pytest.raises(bloomery.FullError, match="about [0-9]+ keys differ"):
        bloomery.diff(KEYS, [], items=100)


def test_dedup():
    items = [i * i % 1009 for i in range(20000)]
    assert list(bloomery.dedup(items)) == list(dict.fromkeys(items))
    rows = [(1, "a"), (2, "b"), (1, "c")]
    assert list(bloomery.dedup(rows, key=lambda row: row[0])) == rows[:2]
    assert list(bloomery.dedup([])) == []


def test_dedup_keeps_chosen_items():
    # xxh3 with the seed 0 ignores the second word behind this first one.
    first = bytes.fromhex("b8fe6c3923a44bbe")
    items = [first + n.to_bytes(8, "little") + bytes(16) for n in range(20_000)]
    assert len(set(bloomery.hash_many(items[:100]))) == 1
    assert list(bloomery.dedup(items)) == items


def test_dedup_repeats_itself_with_a_secret():
    items = list(range(3000))
    one, two = (list(bloomery.dedup(items, rate=0.2, secret=b"0123456789abcdef"))
                for _ in range(2))
    assert one == two and len(one) < len(items)
    drawn = [list(bloomery.dedup(items, rate=0.2)) for _ in range(2)]
    assert drawn[0] != drawn[1]
    with pytest.raises(bloomery.SecretError):
        next(bloomery.dedup(items, secret=b"short"))


def test_diff_of_chosen_keys():
    first = bytes.fromhex("b8fe6c3923a44bbe")
    keys = [first + n.to_bytes(8, "little") + bytes(16) for n in range(100)]
    ours, theirs = bloomery.diff(keys[:99], keys[50:])
    assert sorted(ours) == keys[:50] and theirs == keys[99:]


def test_dedup_reads_no_further():
    read = []
    stream = (read.append(i) or i % 3 for i in range(10))
    once = bloomery.dedup(stream, ahead=1)
    assert [next(once), next(once)] == [0, 1] and read == [0, 1]
    assert list(once) == [2] and len(read) == 10
    with pytest.raises(ValueError, match="ahead must be"):
        next(bloomery.dedup([], ahead=-1))


def test_advice_and_kinds():
    best = bloomery.advise(10 ** 6, 0.001, can=["remove", "count"])[0]
    assert best.fits
    Filter(best.kind, items=1000).remove_many([])
    for wrong in (dict(can=["fly"]), dict(aim="cheap"), dict(rate=2)):
        with pytest.raises(bloomery.ParameterError, match="fly|cheap|rate"):
            bloomery.advise(1000, **wrong)
    for asked in (lambda: Filter(items=9, rate=0), lambda: Filter(rate=0.0),
                  lambda: Filter.build("fuse", ["a"], rate=0),
                  lambda: Filter.plan("standard", items=9, rate=-0.0),
                  lambda: bloomery.advise(9, rate=0),
                  lambda: list(bloomery.dedup(["a"], rate=0))):
        with pytest.raises(bloomery.ParameterError, match="rate of 0 is not"):
            asked()
    names = [k.name for k in bloomery.kinds()]
    assert "standard" in names and len(set(names)) == len(names)
    tiers = {k.name: k.tier for k in bloomery.kinds()}
    assert set(tiers.values()) == {"core", "more", "experimental"}
    assert tiers["standard"] == best.tier == "core" != tiers["xor"]


def test_files(tmp_path):
    path = tmp_path / "filter.bly"
    Filter.build("blocked", KEYS).save(path)
    for how in (dict(), dict(mmap=True), dict(mmap=True, verify=True)):
        with Filter.open(path, **how) as f:
            assert all(f.contains_many(KEYS))
        with pytest.raises(bloomery.ClosedError):
            "x" in f
        assert "closed" in repr(f)
        f.close()
    with Filter.open(path, mmap=True) as f, \
            pytest.raises(bloomery.ReadOnlyError):
        f.add("more")
    with Filter.open(str(path), mmap=True, write=True) as f:
        f.add("more")
        f.sync()
    assert "more" in Filter.open(path)
    with pytest.raises(ValueError, match="mmap"):
        Filter.open(path, write=True)
    with pytest.raises(FileNotFoundError, match="none.bly") as missing:
        Filter.open(tmp_path / "none.bly")
    again = pickle.loads(pickle.dumps(missing.value))
    for error in (missing.value, again):
        assert isinstance(error, bloomery.FileError)
        assert (error.errno, error.status) == (errno.ENOENT, -11)
        assert str(error) == str(missing.value)
    with pytest.raises(FileNotFoundError):
        Filter(items=10).save(tmp_path / "no folder" / "f.bly")
    with pytest.raises(bloomery.FileError) as folder:
        Filter(items=10).save(tmp_path)
    assert folder.value.errno == errno.EISDIR
    (tmp_path / "text").write_text("hello\n" * 100)
    with pytest.raises(bloomery.ImageError, match="text|filter"):
        Filter.open(tmp_path / "text")


def test_formats(tmp_path):
    f = Filter.build("leveldb:bits=10", KEYS)
    f.save(tmp_path / "f.bin", format="leveldb")
    again = Filter.open(tmp_path / "f.bin", format="leveldb")
    assert all(again.contains_many(KEYS))


def test_secrets():
    secret = b"0123456789abcdef"
    f = Filter(items=100, hash="siphash", secret=secret)
    f.add("a")
    again = Filter.from_bytes(bytes(f), secret=secret)
    assert "a" in again
    for wrong in (None, b"fedcba9876543210"):
        with pytest.raises(bloomery.SecretError):
            Filter.from_bytes(bytes(f), secret=wrong)
    with pytest.raises(bloomery.SecretError, match="16 bytes"):
        Filter(items=10, hash="siphash", secret=b"short")
    with pytest.raises(bloomery.SecretError, match="pickle"):
        pickle.dumps(f)


def test_refusals_have_one_line():
    for call, error in (
            (lambda: Filter("sieve", items=1), ValueError),
            (lambda: Filter("standard:k=x", items=1), ValueError),
            (lambda: Filter("standard"), ValueError),
            (lambda: Filter(items=10, rate=1.5), ValueError),
            (lambda: Filter(items=10, hash="md4"), ValueError),
            (lambda: Filter("fuse", items=10), bloomery.UnsupportedError),
            (lambda: Filter(items=10).remove("x"),
             bloomery.UnsupportedError),
            (lambda: Filter("standard", items=10).list_keys(),
             bloomery.UnsupportedError),
            (lambda: Filter.build("bloomier", ["a"], [1, 2]), ValueError),
            (lambda: Filter.from_bytes(b"x" * 200), bloomery.ImageError),
            (lambda: Filter("blocked", items=10).fold(7), ValueError),
            (lambda: Filter("standard", items=10).resize(20),
             bloomery.UnsupportedError)):
        with pytest.raises(error) as told:
            call()
        assert str(told.value) and "\n" not in str(told.value), str(told.value)
    with pytest.raises(MemoryError):
        Filter("standard", items=10 ** 17)
    for call in (lambda: Filter(items=-1), lambda: Filter(items=2 ** 64),
                 lambda: Filter(items=1.5), lambda: Filter(items="9"),
                 lambda: Filter(items=1, seed=-1),
                 lambda: Filter(items=1, threads=-1),
                 lambda: bloomery.advise(-1)):
        with pytest.raises(bloomery.ParameterError, match="a whole number"):
            call()
    assert Filter.plan("blocked", items=1e6) == Filter.plan("blocked",
                                                            items=10 ** 6)
    with pytest.raises(TypeError, match="is one key"):
        Filter(items=10).update("words")


def test_threads():
    """Any threads may do anything at once; nothing that was added is lost."""
    f = Filter("scalable", items=10)
    failed = []

    def work(number):
        try:
            for i in range(0, 400, 10):
                keys = [f"{number} {i + j}" for j in range(10)]
                f.update(keys)
                assert all(f.contains_many(keys)) and keys[0] in f
                f.info(), len(f), f.copy(), bytes(f)
        except BaseException as error:   # noqa: B902
            failed.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    [t.start() for t in threads], [t.join() for t in threads]
    assert not failed
    assert all(f.contains_many([f"{n} {i}" for n in range(6) for i in range(400)]))


def test_threads_unite_each_other():
    a = Filter("standard", items=10000)
    b = a.like()
    a.update(KEYS[:1000]), b.update(KEYS[1000:])
    with_each = [threading.Thread(target=lambda x=x, y=y: [
        x.__ior__(y) for _ in range(50)]) for x, y in ((a, b), (b, a)) * 2]
    closing = threading.Thread(target=lambda: [x.overlap(y) for x, y in
                                               ((a, b), (b, a)) * 50])
    [t.start() for t in with_each + [closing]]
    [t.join(60) for t in with_each + [closing]]
    assert not any(t.is_alive() for t in with_each + [closing])
    assert all(a.contains_many(KEYS)) and a == b or bytes(a)[128:] == bytes(b)[128:]


def test_close_beside_questions():
    f = Filter(items=1000)
    told = []

    def ask():
        try:
            while True:
                "x" in f
        except bloomery.ClosedError as error:
            told.append(error)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    [t.start() for t in threads]
    f.close()
    [t.join(60) for t in threads]
    assert len(told) == 4


def test_nothing_is_left_behind():
    """10^4 filters, most of them in errors, take no more memory than one."""
    import resource

    def one():
        f = Filter("standard", items=100000)
        f.update(KEYS[:10])
        bytes(f), f.copy(), f.like(), f.info(), f.keys, repr(f)
        for call in (lambda: f.remove("x"), lambda: f.list_keys(),
                     lambda: Filter.from_bytes(bytes(f)[:1000]),
                     lambda: f.__ior__(Filter("standard", items=5))):
            with pytest.raises(bloomery.Error):
                call()

    [one() for _ in range(50)]
    gc.collect()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    [one() for _ in range(2000)]
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert after - before < 20000       # KiB; a filter of these has 117


def test_names_are_text(tmp_path):
    f = Filter(items=10)
    for call in (lambda: Filter(1000), lambda: Filter.build(["a"], ["b"]),
                 lambda: Filter.plan(None, items=1),
                 lambda: Filter(items=1, hash=3)):
        with pytest.raises(TypeError, match="must be text, not"):
            call()
    path = tmp_path / "a"
    for call in (lambda: Filter("blocked\0", items=1),
                 lambda: f.save(f"{path}\0b"), lambda: f.save(path, "dcso\0"),
                 lambda: Filter.open(f"{path}\0b")):
        with pytest.raises(ValueError, match="zero byte"):
            call()
    assert not path.exists()
    with pytest.raises(TypeError, match="bytes, not text"):
        Filter.from_bytes("a")
    with pytest.raises(TypeError, match="of two filters"):
        f.overlap({1})


def test_it_is_no_row():
    f = Filter.build("bloomier", [0, 1, 2], [5, 6, 7])
    for call in (iter, list, reversed, sorted):
        with pytest.raises(TypeError):
            call(f)
    with pytest.raises(TypeError, match="not iterable"):
        [label for label in f]


def test_closed_in_a_notebook():
    f = Filter(items=10)
    f.close()
    assert f._repr_html_() is None and "closed" in repr(f)
