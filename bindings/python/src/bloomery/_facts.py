"""Facts about kinds, plans and filters: records, and the calls that need no filter.
"""
from __future__ import annotations

import itertools
import operator
from typing import Any, Callable, Iterable, Iterator, NamedTuple, Optional

from bloomery._errors import ParameterError, check
from bloomery._native import ffi, lib


def c_text(chars: Any) -> str:
    return str(ffi.string(chars).decode()) if chars else ""


def version() -> str:
    """Returns the version of the library, as "0.9.0"."""
    return c_text(lib.bly_version())


def whole(number: Any, what: str, most: int = (1 << 64) - 1) -> int:
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


def rate_of(rate: float) -> float:
    """Returns a rate of false positives that is not 0, which to the library
    means the usual one."""
    if rate == 0:
        raise ParameterError("a false-positive rate of 0 is not possible: give "
                             "one between 0 and 1, such as 0.01")
    return rate


# ---- Kinds -------------------------------------------------------------------


def abilities(can: int) -> frozenset[str]:
    return frozenset(c_text(lib.bly_ability(1 << i)) for i in range(64)
                     if can >> i & 1 and lib.bly_ability(1 << i))


_ABILITY = {c_text(lib.bly_ability(1 << i)): 1 << i for i in range(64)
            if lib.bly_ability(1 << i)}


class Option(NamedTuple):
    """An option of a kind, as in "standard:k=5": its name, the range of its
    values, its standard value and one line of help."""

    name: str
    range: str
    standard: str
    help: str


class Kind(NamedTuple):
    """A way to build a filter. `can` has the names of its abilities, `tier` is
    "core", "more" or "experimental"."""

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
    """Returns all kinds of filters. Those to try first have the tier "core".

    >>> [kind.name for kind in kinds() if kind.tier == "core"][:3]
    ['standard', 'blocked', 'split']

    >>> [kind.name for kind in kinds() if kind.family == "frozen"]
    ['xor', 'fuse', 'ribbon', 'gcs']
    """
    return [Kind(c_text(k.name), c_text(k.family), c_text(k.summary),
                 abilities(k.can),
                 tuple(Option(c_text(o.name), c_text(o.range), c_text(o.standard),
                              c_text(o.help)) for o in _each(k.options)),
                 c_text(k.tier))
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
    return {c_text(f.name): _field(f, rest) for f in inside}


class Record:
    """The fields that the library lists, as attributes."""

    def __init__(self, fill: Callable[[Any], Any]) -> None:
        fields = ffi.gc(lib.held_fields_place(), lib.held_fields_free)
        if not fields:
            raise MemoryError
        check(fill(fields))
        rest = (fields.at[i] for i in range(fields.n))
        for field in rest:
            setattr(self, c_text(field.name), _field(field, rest))

    def __repr__(self) -> str:
        inside = ", ".join(f"{f}={value!r}" for f, value in vars(self).items())
        return f"{type(self).__name__}({inside})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]


class Plan(Record):
    """The predicted properties of a filter, as `bloomery plan --json` prints
    them. A field that does not apply is None. Sizes are in bytes, rates and fill
    are from 0 to 1."""

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
    can: tuple[str, ...]


class Info(Record):
    """The state of a filter, as `bloomery info --json` prints it. A field that
    does not apply is None. Sizes are in bytes, rates and fill are from 0 to 1.
    `rate` is the present false-positive rate, `planned_rate` that for
    `capacity` keys. `items` is the number of adds, or, if items_exact is
    false, an estimate of the number of different keys."""

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
    """Estimated numbers of different keys of two filters: of each, of their
    union, in common, in just one of them, and the share in common."""

    a: Estimate
    b: Estimate
    either: Estimate
    both: Estimate
    differ: Estimate
    jaccard: Estimate


class Advice(NamedTuple):
    """A kind, evaluated for a need. `why` is one line, `limit` and `lacks` say
    why it does not fit, `beaten` that another kind is better in everything.
    Times are in nanoseconds per key, estimated for a filter in memory."""

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


def advise(items: int = 0, rate: float = 0.01, *, can: Iterable[str] = (),
           fixed: bool = False, unknown: bool = False, present: float = 0.5,
           aim: str = "balance", memory: int = 0, others: int = 0,
           label_most: int = 0, times: int = 0) -> list[Advice]:
    """Ranks the kinds for a need, the best one first.

    items, rate: as in Filter. can: abilities that it must have, as in kinds().
    fixed: all keys are known before the filter is built. unknown: the number of
    keys is not known, so the filter begins small and grows; kinds are compared
    as they are when they have that many items, or 10**6. present: the share of
    lookups whose key is there, from 0 to 1. aim: "balance", "fast" or "small".
    memory: the most bytes it may take; 0 for no limit. others: with the ability
    "exact", how many other keys will be looked up; 0 for as many as items.
    label_most: with the ability "label", the largest label; 0 for 255. times:
    if it is above 0, the filter must tell whether a key was added so often.

    Kinds of every tier are ranked; those to prefer have the tier "core". Raises
    ParameterError.

    >>> best = advise(1_000_000, 0.001, fixed=True, aim="small")[0]
    >>> best.fits, best.bits_per_key < 11
    (True, True)
    >>> advise(can=["remove"], unknown=True)[0].kind
    'expandable'
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
        capacity=whole(items, "items"), rate=rate_of(rate), can=wanted,
        fixed=fixed, unknown=unknown, present=present, aim=_AIMS[aim],
        memory=whole(memory, "memory"),
        others=whole(others, "others"), label_most=label_most, times=times))
    out = ffi.new("bly_ranking **")
    check(lib.bly_advise(out, need))
    ranking = ffi.gc(out[0], lib.bly_ranking_free)
    each = (lib.bly_ranking_at(ranking, i)
            for i in range(lib.bly_ranking_count(ranking)))
    return [Advice(c_text(a.kind), bool(a.fits), bool(a.beaten), c_text(a.why),
                   a.plan.bits_per_key, a.plan.rate, a.plan.bytes, a.ns_lookup,
                   a.ns_add, c_text(a.limit), c_text(a.lacks), c_text(a.tier))
            for a in each]
