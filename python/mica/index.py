"""Indexes and grids: find entities by the value of a field, or by position."""
from __future__ import annotations

from typing import Any, Optional, Sequence

import numpy as np

from . import errors
from ._native import ffi, lib
from .query import ENTITY, Query, entity_pointer, from_entity, to_entity

NEIGHBOUR = np.dtype([("entity", "<u8"), ("distance_squared", "<f8"), ("offset", "<f8", (3,))])


class Index:
    """An index of a field, or a grid of two or three fields. Made by World.index and World.grid. It shows the values of its last update;
    a system that has it in `indexes` reads a current one."""

    def __init__(self, world: Any, component: Any, fields: str, hashed: bool = False, unique: bool = False, cell_size: float = 0,
                 minimum: Sequence[float] = (), maximum: Sequence[float] = (), torus: bool = False) -> None:
        self.world = world
        self._texts: tuple[Any, ...] = ()
        self._component = world.component(component)
        text = ffi.new("char[]", fields.encode())
        definition = ffi.new("mica_index_def *", {
            "component": self._component.id, "fields": text, "hashed": hashed, "unique": unique, "cell_size": cell_size,
            "minimum": list(minimum)[:3], "maximum": list(maximum)[:3], "torus": torus})
        self._pointer = lib.mica_index_create(world._enter(), definition)
        if not self._pointer:
            world.fail()
        self._is_entity = any(field.kind == lib.MICA_KIND_ENTITY and ffi.string(field.name).decode() == fields.strip()
                              for field in self._component.fields)
        self.update()

    def _valid(self) -> Any:
        self.world.check_open()
        return self._pointer

    def update(self) -> None:
        """Makes the index current. Not needed in systems that have it in `indexes`."""
        self.world.check(lib.mica_index_update(self._valid()))

    def __len__(self) -> int:
        return int(lib.mica_index_entity_count(self._valid()))

    def _key(self, value: Any) -> Any:
        key = ffi.new("mica_key *")
        if value is None:
            return key[0]
        if isinstance(value, str):
            text = ffi.new("char[]", value.encode())
            self._texts = (*self._texts[-1:], text)  # those of a range stay in memory during the call
            key.kind, getattr(key, "as").text = lib.MICA_KIND_TEXT, text
            return key[0]
        if isinstance(value, (float, np.floating)):
            key.kind, getattr(key, "as").real = lib.MICA_KIND_F64, value
        elif self._is_entity:
            key.kind, getattr(key, "as").entity = lib.MICA_KIND_ENTITY, to_entity(value)
        elif value < 1 << 63:
            key.kind, getattr(key, "as").integer = lib.MICA_KIND_I64, int(value)
        else:
            key.kind, getattr(key, "as").natural = lib.MICA_KIND_U64, int(value)
        return key[0]

    def find(self, value: Any) -> int:
        """The entity with a value, the one with the lowest handle if there are several, or 0."""
        return from_entity(lib.mica_find_by(self._valid(), self._key(value)))

    def count(self, low: Any = None, high: Any = None) -> int:
        """How many entities have values from low to high, both included; None is an open end."""
        return int(lib.mica_index_count(self._valid(), self._key(low), self._key(high)))

    def range(self, low: Any = None, high: Any = None) -> np.ndarray:
        """The entities with values from low to high, both included, in order; None is an open end."""
        match = ffi.new("mica_match *", lib.mica_index_range(self._valid(), self._key(low), self._key(high)))
        found = []
        while lib.mica_match_next(match):
            found.append(from_entity(match.entity))
        return np.array(found, ENTITY)

    @staticmethod
    def _point(point: Sequence[float]) -> Any:
        values = [float(value) for value in point]
        if not 2 <= len(values) <= 3:
            raise errors.InvalidError(f"a point has two or three numbers, not {len(values)}")
        return ffi.new("mica_point *", values)[0]

    def within(self, point: Sequence[float], radius: float) -> np.ndarray:
        """The entities within a radius of a point: an array with entity, distance_squared and offset."""
        return self._collect(lambda out, capacity: lib.mica_grid_within(self._valid(), self._point(point), radius, out, capacity))

    def around(self, entity: int, radius: float) -> np.ndarray:
        """The same around an entity, without the entity itself."""
        return self._collect(lambda out, capacity: lib.mica_grid_around(self._valid(), to_entity(entity), radius, out, capacity))

    def nearest(self, point: Sequence[float], count: int = 1) -> np.ndarray:
        """The entities that are nearest to a point, by rising distance."""
        out = np.empty(count, NEIGHBOUR)
        found = lib.mica_grid_nearest(self._valid(), self._point(point), ffi.cast("mica_neighbour *", out.ctypes.data), count)
        return out[:found]

    @staticmethod
    def _collect(search: Any) -> np.ndarray:
        out = np.empty(64, NEIGHBOUR)
        count = search(ffi.cast("mica_neighbour *", out.ctypes.data), len(out))
        if count > len(out):
            out = np.empty(count, NEIGHBOUR)
            count = search(ffi.cast("mica_neighbour *", out.ctypes.data), count)
        return out[:count]

    def neighbours(self, radius: float, query: Optional[Query] = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The neighbours of every entity, or of those that match a query, in one call: entities, offsets and neighbours. Those of
        entities[i] are neighbours[offsets[i]:offsets[i + 1]]; an array with entity, distance_squared and offset."""
        found = ffi.new("mica_python_neighbours *")
        pointer = query._valid() if query is not None else ffi.NULL
        self.world.check(lib.mica_python_neighbours_find(self._valid(), radius, pointer, found))
        try:
            count, total = found.entity_count, found.neighbour_count
            entities, offsets, neighbours = np.empty(count, ENTITY), np.zeros(count + 1, "<u8"), np.empty(total, NEIGHBOUR)
            if count:
                ffi.memmove(entity_pointer(entities), found.entities, entities.nbytes)
                ffi.memmove(ffi.cast("void *", offsets.ctypes.data), found.offsets, offsets.nbytes)
            if total:
                ffi.memmove(ffi.cast("void *", neighbours.ctypes.data), found.neighbours, neighbours.nbytes)
        finally:
            lib.mica_python_neighbours_free(found)
        return entities, offsets.astype(np.intp), neighbours
