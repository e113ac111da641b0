"""Arrow: the result of a query for pandas, polars, DuckDB and others, in memory and as a file.

    pyarrow.table(world.query("Position, ?Health"))          or anything else that takes an Arrow stream
    world.query("Position, ?Health").write_arrow("units.arrow")

mica/arrow.h describes the columns.
"""
from __future__ import annotations

import ctypes
import os
from typing import Any, Optional, Union

from ._native import ffi, lib
from .loop import Guard, live_arrow

BATCH_ROWS = 65536
_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
_NAME = b"arrow_array_stream"  # a capsule does not copy it
_DESTRUCTOR = int(ffi.cast("uintptr_t", ffi.addressof(lib, "mica_python_capsule_free")))


def _def(since: Optional[int] = None) -> Any:
    return ffi.new("mica_arrow_def *", {"copy": True, "batch_rows": BATCH_ROWS, "since": since or 0})


def make_stream(query: Any, pointer: Any) -> Any:
    """A capsule with a stream of copies, which stays valid when the world changes or is closed."""
    out = ffi.new("struct ArrowArrayStream **")
    query.world.check(lib.mica_python_arrow(pointer, _def(), out))
    return _new_capsule(int(ffi.cast("uintptr_t", out[0])), _NAME, _DESTRUCTOR)


class LiveArrow:
    """A query for libraries that read Arrow, without copying where the layout allows. Made by Query.arrow."""

    def __init__(self, query: Any, pointer: Any, since: Optional[int]) -> None:
        self._query, self._pointer, self._since = query, pointer, since

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The stream, which keeps the query and the world."""
        del requested_schema  # which a producer may ignore
        world = self._query.world
        world.check_open()
        made = live_arrow(self._query, int(ffi.cast("uintptr_t", self._pointer)), self._since or 0, Guard(world))
        if isinstance(made, int):
            world.check(made)
        return made


def write_query(query: Any, pointer: Any, path: Union[str, os.PathLike], since: Optional[int] = None) -> int:
    """Writes the rows of a query to a file. Returns their number."""
    count = ffi.new("uint64_t *")
    query.world.check(lib.mica_arrow_save(pointer, _def(since), os.fsencode(path), count))
    return int(count[0])
