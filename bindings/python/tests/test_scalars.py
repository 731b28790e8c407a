"""Dates, durations, UUIDs and decimals as keys: the bytes of each, which are those
that other languages make, and equal keys for equal values."""
import os
import random
import struct
import subprocess
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from uuid import UUID

import pytest

from bloomery import Filter, FormError
from bloomery._scalars import HEX, INTEGER, REAL, TEXT, encode

BERLIN = timezone(timedelta(hours=1))
KEYS = [
    (date(2026, 11, 27), TEXT, b"2026-11-27"),
    (date(7, 1, 2), TEXT, b"0007-01-02"),
    (datetime(2026, 11, 27), TEXT, b"2026-11-27T00:00:00"),
    (datetime(2026, 11, 27, 8, 5, 9, 120), TEXT, b"2026-11-27T08:05:09.000120"),
    (datetime(2026, 11, 27, 8, tzinfo=BERLIN), TEXT, b"2026-11-27T07:00:00+00:00"),
    (datetime(2026, 11, 27, 7, tzinfo=timezone.utc), TEXT,
     b"2026-11-27T07:00:00+00:00"),
    (time(8, 5), TEXT, b"08:05:00"),
    (time(8, 5, 9, 120), TEXT, b"08:05:09.000120"),
    (UUID("2f1b5d0e-0000-4000-8000-0123456789ab"), HEX,
     bytes.fromhex("2f1b5d0e0000400080000123456789ab")),
    (timedelta(days=2, seconds=5), INTEGER, struct.pack("<q", 172805)),
    (timedelta(seconds=-3), INTEGER, struct.pack("<q", -3)),
    (timedelta(milliseconds=1500), REAL, struct.pack("<d", 1.5)),
    (Decimal("7"), INTEGER, struct.pack("<q", 7)),
    (Decimal("7.000"), INTEGER, struct.pack("<q", 7)),
    (Decimal("1e3"), INTEGER, struct.pack("<q", 1000)),
    (Decimal("9007199254740993"), INTEGER, struct.pack("<q", 9007199254740993)),
    (Decimal(-2 ** 63), INTEGER, struct.pack("<q", -2 ** 63)),
    (Decimal("2.5"), REAL, struct.pack("<d", 2.5)),
    (Decimal(2 ** 63), REAL, struct.pack("<d", 2.0 ** 63)),
    (Decimal("1e400"), REAL, struct.pack("<d", float("inf"))),
    (Decimal("-1e400"), REAL, struct.pack("<d", float("-inf"))),
    (Decimal("1e-400"), REAL, struct.pack("<d", 0.0)),
    (Decimal("-Infinity"), REAL, struct.pack("<d", float("-inf"))),
]


@pytest.mark.parametrize("key,of,data", KEYS, ids=lambda v: str(v)[:40])
def test_bytes_of_a_key(key, of, data):
    assert encode(key) == (of, data)
    one = Filter("counting", items=10, rate=1e-9, keys="any")
    many = one.like()
    one.add(key), many.update([key, None])
    assert one == many and key in one and one.count(key) == 1
    assert list(one.contains_many(iter([key]))) == [True]
    if of in (TEXT, HEX):
        assert data in one
    f = Filter(items=10)
    f.add(key)
    assert f.keys == {TEXT: "text", HEX: "hex"}.get(of, "number")
    other = 1 if of in (TEXT, HEX) else "1"
    with pytest.raises(FormError):
        other in f


def test_equal_values_are_equal_keys():
    rng = random.Random(52)
    for _ in range(2000):
        moment = datetime(1, 1, 2, tzinfo=timezone.utc) \
            + timedelta(seconds=rng.randrange(3 * 10 ** 11))
        zone = timezone(timedelta(minutes=rng.randrange(-1439, 1440)))
        try:
            elsewhere = moment.astimezone(zone)
        except OverflowError:
            continue
        assert encode(moment) == encode(elsewhere)
        assert encode(moment + timedelta(microseconds=1)) != encode(elsewhere)
        number = Fraction(rng.randrange(-10 ** 9, 10 ** 9), 2 ** rng.randrange(9))
        exact = Decimal(number.numerator) / number.denominator
        f = Filter(items=4, rate=1e-9)
        f.add(number)
        assert exact in f and float(number) in f


def test_a_uuid_is_bytes_and_its_text_is_another_key():
    key = UUID(int=7)
    for keys in [key], [key, b"x", None], iter([key, UUID(int=8)]):
        f = Filter(items=10)
        f.update(keys)
        assert f.keys == "hex"                  # as PostgreSQL states it
        assert key in f and key.bytes in f
    f = Filter(items=10)
    f.update([b"x", key])
    assert f.keys == "bytes" and key in f and f.contains_many([key])[0]
    lines = Filter(items=10)
    lines.add(str(key))
    with pytest.raises(FormError, match=r"str\(key\)"):
        key in lines
    f = Filter(items=10)
    f.add(key)
    with pytest.raises(FormError, match=r"uuid\.UUID\(key\), or .*fromhex\(key\)"):
        str(key) in f
    with pytest.raises(FormError, match=r"give bytes or a uuid\.UUID$"):
        5 in f


def test_wrong_decimals():
    f = Filter(items=10)
    for call in f.add, f.contains, lambda key: f.update([key]):
        with pytest.raises(TypeError, match="signaling NaN"):
            call(Decimal("sNaN"))
    f.add(Decimal("NaN"))
    assert float("nan") in f
    with pytest.raises(ValueError, match="is not one of the"):
        Decimal("0.5") in Filter(items=1, keys="int64")


def test_dates_are_those_of_lines(tmp_path):
    command = os.environ.get("BLOOMERY_COMMAND")
    if not command:
        pytest.skip("BLOOMERY_COMMAND does not name the command")
    path = tmp_path / "f"
    for options, keys, lines in (
            ([], [date(2026, 11, 27), datetime(2026, 11, 27, 8)],
             "2026-11-27\n2026-11-27T08:00:00\n"),
            (["--as", "number"], [Decimal("7.0"), timedelta(seconds=2)], "7\n2\n"),
            (["--as", "hex"], [UUID(int=255)], "0" * 30 + "ff\n")):
        subprocess.run([command, "build", "--force", *options, "-n9", "-o", path],
                       input=lines, text=True, check=True)
        f = Filter.open(path)
        assert all(key in f for key in keys)
        assert not f.contains_many(keys[:1] * 3 + keys).tolist().count(False)
