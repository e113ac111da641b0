"""Mica, a data-oriented Entity Component System.

    import mica

    @mica.component
    class Position:
        x: mica.f32
        y: mica.f32

    @mica.component
    class Velocity:
        x: mica.f32
        y: mica.f32

    with mica.World() as world:
        world.create(Position(0, 0), Velocity(1, 2))

        @world.system("write Position, Velocity")
        def move(frame):
            for position, velocity in frame:
                position += velocity * frame.dt

        world.step(0.1)

Columns are NumPy arrays over the memory of the world. docs/guide/python.md is the guide.
"""
import os as _os
import sys as _sys

# Native modules that World.load_module loads use the Mica in this file.
_flags = _sys.getdlopenflags()
_sys.setdlopenflags(_os.RTLD_NOW | _os.RTLD_GLOBAL)
try:
    from . import _native
finally:
    _sys.setdlopenflags(_flags)

if _sys.byteorder != "little":
    raise ImportError("mica for Python needs a little-endian machine")

from .column import Column
from .dynamic import DynamicColumn
from .delta import Replica, Sender
from .errors import (DataError, DeadError, Error, ExistsError, ExpiredError, FileError, InvalidError, LayoutError, LimitError,
                     OutOfMemoryError, RefusedError, ReportWarning, UnknownError)
from .flow import Commands, Event, Frame
from .index import Index
from .messaging import Message, Stream
from .past import History, Recording, Snapshot
from .query import Query, View
from .sql import Rows
from .types import (Component, Entity, Field, component, f32, f64, i8, i16, i32, i64, relation, singleton, u8, u16, u32, u64)
from .world import World

__version__ = f"{_native.lib.MICA_PYTHON_MAJOR}.{_native.lib.MICA_PYTHON_MINOR}.0"
__all__ = ["Column", "Commands", "Component", "DataError", "DeadError", "DynamicColumn", "Entity", "Error", "Event", "ExistsError", "ExpiredError", "Field",
           "FileError", "Frame", "History", "Index", "InvalidError", "LayoutError", "LimitError", "Message", "OutOfMemoryError", "Query", "Recording",
           "RefusedError", "Replica", "ReportWarning", "Rows", "Sender", "Snapshot", "Stream", "UnknownError", "View", "World", "component", "f32", "f64",
           "i16", "i32", "i64", "i8", "relation", "singleton", "u16", "u32", "u64", "u8"]
