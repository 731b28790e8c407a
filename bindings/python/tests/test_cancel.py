"""Long calls are cancelled at many moments, and leave everything as it was.

With held_every = 0 C asks Python as often as it can, so a first run counts how
often, and the runs after it are cancelled at chosen questions: no clock decides.
Signals that come at random moments are tried as well.
"""
import asyncio
import os
import pickle
import random
import signal
import threading
import time

import pytest

import bloomery
from bloomery import Cancelled, Filter, aio
from bloomery._native import lib

EFFORT = int(os.environ.get("BLOOMERY_EFFORT") or "1")
MOMENTS = 20
N = 150_000
KEYS = list(range(N))
MORE = list(range(N // 2, N + N // 2))
ROWS = memoryview(b"".join(i.to_bytes(8, "little") for i in range(3 * N))) \
    .cast("B", shape=[3 * N, 8])


@pytest.fixture(autouse=True)
def always_ask():
    every, lib.held_every = lib.held_every, 0
    yield
    lib.held_every = every


class Stop(Exception):
    """An error that a callback raises."""


class Watch:
    """A progress callback that does something at its call number `at`."""

    def __init__(self, at=-1, deed=lambda: True):
        self.at, self.deed = at, deed
        self.calls, self.done, self.total = 0, 0, None
        self.thread = threading.get_ident()

    def __call__(self, done, total):
        assert threading.get_ident() == self.thread
        assert total is None or done <= total
        assert self.calls == 0 or (done >= self.done and total == self.total)
        self.done, self.total = done, total
        self.calls += 1
        return self.deed() if self.calls - 1 == self.at else None


def interrupt():
    signal.raise_signal(signal.SIGINT)


def stop():
    raise Stop


WAYS = [(lambda: True, Cancelled), (interrupt, KeyboardInterrupt),
        (stop, Stop)]


def moments(calls):
    """Which of so many calls of a callback are tried."""
    if calls <= MOMENTS:
        return range(calls)
    return [i * (calls - 1) // (MOMENTS - 1) for i in range(MOMENTS)]


def filled(kind="standard", keys=KEYS):
    f = Filter(kind, items=2 * N, keys="number")
    f.update(keys)
    return f


PACKED = filled().pack()

# Calls that change nothing, or all of a filter: f is the filter, g another one.
WHOLE = {
    "copy": lambda f, g, p: f.copy(progress=p),
    "overlap": lambda f, g, p: f.overlap(g, progress=p),
    "stat": lambda f, g, p: f.info(progress=p),
    "pack": lambda f, g, p: f.pack(progress=p),
    "from_bytes": lambda f, g, p: Filter.from_bytes(PACKED, progress=p),
    "contains": lambda f, g, p: f.contains_many(KEYS, progress=p),
    "hash_many": lambda f, g, p: bloomery.hash_many(KEYS, progress=p),
    "unite": lambda f, g, p: f.unite(g, progress=p),
    "intersect": lambda f, g, p: f.intersect(g, progress=p),
    "fold": lambda f, g, p: f.fold(2, progress=p),
    "resize": lambda f, g, p: f.resize(4 * N, progress=p),
    "subtract": lambda f, g, p: f.subtract(g, progress=p),
}
KINDS = {"fold": "standard:m=4194304", "resize": "cuckoo",
         "subtract": "invertible"}


@pytest.mark.parametrize("verb", WHOLE)
def test_a_cancelled_call_changes_nothing(verb):
    call, kind = WHOLE[verb], KINDS.get(verb, "standard")
    before, g = filled(kind), filled(kind, MORE)
    watch = Watch()
    call(before.copy(), g, watch)
    assert watch.calls > 0
    f = before.copy()
    for at in moments(watch.calls):
        for deed, error in WAYS:
            try:
                call(f, g, Watch(at, deed))
            except error:
                assert f == before, (verb, at)
            else:                       # nothing was left to be cancelled
                pytest.fail(f"{verb}: not cancelled at {at} of {watch.calls}")
    call(f, g, None)


@pytest.mark.parametrize("kind", ["standard", "blocked", "cuckoo", "fuse",
                                  "ribbon", "gcs", "bloomier"])
@pytest.mark.parametrize("keys", [KEYS, ROWS], ids=["list", "rows"])
def test_build(kind, keys):
    labels = [i % 2 for i in range(len(keys))] if kind == "bloomier" else None
    watch = Watch()
    Filter.build(kind, keys, labels, threads=1, progress=watch)
    assert watch.calls > 0 and watch.total == len(keys)
    for at in moments(watch.calls):
        deed, error = WAYS[at % 3]
        with pytest.raises(error):
            Filter.build(kind, keys, labels, threads=1,
                         progress=Watch(at, deed))


def batches():
    yield "update", "standard", lambda f, keys, p: f.update(keys, progress=p)
    yield "add_many", "cuckoo", lambda f, keys, p: f.add_many(keys, progress=p)
    yield ("iterator", "blocked",
           lambda f, keys, p: f.update(iter(keys), progress=p))


@pytest.mark.parametrize("verb,kind,call", batches(), ids=lambda v: v
                         if isinstance(v, str) else "")
@pytest.mark.parametrize("keys", [KEYS, ROWS], ids=["list", "rows"])
def test_a_cancelled_batch_keeps_the_keys_before(verb, kind, call, keys):
    if verb == "iterator" and keys is ROWS:
        keys = [bytes(row) for row in ROWS.tolist()[:N]]
    watch = Watch()
    call(Filter(kind, items=len(keys)), keys, watch)
    assert watch.calls > 1
    for at in moments(watch.calls):
        deed, error = WAYS[at % 2]
        f = Filter(kind, items=len(keys))
        with pytest.raises(error) as caught:
            call(f, keys, Watch(at, deed))
        done = caught.value.done
        assert 0 < done <= len(keys)
        same = Filter(kind, items=len(keys))
        same.update(keys[:done])
        assert f == same and len(f) == done
        call(f, keys[done:], None)
        assert all(f.contains_many(keys))


def test_a_cancelled_put_and_remove_keep_what_is_done():
    f = Filter("counting", items=N)
    f.update(KEYS)
    with pytest.raises(Cancelled) as caught:
        f.remove_many(KEYS, progress=Watch(3))
    assert 0 < caught.value.done < N
    assert len(f) == N - caught.value.done
    f.remove_many(KEYS[caught.value.done:])
    assert len(f) == 0
    g = Filter.build("bloomier:bits=8", ROWS, [0] * len(ROWS))
    with pytest.raises(Cancelled) as caught:
        g.put_many(ROWS, [7] * len(ROWS), progress=Watch(1))
    done = caught.value.done
    assert 0 < done < len(ROWS)
    labels = g.get_many(ROWS)[1].tolist()
    assert labels == [7] * done + [0] * (len(ROWS) - done)


def test_a_cancelled_save_leaves_the_old_file(tmp_path):
    path = tmp_path / "f.bly"
    old, f = filled(keys=MORE), filled()
    watch = Watch()
    f.save(tmp_path / "other.bly", progress=watch)
    os.unlink(tmp_path / "other.bly")
    old.save(path)
    image = path.read_bytes()
    for at in moments(watch.calls):
        try:
            f.save(path, progress=Watch(at))
        except Cancelled:               # or it was too late to be cancelled
            if path.read_bytes() != image:
                assert Filter.open(path) == f
                old.save(path)
        assert os.listdir(tmp_path) == ["f.bly"]
        old.save(path)
    for at in moments(watch.calls):
        for mapped in False, True:
            watch = Watch()
            Filter.open(path, mmap=mapped, verify=mapped, progress=watch)
            assert watch.calls > 0
            with pytest.raises(Cancelled):
                Filter.open(path, mmap=mapped, verify=mapped,
                            progress=Watch(min(at, watch.calls - 1)))


def test_the_first_union_that_is_cancelled_states_no_form():
    g = filled()
    f = Filter(items=2 * N)
    with pytest.raises(Cancelled):
        f.unite(g, progress=Watch(1))
    assert f.keys == "any" and len(f) == 0
    f.update(["text"])
    assert f.keys == "text"
    f = Filter(items=2 * N)
    f |= g
    assert f.keys == "number" and f == g


def test_a_mapped_filter_is_changed_as_a_whole(tmp_path):
    path = tmp_path / "f.bly"
    filled().save(path)
    with Filter.open(path, mmap=True, write=True) as f:
        watch = Watch(0)
        f.unite(filled(keys=MORE), progress=watch)
        assert watch.calls == 0 and all(f.contains_many(MORE))


def test_a_callback_may_use_other_filters_only():
    f, other = filled(), filled()
    g, h = filled(keys=MORE), filled(keys=MORE)

    def use():
        inner = Watch()
        other.update(KEYS, progress=inner)
        other.unite(h, progress=Watch(-1))
        assert inner.calls > 0 and other.add(3) is False
        for call in (lambda: 3 in f, lambda: f.add(3), lambda: f.copy(),
                     lambda: f.close(), lambda: f.unite(other), f.info,
                     lambda: other.unite(f), lambda: g.overlap(f)):
            with pytest.raises(bloomery.BusyError):
                call()

    watch = Watch(1, use)
    f.unite(g, progress=watch)
    assert watch.calls > 2 and all(f.contains_many(MORE))

    # between two parts of many keys nothing is locked
    f.update(KEYS, progress=Watch(1, lambda: f.add("x") if f.keys == "text"
                                  else f.add(7)))


def test_progress_is_a_function():
    for call in (lambda: filled().copy(progress=3),
                 lambda: filled().update([1], progress="x")):
        with pytest.raises(TypeError):
            call()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_callback_may_fork():
    """The child finds the filter as it was, and may go on with the call."""
    f, g = filled(), filled(keys=MORE)
    before = f.copy()
    ended = []

    def fork():
        pid = os.fork()
        if pid:
            ended.append(os.waitpid(pid, 0)[1])
        return not pid

    try:
        f.unite(g, progress=Watch(2, fork))
    except Cancelled:                   # the child
        os._exit(0 if f == before and f.add(-1) is not None else 1)
    assert ended == [0] and all(f.contains_many(MORE))


# ---- Signals at random moments -----------------------------------------------


def again(call):
    def repeated(f, g):
        while True:
            call(f, g)
    return repeated


SIGNALLED = {
    "update a list": lambda f, g: f.update(KEYS),
    "update an iterator": lambda f, g: f.update(iter(KEYS)),
    "contains": lambda f, g: f.contains_many(KEYS),
    "build": lambda f, g: Filter.build("fuse", KEYS),
    "build with labels": lambda f, g: Filter.build("bloomier", KEYS, KEYS),
    "hash_many": lambda f, g: bloomery.hash_many(KEYS),
    "dedup": lambda f, g: list(bloomery.dedup(KEYS)),
    "diff": lambda f, g: bloomery.diff(KEYS[:50_000], MORE[:50_000],
                                       items=200_000),
    "copy": lambda f, g: f.copy(),
    "pickle": lambda f, g: pickle.loads(pickle.dumps(f)),
    "bytes": lambda f, g: bytes(f),
    "repr": lambda f, g: repr(f),
    "==": lambda f, g: f == g,
    "|": lambda f, g: f | g,
    "&": lambda f, g: f & g,
    "overlap": lambda f, g: f.overlap(g),
}


@pytest.mark.parametrize("verb", SIGNALLED)
def test_signals_at_random_moments(verb):
    rng = random.Random(verb)
    f, g = filled(), filled(keys=MORE)
    before = f.copy()
    begun = threading.Event()

    def send(wait):
        begun.wait()
        time.sleep(wait)
        os.kill(os.getpid(), signal.SIGINT)

    for _ in range(MOMENTS if EFFORT > 1 else 4):
        begun.clear()
        sender = threading.Thread(target=send, args=(rng.random() * 0.02,))
        sender.start()
        try:
            with pytest.raises(KeyboardInterrupt):
                begun.set()
                again(SIGNALLED[verb])(f, g)
        finally:
            sender.join()
        assert all(f.contains_many(KEYS[::1000]))
        if not verb.startswith("update"):
            assert f == before


def test_a_handler_that_raises_nothing_ends_nothing():
    f, g = filled(), filled(keys=MORE)
    seen = []
    old = signal.signal(signal.SIGINT, lambda *_: seen.append(1))
    try:
        f.unite(g, progress=Watch(1, interrupt))
        f.update(KEYS, progress=Watch(1, interrupt))
    finally:
        signal.signal(signal.SIGINT, old)
    assert seen == [1, 1] and all(f.contains_many(MORE))


# ---- Nothing is lost ---------------------------------------------------------


def memory():
    """Bytes of memory that the process has of the system's, in use or not."""
    with open("/proc/self/statm") as told:
        return int(told.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"),
                    reason="the system does not say how much memory is used")
def test_cancelled_calls_lose_no_memory():
    f, g = filled(), filled(keys=MORE)

    def calls():
        for call in (lambda p: Filter.build("fuse", ROWS, progress=p),
                     lambda p: Filter.build("ribbon", ROWS, progress=p),
                     lambda p: f.copy(progress=p), lambda p: f.pack(progress=p),
                     lambda p: f.unite(g, progress=p),
                     lambda p: Filter.from_bytes(PACKED, progress=p)):
            for deed, error in WAYS:
                with pytest.raises(error):
                    call(Watch(0, deed))

    for _ in range(3):
        calls()
    before = memory()
    for _ in range(30):
        calls()
    # each round would lose some megabytes of images and their scratch memory
    assert memory() - before < 30 << 20


# ---- asyncio -----------------------------------------------------------------


def within(function, *args, at=3, progress=None):
    """Runs a call by aio.run in a task, which is cancelled when the callback is
    called for the `at`-th time. Returns how the worker ended."""
    ended = []

    def call(*args, progress):
        try:
            return function(*args, progress=progress)
        except BaseException as error:
            ended.append(error)
            raise

    async def main():
        loop, calls, now = asyncio.get_running_loop(), 0, asyncio.Event()

        def count(done, total):
            nonlocal calls
            calls += 1
            if calls == at:
                loop.call_soon_threadsafe(now.set)
            return progress is not None and progress(done, total)

        task = asyncio.create_task(aio.run(call, *args, progress=count))
        await now.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert ended                    # before the task did
    asyncio.run(main())
    return ended


def test_a_cancelled_task_ends_the_call():
    for function, args in ((Filter.build, ("fuse", ROWS)),
                           (Filter.build, ("ribbon", KEYS * 4)),
                           (filled().update, (KEYS * 20,))):
        (error,) = within(function, *args)
        assert isinstance(error, Cancelled)


def test_wait_for_ends_the_call():
    ended = threading.Event()

    def forever(*, progress):
        f = filled()
        try:
            while True:
                f.update(KEYS, progress=progress)
        finally:
            ended.set()

    async def main():
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(aio.run(forever), 0.05)
        assert ended.is_set()
    asyncio.run(main())


def test_a_call_that_has_not_begun_never_runs():
    ran = []

    async def main():
        from concurrent.futures import ThreadPoolExecutor
        go = threading.Event()
        loop = asyncio.get_running_loop()
        loop.set_default_executor(ThreadPoolExecutor(1))
        first = loop.run_in_executor(None, go.wait)
        task = asyncio.create_task(aio.run(lambda progress: ran.append(1)))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        go.set()
        await first
    asyncio.run(main())
    assert ran == []


def test_run_returns_and_raises_what_the_call_does():
    async def main():
        told = []
        f = await aio.run(Filter.build, "fuse", KEYS, rate=0.001,
                          progress=lambda *now: told.append(now))
        assert 7 in f and told and told[-1][1] == N
        with pytest.raises(bloomery.ParameterError):
            await aio.run(Filter.build, "no such kind", KEYS)
        with pytest.raises(Cancelled):
            await aio.run(f.contains_many, KEYS, progress=lambda *_: True)
    asyncio.run(main())
