"""Relations: edges from entity to entity."""
from __future__ import annotations

from typing import Any

import numpy as np

from . import types
from ._native import ffi, lib
from .query import ENTITY, entity_pointer, from_entity, to_entity
from .world_base import WorldBase


class RelationMixin(WorldBase):
    """The part of World for relations. Where a relation is expected, pass its class, name, or an instance with the fields of the edge."""

    def relate(self, source: int, relation: Any, target: int) -> None:
        """Adds an edge: relate(paris, Distance(1.1e6), rome), relate(alice, Likes, bob)."""
        is_value = not isinstance(relation, (type, str, int, types.Component))
        component = self.component(type(relation) if is_value else relation)
        fields = lib.mica_relate_id(self._enter(), to_entity(source), component.id, to_entity(target))
        if not fields:
            self.fail()
        if is_value and types.items_of(relation):
            record = np.frombuffer(ffi.buffer(fields, component.dtype.itemsize), component.dtype).reshape(())
            types.fill(record, relation, component.name)

    def relate_many(self, relation: Any, sources: np.ndarray, targets: np.ndarray) -> None:
        """Adds an edge for each pair."""
        first, second = np.ascontiguousarray(sources, ENTITY), np.ascontiguousarray(targets, ENTITY)
        if len(first) != len(second):
            raise ValueError(f"there are {len(first)} sources and {len(second)} targets")
        done = lib.mica_relate_many_id(self._enter(), self.component(relation).id, entity_pointer(first), entity_pointer(second), len(first))
        if done < len(first):
            self.fail()

    def unrelate(self, source: int, relation: Any, target: int) -> bool:
        """Removes an edge. Returns False if there is none."""
        return bool(lib.mica_unrelate_id(self._enter(), to_entity(source), self.component(relation).id, to_entity(target)))

    def is_related(self, source: int, relation: Any, target: int) -> bool:
        """Whether there is an edge; of a transitive relation, whether edges lead there."""
        return bool(lib.mica_is_related_id(self._enter(), to_entity(source), self.component(relation).id, to_entity(target)))

    def edge(self, source: int, relation: Any, target: int) -> Any:
        """A copy of the fields of an edge, or None."""
        component = self.component(relation)
        fields = lib.mica_edge_get_id(self._enter(), to_entity(source), component.id, to_entity(target))
        if not fields:
            return None
        return component.unpack(np.frombuffer(ffi.buffer(fields, component.dtype.itemsize), component.dtype)[0])

    def target(self, source: int, relation: Any) -> int:
        """The first target, or 0."""
        return from_entity(lib.mica_target_id(self._enter(), to_entity(source), self.component(relation).id))

    def targets(self, source: int, relation: Any) -> list[int]:
        """The targets of an entity, in the order in which they were related."""
        return self._walk(lib.mica_targets_id(self._enter(), to_entity(source), self.component(relation).id))

    def sources(self, target: int, relation: Any) -> list[int]:
        """The entities that are related to an entity, in the order in which they were related."""
        return self._walk(lib.mica_sources_id(self._enter(), to_entity(target), self.component(relation).id))

    @staticmethod
    def _walk(edges: Any) -> list[int]:
        at = ffi.new("mica_edges *", edges)
        found = []
        while lib.mica_edge_next(at):
            found.append(from_entity(at.entity))
        return found
