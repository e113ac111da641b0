"""Messages, streams and hooks in Python.

    @world.handler(Health, Damage)
    def take(message):
        message.values.current -= message.data.points

    world.send(goblin, Damage(3))
"""
from __future__ import annotations

import inspect
import os
from typing import Any, Callable, Optional, Sequence

import numpy as np

from . import errors, types
from ._native import ffi, lib
from .column import Column, make_array, make_values
from .dynamic import DynamicValues, written
from .flow import Callback
from .loop import Guard
from .query import ENTITY, to_entity
from .world_base import WorldBase

HOOKS = {"add": lib.MICA_EVENT_ADD, "set": lib.MICA_EVENT_SET, "remove": lib.MICA_EVENT_REMOVE, "destroy": lib.MICA_EVENT_DESTROY}


def nowhere() -> Any:
    """A location that says nothing."""
    return (ffi.NULL, 0)


def read_value(component: types.Component, address: Any) -> Any:
    """A copy of a value in C memory."""
    if component.is_dynamic:
        return types.from_json(written(lib.mica_member_of_type(component.struct, ffi.cast("void *", address))), component.cls)
    return component.unpack(np.frombuffer(ffi.buffer(address, component.dtype.itemsize), component.dtype)[0])


class Message:
    """What a handler is given: a message for some entities with the component. Valid while the handler runs."""

    def __init__(self, world: Any, pointer: Any, guard: Guard) -> None:
        self.world = world
        self.component: types.Component = world.component(pointer.component)
        self.entities: Column = make_array(guard, pointer.entities, pointer.count, ENTITY, 1, False)
        self.values: Optional[Column] = make_values(guard, self.component, pointer.values, pointer.count) if pointer.values else None
        kind = world.component(pointer.kind)
        self.data: Any = read_value(kind, pointer.data) if pointer.data else None
        self.dt: float = pointer.frame.dt if pointer.frame else 0.0


@ffi.def_extern()
def mica_python_message(message: Any) -> None:
    """Calls a message handler."""
    callback = ffi.from_handle(message.context)
    if callback.world.raised:
        return
    guard = Guard(callback.world)
    with callback.world._running():
        callback.attempt(lambda: callback.fn(Message(callback.world, message, guard)))
    guard.is_open = False


class Stream:
    """Values from many writers to many readers, in an order that does not depend on threads. Made by World.stream. A system that reads or
    writes it says so: @world.system(reads=[stream])."""

    def __init__(self, world: Any, cls: Any, capacity: int, keep_frames: int, application: bool) -> None:
        self.world = world
        self.component: types.Component = world.component(cls)
        if self.component.is_tag:
            raise errors.InvalidError(f"{self.component.name} has no fields: a stream of it would have no content")
        name = ffi.new("char[]", self.component.name.encode())
        definition = ffi.new("mica_stream_def *", {"name": name, "type": ffi.cast("mica_type *", self.component.struct), "capacity": capacity,
                                                   "keep_frames": keep_frames, "application": application})
        self._pointer = lib.mica_stream_create(world._enter(), definition)
        if not self._pointer:
            world.fail()
        self._name = name

    def valid(self) -> Any:
        """The pointer for a call."""
        self.world.check_open()
        if not self._pointer:
            raise errors.ExpiredError("the stream is closed")
        return self._pointer

    def push(self, value: Any) -> None:
        """Appends a value."""
        component, data, _kept = self.world.value(value)
        if component.id != self.component.id:
            raise errors.InvalidError(f"this is a stream of {self.component.name}, not of {component.name}")
        if not lib.mica_stream_push_id(self.valid(), data.data, data.size_bytes, nowhere()):
            self.world.fail()

    def push_many(self, count: int, values: Any) -> None:
        """Appends many values, from an array or a dict with a column for each field."""
        size = self.component.dtype.itemsize
        if self.component.is_dynamic:
            made = DynamicValues.columns(self.component, values, count)
            for row in range(count):
                if not lib.mica_stream_push_id(self.valid(), made.pointer + row * size, size, nowhere()):
                    self.world.fail()
            return
        packed = self.component.pack(values, count)
        place = lib.mica_stream_push_many_id(self.valid(), count, nowhere()) if count else ffi.NULL
        if count and not place:
            self.world.fail()
        if count:
            ffi.memmove(place, ffi.cast("void *", packed.ctypes.data), count * size)

    def read(self) -> Any:
        """What this reader has not read: an array as of a column, or a list of instances if they have text or lists. They are copies."""
        parts: list[Any] = []
        count = ffi.new("uint32_t *")
        component = self.component
        size = component.dtype.itemsize
        while (place := lib.mica_stream_read_id(self.valid(), count, nowhere())) != ffi.NULL:
            if component.is_dynamic:
                parts += [read_value(component, ffi.cast("char *", place) + row * size) for row in range(count[0])]
            else:
                parts.append(np.frombuffer(ffi.buffer(place, count[0] * size), component.dtype).copy())
        self.world.raise_reports()
        if component.is_dynamic:
            return parts
        values = np.concatenate(parts) if parts else np.empty(0, component.dtype)
        return values.view(component.number).reshape(len(values), component.width) if component.width > 1 else \
            values.view(component.number) if component.width else values

    def __len__(self) -> int:
        return int(lib.mica_stream_count(self.valid()))

    def __bool__(self) -> bool:
        return True

    @property
    def dropped(self) -> int:
        """How many values this reader lost."""
        return int(lib.mica_stream_dropped(self.valid()))

    def close(self) -> None:
        """Destroys the stream, unless a system uses it."""
        if self._pointer and self.world.is_open:
            lib.mica_stream_destroy(self._pointer)
            self.world.raise_reports()
        self._pointer = ffi.NULL

    def __enter__(self) -> "Stream":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


class MessagingMixin(WorldBase):
    """The part of World for messages, streams and hooks."""

    def stream(self, cls: Any, capacity: int = 0, keep_frames: int = 0, application: bool = False) -> Stream:
        """Makes a stream. With `application` the program reads it too, between frames."""
        return Stream(self, cls, capacity, keep_frames, application)

    def handler(self, component: Any, message: Any, reads: Sequence[Any] = (),
                writes: Sequence[Any] = ()) -> Callable[[Callable[[Message], Any]], Callable[[Message], Any]]:
        """Adds a function that gets messages of a class for entities with the component. It changes only `message.values`; other changes
        are recorded. `reads` and `writes` are what it accesses of other entities."""
        def add(fn: Callable[[Message], Any]) -> Callable[[Message], Any]:
            found, kind = self.component(component), self.component(message)
            callback = Callback(self, fn)
            code = getattr(fn, "__code__", None)
            file = ffi.new("char[]", os.fsencode(code.co_filename if code else inspect.getfile(type(fn))))
            uses = self.uses_of(reads, writes)
            array = ffi.new("mica_use[]", uses)
            definition = ffi.new("mica_handler *", {
                "component": ffi.cast("mica_type *", found.struct), "message": ffi.cast("mica_type *", kind.struct),
                "fn": lib.mica_python_message, "context": callback.handle, "uses": array, "use_count": len(uses),
                "location": {"file": file, "line": code.co_firstlineno if code else 0}})
            self.check(lib.mica_handler_add(self._enter(), definition))
            self.keep("handler", callback, file)
            return fn
        return add

    def send(self, entity: int, message: Any) -> bool:
        """Sends a message to the components of an entity that have a handler: at once, or in systems after the phase. Returns False if the
        entity is not alive."""
        _component, data, _kept = self.value(message)
        done = lib.mica_send_id(self._enter(), to_entity(entity), data[0], nowhere())
        self.settle()
        if not done and self.reports and self.reports[-1][0] != lib.MICA_ERROR_DEAD:
            self.fail()
        self.reports.clear()
        return bool(done)

    def broadcast(self, message: Any) -> None:
        """Sends a message to every entity with a component that has a handler."""
        _component, data, _kept = self.value(message)
        done = lib.mica_broadcast_id(self._enter(), data[0], nowhere())
        self.settle()
        if not done:
            self.fail(lib.MICA_ERROR_MEMORY)

    def message_every_frame(self, message: Any, phase: str = "update") -> None:
        """Runs the handlers of a message over all rows in a phase, in every frame. The message has its default values."""
        self.check(lib.mica_message_every_frame_id(self._enter(), self.component(message).id, self.phase(phase)))

    def hook(self, event: str, component: Any = None) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
        """Sets the function that sees every single "add", "set" and "remove" of a component, or "destroy" of any entity. It replaces the
        one before. Changes that it makes are recorded. An observer is told net changes instead."""
        def add(fn: Callable[[Any], Any]) -> Callable[[Any], Any]:
            if event not in HOOKS:
                raise errors.InvalidError(f"{event} is no event of a hook; they are: {', '.join(HOOKS)}")
            number = self.component(component).id if component is not None else 0
            callback = Callback(self, fn)
            self.check(lib.mica_hook_set_id(self._enter(), number, HOOKS[event], lib.mica_python_observer, callback.handle))
            self.keep(("hook", event, number), callback)
            return fn
        return add

    def remove_hook(self, event: str, component: Any = None) -> None:
        """Removes a hook."""
        number = self.component(component).id if component is not None else 0
        self.check(lib.mica_hook_set_id(self._enter(), number, HOOKS[event], ffi.NULL, ffi.NULL))
        self.keep(("hook", event, number))
