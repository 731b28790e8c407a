"""The types that the package states are those that mypy finds, and are exact: a
wrong use is an error."""
import os
import pathlib
import shutil
import subprocess

import pytest

import bloomery

RIGHT = """
import io
import pathlib
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, List, Optional, Tuple, Union
from uuid import UUID

import numpy

import bloomery
from bloomery import Filter, Info, Overlap, Plan, aio

Bools = numpy.ndarray[Any, numpy.dtype[numpy.bool_]]
Numbers = numpy.ndarray[Any, numpy.dtype[numpy.uint64]]

class Seen(Filter):
    name: str

f: Filter = Filter(items=3)
new: bool = f.add(b"x") and f.add(UUID(int=1)) and f.add(timedelta(1))
there: bool = "x" in f and f.contains(3.5)
n: Optional[int] = f.count(3)
label: Union[int, str] = f.get("x", "none")
f.update(["a", None, 3, Decimal(3), date.today(), numpy.int64(3)])
f.update(numpy.arange(3))
f.update({"a": 1}.keys())
found: Bools = f.contains_many([1])
counts: Numbers = f.count_many(range(3))
both: Tuple[Bools, Numbers] = f.get_many(iter([b"x"]))
hashes: Numbers = bloomery.hash_many(["a"])
one: int = bloomery.hash("a")
f.put_many(["a"], numpy.arange(1))
seen: Seen = Seen.build("fuse", ["a"])
seen = Seen.open(pathlib.Path("a")).copy() | f
seen = Seen.from_bytes(bytearray(9)).union(f, seen).like()
seen |= f
f.save(io.BytesIO())
f.save(b"path", progress=lambda done, total: done > 3)
with open("a", "rb") as file:
    f = Filter.open(file)
info: Info = f.info()
rate: float = info.rate + f.rate + f.estimate().sd
overlap: Overlap = f.overlap(seen)
plan: Plan = Filter.plan("fuse")
capacity: int = f.capacity + len(f) + (f.items or 0)
numbers: List[int] = list(bloomery.dedup([1, 2]))
rows: List[Tuple[int, str]] = list(bloomery.dedup(
    [(1, "a")], key=lambda row: row[0]))

async def main() -> None:
    made: Filter = await aio.run(Filter.build, "fuse", ["a"])
"""

WRONG = ["n: int = f.count(3)", "s: str = f.get('x')", "f.add(object())",
         "f.add(['a'])", "f.update(3)", "Filter('fuse', 3)", "f.save(3)",
         "Filter.open(3)", "Filter.from_bytes('text')", "f | {'a'}",
         "f.unite(['a'])", "s: str = f.info().rate", "f.put('a', 'b')",
         "for key in f: pass", "f.items = 3", "s: str = f.contains_many([1])",
         "f.update([1], progress=lambda done: None)", "f.no_such_call()"]


def mypy(*files):
    return subprocess.run(["mypy", "--strict", *files], text=True,
                          capture_output=True)


@pytest.mark.skipif(shutil.which("mypy") is None
                    or not os.environ.get("BLOOMERY_EFFORT"),
                    reason="no mypy, or not all is to be done")
def test_types(tmp_path):
    pytest.importorskip("numpy")
    right, wrong = tmp_path / "right.py", tmp_path / "wrong.py"
    right.write_text(RIGHT)
    wrong.write_text("from bloomery import Filter\nf = Filter(items=3)\n"
                     + "".join(f"def wrong{i}() -> None:\n    {line}\n"
                               for i, line in enumerate(WRONG)))
    package = pathlib.Path(bloomery.__file__).parent
    assert (package / "py.typed").exists()
    done = mypy("--cache-dir", tmp_path, package, right)
    assert done.returncode == 0, done.stdout
    done = mypy("--cache-dir", tmp_path, package, wrong)
    for i, line in enumerate(WRONG):
        assert f"wrong.py:{2 * i + 4}: error" in done.stdout, line
