"""The README and the page of the book show true outputs and every name, and
numbers are the library's."""
import doctest
import os
import pathlib
import re
import struct

import pytest

import bloomery
from bloomery import Filter, _keys
from bloomery._native import ffi, lib

README = pathlib.Path(__file__).parent.parent / "README.md"


@pytest.fixture
def page():
    """The page, which a source package does not have."""
    if "BLOOMERY_BOOK" not in os.environ:
        pytest.skip("BLOOMERY_BOOK is not set")
    return pathlib.Path(os.environ["BLOOMERY_BOOK"]) / "library" / "python.md"


def test_readme_shows_true_outputs():
    failed, tried = doctest.testfile(str(README), module_relative=False)
    assert failed == 0 and tried >= 4


def test_page_shows_true_outputs(page):
    failed, tried = doctest.testfile(str(page), module_relative=False)
    assert failed == 0 and tried > 25


def test_page_has_every_name(page):
    text = page.read_text()
    records = {"Advice", "Estimate", "Kind", "Option"}
    names = set(bloomery.__all__) - records | {
        name for name in vars(Filter) if not name.startswith("_")}
    assert len(names) > 50
    assert not [name for name in sorted(names)
                if not re.search(rf"[`.]{name}\b", text)]


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
        assert _keys.encode(whole)[1] == bytes(out) == struct.pack("<q", whole)
