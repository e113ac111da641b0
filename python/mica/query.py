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
from .column import Column, Guard, make_array

COLUMNS = {lib.MICA_ACCESS_READ: False, lib.MICA_ACCESS_WRITE: True, lib.MICA_ACCESS_MAYBE_READ: False, lib.MICA_ACCESS_MAYBE_WRITE: True,
           lib.MICA_ACCESS_EITHER: False, lib.MICA_ACCESS_OR: False}
THIS = (lib.MICA_NODE_DEFAULT, lib.MICA_NODE_THIS)
ENTITY = np.dtype("<u8")
REFERENCES_WHEN_UNUSED = 3  # of the cache, of the local variable and of the call that counts them
ARRAYS_KEPT_MAX = 256
REFERENCES_OF_A_PASSED_VIEW = 2  # of the loop and of the call that counts them


class SplitColumns:
    """The columns of a split component: one array per number, body.position.x. Longer arrays and text are one column."""

    def __init__(self, view: "View", component: Any, writable: bool, struct: Any = None, base: int = 0) -> None:
        object.__setattr__(self, "_source", (view, component, writable, struct or component.struct, base))

    def __getattr__(self, name: str) -> Any:
        view, component, writable, struct, base = self._source
        field = next((item for item in ffi.unpack(struct.fields, struct.field_count) if ffi.string(item.name).decode() == name), None)
        if field is None:
            raise AttributeError(f"{component.name} has no field {name!r}")
        offset = base + field.offset
        if field.kind == lib.MICA_KIND_STRUCT and field.count == 1:
            return SplitColumns(view, component, writable, field.type, offset)
        dtype = component.dtype_at(field)
        if field.count > 1 and field.count <= 4 and field.kind != lib.MICA_KIND_CHAR:
            return tuple(view.field_array(component, offset + i * field.element_bytes, dtype.base, writable) for i in range(field.count))
        return view.field_array(component, offset, dtype, writable)

    def __setattr__(self, name: str, value: Any) -> None:
        column = getattr(self, name)
        if not (isinstance(value, Column) and value.__array_interface__ == column.__array_interface__):
            column[...] = value


class ColumnTerm:
    """A term with a column, and all that is needed to make an array of it."""

    __slots__ = ("index", "component", "writable", "access", "is_split", "is_single", "dtype", "width", "is_array_writable", "unused")

    def __init__(self, index: int, component: Any, term: Any) -> None:
        writable = COLUMNS[term.access]
        self.index, self.component, self.writable = index, component, writable
        self.access = lib.mica_view_write_at if writable else lib.mica_view_read_at
        self.is_split = bool(component.struct.split)
        # One value for all rows: of the world, of another entity, or of an edge.
        self.is_single = (component.struct.storage == lib.MICA_STORAGE_SINGLETON or term.subject.kind not in THIS
                          or bool(term.up or term.down or term.cascade or component.struct.relation))
        self.width = component.width
        self.dtype = component.number if component.width else component.dtype
        # Text and lists are more than their bytes.
        self.is_array_writable = writable and not component.is_dynamic
        self.unused: dict[Any, Column] = {}


class View:
    """A range of rows of a query. Iterating over it gives the columns in the order of the terms."""

    def __init__(self, query: "Query", pointer: Any, guard: Guard) -> None:
        self._query = query
        self._pointer = pointer
        self._guard = guard
        self.count: int = pointer.count

    def detach(self) -> None:
        """The loop advances while the program still refers to this view: it gets a copy of what the loop overwrites."""
        self._pointer = ffi.new("mica_view *", self._pointer[0])

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
        self._guard.check()
        return self._column(term)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self[name]

    def __iter__(self) -> Iterator[Any]:
        guard, pointer, count, columns = self._guard, self._pointer, self.count, []
        guard.check()
        for term in self._query.terms:
            # As _column, without calls for an array that serves again: this is the loop that programs spend their time in.
            if not term.is_split:
                address = term.access(pointer, term.index)
                unused = term.unused.get(address)
                if unused is not None and getrefcount(unused) == REFERENCES_WHEN_UNUSED and unused.shape[0] == count:
                    unused.__dict__["_guard"] = guard
                    columns.append(unused)
                    continue
            columns.append(self._column(term))
        return iter(columns)

    def has(self, name: Any) -> bool:
        """Whether the entities of the view have a component that the query has a term for."""
        self._guard.check()
        return bool(lib.mica_view_has_id(self._pointer, self._query.world.component(name).id))

    def _column(self, term: "ColumnTerm") -> Any:
        if term.is_split:
            return SplitColumns(self, term.component, term.writable) if lib.mica_view_has_id(self._pointer, term.component.id) else None
        address = term.access(self._pointer, term.index)
        if not address:
            return None
        count = 1 if term.is_single else self.count
        # An array of an earlier iteration without references serves again: making one costs more than adding a few numbers.
        unused = term.unused.get(address)
        if unused is not None and len(unused) == count and getrefcount(unused) == REFERENCES_WHEN_UNUSED:
            unused.__dict__["_guard"] = self._guard
            return unused
        made = make_array(self._guard, address, count, term.dtype, term.width, term.is_array_writable, term.component)
        if len(term.unused) >= ARRAYS_KEPT_MAX:
            term.unused.clear()
        term.unused[address] = made
        return made

    def field_array(self, component: Any, offset: int, dtype: np.dtype, writable: bool) -> Column:
        """The column of one field of a split component."""
        self._guard.check()
        read = lib.mica_view_write_field_id if writable else lib.mica_view_read_field_id
        address = read(self._pointer, component.id, offset)
        if not address:
            self._query.world.fail(lib.MICA_ERROR_UNKNOWN)
        return make_array(self._guard, address, self.count, dtype, 1, writable)


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
        self.terms = tuple(self.columns.values())

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
        yield from self._walk(view, Guard(self.world))
        self.world.raise_reports()

    def _walk(self, pointer: Any, guard: Guard) -> Iterator[View]:
        advance, world = lib.mica_view_next, self.world
        while advance(pointer):
            view = View(self, pointer, guard)
            yield view
            if getrefcount(view) > REFERENCES_OF_A_PASSED_VIEW:
                view.detach()
            if not world.is_open:
                world.check_open()

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

    def __init__(self, world: Any, pointer: Any, columns: dict[str, Any], guard: Guard) -> None:  # pylint: disable=super-init-not-called
        self.world = world
        self._pointer = pointer
        self.columns = columns
        self.terms = tuple(columns.values())
        self._guard = guard

    def __del__(self) -> None:
        pass

    def _valid(self) -> Any:
        self._guard.check()
        return self._pointer

    def views(self, since: Optional[int] = None) -> Iterator[View]:
        pointer = self._valid()
        view = ffi.new("mica_view *", lib.mica_query_begin(pointer) if since is None else lib.mica_query_begin_since(pointer, since))
        yield from self._walk(view, self._guard)


def columns_of(world: Any, pointer: Any) -> dict[str, ColumnTerm]:
    """The terms that have a column, by the name of their component."""
    terms = ffi.new("mica_term[]", lib.MICA_TERMS_MAX)
    count = lib.mica_query_terms(pointer, terms, lib.MICA_TERMS_MAX)
    columns = {}
    for i in range(count):
        component = world.component(terms[i].component)
        if terms[i].access in COLUMNS and not component.is_tag:
            columns[component.name] = ColumnTerm(i, component, terms[i])
    return columns


def to_entity(value: int) -> Any:
    """A handle for C from the integer that Python and SQL use."""
    value = int(value)
    return ffi.new("mica_entity *", (value & 0xFFFFFFFF, value >> 32))[0]


def from_entity(entity: Any) -> int:
    return entity.generation << 32 | entity.index


def entity_pointer(array: np.ndarray) -> Any:
    """The handles of an array for C, which must be contiguous and stay alive."""
    return ffi.cast("mica_entity *", array.ctypes.data)
