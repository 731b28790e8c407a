"""The README and the pages of the book show true outputs and every name, and
numbers are the library's."""
import doctest
import os
import pathlib
import re
import struct
import subprocess
import sys

import pytest

import bloomery
from bloomery import Filter, _scalars
from bloomery._native import ffi, lib

README = pathlib.Path(__file__).parent.parent / "README.md"


@pytest.fixture
def book():
    """The pages, which a source package does not have."""
    if "BLOOMERY_BOOK" not in os.environ:
        pytest.skip("BLOOMERY_BOOK is not set")
    return pathlib.Path(os.environ["BLOOMERY_BOOK"]) / "library"


def test_readme_shows_true_outputs():
    failed, tried = doctest.testfile(str(README), module_relative=False)
    assert failed == 0 and tried >= 4


@pytest.mark.parametrize("page,least", [("python", 25), ("python-api", 20),
                                        ("python-production", 10),
                                        ("python-from", 10)])
def test_page_shows_true_outputs(book, page, least):
    names = {name: getattr(bloomery, name) for name in bloomery.__all__}
    failed, tried = doctest.testfile(str(book / f"{page}.md"), globs=names,
                                     module_relative=False)
    assert failed == 0 and tried >= least


def test_api_page_is_the_docstrings(book):
    tool = book.parent.parent / "tools" / "lib" / "python_api.py"
    done = subprocess.run([sys.executable, "-B", tool, "--check",
                           book / "python-api.md"], text=True,
                          stdout=subprocess.PIPE)
    assert done.returncode == 0, done.stdout


def test_api_page_has_every_name(book):
    text = (book / "python-api.md").read_text()
    names = {*bloomery.__all__, "hash", "aio.run"} | {
        f"Filter.{name}" for name in vars(Filter) if not name.startswith("_")}
    assert len(names) > 70
    records = {"Key", "Keys"}           # types, which the text explains
    assert not [name for name in sorted(names - records)
                if not re.search(rf"^(##+ |\| `){re.escape(name)}(`|$)", text,
                                 re.M)]


def test_numbers_are_the_librarys():
    out = ffi.new("unsigned char[8]")
    for real in (0.0, -0.0, 1.0, 2.5, -3.0, 2.0 ** 62, 2.0 ** 63, -2.0 ** 63,
                 1e300, float("inf"), float("nan"), -float("nan"), 5e-324):
        lib.bly_real_key(out, real)
        f = Filter("standard", items=9, rate=1e-9, keys="any")
        f.add(real)
        assert bytes(out) in f, real
    for whole in (0, 1, -1, 2 ** 63 - 1, -2 ** 63):
        lib.bly_integer_key(out, whole)
        assert _scalars.encode(whole)[1] == bytes(out) == struct.pack("<q", whole)
