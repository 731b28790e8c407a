"""Keys in arrays: numpy's, Arrow's and views of memory."""
import ctypes
import datetime
import tracemalloc
import uuid
import warnings
from array import array

import pytest

import bloomery
from bloomery import Filter

import arrow

np = pytest.importorskip("numpy")
# The function of ctypes that the streams of arrow.py are made with.
pytestmark = pytest.mark.filterwarnings("ignore:memory leak in callback")


def same(keys, values, **how):
    """An array is as the list of its values: to add, to ask, to hash."""
    values = list(values)
    f, g = Filter(items=1000, rate=1e-6), Filter(items=1000, rate=1e-6)
    f.update(keys() if callable(keys) else keys), g.update(values)
    assert f == g
    found = f.contains_many(keys() if callable(keys) else keys)
    assert found.dtype == bool and found.tolist() == [v in g for v in values]
    assert np.array_equal(bloomery.hash_many(keys() if callable(keys) else keys),
                          bloomery.hash_many(values))


@pytest.mark.parametrize("dtype", ["i1", "u1", "<i2", ">i2", "<u4", ">i4",
                                   "<i8", ">i8", "<u8", "?"])
def test_integers(dtype):
    a = np.arange(100).astype(dtype)
    same(a, a.tolist())
    same(a[::-3], a[::-3].tolist())


def test_large_integers():
    a = np.array([1, 2 ** 63], "u8")
    with pytest.raises(OverflowError, match="view"):
        Filter(items=10).contains_many(a)
    same(a.view("V8"), [v.tobytes() for v in a])


@pytest.mark.parametrize("dtype", ["<f8", ">f8", "f4", "f2"])
def test_reals(dtype):
    a = np.array([1, -1, 2.5, -0.0, 1e4, np.inf, -np.inf, np.nan,
                  -np.nan, 0.1], dtype)
    same(a, a.tolist())
    same(np.array([2.0 ** 63, -2.0 ** 63, 1e300, 2.0 ** 62]),
         [2.0 ** 63, -2.0 ** 63, 1e300, 2.0 ** 62])


def test_text():
    words = ["", "a", "grün", "日本語", "\U0001f600 x", "nul\0in", "\udc80"]
    same(np.array(words), words)
    same(np.array(words).astype(">U9"), words)
    same(np.array(words)[::2], words[::2])
    same(np.array(words, object), words)
    same(np.array([""]), [""])
    with pytest.raises(ValueError, match="surrogate"):
        Filter(items=10).contains_many(np.array(["ok", "\ud800"]))


def test_bytes():
    words = [b"", b"ab", b"abcd", b"a\0b"]
    same(np.array(words), words)
    same(np.array([b""]), [b""])
    rows = np.arange(32, dtype="u1").reshape(4, 8)
    same(memoryview(rows), [r.tobytes() for r in rows])
    same(np.array([b"a\0\0\0", b"bcde"], "V4"), [b"a\0\0\0", b"bcde"])


def test_empty_and_odd():
    for dtype in ("i8", "S5", "U5", "f8", "V3", "O", "S", "U"):
        same(np.array([], dtype), [])
    for wrong in (np.zeros((2, 2)), np.array(3)):
        with pytest.raises(ValueError, match="dimensions"):
            Filter(items=10).contains_many(wrong)
    for wrong in (np.array([1j]), np.array(["2026-01"], "M8[M]"),
                  np.array([5], "m8[Y]"), np.array([5], "m8"),
                  np.zeros(2, [("a", "i4"), ("b", "i4")])):
        with pytest.raises(TypeError):
            Filter(items=10).contains_many(wrong)
        with pytest.raises(TypeError):
            Filter(items=10).update(wrong)


def test_views():
    same(array("q", [1, -2, 3]), [1, -2, 3])
    same(memoryview(array("q", [1, -2, 3])), [1, -2, 3])
    same(memoryview(array("i", [1, -2, 3])), [1, -2, 3])
    same(memoryview(array("d", [1, 2.5])), [1, 2.5])
    same(memoryview(array("q", [1, -2, 3, 4]))[::2], [1, 3])
    same(lambda: iter("abc"), "abc")
    same(lambda: (i for i in range(10000)), range(10000))


def test_keys_are_not_copied():
    """Arrays in the right layout are read in place."""
    from bloomery import _keys
    from bloomery._native import ffi
    a = np.arange(10)
    assert int(ffi.cast("uintptr_t", _keys.from_numpy(np, a)[0].c.data)) \
        == a.ctypes.data
    s = np.array([b"a", b"bcd"])
    assert int(ffi.cast("uintptr_t", _keys.from_numpy(np, s)[0].c.data)) \
        == s.ctypes.data
    t = arrow.text(["a", "b"])
    assert int(ffi.cast("uintptr_t", _keys.from_arrow_array(t, lambda: np).c.data)) \
        == t.kept[2].ctypes.data


WORDS = ["a", None, "grün", "", "日本", None, "x" * 300]


@pytest.mark.parametrize("bits", [32, 64])
def test_arrow_text(bits):
    whole = [w for w in WORDS if w is not None]
    same(lambda: arrow.text(whole, bits), whole)
    same(lambda: arrow.text(whole, bits, offset=2), whole[2:])
    f, g = Filter(items=100), Filter(items=100)
    f.update(arrow.text(WORDS, bits)), g.update(whole)
    assert f == g
    assert f.contains_many(arrow.text(WORDS, bits)).tolist() == \
        [w is not None for w in WORDS]
    assert f.contains_many(arrow.text(WORDS, bits, offset=3)).tolist() == \
        [w is not None for w in WORDS[3:]]


def test_arrow_beside_other_users_of_ctypes(monkeypatch):
    """Another module may say that it takes text, or what it returns."""
    shared = ctypes.pythonapi.PyCapsule_GetPointer
    monkeypatch.setattr(shared, "argtypes", [ctypes.c_char_p])
    monkeypatch.setattr(shared, "restype", ctypes.c_char)
    f = Filter("standard", items=100)
    f.update(arrow.text(["a", "b"]))
    assert "a" in f and "b" in f


def test_arrow_numbers():
    same(lambda: arrow.integers([5, -6, 7]), [5, -6, 7])
    same(lambda: arrow.integers([5, -6, 7], offset=1), [-6, 7])
    for format, dtype in (("c", "i1"), ("C", "u1"), ("s", "i2"), ("S", "u2"),
                          ("i", "i4"), ("I", "u4"), ("L", "u8"), ("g", "f8"),
                          ("f", "f4")):
        same(lambda: arrow.integers([5, 6, 7], format, dtype, offset=1),
             [6, 7])
    f = Filter(items=10)
    f.update(arrow.integers([0, None, 2]))
    assert f.info().items == 2
    assert f.contains_many(arrow.integers([0, None, 2, 3])).tolist() == \
        [True, False, True, False]


def test_arrow_fixed_and_dictionary():
    fixed = arrow.Array("w:3", [None, b"abcdefghi"], 2, 1)
    same(lambda: fixed, [b"def", b"ghi"])
    words = arrow.text(["red", None, "blue"])
    index = arrow.Array("i", [arrow.valid([1, 1, None, 1, 1]),
                              np.array([0, 2, 0, 1, 0], "i4")], 5, 0, 1, words)
    f = Filter(items=10)
    f.update(["red", "blue"])
    assert f.contains_many(index).tolist() == [True, True, False, False, True]
    g = Filter(items=10)
    g.update(index)
    assert g.info().items == 3


def test_arrow_streams():
    parts = [WORDS[:3], [], WORDS[3:]]
    before = len(arrow.released)
    f = Filter(items=100)
    f.update(arrow.Chunked([arrow.text(p) for p in parts]))
    assert f.contains_many(arrow.Chunked([arrow.text(p) for p in parts])).tolist() \
        == [w is not None for w in WORDS]
    assert len(arrow.released) == before + 6
    assert f.contains_many(arrow.Chunked([])).tolist() == []
    with pytest.raises(ValueError, match="the disk is gone"):
        f.contains_many(arrow.Chunked([arrow.text(["a"])] * 3, fail=1))


def test_arrow_of_no_keys():
    for format in ("+s", "tts", "tiM", "d:9,2", "+l", "?", "t", ""):
        with pytest.raises(TypeError, match="is not a row of keys"):
            Filter(items=10).contains_many(arrow.Array(format, [None, b"x"], 1))


def test_build():
    words = ["red", "green", "blue"]
    for keys in (words, tuple(words), np.array(words), arrow.text(words),
                 iter(words)):
        assert all(Filter.build("fuse", keys).contains_many(words))
    f = Filter.build("fuse", arrow.text(["a", None]))
    assert len(f) == 1 and "a" in f
    for text in ("words", b"words", bytearray(b"words")):
        with pytest.raises(TypeError, match="one key"):
            Filter.build("fuse", text)
        with pytest.raises(TypeError, match="one key"):
            Filter(items=10).update(text)


def test_build_of_what_has_parts():
    words = ["red", "green", "blue", ""]
    f = Filter.build("fuse", arrow.Chunked([arrow.text(words[:2]),
                                            arrow.text(words[2:])]))
    assert all(f.contains_many(words)) and len(f) == 4
    f = Filter.build("fuse", arrow.Chunked([arrow.text(words)]))
    assert all(f.contains_many(words)) and len(f) == 4
    f = Filter.build("fuse", arrow.Chunked([arrow.text(words),
                                            arrow.text([None])]))
    assert all(f.contains_many(words)) and len(f) == 4
    assert len(Filter.build("fuse", arrow.Chunked([]))) == 0
    assert all(Filter.build("fuse", memoryview(np.arange(9))).contains_many(range(9)))


@pytest.mark.parametrize("offset", [0, 3])
def test_arrow_views(offset):
    values = ["", "é", "twelve bytes", "thirteen byte", None, "x" * 1000,
              "a" * 13, None]
    f = Filter("standard", items=100, rate=1e-9)
    f.update(arrow.views(values, offset))
    here = [v for v in values[offset:] if v is not None]
    assert len(f) == len(here) and all(f.contains_many(here))
    assert f.contains_many(arrow.views(values, offset)).tolist() \
        == [v is not None for v in values[offset:]]


def test_bools_and_halves():
    f = Filter("standard", items=10, rate=1e-9)
    f.update([1, 7.0])
    bits = arrow.Array("b", [None, b"\x06"], 3, 1)         # 1, 1, 0
    assert f.contains_many(bits).tolist() == [True, True, False]
    halves = arrow.Array("e", [None, np.array([7, 8], "f2")], 2)
    assert f.contains_many(halves).tolist() == [True, False]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.bool_(True) in f and np.bool_(False) not in f
        assert f.contains_many([np.bool_(True), np.float32(7)]).all()


def every_layout(values):
    """Yields an array of Arrow of these texts or None in each layout."""
    encoded = [None if v is None else v.encode() for v in values]
    yield arrow.text(values), False
    yield arrow.text(values, 64), False
    yield arrow.views(values), False
    yield arrow.views(encoded, format="vz"), True
    for format, dtype in ("z", "u4"), ("Z", "u8"):
        ends = np.cumsum([0] + [len(v or b"") for v in encoded])
        yield arrow.Array(format, [arrow.valid(values), ends.astype(dtype),
                                   b"".join(v or b"" for v in encoded)],
                          len(values), nulls=-1), True
    words = sorted({v for v in values if v is not None}) + [None]
    for dtype, format in ("i1", "c"), ("u2", "S"), ("i8", "l"):
        index = np.array([words.index(v) for v in values], dtype)
        for dictionary in arrow.text(words), arrow.views(words):
            yield arrow.Array(format, [None, index], len(values),
                              dictionary=dictionary), False
    for dictionary in arrow.text(words[:-1]), arrow.views(words[:-1]):
        yield arrow.Array("i", [arrow.valid(values),
                                np.array([words.index(v) if v is not None
                                          else -9 for v in values], "i4")],
                          len(values), nulls=-1, dictionary=dictionary), False


@pytest.mark.parametrize("n", [0, 1, 7, 5000])
def test_every_layout_of_arrow(n):
    values = [None if i % 11 == 3 else f"key {i % 90} " + "x" * (i % 90 % 14)
              for i in range(n)]
    for form in "text", "any", "text:case=upper,trim":
        texts = Filter("standard", items=2000, keys=form)
        texts.update(values)
        raw = Filter("standard", items=2000)
        raw.update([v and v.encode() for v in values])
        for column, as_bytes in every_layout(values):
            f = (raw if as_bytes else texts).like()
            f.update(column)
            assert f == (raw if as_bytes else texts), column.schema.format
            assert np.array_equal(f.contains_many(column),
                                  [v is not None for v in values])
            assert np.array_equal(f.count_many(column) != 0,
                                  [v is not None for v in values])


@pytest.mark.parametrize("format,dtype", [("c", "i1"), ("C", "u1"), ("s", "i2"),
                                          ("S", "u2"), ("i", "i4"), ("I", "u4"),
                                          ("l", "i8"), ("L", "u8"), ("e", "f2"),
                                          ("f", "f4"), ("g", "f8")])
def test_every_number_of_arrow(format, dtype):
    most = 2 if dtype[0] == "f" else 1
    values = [None if i % 7 == 2 else (i % 251 - (100 if dtype[0] == "i" else 0)
                                       * (i % 2)) % 120 / most
              for i in range(9000)]
    values = [v if v is None or dtype[0] == "f" else int(v) for v in values]
    for form in "number", "any", "int64" if most == 1 else "double":
        f = Filter("standard", items=2000, keys=form)
        f.update(values)
        g = f.like()
        g.update(arrow.integers(values, format, dtype))
        h = f.like()
        h.update(np.ma.masked_array(np.array([v or 0 for v in values], dtype),
                                    [v is None for v in values]))
        assert f == g == h
        there = g.contains_many(arrow.integers(values, format, dtype))
        assert there.tolist() == [v is not None for v in values]


def test_halves_are_converted_exactly():
    every = np.arange(1 << 16, dtype="u2").view("f2")
    column = arrow.Array("e", [None, every], len(every))
    assert np.array_equal(bloomery.hash_many(column),
                          bloomery.hash_many(every.astype("f8")))


def peak(call):
    """Returns the most bytes of Python that a call has at a time."""
    call()
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


N = 50_000


def test_arrays_make_no_objects_of_keys():
    """Neither looking up nor building makes an object for each key."""
    words = [f"number {i} of many" for i in range(N)]
    f = Filter(items=N)
    columns = [column for column, as_bytes in every_layout(words[:100] * 9)
               if not as_bytes]
    columns += [arrow.text(words), arrow.views(words), np.array(words)]
    for column in columns:
        n = getattr(column, "array", np.zeros(N)).length \
            if hasattr(column, "array") else N
        assert peak(lambda: f.update(column)) < 16_000
        assert peak(lambda: f.contains_many(column)) < n + 16_000
    halves = [arrow.text(words[:N // 2]), arrow.text(words[N // 2:])]
    for kind in "fuse", "blocked", "cuckoo":
        for keys in (lambda: arrow.Chunked(halves), lambda: arrow.text(words),
                     lambda: np.array(words), lambda: np.arange(N)):
            made = keys()
            if hasattr(made, "__arrow_c_stream__"):
                assert peak(lambda: Filter.build(kind, arrow.Chunked(halves))) \
                    < 32_000
            else:
                assert peak(lambda: Filter.build(kind, made)) < 32_000
    labels = np.arange(N) % 4
    assert peak(lambda: Filter.build("bloomier", arrow.Chunked(halves), labels)
                ) < 10 * N


def test_columns_of_pandas_make_no_objects_of_keys():
    pd = pytest.importorskip("pandas")
    f = Filter(items=N)
    for column in (pd.Series(np.arange(N)), pd.Index(np.arange(N)),
                   pd.Series(np.arange(N) % 7, dtype="category"),
                   pd.Series(np.arange(N) + 0.5)):
        assert peak(lambda: f.contains_many(column)) < 20 * N


@pytest.mark.parametrize("kind", [k.name for k in bloomery.kinds()
                                  if k.family not in ("foreign", "compound")])
def test_built_from_chunks_is_built_from_all(kind):
    """However keys arrive, the filter is the same."""
    if kind in ("egh", "cascade"):
        pytest.skip("takes integers of a universe, or keys with labels")
    words = [f"word {i}" for i in range(3000)]
    labels = [i % 2 for i in range(3000)] if kind in (
        "bloomier",) or kind.startswith("label") else None
    if labels is None and "label" in {
            a for k in bloomery.kinds() if k.name == kind for a in k.can}:
        labels = [i % 2 for i in range(3000)]
    how = dict(items=4000, keys="text")
    try:
        whole = Filter.build(kind, words, labels, **how)
    except bloomery.Error as error:
        pytest.skip(str(error))
    parts = [arrow.text(words[i:i + 700]) for i in range(0, 3000, 700)]
    for keys in (arrow.Chunked(parts), iter(words), arrow.text(words),
                 arrow.views(words), np.array(words), np.array(words, object)):
        assert Filter.build(kind, keys, labels, **how) == whole


@pytest.mark.parametrize("kind", ["invertible:key=9", "rehash:key=whole,by=xxh64"])
def test_kinds_that_need_whole_keys_are_built_from_chunks(kind):
    words = [f"word {i}" for i in range(40)]
    whole = Filter.build(kind, words, items=50)
    assert whole.contains_many(words).all()
    chunks = arrow.Chunked([arrow.text(words[:20]), arrow.text([None]),
                            arrow.text(words[20:])])
    assert bytes(Filter.build(kind, chunks, items=50)) == bytes(whole)


def test_chunks_of_several_classes_are_refused():
    mixed = arrow.Chunked([arrow.text(["a"]), arrow.text(["b"])])
    assert "b" in Filter.build("fuse", mixed)
    for keys in (iter(["a"] * 5000 + [1]), iter([None] * 5000 + ["a", b"a"])):
        with pytest.raises(bloomery.FormError, match="several"):
            Filter.build("fuse", keys)
    f = Filter.build("fuse", iter([None] * 5000 + ["a"]))
    assert f.keys == "text" and "a" in f
    f = Filter.build("fuse", iter(["a"] * 5000 + [1]), keys="any")
    assert "a" in f and 1 in f


def test_labels_in_every_layout():
    n = 5000
    words, values = [f"w{i}" for i in range(n)], [i % 3 for i in range(n)]
    whole = Filter.build("bloomier", words, values)
    for labels in (tuple(values), iter(values), np.array(values, "u1"),
                   np.array(values, "u8"), arrow.integers(values),
                   arrow.integers(values, "C", "u1"),
                   arrow.Chunked([arrow.integers(values[:7]),
                                  arrow.integers(values[7:])])):
        assert Filter.build("bloomier", words, labels) == whole
    # a missing key is skipped, with its label
    some = [w if i % 5 else None for i, w in enumerate(words)]
    f = Filter.build("bloomier", arrow.Chunked([arrow.text(some[:999]),
                                                arrow.text(some[999:])]),
                     np.array(values))
    assert all(f[w] == v for w, v in zip(some, values) if w is not None)
    for wrong in ([0.5] * n, [-1] * n, [None] * n, np.full(n, -1), ["1"] * n,
                  np.full(n, 0.5), arrow.integers([None] * n)):
        with pytest.raises(TypeError, match="label number 0 is not an integer"):
            Filter.build("bloomier", words, wrong)
    for wrong in values[1:], values + [1], []:
        with pytest.raises(bloomery.ParameterError, match="give one for each"):
            Filter.build("bloomier", words, wrong)


def test_an_array_is_asked_before_its_items():
    class Tensor:
        """An array of another library."""
        values = np.arange(5)

        def __array__(self, dtype=None, copy=None):
            return self.values

        def __len__(self):
            return len(self.values)

        def __iter__(self):
            raise AssertionError

    class Nulls(Tensor):
        """Missing values became real numbers in the array."""
        null_count = 1
        values = np.array([1, np.nan])

        def __iter__(self):
            return iter([1, None])

    same(Tensor(), range(5))
    f = Filter(items=10)
    f.update(Nulls())
    assert len(f) == 1 and f.contains_many(Nulls()).tolist() == [True, False]


def test_times():
    for unit in "W", "D", "h", "m", "s", "ms", "us":
        same(np.array(["2026-11-26T00", "1969-12-25"], f"M8[{unit}]"),
             np.array(["2026-11-26T00", "1969-12-25"], f"M8[{unit}]").tolist())
        same(np.array([0, -3, 90000], f"m8[{unit}]"),
             np.array([0, -3, 90000], f"m8[{unit}]").tolist())
    ticks = [0, 1500, -1500, 10 ** 15 + 3000, -10 ** 17 + 1000, 5 * 10 ** 9,
             2 ** 62 // 1000 * 1000]
    for kind in "M8", "m8":
        fine = np.array(ticks, f"{kind}[ns]") // 1000 * 1000 if kind == "m8" \
            else np.array(ticks, f"{kind}[ns]").astype("M8[us]")
        coarse = fine.astype(f"{kind}[us]")
        same(fine.astype(f"{kind}[ns]"), coarse.tolist())
    f = Filter(items=9)
    f.update(np.array(["2026-11-26T01:02:03.000000004", "NaT"], "M8[ns]"))
    assert len(f) == 1 and "2026-11-26T01:02:03.000000004" in f
    assert f.contains_many(np.array(["NaT"], "M8[D]")).tolist() == [False]
    for dtype in "M8[D]", "M8[h]", "M8[ns]", "m8[D]", "m8[10s]", "m8[ns]":
        column = np.array([0, 1, 10 ** 9 + 7, -5], dtype)
        same(column, list(column))
    f = Filter(items=9)
    assert np.datetime64("NaT") not in f and not f.add(np.timedelta64("NaT"))
    f.update(np.array([7, "NaT"], "m8[ns]"))
    assert len(f) == 1 and 7e-9 in f


def test_objects_that_change_while_they_are_read():
    """Code that runs for a key changes the list that the key is in."""
    class Key:
        def __index__(self):
            del row[2:]
            row.extend([7] * 3)
            return 5

    f = Filter(items=100)
    row = [1, Key(), "not reached"] * 9
    f.update(row)
    assert 5 in f and 7 in f and len(f) == 5
    objects = np.array([1, None, 3, 4], object)

    class Writer:
        def __index__(self):
            objects[:] = [b"x" * 99] * 4
            return 5

    objects[1] = Writer()
    f = Filter(items=100, keys="any")
    f.update(objects)
    assert 1 in f and 5 in f and b"x" * 99 in f


def test_text_that_no_key_can_be():
    half = ["ok", "\ud800"]
    for keys in half, iter(half), np.array(half), np.array(half, object):
        f = Filter(items=10)
        with pytest.raises(ValueError):
            f.update(keys)
    escaped = "a\udcff"
    for keys in [escaped], np.array([escaped]), np.array([escaped], object):
        f = Filter(items=10)
        f.update(keys)
        assert escaped in f and f.keys == "text"


def test_times_of_arrow():
    days = np.array(["2026-11-27", "1969-01-01"], "M8[D]")
    same(lambda: arrow.integers(days.astype("i8"), "tdD", "i4"), days.tolist())
    same(lambda: arrow.integers(days.astype("M8[ms]").astype("i8"), "tdm"),
         days.astype("M8[ms]").tolist())
    for letter, unit in ("s", "s"), ("m", "ms"), ("u", "us"), ("n", "ns"):
        ticks = [0, 5, -1500, 10 ** 9]
        moments = np.array(ticks, f"M8[{unit}]")
        spans = np.array(ticks, f"m8[{unit}]")
        same(lambda: arrow.integers(ticks, f"ts{letter}:", "i8", 1), moments[1:])
        same(lambda: arrow.integers(ticks, f"tD{letter}"), spans)
        f = Filter(items=9)
        f.update(arrow.Chunked([arrow.integers([7, None], f"ts{letter}:CET"),
                                arrow.integers([None], f"ts{letter}:CET")]))
        assert len(f) == 1 and f.contains_many(
            arrow.integers([None, 7], f"ts{letter}:UTC")).tolist() == [False, True]
    zoned = Filter(items=9)
    zoned.update(arrow.integers([1_600_000_000_500_000], "tsu:Asia/Tokyo"))
    assert datetime.datetime(2020, 9, 13, 21, 26, 40, 500_000, datetime.timezone(
        datetime.timedelta(hours=9))) in zoned
    assert len(zoned) == 1
    assert Filter(items=1).contains_many(arrow.integers([], "tsn:UTC")).size == 0


def test_durations_of_pandas():
    """A single value is as in a column, whatever its digits."""
    pd = pytest.importorskip("pandas")
    spans = pd.timedelta_range("-3s", periods=1000, freq="777ms")
    fine = pd.to_timedelta(["1ns", "1500ns", "-1ns", "3 days 1ns", "-2 days"])
    for column in spans, fine:
        same(column, list(column))
        same(column.to_series(), list(column))
    same(spans, [span.to_pytimedelta() for span in spans])
    for ticks in 2 ** 62 + 1000, -2 ** 62 - 7000:
        same(np.array([ticks], "m8[us]"),
             [datetime.timedelta(microseconds=ticks)])


def test_words_of_several_types():
    """Words beyond 2^63 are integers of another type, and so are texts."""
    large = arrow.Array("L", [None, np.array([5, 2 ** 63], "u8")], 2)
    column = arrow.Array("c", [None, np.array([0, 1, 1, 0], "i1")], 4,
                         dictionary=large)
    for form in "int64", "double":
        f = Filter(items=10, rate=1e-9, keys=form)
        f.update(column)
        g = f.like()
        g.update([5, 2 ** 63, 2 ** 63, 5])
        assert f == g and f.contains_many(column).all()
    with pytest.raises(OverflowError):
        Filter(items=10, keys="number").update(column)
    with pytest.raises(OverflowError):
        Filter.build("invertible:key=9", column, items=9)


def test_categories_of_several_classes_add_nothing():
    pd = pytest.importorskip("pandas")
    f = Filter(items=10)
    for column in pd.Series([1, "a"], dtype="category"), pd.Series(["a", 1, None]):
        with pytest.raises(bloomery.FormError, match="several"):
            f.update(column.astype("category"))
    assert len(f) == 0 and f.keys == "any"
    f.update(pd.Series([1, "a"], dtype="category").iloc[[1, 1]])
    assert f.keys == "text" and len(f) == 2


def test_uuids_after_bytes_are_built():
    keys = [b"a" * 16] + [uuid.UUID(int=i) for i in range(17_000)]
    for row in keys, iter(keys):
        f = Filter.build("fuse", row)
        assert f.keys == "bytes" and all(f.contains_many(keys))


def test_missing_times_beside_masked_ones():
    for dtype in "M8[D]", "m8[s]", "m8[ns]":
        column = np.ma.array(np.array(["NaT", 5, 6], dtype), mask=[0, 0, 1])
        f = Filter(items=10)
        f.update(column)
        assert len(f) == 1
        assert f.contains_many(column).tolist() == [False, True, False]


def test_dictionaries_of_dictionaries_are_refused():
    words = arrow.Array("c", [None, np.array([1, 0], "i1")], 2,
                        dictionary=arrow.text(["a", "b"]))
    column = arrow.Array("c", [None, np.array([0, 1], "i1")], 2, dictionary=words)
    with pytest.raises(TypeError, match="dictionary of a dictionary"):
        Filter(items=10).update(column)


def test_times_beyond_64_bits():
    for unit, second in ("W", 604800), ("D", 86400), ("h", 3600), ("m", 60):
        most = (2 ** 63 - 1) // second
        same(np.array([most, -most], f"m8[{unit}]"), [most * second, -most * second])
        for ticks in most + 1, -most - 1:
            column = np.array([1, ticks], f"m8[{unit}]")
            with pytest.raises(OverflowError, match="64 bits"):
                Filter(items=10).update(column)
            with pytest.raises(OverflowError, match="64 bits"):
                column[1] in Filter(items=10, keys="number")
    for dtype in "M8[W]", "M8[h]", "M8[ms]", "M8[10s]", "m8[10h]", "m8[4ms]":
        column = np.array(["NaT", 2 ** 62 + 1], dtype)
        with pytest.raises(OverflowError, match="64 bits"):
            Filter(items=10).update(column)
        with pytest.raises(OverflowError, match="64 bits"):
            Filter(items=10).add(column[1])


def test_a_width_is_ascii_digits():
    for format in "w:\xb2", "w:\u0664", "w:":
        column = arrow.Array(format, [None, b"abcd"], 1)
        with pytest.raises(TypeError, match="is not a row of keys"):
            Filter(items=10).update(column)


def test_bools_of_any_byte():
    column = np.array([2, 0, 255], "u1").view("?")
    same(column, [True, False, True])
    f = Filter(items=10, rate=1e-9)
    f.update(np.ma.array(column, mask=[0, 1, 0]))
    assert len(f) == 2 and True in f and 2 not in f


class Column:
    """A column of another library, with the calls of pandas."""
    dtype = np.dtype("O")

    def __init__(self, values, missing):
        self.values, self.missing = values, missing

    def isna(self):
        return self.missing

    def to_numpy(self, **_):
        return self.values


def test_columns_of_other_shapes_are_refused():
    for values in np.array([["a", "b"], ["c", "d"]], object), np.array("a", object):
        with pytest.raises(ValueError, match="dimensions"):
            Filter(items=10).update(Column(values, None))
    short = Column(np.arange(9000), np.array([True]))
    short.dtype = "int"
    with pytest.raises(ValueError, match="missing"):
        Filter(items=10).update(short)


def test_text_of_pandas_without_arrow():
    class Text(Column):
        dtype = "str"

        def __arrow_c_stream__(self, requested_schema=None):
            raise ImportError("pyarrow is missing")

    same(Text(np.array(["a", ""], object), np.array([False, False])), ["a", ""])

    class Stream:
        __arrow_c_stream__ = Text.__arrow_c_stream__

    with pytest.raises(ImportError):
        Filter(items=10).update(Stream())
