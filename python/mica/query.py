"""Queries and views: the entities of a world as columns.

    for position, velocity in world.query("write Position, Velocity, !Frozen"):
        position += velocity * dt
"""
from __future__ import annotations

from sys import getrefcount
from typing import Any, Iterator, Optional

import numpy as np

from . import errors
from ._native import ffi, lib
from .column import REFERENCES_WHEN_UNUSED, Column, make_array
from .loop import Columns, Guard, ViewBase, Views, connect

COLUMNS = {lib.MICA_ACCESS_READ: False, lib.MICA_ACCESS_WRITE: True, lib.MICA_ACCESS_MAYBE_READ: False, lib.MICA_ACCESS_MAYBE_WRITE: True,
           lib.MICA_ACCESS_EITHER: False, lib.MICA_ACCESS_OR: False}
THIS = (lib.MICA_NODE_DEFAULT, lib.MICA_NODE_THIS)
ENTITY = np.dtype("<u8")
ARRAYS_KEPT_MAX = 256


class SplitColumns:
    """The columns of a split component: one array per number, body.position.x. Longer arrays and text are one column."""

    def __init__(self, view: "View", component: Any, writable: bool, kept: dict[int, Column], struct: Any = None, base: int = 0) -> None:
        object.__setattr__(self, "_source", (view, component, writable, kept, struct or component.struct, base))

    def __getattr__(self, name: str) -> Any:
        """Called once for each name: what is found becomes an attribute."""
        view, component, writable, kept, struct, base = self._source
        field = component.field_of(struct, name)
        if field is None:
            raise AttributeError(f"{component.name} has no field {name!r}")
        offset = base + field.offset
        if field.kind == lib.MICA_KIND_STRUCT and field.count == 1:
            found: Any = SplitColumns(view, component, writable, kept, field.type, offset)
        elif field.count > 1 and field.count <= 4 and field.kind != lib.MICA_KIND_CHAR:
            dtype = component.dtype_at(field)
            found = tuple(view.field_array(component, offset + i * field.element_bytes, dtype.base, writable, kept) for i in range(field.count))
        else:
            found = view.field_array(component, offset, component.dtype_at(field), writable, kept)
        self.__dict__[name] = found
        return found

    def __setattr__(self, name: str, value: Any) -> None:
        column = getattr(self, name)
        if value is not column:  # after `body.mass += 1` the value is the column itself
            column[...] = value


class ColumnTerm:
    """A term with a column, and all that is needed to make an array of it."""

    __slots__ = ("index", "number", "component", "writable", "is_split", "is_single", "dtype", "width", "fields")

    def __init__(self, index: int, number: int, component: Any, term: Any) -> None:
        writable = COLUMNS[term.access]
        self.index, self.number, self.component, self.writable = index, number, component, writable
        self.is_split = bool(component.struct.split)
        # One value for all rows: of the world, of another entity, or of an edge.
        self.is_single = (component.struct.storage == lib.MICA_STORAGE_SINGLETON or term.subject.kind not in THIS
                          or bool(term.up or term.down or term.cascade or component.struct.relation))
        self.width = component.width
        self.dtype = component.number if component.width else component.dtype
        self.fields: dict[int, Column] = {}  # of a split component, by address: they serve again


class View(ViewBase):
    """A range of rows of a query. Iterating over it gives the columns in the order of the terms; `count` is the number of rows."""

    __slots__ = ()

    def detach(self) -> None:
        """The loop advances while the program still refers to this view: it gets a copy of what the loop overwrites."""
        copy = ffi.new("mica_view *", self._pointer[0])
        self._move(copy, address_of(copy))

    def __len__(self) -> int:
        return self.count

    @property
    def entities(self) -> Column:
        """The handles of the rows, read-only."""
        self._guard.check()
        return make_array(self._guard, self._pointer.entities, self.count, ENTITY, 1, False)

    def __getitem__(self, name: Any) -> Any:
        """The column of a component that the query reads or writes; None if it is optional and absent. A column that is written counts as
        changed from here on."""
        name = name if isinstance(name, str) else name.__name__
        term = self._query.columns.get(name)
        if term is None:
            raise errors.UnknownError(f"the query has no column {name!r}; it has {', '.join(self._query.columns) or 'none'}")
        return self._column(term.number)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self[name]

    def __setattr__(self, name: str, value: Any) -> None:
        """Writes a whole column: view.Position = 0. Nothing is left to do after `view.Position += 1`."""
        column = self[name]
        if column is not value and not (isinstance(value, Column) and value.__array_interface__ == column.__array_interface__):
            column[...] = value

    def has(self, name: Any) -> bool:
        """Whether the entities of the view have a component that the query has a term for."""
        self._guard.check()
        return bool(lib.mica_view_has_id(self._pointer, self._query.world.component(name).id))

    def field_array(self, component: Any, offset: int, dtype: np.dtype, writable: bool, kept: dict[int, Column]) -> Column:
        """The column of one field of a split component. One of an earlier loop serves again if nothing else refers to it."""
        self._guard.check()
        read = lib.mica_view_write_field_id if writable else lib.mica_view_read_field_id
        address = read(self._pointer, component.id, offset)
        if not address:
            self._query.world.fail(lib.MICA_ERROR_UNKNOWN)
        place = int(ffi.cast("uintptr_t", address))
        array = kept.get(place)
        if array is not None and getrefcount(array) == REFERENCES_WHEN_UNUSED and array.shape[0] == self.count and array.dtype is dtype:
            array.__dict__["_guard"] = self._guard
            return array
        if len(kept) >= ARRAYS_KEPT_MAX:
            kept.clear()
        array = kept[place] = make_array(self._guard, address, self.count, dtype, 1, writable)
        return array


def _make_array(view: View, term: ColumnTerm, address: int) -> Column:
    count = 1 if term.is_single else view.count
    return make_array(view._guard, ffi.cast("char *", address), count, term.dtype, term.width, term.writable, term.component)


def _split_column(view: View, term: ColumnTerm) -> Optional[SplitColumns]:
    if lib.mica_view_has_id(view._pointer, term.component.id):
        return SplitColumns(view, term.component, term.writable, term.fields)
    return None


connect(View, _make_array, _split_column, errors.ExpiredError)


def address_of(pointer: Any) -> int:
    """A pointer of cffi as a number."""
    return int(ffi.cast("uintptr_t", pointer))


class Query:
    """A query, as text: see mica/query_text.h. Made by World.query; it can be iterated any number of times."""

    def __init__(self, world: Any, text: str) -> None:
        self.world = world
        self._pointer = ffi.NULL
        error = ffi.new("mica_value_error *")
        self._pointer = lib.mica_query_text(world.pointer, text.encode(), error)
        if not self._pointer and world.reports:
            world.fail()
        if not self._pointer:
            raise errors.make(error.result or lib.MICA_ERROR_INVALID,
                              f"query {text!r}, at {error.position}: {ffi.string(error.text).decode()}")
        self.columns = columns_of(world, self._pointer)
        self.kept = Columns(tuple(self.columns.values()))

    def __del__(self) -> None:
        if self._pointer and self.world.is_open:
            self.world.garbage.append((lib.mica_query_destroy, self._pointer))

    def _valid(self) -> Any:
        self.world.check_open()
        return self._pointer

    def __iter__(self) -> Iterator[View]:
        return self.views()

    def views(self, since: Optional[int] = None) -> Iterator[View]:
        """The views. `changed` and `added` mean since the previous iteration began, or since a mark."""
        pointer = self._valid()
        view = ffi.new("mica_view *", lib.mica_query_begin(pointer) if since is None else lib.mica_query_begin_since(pointer, since))
        return Views(self, view, address_of(view), self.kept, Guard(self.world), self.world.raise_reports)

    def __len__(self) -> int:
        return int(lib.mica_query_count(self._valid()))

    def first(self) -> int:
        """The first matching entity, or 0."""
        return from_entity(lib.mica_query_first(self._valid()))

    def matches(self, entity: int) -> bool:
        """Whether an entity matches."""
        return bool(lib.mica_query_matches(self._valid(), to_entity(entity)))

    def entities(self) -> np.ndarray:
        """A copy of the handles of all matching entities."""
        parts = [view.entities.copy() for view in self]
        return np.concatenate(parts) if parts else np.empty(0, ENTITY)

    def column(self, name: Any, field: Optional[str] = None) -> np.ndarray:
        """A copy of the column of a component, or of one of its fields, over all views. Rows that do not have it are left out."""
        parts = []
        for view in self:
            column = view[name]
            if column is not None:
                parts.append(np.array(getattr(column, field) if field else column, subok=False))
        if parts:
            return np.concatenate(parts)
        component = self.world.component(name)
        if field:
            return np.empty(0, component.dtype)[field]
        return np.empty((0, component.width) if component.width > 1 else 0, component.number if component.width else component.dtype)

    def write_arrow(self, path: Any, since: Optional[int] = None) -> int:
        """Writes the entities and columns to an Arrow IPC file, with a column per field. `changed` and `added` mean since the previous
        iteration began, or since a mark. Returns the number of rows."""
        from .arrow import write_query  # pylint: disable=import-outside-toplevel
        return write_query(self, self._valid(), path, since)

    def arrow(self, since: Optional[int] = None) -> Any:
        """The entities and columns for libraries that read Arrow, over the memory of the world where the layout allows: numbers of components
        with one field, arrays, fields of split components, and handles. What was read shows later writes, and must not be used after the world
        changed or was closed: Arrow does not check it. The query itself is a stream of copies, which is safe."""
        from .arrow import LiveArrow  # pylint: disable=import-outside-toplevel
        return LiveArrow(self, self._valid(), since)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The entities and columns for libraries that read Arrow: pyarrow.table(query), polars.DataFrame(query). They are a copy."""
        del requested_schema  # which a producer may ignore
        from .arrow import make_stream  # pylint: disable=import-outside-toplevel
        return make_stream(self, self._valid())

    def add(self, value: Any) -> None:
        """Adds a component to every matching entity: an instance, or a class for the default value."""
        _component, data, _kept = self.world.value(value)
        self.world.check(lib.mica_add_all_id(self._valid(), data[0]))

    def remove(self, component: Any) -> None:
        """Removes a component from every matching entity."""
        self.world.check(lib.mica_remove_all_id(self._valid(), self.world.component(component).id))

    def destroy(self) -> None:
        """Destroys every matching entity."""
        self.world.check(lib.mica_destroy_all(self._valid()))

    def shuffled(self, seed: int) -> np.ndarray:
        """The matching entities in random order, the same for the same seed."""
        random = ffi.new("mica_random *", lib.mica_random_make(seed, 0))
        out = np.empty(len(self), ENTITY)
        lib.mica_query_shuffled(self._valid(), random, entity_pointer(out), len(out))
        return out

    def __repr__(self) -> str:
        size = lib.mica_query_write_text(self._valid(), ffi.NULL, 0)
        text = ffi.new("char[]", size + 1)
        lib.mica_query_write_text(self._pointer, text, size + 1)
        return f"<query {ffi.string(text).decode()}>"

    def explain(self) -> str:
        """What an iteration visits, one line each."""
        size = lib.mica_query_explain(self._valid(), ffi.NULL, 0)
        text = ffi.new("char[]", size + 1)
        lib.mica_query_explain(self._pointer, text, size + 1)
        return ffi.string(text).decode()


class FrameQuery(Query):
    """The query of a system, while it runs. Belongs to the scheduler."""

    def __init__(self, world: Any, pointer: Any, columns: dict[str, Any], kept: Columns, guard: Guard) -> None:  # pylint: disable=super-init-not-called
        self.world = world
        self._pointer = pointer
        self.columns = columns
        self.kept = kept
        self._guard = guard

    def __del__(self) -> None:
        pass

    def _valid(self) -> Any:
        self._guard.check()
        return self._pointer

    def views(self, since: Optional[int] = None) -> Iterator[View]:
        pointer = self._valid()
        view = ffi.new("mica_view *", lib.mica_query_begin(pointer) if since is None else lib.mica_query_begin_since(pointer, since))
        return Views(self, view, address_of(view), self.kept, self._guard, None)


def columns_of(world: Any, pointer: Any) -> dict[str, ColumnTerm]:
    """The terms that have a column, by the name of their component."""
    terms = ffi.new("mica_term[]", lib.MICA_TERMS_MAX)
    count = lib.mica_query_terms(pointer, terms, lib.MICA_TERMS_MAX)
    columns: dict[str, ColumnTerm] = {}
    for i in range(count):
        component = world.component(terms[i].component)
        if terms[i].access in COLUMNS and not component.is_tag:
            columns[component.name] = ColumnTerm(i, len(columns), component, terms[i])
    return columns


def to_entity(value: int) -> Any:
    """A handle for C from the integer that Python and SQL use."""
    value = int(value)
    return ffi.new("mica_entity *", (value & 0xFFFFFFFF, value >> 32))[0]


def from_entity(entity: Any) -> int:
    """The integer that Python and SQL use for a handle of C."""
    return entity.generation << 32 | entity.index


def entity_pointer(array: np.ndarray) -> Any:
    """The handles of an array for C, which must be contiguous and stay alive."""
    return ffi.cast("mica_entity *", array.ctypes.data)
