"""Keys in arrays: numpy's, Arrow's and views of memory."""
import ctypes
import struct
import warnings
from array import array

import pytest

import bloomery
from bloomery import Filter

import arrow

np = pytest.importorskip("numpy")


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
    """What lies as it is wanted is asked where it lies."""
    from bloomery import _keys
    from bloomery._native import ffi
    a = np.arange(10)
    assert int(ffi.cast("uintptr_t", _keys.from_numpy(np, a)[0].c.data)) \
        == a.ctypes.data
    s = np.array([b"a", b"bcd"])
    assert int(ffi.cast("uintptr_t", _keys.from_numpy(np, s)[0].c.data)) \
        == s.ctypes.data
    t = arrow.text(["a", "b"])
    assert int(ffi.cast("uintptr_t", _keys.from_arrow_array(t).c.data)) \
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


@pytest.mark.filterwarnings("ignore:memory leak in callback")
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
    for format in ("+s", "tdD", "tsu:UTC", "d:9,2", "+l", "?"):
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
