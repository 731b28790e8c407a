"""Progress callbacks, and how Ctrl-C ends a call.

native.c calls held_ask() every 20 ms of a long call, in the thread of the call.
Running any code in the main thread runs the handlers of signals. If one of these
or the progress callback raises, the call ends, and check() raises the same
exception again.
"""
from __future__ import annotations

import time
from typing import Any, Callable, Optional

from bloomery import _errors
from bloomery._errors import Cancelled
from bloomery._native import ffi, lib

# Called with how many keys or bytes are done and how many there are, which is
# None for keys that come from an iterator. A true result cancels the call.
Progress = Callable[[int, Optional[int]], object]

MORE: int = lib.HELD_MORE
NONE = (ffi.NULL,)


def _raised(_type: Any, error: BaseException, traceback: Any) -> None:
    _errors.here.raised = error.with_traceback(traceback)


def _ask(task: Any, done: int, total: int) -> int:
    if task != ffi.NULL:
        _tell(ffi.from_handle(task), done, total)
    return 0


ffi.def_extern("held_ask", error=1, onerror=_raised)(_ask)


def _tell(progress: Progress, done: int, total: Optional[int]) -> None:
    if progress(done, total):
        raise Cancelled("the progress callback cancelled the call")


def handle(progress: Optional[Progress]) -> Any:
    """Returns the callback for C, which must be kept alive until C returns."""
    if progress is None:
        return ffi.NULL
    if not callable(progress):
        raise TypeError("progress is a function of two numbers, and not "
                        f"{progress!r}")
    return ffi.new_handle(progress)


class Report:
    """The progress callback of a call for many keys."""

    __slots__ = ("progress", "total", "next", "before")

    def __init__(self, progress: Progress, keys: Any) -> None:
        handle(progress)                # or a TypeError
        self.progress = progress
        self.total = len(keys) if hasattr(keys, "__len__") else None
        self.next = time.monotonic_ns() + lib.held_every
        self.before = 0

    def tell(self, done: int = 0) -> None:
        """Calls the callback when it is due."""
        if time.monotonic_ns() >= self.next:
            _tell(self.progress, done, self.total)
            self.next = time.monotonic_ns() + lib.held_every

    def inner(self, done: int, _total: Optional[int]) -> object:
        """Returns the callback for some of the keys, after `before` others."""
        return self.progress(self.before + done, self.total)


def report(progress: Optional[Progress], keys: Any) -> Optional[Report]:
    return None if progress is None else Report(progress, keys)
