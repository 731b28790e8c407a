"""Single keys: the class of a Python value, and its bytes for native.c.

| value | class | bytes |
|---|---|---|
| text | text | UTF-8 |
| bytes, bytearray, memoryview | bytes | as they are |
| UUID | hex, the class of bytes that are written as digits | its 16 bytes |
| an integer, a bool | number | 8 bytes, the lowest first: int64 |
| float, Fraction, Decimal | number | of the integer it equals, else of a double |
| timedelta, timedelta64 | number | of its seconds |
| date, datetime64 | text | 2026-11-27 |
| datetime without a time zone | text | 2026-11-27T08:00:00 |
| datetime with a time zone | text | 2026-11-27T07:00:00+00:00, in UTC |
| time without a time zone | text | 08:00:00 |

Values that Python calls equal have equal keys. A time has a fraction of a second only
if that is not 0, with six digits. native.c changes these bytes if the form of a filter
says so: form "int32" stores a number in 4 bytes. Without a form, a real number that is
an integer from -2^63 to 2^63 - 1 is the key of that integer, because 1.0 == 1.

A missing value (None, pandas.NA, NaT, a masked value of numpy) is not a key. Adds skip
it, and no filter contains it.
"""
from __future__ import annotations

import math
import numbers
import operator
import struct
from collections.abc import Iterable
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any, SupportsIndex, Union
from uuid import UUID

from bloomery._native import lib

Key = Union[str, bytes, bytearray, memoryview, SupportsIndex, float,
            numbers.Real, Decimal, date, time, timedelta, UUID]

TEXT, BYTES, INTEGER, REAL, LARGE, HEX = (
    lib.BLY_TEXT, lib.BLY_BYTES, lib.BLY_INTEGER, lib.BLY_REAL, lib.HELD_LARGE,
    lib.HELD_UUID)
MISSING = -1

_INT64 = struct.Struct("<q")
_UINT64 = struct.Struct("<Q")
_DOUBLE = struct.Struct("<d")
_MISSING_TYPES = {("pandas", "NAType"), ("pandas", "NaTType"),
                  ("numpy", "MaskedConstant")}


def plain(data: Any) -> bytes:
    """Returns bytes that nobody else can change, and whose length is true: a
    class derived from `bytes` could report another one."""
    return data if type(data) is bytes else memoryview(data).tobytes()


def missing(key: object) -> bool:
    """Returns whether this is a missing value. numpy and pandas are recognised
    by the names of their types, because the program may use neither."""
    of = type(key)
    return key is None or (of.__module__.partition(".")[0],
                           of.__name__) in _MISSING_TYPES


def encode(key: Any) -> tuple[int, bytes]:
    """Returns the type of a key and its bytes; MISSING for a missing value.
    Raises TypeError for a value that is not a key, and OverflowError for an
    integer or a time beyond 64 bits."""
    of = type(key)
    if of is str:
        try:
            return TEXT, key.encode()
        except UnicodeEncodeError:
            pass
    elif of is int:
        return _integer(key)
    if isinstance(key, str):
        return TEXT, str.encode(key, "utf-8", "surrogateescape")
    if of is float:
        return REAL, _DOUBLE.pack(key)
    if isinstance(key, (bytes, bytearray, memoryview)):
        return BYTES, plain(key)
    if missing(key):
        return MISSING, b""
    if isinstance(key, UUID):
        return HEX, key.bytes
    if isinstance(key, date):
        return TEXT, _moment(key).encode()
    if isinstance(key, time) and key.tzinfo is None:
        return TEXT, key.isoformat().encode()
    return _number(key)


def _moment(day: date) -> str:
    """Returns the text of a date or datetime. Two that Python calls equal have
    the same text, in whatever time zones."""
    if isinstance(day, datetime) and day.utcoffset() is not None:
        day = day.astimezone(timezone.utc)
    return day.isoformat()


def _number(key: Any) -> tuple[int, bytes]:
    if getattr(key, "shape", None) == () and hasattr(key, "dtype"):
        kind = getattr(key.dtype, "kind", "")
        if kind == "b":
            key = bool(key)             # numpy's bool has no __index__
        elif kind in "mM":
            return _numpy_time(key)
    try:
        number = operator.index(key)
    except TypeError:
        pass
    else:
        return _integer(number)
    if isinstance(key, timedelta):
        return _seconds(key)
    if isinstance(key, (numbers.Real, Decimal)):
        return _real(key)
    raise TypeError(_refusal(key))


# Units of numpy's times, in seconds or as parts of one.
SECONDS = {"W": 604800, "D": 86400, "h": 3600, "m": 60, "s": 1}
PARTS = {"ms": 10 ** 3, "us": 10 ** 6, "ns": 10 ** 9}


def most_ticks(kind: str, unit: str, count: int) -> int:
    """Returns the most ticks of `count` units that do not exceed 64 bits when
    they become seconds, or microseconds for moments in milliseconds."""
    finer = 1000 if kind == "M" and unit == "ms" else SECONDS.get(unit, 1)
    return ((1 << 63) - 1) // (count * finer)


def beyond_time(key: object) -> str:
    return f"{key!r} is beyond a time of 64 bits: give it as text or bytes"


def _numpy_time(key: Any) -> tuple[int, bytes]:
    """Encodes numpy's datetime64 as a date or datetime, and its timedelta64 as
    a timedelta. Nanoseconds have nine digits if six are not enough."""
    kind, tick = key.dtype.kind, key.dtype.str[4:-1]
    unit = tick.lstrip("0123456789")
    if key != key:                      # NaT
        return MISSING, b""
    if unit not in SECONDS and unit not in PARTS:
        raise TypeError(_refusal(key))
    if abs(int(key.astype("i8"))) > most_ticks(
            kind, unit, int(tick[:-len(unit)] or 1)):
        raise OverflowError(beyond_time(key))
    if kind == "M":
        for finer in "D" if unit in ("W", "D") else ("s", "us", "ns"):
            moment = key.astype(f"M8[{finer}]")
            if moment == key:
                break
        return TEXT, str(moment).encode()
    ticks = int(key.astype(f"m8[{unit}]").astype("i8"))
    seconds, part = divmod(ticks * SECONDS.get(unit, 1), PARTS.get(unit, 1))
    return (_integer(seconds) if part == 0
            else (REAL, _DOUBLE.pack(ticks / PARTS[unit])))


def _integer(number: int) -> tuple[int, bytes]:
    try:
        return INTEGER, _INT64.pack(number)
    except struct.error:
        pass
    if 0 < number < 1 << 64:
        return LARGE, _UINT64.pack(number)
    raise OverflowError(f"{number} is not an integer of 64 bits: give it as "
                        "text or bytes")


def _seconds(span: timedelta) -> tuple[int, bytes]:
    """Encodes a duration; that of pandas has nanoseconds beside the parts of
    Python's. One division rounds once."""
    micros = (span.days * 86400 + span.seconds) * 10 ** 6 + span.microseconds
    nanos = micros * 1000 + getattr(span, "nanoseconds", 0)
    seconds, part = divmod(nanos, 10 ** 9)
    return (_integer(seconds) if part == 0
            else (REAL, _DOUBLE.pack(nanos / 10 ** 9)))


def _real(number: Union[numbers.Real, Decimal]) -> tuple[int, bytes]:
    """Encodes a number that is not an integer of Python. A Fraction or Decimal
    can equal an integer that no double equals. A number beyond the range of
    doubles becomes infinite or 0, as when it is read from text."""
    whole = None
    if isinstance(number, Decimal) and number.is_snan():
        raise TypeError("a signaling NaN is not a key: Decimal(\"NaN\") is")
    if isinstance(number, numbers.Rational):
        whole = int(number.numerator) if number.denominator == 1 else None
    elif isinstance(number, Decimal) and number.is_finite() \
            and -1 << 63 <= number < 1 << 63 \
            and number == number.to_integral_value():
        whole = int(number)
    if whole is not None and -1 << 63 <= whole < 1 << 63:
        return INTEGER, _INT64.pack(whole)
    try:
        real = float(number)
    except OverflowError:
        real = -math.inf if number < 0 else math.inf
    return REAL, _DOUBLE.pack(real)


def _refusal(key: object) -> str:
    name = type(key).__name__
    how = (".isoformat() or str() makes text of it"
           if hasattr(key, "isoformat") else
           "the calls that end in _many take many keys"
           if isinstance(key, Iterable) else
           ".item() makes a date or a duration of it"
           if hasattr(key, "dtype") else
           ".as_py() makes a key of it" if hasattr(key, "as_py") else
           "str() makes text of it, if that tells it from others")
    return f"a key is text, bytes or a number, and not {name}: {how}"
