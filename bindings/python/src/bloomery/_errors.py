"""Exceptions, with the messages and names of the library."""
from __future__ import annotations

import errno
import os
import threading
from typing import Any, Optional

from bloomery._native import ffi, lib


class Error(Exception):
    """The base of all errors of this package. The text is one line that says
    what is wrong and what to do; `status` is the library's number for it, or 0."""

    status = 0

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class ParameterError(Error, ValueError):
    """An invalid parameter, kind, option or hash function."""


class UnsupportedError(Error, TypeError):
    """This kind of filter does not support the operation."""


class ImageError(Error, ValueError):
    """The bytes are not a filter, are damaged, or have another version."""


class MismatchError(Error, ValueError):
    """The filters differ in kind, plan, hash, seed or form of keys."""


class FormError(Error, TypeError):
    """The key is of another class than the filter's keys: text, bytes or
    number."""


class FullError(Error):
    """The filter is full. It has not changed."""


class AbsentError(Error, KeyError):
    """The key is absent, and nothing has changed."""


class UnsafeError(Error):
    """The key cannot be removed, or come back, without risk to others."""


class ReadOnlyError(Error, TypeError):
    """The filter was opened for reading only."""


class SecretError(Error):
    """The secret is missing, wrong or not needed."""


class LimitError(Error, MemoryError):
    """Reading the filter, or letting it grow, would take more memory than the
    limit allows. Nothing was allocated."""


class FileError(Error, OSError):
    """The system refused to read or write. `errno` is its number for the
    reason, or None. `filename` is the file that the call was given."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _file_error, (str(self), self.status, self.errno or 0,
                             self.filename)


class MissingFileError(FileError, FileNotFoundError):
    """The file or folder does not exist."""


class ForbiddenFileError(FileError, PermissionError):
    """The system denied access."""


def _file_error(why: str, status: int, number: int,
                filename: object) -> FileError:
    of = {errno.ENOENT: MissingFileError, errno.EACCES: ForbiddenFileError,
          errno.EPERM: ForbiddenFileError}
    error = of.get(number, FileError)(why)
    error.status = status
    if number != 0:
        error.errno = number
        error.strerror = os.strerror(number)
    error.filename = filename
    return error


class ClosedError(Error, ValueError):
    """The filter was closed."""


class BusyError(Error):
    """The filter is used by the call of this thread that called the progress
    callback or was interrupted by the signal."""


class Cancelled(Error):
    """The progress callback cancelled the call. Nothing has changed, except that
    a call for many keys keeps the first `done` of them. A KeyboardInterrupt has
    this attribute as well."""

    done = 0


# Tracebacks and pickles name them as programs do.
for _class in list(globals().values()):
    if isinstance(_class, type) and issubclass(_class, Error):
        _class.__module__ = "bloomery"

_CLASSES: dict[int, type[Error]] = {
    -2: ParameterError, -3: ParameterError, -4: ParameterError,
    -5: ParameterError, -7: ImageError, -8: ImageError, -9: ImageError,
    -10: ImageError, -11: FileError, -12: MismatchError, -13: FullError,
    -14: AbsentError, -15: UnsupportedError, -16: ReadOnlyError,
    -17: UnsafeError, -18: UnsafeError, -19: SecretError, -20: FileError,
    -21: FormError, -22: Cancelled, -23: LimitError,
}

# The library says what to give; this is how to do it in Python.
_PYTHON = {"give text": "give text, as str(key)",
           "give a number": "give a number, as int(key) or float(key)",
           "give the bytes that hexadecimal digits stand for":
           "give bytes, as uuid.UUID(key), or bytes.fromhex(key)",
           "give bytes, or text of their hexadecimal digits":
           "give bytes, as key.encode()"}


# `raised`: what ended a call of this thread, until check() raises it.
here = threading.local()


def _again() -> BaseException:
    """Returns what was raised during the call. It is lost if a second signal came just
    then, so the first one was a signal, too."""
    raised: Optional[BaseException] = here.__dict__.pop("raised", None)
    return KeyboardInterrupt() if raised is None else raised


_MALFORMED = {
    lib.HELD_FALLS: "an Arrow array has decreasing offsets",
    lib.HELD_OUTSIDE_V: "an Arrow array has a view of bytes that it does not "
                        "have",
    lib.HELD_NO_WORD: "an Arrow array has an index outside its dictionary",
    lib.HELD_SURROGATE: "the array has text with half a surrogate, which is "
                        "not a character",
}


def _own(status: int) -> BaseException:
    """Errors that native.c reports, not the library."""
    if status == lib.HELD_CLOSED:
        return ClosedError("the filter was closed: open or make it again")
    if status == lib.HELD_RAISED:
        return _again()
    if status == lib.HELD_BUSY:
        return BusyError("the filter is in use by the call that this code "
                         "interrupts: use it after that call, or use a copy")
    if status == lib.HELD_MIXED:
        return FormError("the filter's keys are of one class, and these are of "
                         "several (text, bytes, numbers): convert them, or "
                         "make it with keys='any'")
    if status == lib.HELD_BEYOND:
        return OverflowError("an integer of 2^63 or more is not one of the "
                             "numbers that the filter's keys are: give it as "
                             "text or bytes (an array as array.view('V8')), or "
                             "make the filter with keys='int64'")
    if status == lib.HELD_CUT:
        return FileError("the mapped file was cut short, or cannot be read: "
                         "open it again, and replace files by renaming")
    return ValueError(_MALFORMED[status])


def _why() -> str:
    """Returns the library's message, with the names of Python."""
    return str(ffi.string(lib.bly_why_in(b"python")).decode(errors="replace"))


def check(status: int, file: object = None) -> int:
    """Returns the status, or raises the error that it stands for. file: the
    file that was read or written."""
    if status >= 0:
        return status
    if status <= lib.HELD_CLOSED:
        raise _own(status)
    why = _why()
    if status in (-1, -6):
        raise MemoryError(why)
    of = _CLASSES.get(status, Error)
    if of is FileError:
        raise _file_error(why, status, lib.bly_errno(), file)
    if of is FormError:
        begin, _, give = why.rpartition(": ")
        give = _PYTHON.get(give, give)
        if "UUID" in give and not begin.endswith("is text"):
            give = "give bytes or a uuid.UUID"
        if begin.endswith("is bytes"):
            give = give.replace("str(key)", "key.decode(), or "
                                "str(key) for a UUID")
        why = f"{begin}: {give}"
    error = of(why)
    error.status = status
    raise error
