"""arrow.py - arrays as the Arrow PyCapsule interface hands them over, made here
with ctypes, because no package of the system has a producer."""
import ctypes
import struct

import numpy as np


# The structs of Arrow's C data and stream interfaces.
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


class _Stream(ctypes.Structure):
    _fields_ = [
        ("get_schema", _GET_SCHEMA), ("get_next", _GET_NEXT),
        ("get_last_error", _LAST_ERROR), ("release", ctypes.c_void_p),
        ("private_data", ctypes.c_void_p),
    ]


_new = ctypes.pythonapi.PyCapsule_New
_new.restype = ctypes.py_object
_new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_RELEASE_ARRAY = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Array))

released = []


@_RELEASE_ARRAY
def _release(array):
    released.append(ctypes.addressof(array.contents))
    array.contents.release = None


class Array:
    """format, buffers (bytes, numpy arrays or None), length, offset, nulls."""

    def __init__(self, format, buffers, length, offset=0, nulls=0,
                 dictionary=None):
        self.kept = [None if b is None else
                     np.frombuffer(b, "u1") if isinstance(b, bytes)
                     else np.ascontiguousarray(b) for b in buffers]
        self.pointers = (ctypes.c_void_p * len(buffers))(
            *[None if k is None or k.size == 0 else k.ctypes.data
              for k in self.kept])
        self.schema = _Schema(format=format.encode())
        self.array = _Array(
            length=length, null_count=nulls, offset=offset,
            n_buffers=len(buffers),
            buffers=ctypes.cast(self.pointers,
                                ctypes.POINTER(ctypes.c_void_p)),
            release=ctypes.cast(_release, ctypes.c_void_p))
        if dictionary is not None:
            self.kept.append(dictionary)
            self.schema.dictionary = ctypes.pointer(dictionary.schema)
            self.array.dictionary = ctypes.pointer(dictionary.array)

    def __arrow_c_array__(self, requested_schema=None):
        return (_new(ctypes.addressof(self.schema), b"arrow_schema", None),
                _new(ctypes.addressof(self.array), b"arrow_array", None))


class Chunked:
    """A stream of arrays; fails after as many as `fail` says."""

    def __init__(self, arrays, fail=None):
        rest = list(arrays)
        first = rest[0] if rest else Array("u", [None, b"", b""], 0)

        @_GET_SCHEMA
        def schema(at, out):
            out[0] = first.schema
            return 0

        @_GET_NEXT
        def next_(at, out):
            nonlocal fail
            if fail is not None:
                fail -= 1
                if fail < 0:
                    return 5
            out[0] = rest.pop(0).array if rest else _Array()
            return 0

        @_LAST_ERROR
        def error(at):
            return b"the disk is gone"

        self.kept = (list(rest), schema, next_, error)
        self.stream = _Stream(get_schema=schema, get_next=next_,
                              get_last_error=error)

    def __arrow_c_stream__(self, requested_schema=None):
        return _new(ctypes.addressof(self.stream), b"arrow_array_stream", None)


def text(values, bits=32, offset=0):
    """A column of text with None for what is not there."""
    data = b"".join((v or "").encode() for v in values)
    ends = np.cumsum([0] + [len((v or "").encode()) for v in values])
    return Array("u" if bits == 32 else "U",
                 [valid(values), ends.astype(f"u{bits // 8}"), data],
                 len(values) - offset, offset, sum(v is None for v in values))


def valid(values):
    if all(v is not None for v in values):
        return None
    return np.packbits([v is not None for v in values], bitorder="little")


def integers(values, format="l", dtype="i8", offset=0):
    data = np.array([v or 0 for v in values], dtype)
    return Array(format, [valid(values), data], len(values) - offset, offset,
                 sum(v is None for v in values))


def views(values, offset=0, format="vu"):
    """A column of text or bytes in views, as polars has it."""
    data, rows = [b"-", b"--"], []
    ends = [len(d) for d in data]
    parts = [[d] for d in data]
    for i, v in enumerate(values):
        key = (v or "").encode() if format == "vu" else (v or b"")
        if len(key) > 12:
            rows.append(struct.pack("=i4sii", len(key), key[:4], i % 2,
                                    ends[i % 2]))
            parts[i % 2].append(key)
            ends[i % 2] += len(key)
        else:
            rows.append(struct.pack("=i12s", len(key), key))
    data = [b"".join(p) for p in parts]
    return Array(format, [valid(values), b"".join(rows), *data,
                          np.array(ends, "i8")],
                 len(values) - offset, offset, sum(v is None for v in values))
