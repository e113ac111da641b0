"""Exceptions: one for each result of the C functions, with the text of the report."""
from __future__ import annotations

from ._native import ffi, lib


class Error(Exception):
    """A call failed. The text is what Mica reported, and names the argument and what was expected."""

    result = 0


class OutOfMemoryError(Error, MemoryError):
    """The allocator returned no memory."""


class InvalidError(Error, ValueError):
    """An argument is invalid."""


class DeadError(Error, LookupError):
    """The entity is nil, or was destroyed."""


class UnknownError(Error, LookupError):
    """There is no such component, field or name."""


class ExistsError(Error):
    """The name is taken."""


class LimitError(Error):
    """A documented limit would be exceeded."""


class LayoutError(Error, TypeError):
    """Two descriptions with the same name differ."""


class RefusedError(Error):
    """The world rejects this now, for example because it is inside a system."""


class DataError(Error, ValueError):
    """A file or text is not what it should be."""


class FileError(Error, OSError):
    """A file can't be opened, read or written."""


class ExpiredError(Error):
    """A column, view or world is used after it became invalid. The memory is not accessed."""


class ReportWarning(UserWarning):
    """A report of a call that did not fail, for example about a change to an entity that is destroyed."""


CLASSES: dict[int, type[Error]] = {
    lib.MICA_ERROR_MEMORY: OutOfMemoryError,
    lib.MICA_ERROR_INVALID: InvalidError,
    lib.MICA_ERROR_DEAD: DeadError,
    lib.MICA_ERROR_UNKNOWN: UnknownError,
    lib.MICA_ERROR_EXISTS: ExistsError,
    lib.MICA_ERROR_LIMIT: LimitError,
    lib.MICA_ERROR_LAYOUT: LayoutError,
    lib.MICA_ERROR_REFUSED: RefusedError,
    lib.MICA_ERROR_DATA: DataError,
    lib.MICA_ERROR_FILE: FileError,
}
for _result, _class in CLASSES.items():
    _class.result = _result


def make(result: int, text: str = "") -> Error:
    """The exception for a result of a C function."""
    phrase = ffi.string(lib.mica_result_text(result)).decode()
    return CLASSES.get(result, Error)(text or phrase)
