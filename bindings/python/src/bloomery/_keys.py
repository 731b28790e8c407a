"""Keys as Python has them, each with its class and the bytes that C is given.

Text is its UTF-8, bytes are themselves. A number is 8 bytes, the lowest first: an
integer as int64, a real number as a double of IEEE 754. native.c makes keys of
these by the form of a filter. Without one, a real number that is an integer from
-2^63 to 2^63 - 1 is the key of that integer, because 1.0 == 1. True is 1 and
False 0, as everywhere in Python.

A missing value (None, pandas.NA, NaT, a null of Arrow, what is masked) is not a
key. It is left out where keys are added, and no filter has it.
"""
from __future__ import annotations

import ctypes
import itertools
import math
import numbers
import operator
import struct
from array import array
from collections.abc import Mapping
from io import IOBase
from typing import Any, Iterable, Iterator

from bloomery._native import ffi, lib

TEXT, BYTES, INTEGER, REAL, LARGE = (
    lib.BLY_TEXT, lib.BLY_BYTES, lib.BLY_INTEGER, lib.BLY_REAL, lib.HELD_LARGE)
MISSING = -1
_INT64 = struct.Struct("<q")
_UINT64 = struct.Struct("<Q")
_DOUBLE = struct.Struct("<d")
CHUNK = 4096            # keys of an iterable that are asked for together
STEP = 1 << 15          # keys that are converted between two looks at signals


def plain(data: Any) -> bytes:
    """Bytes that nobody else changes, and that are as long as they say: not a
    class made of `bytes` that says otherwise."""
    return data if type(data) is bytes else memoryview(data).tobytes()


_MISSING_TYPES = {("pandas", "NAType"), ("pandas", "NaTType"),
                  ("numpy", "MaskedConstant")}


def missing(key: Any) -> bool:
    """Is this a missing value? Those of numpy and pandas are known by their
    types, for the program may use neither."""
    of = type(key)
    return key is None or (of.__module__.partition(".")[0],
                           of.__name__) in _MISSING_TYPES


def encode(key: Any) -> tuple[int, bytes]:
    """The type of one key and its bytes; MISSING: it is a missing value.
    TypeError: it is not a key; OverflowError: an integer beyond 64 bits."""
    of = type(key)
    if of is str:
        try:
            return TEXT, key.encode()
        except UnicodeEncodeError:
            pass
    elif of is int:
        return _encode_integer(key)
    if isinstance(key, str):
        return TEXT, str.encode(key, "utf-8", "surrogateescape")
    if of is float:
        return REAL, _DOUBLE.pack(key)
    if isinstance(key, (bytes, bytearray, memoryview)):
        return BYTES, plain(key)
    if missing(key):
        return MISSING, b""
    if getattr(key, "shape", None) == () and hasattr(key, "dtype"):
        kind = getattr(key.dtype, "kind", "")
        if kind == "b":
            key = bool(key)             # numpy's own is no index
        elif kind in "mM":              # numpy takes a duration for an integer
            raise TypeError(_no_key(key))
    try:
        number = operator.index(key)
    except TypeError:
        pass
    else:
        return _encode_integer(number)
    if isinstance(key, numbers.Real):
        return _encode_real(key)
    raise TypeError(_no_key(key))


def _encode_integer(number: int) -> tuple[int, bytes]:
    try:
        return INTEGER, _INT64.pack(number)
    except struct.error:
        pass
    if 0 < number < 1 << 64:
        return LARGE, _UINT64.pack(number)
    raise OverflowError(f"{number} is not an integer of 64 bits: give it as "
                        "text or bytes")


def _encode_real(number: numbers.Real) -> tuple[int, bytes]:
    """A fraction can be an integer that no double equals. One that is beyond the
    doubles is infinite or 0, as when a number is read from text."""
    if (isinstance(number, numbers.Rational) and number.denominator == 1
            and -1 << 63 <= number.numerator < 1 << 63):
        return INTEGER, _INT64.pack(int(number.numerator))
    try:
        real = float(number)
    except OverflowError:
        real = math.inf if number > 0 else -math.inf
    return REAL, _DOUBLE.pack(real)


def _no_key(key: Any) -> str:
    name = type(key).__name__
    how = (".isoformat() or str() makes text of it"
           if hasattr(key, "isoformat") else
           ".bytes or str() makes a key of it"
           if hasattr(key, "bytes") and hasattr(key, "hex") else
           ".as_py() makes a key of it" if hasattr(key, "as_py") else
           "str() makes text of it, if that tells it from others")
    return f"a key is text, bytes or a number, and not {name}: {how}"


def check_row(keys: Any) -> None:
    """Refuses what can be gone through, but whose items are not the keys that
    are meant: the letters of a text, the columns of a table."""
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
    """Keys where they lie, for one call: `c` is the held_batch, `n` how many
    there are. All are of one type, or `types` has that of each. `valid` says
    which of them are there; None: all."""

    __slots__ = ("c", "n", "type", "types", "valid", "_kept")

    def __init__(self, n: int, type: int, *kept: Any, types: Any = None,
                 **fields: Any) -> None:
        self.c = ffi.new("held_batch *", dict(n=n, type=type, **fields))
        self.n = n
        self.type = type
        self.types = types
        self.valid: Any = None
        self._kept: Any = kept          # what it points to
        if types is not None:
            self.c.types = self._row(types)

    def _row(self, row: Any) -> Any:
        """Returns a row of bytes or bools in place, for C."""
        at = ffi.from_buffer("unsigned char[]", row) if self.n \
            else ffi.new("unsigned char[1]")
        self.keep(at)
        return at

    def done(self) -> int:
        """Returns how many rows of the call are done, including earlier ones."""
        return int(self.c.before + self.c.done)

    def keep(self, what: Any) -> None:
        """Keeps an object alive as long as the keys."""
        self._kept = self._kept, what

    def only(self, valid: Any) -> Keys:
        """Returns these keys, some of them marked as missing."""
        if valid is not None:
            self.valid = valid
            self.c.valid = self._row(valid)
        return self


def steps(n: int) -> list[tuple[int, int]]:
    """n rows in steps: where each begins and ends."""
    return [(i, min(i + STEP, n)) for i in range(0, n, STEP)]


def _from_bytes(keys: list[bytes], type: int, types: Any = None) -> Keys:
    if len(keys) > STEP:
        return joined([_from_bytes(keys[i:j], type, types and types[i:j])
                       for i, j in steps(len(keys))])
    data = b"".join(keys)
    offsets = array("Q", itertools.accumulate(map(len, keys), initial=0))
    at, ends = ffi.from_buffer(data), ffi.from_buffer(offsets)
    return Keys(len(keys), type, at, ends, data=at, types=types,
                offsets64=ffi.cast("uint64_t *", ends))


def _of_types(keys: list[bytes], types: list[int]) -> Keys:
    """Keys of mixed types, including MISSING."""
    if len(types) > STEP:
        return joined([_of_types(keys[i:j], types[i:j])
                       for i, j in steps(len(types))])
    kinds = set(types)
    valid = None
    if MISSING in kinds:
        valid = bytes(t != MISSING for t in types)
        kinds.discard(MISSING)
    if len(kinds) < 2:
        return _from_bytes(keys, kinds.pop() if kinds else TEXT).only(valid)
    return _from_bytes(keys, TEXT, bytes(max(t, 0) for t in types)).only(valid)


def from_list(some: list[Any], kinds: set[type] | None = None) -> Keys:
    """The keys of a list, each of any type, and what their types are."""
    if kinds is None:
        kinds = set(map(type, some))
    try:
        if kinds == {bytes}:
            return _from_bytes(some, BYTES)
        if kinds == {str}:
            return _from_bytes([key.encode() for key in some], TEXT)
        if kinds == {int}:
            return _of_width(struct.pack(f"<{len(some)}q", *some), len(some),
                             8, INTEGER)
        if kinds == {float}:
            return _of_width(struct.pack(f"<{len(some)}d", *some), len(some),
                             8, REAL)
    except (UnicodeEncodeError, struct.error):
        pass                            # one of them needs a closer look
    each = [encode(key) for key in some]
    return _of_types([data for _, data in each], [t for t, _ in each])


def whole(keys: Iterable[Any], tell: Any = None) -> Keys:
    """All keys of anything that can be gone through. tell: is called on the
    way."""
    parts = []
    for some, kinds in pieces(keys, STEP):
        parts.append(from_list(some, kinds))
        if tell is not None:
            tell()
    return joined(parts)


def _before_fault(some: list[Any]) -> Iterator[Any]:
    """Returns the keys before the first value that is not a key."""
    for key in some:
        try:
            encode(key)
        except Exception:
            return
        yield key


_MUTABLE = (bytearray, memoryview)
_STILL = (list, tuple, set, frozenset)  # no code runs between their keys


def _frozen(key: Any) -> Any:
    return plain(key) if isinstance(key, _MUTABLE) else key


def pieces(keys: Iterable[Any], n: int) -> Iterator[tuple[list[Any], set[type]]]:
    """The keys of anything that can be gone through, n at a time, and their types.
    A generator may write each key to the same bytearray. Such keys are copied as
    they come."""
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


def chunks(keys: Iterable[Any]) -> Iterator[Keys]:
    """The keys of anything that can be gone through, some at a time. Those
    before one that is not a key come first."""
    for some, kinds in pieces(keys, CHUNK):
        try:
            part = from_list(some, kinds)
        except Exception:
            yield from_list(list(_before_fault(some)))
            raise
        yield part


def listed(keys: Keys) -> Iterator[bytes | None]:
    """Yields the bytes of each key; None if it is missing."""
    c = keys.c
    data = ffi.cast("char *", c.data)
    ends = c.offsets32 if c.offsets32 else c.offsets64
    for i in range(keys.n):
        begin, end = ((ends[i], ends[i + 1]) if ends
                      else (i * c.width, (i + 1) * c.width))
        if ends and not begin <= end <= ends[keys.n]:
            raise ValueError("an Arrow array has offsets that fall")
        there = keys.valid is None or keys.valid[i]
        key = ffi.buffer(data + begin, end - begin)[:] if there else None
        # as a row of numpy's bytes is filled up by zeros
        yield key.rstrip(b"\0") if c.padded and key is not None else key


def typed(keys: Keys) -> Iterator[int]:
    """Yields the type of each key; MISSING if it is missing."""
    for i in range(keys.n):
        yield (MISSING if keys.valid is not None and not keys.valid[i]
               else keys.type if keys.types is None else int(keys.types[i]))


def joined(parts: list[Keys]) -> Keys:
    """All keys of some arrays in one."""
    parts = [part for part in parts if part.n > 0]
    if len(parts) < 2:
        return parts[0] if parts else _from_bytes([], TEXT)
    n, width = sum(part.n for part in parts), parts[0].c.width
    types = valid = None
    if any(p.types is not None or p.type != parts[0].type for p in parts):
        types = b"".join(bytes([p.type]) * p.n if p.types is None
                         else bytes(p.types) for p in parts)
    if any(p.valid is not None for p in parts):
        valid = b"".join(b"\1" * p.n if p.valid is None else bytes(p.valid)
                         for p in parts)
    if width > 0 and all(p.c.width == width and not p.c.padded for p in parts):
        data = b"".join(ffi.buffer(p.c.data, p.n * width) for p in parts)
        return _of_width(data, n, width, parts[0].type, types=types).only(valid)
    data, offsets = _in_a_row([_by_offsets(part) for part in parts], n)
    at = ffi.from_buffer(data)
    return Keys(n, parts[0].type, at, offsets, data=at, types=types,
                offsets64=offsets).only(valid)


def _in_a_row(parts: list[Keys], n: int) -> tuple[bytes, Any]:
    """The bytes of n keys, and their offsets."""
    offsets = ffi.new("uint64_t[]", n + 1)
    sizes = [part.c.offsets64[part.n] for part in parts]
    row = used = 0
    for part, size in zip(parts, sizes):
        lib.held_append_offsets(offsets + row, part.c.offsets64, part.n, used)
        row += part.n
        used += size
    return b"".join(ffi.buffer(part.c.data, size)
                    for part, size in zip(parts, sizes) if size), offsets


def _by_offsets(keys: Keys) -> Keys:
    """The same keys, one after another, as `offsets64` from 0 on divide them."""
    if keys.c.offsets64 and keys.c.offsets64[0] == 0 and not keys.c.padded:
        return keys
    return _of_types([key or b"" for key in listed(keys)], list(typed(keys)))


# ---- Arrays ------------------------------------------------------------------


# ffi.from_buffer is never given a memoryview: where both become garbage together
# Python cannot clear the view, whose buffer is in use, and an exception is left
# behind in whatever runs next.


def _of_width(rows: Any, n: int, width: int, type: int, padded: int = 0,
              types: Any = None) -> Keys:
    """n keys of one width in an array of numpy, or in bytes."""
    if n == 0 or width == 0:            # there are none, or all are empty
        return _from_bytes([b""] * n, type)
    at = ffi.from_buffer(rows)
    if len(at) < n * width:             # a class made of ndarray can say so
        raise ValueError(f"{n} keys of {width} bytes are not in {len(at)}")
    return Keys(n, type, at, types=types, data=at, width=width, padded=padded)


def _from_text(values: Any) -> Keys:
    numpy_text = values.astype(values.dtype.newbyteorder("="), copy=False)
    width = values.dtype.itemsize // 4
    if width == 0:
        return _from_bytes([b""] * len(values), TEXT)
    n = len(values)
    if n == 0:
        return _from_bytes([], TEXT)
    text = ffi.from_buffer(numpy_text.view("u4"))
    out = ffi.new("char[]", 4 * width * n + 1)
    offsets = ffi.new("uint64_t[]", n + 1)
    text, used = ffi.cast("uint32_t *", text), 0
    for i, j in steps(n):
        used = lib.held_utf8(text + i * width, j - i, width, out, offsets + i,
                             used)
        if used > 4 * width * n:
            raise ValueError("the array has text with half a surrogate, which "
                             "is no character")
    return Keys(n, TEXT, out, offsets, data=out, offsets64=offsets)


def _from_masked(numpy: Any, values: Any) -> Keys:
    """Masked values are missing, and so are NaNs."""
    data, valid = numpy.ma.getdata(values), ~numpy.ma.getmaskarray(values)
    if data.dtype.kind == "f":
        valid &= ~numpy.isnan(data)
    if data.dtype.kind == "O":
        data = data.copy()
        data[~valid] = None
        return from_numpy(numpy, data)
    return from_numpy(numpy, data).only(numpy.ascontiguousarray(valid))


def _from_whole(numpy: Any, values: Any) -> Keys:
    """Integers and bools."""
    size = values.dtype.itemsize
    if values.dtype.kind == "u" and size == 8 and len(values) \
            and int(values.max()) >> 63:
        values = values.astype("<u8", copy=False)
        types = numpy.where(values >> numpy.uint64(63), LARGE, INTEGER)
        return _of_width(values, len(values), 8, INTEGER,
                         types=types.astype("u1"))
    values = values.astype("<i8", copy=False)
    return _of_width(values, len(values), 8, INTEGER)


def _objects(values: Any) -> list[Any]:
    """The objects of an array, and None for what its type calls missing."""
    absent = getattr(values.dtype, "na_object", None)
    return [None if v is absent else v for v in values.tolist()]


def from_numpy(numpy: Any, values: Any) -> Keys:
    """An array of numpy of one dimension: bytes, integers of 64 bits and rows
    of bytes where they lie; all else by a copy."""
    if values.ndim != 1:
        raise ValueError(f"an array of {values.ndim} dimensions is not a row "
                         "of keys: give one of its rows, or ravel() it")
    kind, size = values.dtype.kind, values.dtype.itemsize
    if values.dtype.names is not None:
        raise TypeError("an array of several fields is not a row of keys: give "
                        "one of them, as update(array[\"user_id\"])")
    if kind in "mM":
        raise TypeError(f"an array of {values.dtype} is not a row of keys: "
                        "array.astype(str) makes text of it, array.astype(int) "
                        "numbers")
    if type(values) is not numpy.ndarray and numpy.ma.isMaskedArray(values):
        return _from_masked(numpy, values)
    if kind in "OT":
        return joined([from_list(_objects(values[i:j]))
                       for i, j in steps(len(values))])
    values = numpy.ascontiguousarray(values)
    if kind == "S":
        return _of_width(values, len(values), size, BYTES, 1)
    if kind == "V":
        return _of_width(values, len(values), size, BYTES)
    if kind == "U":
        return _from_text(values)
    if kind in "iub":
        return _from_whole(numpy, values)
    if kind == "f":
        return _of_width(values.astype("<f8", copy=False), len(values), 8, REAL)
    raise TypeError(f"an array of {values.dtype} is not a row of keys: text, "
                    "bytes, integers and real numbers are")


def is_column(keys: Any) -> bool:
    """Returns whether this is a column of pandas or similar."""
    of = type(keys)
    return hasattr(of, "isna") and hasattr(of, "to_numpy")


def from_column(numpy: Any, column: Any) -> Keys:
    """A Series, Index or array of pandas. Its missing values are missing here,
    and among them is NaN, which is how it writes them in columns of floats."""
    try:
        absent = numpy.asarray(column.isna(), bool)
    except NotImplementedError:
        raise TypeError(f"a {type(column).__name__} is not a row of keys: give "
                        "one of its levels") from None
    dtype = column.dtype
    if getattr(dtype, "name", None) == "category":
        column = column.astype(object)  # or integers become real numbers
    plain_dtype = getattr(dtype, "numpy_dtype", None)
    if absent.any() and getattr(plain_dtype, "kind", "") in ("b", "i", "u"):
        values = column.to_numpy(dtype=plain_dtype, na_value=0)
    else:
        values = numpy.asarray(column.to_numpy())
    if values.dtype.kind == "O":
        values = values.copy()
        values[absent] = None
        return from_numpy(numpy, values)
    return from_numpy(numpy, numpy.ma.masked_array(values, absent)
                      if absent.any() or values.dtype.kind == "f" else values)


# ---- Arrow -------------------------------------------------------------------

# The structs of Arrow's C data interface.
class _Schema(ctypes.Structure):
    pass


_Schema._fields_ = [
    ("format", ctypes.c_char_p), ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_char_p), ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64), ("children", ctypes.c_void_p),
    ("dictionary", ctypes.POINTER(_Schema)), ("release", ctypes.c_void_p),
    ("private_data", ctypes.c_void_p),
]


class _Array(ctypes.Structure):
    pass


_Array._fields_ = [
    ("length", ctypes.c_int64), ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64), ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.c_void_p), ("dictionary", ctypes.POINTER(_Array)),
    ("release", ctypes.c_void_p), ("private_data", ctypes.c_void_p),
]

_GET_NEXT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p,
                             ctypes.POINTER(_Array))
_GET_SCHEMA = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p,
                               ctypes.POINTER(_Schema))
_LAST_ERROR = ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_void_p)
_RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class _Stream(ctypes.Structure):
    _fields_ = [
        ("get_schema", _GET_SCHEMA), ("get_next", _GET_NEXT),
        ("get_last_error", _LAST_ERROR), ("release", ctypes.c_void_p),
        ("private_data", ctypes.c_void_p),
    ]


# A function of our own: the attributes of ctypes.pythonapi are shared by all
# modules of a program, each of which may set other types.
_capsule = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object,
                             ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi))


# How long a buffer is nobody tells. What can be seen to be wrong is refused, for
# an array may come from anybody.


def _address(array_: _Array, buffer: int) -> Any:
    """Returns the address of a buffer; NULL if it is missing."""
    if buffer >= array_.n_buffers:
        raise ValueError("an Arrow array has too few buffers")
    return ffi.cast("char *", array_.buffers[buffer] or 0)


def _needed(array_: _Array, buffer: int) -> Any:
    at = _address(array_, buffer)
    if at == ffi.NULL:
        raise ValueError("an Arrow array has a buffer that is not there")
    return at


def _numbers(array_: _Array, size: int) -> Any:
    """The values of an array of numbers of so many bytes."""
    return ffi.buffer(_needed(array_, 1) + array_.offset * size,
                      array_.length * size)


def _valid(numpy: Any, a: _Array) -> Any:
    """Returns which values are present, as bools; None for all."""
    if a.null_count == 0 or a.n_buffers == 0 or not a.buffers[0]:
        return None
    first, end = a.offset, a.offset + a.length
    bits = bytes(ffi.buffer(_address(a, 0), (end + 7) // 8))
    if numpy is not None:
        every = numpy.unpackbits(numpy.frombuffer(bits, "u1"),
                                 bitorder="little")
        return every[first:end].astype(bool)
    return bytearray(bits[i >> 3] >> (i & 7) & 1 for i in range(first, end))


_WIDTHS = {"c": "i1", "C": "u1", "s": "<i2", "S": "<u2", "i": "<i4",
           "I": "<u4", "L": "<u8", "e": "<f2", "f": "<f4"}
_DATES = {"t": "timestamps, dates and durations", "d": "decimals"}


def _of_offsets(a: _Array, kept: Any, bits: int, type: int) -> Keys:
    offsets = ffi.cast(f"uint{bits}_t *", _needed(a, 1)) + a.offset
    end = offsets[a.length]
    if end >> (bits - 1) or offsets[0] > end:
        raise ValueError("an Arrow array has offsets that are negative or fall")
    data = _needed(a, 2) if end > offsets[0] else _address(a, 2)
    field = {f"offsets{bits}": offsets}
    return Keys(a.length, type, kept, data=data, **field)


def _of_views(a: _Array, valid: Any, type: int) -> Keys:
    """Each a length, and the text itself, or its beginning, buffer and place. The
    last buffer has the lengths of those between."""
    views, some = _needed(a, 1) + 16 * a.offset, a.n_buffers - 3
    sizes = ffi.cast("int64_t *", _needed(a, a.n_buffers - 1)) if some > 0 \
        else []
    keys = []
    for i in range(a.length):
        view = views + 16 * i
        length, buffer, at = struct.unpack("=i4xii", ffi.buffer(view, 16))
        if valid is not None and not valid[i]:
            length = 0
        if length < 0 or (length > 12 and not (
                0 <= buffer < some and 0 <= at <= sizes[buffer] - length)):
            raise ValueError("an Arrow array has a view of what is not there")
        keys.append(ffi.buffer(view + 4 if length <= 12 else
                               _needed(a, 2 + buffer) + at, length)[:])
    return _from_bytes(keys, type)


def _of_bits(a: _Array) -> Keys:
    bits = ffi.buffer(_needed(a, 1), (a.offset + a.length + 7) // 8)[:]
    return from_list([bits[i >> 3] >> (i & 7) & 1
                      for i in range(a.offset, a.offset + a.length)])


def _from_dictionary(numpy: Any, s: _Schema, a: _Array, kept: Any) -> Keys:
    """As many keys as there are rows: the dictionary's, each where it is."""
    if numpy is None:
        raise TypeError("numpy is needed for Arrow's dictionaries")
    if a.length == 0:
        return _from_bytes([], TEXT)
    width = {"c": "i1", "C": "u1", "s": "<i2", "S": "<u2", "i": "<i4",
             "I": "<u4", "l": "<i8", "L": "<u8"}[s.format.decode()]
    index = numpy.frombuffer(_numbers(a, int(width[-1])), width).astype("i8")
    valid = _valid(numpy, a)
    if not a.dictionary:
        raise ValueError("an Arrow array has a dictionary that is not there")
    dictionary = _from_arrow(numpy, s.dictionary.contents,
                             a.dictionary.contents, kept)
    words, types = list(listed(dictionary)), list(typed(dictionary))
    if valid is not None:
        index[~valid] = len(words)      # where the None of all others is
    asked = index if valid is None else index[valid]
    if ((asked < 0) | (asked >= len(words))).any():
        raise ValueError(f"an Arrow array has an index outside its dictionary "
                         f"of {len(words)}")
    words.append(None)
    types.append(MISSING)
    return _of_types([words[i] or b"" for i in index],
                     [types[i] for i in index])


def _from_arrow(numpy: Any, s: _Schema, a: _Array, kept: Any) -> Keys:
    kind = s.format.decode()
    if kind[0] in _DATES:
        raise TypeError(f"an Arrow array of {_DATES[kind[0]]} (format "
                        f"{kind!r}) is not a row of keys: cast it to text or "
                        "to integers")
    if kind.startswith("+"):
        raise TypeError(_no_table(f"an Arrow array of format {kind!r}"))
    if a.length < 0 or a.offset < 0:
        raise ValueError("an Arrow array has a negative length or offset")
    if s.dictionary:
        return _from_dictionary(numpy, s, a, kept)
    if kind == "n":
        return from_list([None] * a.length)
    valid = _valid(numpy, a) if a.length > 0 else None
    return _from_values(numpy, kind, a, valid, kept).only(valid)


def _from_values(numpy: Any, kind: str, a: _Array, valid: Any,
                 kept: Any) -> Keys:
    """Returns all values of an array, including missing ones."""
    of = TEXT if kind.lower() in ("u", "vu") else BYTES
    width = int(kind[2:]) if kind.startswith("w:") else 8 if kind in "lg" else 0
    if kind not in _WIDTHS and width == 0 \
            and kind not in ("u", "z", "U", "Z", "vu", "vz", "b", "w:0"):
        raise TypeError(f"an Arrow array of format {kind!r} is not a row of "
                        "keys: text, binary, integers and real numbers are")
    if a.length == 0 or kind == "w:0":
        return _from_bytes([b""] * a.length, of)
    if kind in ("u", "z"):
        return _of_offsets(a, kept, 32, of)
    if kind in ("U", "Z"):
        return _of_offsets(a, kept, 64, of)
    if kind in ("vu", "vz"):
        return _of_views(a, valid, of)
    if kind == "b":
        return _of_bits(a)
    if width > 0:
        return Keys(a.length, {"l": INTEGER, "g": REAL}.get(kind, BYTES), kept,
                    width=width, data=_needed(a, 1) + a.offset * width)
    if numpy is None:
        raise TypeError(f"numpy is needed for an Arrow array of format "
                        f"{kind!r}")
    raw = _numbers(a, int(_WIDTHS[kind][-1]))
    keys = from_numpy(numpy, numpy.frombuffer(raw, _WIDTHS[kind]))
    keys.keep(kept)
    return keys


def from_arrow_array(numpy: Any, source: Any) -> Keys:
    """An array by the Arrow PyCapsule interface, without a copy of the keys."""
    schema, array_ = source.__arrow_c_array__()
    s = _Schema.from_address(_capsule(schema, b"arrow_schema"))
    a = _Array.from_address(_capsule(array_, b"arrow_array"))
    return _from_arrow(numpy, s, a, (schema, array_))


class _Released:
    """An Arrow struct that is released with this object."""

    def __init__(self, struct_: Any) -> None:
        self.struct = struct_

    def __del__(self) -> None:
        if self.struct.release:
            _RELEASE(self.struct.release)(ctypes.addressof(self.struct))


def from_arrow_stream(numpy: Any, source: Any) -> Iterator[Keys]:
    """The arrays of a chunked one, one after another."""
    capsule = source.__arrow_c_stream__()
    at = _capsule(capsule, b"arrow_array_stream")
    stream = _Stream.from_address(at)
    schema = _Released(_Schema())

    def must(error: int) -> None:
        if error != 0:
            said = stream.get_last_error(at)
            raise ValueError("the Arrow stream failed: "
                             + (said or b"no reason given").decode())

    must(stream.get_schema(at, ctypes.byref(schema.struct)))
    while True:
        a = _Released(_Array())
        must(stream.get_next(at, ctypes.byref(a.struct)))
        if not a.struct.release:
            return
        yield _from_arrow(numpy, schema.struct, a.struct,
                          (capsule, schema, a))
