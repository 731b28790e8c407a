"""Many threads that use the package for the first time together.

Each try needs a fresh interpreter, because a module is loaded only once.
"""
import importlib.util
import os
import subprocess
import sys

import pytest

EFFORT = int(os.environ.get("BLOOMERY_EFFORT") or "1")
WITHOUT_NUMPY = importlib.util.find_spec("numpy") is None

TOGETHER = """
import sys, threading
from concurrent.futures import ThreadPoolExecutor
import bloomery
from bloomery import Filter
sys.setswitchinterval(1e-5)
f = Filter(items=100)
f.add("a")
calls = [lambda: list(f.contains_many(["a", "b"])) == [True, False],
         lambda: f.update(["c"]) is None,
         lambda: list(f.count_many(["a", "b"]))[1] == 0,
         lambda: "a" in Filter.build("fuse", ["a", "b"]),
         lambda: len(bloomery.hash_many(["a", "b"])) == 2,
         lambda: list(f.add_many(["a"])) == [False],
         lambda: list(Filter(items=1).contains_many(memoryview(bytes(8)))) != [],
         lambda: list(bloomery.dedup(["a", "a"])) == ["a"]]
begin = threading.Barrier(len(calls))

def call(which):
    begin.wait()
    return which()

with ThreadPoolExecutor(len(calls)) as pool:
    assert all(pool.map(call, calls))
"""

# numpy stays half loaded in one thread until the others had time to call.
HALF_LOADED = """
import sys, threading, time
from bloomery import Filter

class Slow:
    def find_spec(self, name, path=None, target=None):
        if name.startswith("numpy.") and not half.is_set():
            half.set()
            time.sleep(0.3)

half = threading.Event()
sys.meta_path.insert(0, Slow())
loading = threading.Thread(target=lambda: __import__("numpy"))
loading.start()
half.wait()
f = Filter(items=10)
f.update(["a"])
assert list(f.contains_many(["a", "b"])) == [True, False]
assert "a" in Filter.build("fuse", ["a", "b"])
loading.join()
"""


def run(program):
    done = subprocess.run([sys.executable, "-c", program], text=True,
                          stderr=subprocess.PIPE, timeout=300)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("number", range(min(3 * EFFORT, 30)))
def test_first_calls_together(number):
    run(TOGETHER)


@pytest.mark.skipif(WITHOUT_NUMPY, reason="numpy is not installed")
def test_waits_while_numpy_is_loading():
    run(HALF_LOADED)
