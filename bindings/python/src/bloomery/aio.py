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
from typing import Any, Callable, Optional

__all__ = ["run"]


class _Call:
    """One call in a thread. `stop` ends it: at once if it has not begun."""

    def __init__(self, function: Callable[..., Any],
                 progress: Optional[Callable[..., Any]]) -> None:
        self.function, self.progress = function, progress
        self.begun, self.stop = threading.Event(), threading.Event()

    def watch(self, done: int, total: Optional[int]) -> Any:
        return self.stop.is_set() or (self.progress is not None
                                      and self.progress(done, total))

    def __call__(self, *args: Any, **named: Any) -> Any:
        self.begun.set()
        if not self.stop.is_set():
            return self.function(*args, progress=self.watch, **named)


async def run(function: Callable[..., Any], /, *args: Any,
              progress: Optional[Callable[..., Any]] = None,
              **named: Any) -> Any:
    """Awaits function(*args, **named) in a thread of the loop's executor. It is
    any call of this package that takes `progress`. If the task is cancelled, as
    by asyncio.wait_for, the call is cancelled, too: run() waits the few
    milliseconds until it has ended, and the filter is then as after Ctrl-C.
    progress is called in the thread."""
    call = _Call(function, progress)
    context = contextvars.copy_context()
    work = asyncio.get_running_loop().run_in_executor(
        None, functools.partial(context.run, call, *args, **named))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        call.stop.set()
        if call.begun.is_set():
            await asyncio.wait([work])
        if not work.cancel():
            work.exception()            # that it was cancelled is no news
        raise
