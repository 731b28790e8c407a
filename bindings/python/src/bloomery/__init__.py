"""Approximate membership: have I seen this key? "Certainly not", or "perhaps".

>>> from bloomery import Filter
>>> f = Filter("blocked", items=1_000_000, rate=0.01)
>>> f.add("swordfish")
True
>>> "swordfish" in f, "sardine" in f
(True, False)

A filter takes a few bits per key and never misses a key that was added. Absent
keys are found at the false-positive rate that you choose. There are about
thirty kinds, which `kinds()` lists and `advise()` ranks; if one lacks an
ability, UnsupportedError names those that have it.

A *key* is text, bytes or a number; a UUID, date, datetime, time or timedelta is
converted to one of these. All keys of a filter belong to one class, which
`keys=` or the first keys added determine. A key of another class raises
FormError.

*Many keys* are any iterable of keys, an array of numpy, a column of pandas, or
an object with `__arrow_c_array__` or `__arrow_c_stream__`. Missing values
(None, pandas.NA, NaT, nulls of Arrow, masked values of numpy) are not keys:
adds and removals skip them, and lookups report them as absent. Answers for many
keys are arrays of numpy if numpy is installed, else memoryviews.

`progress=` is a function of two numbers, which a long call invokes about 50
times a second, in the thread of the call: how much is done, and the total, None
if it is unknown. They count keys in calls for many keys, and bytes elsewhere.
If it returns a true value, the call raises Cancelled. Exceptions that it raises
end the call, too.

Filters may be shared by threads: queries run in parallel, changes one at a time.
"""
from __future__ import annotations

import copy as _copy
import copyreg
import errno
import io
import itertools
import math
import os
import shutil
import sys
import tempfile
import threading
from typing import (TYPE_CHECKING, Any, Callable, Iterable, Iterator,
                    NamedTuple, Optional, Protocol, SupportsIndex, TypeVar,
                    Union, overload)

from bloomery import _keys, _tasks
from bloomery._errors import (AbsentError, BusyError, Cancelled, ClosedError,
                              Error, FileError, ForbiddenFileError, FormError,
                              FullError, ImageError, LimitError, MismatchError,
                              MissingFileError, ParameterError, ReadOnlyError,
                              SecretError, UnsafeError, UnsupportedError,
                              check)
from bloomery._facts import (Advice, Estimate, Info, Kind, Option, Overlap,
                             Plan, abilities, advise, c_text, kinds, rate_of,
                             version, whole)
from bloomery._native import ffi, lib
from bloomery._scalars import Key, encode, plain
from bloomery._tasks import Progress

# `hash` is public, but not here: `from bloomery import *` would hide Python's.
__all__ = [
    "AbsentError", "Advice", "BusyError", "Cancelled", "ClosedError", "Error",
    "Estimate", "FileError", "Filter", "ForbiddenFileError", "FormError",
    "FullError", "ImageError", "Info", "Key", "Keys", "Kind", "LimitError",
    "MismatchError", "MissingFileError", "Option", "Overlap", "ParameterError",
    "Plan", "ReadOnlyError", "SecretError", "UnsafeError", "UnsupportedError",
    "advise", "dedup", "diff", "hash_many", "kinds", "version",
]

__version__ = "0.9.0"


class ArrowArray(Protocol):
    """An array of pyarrow, polars and others."""

    def __arrow_c_array__(self, requested_schema: object = None
                          ) -> tuple[object, object]: ...


class ArrowStream(Protocol):
    """A chunked array of pyarrow, polars and others."""

    def __arrow_c_stream__(self, requested_schema: object = None
                           ) -> object: ...


class _Reader(Protocol):
    def read(self) -> bytes: ...


class _Writer(Protocol):
    def write(self, data: bytes, /) -> Optional[int]: ...


Keys = Union[Iterable[Optional[Key]], ArrowArray, ArrowStream]
_Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]
_T = TypeVar("_T")
_F = TypeVar("_F", bound="Filter")
_K = TypeVar("_K", bound=Optional[Key])
if TYPE_CHECKING:
    # As answers are numpy's if it is installed, so are their types.
    import array
    import mmap as _mmap

    import numpy
    _Buffer = Union[bytes, bytearray, memoryview, _mmap.mmap, array.array[Any],
                    numpy.ndarray[Any, Any]]
    _Bools = numpy.ndarray[Any, numpy.dtype[numpy.bool_]]
    _Numbers = numpy.ndarray[Any, numpy.dtype[numpy.uint64]]

_NO_BOUND = _UNKNOWN = (1 << 64) - 1


_loading = threading.RLock()
_loaded: Any = None


def _numpy() -> Any:
    """Returns numpy, or None if it is not installed. A module in sys.modules
    may still be loading in another thread; only an import waits for its end.
    numpy.ma is among what from_numpy() needs, and numpy 2 loads it late."""
    global _loaded
    if _loaded is None or sys.modules.get("numpy") is not _loaded:
        with _loading:
            try:
                import numpy.ma
            except ImportError:
                return None
            _loaded = numpy
    return _loaded


def _numpy_if_loaded() -> Any:
    """Returns numpy if the program uses it: only then can keys be its array."""
    return None if sys.modules.get("numpy") is None else _numpy()


def _before_fork() -> None:
    """Waits while a thread loads numpy, and lets none begin until after the
    fork: a child without that thread would wait for it for ever."""
    _loading.acquire()
    _numpy_if_loaded()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_loading.release,
                        after_in_child=_loading.release)


# ---- Arguments of C ------------------------------------------------------------


def _name(text: str, what: str) -> Any:
    """Returns a text for C, without a zero byte."""
    if not isinstance(text, str):
        raise TypeError(f"the {what} must be text, not {text!r}")
    name = str.encode(text)
    if b"\0" in name:
        raise ParameterError(f"the {what} {text!r} contains a zero byte: leave it out")
    return ffi.new("char[]", name)


def _name_or_null(text: Optional[str], what: str) -> Any:
    return ffi.NULL if text is None else _name(text, what)


def _path(path: _Path) -> Any:
    name = plain(os.fsencode(path))
    if b"\0" in name:
        raise ParameterError(f"the path {name!r} contains a zero byte: leave it out")
    return ffi.new("char[]", name)


def _form_text(form: int) -> str:
    text = ffi.new("char[]", 64)        # BLY_FORM_TEXT
    lib.bly_form_write(text, form)
    return c_text(text)


def _form(text: Optional[str]) -> int:
    """Returns the form of keys that a text names; 0 for None."""
    out = ffi.new("uint64_t *")
    if text is not None:
        check(lib.bly_form_read(out, _name(text, "form of keys")))
    return int(out[0])


def _spec(items: int, rate: float, seed: int, hash: Optional[str],
          secret: Optional[bytes], threads: int,
          keys: Optional[str] = None) -> Any:
    """Returns a bly_spec, and the objects that it points to."""
    kept = _name_or_null(hash, "hash function"), _secret(secret)
    spec = ffi.new("bly_spec *", dict(
        capacity=whole(items, "items"), rate=rate_of(rate),
        seed=whole(seed, "seed"),
        hash=kept[0], secret=kept[1],
        threads=whole(threads, "threads", 1 << 31), form=_form(keys)))
    return spec, kept


def _secret(secret: Optional[bytes]) -> Any:
    if secret is None:
        return ffi.NULL
    secret = plain(secret)
    if len(secret) != 16:
        raise SecretError(f"a secret has 16 bytes, not {len(secret)}")
    return ffi.new("char[]", secret)


def _options(secret: Optional[bytes], threads: int, format: Optional[str],
             memory_limit: int) -> Any:
    kept = _secret(secret), _name_or_null(format, "format")
    options = ffi.new("bly_options *", dict(secret=kept[0], threads=threads,
                                            format=kept[1],
                                            memory_limit=memory_limit))
    return options, kept


# ---- Keys --------------------------------------------------------------------


def _gather(keys: Any) -> Iterable[_keys.Keys]:
    """Yields the keys of an array in place, or those of anything else by
    chunks."""
    numpy = _numpy_if_loaded()
    if numpy is not None and isinstance(keys, numpy.ndarray):
        return _keys.from_numpy(numpy, keys)
    return _keys.gather(keys, _numpy)


def hash(key: Key, kind: Optional[str] = None, *, seed: int = 0,
         hash: Optional[str] = None, secret: Optional[bytes] = None,
         keys: str = "any") -> int:
    """Returns the 64-bit hash by which a filter knows a key. Other arguments
    are those of hash_many().

    >>> import bloomery
    >>> bloomery.hash("a") == bloomery.hash_many(["a", "b"])[0]
    True
    """
    one = hash_many([key], kind, seed=seed, hash=hash, secret=secret,
                    keys=keys)
    return int(one[0])


def hash_many(members: Keys, kind: Optional[str] = None, *, seed: int = 0,
              hash: Optional[str] = None, secret: Optional[bytes] = None,
              keys: str = "any", progress: Optional[Progress] = None
              ) -> _Numbers:
    """Returns the 64-bit hashes of many keys, as an array of numpy's uint64.

    members: many keys. kind: the kind of the filter; None for one that hashes
    as most do. seed, hash, secret, keys: as in Filter.

    A missing value raises ValueError, and a key of another class FormError.
    """
    report = _tasks.report(progress, members)
    spec, kept = _spec(1, 0.01, seed, hash, secret, 0, keys)
    name = _name_or_null(kind, "kind")
    out = _Rows("Q", "uint64_t", "u8")
    for some in _gather(members):
        _no_missing(some)
        inner = None if report is None else report.inner
        check(lib.held_hash_keys(out.more(some.n), name, spec, some.c,
                                 _tasks.handle(inner)))
        if report is not None:
            report.before += some.n
            report.tell(report.before)
    del kept
    return out.done()  # type: ignore[no-any-return]


def _no_missing(some: _keys.Keys) -> None:
    if some.missing():
        raise ValueError("some of the values are missing (None, NaN or null): "
                         "leave them out")


class _Rows:
    """An array for answers, of numpy if that is used."""

    def __init__(self, code: str, c_type: str, dtype: str) -> None:
        self.code, self.c_type, self.dtype = code, c_type, dtype
        self.numpy = _numpy()
        self.parts: list[Any] = []

    def more(self, n: int) -> Any:
        """Makes room for n more answers."""
        part = (self.numpy.zeros(n, self.dtype) if self.numpy is not None
                else bytearray(ffi.sizeof(self.c_type) * n))
        self.parts.append(part)
        if n == 0:
            return ffi.new(f"{self.c_type}[1]")
        self._at = ffi.from_buffer(part)
        return ffi.cast(f"{self.c_type} *", self._at)

    def done(self) -> Any:
        if self.numpy is not None:
            return (self.parts[0] if len(self.parts) == 1
                    else self.numpy.concatenate(
                        self.parts or [self.numpy.zeros(0, self.dtype)]))
        return memoryview(b"".join(self.parts)).cast(self.code)


# ---- Filters -----------------------------------------------------------------


def _place() -> Any:
    """Returns a place where C stores a filter; it is freed whatever interrupts
    the caller."""
    place = lib.held_place()
    if place == ffi.NULL:
        raise MemoryError("out of memory: a filter needs a few bytes")
    return ffi.gc(place, lib.held_free)


class _Header(NamedTuple):
    """Facts about a filter that need no look at its bits."""

    kind: str
    capacity: int
    bytes: int
    rate: float
    items: Optional[int]
    keys: str
    hash: str


class Filter:
    """A filter of a kind, planned for a number of keys and a rate.

    >>> f = Filter("counting", items=1000)
    >>> f.update(["a", "b", "a"])
    >>> f.count("a"), f.count("c")
    (2, 0)
    >>> f.remove("a"); "a" in f
    True

    kind: a name with options, as in "standard:k=5"; kinds() lists them. None
    for "standard" or, if items is 0, "expandable", which grows. items: the
    number of keys it should hold; 0 if it is not known. rate: the
    false-positive rate at that number, above 0 and below 1. seed: of the hash
    function. hash: the name of a hash function; None for the usual one. secret:
    16 bytes that an attacker does not know, for hash="siphash". threads: the
    maximum per call; 0 for as many as are useful, 1 for the calling thread
    only. keys: the form of its keys, such as "text", "bytes", "number", "int32"
    or "text:case=lower,trim"; "any" allows mixtures; None for the class of the
    first keys added.

    >>> f = Filter(items=10, keys="text:case=lower,trim")
    >>> f.add("Swordfish"); " SWORDFISH " in f
    True
    True

    Raises ParameterError, UnsupportedError (for a kind that must be built from
    all of its keys with Filter.build) and MemoryError.

    Every method may raise ClosedError, and those with keys may raise FormError
    and, for a value that is not a key, TypeError or OverflowError. Any thread
    may call any method at any time.

    A subclass may add attributes. copy() and pickle keep them; __init__ is not
    called by copy(), build(), open() and other methods that make filters.
    """

    __slots__ = ("_h", "__weakref__")

    def __init__(self, kind: Optional[str] = None, *, items: int = 0,
                 rate: float = 0.01, seed: int = 0, hash: Optional[str] = None,
                 secret: Optional[bytes] = None, threads: int = 0,
                 keys: Optional[str] = None) -> None:
        if kind is None:
            kind = "standard" if items else "expandable"
        spec, kept = _spec(items, rate, seed, hash, secret, threads, keys)
        out = _place()
        check(lib.held_new(out, _name(kind, "kind"), spec,
                           keys is not None, ffi.NULL))
        self._h = out

    @classmethod
    def _of(cls: type[_F], out: Any) -> _F:
        made = cls.__new__(cls)
        made._h = out
        return made

    # ---- Other constructors ----

    @classmethod
    def build(cls: type[_F], kind: str, members: Keys,
              labels: Optional[Iterable[SupportsIndex]] = None, *,
              items: int = 0, rate: float = 0.01, seed: int = 0,
              hash: Optional[str] = None, secret: Optional[bytes] = None,
              threads: int = 0, keys: Optional[str] = None,
              progress: Optional[Progress] = None) -> _F:
        """Builds a filter of any kind from all of its members. Some kinds,
        such as "fuse", can only be made this way, and are the smallest.

        members: many keys. labels: a whole number for each member, for kinds
        that store them. items: the number of keys to plan for; 0 for as many
        as there are members.

        Other arguments are those of Filter. Missing values are skipped, with
        their labels. Raises ParameterError, UnsupportedError and MemoryError.

        >>> f = Filter.build("fuse", ["red", "green"], rate=0.001)
        >>> "red" in f
        True
        >>> Filter.build("bloomier", ["red", "green"], [1, 2])["green"]
        2
        """
        report = _tasks.report(progress, members)
        spec, kept = _spec(items, rate, seed, hash, secret, threads, keys)
        building = _keys.Building(_name(kind, "kind"), spec, keys is not None,
                                  _labels(labels), report)
        for some in _gather(members):
            building.add(some)
        out = _place()
        building.end(out)
        return cls._of(out)

    @classmethod
    def plan(cls, kind: str, *, items: int = 0, rate: float = 0.01,
             seed: int = 0, hash: Optional[str] = None,
             secret: Optional[bytes] = None, grown: int = 0) -> Plan:
        """Predicts size, rate and cost of a filter without making it.

        grown: the number of keys to which a filter with these items has grown
        by then, if it grows; 0 for one that has not. The other arguments are
        those of Filter. Raises ParameterError, and UnsupportedError for a kind
        that does not grow by itself.

        >>> Filter.plan("standard", items=1_000_000, rate=0.01).bytes
        1199248
        >>> Filter.plan("expandable", grown=1_000_000).bits_per_key < 16
        True
        """
        spec, kept = _spec(items, rate, seed, hash, secret, 0)
        out = ffi.new("bly_plan_t *")
        check(lib.bly_plan_grown(out, _name(kind, "kind"), spec,
                                 whole(grown, "grown")))
        return Plan(lambda fields: lib.held_plan(fields, out))

    @classmethod
    def open(cls: type[_F], file: Union[_Path, _Reader], *, mmap: bool = False,
             write: bool = False, verify: bool = False,
             secret: Optional[bytes] = None, format: Optional[str] = None,
             threads: int = 0, memory_limit: int = 0,
             progress: Optional[Progress] = None) -> _F:
        """Opens a file of a filter, also one of another system.

        file: a path, or an object whose read() returns bytes, which is read to
        its end. mmap: query the file in place, reading only what is needed. If
        it is cut short meanwhile, lookups raise FileError. write: write changes
        to the file, until close(); needs mmap. verify: first read all of a
        mapped file and verify its checksum. secret: that of a filter with
        hash="siphash". format: the name of another system's format, as
        `bloomery formats` lists them. threads: as for Filter. memory_limit: the
        most bytes that the filter may take in memory when it is unpacked and
        when it grows; 0 for 1 GiB or 8 times the file, whichever is more, but
        at most half of the memory.

        Raises FileError, an OSError with errno and filename, and ImageError,
        SecretError, LimitError and ParameterError.

        >>> import tempfile
        >>> path = tempfile.mkdtemp() + "/words.bly"
        >>> Filter.build("fuse", ["red", "green"]).save(path)
        >>> with Filter.open(path, mmap=True) as f:
        ...     "red" in f
        True
        """
        if write and not mmap:
            raise ParameterError("write=True needs mmap=True: a filter that is "
                                 "read into memory is changed there, and saved")
        if not isinstance(file, (str, bytes, os.PathLike)):
            if not hasattr(file, "read"):
                raise TypeError("a filter is opened by a path or a file opened "
                                f"in mode \"rb\", not by {type(file).__name__}")
            if mmap:
                raise ParameterError("mmap=True needs the path of a file: give "
                                     "file.name, or leave it out")
            return cls._unpack(_content(file), secret, format, threads,
                               memory_limit, progress)
        options, kept = _options(secret, threads, format, memory_limit)
        flags = (lib.BLY_MAP if mmap else 0) | (lib.BLY_WRITE if write else 0) \
            | (lib.BLY_VERIFY if verify and mmap else 0)
        out, path = _place(), _path(file)
        check(lib.held_open(out, path, flags, options,
                            _tasks.handle(progress)), file)
        return cls._of(out)

    @classmethod
    def from_bytes(cls: type[_F], image: _Buffer, *,
                   secret: Optional[bytes] = None,
                   format: Optional[str] = None, memory_limit: int = 0,
                   progress: Optional[Progress] = None) -> _F:
        """Makes a filter from the result of bytes(f) or f.pack(), or from the
        content of a file. The bytes may be untrusted: they are verified
        completely.

        image: bytes or another object that shows its memory.

        Other arguments are those of open(). Raises ImageError, SecretError,
        LimitError, ParameterError and MemoryError.

        >>> f = Filter(items=10); f.add(7)
        True
        >>> 7 in Filter.from_bytes(bytes(f))
        True
        """
        return cls._unpack(image, secret, format, 0, memory_limit, progress)

    @classmethod
    def _unpack(cls: type[_F], image: Any, secret: Optional[bytes],
                format: Optional[str], threads: int, memory_limit: int,
                progress: Optional[Progress]) -> _F:
        if isinstance(image, str):
            raise TypeError("an image is bytes, not text: open() takes the "
                            "name of a file, or a file opened in mode \"rb\"")
        options, kept = _options(secret, threads, format, memory_limit)
        out = _place()
        # a copy, because another thread could change it after the check
        data = plain(image)
        check(lib.held_unpack(out, data, len(data), options,
                              _tasks.handle(progress)))
        return cls._of(out)

    def copy(self: _F, *, progress: Optional[Progress] = None) -> _F:
        """Returns another filter with the same keys, in memory. The attributes
        of a subclass are copied, too. Raises MemoryError."""
        made = self._copy(progress)
        _set_state(made, _state(self))
        return made

    def _copy(self: _F, progress: Optional[Progress] = None) -> _F:
        out = _place()
        check(lib.held_copy(out, self._h, _tasks.handle(progress)))
        return self._of(out)

    def like(self: _F) -> _F:
        """Returns an empty filter with the same plan, hash and seed, so that
        the two can be combined and compared. Raises MemoryError."""
        out = _place()
        check(lib.held_like(out, self._h))
        return self._of(out)

    def __copy__(self: _F) -> _F:
        return self.copy()

    def __deepcopy__(self: _F, memo: dict[int, Any]) -> _F:
        made = memo[id(self)] = self._copy()
        _set_state(made, _copy.deepcopy(_state(self), memo))
        return made

    # ---- The form of the keys ----

    @property
    def keys(self) -> str:
        """The form of its keys: "text", "bytes", "number", "text:case=lower"
        and so on; "any" if it has none."""
        form = ffi.new("uint64_t *")
        check(lib.held_form(self._h, form, ffi.new("bool *")))
        return _form_text(form[0])

    def state_keys(self, keys: str) -> None:
        """Sets the form of the keys, present and future, of a filter without
        one.

        keys: a form, as in Filter. With "any", the first keys added do not set
        it either.

        Raises MismatchError if the filter has a different form, ParameterError
        (also if it has keys, and those of the form lie within others),
        UnsupportedError and ReadOnlyError.
        """
        check(lib.held_state_form(self._h, _form(keys)))

    # ---- Single keys ----

    def __contains__(self, key: Optional[Key],
                     _text: Any = lib.held_contains_text,
                     _bytes: Any = lib.held_contains_bytes) -> bool:
        """Does contains()."""
        if type(key) is str:
            try:
                data = key.encode()
            except UnicodeEncodeError:
                return self._has(key)
            found = _text(self._h, data, len(data))
        elif type(key) is bytes:
            found = _bytes(self._h, key, len(key))
        else:
            return self._has(key)
        if found < 0:
            check(found)
        return found == 1  # type: ignore[no-any-return]

    def _has(self, key: Optional[Key]) -> bool:
        of, data = encode(key)
        return of >= 0 and check(lib.held_contains(self._h, of, data,
                                                   len(data))) == 1

    def contains(self, key: Optional[Key]) -> bool:
        """Returns whether a key may be present: `key in f`. False is certain.
        A missing value is never present."""
        return key in self

    def add(self, key: Optional[Key]) -> bool:
        """Adds a key. Returns True if it was new, and False if it may have
        been present, or is a missing value, which is skipped. (pybloom-live
        returns the opposite.) Raises FullError, UnsupportedError,
        ReadOnlyError and LimitError."""
        of, data = encode(key)
        if of < 0:
            return False
        status = lib.held_add(self._h, of, data, len(data))
        if status < 0:
            check(status)
        return status != lib.BLY_SEEN  # type: ignore[no-any-return]

    def remove(self, key: Optional[Key]) -> None:
        """Removes one copy of a key that was added. Removing any other key may
        remove keys that are there, and `key in f` does not prevent that: the
        guide "Removing keys safely" has the odds. Raises AbsentError, a
        KeyError, if the key is absent, UnsafeError, UnsupportedError and
        ReadOnlyError."""
        of, data = encode(key)
        if of < 0:
            raise AbsentError(f"{key!r} is a missing value, which no filter contains")
        check(lib.held_remove(self._h, of, data, len(data)))

    def discard(self, key: Optional[Key]) -> bool:
        """Removes a key if it may be present, and returns whether it was.
        Like remove(), it is only for keys that were added. Errors are those of
        remove(), except AbsentError."""
        try:
            self.remove(key)
        except AbsentError:
            return False
        return True

    def count(self, key: Optional[Key]) -> Optional[int]:
        """Returns an upper bound of how often the key was added; 0 is exact. Of
        keys that lie within others, such as domains, only the key itself is
        counted. Returns None if this kind has no bound."""
        of, data = encode(key)
        if of < 0:
            return 0
        out = ffi.new("uint64_t *")
        check(lib.held_count(self._h, of, data, len(data), out))
        return None if out[0] == _NO_BOUND else int(out[0])

    def put(self, key: Optional[Key], label: SupportsIndex) -> None:
        """Sets the label of a key: `f[key] = label`, for kinds that store
        labels. A missing value is skipped. Raises ParameterError for a label
        out of range, UnsupportedError and ReadOnlyError."""
        of, data = encode(key)
        if of >= 0:
            check(lib.held_put(self._h, of, data, len(data),
                               whole(label, "a label")))

    @overload
    def get(self, key: Optional[Key]) -> Optional[int]: ...

    @overload
    def get(self, key: Optional[Key], default: _T) -> Union[int, _T]: ...

    def get(self, key: Optional[Key], default: Optional[_T] = None
            ) -> Union[int, _T, None]:
        """Returns the label of a key, or the default if the key itself is
        certainly absent. Raises UnsupportedError for kinds without labels."""
        of, data = encode(key)
        if of < 0:
            return default
        out = ffi.new("uint64_t *")
        found = check(lib.held_get(self._h, of, data, len(data), out))
        return int(out[0]) if found else default

    def __getitem__(self, key: Optional[Key]) -> int:
        """Returns the label of a key: `f[key]`. Raises AbsentError, a
        KeyError, if it has none."""
        label = self.get(key)
        if label is None:
            raise AbsentError(f"{key!r} is not in the filter")
        return label

    def __setitem__(self, key: Optional[Key], label: SupportsIndex) -> None:
        """Does put()."""
        self.put(key, label)

    # ---- Many keys ----

    def _each(self, verb: Any, keys: Any, progress: Optional[Progress],
              *rows: _Rows, look: Any = None) -> None:
        """Calls C for many keys, a chunk at a time. rows: where to write the
        answers. look: checks the keys first."""
        report = _tasks.report(progress, keys)
        last = None
        try:
            for some in _gather(keys):
                if look is not None:
                    look(some)
                out = [r.more(some.n) for r in rows] or _tasks.NONE
                if last is not None:
                    some.c.before = last.done()
                last = some
                self._part(verb, some, report, out)
        except (Cancelled, KeyboardInterrupt) as stop:
            stop.done = last.done() if last else 0  # type: ignore[union-attr]
            raise

    def _part(self, verb: Any, some: _keys.Keys, report: Any, out: Any) -> None:
        while check(verb(self._h, some.c, *out)) == _tasks.MORE:
            if report is not None:
                report.tell(some.done())
        if report is not None:
            report.tell(some.done())

    def update(self, keys: Keys, *, progress: Optional[Progress] = None
               ) -> None:
        """Adds many keys. On an error, the keys before it have been added,
        except in a first batch of several classes. If progress or Ctrl-C ends
        the call, the first `done` keys were added, and the exception has this
        attribute. Errors are those of add().

        >>> f = Filter(items=10); f.update(["a", None, "b"]); len(f)
        2
        """
        self._each(lib.held_add_keys, keys, progress)

    def add_many(self, keys: Keys, *, progress: Optional[Progress] = None
                 ) -> _Bools:
        """Adds many keys, as update() does. Returns an array of bools: whether
        each was new, as add() returns it."""
        return self._add_many(keys, None, progress)

    def _add_many(self, keys: Any, look: Any,
                  progress: Optional[Progress] = None) -> _Bools:
        out = _Rows("?", "bool", "?")
        self._each(lib.held_add_keys, keys, progress, out, look=look)
        return out.done()  # type: ignore[no-any-return]

    def contains_many(self, keys: Keys, *,
                      progress: Optional[Progress] = None) -> _Bools:
        """Looks up many keys. Returns an array of bools: whether each may be
        present.

        >>> f = Filter(items=10); f.update([1, 2])
        >>> list(f.contains_many([2, 3, None]))
        [True, False, False]
        """
        out = _Rows("?", "bool", "?")
        self._each(lib.held_contains_keys, keys, progress, out)
        return out.done()  # type: ignore[no-any-return]

    def count_many(self, keys: Keys, *, progress: Optional[Progress] = None
                   ) -> _Numbers:
        """Returns count() of many keys as an array of integers of 64 bits, with
        2^64 - 1 for None."""
        out = _Rows("Q", "uint64_t", "u8")
        self._each(lib.held_count_keys, keys, progress, out)
        return out.done()  # type: ignore[no-any-return]

    def remove_many(self, keys: Keys, *, progress: Optional[Progress] = None
                    ) -> None:
        """Removes many keys that were added. Continues after keys that cannot
        be removed, and then raises the error of the first one. Errors are
        those of remove(), and `done` is as in update()."""
        first: Optional[Error] = None

        def remove(h: Any, c: Any, _none: Any) -> int:
            nonlocal first
            try:
                return check(lib.held_remove_keys(h, c))
            except (AbsentError, UnsafeError) as error:
                first = first or error
                return _tasks.MORE if c.done < c.n else 0

        self._each(remove, keys, progress)
        if first is not None:
            raise first

    def put_many(self, keys: Keys, labels: Iterable[SupportsIndex], *,
                 progress: Optional[Progress] = None) -> None:
        """Sets the labels of many keys.

        labels: a whole number for each key, also for missing values.

        Errors are those of put(), and `done` is as in update().
        """
        report = _tasks.report(progress, keys)
        all_keys = _keys.whole(_gather(keys), report and report.tell)
        given = _keys.check_labels(all_keys.n, _labels(labels))
        try:
            self._part(lib.held_put_keys, all_keys, report, (given,))
        except (Cancelled, KeyboardInterrupt) as stop:
            stop.done = all_keys.done()  # type: ignore[union-attr]
            raise
        except Error as error:
            if all_keys.done() > 0:
                error.args = (f"of the keys from number {all_keys.done()} on: "
                              f"{error}",)
            raise

    def get_many(self, keys: Keys, *, progress: Optional[Progress] = None
                 ) -> tuple[_Bools, _Numbers]:
        """Returns two arrays for many keys: which may be present, and their
        labels, with 0 for absent keys. Errors are those of get()."""
        found, out = _Rows("?", "bool", "?"), _Rows("Q", "uint64_t", "u8")
        self._each(lib.held_get_keys, keys, progress, found, out)
        return found.done(), out.done()

    # ---- Sets ----

    def _both(self, verb: Any, other: Filter,
              progress: Optional[Progress] = None) -> None:
        if not isinstance(other, Filter):
            raise TypeError("a filter can be joined only to another one, not to "
                            f"{type(other).__name__}: like() makes one to fill")
        check(verb(self._h, other._h, _tasks.handle(progress)))

    def unite(self, other: Filter, *, progress: Optional[Progress] = None
              ) -> None:
        """Adds the keys of another filter: `f |= other`. The two must have the
        same kind, plan, hash, seed and form, as f.like() makes them; else the
        call is a MismatchError. The number of keys is then unknown, and info()
        estimates it. Raises UnsupportedError, FullError and ReadOnlyError."""
        self._both(lib.held_unite, other, progress)

    def intersect(self, other: Filter, *, progress: Optional[Progress] = None
                  ) -> None:
        """Keeps the keys that are in both: `f &= other`. Finds every such key.
        Its rate is at most the smaller one of the two, but higher than that of
        a filter built from the common keys. Errors are those of unite(); keys
        that lie within others raise UnsupportedError."""
        self._both(lib.held_intersect, other, progress)

    def subtract(self, other: Filter, *, progress: Optional[Progress] = None
                 ) -> None:
        """Subtracts a sketch of kind "invertible": `f -= other`. list_keys()
        then lists the keys that are in only one of the two. Errors are those
        of unite()."""
        self._both(lib.held_subtract, other, progress)

    def _joined(self: _F, verb: Any, others: tuple[Filter, ...],
                progress: Optional[Progress]) -> _F:
        made = self.copy(progress=progress)
        for other in others:
            made._both(verb, other, progress)
        return made

    def union(self: _F, *others: Filter, progress: Optional[Progress] = None
              ) -> _F:
        """Returns a copy to which unite() adds the others: `f | other`.

        >>> a = Filter(items=10); b = a.like()
        >>> a.update(["x"]); b.update(["y"])
        >>> list((a | b).contains_many(["x", "y", "z"]))
        [True, True, False]
        """
        return self._joined(lib.held_unite, others, progress)

    def intersection(self: _F, *others: Filter,
                     progress: Optional[Progress] = None) -> _F:
        """Returns a copy that intersect() joins to the others: `f & other`."""
        return self._joined(lib.held_intersect, others, progress)

    def difference(self: _F, *others: Filter,
                   progress: Optional[Progress] = None) -> _F:
        """Returns a copy from which subtract() subtracts the others: `f -
        other`. Only sketches of kind "invertible" can do this."""
        return self._joined(lib.held_subtract, others, progress)

    def __ior__(self: _F, other: Filter) -> _F:
        if not isinstance(other, Filter):
            return NotImplemented
        self._both(lib.held_unite, other)
        return self

    def __iand__(self: _F, other: Filter) -> _F:
        if not isinstance(other, Filter):
            return NotImplemented
        self._both(lib.held_intersect, other)
        return self

    def __isub__(self: _F, other: Filter) -> _F:
        if not isinstance(other, Filter):
            return NotImplemented
        self._both(lib.held_subtract, other)
        return self

    def __or__(self: _F, other: Filter) -> _F:
        if not isinstance(other, Filter):
            return NotImplemented
        return self.union(other)

    def __and__(self: _F, other: Filter) -> _F:
        if not isinstance(other, Filter):
            return NotImplemented
        return self.intersection(other)

    def __sub__(self: _F, other: Filter) -> _F:
        if not isinstance(other, Filter):
            return NotImplemented
        return self.difference(other)

    def overlap(self, other: Filter, *, progress: Optional[Progress] = None
                ) -> Overlap:
        """Estimates how many keys two filters have in common, each number with
        its standard deviation. Small numbers may be below 0; those of a filter
        whose every bit is set are infinite. Reads both filters. The two must
        agree as in unite(); raises MismatchError and UnsupportedError.

        >>> a = Filter("standard", items=1000); b = a.like()
        >>> a.update(range(600)); b.update(range(300, 900))
        >>> abs(a.overlap(b).both.value - 300) < 50
        True
        """
        if not isinstance(other, Filter):
            raise TypeError("an overlap is that of two filters, not with "
                            f"{type(other).__name__}: like() makes one to fill")
        out = ffi.new("bly_overlap_t *")
        check(lib.held_overlap(self._h, other._h, out,
                               _tasks.handle(progress)))
        return Overlap(*(Estimate(e.value, e.sd) for e in (
            out.a, out.b, out.either, out.both, out.differ, out.jaccard)))

    def issubset(self, other: Filter, *, progress: Optional[Progress] = None
                 ) -> bool:
        """Returns whether all keys may be in another filter: whether overlap()
        finds no more keys in the union than in the other filter. False is
        certain. If d keys are missing from the other filter, the answer is
        nevertheless True with a probability of its present false-positive rate
        to the power of d. overlap().differ estimates how many keys differ.
        Errors are those of overlap().

        >>> a = Filter("standard", items=1000); b = a.like()
        >>> a.update(range(100)); b.update(range(600))
        >>> a.issubset(b), b.issubset(a)
        (True, False)
        """
        found = self.overlap(other, progress=progress)
        return found.either.value <= found.b.value

    def list_keys(self) -> list[tuple[Optional[bytes], int, int]]:
        """Lists the keys of a filter of kind "invertible" or "egh": each key
        (None if it is not stored), its hash, and 1, or -1 if it is only in the
        filter that was subtracted. Raises FullError if there are too many to
        list, and UnsupportedError."""
        keys = ffi.gc(ffi.new("held_key **"), lib.held_give_at)
        data = ffi.gc(ffi.new("char **"), lib.held_give_at)
        n = ffi.new("size_t *")
        check(lib.held_list(self._h, keys, n, data, ffi.NULL))
        return [(None if k.at == (1 << 8 * ffi.sizeof("size_t")) - 1
                 else ffi.buffer(data[0] + k.at, k.length)[:], k.hash, k.side)
                for k in (keys[0][i] for i in range(n[0]))]

    # ---- The whole ----

    def clear(self) -> None:
        """Removes all keys. Raises UnsupportedError and ReadOnlyError."""
        check(lib.held_clear(self._h))

    def resize(self, items: int, *, progress: Optional[Progress] = None
               ) -> None:
        """Makes room for as many keys as `items`, without the original keys.
        Raises UnsupportedError for kinds that cannot, ParameterError for a number
        that the kind cannot reach and for a mapped file, FullError,
        MemoryError and ReadOnlyError."""
        check(lib.held_resize(self._h, whole(items, "items"),
                              _tasks.handle(progress)))

    def fold(self, times: int, *, progress: Optional[Progress] = None) -> None:
        """Makes the filter smaller by the factor `times`, without the original
        keys. info().rate is then higher. Raises UnsupportedError for kinds that
        cannot, ParameterError for a number that does not divide the bits and
        for a mapped file, MemoryError and ReadOnlyError."""
        check(lib.held_fold(self._h, whole(times, "times"),
                            _tasks.handle(progress)))

    def info(self, *, progress: Optional[Progress] = None) -> Info:
        """Returns size, fill and present false-positive rate. Reads the whole
        filter."""
        task = _tasks.handle(progress)
        return Info(lambda fields: lib.held_stat(self._h, fields, task))

    def estimate(self, *, progress: Optional[Progress] = None) -> Estimate:
        """Estimates the number of different keys, from the bits. Its sd is 0
        if the value is exact, and infinite if it is an upper bound. The value
        is infinite if every bit is set. Reads the whole filter.

        >>> f = Filter("standard", items=1000); f.update([1, 2, 2])
        >>> len(f), round(f.estimate().value)
        (3, 2)
        """
        info = self.info(progress=progress)
        return Estimate(info.distinct, info.distinct_sd)

    def _header(self) -> _Header:
        h = ffi.new("bly_header *")
        check(lib.held_header(self._h, h))
        return _Header(c_text(h.kind), h.capacity, h.bytes, h.rate,
                       None if h.items == _UNKNOWN else h.items,
                       _form_text(h.form), c_text(h.hash))

    @property
    def kind(self) -> str:
        """The name of its kind, without options."""
        return self._header().kind

    @property
    def capacity(self) -> int:
        """The number of keys it was planned for. info().capacity is the number
        that a filter which grows has grown to."""
        return self._header().capacity

    @property
    def rate(self) -> float:
        """The false-positive rate planned for that number of keys. The present
        one is info().rate."""
        return self._header().rate

    @property
    def items(self) -> Optional[int]:
        """The number of keys added, including repeats. None if it is unknown,
        as after unite()."""
        return self._header().items

    @property
    def can(self) -> frozenset[str]:
        """The abilities of the filter: names as in kinds()."""
        out = ffi.new("uint64_t *")
        check(lib.held_can(self._h, out))
        return abilities(out[0])

    def __len__(self) -> int:
        """Returns `items`. Only if that is unknown, reads the whole filter and
        returns the estimate."""
        items = self.items
        return min(self.info().items if items is None else items, sys.maxsize)

    def __bool__(self) -> bool:
        """Returns True, also for an empty filter."""
        return True

    # f[key] is a label, but a filter is not a sequence of labels
    __iter__ = None
    __reversed__ = None

    def __repr__(self) -> str:
        name = f"{type(self).__module__}.{type(self).__qualname__}"
        try:
            h = self._header()
        except ClosedError:
            return f"<{name}, closed>"
        except AttributeError:          # __init__ has failed
            return f"<{name}>"
        return (f"<{name} {h.kind}: {_added(h)}, planned for {h.capacity:,} "
                f"at rate {h.rate:.3g}, of form {h.keys}, {h.bytes:,} bytes>")

    def _repr_html_(self) -> Optional[str]:
        """Shows fill and rate in notebooks. Returns None if they are unknown;
        repr() is shown then. Reads the whole filter."""
        try:
            h, s = self._header(), self.info()
        except Error:
            return None
        share = min(max(s.fill, 0.0), 1.0)
        scale = 80 / max(s.rate, s.planned_rate, 1e-300)
        different = f"about {s.distinct:,.0f}" if math.isfinite(s.distinct) \
            else "unknown"
        rows = "".join(
            f"<tr><td>{name}</td><td>{value}</td><td>{bar}</td></tr>"
            for name, value, bar in (
                ("keys", f"{_added(h)}, planned for {s.capacity:,}", ""),
                ("different", different, ""), ("form", h.keys, ""),
                ("bytes", f"{s.bytes:,} ({s.bits_per_key:.2f} bits a key)", ""),
                ("fill", f"{s.fill:.1%}", _bar(80 * share)),
                ("rate", f"{s.rate:.3g}", _bar(scale * s.rate)),
                ("planned", f"{s.planned_rate:.3g}",
                 _bar(scale * s.planned_rate))))
        return (f'<table><caption>bloomery.Filter <code>{s.kind}</code>'
                f"</caption>{rows}</table>")

    # ---- Files and bytes ----

    def save(self, file: Union[_Path, _Writer], format: Optional[str] = None, *,
             progress: Optional[Progress] = None) -> None:
        """Saves to a file.

        file: a path, whose file is replaced atomically, or an object with
        write(bytes), such as a file opened in mode "wb". format: that of
        another system, as `bloomery formats` lists them.

        Raises FileError, an OSError with errno and filename, ParameterError
        and UnsupportedError. Raises BlockingIOError if an object writes a part.
        """
        if isinstance(file, (str, bytes, os.PathLike)):
            check(lib.held_save(self._h, _path(file),
                                _name_or_null(format, "format"),
                                _tasks.handle(progress)), file)
        elif not hasattr(file, "write"):
            raise TypeError("a filter is saved to a path or to a file opened "
                            f"in mode \"wb\", not to {type(file).__name__}")
        elif isinstance(file, io.TextIOBase):
            raise TypeError("a filter is saved as bytes: open the file in mode "
                            "\"wb\"")
        elif format is None and self.kind in {k.name for k in kinds()}:
            _write(file, self.pack(progress=progress))
        else:
            self._save_through(file, format, progress)

    def _save_through(self, file: _Writer, format: Optional[str],
                      progress: Optional[Progress]) -> None:
        """Saves to a file object by a temporary file. A kind of another system
        is not among kinds(), and pack() returns other bytes than its files
        have."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "filter")
            self.save(path, format, progress=progress)
            with open(path, "rb") as saved:
                shutil.copyfileobj(saved, _Whole(file))

    def _image(self, packed: bool, progress: Optional[Progress] = None
               ) -> bytes:
        image = ffi.gc(ffi.new("char **"), lib.held_give_at)
        n = ffi.new("size_t *")
        check(lib.held_image(self._h, image, n, packed,
                             _tasks.handle(progress)))
        return ffi.buffer(image[0], n[0])[:]  # type: ignore[no-any-return]

    def __bytes__(self) -> bytes:
        """Returns the image: bytes(f). It equals the bytes that save() writes,
        except for kinds that are packed there, for which pack() returns these
        bytes, and kinds of other systems. Raises MemoryError."""
        return self._image(False)

    def pack(self, *, progress: Optional[Progress] = None) -> bytes:
        """Returns the bytes that save() writes, as from_bytes() reads them;
        for kinds of other systems, with our header before them. Raises
        MemoryError."""
        return self._image(True, progress)

    def __eq__(self, other: object) -> bool:
        """Returns whether both have the same bits, plan, hash and seed."""
        if not isinstance(other, Filter):
            return NotImplemented
        return self is other or bytes(self) == bytes(other)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        if self._header().hash == "siphash":
            raise SecretError("a filter with a secret cannot be pickled "
                              "without the secret: send pack(), and give "
                              "the secret to from_bytes()")
        any_class = ffi.new("bool *")
        check(lib.held_form(self._h, ffi.new("uint64_t *"), any_class))
        made = type(self), self.pack(), any_class[0]
        return _unpickle, made, _state(self)

    def sync(self) -> None:
        """Makes changes to its file durable, if it was opened for writing.
        Raises FileError."""
        check(lib.held_sync(self._h))

    def close(self) -> None:
        """Releases the filter, and completes its file if it was opened for
        writing. Every later call raises ClosedError, except close(). Raises
        FileError if the file cannot be completed."""
        check(lib.held_close(self._h))

    def __enter__(self: _F) -> _F:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_State = Optional[tuple[Optional[dict[str, Any]], dict[str, Any]]]


def _state(f: Filter) -> _State:
    """Returns the attributes that a subclass has added, as pickle has them."""
    slots = {name: getattr(f, name)
             for name in copyreg._slotnames(type(f))  # type: ignore[attr-defined]
             if name != "_h" and hasattr(f, name)}
    own = dict(getattr(f, "__dict__", {}))
    return (own or None, slots) if own or slots else None


def _set_state(f: Filter, state: _State) -> None:
    if state is not None:
        own, slots = state
        if own:
            f.__dict__.update(own)
        for name, value in slots.items():
            setattr(f, name, value)


def _unpickle(cls: type[Filter], image: bytes, any_class: bool) -> Filter:
    f = cls.from_bytes(image, memory_limit=_NO_BOUND)    # a pickle is trusted
    if any_class:
        f.state_keys("any")
    return f


def _content(file: _Reader) -> bytes:
    """Returns the rest of a file. A raw file may return less than all of it at
    a time."""
    data = file.read()
    if isinstance(file, io.RawIOBase) and data:
        return b"".join([data, *iter(file.read, b"")])
    return data


def _write(file: _Writer, data: bytes) -> None:
    """Writes all of the data. A file may write less at a time, and says how
    much. A class of the caller may return None; that of a raw file means that
    it would block."""
    rest: Any = memoryview(data)
    while len(rest) > 0:
        written = file.write(rest)
        if written is None and not isinstance(file, io.RawIOBase):
            return
        if not written:
            raise BlockingIOError(
                errno.EAGAIN, f"the file takes none of the last {len(rest)} "
                "bytes: save to one that blocks", len(data) - len(rest))
        rest = rest[written:]


class _Whole:
    """A file that writes all that it is given."""

    def __init__(self, file: _Writer) -> None:
        self.file = file

    def write(self, data: bytes, /) -> int:
        _write(self.file, data)
        return len(data)


def _added(h: _Header) -> str:
    if h.items is None:
        return "an unknown number of keys"
    return f"{h.items:,} keys added"


def _bar(width: float) -> str:
    return (f'<svg width="84" height="10"><rect width="82" height="8" x="1" '
            f'y="1" fill="none" stroke="gray"/><rect width="{width:.1f}" '
            f'height="6" x="2" y="2" fill="steelblue"/></svg>')


def _labels(labels: Optional[Iterable[SupportsIndex]]) -> Any:
    return None if labels is None else _keys.labels(_gather(labels))


# ---- Jobs --------------------------------------------------------------------


@overload
def dedup(items: Iterable[_T], *, key: Callable[[_T], Optional[Key]],
          rate: float = ..., expected: int = ..., ahead: int = ...,
          keys: Optional[str] = ..., secret: Optional[bytes] = ...
          ) -> Iterator[_T]: ...


@overload
def dedup(items: Iterable[_K], *, key: None = ..., rate: float = ...,
          expected: int = ..., ahead: int = ..., keys: Optional[str] = ...,
          secret: Optional[bytes] = ...) -> Iterator[_K]: ...


def dedup(items: Iterable[Any], *,
          key: Optional[Callable[[Any], Optional[Key]]] = None,
          rate: float = 1e-9, expected: int = 1000, ahead: int = _keys.CHUNK,
          keys: Optional[str] = None,
          secret: Optional[bytes] = None) -> Iterator[Any]:
    """Yields each distinct item once, in order, storing about 45 bits per item
    instead of a set. Of the new items, one in 1/rate is mistaken for a
    repeated one and lost.

    items: an iterable. key: a function that returns an item's key. rate: the
    probability that a new item is lost. expected: the number of distinct
    items; the filter grows beyond it. ahead: the number of items read before
    the first one is yielded; use 1 for interactive input. keys: the form of
    the items' keys, as in Filter; by default all must be of one class. secret:
    16 bytes for the hash function. By default they are random for each call,
    so nobody can craft items that make others be lost, and different items are
    lost in each call. With a secret the same items are lost again.

    An item whose key is missing raises ValueError. The iterator is for one
    thread.

    >>> list(dedup(["a", "b", "a", "c"]))
    ['a', 'b', 'c']
    """
    seen = Filter("scalable", items=max(whole(expected, "expected"), 1),
                  rate=rate, keys=keys, hash="siphash",
                  secret=os.urandom(16) if secret is None else secret)
    ahead = max(whole(ahead, "ahead", sys.maxsize), 1)
    for some, _ in _keys.pieces(items, ahead):
        new = seen._add_many(some if key is None else map(key, some),
                             _no_missing)
        yield from itertools.compress(some, new)


def diff(ours: Keys, theirs: Keys, *, items: int = 1000, key: int = 32,
         keys: Optional[str] = None) -> tuple[list[bytes], list[bytes]]:
    """Returns the keys that only one of two sets has, with sketches as small
    as the difference, as two machines would that exchange sketches.

    ours, theirs: many keys; each may contain a key once. items: the maximum
    number of differences; FullError states the actual number. key: the length
    of the longest key in bytes. keys: their form, as in Filter; by default all
    must be of one class.

    The sketches are hashed with a random secret.

    >>> diff({"a", "b", "c"}, {"b", "c", "d"})
    ([b'a'], [b'd'])
    """
    sketch = Filter(f"invertible:key={key}", items=items, keys=keys,
                    hash="siphash", secret=os.urandom(16))
    other = sketch.like()
    sketch.update(ours)
    other.update(theirs)
    sketch -= other
    listed = sketch.list_keys()
    return ([k for k, _, side in listed if side > 0 and k is not None],
            [k for k, _, side in listed if side < 0 and k is not None])
