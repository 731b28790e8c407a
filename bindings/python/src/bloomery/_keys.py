"""Keys as Python has them, as the bytes that the library hashes.

Text is its UTF-8, bytes are themselves. A number is 8 bytes, the lowest first:
an integer from -2^63 to 2^63 - 1 as int64; a real number that is such an integer
as that integer, because 1.0 == 1; any other as a double of IEEE 754, -0.0 as 0
and what is no number as the NaN 0x7FF8000000000000. True is 1 and False 0, as
everywhere in Python. This is what the command calls `--as number`, and what SQL
does in our extensions.
"""
from __future__ import annotations

import ctypes
import itertools
import math
import numbers
import operator
import struct
from array import array
from typing import Any, Iterable, Iterator

from bloomery._native import ffi, lib

_INT64 = struct.Struct("<q")
_DOUBLE = struct.Struct("<d")
_NAN = _DOUBLE.pack(math.nan)
_LARGEST = 2.0 ** 63
CHUNK = 4096            # keys of an iterable that are asked for together


def plain(data: Any) -> bytes:
    """Bytes that nobody else changes, and that are as long as they say: not a
    class made of `bytes` that says otherwise."""
    return data if type(data) is bytes else memoryview(data).tobytes()


def encode(key: Any) -> bytes:
    """The bytes of one key. TypeError: it is no key; OverflowError: an integer
    beyond 64 bits."""
    if isinstance(key, str):
        return str.encode(key, "utf-8", "surrogateescape")
    if isinstance(key, (bytes, bytearray, memoryview)):
        return plain(key)
    if type(key) is not int and getattr(key, "shape", None) == () \
            and key.dtype == "?":
        key = bool(key)                 # numpy's own is no index
    try:
        number = operator.index(key)
    except TypeError:
        pass
    else:
        if not -1 << 63 <= number < 1 << 63:
            raise OverflowError(f"{number} is no integer of 64 bits with a "
                                "sign: give it as text or bytes")
        return _INT64.pack(number)
    if isinstance(key, numbers.Real):
        return _encode_real(float(key))
    raise TypeError(f"a key is text, bytes or a number, and not "
                    f"{type(key).__name__}")


def _encode_real(number: float) -> bytes:
    if math.isnan(number):
        return _NAN
    if -_LARGEST <= number < _LARGEST and number == math.floor(number):
        return _INT64.pack(int(number))
    return _DOUBLE.pack(number)


class Keys:
    """Keys where they lie, for one call: `c` is the bly_keys, `n` how many
    there are, and `valid` which of them, a row of bools; None: all."""

    __slots__ = ("c", "n", "valid", "_kept")

    def __init__(self, n: int, *kept: Any, valid: Any = None,
                 **fields: Any) -> None:
        self.c = ffi.new("bly_keys *", dict(n=n, **fields))
        self.n = n
        self.valid = valid
        self._kept = kept               # what it points to


def _from_bytes(keys: list[bytes]) -> Keys:
    data = b"".join(keys)
    offsets = array("Q", itertools.accumulate(map(len, keys), initial=0))
    at, ends = ffi.from_buffer(data), ffi.from_buffer(offsets)
    return Keys(len(keys), at, ends, data=at,
                offsets64=ffi.cast("uint64_t *", ends))


def _encode_all(some: list[Any]) -> list[bytes]:
    kinds = set(map(type, some))
    if kinds == {bytes}:
        return some
    if kinds == {str}:
        try:
            return [key.encode() for key in some]
        except UnicodeEncodeError:
            pass
    return [encode(key) for key in some]


def chunks(keys: Iterable[Any]) -> Iterator[Keys]:
    """The keys of anything that can be gone through, some at a time."""
    rest = iter(keys)
    while some := list(itertools.islice(rest, CHUNK)):
        yield _from_bytes(_encode_all(some))


def listed(keys: Keys) -> Iterator[bytes | None]:
    """The keys one by one; None: it is not there."""
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


def joined(parts: list[Keys]) -> Keys:
    """All keys of some arrays, none of which is null, in one."""
    return _from_bytes([key for part in parts for key in listed(part)
                        if key is not None])


# ---- Arrays ------------------------------------------------------------------


# ffi.from_buffer is never given a memoryview: where both become garbage together
# Python cannot clear the view, whose buffer is in use, and an exception is left
# behind in whatever runs next.


def _of_width(rows: Any, n: int, width: int, padded: int = 0) -> Keys:
    """n keys of one width in an array of numpy, in bytes or in an `array`."""
    if n == 0 or width == 0:            # there are none, or all are empty
        return _from_bytes([b""] * n)
    at = ffi.from_buffer(rows)
    if len(at) < n * width:             # a class made of ndarray can say so
        raise ValueError(f"{n} keys of {width} bytes are not in {len(at)}")
    return Keys(n, at, data=at, width=width, padded=padded)


def _from_doubles(numpy: Any, values: Any) -> Keys:
    """Integers among them as such, all else as it is."""
    values = values.astype("<f8")
    values[numpy.isnan(values)] = math.nan
    whole = (numpy.floor(values) == values) & (values >= -_LARGEST) \
        & (values < _LARGEST)
    bits = values.view("<i8").copy()
    bits[whole] = values[whole].astype("<i8")
    return _of_width(bits, len(bits), 8)


def _from_text(values: Any) -> Keys:
    numpy_text = values.astype(values.dtype.newbyteorder("="), copy=False)
    width = values.dtype.itemsize // 4
    if width == 0:
        return _from_bytes([b""] * len(values))
    n = len(values)
    if n == 0:
        return _from_bytes([])
    text = ffi.from_buffer(numpy_text.view("u4"))
    out = ffi.new("char[]", 4 * width * n + 1)
    offsets = ffi.new("uint64_t[]", n + 1)
    used = lib.held_utf8(ffi.cast("uint32_t *", text), n, width, out, offsets)
    if used > 4 * width * n:
        raise ValueError("the array has text with half a surrogate, which is "
                         "no character")
    return Keys(n, out, offsets, data=out, offsets64=offsets)


def from_numpy(numpy: Any, values: Any) -> Keys:
    """An array of numpy of one dimension: bytes, integers of 64 bits and rows
    of bytes where they lie; all else by a copy."""
    if values.ndim != 1:
        raise ValueError(f"an array of {values.ndim} dimensions is no row of "
                         "keys: give one of its rows, or ravel() it")
    kind, size = values.dtype.kind, values.dtype.itemsize
    if numpy.ma.isMaskedArray(values):
        raise TypeError("a masked array has keys that are not there: give "
                        "array.compressed()")
    if kind == "O":
        return _from_bytes(_encode_all(values.tolist()))
    values = numpy.ascontiguousarray(values)
    if kind == "S":
        return _of_width(values, len(values), size, 1)
    if kind == "V" and values.dtype.names is None:
        return _of_width(values, len(values), size)
    if kind == "U":
        return _from_text(values)
    if kind == "u" and size == 8 and len(values) and int(values.max()) >> 63:
        raise OverflowError("the array has integers of 2^63 and more, which "
                            "are no integers of 64 bits with a sign: give "
                            "array.view('V8') to take their bytes")
    if kind in "iub":
        values = values.astype("<i8", copy=False)
        return _of_width(values, len(values), 8)
    if kind == "f":
        return _from_doubles(numpy, values)
    raise TypeError(f"an array of {values.dtype} is no row of keys: text, "
                    "bytes, integers and real numbers are")


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
    """Where a buffer is; NULL: it is not there."""
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
    """Which values are there, as a row of bools; None: all."""
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
           "I": "<u4", "L": "<u8", "e": "<f2", "f": "<f4", "g": "<f8"}


def _of_offsets(a: _Array, valid: Any, kept: Any, bits: int) -> Keys:
    offsets = ffi.cast(f"uint{bits}_t *", _needed(a, 1)) + a.offset
    end = offsets[a.length]
    if end >> (bits - 1) or offsets[0] > end:
        raise ValueError("an Arrow array has offsets that are negative or fall")
    data = _needed(a, 2) if end > offsets[0] else _address(a, 2)
    field = {f"offsets{bits}": offsets}
    return Keys(a.length, kept, data=data, valid=valid, **field)


def _of_views(a: _Array, valid: Any) -> Keys:
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
    out = _from_bytes(keys)
    out.valid = valid
    return out


def _of_bits(a: _Array, valid: Any) -> Keys:
    bits = ffi.buffer(_needed(a, 1), (a.offset + a.length + 7) // 8)[:]
    out = _from_bytes([_INT64.pack(bits[i >> 3] >> (i & 7) & 1)
                       for i in range(a.offset, a.offset + a.length)])
    out.valid = valid
    return out


def _from_dictionary(numpy: Any, s: _Schema, a: _Array, kept: Any) -> Keys:
    """As many keys as there are rows: the dictionary's, each where it is."""
    if numpy is None:
        raise TypeError("numpy is needed for Arrow's dictionaries")
    width = {"c": "i1", "C": "u1", "s": "<i2", "S": "<u2", "i": "<i4",
             "I": "<u4", "l": "<i8", "L": "<u8"}[s.format.decode()]
    index = numpy.frombuffer(_numbers(a, int(width[-1])), width).astype("i8")
    valid = _valid(numpy, a)
    if not a.dictionary:
        raise ValueError("an Arrow array has a dictionary that is not there")
    words = list(listed(_from_arrow(numpy, s.dictionary.contents,
                                    a.dictionary.contents, kept)))
    if valid is not None:
        index[~valid] = len(words)      # where the None of all others is
    asked = index if valid is None else index[valid]
    if ((asked < 0) | (asked >= len(words))).any():
        raise ValueError(f"an Arrow array has an index outside its dictionary "
                         f"of {len(words)}")
    words.append(None)
    keys = _from_bytes([words[i] or b"" for i in index])
    absent = numpy.fromiter((words[i] is None for i in index), bool,
                            len(index))
    if absent.any():
        valid = ~absent if valid is None else valid & ~absent
    keys.valid = valid
    return keys


def _from_arrow(numpy: Any, s: _Schema, a: _Array, kept: Any) -> Keys:
    kind = s.format.decode()
    if a.length < 0 or a.offset < 0:
        raise ValueError("an Arrow array has a negative length or offset")
    if a.length == 0:
        return _from_bytes([])
    if s.dictionary:
        return _from_dictionary(numpy, s, a, kept)
    valid = _valid(numpy, a)
    if kind in ("u", "z"):
        return _of_offsets(a, valid, kept, 32)
    if kind in ("U", "Z"):
        return _of_offsets(a, valid, kept, 64)
    if kind in ("vu", "vz"):
        return _of_views(a, valid)
    if kind == "b":
        return _of_bits(a, valid)
    width = int(kind[2:]) if kind.startswith("w:") else 8 if kind == "l" else 0
    if width > 0:
        return Keys(a.length, kept, valid=valid, width=width,
                    data=_needed(a, 1) + a.offset * width)
    if kind not in _WIDTHS:
        raise TypeError(f"an Arrow array of format {kind!r} is no row of keys: "
                        "text, binary, integers and real numbers are")
    if numpy is None:
        raise TypeError(f"numpy is needed for an Arrow array of format "
                        f"{kind!r}")
    raw = _numbers(a, int(_WIDTHS[kind][-1]))
    keys = from_numpy(numpy, numpy.frombuffer(raw, _WIDTHS[kind]))
    keys.valid = valid
    return keys


def from_arrow_array(numpy: Any, source: Any) -> Keys:
    """An array by the Arrow PyCapsule interface, without a copy of the keys."""
    schema, array_ = source.__arrow_c_array__()
    s = _Schema.from_address(_capsule(schema, b"arrow_schema"))
    a = _Array.from_address(_capsule(array_, b"arrow_array"))
    return _from_arrow(numpy, s, a, (schema, array_))


class _Released:
    """An Arrow struct that is given back with this."""

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
