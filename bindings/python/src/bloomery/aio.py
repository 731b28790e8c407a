"""Long calls for asyncio: they run in a thread, and end when they are cancelled.

>>> import asyncio
>>> from bloomery import Filter, aio
>>> async def main():
...     words = await aio.run(Filter.build, "fuse", ["red", "green"])
...     return "red" in words
>>> asyncio.run(main())
True
"""
from __future__ import annotations

import asyncio
import contextvars
import functools
import threading
from typing import Any, Callable, Generic, Optional, TypeVar

from bloomery._tasks import Progress

__all__ = ["run"]

_T = TypeVar("_T")


class _Call(Generic[_T]):
    """One call in a thread. `stop` ends it: at once if it has not begun."""

    def __init__(self, function: Callable[..., _T],
                 progress: Optional[Progress]) -> None:
        self.function, self.progress = function, progress
        self.begun, self.stop = threading.Event(), threading.Event()

    def watch(self, done: int, total: Optional[int]) -> object:
        return self.stop.is_set() or (self.progress is not None
                                      and self.progress(done, total))

    def __call__(self, *args: Any, **named: Any) -> Optional[_T]:
        self.begun.set()
        if self.stop.is_set():
            return None                 # nobody waits for the result
        return self.function(*args, progress=self.watch, **named)


async def run(function: Callable[..., _T], /, *args: Any,
              progress: Optional[Progress] = None, **named: Any) -> _T:
    """Awaits a call, which runs in a thread of the loop's executor.

    function: any call of this package that takes `progress`. args, named: its
    arguments. progress: as in the call; it is called in the thread.

    If the task is cancelled, as by asyncio.wait_for, so is the call: run()
    waits the few milliseconds until it has ended, and the filter is then as
    after Ctrl-C. Errors are those of the call.
    """
    call = _Call(function, progress)
    context = contextvars.copy_context()
    job: Any = functools.partial(context.run, call, *args, **named)
    work = asyncio.get_running_loop().run_in_executor(None, job)
    try:
        result: _T = await asyncio.shield(work)
        return result
    except asyncio.CancelledError:
        call.stop.set()
        if call.begun.is_set():
            await asyncio.wait([work])
        if not work.cancel():
            work.exception()            # that it was cancelled is no news
        raise
