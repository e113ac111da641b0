"""Earlier states: snapshots, history and recordings."""
from __future__ import annotations

import os
from typing import Any, Optional, Union

from . import errors
from ._native import ffi, lib


class Snapshot:
    """A state of a world that can be restored. Made by World.snapshot; dropped at the end of a `with` block."""

    def __init__(self, world: Any) -> None:
        self.world = world
        world.epoch += 1
        self._snapshot = lib.mica_snapshot_take(world._enter())
        if not self._snapshot.id:
            world.fail(lib.MICA_ERROR_REFUSED)

    def restore(self) -> None:
        """Restores the state. The snapshot stays valid."""
        self.world.epoch += 1
        self.world.check(lib.mica_snapshot_restore(self.world._enter(), self._snapshot))

    @property
    def bytes(self) -> int:
        """The size of the old data that was saved since it was taken."""
        return int(lib.mica_snapshot_bytes(self.world._enter(), self._snapshot))

    def drop(self) -> None:
        """Drops the snapshot."""
        if self.world.is_open:
            lib.mica_snapshot_drop(self.world._enter(), self._snapshot)

    def __enter__(self) -> "Snapshot":
        return self

    def __exit__(self, *_: Any) -> None:
        self.drop()


class History:
    """The last ticks of a world. Made by World.history."""

    def __init__(self, world: Any, capacity: int) -> None:
        self.world = world
        self._pointer = lib.mica_history_create(world._enter(), capacity)
        if not self._pointer:
            world.fail(lib.MICA_ERROR_MEMORY)

    def _valid(self) -> Any:
        self.world.check_open()
        if not self._pointer:
            raise errors.ExpiredError("the history is closed")
        return self._pointer

    def take(self, tick: int) -> None:
        """Stores the state under a number, which must be higher than the last one."""
        self.world.epoch += 1
        self.world.check(lib.mica_history_take(self._valid(), tick))

    def restore(self, tick: int) -> None:
        """Restores a tick and drops the later ones."""
        self.world.epoch += 1
        self.world.check(lib.mica_history_restore(self._valid(), tick))

    def __contains__(self, tick: int) -> bool:
        return bool(lib.mica_history_has(self._valid(), tick))

    def __len__(self) -> int:
        return int(lib.mica_history_count(self._valid()))

    @property
    def bytes(self) -> int:
        """The memory that all ticks need together."""
        return int(lib.mica_history_bytes(self._valid()))

    def close(self) -> None:
        """Destroys the history."""
        if self._pointer and self.world.is_open:
            lib.mica_history_destroy(self._pointer)
        self._pointer = ffi.NULL

    def __enter__(self) -> "History":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


class Recording:
    """A recording that was written by World.record. World.replay replays it."""

    def __init__(self, path: Union[str, os.PathLike]) -> None:
        self.pointer = ffi.NULL
        error = ffi.new("mica_recording_error *")
        pointer = lib.mica_recording_load(os.fsencode(path), error)
        if not pointer:
            raise errors.make(error.result, f"{os.fspath(path)}, at byte {error.offset}: {ffi.string(error.text).decode()}")
        self.pointer = ffi.gc(pointer, lib.mica_recording_free)

    def __len__(self) -> int:
        return int(lib.mica_recording_get_info(self.pointer).tick_count)

    def hash(self, tick: int) -> int:
        """The hash of the world after a frame; frames start at 1."""
        if not 1 <= tick <= len(self):
            raise IndexError(f"the recording has frames from 1 to {len(self)}")
        return int(lib.mica_recording_tick(self.pointer, tick).hash)

    def difference(self, other: "Recording") -> Optional[str]:
        """Describes the first difference of two recordings, or None."""
        out = ffi.new("mica_difference *")
        return ffi.string(out.text).decode() if lib.mica_recording_diff(self.pointer, other.pointer, out) else None
