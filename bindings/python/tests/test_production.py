"""The sentences of docs/library/python-production.md, each with a test: here, in
another file of the tests, or as an example on the page."""
import gc
import os
import pathlib
import pickle
import re
import signal
import subprocess
import sys
import threading
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import pytest

import bloomery
from bloomery import Filter
from bloomery._native import lib

HERE = pathlib.Path(__file__).parent
KEYS = [f"key {i}" for i in range(5000)]
ROWS = memoryview(b"".join(i.to_bytes(8, "little") for i in range(400_000))) \
    .cast("B", shape=[400_000, 8])
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"),
                                reason="the system has no fork")

# The beginning of each item of a list on the page, and its tests.
TESTED = {
    "Any thread may make any call": "test_filter.py test_threads",
    "Every call releases the interpreter's lock":
        "test_production.py test_threads_go_on_beside_a_call",
    "If several threads add the same key":
        "test_production.py test_one_thread_gets_the_key",
    "A call with many keys is not atomic":
        "test_production.py test_a_batch_is_seen_in_part",
    "`threads=1`": "test_production.py test_one_thread_starts_no_other",
    "A program may fork": "test_fork.py test_child_can_use_filters",
    "After a fork, parent and child": "test_production.py test_after_a_fork",
    "Only one process may change": "test_production.py test_after_a_fork",
    "Processes that only look up": "test_production.py test_mapped_is_shared",
    "A filter can be pickled": "test_production.py test_size_of_a_pickle",
    "A filter takes": "test_production.py test_memory_is_outside_python",
    "The memory is released": "test_production.py test_memory_is_released",
    "`repr(f)`, `f.kind`": "test_production.py test_files_cut_short",
    "`copy()`, `|`, `&` and `-`": "test_production.py test_memory_of_sets",
    "If memory runs out": "test_production.py test_memory_that_runs_out",
    "A small packed file": "test_hostile.py test_a_limit_of_memory",
    "`save(path)` writes another file":
        "test_cancel.py test_a_cancelled_save_leaves_the_old_file",
    "`open(path)` reads the file": "test_production.py test_files_cut_short",
    "With `mmap=True` the file": "test_production.py test_files_cut_short",
    "Errors of the system": "test_api.py test_file_errors_have_their_file",
    "Bytes from strangers": "test_hostile.py test_forged_images",
    "Ctrl-C and other signals": "test_cancel.py test_signals_at_random_moments",
    "A signal handler may use filters":
        "test_production.py test_a_handler_uses_filters",
    "`progress=` sets a deadline": "test_cancel.py test_wait_for_ends_the_call",
    "Until 1.0": "test_production.py test_versions",
    "The package contains the library": "test_production.py test_versions",
    "A file with a version": "test_production.py test_unknown_versions",
    "What crosses versions": "test_golden.py test_golden",
    "A pickle contains": "test_production.py test_size_of_a_pickle",
    "`hash` and `hash_many`": "test_production.py test_hashes_stay",
}


def test_each_sentence_has_a_test():
    if "BLOOMERY_BOOK" not in os.environ:
        pytest.skip("BLOOMERY_BOOK is not set")
    page = pathlib.Path(os.environ["BLOOMERY_BOOK"], "library",
                        "python-production.md").read_text()
    items = re.findall(r"^- (.*)", page, re.M)
    assert [item for item in items
            if not any(item.startswith(begin) for begin in TESTED)] == []
    assert [begin for begin in TESTED
            if not any(item.startswith(begin) for item in items)] == []
    for where in TESTED.values():
        file, name = where.split()
        assert f"def {name}(" in (HERE / file).read_text(), where


@pytest.fixture
def always_ask():
    every, lib.held_every = lib.held_every, 0
    yield
    lib.held_every = every


# ---- Threads ------------------------------------------------------------------


def test_threads_go_on_beside_a_call(tmp_path):
    """A save to a pipe waits for its reader, which runs in this thread."""
    path = str(tmp_path / "pipe")
    os.mkfifo(path)
    f = Filter(items=1_000_000)
    saving = threading.Thread(target=f.save, args=(path,))
    saving.start()
    with open(path, "rb") as pipe:
        image = pipe.read()
    saving.join()
    assert Filter.from_bytes(image) == f


def test_one_thread_gets_the_key():
    f = Filter("blocked", items=5000, rate=1e-6)
    with ThreadPoolExecutor(8) as pool:
        new = list(pool.map(f.add, [key for key in KEYS for _ in range(4)]))
    for i in range(0, len(new), 4):
        assert sum(new[i:i + 4]) <= 1
    assert sum(new) >= 4990 and f.items == len(new)


def test_a_batch_is_seen_in_part(always_ask):
    f = Filter(items=len(ROWS))
    seen = []

    def look(done, total):
        thread = threading.Thread(target=lambda: seen.append(
            (bytes(8) in f, f.items)))
        thread.start()
        thread.join()

    f.update(ROWS, progress=look)
    assert any(first and 0 < items < len(ROWS) for first, items in seen)


def test_one_thread_starts_no_other(tmp_path, always_ask):
    if not os.path.exists("/proc/self/task"):
        pytest.skip("the system does not list threads")
    most = 0

    def count(done, total):
        nonlocal most
        most = max(most, len(os.listdir("/proc/self/task")))

    before = len(os.listdir("/proc/self/task"))
    f = Filter.build("fuse", ROWS, threads=1, progress=count)
    f.save(tmp_path / "f")
    Filter.open(tmp_path / "f", threads=1, progress=count)
    assert 0 < most <= before


# ---- Processes ----------------------------------------------------------------


def in_child(work):
    """Returns what `work` returns in a child, 0 to 255."""
    pid = os.fork()
    if pid == 0:
        signal.alarm(30)
        status = 255
        try:
            status = work()
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@needs_fork
def test_after_a_fork(tmp_path):
    f = Filter(items=100)
    f.save(tmp_path / "f")
    g = Filter.open(tmp_path / "f", mmap=True, write=True)
    h = Filter.open(tmp_path / "f")
    assert in_child(lambda: f.add("a") + 2 * g.add("b") + 4 * h.add("c")) == 7
    assert "a" not in f and "b" in g and "c" not in h
    f.add("d"), g.add("e")
    assert in_child(lambda: "d" in f and "e" in g) == 1
    g.close()
    again = Filter.open(tmp_path / "f", mmap=True, verify=True)
    assert "b" in again and "e" in again


def test_mapped_is_shared(tmp_path):
    path = tmp_path / "f"
    Filter(items=100_000).save(path)
    f = Filter.open(path, mmap=True)
    lines = [line.split() for line in open("/proc/self/maps")
             if line.rstrip().endswith(str(path))]
    assert lines and all(line[1] == "r--s" for line in lines)
    f.close()


def test_size_of_a_pickle():
    f = Filter("compressed", items=100_000)
    f.update(KEYS)
    image, packed = pickle.dumps(f), f.pack()
    assert packed in image and len(image) < len(packed) + 200
    assert b"bloomery" in image and b"Filter" in image


# ---- Memory -------------------------------------------------------------------


def test_memory_is_outside_python():
    tracemalloc.start()
    f = Filter("blocked", items=1_000_000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100_000 < f.info().bytes
    assert f.info().bytes == Filter.plan("blocked", items=1_000_000).bytes


def resident():
    with open("/proc/self/statm") as pages:
        return int(pages.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize("way", ["close", "with", "collected"])
def test_memory_is_released(way):
    n = 20_000_000                      # 24 MB
    before = resident()
    f = Filter("blocked", items=n)
    f.update(ROWS)
    during = resident()
    if way == "close":
        f.close()
    elif way == "with":
        with f:
            pass
    else:
        del f
        gc.collect()
    after = resident()
    assert during - before > 20_000_000
    assert during - after > 20_000_000


def test_memory_of_sets():
    a = Filter("blocked", items=10_000)
    b = a.like()
    b.update(KEYS)
    for made in (a.copy(), a | b, a & b):
        assert made is not a and made.info().bytes == a.info().bytes
    same = a
    a |= b
    assert a is same and KEYS[0] in same


RUNS_OUT = """
import resource
from bloomery import Filter
f = Filter("quotient", items=1_000_000, rate=1e-6)
f.update(range(1000))
g = Filter("blocked", items=100_000_000)
image = f.pack()
pages = int(open("/proc/self/statm").read().split()[0])
size = pages * resource.getpagesize() + 50_000_000
resource.setrlimit(resource.RLIMIT_AS, (size, size))
for call in (lambda: f.resize(60_000_000), lambda: g | g, lambda: g.copy(),
             lambda: Filter("blocked", items=100_000_000)):
    try:
        call()
    except MemoryError:
        continue
    raise SystemExit("there was memory for it")
assert f.pack() == image and 7 in f and f.add(-1)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is Linux's")
def test_memory_that_runs_out():
    done = subprocess.run([sys.executable, "-c", RUNS_OUT], text=True,
                          stderr=subprocess.PIPE, timeout=60)
    assert done.returncode == 0, done.stderr


# ---- Files --------------------------------------------------------------------

CUT_SHORT = """
import os, signal, sys
import bloomery
from bloomery import Filter
path, how = sys.argv[1:]
keys = [f"key {i}" for i in range(5000)]
Filter.build("blocked", keys, items=1_000_000).save(path)
f = Filter.open(path, mmap=how != "read")
if how == "replaced":
    Filter("blocked", items=10).save(path)
elif how == "emptied":
    open(path, "wb").close()
else:
    os.truncate(path, 4096)
if how in ("page", "emptied"):
    lookups = [lambda: keys[0] in f, lambda: f.contains(keys[0]),
               lambda: f.contains_many(keys), lambda: f.count(keys[0]),
               lambda: f.count_many(keys)]
    glances = [lambda: len(f), lambda: repr(f), lambda: f.kind, lambda: f.rate,
               lambda: f.like()]
    for call in lookups + (glances if how == "emptied" else []):
        try:
            call()
        except bloomery.FileError as error:
            assert "cut short" in str(error)
        else:
            raise AssertionError((lookups + glances).index(call))
    assert f.can and f.keys == "text"
    if how == "page":
        for call in glances:
            call()
    raise SystemExit
if how == "info":
    f.info()
if how == "header":                     # the only page that is left
    assert (f.kind, f.capacity, f.items, len(f)) == ("blocked", 1_000_000, 5000,
                                                     5000)
    assert "blocked: 5,000 keys added" in repr(f) and f.keys == "text" and f.rate
    raise SystemExit
try:
    assert f.contains_many(keys).tolist() == [True] * 5000 and how != "mapped"
    assert keys[0] in f and how != "mapped"
except bloomery.FileError:
    assert how == "mapped"
"""


@pytest.mark.skipif(not hasattr(signal, "SIGBUS"), reason="there is no SIGBUS")
@pytest.mark.parametrize("how", ["read", "mapped", "replaced", "info",
                                 "header", "page", "emptied"])
def test_files_cut_short(tmp_path, how):
    pytest.importorskip("numpy")
    done = subprocess.run([sys.executable, "-c", CUT_SHORT, tmp_path / "f", how],
                          text=True, stderr=subprocess.PIPE, timeout=60)
    assert done.returncode == (-signal.SIGBUS if how == "info" else 0), done.stderr


# ---- Signals ------------------------------------------------------------------


def test_a_handler_uses_filters(always_ask):
    f, other = Filter("blocked", items=400_000), Filter(items=9)
    g = f.like()
    g.update(ROWS)
    told = []

    def handler(*_):
        told.append(other.add("from a handler"))
        try:
            "x" in f
        except bloomery.BusyError as error:
            told.append(error)

    before = signal.signal(signal.SIGALRM, handler)
    try:
        f.unite(g, progress=lambda done, total: told or signal.raise_signal(
            signal.SIGALRM))
    except bloomery.Cancelled:
        pass
    finally:
        signal.signal(signal.SIGALRM, before)
    assert told[0] is True and isinstance(told[1], bloomery.BusyError)
    assert "from a handler" in other


# ---- Upgrades -----------------------------------------------------------------


def test_versions():
    assert re.fullmatch(r"\d+\.\d+\.\d+", bloomery.__version__)
    assert bloomery.version() == bloomery.__version__


def test_unknown_versions():
    f = Filter(items=100)
    image = bytes(f)
    refused = 0
    for at in range(8, 32):             # where the header states its versions
        other = bytearray(image)
        other[at] ^= 0x40
        with pytest.raises(bloomery.ImageError):
            Filter.from_bytes(other)
        refused += 1
    assert refused == 24


def test_hashes_stay():
    """XXH3 of no bytes and of one, as xxHash publishes them."""
    assert bloomery.hash("") == 0x2d06800538d394c2
    assert bloomery.hash("a") == 0xe6c632b61e964e1f
