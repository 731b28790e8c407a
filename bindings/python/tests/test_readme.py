"""What the README shows is what comes out, and numbers are the library's."""
import doctest
import pathlib
import struct

from bloomery import Filter, _keys
from bloomery._native import ffi, lib


def test_readme():
    readme = pathlib.Path(__file__).parent.parent / "README.md"
    failed, tried = doctest.testfile(str(readme), module_relative=False)
    assert failed == 0 and tried > 10


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
