"""Many keys as Python has them, as batches for C: lists, iterators and arrays.

_scalars.py says what the key of a value is, and native_keys.c how keys lie in a batch.
An array is used where it lies, if its layout is one of these. Objects are copied a
chunk at a time. No step makes an object of Python for each key of an array, except of
arrays of objects.

A missing value (None, pandas.NA, NaT, a null of Arrow, a masked value) is not a key.
Adds skip it, and no filter contains it.
"""
from __future__ import annotations

import ctypes
import itertools
import sys
from array import array
from collections.abc import Mapping
from io import IOBase
from typing import Any, Callable, Iterable, Iterator

from bloomery import _tasks
from bloomery._errors import ParameterError, check
from bloomery._native import ffi, lib
from bloomery._scalars import (BYTES, INTEGER, PARTS, REAL, SECONDS, TEXT,
                               beyond_time, encode, most_ticks, plain)

CHUNK = 1 << 12         # keys of an iterable that are read together
STEP = 1 << 14          # and those of a list


def check_row(keys: Any) -> None:
    """Refuses iterables whose items are not the keys that are meant: the
    letters of a text, the columns of a table."""
    if isinstance(keys, (str, bytes, bytearray)):
        raise TypeError(f"a {type(keys).__name__} is one key: put it into a "
                        "list, or use add() and 'in'")
    if isinstance(keys, IOBase):
        raise TypeError("a file is not a row of keys, because its lines end "
                        "with newlines: give (line.rstrip(\"\\n\") for line in "
                        "file)")
    if isinstance(keys, Mapping):
        raise TypeError(f"a mapping ({type(keys).__name__}) is not a row of "
                        "keys: give list(d), list(d.values()) or one of its "
                        "columns, as update(d[\"user_id\"])")
    of = type(keys)
    if hasattr(of, "__dataframe__") or hasattr(of, "columns"):
        raise TypeError(_no_table(of.__name__))


def _no_table(what: str) -> str:
    return (f"a table ({what}) is not a row of keys: give one of its columns, "
            "as update(df[\"user_id\"])")


class Keys:
    """A batch of n keys for one call: `c` is the held_batch."""

    __slots__ = ("c", "n", "_kept")

    def __init__(self, c: Any, *kept: Any) -> None:
        self.c = c
        self.n = int(c.n)
        self._kept: Any = kept          # the memory that it points to

    def done(self) -> int:
        """Returns how many rows of the call are done, including earlier ones."""
        return int(self.c.before + self.c.done)

    def missing(self) -> int:
        """Returns how many values are missing."""
        return int(lib.held_missing(self.c))

    def only(self, valid: Any) -> Keys:
        """Returns these keys, with those marked as missing whose bool is
        False."""
        if valid is not None and self.n > 0:
            at = ffi.from_buffer("unsigned char[]", valid)
            if len(at) != self.n:
                raise ValueError(f"{len(at)} of {self.n} values say whether "
                                 "they are missing: give one for each")
            self._kept = self._kept, at
            self.c.valid = at
        return self


def _keys(n: int, type: int, *kept: Any, **fields: Any) -> Keys:
    return Keys(ffi.new("held_batch *", dict(n=n, type=type, **fields)), *kept)


def steps(n: int) -> list[tuple[int, int]]:
    """Returns n rows in steps: where each begins and ends."""
    return [(i, min(i + STEP, n)) for i in range(0, n, STEP)]


# ---- Objects -----------------------------------------------------------------

def _with_lock(name: str, *items: Any) -> Any:
    """Returns a function of C that runs with the interpreter's lock, which cffi
    would release."""
    of = ctypes.PYFUNCTYPE(ctypes.c_ssize_t, ctypes.c_void_p, *items,
                           ctypes.c_ssize_t, ctypes.py_object)
    return of(int(ffi.cast("intptr_t", ffi.addressof(lib, name))))


_gather = _with_lock("held_gather", ctypes.py_object)
_gather_list = _with_lock("held_gather_list", ctypes.py_object, ctypes.c_ssize_t)
_gather_array = _with_lock("held_gather_array", ctypes.c_void_p)
# Without a global lock, another thread may change a list at any time.
_LOCKED = getattr(sys, "_is_gil_enabled", lambda: True)()


class _Row:
    """Keys that are gathered from objects."""

    def __init__(self, nan_missing: bool = False) -> None:
        place = lib.held_row_place()
        if place == ffi.NULL:
            raise MemoryError
        self.row = ffi.gc(place, lib.held_row_free)
        self.row.nan_missing = nan_missing
        self._at = int(ffi.cast("intptr_t", place))

    def more(self, items: Iterator[Any], most: int) -> int:
        """Appends the next keys of an iterator, and returns how many. After an
        exception, those before it are here."""
        return int(_gather(self._at, items, most, encode))

    def more_of(self, some: list[Any], first: int, most: int) -> int:
        """Appends keys of a list from `first` on, and returns how many."""
        return int(_gather_list(self._at, some, first, most, encode))

    def array(self, values: Any) -> None:
        """Appends the objects of an array of numpy, one after another."""
        _gather_array(self._at, values.__array_interface__["data"][0],
                      len(values), encode)

    def join(self, keys: Keys) -> None:
        """Appends the keys of a batch."""
        check(lib.held_row_join(self.row, keys.c))

    def end(self) -> Keys:
        """Returns the keys, which are here until clear()."""
        c = ffi.new("held_batch *")
        lib.held_row_end(self.row, c)
        return Keys(c, self.row)

    def clear(self) -> None:
        lib.held_row_clear(self.row)


# A chunk is valid until the next one: all are in the same memory.


def _filled(row: _Row, fill: Callable[[], object]) -> Iterator[Keys]:
    """Yields what `fill` appends to a row. Those before a value that is not a
    key are yielded before the exception."""
    row.clear()
    try:
        fill()
    except BaseException:
        yield row.end()
        raise
    yield row.end()


def from_objects(numpy: Any, values: Any, nan_missing: bool = False
                 ) -> Iterator[Keys]:
    """Yields the keys of an array of objects, some at a time."""
    row, values = _Row(nan_missing), numpy.ascontiguousarray(values)
    for i, j in steps(len(values)):
        yield from _filled(row, lambda: row.array(values[i:j]))


def chunks(keys: Iterable[Any]) -> Iterator[Keys]:
    """Yields the keys of any iterable, some at a time."""
    row, at = _Row(), 0
    if type(keys) is list and _LOCKED:
        while at < len(keys):
            yield from _filled(row, lambda: row.more_of(keys, at, STEP))
            at += STEP
        return
    items = iter(keys)
    n = CHUNK
    while n == CHUNK:
        for some in _filled(row, lambda: row.more(items, CHUNK)):
            n = some.n
            yield some


def whole(parts: Iterable[Keys], tell: Any = None) -> Keys:
    """Returns all keys of some batches as one. tell: is called on the way."""
    if isinstance(parts, tuple) and len(parts) == 1:
        return parts[0]                 # an array
    row = _Row()
    for part in parts:
        row.join(part)
        if tell is not None:
            tell()
    return row.end()


_MUTABLE = (bytearray, memoryview)
_STILL = (list, tuple, set, frozenset)  # no code runs between their keys


def _frozen(key: Any) -> Any:
    return plain(key) if isinstance(key, _MUTABLE) else key


def pieces(keys: Iterable[Any], n: int) -> Iterator[tuple[list[Any], set[type]]]:
    """Yields the items of any iterable, n at a time, and their types. A
    generator may write each key to the same bytearray. Such keys are copied
    when they are read."""
    rest = iter(keys)
    some = list(itertools.islice(rest, 1))
    if isinstance(some and some[0], _MUTABLE):
        some = [_frozen(some[0])]
        rest = map(_frozen, rest)
    some += itertools.islice(rest, n - 1)
    while some:
        kinds = set(map(type, some))
        if type(keys) not in _STILL \
                and any(issubclass(of, _MUTABLE) for of in kinds):
            raise TypeError("an iterator yields keys that can change, after "
                            "others that cannot: yield bytes(key)")
        yield some, kinds
        some = list(itertools.islice(rest, n))


def labels(parts: Iterable[Keys]) -> tuple[Any, int]:
    """Returns labels as an array of C, and how many there are."""
    rows = []
    for part in parts:
        row = ffi.new("uint64_t[]", part.n + 1)
        wrong = lib.held_labels(row, part.c)
        if wrong < part.n:
            raise TypeError(
                f"label number {sum(n for _, n in rows) + wrong} is not an "
                "integer from 0 to 2^64 - 1")
        rows.append((row, part.n))
    if len(rows) == 1:
        return rows[0]
    n = sum(some for _, some in rows)
    out = ffi.new("uint64_t[]", n + 1)
    at = 0
    for row, some in rows:
        ffi.memmove(out + at, row, 8 * some)
        at += some
    return out, n


def check_labels(n: int, given: tuple[Any, int]) -> Any:
    """Returns the labels of n keys."""
    if given[1] != n:
        raise ParameterError(f"there are {n} keys and {given[1]} labels: give "
                             "one for each")
    return given[0]


class Building:
    """A filter that is built from batches of keys. They are hashed as they
    arrive, which a tenth of the progress stands for. labels: those of all keys,
    from labels(), or None."""

    def __init__(self, kind: Any, spec: Any, any_class: bool, labels: Any,
                 report: Any) -> None:
        place = lib.held_building_place()
        if place == ffi.NULL:
            raise MemoryError
        self.c = ffi.gc(place, lib.held_building_free)
        self.labels, self.report = labels, report
        self._kept = kind, spec
        lib.held_building_begin(self.c, kind, spec, any_class,
                                *(labels or (ffi.NULL, 0)))

    def add(self, keys: Keys) -> None:
        report = self.report
        check(lib.held_building_add(self.c, keys.c, _tasks.handle(
            report and self._hashed)))
        if report is not None:
            report.before += keys.n
            report.tell(report.before // 10)

    def _hashed(self, done: int, _total: int) -> Any:
        report = self.report
        return report.progress((report.before + done) // 10, report.total)

    def _built(self, done: int, total: int) -> Any:
        return self.report.progress(total - (total - done) * 9 // 10, total)

    def end(self, out: Any) -> None:
        """Makes the filter."""
        if self.labels is not None:
            check_labels(self.c.rows, self.labels)
        check(lib.held_building_end(out, self.c, _tasks.handle(
            self.report and self._built)))


# ---- Arrays of numpy ---------------------------------------------------------


# ffi.from_buffer is never given a memoryview: where both become garbage together
# Python cannot clear the view, whose buffer is in use, and an exception is left
# behind in whatever runs next.


def of_width(rows: Any, n: int, width: int, type: int, **fields: Any) -> Keys:
    """Returns n rows of one width in an array of numpy, or in bytes."""
    if n == 0 or width == 0:
        return _keys(n, type)
    at = ffi.from_buffer(rows)
    if len(at) < n * width:             # a class made of ndarray can say so
        raise ValueError(f"{n} keys of {width} bytes are not in {len(at)}")
    return _keys(n, type, at, data=at, width=width, **fields)


# Arrow's letters for types of numpy.
_LETTERS = {"b1": "C", "i1": "c", "u1": "C", "i2": "s", "u2": "S", "i4": "i",
            "u4": "I", "i8": "l", "u8": "L", "f2": "e", "f4": "f", "f8": "g"}


def _of_numbers(values: Any) -> Keys:
    dtype = values.dtype
    letter = _LETTERS.get(dtype.kind + str(dtype.itemsize))
    if letter is None:                  # long double
        return _of_numbers(values.astype("f8"))
    values = values.astype(dtype.newbyteorder("="), copy=False)
    if letter == "C" and dtype.kind == "b":
        values = values.view("u1") != 0     # a view can have other bytes
    return of_width(values, len(values), dtype.itemsize,
                    REAL if letter in "efg" else INTEGER,
                    layout=lib.held_layout(letter.encode()),
                    number=letter.encode())


def _of_text(values: Any) -> Keys:
    values = values.astype(values.dtype.newbyteorder("="), copy=False)
    width = values.dtype.itemsize
    if width == 0 or len(values) == 0:
        return _keys(len(values), TEXT)
    return of_width(values.view(f"V{width}"), len(values), width, TEXT,
                    layout=lib.HELD_UCS4)


def _of_masked(numpy: Any, values: Any) -> Keys:
    """Masked values are missing, and so are NaN and NaT."""
    data, valid = numpy.ma.getdata(values), ~numpy.ma.getmaskarray(values)
    if data.dtype.kind == "f":
        valid &= ~numpy.isnan(data)
    elif data.dtype.kind in "mM":
        valid &= ~numpy.isnat(data)
    return _valid(numpy, _from_numpy(numpy, data), valid)


def _valid(numpy: Any, keys: Keys, valid: Any) -> Keys:
    return keys if valid.all() else keys.only(numpy.ascontiguousarray(valid))


def from_numpy(numpy: Any, values: Any) -> Iterable[Keys]:
    """Returns the keys of an array of numpy: as one batch, if they are not
    objects."""
    if values.dtype.kind in "OT" and values.ndim == 1:
        return _of_objects(numpy, values)
    return (_from_numpy(numpy, values),)


def _of_objects(numpy: Any, values: Any) -> Iterable[Keys]:
    if type(values) is not numpy.ndarray and numpy.ma.isMaskedArray(values):
        valid = ~numpy.ma.getmaskarray(values)
        values = numpy.ma.getdata(values).copy()
        values[~valid] = None
    if values.dtype.kind == "O":
        return from_objects(numpy, values)
    absent = getattr(values.dtype, "na_object", None)
    return chunks([None if v is absent else v for v in values.tolist()])


def _check_dimensions(values: Any) -> None:
    if values.ndim != 1:
        raise ValueError(f"an array of {values.ndim} dimensions is not a row "
                         "of keys: give one of its rows, or ravel() it")


def _from_numpy(numpy: Any, values: Any) -> Keys:
    _check_dimensions(values)
    kind, size = values.dtype.kind, values.dtype.itemsize
    if values.dtype.names is not None:
        raise TypeError("an array of several fields is not a row of keys: give "
                        "one of them, as update(array[\"user_id\"])")
    if type(values) is not numpy.ndarray and numpy.ma.isMaskedArray(values):
        return _of_masked(numpy, values)
    values = numpy.ascontiguousarray(values)
    if kind == "S":
        return of_width(values, len(values), size, BYTES, padded=1)
    if kind == "V":
        return of_width(values, len(values), size, BYTES)
    if kind == "U":
        return _of_text(values)
    if kind in "iubf":
        return _of_numbers(values)
    if kind in "mM":
        return _of_times(numpy, values)
    raise TypeError(f"an array of {values.dtype} is not a row of keys: text, "
                    "bytes, integers and real numbers are")


def _of_times(numpy: Any, values: Any) -> Keys:
    """Returns dates and times, or durations, as _scalars.py has them."""
    unit, count = numpy.datetime_data(values.dtype)
    if unit not in SECONDS and unit not in PARTS:
        raise TypeError(f"an array of {values.dtype} is not a row of keys, "
                        "because its unit is not one of "
                        f"{', '.join((*SECONDS, *PARTS))}: "
                        "array.astype(str) makes text of it")
    most = most_ticks(values.dtype.kind, unit, count)
    ticks = values.astype("i8")
    beyond = ((ticks > most) | (ticks < -most)) & ~numpy.isnat(values)
    if beyond.any():
        raise OverflowError(beyond_time(values[beyond][0]))
    of = _of_moments if values.dtype.kind == "M" else _of_durations
    values = values.astype(f"{values.dtype.kind}8[{unit}]")
    return _valid(numpy, of(numpy, values, unit), ~numpy.isnat(values))


def _of_moments(numpy: Any, values: Any, unit: str) -> Keys:
    return _of_text(_moments(numpy, values, unit))


def _moments(numpy: Any, values: Any, unit: str) -> Any:
    """Returns the texts of dates or moments."""
    if unit in ("W", "D"):
        return numpy.datetime_as_string(values.astype("M8[D]"))
    texts = numpy.datetime_as_string(values.astype("M8[s]"))
    if unit in PARTS:
        parts = values.view("i8") % PARTS[unit]
        texts = numpy.where(parts == 0, texts, numpy.datetime_as_string(
            values.astype("M8[us]")))
        if unit == "ns":
            texts = numpy.where(parts % 1000 == 0, texts,
                                numpy.datetime_as_string(values))
    return texts


def _of_durations(numpy: Any, values: Any, unit: str) -> Keys:
    """Returns seconds: integers, or the doubles nearest to them."""
    if unit in SECONDS:
        return _of_numbers(values.astype("m8[s]").view("i8"))
    ticks, second = values.view("i8"), PARTS[unit]
    seconds, parts = ticks // second, ticks % second
    fine = numpy.flatnonzero(parts)     # which one division rounds once
    seconds[fine] = numpy.array([tick / second for tick in
                                 ticks[fine].tolist()], "f8").view("i8")
    types = numpy.where(parts == 0, INTEGER, REAL).astype("u1")
    return _typed(seconds, types)


def _typed(values: Any, types: Any) -> Keys:
    """Returns 8-byte numbers, each of a type of its own."""
    values = values.astype("<i8", copy=False)
    keys = of_width(values, len(values), 8, INTEGER)
    at = ffi.from_buffer("unsigned char[]", types)
    return _keys(keys.n, INTEGER, keys, at, data=keys.c.data, width=8, types=at)


# ---- Columns of pandas, and other objects with an array ----------------------


def is_column(keys: Any) -> bool:
    """Returns whether this is a column of pandas or similar."""
    of = type(keys)
    return hasattr(of, "isna") and hasattr(of, "to_numpy")


def from_column(numpy: Any, column: Any) -> Iterable[Keys]:
    """Returns the keys of a Series, Index or array of pandas. Its missing
    values include NaN, which is how columns of floats hold them."""
    dtype = column.dtype
    if hasattr(column, "levels"):
        raise TypeError(f"a {type(column).__name__} is not a row of keys: give "
                        "one of its levels")
    if getattr(dtype, "name", None) == "category":
        return (_of_categories(numpy, getattr(column, "cat", column)),)
    absent = None
    if isinstance(dtype, numpy.dtype):
        values = numpy.asarray(column.to_numpy())
    else:
        absent = numpy.asarray(column.isna(), bool)
        number = getattr(dtype, "numpy_dtype", None)
        if absent.any() and getattr(number, "kind", "") in ("b", "i", "u"):
            values = column.to_numpy(dtype=number, na_value=0)
        else:
            values = numpy.asarray(column.to_numpy())
    _check_dimensions(values)
    if values.dtype.kind == "O":
        return from_objects(numpy, values, nan_missing=True)
    if values.dtype.kind == "f":
        absent = numpy.isnan(values)
    keys = _from_numpy(numpy, values)
    return (keys if absent is None else _valid(numpy, keys, ~absent),)


def _of_categories(numpy: Any, of: Any) -> Keys:
    """Returns keys that are indexes of others; -1 is a missing value."""
    codes = numpy.ascontiguousarray(of.codes)
    words = _Row()
    for keys in from_column(numpy, of.categories):
        words.join(keys)
    some = words.end()
    keys = _of_numbers(codes)
    if keys.n == 0:
        return _keys(0, some.c.type)
    keys = _keys(keys.n, some.c.type, keys, some, data=keys.c.data,
                 width=codes.dtype.itemsize, layout=lib.HELD_WORDS,
                 number=_LETTERS[f"i{codes.dtype.itemsize}"].encode(),
                 words=some.c)
    return _valid(numpy, keys, codes >= 0)


def has_array(keys: Any) -> bool:
    """Returns whether this is an array that numpy can read without its items,
    as those of many libraries are. Missing values would become real numbers."""
    return hasattr(type(keys), "__array__") \
        and not getattr(keys, "null_count", 0)


# ---- Arrow -------------------------------------------------------------------

# A function of our own: the attributes of ctypes.pythonapi are shared by all
# modules of a program, each of which may set other types.
_capsule = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object,
                             ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi))

_REFUSED = {"t": "times of a day or intervals", "d": "decimals"}
# Formats of dates, moments and durations, as types of numpy.
_TIMES = {"tdD": ("i4", "M8[D]"), "tdm": ("i8", "M8[ms]"),
          **{f"t{of}{letter}": ("i8", f"{kind}8[{unit}]")
             for of, kind in (("s", "M"), ("D", "m"))
             for letter, unit in (("s", "s"), ("m", "ms"), ("u", "us"),
                                  ("n", "ns"))}}


def _pointer(capsule: Any, name: bytes) -> Any:
    return ffi.cast("void *", _capsule(capsule, name))


def _check_format(schema: Any) -> None:
    """Refuses arrays that are not keys, by their format or their dictionary's."""
    kind = ffi.string(schema.format).decode(errors="replace")
    if kind[:1] in _REFUSED:
        raise TypeError(f"an Arrow array of {_REFUSED[kind[0]]} (format "
                        f"{kind!r}) is not a row of keys: cast it to text or "
                        "to integers")
    if kind[:1] == "+":
        raise TypeError(_no_table(f"an Arrow array of format {kind!r}"))
    if kind not in ("u", "U", "z", "Z", "vu", "vz", "b", "n") \
            and kind not in _LETTERS.values() \
            and not (kind[:2] == "w:" and kind.isascii()
                     and kind[2:].isdigit()):
        raise TypeError(f"an Arrow array of format {kind!r} is not a row of "
                        "keys: text, binary, integers and real numbers are")
    if schema.dictionary:
        if schema.dictionary.dictionary:
            raise TypeError("an Arrow dictionary of a dictionary is not a row "
                            "of keys: cast it to the type of its values")
        _check_format(schema.dictionary)


def _from_arrow(numpy: Any, arrow: Any, schema: Any, array_: Any,
                *kept: Any) -> Keys:
    time, _, zone = ffi.string(schema.format).decode(
        errors="replace").partition(":")
    if time in _TIMES and not schema.dictionary:
        return _from_times(numpy(), arrow, array_, time, zone, *kept)
    _check_format(schema)
    return _read_arrow(arrow, schema, array_, *kept)


def _from_times(numpy: Any, arrow: Any, array_: Any, time: str, zone: str,
                *kept: Any) -> Keys:
    """Returns dates, moments or durations. A moment with a zone is in UTC."""
    if numpy is None:
        raise TypeError("numpy is needed for dates and times of Arrow")
    width, dtype = _TIMES[time]
    format = ffi.new("char[]", _LETTERS[width].encode())
    ticks = _read_arrow(arrow, ffi.new("held_schema *", {"format": format}),
                        array_, *kept)
    if ticks.n == 0:
        return _keys(0, TEXT)
    values = numpy.frombuffer(ffi.buffer(ticks.c.data, ticks.n * int(width[1])),
                              width).astype(dtype)
    valid = ~numpy.isnat(values)
    if ticks.c.valid != ffi.NULL:
        valid &= numpy.frombuffer(ffi.buffer(ticks.c.valid, ticks.n), "?")
    if not zone:
        return _valid(numpy, _of_times(numpy, values), valid)
    texts = numpy.char.add(_moments(numpy, values,
                                    numpy.datetime_data(dtype)[0]), "+00:00")
    return _valid(numpy, _of_text(texts), valid)


def _read_arrow(arrow: Any, schema: Any, array_: Any, *kept: Any) -> Keys:
    wrong = lib.held_arrow_read(arrow, schema, array_)
    if wrong != ffi.NULL:
        why = ffi.string(wrong).decode()
        raise MemoryError(why) if why == "out of memory" else ValueError(why)
    return Keys(ffi.addressof(arrow, "batch"), arrow, *kept)


def _arrow() -> Any:
    place = lib.held_arrow_place()
    if place == ffi.NULL:
        raise MemoryError
    return ffi.gc(place, lib.held_arrow_free)


def from_arrow_array(source: Any, numpy: Callable[[], Any]) -> Keys:
    """Returns the keys of an array of the Arrow PyCapsule interface, where they
    lie."""
    schema, array_ = source.__arrow_c_array__()
    return _from_arrow(
        numpy, _arrow(),
        ffi.cast("held_schema *", _pointer(schema, b"arrow_schema")),
        _pointer(array_, b"arrow_array"), schema, array_)


def from_arrow_stream(source: Any, numpy: Callable[[], Any]
                      ) -> Iterator[Keys]:
    """Returns the arrays of a chunked one. Raises ImportError if the source
    needs a package that is missing."""
    return _from_stream(source.__arrow_c_stream__(), numpy)


def _from_stream(capsule: Any, numpy: Callable[[], Any]) -> Iterator[Keys]:
    stream = _pointer(capsule, b"arrow_array_stream")
    place = lib.held_schema_place()
    if place == ffi.NULL:
        raise MemoryError
    schema = ffi.gc(place, lib.held_schema_free)

    def must(error: int) -> None:
        if error > 0:
            said = lib.held_stream_error(stream)
            raise ValueError("the Arrow stream failed: " + (
                ffi.string(said).decode(errors="replace") if said
                else "no reason given"))

    must(abs(lib.held_stream_schema(stream, schema)))
    while True:
        arrow = _arrow()
        status = lib.held_stream_next(stream, arrow)
        must(status)
        if status < 0:
            return
        yield _from_arrow(numpy, arrow, schema, lib.held_arrow_own(arrow),
                          capsule)


# ---- Any of these ------------------------------------------------------------


def gather(keys: Any, numpy: Any) -> Iterable[Keys]:
    """Returns the keys of an array where they lie, if possible, and those of
    any other iterable by chunks. numpy() returns numpy or None."""
    of = type(keys)
    if of in (list, tuple, set):
        return chunks(keys)
    check_row(keys)
    if is_column(keys) and not (hasattr(keys, "__arrow_c_stream__")
                                and str(keys.dtype) in ("str", "string")):
        return from_column(numpy(), keys)
    if hasattr(keys, "__arrow_c_array__"):
        return (from_arrow_array(keys, numpy),)
    if hasattr(keys, "__arrow_c_stream__"):
        try:
            return from_arrow_stream(keys, numpy)
        except ImportError:             # pandas has texts without pyarrow
            if not is_column(keys):
                raise
            return from_column(numpy(), keys)
    if isinstance(keys, array):
        keys = memoryview(keys)
    if isinstance(keys, memoryview):
        return _from_view(numpy(), keys)
    if has_array(keys) and numpy() is not None:
        values = numpy().asarray(keys)
        if values.ndim > 0:
            return from_numpy(numpy(), values)
    return chunks(keys)


def _from_view(numpy: Any, view: memoryview) -> Iterable[Keys]:
    """Returns a view of numbers, or of rows of bytes, in place with numpy."""
    rows = view.ndim == 2 and view.itemsize == 1
    if (rows or view.format[-1:] == "c") and view.c_contiguous:
        n, width = view.shape if rows else (len(view), 1)
        return (of_width(numpy.asarray(view) if numpy is not None
                         else view.tobytes(), n, width, BYTES),)
    if view.ndim == 1 and numpy is not None and view.format != "c":
        return from_numpy(numpy, numpy.asarray(view))
    return chunks(view.tolist())
