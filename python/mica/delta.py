"""Deltas: what changed in a world as bytes, applied to another world.

    sender = mica.Sender(server)
    version, data = sender.encode(since=0)
    replica = mica.Replica(client)
    replica.apply(data)
"""
from __future__ import annotations

from typing import Any, Union

from . import errors
from ._native import ffi, lib
from .query import from_entity, to_entity


class _Owned:
    """Belongs to a world, which closes it."""

    def __init__(self, world: Any, pointer: Any, destroy: Any) -> None:
        self.world, self._pointer, self._destroy = world, pointer, destroy
        if not pointer:
            world.fail(lib.MICA_ERROR_MEMORY)
        world.own(self)

    def _valid(self) -> Any:
        self.world.check_open()
        if not self._pointer:
            raise errors.ExpiredError(f"the {type(self).__name__.lower()} is closed")
        return self._pointer

    def close(self) -> None:
        """Destroys it. The world stays."""
        if self._pointer and self.world.is_open:
            self._destroy(self._pointer)
            self.world.disown(self)
        self._pointer = ffi.NULL

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


class Sender(_Owned):
    """Encodes what changed in a world, for any number of receivers."""

    def __init__(self, world: Any) -> None:
        super().__init__(world, lib.mica_sender_create(world._enter(), ffi.NULL), lib.mica_sender_destroy)

    def encode(self, since: int = 0) -> tuple[int, bytes]:
        """The version of the world, and what changed since a version that a receiver has; 0: everything."""
        delta = ffi.new("mica_delta *")
        self.world.epoch += 1
        self.world.check(lib.mica_delta_encode(self._valid(), since, delta))
        return int(delta.version), bytes(ffi.buffer(delta.bytes, delta.byte_count))


class Replica(_Owned):
    """A world that follows another one. With `mapped`, its entities have their own handles."""

    def __init__(self, world: Any, mapped: bool = False) -> None:
        definition = ffi.new("mica_replica_def *", {"mapped": mapped})
        super().__init__(world, lib.mica_replica_create(world._enter(), definition), lib.mica_replica_destroy)

    def apply(self, data: Union[bytes, bytearray, memoryview]) -> None:
        """Applies a delta. On error the world is unchanged."""
        self.world.epoch += 1
        self.world.check(lib.mica_delta_apply(self._valid(), ffi.from_buffer(data), len(data)))

    @property
    def version(self) -> int:
        """The version of the sender's world that this one has."""
        return int(lib.mica_replica_version(self._valid()))

    def local(self, entity: int) -> int:
        """The entity of this world for one of the sender, or 0."""
        return from_entity(lib.mica_replica_local(self._valid(), to_entity(entity)))
