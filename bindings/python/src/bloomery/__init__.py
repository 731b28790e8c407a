"""Approximate membership: have I seen this key? "Certainly not", or "perhaps".

>>> from bloomery import Filter
>>> f = Filter("blocked", items=1_000_000, rate=0.01)
>>> f.add("swordfish")
True
>>> "swordfish" in f, "sardine" in f
(True, False)

A filter takes a few bits per key and never misses a key that was added. Absent keys are
found at the false-positive rate that you choose. There are about thirty kinds, which
`kinds()` lists and `advise()` ranks; if one lacks an ability, UnsupportedError names
those that have it.

Keys are text, bytes or numbers. All keys of a filter belong to one class, which `keys=`
or the first keys added determine. A key of another class raises FormError. Filters may
be shared by threads: queries run in parallel, changes one at a time.
"""
from __future__ import annotations

import itertools
import math
import operator
import os
import sys
import threading
from typing import (Any, Callable, Iterable, Iterator, NamedTuple, Optional,
                    Union)

from bloomery import _keys, _tasks
from bloomery._errors import (AbsentError, BusyError, Cancelled, ClosedError,
                              Error, FileError, FormError, FullError,
                              ImageError, LimitError, MismatchError,
                              ParameterError, ReadOnlyError, SecretError,
                              UnsafeError, UnsupportedError, check)
from bloomery._native import ffi, lib

__all__ = [
    "AbsentError", "Advice", "BusyError", "Cancelled", "ClosedError", "Error",
    "Estimate", "FileError", "Filter", "FormError", "FullError", "ImageError",
    "Kind", "LimitError", "MismatchError", "Option", "Overlap",
    "ParameterError", "Plan", "ReadOnlyError", "SecretError", "Stat",
    "UnsafeError", "UnsupportedError", "advise", "dedup", "diff",
    "hashes", "kinds", "library_version",
]

__version__ = "0.5.0"

Key = Union[str, bytes, bytearray, memoryview, int, float]
_NO_BOUND = (1 << 64) - 1
Progress = Optional[_tasks.Progress]


def _text(chars: Any) -> str:
    return str(ffi.string(chars).decode()) if chars else ""


def library_version() -> str:
    """Returns the version of the linked library."""
    return _text(lib.bly_version())


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


# ---- Kinds -------------------------------------------------------------------


def _abilities(can: int) -> frozenset[str]:
    return frozenset(_text(lib.bly_ability(1 << i)) for i in range(64)
                     if can >> i & 1 and lib.bly_ability(1 << i))


_ABILITY = {_text(lib.bly_ability(1 << i)): 1 << i for i in range(64)
            if lib.bly_ability(1 << i)}


class Option(NamedTuple):
    """An option of a kind, as in "standard:k=5"."""

    name: str
    range: str
    standard: str
    help: str


class Kind(NamedTuple):
    """A way to build a filter."""

    name: str
    family: str
    summary: str
    can: frozenset[str]
    options: tuple[Option, ...]
    tier: str


def _each(pointers: Any) -> Iterator[Any]:
    i = 0
    while pointers[i]:
        yield pointers[i]
        i += 1


def kinds() -> list[Kind]:
    """Returns all kinds of filters. Those to meet first have the tier "core".

    >>> [kind.name for kind in kinds() if kind.tier == "core"][:3]
    ['standard', 'blocked', 'split']

    >>> [kind.name for kind in kinds() if kind.family == "frozen"]
    ['xor', 'fuse', 'ribbon', 'gcs']
    """
    return [Kind(_text(k.name), _text(k.family), _text(k.summary),
                 _abilities(k.can),
                 tuple(Option(_text(o.name), _text(o.range), _text(o.standard),
                              _text(o.help)) for o in _each(k.options)),
                 _text(k.tier))
            for k in _each(lib.bly_kinds(ffi.NULL))]


# ---- Costs -------------------------------------------------------------------


def _field(field: Any, rest: Iterator[Any]) -> Any:
    """The value of a field, of which arrays and objects are in the rest."""
    if field.absent:
        return None
    if field.type == lib.BLY_FIELD_TEXT:
        return ffi.string(field.text).decode()
    if field.type == lib.BLY_FIELD_COUNT:
        return field.count
    if field.type == lib.BLY_FIELD_REAL:
        return field.real
    if field.type == lib.BLY_FIELD_BOOL:
        return bool(field.count)
    inside = itertools.takewhile(lambda f: f.type != lib.BLY_FIELD_END, rest)
    if field.type == lib.BLY_FIELD_ARRAY:
        return tuple(_field(f, rest) for f in inside)
    return {_text(f.name): _field(f, rest) for f in inside}


class _Record:
    """The fields that the library lists, as attributes."""

    def __init__(self, fill: Callable[[Any], int]) -> None:
        fields = ffi.gc(lib.held_fields_place(), lib.held_fields_free)
        if not fields:
            raise MemoryError
        check(fill(fields))
        rest = (fields.at[i] for i in range(fields.n))
        for field in rest:
            setattr(self, _text(field.name), _field(field, rest))

    def __repr__(self) -> str:
        inside = ", ".join(f"{f}={value!r}" for f, value in vars(self).items())
        return f"{type(self).__name__}({inside})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]


class Plan(_Record):
    """The predicted properties of a filter: the fields of bly_plan_t in
    bloomery.h. A field that does not apply is None."""

    kind: str
    capacity: int
    bytes: int
    packed: int
    scratch: int
    bits_per_key: float
    rate: float
    rate_sd: float
    fill: float
    lost: float
    window: Optional[int]
    probes: int
    label_bits: Optional[int]
    label_least: Optional[int]
    label_most: Optional[int]
    lines_present: float
    lines_absent: float
    geometry: tuple[int, ...]


class Stat(_Record):
    """The state of a filter: the fields of bly_info_t in bloomery.h, and the
    lists of the filter. A field that does not apply is None."""

    kind: str
    items: int
    items_exact: bool
    capacity: int
    bytes: int
    packed: int
    attached: Optional[int]
    bits_per_key: float
    fill: float
    fullest: Optional[float]
    rate: float
    planned_rate: float
    seed: Optional[int]
    mark: Optional[int]
    hash: Optional[str]
    keys: Optional[str]
    probes: int
    label_bits: Optional[int]
    label_least: Optional[int]
    label_most: Optional[int]
    saturated: int
    lost: float
    window: Optional[int]
    distinct: float
    distinct_sd: float
    geometry: tuple[int, ...]
    labels: Optional[tuple[dict[str, float], ...]]
    can: tuple[str, ...]


class Estimate(NamedTuple):
    """A number and its standard deviation."""

    value: float
    sd: float


class Overlap(NamedTuple):
    """Estimated numbers of keys of two filters: of each, of their union, in
    common, in just one of them, and the share in common."""

    a: Estimate
    b: Estimate
    either: Estimate
    both: Estimate
    differ: Estimate
    jaccard: Estimate


class Advice(NamedTuple):
    """A kind, evaluated for a need; the best one comes first."""

    kind: str
    fits: bool
    beaten: bool
    why: str
    bits_per_key: float
    rate: float
    bytes: int
    ns_lookup: float
    ns_add: float
    limit: str
    lacks: str
    tier: str


_AIMS = {"balance": 0, "fast": 1, "small": 2}


def advise(items: int, rate: float = 0.01, *, can: Iterable[str] = (),
           fixed: bool = False, present: float = 0.5, aim: str = "balance",
           memory: int = 0, others: int = 0, label_most: int = 0,
           times: int = 0) -> list[Advice]:
    """Ranks the kinds for a need, the best one first.

    `can` names abilities, as in kinds(). `fixed` says that all keys are known
    before the filter is built. `aim` is "balance", "fast" or "small". Kinds of
    every tier are ranked; those to prefer have the tier "core".

    >>> best = advise(1_000_000, 0.001, fixed=True, aim="small")[0]
    >>> best.fits, best.bits_per_key < 11
    (True, True)
    """
    if aim not in _AIMS:
        raise ParameterError(f"unknown aim {aim!r}: use one of "
                             f"{', '.join(_AIMS)}")
    wanted = 0
    for ability in [can] if isinstance(can, str) else can:
        if ability not in _ABILITY:
            raise ParameterError(f"unknown ability {ability!r}: use one "
                                 f"of {', '.join(_ABILITY)}")
        wanted |= _ABILITY[ability]
    need = ffi.new("bly_need *", dict(
        capacity=_whole(items, "items"), rate=rate, can=wanted, fixed=fixed,
        present=present, aim=_AIMS[aim], memory=_whole(memory, "memory"),
        others=_whole(others, "others"), label_most=label_most, times=times))
    out = ffi.new("bly_ranking **")
    check(lib.bly_advise(out, need))
    ranking = ffi.gc(out[0], lib.bly_ranking_free)
    each = (lib.bly_ranking_at(ranking, i)
            for i in range(lib.bly_ranking_count(ranking)))
    return [Advice(_text(a.kind), bool(a.fits), bool(a.beaten), _text(a.why),
                   a.plan.bits_per_key, a.plan.rate, a.plan.bytes, a.ns_lookup,
                   a.ns_add, _text(a.limit), _text(a.lacks), _text(a.tier))
            for a in each]


def _name(text: str, what: str) -> Any:
    """Returns a text for C, which must not contain a zero byte."""
    if not isinstance(text, str):
        raise TypeError(f"the {what} must be text, not {text!r}")
    name = str.encode(text)
    if b"\0" in name:
        raise ParameterError(f"the {what} {text!r} contains a zero byte: leave it out")
    return ffi.new("char[]", name)


def _name_or_null(text: Optional[str], what: str) -> Any:
    return ffi.NULL if text is None else _name(text, what)


def _path(path: Union[str, os.PathLike[str]]) -> Any:
    name = _keys.plain(os.fsencode(path))
    if b"\0" in name:
        raise ParameterError(f"the path {name!r} contains a zero byte: leave it out")
    return ffi.new("char[]", name)


def _form_text(form: int) -> str:
    text = ffi.new("char[]", 64)        # BLY_FORM_TEXT
    lib.bly_form_write(text, form)
    return _text(text)


def _form(text: Optional[str]) -> int:
    """Returns the form of keys that a text names; 0 for None."""
    out = ffi.new("uint64_t *")
    if text is not None:
        check(lib.bly_form_read(out, _name(text, "form of keys")))
    return int(out[0])


def _whole(number: Any, what: str, most: int = (1 << 64) - 1) -> int:
    """Returns a non-negative integer; 1e6 is accepted, as 1.0 == 1."""
    if isinstance(number, float) and number.is_integer():
        number = int(number)
    try:
        whole = operator.index(number)
    except TypeError:
        whole = -1
    if not 0 <= whole <= most:
        raise ParameterError(f"{what} must be a whole number from 0 to {most}, "
                             f"not {number!r}")
    return whole


def _spec(items: int, rate: float, seed: int, hash: Optional[str],
          secret: Optional[bytes], threads: int,
          keys: Optional[str] = None) -> Any:
    """Returns a bly_spec, and the objects that it points to."""
    kept = _name_or_null(hash, "hash function"), _secret(secret)
    spec = ffi.new("bly_spec *", dict(
        capacity=_whole(items, "items"), rate=rate, seed=_whole(seed, "seed"),
        hash=kept[0], secret=kept[1],
        threads=_whole(threads, "threads", 1 << 31), form=_form(keys)))
    return spec, kept


def _secret(secret: Optional[bytes]) -> Any:
    if secret is None:
        return ffi.NULL
    secret = _keys.plain(secret)
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


def _array(keys: Any) -> Optional[Iterable[_keys.Keys]]:
    """Returns the keys of an array, in place if possible; None for other
    objects."""
    if type(keys) in (list, tuple, set):
        return None
    numpy = _numpy_if_loaded()
    if numpy is not None and isinstance(keys, numpy.ndarray):
        return (_keys.from_numpy(numpy, keys),)
    _keys.check_row(keys)
    if _keys.is_column(keys) and not (
            hasattr(keys, "__arrow_c_stream__")
            and str(keys.dtype) in ("str", "string")):
        return (_keys.from_column(_numpy(), keys),)
    if hasattr(keys, "__arrow_c_array__"):
        return (_keys.from_arrow_array(_numpy(), keys),)
    if hasattr(keys, "__arrow_c_stream__"):
        return _keys.from_arrow_stream(_numpy(), keys)
    if isinstance(keys, memoryview):
        return _gather_view(keys)
    return None


def _gather(keys: Any) -> Iterable[_keys.Keys]:
    """Yields the keys of an array in place, or those of anything else by
    chunks."""
    array = _array(keys)
    return _keys.chunks(keys) if array is None else array


def _gather_view(view: memoryview) -> Iterator[_keys.Keys]:
    """Returns a view of numbers, or of rows of bytes, in place with numpy."""
    numpy = _numpy()
    rows = view.ndim == 2 and view.itemsize == 1
    if (rows or view.format[-1:] == "c") and view.c_contiguous:
        n, width = view.shape if rows else (len(view), 1)
        yield _keys._of_width(numpy.asarray(view) if numpy is not None
                              else view.tobytes(), n, width, _keys.BYTES)
    elif view.ndim == 1 and numpy is not None and view.format != "c":
        yield _keys.from_numpy(numpy, numpy.asarray(view))
    else:
        yield from _keys.chunks(view.tolist())


def _all(keys: Any, report: Any) -> _keys.Keys:
    """Returns all keys at once, for building a filter."""
    array = _array(keys)
    if array is None:
        return _keys.whole(keys, report and report.tell)
    return _keys.joined(list(array))


def hashes(members: Any, kind: Optional[str] = None, *, seed: int = 0,
           hash: Optional[str] = None, secret: Optional[bytes] = None,
           keys: str = "any", progress: Progress = None) -> Any:
    """Returns the 64-bit hashes of these members, as an array of numpy, or of
    the module `array` without numpy. keys: the form of the filter's keys. A
    missing value raises ValueError. progress: as in Filter.build."""
    report = _tasks.report(progress, members)
    spec, kept = _spec(1, 0.0, seed, hash, secret, 0, keys)
    name = _name_or_null(kind, "kind")
    out = _Rows("Q", "uint64_t", "u8")
    for some in _gather(members):
        _no_missing(some)
        check(lib.held_hash_keys(out.more(some.n), name, spec, some.c,
                                 _tasks.handle(report and report.inner)))
        if report is not None:
            report.before += some.n
            report.tell(report.before)
    del kept
    return out.done()


def _no_missing(some: _keys.Keys) -> None:
    if some.valid is not None and not all(some.valid):
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


class Filter:
    """A filter of a kind, planned for a number of keys and a rate.

    >>> f = Filter("counting", items=1000)
    >>> f.update(["a", "b", "a"])
    >>> f.count("a"), f.count("c")
    (2, 0)
    >>> f.remove("a"); "a" in f
    True

    kind: a name with options, as in "standard:k=5" (kinds() lists them).
    items: the number of keys it should hold. rate: the false-positive rate at
    that number. seed: of the hash function. hash, secret: see bly_spec in
    bloomery.h. threads: the maximum per call; 0 for as many as are useful, 1
    for the calling thread only. keys: the form of its keys, such as "text",
    "bytes", "number", "int32" or "text:case=lower,trim"
    (docs/format/keys.md); "any" allows mixtures. By default the first keys added
    set it.

    >>> f = Filter(items=10, keys="text:case=lower,trim")
    >>> f.add("Swordfish"); " SWORDFISH " in f
    True
    True

    Raises ParameterError, UnsupportedError (for a kind that must be built from
    all of its keys with Filter.build) and MemoryError.
    """

    __slots__ = ("_h", "__weakref__")

    def __init__(self, kind: str = "standard", *, items: int = 0,
                 rate: float = 0.01, seed: int = 0, hash: Optional[str] = None,
                 secret: Optional[bytes] = None, threads: int = 0,
                 keys: Optional[str] = None) -> None:
        spec, kept = _spec(items, rate, seed, hash, secret, threads, keys)
        out = _place()
        check(lib.held_new(out, _name(kind, "kind"), spec,
                           keys is not None, ffi.NULL))
        self._h = out

    @classmethod
    def _of(cls, out: Any) -> Filter:
        made = cls.__new__(cls)
        made._h = out
        return made

    # ---- Other constructors ----

    @classmethod
    def build(cls, kind: str, members: Any, labels: Any = None, *,
              items: int = 0, rate: float = 0.01, seed: int = 0,
              hash: Optional[str] = None, secret: Optional[bytes] = None,
              threads: int = 0, keys: Optional[str] = None,
              progress: Progress = None) -> Filter:
        """Builds a filter of any kind from all of its members. Some kinds,
        such as "fuse", can only be made this way, and are the smallest.
        labels: a number for each member, for kinds that store them. keys: the
        form of the keys, as in Filter. Missing values are skipped, with their
        labels. progress: called as progress(done, total) now and then. If it
        returns a true value, the call raises Cancelled. Exceptions raised by
        progress propagate.

        >>> f = Filter.build("fuse", ["red", "green"], rate=0.001)
        >>> "red" in f
        True
        >>> Filter.build("bloomier", ["red", "green"], [1, 2])["green"]
        2
        """
        all_keys = _all(members, _tasks.report(progress, members))
        spec, kept = _spec(items or max(all_keys.n, 1), rate, seed, hash,
                           secret, threads, keys)
        held = _labels(labels, all_keys.n)
        out = _place()
        check(lib.held_build(out, _name(kind, "kind"), spec, keys is not None,
                             all_keys.c, held, _tasks.handle(progress)))
        return cls._of(out)

    @classmethod
    def plan(cls, kind: str, *, items: int = 0, rate: float = 0.01,
             seed: int = 0, hash: Optional[str] = None,
             secret: Optional[bytes] = None) -> Plan:
        """What a filter would be and cost, before there is one.

        >>> Filter.plan("standard", items=1_000_000, rate=0.01).bytes
        1199248
        """
        spec, kept = _spec(items, rate, seed, hash, secret, 0)
        out = ffi.new("bly_plan_t *")
        check(lib.bly_plan(out, _name(kind, "kind"), spec))
        return Plan(lambda fields: lib.held_plan(fields, out))

    @classmethod
    def open(cls, path: Union[str, os.PathLike[str]], *, mmap: bool = False,
             write: bool = False, verify: bool = False,
             secret: Optional[bytes] = None, format: Optional[str] = None,
             threads: int = 0, memory_limit: int = 0,
             progress: Progress = None) -> Filter:
        """Opens a file of a filter, also one of another system. mmap: query
        the file in place, reading only what is needed. write: write changes to
        the file, until close(). verify: first read all of a mapped file and
        verify its checksum. format: the name of another system's format.
        memory_limit: raise LimitError for a packed file that takes more bytes
        than this when unpacked, and for growing beyond it; 0 for 1 GiB or 8
        times the file, whichever is more, but at most half of the memory.
        progress: as in build(), in bytes.

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
        options, kept = _options(secret, threads, format, memory_limit)
        flags = (lib.BLY_MAP if mmap else 0) | (lib.BLY_WRITE if write else 0) \
            | (lib.BLY_VERIFY if verify and mmap else 0)
        out = _place()
        check(lib.held_open(out, _path(path), flags, options,
                            _tasks.handle(progress)))
        return cls._of(out)

    @classmethod
    def from_bytes(cls, image: Any, *, secret: Optional[bytes] = None,
                   format: Optional[str] = None,
                   memory_limit: int = 0,
                   progress: Progress = None) -> Filter:
        """Makes a filter from the result of bytes(f) or f.pack(), or from the
        content of a file. The bytes may be untrusted: they are verified
        completely. memory_limit: as in open(). progress: as in build(), in
        bytes.

        >>> f = Filter(items=10); f.add(7)
        True
        >>> 7 in Filter.from_bytes(bytes(f))
        True
        """
        if isinstance(image, str):
            raise TypeError("an image is bytes, not text: open() takes the "
                            "name of a file")
        options, kept = _options(secret, 0, format, memory_limit)
        out = _place()
        # a copy of what another thread could change after it was checked
        plain = _keys.plain(image)
        check(lib.held_unpack(out, plain, len(plain), options,
                              _tasks.handle(progress)))
        return cls._of(out)

    def copy(self, *, progress: Progress = None) -> Filter:
        """Returns another filter with the same keys. progress: as in build(),
        in bytes."""
        out = _place()
        check(lib.held_copy(out, self._h, _tasks.handle(progress)))
        return self._of(out)

    def like(self) -> Filter:
        """Returns an empty filter with the same plan, hash and seed, so that
        the two can be combined and compared."""
        out = _place()
        check(lib.held_like(out, self._h))
        return self._of(out)

    def __copy__(self) -> Filter:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> Filter:
        return self.copy()

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
        one. "any": the first keys added do not set it either. Raises
        MismatchError if the filter has a different form."""
        check(lib.held_state_form(self._h, _form(keys)))

    # ---- Single keys ----

    def __contains__(self, key: Key, _text: Any = lib.held_contains_text,
                     _bytes: Any = lib.held_contains_bytes) -> bool:
        """Returns whether the key may be present; False for a missing value.
        """
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

    def _has(self, key: Key) -> bool:
        of, data = _keys.encode(key)
        return of >= 0 and check(lib.held_contains(self._h, of, data,
                                                   len(data))) == 1

    def add(self, key: Key) -> bool:
        """Adds a key. Returns True if it was absent; False if it may have been
        present, or is a missing value, which is skipped. Raises FormError,
        FullError, UnsupportedError, ReadOnlyError."""
        of, data = _keys.encode(key)
        if of < 0:
            return False
        status = lib.held_add(self._h, of, data, len(data))
        if status < 0:
            check(status)
        return status != lib.BLY_SEEN  # type: ignore[no-any-return]

    def remove(self, key: Key) -> None:
        """Removes one copy of a key. Raises AbsentError if it is absent.
        Remove only keys that were added, or other keys may be lost."""
        of, data = _keys.encode(key)
        if of < 0:
            raise AbsentError(f"{key!r} is a missing value, which no filter contains")
        check(lib.held_remove(self._h, of, data, len(data)))

    def discard(self, key: Key) -> bool:
        """Removes a key if it may be present. Returns whether it was."""
        try:
            self.remove(key)
        except AbsentError:
            return False
        return True

    def count(self, key: Key) -> Optional[int]:
        """Returns an upper bound of how often the key was added; 0 is exact.
        Returns None if this kind has no bound."""
        of, data = _keys.encode(key)
        if of < 0:
            return 0
        out = ffi.new("uint64_t *")
        check(lib.held_count(self._h, of, data, len(data), out))
        return None if out[0] == _NO_BOUND else int(out[0])

    def __getitem__(self, key: Key) -> int:
        """Returns the label of a key. Raises AbsentError, a KeyError, if it
        has none."""
        label = self.get(key)
        if label is None:
            raise AbsentError(f"{key!r} is not in the filter")
        return label

    def __setitem__(self, key: Key, label: int) -> None:
        of, data = _keys.encode(key)
        if of >= 0:
            check(lib.held_put(self._h, of, data, len(data), label))

    def get(self, key: Key, default: Optional[int] = None) -> Optional[int]:
        """Returns the label of a key, or the default if it is certainly
        absent."""
        of, data = _keys.encode(key)
        if of < 0:
            return default
        out = ffi.new("uint64_t *")
        found = check(lib.held_get(self._h, of, data, len(data), out))
        return int(out[0]) if found else default

    # ---- Many keys ----

    def _each(self, verb: Any, keys: Any, progress: Progress, *rows: _Rows,
              look: Any = None) -> None:
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

    def update(self, keys: Any, *, progress: Progress = None) -> None:
        """Adds many keys: an array of numpy, pandas or Arrow, without a copy
        if its layout allows, or any iterable. Missing values are skipped. On
        an error, the keys before it have been added, except in a first batch
        of several classes. progress: as in build(); if it or Ctrl-C ends the
        call, the first `done` keys were added, and the exception has this
        attribute.

        >>> f = Filter(items=10); f.update(["a", None, "b"]); len(f)
        2
        """
        self._each(lib.held_add_keys, keys, progress)

    def add_new(self, keys: Any, *, progress: Progress = None) -> Any:
        """Adds many keys. Returns an array of bools that tells which were new;
        a missing value is not. progress: as in update()."""
        return self._add_new(keys, None, progress)

    def _add_new(self, keys: Any, look: Any, progress: Progress = None) -> Any:
        out = _Rows("?", "bool", "?")
        self._each(lib.held_add_keys, keys, progress, out, look=look)
        return out.done()

    def contains(self, keys: Any, *, progress: Progress = None) -> Any:
        """Looks up many keys. Returns an array of bools, of numpy if
        installed, else a memoryview; False for missing values. progress: as in
        build().

        >>> f = Filter(items=10); f.update([1, 2])
        >>> list(f.contains([2, 3, None]))
        [True, False, False]
        """
        out = _Rows("?", "bool", "?")
        self._each(lib.held_contains_keys, keys, progress, out)
        return out.done()

    def counts(self, keys: Any, *, progress: Progress = None) -> Any:
        """Returns count() of many keys as an array of integers, with 2^64 - 1
        for None. progress: as in build()."""
        out = _Rows("Q", "uint64_t", "u8")
        self._each(lib.held_count_keys, keys, progress, out)
        return out.done()

    def labels(self, keys: Any, *, progress: Progress = None
               ) -> tuple[Any, Any]:
        """Returns which of many keys may be present, and their labels.
        progress: as in build()."""
        found, out = _Rows("?", "bool", "?"), _Rows("Q", "uint64_t", "u8")
        self._each(lib.held_get_keys, keys, progress, found, out)
        return found.done(), out.done()

    def put(self, keys: Any, labels: Any, *, progress: Progress = None
            ) -> None:
        """Sets the labels of many keys. Missing values are skipped, with their
        labels. progress: as in update()."""
        report = _tasks.report(progress, keys)
        all_keys = _all(keys, report)
        given = _labels(labels, all_keys.n)
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

    def remove_all(self, keys: Any, *, progress: Progress = None) -> None:
        """Removes many keys that were added. Continues after keys that cannot
        be removed, and then raises the error of the first one. Missing values
        are skipped. progress: as in update(), with keys that are removed."""
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

    # ---- Sets ----

    def _both(self, verb: Any, other: Any, progress: Progress = None) -> None:
        if not isinstance(other, Filter):
            raise TypeError("a filter can be joined only to another one, not to "
                            f"{type(other).__name__}: like() makes one to fill")
        check(verb(self._h, other._h, _tasks.handle(progress)))

    def unite(self, other: Filter, *, progress: Progress = None) -> None:
        """Does f |= other. progress: as in build(), in bytes."""
        self._both(lib.held_unite, other, progress)

    def intersect(self, other: Filter, *, progress: Progress = None) -> None:
        """Does f &= other. progress: as in build(), in bytes."""
        self._both(lib.held_intersect, other, progress)

    def subtract(self, other: Filter, *, progress: Progress = None) -> None:
        """Does f -= other. progress: as in build(), in bytes."""
        self._both(lib.held_subtract, other, progress)

    def __ior__(self, other: Any) -> Filter:
        if not isinstance(other, Filter):
            return NotImplemented
        self._both(lib.held_unite, other)
        return self

    def __iand__(self, other: Any) -> Filter:
        if not isinstance(other, Filter):
            return NotImplemented
        self._both(lib.held_intersect, other)
        return self

    def __isub__(self, other: Any) -> Filter:
        """Subtracts a sketch (kind "invertible"); list_keys() lists the
        difference."""
        if not isinstance(other, Filter):
            return NotImplemented
        self._both(lib.held_subtract, other)
        return self

    def __or__(self, other: Any) -> Filter:
        if not isinstance(other, Filter):
            return NotImplemented
        return self.copy().__ior__(other)

    def __and__(self, other: Any) -> Filter:
        if not isinstance(other, Filter):
            return NotImplemented
        return self.copy().__iand__(other)

    def __sub__(self, other: Any) -> Filter:
        if not isinstance(other, Filter):
            return NotImplemented
        return self.copy().__isub__(other)

    def overlap(self, other: Filter, *, progress: Progress = None) -> Overlap:
        """Estimates how many keys two filters have in common. progress: as in
        build(), in bytes.

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

    def list_keys(self) -> list[tuple[Optional[bytes], int, int]]:
        """Lists the keys of a filter of kind "invertible" or "egh": each key
        (None if it is not stored), its hash, and 1, or -1 if it is only in the
        filter that was subtracted."""
        keys = ffi.gc(ffi.new("held_key **"), lib.held_give_at)
        data = ffi.gc(ffi.new("char **"), lib.held_give_at)
        n = ffi.new("size_t *")
        check(lib.held_list(self._h, keys, n, data, ffi.NULL))
        return [(None if k.at == (1 << 8 * ffi.sizeof("size_t")) - 1
                 else ffi.buffer(data[0] + k.at, k.length)[:], k.hash, k.side)
                for k in (keys[0][i] for i in range(n[0]))]

    # ---- The whole ----

    def clear(self) -> None:
        """Removes all keys."""
        check(lib.held_clear(self._h))

    def resize(self, items: int, *, progress: Progress = None) -> None:
        """Makes room for that many keys, without the original keys (see
        bly_resize). progress: as in build(), in bytes."""
        check(lib.held_resize(self._h, _whole(items, "items"),
                              _tasks.handle(progress)))

    def fold(self, times: int, *, progress: Progress = None) -> None:
        """Makes the filter smaller by a factor, without the original keys (see
        bly_fold). progress: as in build(), in bytes."""
        check(lib.held_fold(self._h, times, _tasks.handle(progress)))

    def stat(self, *, progress: Progress = None) -> Stat:
        """Returns size, fill and false-positive rate; reads the whole filter.
        progress: as in build(), in bytes."""
        task = _tasks.handle(progress)
        return Stat(lambda fields: lib.held_stat(self._h, fields, task))

    @property
    def can(self) -> frozenset[str]:
        """The abilities of the filter: names as in kinds()."""
        out = ffi.new("uint64_t *")
        check(lib.held_can(self._h, out))
        return _abilities(out[0])

    def __len__(self) -> int:
        """Returns how many keys were added, including repeats. If that is
        unknown, as after |=, returns the estimated number of distinct keys,
        stat().distinct. Reads the whole filter."""
        return min(self.stat().items, sys.maxsize)

    def __bool__(self) -> bool:
        """Returns True, also for an empty filter."""
        return True

    # f[key] is a label, which is no row of them
    __iter__ = None
    __reversed__ = None

    def __repr__(self) -> str:
        try:
            s = self.stat()
        except ClosedError:
            return "<bloomery.Filter, closed>"
        except UnsupportedError:
            return "<bloomery.Filter>"
        return (f"<bloomery.Filter {s.kind}: {_added(s)}, "
                f"planned for {s.capacity:,}, of form {s.keys or 'any'}, "
                f"{s.bytes:,} bytes, rate {s.rate:.3g}>")

    def _repr_html_(self) -> Optional[str]:
        """Shows fill and rate in notebooks. Returns None if they are unknown;
        repr() is shown then."""
        try:
            s = self.stat()
        except Error:
            return None
        share = min(max(s.fill, 0.0), 1.0)
        scale = 80 / max(s.rate, s.planned_rate, 1e-300)
        rows = "".join(
            f"<tr><td>{name}</td><td>{value}</td><td>{bar}</td></tr>"
            for name, value, bar in (
                ("keys", f"{_added(s)}, planned for {s.capacity:,}", ""),
                ("form", s.keys or "any", ""),
                ("bytes", f"{s.bytes:,} ({s.bits_per_key:.2f} bits a key)", ""),
                ("fill", f"{s.fill:.1%}", _bar(80 * share)),
                ("rate", f"{s.rate:.3g}", _bar(scale * s.rate)),
                ("planned", f"{s.planned_rate:.3g}",
                 _bar(scale * s.planned_rate))))
        return (f'<table><caption>bloomery.Filter <code>{s.kind}</code>'
                f"</caption>{rows}</table>")

    # ---- Files and bytes ----

    def save(self, path: Union[str, os.PathLike[str]],
             format: Optional[str] = None, *,
             progress: Progress = None) -> None:
        """Saves to a file, atomically. format: another system's, as listed by
        `bloomery formats`. progress: as in build(), in bytes."""
        check(lib.held_save(self._h, _path(path),
                            _name_or_null(format, "format"),
                            _tasks.handle(progress)))

    def _image(self, packed: bool, progress: Progress = None) -> bytes:
        image = ffi.gc(ffi.new("char **"), lib.held_give_at)
        n = ffi.new("size_t *")
        check(lib.held_image(self._h, image, n, packed,
                             _tasks.handle(progress)))
        return ffi.buffer(image[0], n[0])[:]  # type: ignore[no-any-return]

    def __bytes__(self) -> bytes:
        """Returns the image. It equals the bytes that save() writes, except
        for kinds that are packed there, for which pack() returns these bytes.
        """
        return self._image(False)

    def pack(self, *, progress: Progress = None) -> bytes:
        """Returns the bytes that save() writes. progress: as in build(), in
        bytes."""
        return self._image(True, progress)

    def __eq__(self, other: object) -> bool:
        """Returns whether both have the same bits, plan, hash and seed."""
        if not isinstance(other, Filter):
            return NotImplemented
        return self is other or bytes(self) == bytes(other)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> Any:
        if self.stat().hash == "siphash":
            raise SecretError("a filter with a secret cannot be pickled "
                              "without the secret: send pack(), and give "
                              "the secret to from_bytes()")
        any_class = ffi.new("bool *")
        check(lib.held_form(self._h, ffi.new("uint64_t *"), any_class))
        return _unpickle, (type(self), self.pack(), any_class[0])

    def sync(self) -> None:
        """Makes changes to its file durable."""
        check(lib.held_sync(self._h))

    def close(self) -> None:
        """Releases the filter, and completes its file if it was opened for
        writing."""
        check(lib.held_close(self._h))

    def __enter__(self) -> Filter:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


def _unpickle(cls: type[Filter], image: bytes, any_class: bool) -> Filter:
    f = cls.from_bytes(image, memory_limit=_NO_BOUND)    # a pickle is trusted
    if any_class:
        f.state_keys("any")
    return f


def _added(s: Stat) -> str:
    """Returns how many keys were added, and how many of them are distinct."""
    different = f"about {s.distinct:,.0f}" if math.isfinite(s.distinct) \
        else "an unknown number of"
    if not s.items_exact:
        return f"{different} different keys"
    return f"{s.items:,} keys added, {different} different"


def _bar(width: float) -> str:
    return (f'<svg width="84" height="10"><rect width="82" height="8" x="1" '
            f'y="1" fill="none" stroke="gray"/><rect width="{width:.1f}" '
            f'height="6" x="2" y="2" fill="steelblue"/></svg>')


def _labels(labels: Any, n: int) -> Any:
    """Returns labels for C; NULL if there are none."""
    if labels is None:
        return ffi.NULL
    listed = [operator.index(label) for label in labels]
    if len(listed) != n:
        raise ParameterError(f"there are {n} keys and {len(listed)} labels: "
                             "give one for each")
    out = ffi.new("uint64_t[]", n + 1)
    for i, j in _keys.steps(n):
        out[i:j] = listed[i:j]
    return out


# ---- Jobs --------------------------------------------------------------------


def dedup(items: Iterable[Any], *, key: Any = None, rate: float = 1e-9,
          expected: int = 1000, ahead: int = _keys.CHUNK,
          keys: Optional[str] = None,
          secret: Optional[bytes] = None) -> Iterator[Any]:
    """Yields each distinct item once, in order, storing about 45 bits per item
    instead of a set. Of the new items, one in 1/rate is mistaken for a
    repeated one and lost. key: a function that returns an item's key.
    expected: the number of distinct items; the filter grows beyond it. ahead:
    the number of items read before the first one is yielded; use 1 for
    interactive input. keys: the form of the items' keys, as in Filter; by
    default all must be of one class. An item whose key is missing raises
    ValueError. secret: 16 bytes for the hash function. By default they are
    random for each call, so nobody can craft items that make others be lost,
    and different items are lost in each call. With a secret the same items are
    lost again.

    >>> list(dedup(["a", "b", "a", "c"]))
    ['a', 'b', 'c']
    """
    seen = Filter("scalable", items=max(_whole(expected, "expected"), 1),
                  rate=rate, keys=keys, hash="siphash",
                  secret=os.urandom(16) if secret is None else secret)
    ahead = max(_whole(ahead, "ahead", sys.maxsize), 1)
    for some, _ in _keys.pieces(items, ahead):
        new = seen._add_new(some if key is None else map(key, some),
                            _no_missing)
        yield from itertools.compress(some, new)


def diff(ours: Iterable[Key], theirs: Iterable[Key], *,
         items: int = 1000, key: int = 32,
         keys: Optional[str] = None) -> tuple[list[bytes], list[bytes]]:
    """Returns the keys that only one of two sets has, with sketches as small
    as the difference, as two machines would that exchange sketches. items: the
    maximum number of differences; FullError states the actual number. key: the
    bytes of the longest key. Each set may contain a key once. keys: their
    form, as in Filter; by default all must be of one class. The sketches are
    hashed with a random secret.

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
