"""Forks beside threads that use filters: the child finds each filter whole.

    forks.py SCENARIO

Each scenario is a function, which test_fork.py runs in a fresh interpreter. A
child that hangs is ended by its alarm, and the scenario fails.
"""
import ctypes
import functools
import importlib.util
import multiprocessing
import os
import signal
import statistics
import sys
import tempfile
import threading
import time

from bloomery import Filter
from bloomery._native import lib

EFFORT = int(os.environ.get("BLOOMERY_EFFORT") or "1")
FORKS = min(4 * EFFORT, 40)
GUARD = 30              # seconds until a process that hangs is ended


def rows(first, n):
    """n keys of 8 bytes, as one view."""
    data = b"".join(i.to_bytes(8, "little") for i in range(first, first + n))
    return memoryview(data).cast("B", shape=[n, 8])


def ends_well(ask):
    """Forks. Does `ask` say yes in the child?"""
    pid = os.fork()
    if pid == 0:
        signal.alarm(GUARD)
        status = 1
        try:
            status = 0 if ask() else 2
        finally:
            os._exit(status)
    return os.waitpid(pid, 0)[1] == 0


class Beside:
    """Threads that repeat a piece of work each until the block ends."""

    def __init__(self, *works):
        self.ended = threading.Event()
        self.threads = [threading.Thread(target=self.repeat, args=(work,),
                                         daemon=True) for work in works]

    def repeat(self, work):
        while not self.ended.is_set():
            work()

    def __enter__(self):
        for thread in self.threads:
            thread.start()

    def __exit__(self, *_):
        self.ended.set()
        for thread in self.threads:
            thread.join()


# ---- Scenarios ---------------------------------------------------------------


def update():
    """The keys of every update that returned before the fork are there."""
    for kind in "blocked", "cuckoo":
        n, parts, added = 10_000, 60, 0
        keys = [rows(i * n, n) for i in range(parts)]
        f = Filter(kind, items=n * parts)

        def change():
            nonlocal added
            if added < parts:
                f.update(keys[added])
                added += 1

        def ask():
            f.add(b"another")
            return b"another" in f and all(
                all(f.contains_many(part)) for part in keys[:before])

        with Beside(change):
            for _ in range(FORKS):
                before = added
                assert ends_well(ask)


def change_again():
    """Adds equal keys again and again: a change is always under way."""
    keys = rows(0, 400_000)
    f = Filter(items=400_000)
    f.update(keys)
    with Beside(lambda: f.update(keys)):
        for _ in range(FORKS):
            assert ends_well(lambda: all(f.contains_many(keys)))


def look_up():
    """Lookups do not hold up a change in the child."""
    keys = rows(0, 400_000)
    f = Filter(items=400_000)
    with Beside(lambda: f.contains_many(keys), lambda: f.info()):
        for _ in range(FORKS):
            assert ends_well(lambda: f.add("b") and f.clear() is None)


def copy():
    """Seals a filter, which takes a lock of the library."""
    f = Filter(items=4_000_000)
    f.add(b"k")
    folder = tempfile.mkdtemp()

    def seal():
        f.add(os.urandom(8))
        bytes(f)

    def ask():
        f.save(folder + "/b")
        return f.copy() == f and f.like() != f and len(f.pack()) > 0

    with Beside(seal, f.copy, lambda: f.save(folder + "/a")):
        for _ in range(FORKS):
            assert ends_well(ask)


def two_filters():
    a = Filter("standard", items=400_000)
    b = a.like()
    a.add("a")
    b.add("b")
    with Beside(lambda: a.__ior__(b), lambda: b.__ior__(a),
                lambda: a.overlap(b), lambda: a.__iand__(a)):
        for _ in range(FORKS):
            assert ends_well(lambda: "b" in a.__ior__(b) and "b" in b)


def asked():
    """Long calls ask Python as often as they can, which needs the lock of the
    interpreter, and the thread that forks has that."""
    lib.held_every = 0
    keys = rows(0, 200_000)
    g = Filter("standard", items=4_000_000)
    g.update(keys)
    f, *others = [g.copy() for _ in range(4)]
    folder = tempfile.mkdtemp()

    def unite(into):
        into.unite(g, progress=lambda *_: False)

    with Beside(*(functools.partial(unite, into) for into in (f, *others)),
                lambda: f.copy(), lambda: f.update(keys), lambda: bytes(f),
                lambda: Filter.build("fuse", keys),
                lambda: f.save(folder + "/a")):
        for _ in range(3 * FORKS):
            assert ends_well(lambda: all(f.contains_many(keys)) and f.pack() != b""
                             and f.unite(g) is None and f.copy() == f)


def made_and_dropped():
    """Filters come and go, closed or not."""
    image = Filter(items=100_000).pack()
    f = Filter.from_bytes(image)

    def make():
        some = [Filter.from_bytes(image) for _ in range(20)]
        some[0].close()
        some[1].add(1)

    with Beside(make, make):
        for _ in range(FORKS):
            assert ends_well(lambda: make() is None and f.add("k"))


def file():
    """A mapped file that another thread changes, flushes and closes."""
    folder = tempfile.mkdtemp()
    keys = rows(0, 100_000)
    Filter(items=100_000).save(folder + "/f")
    f = Filter.open(folder + "/f", mmap=True, write=True)
    f.update(keys)

    def change():
        f.update(keys)
        f.sync()

    def another():
        path = f"{folder}/{threading.get_ident()}"
        Filter(items=10_000).save(path)
        with Filter.open(path, mmap=True, write=True) as g:
            g.update(keys[:5_000].tobytes().split(b"\0"))

    with Beside(change, another):
        for _ in range(FORKS):
            assert ends_well(lambda: all(f.contains_many(keys)))
    f.close()
    assert all(Filter.open(folder + "/f", mmap=True, verify=True)
               .contains_many(keys))


def slow_save():
    """A save into a pipe does not hold up a fork, which holds the lock that
    the reader of the pipe needs: the interpreter's."""
    f = Filter(items=1_000_000)
    f.add("k")
    path = tempfile.mkdtemp() + "/pipe"
    os.mkfifo(path)
    for _ in range(FORKS):
        saving = threading.Thread(target=f.save, args=(path,))
        saving.start()
        with open(path, "rb") as pipe:
            image = pipe.read(1000)                 # the save is under way
            assert ends_well(lambda: "k" in f and f.add("b"))
            image += pipe.read()
        saving.join()
        assert Filter.from_bytes(image) == f


def locked():
    """A lock of the program that is read as the fork, as that of logging is,
    while its holder changes a filter."""
    lock = threading.Lock()
    keys = rows(0, 200_000)
    f = Filter(items=200_000)
    os.register_at_fork(before=lock.acquire, after_in_parent=lock.release,
                        after_in_child=lock.release)

    def change():
        with lock:
            f.update(keys)

    with Beside(change, lambda: f.update(keys)):
        for _ in range(FORKS):
            assert ends_well(lambda: change() is None)


def fork_in_c():
    """Without the interpreter's lock, threads go on to change filters, and the
    fork gets its turn all the same: few changes end before it."""
    fork = ctypes.CDLL(None).fork
    keys = rows(0, 100_000)
    filters = [Filter(items=100_000) for _ in range(3)]
    changes, waited = 0, []

    def change(f):
        nonlocal changes
        f.update(keys)
        changes += 1

    change(filters[0])
    with Beside(*[lambda f=f: change(f) for f in filters]):
        for _ in range(9):
            before = changes
            pid = fork()
            if pid == 0:
                os._exit(0)
            waited.append(changes - before)
            os.kill(pid, signal.SIGKILL)    # it may wait for the interpreter
            os.waitpid(pid, 0)
    assert statistics.median(waited) <= 3 * len(filters), waited


def grandchild():
    """A child has threads of its own, and forks."""
    keys = rows(0, 100_000)
    f = Filter(items=100_000)

    def fork_again():
        with Beside(lambda: f.update(keys), lambda: f.contains_many(keys)):
            return all(ends_well(lambda: f.add(b"b") in (True, False))
                       for _ in range(4))

    with Beside(lambda: f.update(keys), lambda: f.contains_many(keys)):
        for _ in range(FORKS):
            assert ends_well(fork_again)


def import_numpy():
    """The first batch of a thread loads numpy, which takes its time."""
    f = Filter(items=100)
    f.add("a")

    class Slow:
        """Lets the fork come while numpy is half loaded."""

        def find_spec(self, name, path=None, target=None):
            if name == "numpy.lib":
                begun.set()
                time.sleep(0.2)

    begun = threading.Event()
    sys.meta_path.insert(0, Slow())
    loading = threading.Thread(target=f.contains_many, args=(["a"],))
    loading.start()
    if importlib.util.find_spec("numpy") is not None:
        begun.wait()
    assert ends_well(lambda: list(f.contains_many(["a", "b"])) == [True, False])
    loading.join()


def ask_in_process(f, answers):
    signal.alarm(GUARD)
    answers.put((b"k" in f, b"k" in f.copy(), f.add(b"another")))


def processes():
    """multiprocessing's three ways; a filter is inherited or pickled."""
    keys = rows(0, 400_000)
    f = Filter(items=400_000, rate=1e-6)
    f.add(b"k")
    f.update(keys)                      # numpy is loaded then
    with Beside(lambda: f.update(keys), lambda: f.update(keys)):
        for way in multiprocessing.get_all_start_methods():
            context = multiprocessing.get_context(way)
            answers = context.SimpleQueue()
            some = [context.Process(target=ask_in_process, args=(f, answers))
                    for _ in range(min(EFFORT, 4))]
            for process in some:
                process.start()
            for process in some:
                process.join()
                assert process.exitcode == 0
                assert answers.get() == (True, True, True)


def use_everything(f, words, answers):
    signal.alarm(GUARD)
    built = Filter.build("fuse", words)
    f.update(["another", *words])
    answers.put((all(f.contains_many(words)), "another" in f,
                 all(built.contains_many(iter(words))), 7 in f.copy()))


def start_processes():
    """Threads start processes in each of the three ways at the same time, while
    others change and query the same filter by lists, arrays and single keys."""
    words = [f"number {i}" for i in range(3000)]
    f = Filter(items=200_000, keys="any")
    f.update(words)
    f.add(7)
    keys = rows(0, 100_000)
    problems = []

    def start(way):
        context = multiprocessing.get_context(way)
        answers = context.SimpleQueue()
        for _ in range(min(EFFORT, 4)):
            process = context.Process(target=use_everything,
                                      args=(f, words, answers))
            process.start()
            process.join()
            # Another thread's start() may have taken the status: 255 or None.
            if process.exitcode not in (0, 255, None) or \
                    answers.get() != (True,) * 4:
                problems.append((way, process.exitcode))

    with Beside(lambda: f.update(keys), lambda: f.update(words),
                lambda: f.contains_many(iter(words)),
                lambda: [word in f for word in words],
                lambda: Filter.build("fuse", words)):
        starting = [threading.Thread(target=start, args=(way,)) for way in
                    2 * multiprocessing.get_all_start_methods()]
        for thread in starting:
            thread.start()
        for thread in starting:
            thread.join()
    assert not problems, problems


SCENARIOS = [update, change_again, look_up, copy, two_filters, asked,
             made_and_dropped, file, slow_save, locked, fork_in_c, grandchild,
             import_numpy, processes, start_processes]

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as tempfile.tempdir:
        next(s for s in SCENARIOS if s.__name__ == sys.argv[1])()
