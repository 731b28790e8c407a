"""Many threads that use the package for the first time together.

Each try needs a fresh interpreter, because a module is loaded only once.
"""
import importlib.util
import os
import shutil
import signal
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

# Batches in every thread, and lists that other threads change meanwhile.
CHANGING = """
import sys, threading, time
from bloomery import Filter
sys.setswitchinterval(1e-6)
f = Filter(items=100_000, keys="any")
row, ended = [], threading.Event()

class Key:
    def __index__(self):
        return 5

def change():
    while not ended.is_set():
        row[:] = [str(len(row)), 7, 2.5, b"x", None, Key(), 2 ** 63 - 1] * 50
        del row[::2]

def use():
    for _ in range(100):
        f.update(row)
        f.contains_many(row)
        f.count_many(iter(list(row)))

changing = [threading.Thread(target=change) for _ in range(2)]
using = [threading.Thread(target=use) for _ in range(3)]
for thread in changing + using:
    thread.start()
for thread in using:
    thread.join()
ended.set()
assert 7 in f and 5 in f and b"x" in f
"""

# No call keeps a key, or memory.
COUNTED = """
import sys
from bloomery import Filter, FormError
words = [f"word {i}" for i in range(2000)] + ["gr\u00fcn"]

class Odd:
    pass

class Index:
    def __index__(self):
        return 5

mixed = ["one", None, 7.25, b"bytes", 2 ** 62, Index()]

def refused(call):
    try:
        call()
    except (TypeError, FormError):
        return
    raise AssertionError

f = Filter(items=10_000, keys="any")
calls = [lambda: f.update(words), lambda: f.update(iter(words)),
         lambda: f.contains_many(mixed), lambda: f.contains_many(iter(mixed)),
         lambda: f.contains_many(bytearray([i]) for i in range(99)),
         lambda: Filter.build("fuse", words),
         lambda: Filter.build("bloomier", words, [1] * len(words)),
         lambda: refused(lambda: f.update(["a", Odd()])),
         lambda: refused(lambda: f.update(iter(["a", Odd()])))]
try:
    import numpy
except ImportError:
    pass
else:
    objects = numpy.array(words, object)
    calls += [lambda: f.contains_many(objects),
              lambda: f.contains_many(objects.astype(str)),
              lambda: refused(lambda: f.update(numpy.array([Odd()])))]
def counts():
    return [sys.getrefcount(key) for key in words + mixed[0:1] + mixed[2:]]

for call in calls:
    for _ in range(3):
        call()
    before, blocks = counts(), sys.getallocatedblocks()
    for _ in range(20):
        call()
    assert counts() == before, calls.index(call)
    grown = sys.getallocatedblocks() - blocks
    assert grown < 20, (calls.index(call), grown)
"""
# A file is cut short while threads look up keys in its map. Then another map is
# read beyond its file.
CUT = """
import faulthandler, mmap, os, sys, tempfile, threading
from bloomery import FileError, Filter
if sys.argv[1:] == ["faulthandler"]:
    faulthandler.enable()
path = tempfile.mkdtemp() + "/f"
whole = Filter("blocked", items=4_000_000)
whole.add("a")
whole.save(path)
f = Filter.open(path, mmap=True)
keys = [f"key {i}" for i in range(20_000)]
lost = [0] * 3
begun = threading.Barrier(4)

def look(number):
    begun.wait()
    while lost[number] < 5:
        try:
            f.contains_many(keys)
            [key in f for key in keys[:500]]
        except FileError as error:
            assert "cut short" in str(error)
            lost[number] += 1

threads = [threading.Thread(target=look, args=(i,)) for i in range(3)]
for thread in threads:
    thread.start()
begun.wait()
os.truncate(path, 8192)
for thread in threads:
    thread.join()
assert "a" in whole and not any(whole.contains_many(keys[:9]))
f.close()
with open(path, "rb") as file:
    other = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
os.truncate(path, 0)
print("as before", flush=True)
other[0]
"""
# A SIGBUS that a process sends is ignored if it was ignored before. One that a
# fault raises still ends the process.
IGNORED = """
import mmap, os, signal, sys, tempfile
from bloomery import Filter
path = tempfile.mkdtemp() + "/f"
Filter("blocked", items=100).save(path)
signal.signal(signal.SIGBUS, signal.SIG_IGN)
f = Filter.open(path, mmap=True)
os.kill(os.getpid(), signal.SIGBUS)
print("as before", flush=True)
with open(path, "rb") as file:
    other = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
os.truncate(path, 0)
other[0]
"""
# The collector clears the list while half a surrogate of it is an exception.
COLLECTED = """
import gc
from bloomery import Filter

class Garbage:
    def __del__(self):
        row.clear()
        global others
        others = [("y" * 40 + str(i)) for i in range(5000)]

class Key:
    def __index__(self):
        garbage = Garbage()
        garbage.itself = garbage
        del garbage
        gc.set_threshold(gc.get_count()[0] + after, 1000, 1000)
        gc.enable()
        return 5

f = Filter(items=1000, keys="any")
for after in range(-3, 25):
    gc.disable()
    row = [Key()] + [("x" * 40 + str(i) + chr(0xDC80)) for i in range(300)]
    f.update(row)
    gc.disable()
    gc.collect()
f = Filter(items=10)
for on in True, False:
    (gc.enable if on else gc.disable)()
    f.update([3, True, None])
    assert gc.isenabled() == on
    try:
        f.update([4, object()])
    except TypeError:
        assert gc.isenabled() == on
"""
DEBUGGER = shutil.which("python3-dbg")


def has_debugger():
    """Returns whether there is one that can load the same modules."""
    version = "import sys; print(sys.version_info[:2])"
    return DEBUGGER is not None and subprocess.run(
        [DEBUGGER, "-c", version], text=True, stdout=subprocess.PIPE
    ).stdout.strip() == str(sys.version_info[:2])


def run(program, *interpreter, **environment):
    done = subprocess.run([*(interpreter or [sys.executable]), "-c", program],
                          text=True, stderr=subprocess.PIPE, timeout=300,
                          env={**os.environ, **environment,
                               "PYTHONPATH": os.pathsep.join(sys.path)})
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("number", range(min(3 * EFFORT, 30)))
def test_first_calls_together(number):
    run(TOGETHER)


@pytest.mark.skipif(WITHOUT_NUMPY, reason="numpy is not installed")
def test_waits_while_numpy_is_loading():
    run(HALF_LOADED)


def test_lists_that_other_threads_change():
    run(CHANGING)


def test_lists_that_the_collector_clears():
    run(COLLECTED, PYTHONMALLOC="debug")


def test_no_call_keeps_what_it_is_given():
    run(COUNTED)


@pytest.mark.skipif(not hasattr(signal, "SIGBUS"), reason="there is no SIGBUS")
@pytest.mark.parametrize("program,how", [
    (CUT, []), (CUT, ["faulthandler"]), (IGNORED, [])],
    ids=["", "faulthandler", "ignored"])
def test_mapped_file_that_is_cut_short(program, how, tmp_path):
    """Lookups raise FileError; any other such signal does what it did."""
    done = subprocess.run([sys.executable, "-c", program, *how], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=300, env={**os.environ, "TMPDIR": str(tmp_path)})
    assert done.stdout == "as before\n", done.stderr
    assert done.returncode == -signal.SIGBUS


@pytest.mark.skipif(
    not has_debugger(), reason="python3-dbg of this version is missing: "
                               "apt-get install python3-dbg")
@pytest.mark.parametrize("program", [COUNTED, CHANGING, TOGETHER],
                         ids=["counted", "changing", "together"])
def test_interpreter_for_debuggers(program):
    """It checks each use of an object."""
    run(program, DEBUGGER)
