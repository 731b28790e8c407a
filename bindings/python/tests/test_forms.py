"""Forms of keys: a filter has keys of one class, and every question is answered
rightly or is an error."""
import copy
import datetime
import decimal
import enum
import fractions
import pickle
import struct
import subprocess
import threading
import uuid
from array import array

import pytest

import bloomery
from bloomery import Filter, FormError

import arrow

CLASSES = {"text": ["a", "7", "", "grün"], "bytes": [b"a", b"7", b"", b"\xff"],
           "number": [7, 7.0, True, -3, 2.5]}
NO_KEYS = [datetime.time(8, tzinfo=datetime.timezone.utc), 1j, (1,), [1], object()]


def verbs(f):
    """Every way in: of a key, whether it is found, or an error."""
    def adds(call):
        def once(key):
            f_with = f.copy()
            call(f_with, key)
            return key in f_with
        return once

    return {
        "in": lambda k: k in f, "contains": lambda k: f.contains(k),
        "contains_many": lambda k: bool(f.contains_many([k])[0]),
        "iterator": lambda k: bool(f.contains_many(iter([k]))[0]),
        "count": lambda k: f.count(k) != 0,
        "count_many": lambda k: f.count_many([k])[0] != 0,
        "discard": lambda k: f.copy().discard(k),
        "remove": adds(lambda g, k: (g.add(k), g.remove(k), g.add(k))),
        "remove_many": adds(lambda g, k: (g.add(k), g.remove_many([k]),
                                         g.add(k))),
        "add": adds(lambda g, k: g.add(k)),
        "update": adds(lambda g, k: g.update([k])),
        "add_many": adds(lambda g, k: g.add_many([k])),
    }


@pytest.mark.parametrize("own", CLASSES)
def test_every_class_by_every_question(own):
    f = Filter("counting", items=1000, rate=1e-9)
    f.update(CLASSES[own])
    assert f.keys == own and f.info().keys == own
    for name, verb in verbs(f).items():
        for asked, keys in CLASSES.items():
            for key in keys:
                if asked == own:
                    assert verb(key), (name, key)
                else:
                    with pytest.raises(FormError, match="the filter's keys"):
                        verb(key)
        for key in NO_KEYS:
            with pytest.raises(TypeError, match="a key is text, bytes or a "):
                verb(key)
        with pytest.raises(OverflowError if own == "number" else FormError):
            verb(2 ** 63)
        with pytest.raises(OverflowError):
            verb(2 ** 64)


def test_failed_calls_state_no_form():
    f, larger = Filter(items=100), Filter(items=100000)
    larger.add("x")
    with pytest.raises(bloomery.MismatchError):
        f |= larger
    with pytest.raises(bloomery.MismatchError):
        f &= larger
    assert f.keys == "any"
    f.add(5)
    assert f.keys == "number"
    f = Filter("spatial:areas=3", items=10)
    for call in (lambda: f.put_many(["x"], [99999]),
                 lambda: f.__setitem__("x", 99999)):
        with pytest.raises(bloomery.ParameterError):
            call()
        assert f.keys == "any"
    f[7] = 1
    assert f.keys == "number" and f[7] == 1


def test_files_are_not_rows_of_keys(tmp_path):
    path = tmp_path / "keys.txt"
    path.write_text("a\nb\n")
    with open(path) as lines, pytest.raises(TypeError, match="its lines end"):
        Filter.build("standard", lines)
    with open(path, "rb") as lines, pytest.raises(TypeError, match="its lines"):
        Filter(items=9).update(lines)
    with open(path) as lines:
        f = Filter.build("standard", (line.rstrip("\n") for line in lines))
    assert "a" in f and "b" in f


def test_errors_say_how_to_convert():
    for first, other, how in (("a", 1, r"str\(key\)"),
                              ("a", b"", r"key.decode\(\)"),
                              (b"a", "", r"key.encode\(\)"),
                              (7, "7", r"int\(key\)")):
        f = Filter(items=10)
        f.add(first)
        with pytest.raises(FormError, match=how) as told:
            other in f
        assert isinstance(told.value, TypeError) and told.value.status == -21
        assert isinstance(told.value, bloomery.Error)
    with pytest.raises(FormError, match=r"bytes.fromhex\(key\)"):
        "da39" in Filter(items=10, keys="hex")
    for key, how in ((NO_KEYS[0], "isoformat"), ([1], "_many"),
                     (object(), r"str\(\)")):
        with pytest.raises(TypeError, match=how):
            Filter(items=10).add(key)


def test_labels_have_a_class():
    f = Filter.build("bloomier", ["a", "b"], [1, 2])
    assert f.keys == "text" and f["a"] == 1
    for call in (lambda: f[1], lambda: f.get(b"a"), lambda: f.get_many([1]),
                 lambda: f.put_many([1], [1]), lambda: f.__setitem__(1, 1)):
        with pytest.raises(FormError):
            call()
    zones = Filter("spatial:areas=3", items=10)
    zones["here"] = 3
    assert zones.keys == "text" and zones["here"] == 3
    zones = Filter("spatial:areas=3", items=10)
    zones.put_many([1, None, 2], [1, 3, 2])
    assert zones.keys == "number" and list(zones.get_many([1, None, 2])[1]) \
        == [1, 0, 2]


def test_the_first_batch_states_the_form():
    for keys in CLASSES.values():
        for first in (lambda f: f.add(keys[0]), lambda f: f.update(keys),
                      lambda f: f.add_many(keys), lambda f: f.update(iter(keys))):
            f = Filter(items=100)
            assert f.keys == "any"
            f.contains_many(["a", b"a", 1]), "a" in f, 1 in f    # a question does not
            f.update([]), f.update([None]), f.add(None)     # nor does no key
            assert f.keys == "any"
            first(f)
            assert CLASSES[f.keys] is keys


def test_a_batch_has_one_class():
    for wrong in (["a", 1], [b"a", "a"], [None, 1, "x"], iter([1, b""])):
        f = Filter(items=10)
        with pytest.raises(FormError, match="of one class.*keys='any'|several"):
            f.update(wrong)
        assert len(f) == 0 and f.keys == "any"
    with pytest.raises(FormError, match="keys='any'"):
        Filter.build("fuse", ["a", 1])
    f = Filter(items=10)
    f.add("a")
    with pytest.raises(FormError):
        f.update(["b", 1, "c"])
    assert "b" in f and "c" not in f            # the keys before it are in
    f = Filter(items=10)
    with pytest.raises(TypeError, match="a key is"):
        f.update(["b", object(), "c"])
    assert "b" in f and "c" not in f
    with pytest.raises(FormError):
        f.contains_many(["b", 1])
    for many in ("bloomery.dedup(mixed)", "bloomery.diff(mixed, [])"):
        with pytest.raises(FormError):
            list(eval(many, {"bloomery": bloomery, "mixed": ["a", 1]}))
    assert list(bloomery.dedup(["a", 1, "a"], keys="any")) == ["a", 1]


def test_any_takes_mixtures():
    mixed = ["a", b"b", 7, 2.5, None, True]
    for f in (Filter(items=100, keys="any"),
              Filter.build("standard", mixed, keys="any")):
        f.update(mixed)
        assert f.keys == "any"
        assert list(f.contains_many(mixed)) == [k is not None for k in mixed]
        assert b"a" in f and struct.pack("<q", 7) in f
    empty = Filter(items=10, keys="any")
    for f in (empty.copy(), empty.like(), copy.deepcopy(empty),
              pickle.loads(pickle.dumps(empty))):
        f.update(["a", 1])
        f.clear()
        f.update([1, "a"])
        assert f.keys == "any"


def test_a_filter_of_bare_keys_takes_any():
    f = Filter("counting", items=10, keys="any")
    f.add("a")
    g = Filter.from_bytes(f.pack())             # it knows nothing of the word
    g.update([1, b"b"])
    assert g.keys == "any" and "a" in g and 1 in g
    g.clear()
    g.add(1)
    assert g.keys == "number"                   # as a new one would


def test_other_systems_files_take_any(tmp_path):
    f = Filter.build("leveldb:bits=10", ["a"])
    assert f.keys == "any" and "a" in f and b"a" in f
    f = Filter("leveldb:bits=10", items=10)
    f.update(["a"]), f.update([1, b"c"])
    assert f.keys == "any" and all(f.contains_many(["a", 1, b"c"]))
    with pytest.raises(bloomery.UnsupportedError, match="cannot record"):
        Filter("leveldb:bits=10", items=10, keys="number")


@pytest.mark.parametrize("form,added,asked,bytes_of", [
    ("text:case=lower,trim", "Abc", "  ABC ", b"abc"),
    ("text:case=upper", "Abc", "aBC", b"ABC"),
    ("text:case=fold", "Straße", "STRASSE", b"strasse"),
    ("utf16", "Aé", "Aé", "Aé".encode("utf-16-le")),
    ("utf16:case=lower,trim", "AB ", "ab", "ab".encode("utf-16-le")),
    ("hex", b"\xff", bytearray(b"\xff"), b"\xff"),
    ("int32", 7, 7.0, struct.pack("<i", 7)),
    ("int32", 2 ** 32 - 1, -1, b"\xff" * 4),
    ("int64", 2 ** 64 - 1, -1, b"\xff" * 8),
    ("float", 2.5, 2.5, struct.pack("<f", 2.5)),
    ("double", 7, 7.0, struct.pack("<d", 7)),
    ("double", 2 ** 63, 2.0 ** 63, struct.pack("<d", 2.0 ** 63)),
])
def test_keys_are_made_by_the_form(form, added, asked, bytes_of):
    many = Filter("standard", items=100, rate=1e-9, keys=form)
    one = many.like()
    try:
        many.update([added, None, added]), one.add(added)
    except bloomery.UnsupportedError as error:
        assert "case=fold" in str(error)
        pytest.skip(str(error))         # built without ICU
    raw = Filter("standard", items=100, rate=1e-9, keys="any")
    raw.add(bytes_of)
    for f in many, one, Filter.build("standard", [added], items=100, rate=1e-9,
                                     keys=form):
        assert f.keys == form and asked in f
        assert list(f.contains_many([asked, None])) == [True, False]
        assert bytes(f)[128:] == bytes(raw)[128:]
    assert bloomery.hash_many([added], keys=form)[0] \
        == bloomery.hash_many([bytes_of])[0]


LISTS = {
    "domain": (["Example.COM.", "*.evil.test"], ["example.com", "a.b.EXAMPLE.com",
               "x.evil.test"], ["com", "badexample.com", "test"]),
    "cidr": (["192.0.2.0/24", "2001:db8::/32"], ["192.0.2.7", "192.0.2.128/25",
             "::ffff:192.0.2.1", "2001:db8::9"], ["192.0.3.0", "192.0.0.0/16"]),
    "path": (["/srv/www/"], ["/srv/www", "/srv//www/a/b"], ["/srv", "/srv/www2"]),
}


@pytest.mark.parametrize("form", LISTS)
@pytest.mark.parametrize("kind", ["standard", "quotient", "ribbon"])
def test_keys_within_others(form, kind, tmp_path):
    entries, inside, outside = LISTS[form]
    filters = [Filter.build(kind, entries, rate=1e-6, keys=form)]
    if kind != "ribbon":
        f = Filter(kind, items=100, rate=1e-6, keys=form)
        assert f.add(entries[0]) and not f.add(entries[0])
        assert list(f.add_many(entries + entries[:1])) \
            == [False] + [True] * (len(entries) - 1) + [False]
        filters.append(f)
        f = Filter(kind, items=100, rate=1e-6, keys=form)
        f.update([None] + entries)
        filters.append(f)
    filters[0].save(tmp_path / "f.bly")
    filters.append(Filter.open(tmp_path / "f.bly"))
    for f in filters:
        assert f.keys == form
        assert all(x in f for x in inside) and not any(x in f for x in outside)
        asked = inside + outside + [None]
        assert list(f.contains_many(asked)) \
            == [True] * len(inside) + [False] * (len(outside) + 1)
        for wrong in 7, b"a", 2.5:
            with pytest.raises(bloomery.FormError):
                wrong in f
    with pytest.raises(ValueError, match="is not|cannot be read"):
        f.contains_many(["a/../b" if form == "path" else "a..b"])


def test_many_keys_within_others():
    names = [f"n{i}.example" for i in range(5000)]
    f = Filter.build("standard", names, rate=1e-9, keys="domain")
    assert f.info().capacity == len(names) + len({n.count(".") for n in names})
    assert all(f.contains_many(["a." + x for x in names]))
    assert not any(f.contains_many(["a" + x for x in names]))


def test_markers_of_keys_within_others_are_not_assumed():
    a = Filter.build("standard", ["x.org"], items=9, keys="domain")
    b = Filter.build("standard", ["org"], items=9, keys="domain")
    c = Filter.build("standard", ["net"], items=9, keys="any")
    assert all(x in a | b for x in ("y.x.org", "z.org"))
    with pytest.raises(bloomery.UnsupportedError, match="cannot be intersected"):
        a & b
    for first, second in (a, c), (c, a):
        with pytest.raises(bloomery.MismatchError):
            first | second
    with pytest.raises(bloomery.ParameterError, match="markers"):
        c.state_keys("domain")


def test_keys_within_others_are_not_for_all_kinds():
    with pytest.raises(bloomery.FormError, match="lies within"):
        Filter.build("invertible:key=9", ["example.com"], items=10, keys="domain")
    with pytest.raises(bloomery.UnsupportedError, match="have no labels"):
        Filter.build("bloomier:bits=4", ["example.com"], labels=[1],
                     keys="domain")


def test_numbers_out_of_range():
    for form, wrong in (("int32", 2 ** 32), ("int32", 2.5), ("int64", 0.5),
                        ("double", 2 ** 53 + 1)):
        f = Filter("counting", items=10, keys=form)
        for call in f.add, f.__contains__, f.count, f.remove:
            with pytest.raises(ValueError, match="is not one of the"):
                call(wrong)
        for call in f.update, f.contains_many, f.count_many, f.remove_many, f.add_many:
            with pytest.raises(ValueError, match="is not one of the"):
                call([1, wrong])
    for form, wrong in (("int32", 2 ** 63), ("number", 2 ** 63),
                        ("double", 2 ** 63 + 1)):
        f = Filter(items=10, keys=form)
        with pytest.raises(OverflowError, match="int64"):
            f.contains_many([1, wrong])


@pytest.mark.parametrize("form", ["any", "number", "int32", "int64", "float",
                                  "double"])
def test_arrays_are_as_lists(form):
    np = pytest.importorskip("numpy")
    for dtype in ("i1", "u2", ">i4", "i8", "u8", "f2", ">f4", "f8", "?"):
        values = np.array([0, 1, 1, 0, 1]).astype(dtype)
        f = Filter("standard", items=99, rate=1e-9, keys=form)
        g = f.like()
        f.update(values), g.update(values.tolist())
        assert f == g and f.contains_many(values[::2]).all()
        if values.dtype.kind == "i":
            g.clear()
            g.update(arrow.integers(values.astype("i8")))
            assert f == g
    if form != "float":
        large = np.array([1, 2 ** 63], "u8")
        f = Filter(items=10, keys=form)
        if form in ("int64", "double"):
            f.update(large)
            assert f.contains_many(large.tolist()).all()
        else:
            with pytest.raises(OverflowError):
                f.update(large)


def test_what_is_no_row_of_keys():
    np = pytest.importorskip("numpy")

    class Frame:
        columns = dtypes = ()

        def __iter__(self):
            return iter(["user_id"])

    class Table:
        def __dataframe__(self):
            raise AssertionError

        def __arrow_c_stream__(self):
            raise AssertionError

    rows = [Frame(), Table(), {"user_id": [1]}, np.zeros(2, [("a", "i4")]),
            arrow.Array("+s", [None], 1),
            arrow.Chunked([arrow.Array("+s", [None], 1)])]
    f = Filter("counting", items=10)
    for row in rows:
        for call in (f.update, f.contains_many, f.count_many, f.get_many, f.add_many,
                     f.remove_many, bloomery.hash_many, lambda r: f.put_many(r, [1]),
                     lambda r: Filter.build("fuse", r),
                     lambda r: bloomery.diff(r, [])):
            if isinstance(row, arrow.Chunked):
                row = arrow.Chunked([arrow.Array("+s", [None], 1)])
            with pytest.raises(TypeError, match='user_id'):
                call(row)
        with pytest.raises(TypeError):
            row in f
    assert len(f) == 0
    for moment in "M8[M]", "M8[Y]", "m8[Y]", "m8":
        key = np.array([5], moment)
        for call in f.update, f.contains_many, f.__contains__, f.add:
            with pytest.raises(TypeError):
                call(key)
            with pytest.raises(TypeError, match="a key is"):
                call([key[0]] if call in (f.update, f.contains_many)
                     else key[0])
    assert f.keys == "any"


def test_missing_values():
    np = pytest.importorskip("numpy")
    rows = {
        "list": [1, None, 3], "tuple": (1, None, 3), "iterator": [1, None, 3],
        "objects": np.array([1, None, 3], object),
        "masked": np.ma.masked_array([1, 5, 3], [0, 1, 0]),
        "masked reals": np.ma.masked_array([1, np.nan, 3.0], [0, 0, 0]),
        "masked constant": [1, np.ma.masked, 3],
        "arrow": arrow.integers([1, None, 3]),
        "arrow reals": arrow.integers([1, None, 3], "g", "f8"),
        "arrow words": arrow.text(["1", None, "3"]),
    }
    for name, row in rows.items():
        f = Filter("counting", items=10, rate=1e-9)
        f.update(iter(row) if name == "iterator" else row)
        assert len(f) == 2, name
        assert list(f.contains_many(row)) == [True, False, True], name
        assert list(f.count_many(row)) == [1, 0, 1], name
        assert list(f.get_many(row)[0]) == [True, False, True] \
            if "get" in f.can else True
        assert list(f.add_many(row)) == [False] * 3
        g = f.like()
        assert list(g.add_many(row)) == [True, False, True], name
        f.remove_many(row), f.remove_many(row)
        assert len(f) == 0 and f.info().fill == 0, name
        built = Filter.build("fuse", row)
        assert list(built.contains_many(row)) == [True, False, True]
        labelled = Filter.build("bloomier", row, [4, 5, 6])
        assert list(labelled.get_many(row)[1]) == [4, 0, 6], name
        with pytest.raises(ValueError, match="missing"):
            bloomery.hash_many(row)
    f = Filter("counting", items=10)
    assert f.add(None) is False and None not in f and f.count(None) == 0
    assert f.discard(None) is False and len(f) == 0
    with pytest.raises(bloomery.AbsentError, match="missing"):
        f.remove(None)
    with pytest.raises(ValueError, match="missing"):
        list(bloomery.dedup(["a", None]))
    f.update(arrow.Array("n", [], 3))
    assert len(f) == 0 and list(f.contains_many(arrow.Array("n", [], 2))) == [0, 0]


def test_what_is_no_number_is_a_key():
    np = pytest.importorskip("numpy")
    nan = float("nan")
    for row in ([nan], np.array([nan]), array("d", [nan]), (nan,)):
        f = Filter(items=10)
        f.update(row)
        assert len(f) == 1 and nan in f


def test_pandas():
    pd = pytest.importorskip("pandas")
    np = pytest.importorskip("numpy")
    big = 2 ** 62 + 1
    cases = [
        (pd.Series([1, 2, 3]), [1, 2, 3]), (pd.Index([1, 2]), [1, 2]),
        (pd.Series([1.5, np.nan]), [1.5, None]),
        (pd.Series([big, None], dtype="Int64"), [big, None]),
        (pd.array([2 ** 63 - 1, pd.NA], dtype="UInt64"), [2 ** 63 - 1, None]),
        (pd.Series([True, None], dtype="boolean"), [True, None]),
        (pd.Series([2.5, None], dtype="Float64"), [2.5, None]),
        (pd.Series(["a", None, np.nan]), ["a", None, None]),
        (pd.Series(["a", pd.NA], dtype="string"), ["a", None]),
        (pd.Series(["a", None, "b"], dtype="category"), ["a", None, "b"]),
        (pd.Series([big, None], dtype=pd.CategoricalDtype([big])), [big, None]),
        (pd.Series([b"a", None]), [b"a", None]),
        (pd.Series([pd.NA, pd.NaT, 1], dtype=object), [None, None, 1]),
        (pd.Series([], dtype=float), []), (pd.RangeIndex(3), [0, 1, 2]),
        (pd.Series(["b", None], dtype="category"), ["b", None]),
        (pd.Categorical([3, 4, None, 3]), [3, 4, None, 3]),
        (pd.CategoricalIndex([2.5, 2.0]), [2.5, 2]),
        (pd.Series([], dtype="category"), []),
        (pd.Series(pd.to_datetime(["2026-01-02", None])),
         [datetime.datetime(2026, 1, 2), None]),
        (pd.to_datetime(["2026-01-02 03:04:05.5"]).tz_localize("CET"),
         [datetime.datetime(2026, 1, 2, 2, 4, 5, 500000,
                            datetime.timezone.utc)]),
        (pd.Series(pd.to_timedelta(["1 days", None])),
         [datetime.timedelta(1), None]),
    ]
    for column, values in cases:
        f, g = Filter(items=99, rate=1e-9), Filter(items=99, rate=1e-9)
        f.update(column), g.update(values)
        assert f == g, values
        there = [v is not None for v in values]
        assert list(f.contains_many(column)) == there
        assert list(f.contains_many(values)) == there
        assert f.keys == g.keys and len(f) == sum(there)
    moments = pd.Series(pd.to_datetime(["2026-01-02", None]))
    for wrong in (moments.dt.to_period("D"), pd.Series([1j]),
                  pd.interval_range(0, 3),
                  pd.MultiIndex.from_tuples([(1, 2)]),
                  pd.DataFrame({"user_id": [1, 2, 3]})):
        f = Filter(items=10)
        for call in f.update, f.contains_many, lambda w: Filter.build("fuse", w):
            with pytest.raises(TypeError):
                call(wrong)
        assert len(f) == 0
    assert pd.NA not in f and pd.NaT not in f and f.add(pd.NA) is False
    f.add(datetime.datetime(2026, 1, 2))
    assert pd.Timestamp("2026-01-02") in f


def test_what_else_is_a_number_or_text():
    class Colour(enum.IntEnum):
        RED = 1

    class Word(str, enum.Enum):
        RED = "red"

    f = Filter("standard", items=99, rate=1e-9)
    f.update([1, 0.5])
    assert Colour.RED in f and fractions.Fraction(1, 2) in f
    g = Filter(items=9, rate=1e-9)
    g.add(Word.RED)
    assert "red" in g and g.keys == "text"


def test_views_of_characters():
    np = pytest.importorskip("numpy")
    letters = memoryview(b"a\0b").cast("c")
    f = Filter("standard", items=9, rate=1e-9)
    f.update(letters)
    assert f.keys == "bytes" and all(f.contains_many([b"a", b"\0", b"b"]))
    import ctypes
    g = Filter("standard", items=9, rate=1e-9)
    g.update(memoryview((ctypes.c_char * 3)(*b"a\0b")))
    assert bytes(f)[128:] == bytes(g)[128:]
    g = Filter("standard", items=9, rate=1e-9)
    g.update((ctypes.c_int * 3)(1, 2, 3))
    assert g.keys == "number" and 3 in g
    with pytest.raises(TypeError, match="a key is"):
        ctypes.c_int(3) in g
    with pytest.raises(TypeError):
        g.update(np.datetime64("2026-01-01"))


def test_dictionaries_of_numbers_and_bytes():
    np = pytest.importorskip("numpy")
    index = np.array([1, 0, 1], "i4")
    for words, keys, form in (
            (arrow.integers([5, -6]), [-6, 5, -6], "number"),
            (arrow.integers([1.5, 2], "g", "f8"), [2, 1.5, 2.0], "number"),
            (arrow.Array("w:2", [None, b"abcd"], 2), [b"cd", b"ab", b"cd"],
             "bytes"),
            (arrow.text(["x", "y"]), ["y", "x", "y"], "text")):
        f = Filter(items=9)
        f.update(arrow.Array("i", [None, index], 3, dictionary=words))
        assert f.keys == form and f.contains_many(keys).all() and len(f) == 3


def test_forms_stay(tmp_path):
    f = Filter("standard", items=100, keys="text:case=lower")
    f.add("A")
    f.save(tmp_path / "f")
    for g in (f.copy(), copy.copy(f), pickle.loads(pickle.dumps(f)), f.like(),
              Filter.from_bytes(bytes(f)), Filter.open(tmp_path / "f"), f | f):
        assert g.keys == "text:case=lower"
        g.update(["b"])
        assert "B" in g
        with pytest.raises(FormError):
            g.add(1)
    f.clear()
    assert f.keys == "text:case=lower"


def test_state_keys():
    f = Filter(items=10, keys="any")
    f.add("a")
    f.state_keys("text")
    assert f.keys == "text" and "a" in f
    f.state_keys("text")
    for other in ("bytes", "any", "text:trim"):
        with pytest.raises(bloomery.MismatchError, match="have the form text"):
            f.state_keys(other)
    for wrong in ("words", "text:", "bytes:trim"):
        for call in (f.state_keys, lambda w: Filter(items=1, keys=w),
                     lambda w: Filter.build("fuse", [1], keys=w),
                     lambda w: bloomery.hash_many([1], keys=w)):
            with pytest.raises(ValueError, match="is not a form of keys"):
                call(wrong)
    with pytest.raises(TypeError):
        Filter(items=1, keys=7)
    f = Filter(items=10)
    f.state_keys("any")
    f.update(["a", 1])


def test_an_opened_file_states_it(tmp_path):
    path = tmp_path / "f"
    Filter("standard", items=10).save(path)
    with Filter.open(path, mmap=True, write=True) as f:
        f.update([1, 2])
        assert f.keys == "number"
    with Filter.open(path, mmap=True) as f:
        assert f.keys == "number" and 1 in f
        with pytest.raises(FormError):
            "1" in f
    Filter("standard", items=10).save(path)
    with Filter.open(path, mmap=True) as f:
        with pytest.raises(bloomery.ReadOnlyError):
            f.add("a")
        with pytest.raises(bloomery.ReadOnlyError):
            f.state_keys("text")


def test_sets_of_other_forms():
    a = Filter("standard", items=100)
    texts, numbers = a.like(), a.like()
    texts.add("a"), numbers.add(1)
    for call in (texts.__ior__, texts.__iand__, texts.overlap, texts.__or__):
        with pytest.raises(bloomery.MismatchError, match="forms text and number"):
            call(numbers)
    with pytest.raises(bloomery.MismatchError, match="state_keys"):
        stated = a.like()
        stated.state_keys("any")
        stated.add("a")
        texts |= stated
    for one, other in ((a.copy(), texts), (texts.copy(), a), (a.copy(), a)):
        one |= other
        one.overlap(other), other.overlap(one)
    assert a.keys == "any"                      # an empty one goes with all
    united = a.copy()
    united |= texts
    assert united.keys == "text" and "a" in united
    ours, theirs = bloomery.diff(["a"], [])
    assert (ours, theirs) == ([b"a"], [])
    with pytest.raises(bloomery.MismatchError):
        bloomery.diff(["a"], [b"a"])


@pytest.mark.parametrize("kind", [k.name for k in bloomery.kinds()
                                  if {"unite", "add"} <= set(k.can)])
def test_an_empty_filter_takes_the_form(kind):
    full, empty = Filter(kind, items=99), Filter(kind, items=99)
    full.add("a")
    one = Filter(kind, items=99)
    one.unite(full)
    full.unite(empty)
    form = full.keys                    # "any" in files of other systems
    assert "a" in one and "a" in full and one.keys == form
    assert empty.keys == "any" and "a" not in empty
    if form == "text":
        with pytest.raises(FormError):
            one.add(1)
        lists = Filter(kind, items=99, keys="domain")
        lists.add("example.com")
        empty.unite(lists)
        assert "www.example.com" in empty and empty.keys == "domain"


@pytest.mark.parametrize("form", ["text", "text:trim"])
def test_keys_of_batches_are_numbered(form):
    keys = [f"key {i}" for i in range(5000)]
    f = Filter("counting", items=5000, rate=1e-9, keys=form)
    f.update(keys)
    keys[4321] = "absent"
    with pytest.raises(bloomery.AbsentError, match="key 4321 of the batch"):
        f.remove_many(keys)
    g = Filter("attenuated", items=5000, keys=form)
    labels = [1] * 5000
    labels[4321] = 1 << 40
    with pytest.raises(bloomery.ParameterError, match="key 4321 of the batch"):
        g.put_many(keys, labels)


def test_an_intersection_with_an_empty_filter_is_empty():
    full, empty = Filter(items=99, rate=1e-9), Filter(items=99, rate=1e-9)
    full.add("a")
    empty.intersect(full)
    assert "a" not in empty and empty.keys == "any"
    empty.add(1)
    assert empty.keys == "number"


@pytest.mark.parametrize("call", ["update", "add", "add_many", "unite"])
def test_threads_make_the_first_batch_at_once(call):
    """One class wins, and the others get errors; nothing else is in."""
    batches = [["a", "b"], [b"c", b"d"], [1, 2.5]] * 2
    for _ in range(30):
        f = Filter("counting", items=100, rate=1e-9)
        begin, went = threading.Barrier(len(batches)), []

        def work(batch):
            other = f.like()
            other.update(batch)
            begin.wait()
            try:
                if call == "unite":
                    f.__ior__(other)
                else:
                    getattr(f, call)(batch[0] if call == "add" else batch)
                went.append(batch)
            except (FormError, bloomery.MismatchError):
                pass

        threads = [threading.Thread(target=work, args=(b,)) for b in batches]
        [t.start() for t in threads], [t.join() for t in threads]
        assert len(went) == 2 and went[0] == went[1]
        assert f.keys == {str: "text", bytes: "bytes", int: "number"}[
            type(went[0][0])]
        assert went[0][0] in f


def test_repeats_are_counted_and_told():
    f = Filter("standard", items=150_000, keys="text")
    for _ in range(2):
        f.update(map(str, range(10_000)))
    assert len(f) == 20_000
    told = repr(f)
    assert "20,000 keys added" in told and "planned for 150,000" in told
    assert "form text" in told and "rate 0.01" in told
    assert abs(f.estimate().value - 10_000) < 500
    html = f._repr_html_()
    assert "20,000 keys added" in html and "<td>text</td>" in html
    different = int(html.split("about ")[1].split("<")[0].replace(",", ""))
    assert different == round(f.estimate().value)
    f |= f.copy()
    assert "an unknown number of keys" in repr(f) and f.items is None
    assert abs(len(f) - 10_000) < 500
    full = Filter("standard:m=64,k=1", items=1)
    full.update(range(10_000))
    assert full.estimate().value == float("inf") and "unknown" in full._repr_html_()


def test_it_asks_what_the_command_has_built(tmp_path):
    import os
    command = os.environ.get("BLOOMERY_COMMAND")
    if not command:
        pytest.skip("BLOOMERY_COMMAND does not name the command")
    def run(*words, keys):
        done = subprocess.run([command, *map(str, words)], input=keys.encode(),
                              stdout=subprocess.PIPE, check=True)
        return done.stdout.decode()

    path = tmp_path / "f"
    run("build", "-i", "--trim", "-n", 9, "-o", path, keys="Abc\n")
    f = Filter.open(path)
    assert f.keys == "text:case=lower,trim" and "  ABC " in f and "b" not in f
    for keys, lines in (([7, 2.5], "7\n2.5\n8\n"), (["7", "a"], "a\n7\nb\n")):
        f = Filter.build("standard", keys, rate=1e-9)
        f.save(path)
        assert sorted(run("query", path, keys=lines).split()) \
            == sorted(map(str, keys))
