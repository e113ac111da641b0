"""Frames: systems in Python beside native ones, observers, and command buffers.

    @world.system("write Position, Velocity")
    def move(frame):
        for position, velocity in frame:
            position += velocity * frame.dt
"""
from __future__ import annotations

import contextlib
import inspect
import os
from typing import Any, Callable, Iterator, Optional, Sequence, Union

import numpy as np

from . import errors
from ._native import ffi, lib
from .column import Column, make_array, make_values
from .loop import Columns, Guard
from .query import ENTITY, FrameQuery, View, columns_of, from_entity, to_entity
from .world_base import WorldBase

EVENTS = {"add": lib.MICA_EVENT_ADD, "set": lib.MICA_EVENT_SET, "remove": lib.MICA_EVENT_REMOVE, "destroy": lib.MICA_EVENT_DESTROY,
          "enable": lib.MICA_EVENT_ENABLE, "disable": lib.MICA_EVENT_DISABLE, "match": lib.MICA_EVENT_MATCH, "unmatch": lib.MICA_EVENT_UNMATCH}
EVENT_NAMES = {number: name for name, number in EVENTS.items()}


class Commands:
    """Records changes, which the next flush applies. World.commands makes one that lasts; a frame has its own."""

    def __init__(self, world: Any, pointer: Any, guard: Optional[Guard] = None) -> None:
        self._world, self._pointer, self._guard = world, pointer, guard

    def _valid(self) -> Any:
        self._world.check_open()
        if self._guard:
            self._guard.check()
        if not self._pointer:
            raise errors.ExpiredError("the command buffer is closed")
        return self._pointer

    @staticmethod
    def _here() -> Any:
        return (ffi.NULL, 0)

    def create(self, *values: Any) -> int:
        """Records a creation. The handle is valid immediately."""
        array, _kept = self._world.values(values)
        entity = from_entity(lib.mica_command_create_id(self._valid(), array, len(values), self._here()))
        if not entity:
            self._world.fail()
        return entity

    def destroy(self, entity: int) -> bool:
        """Records a destruction. Returns False if the entity is not alive."""
        done = lib.mica_command_destroy_id(self._valid(), to_entity(entity), self._here())
        self._world.reports.clear()
        return bool(done)

    def set(self, entity: int, *values: Any) -> None:
        """Records components to add or overwrite."""
        for value in values:
            component, data, _kept = self._world.value(value)
            if not (lib.mica_command_set_id(self._valid(), to_entity(entity), data[0], self._here()) if data.data else
                    lib.mica_command_add_id(self._valid(), to_entity(entity), component.id, self._here())):
                self._world.fail(lib.MICA_ERROR_DEAD)

    def remove(self, entity: int, *components: Any) -> None:
        """Records removals."""
        for component in components:
            lib.mica_command_remove_id(self._valid(), to_entity(entity), self._world.component(component).id, self._here())

    def relate(self, source: int, relation: Any, target: int) -> None:
        """Records an edge."""
        if not lib.mica_command_relate_id(self._valid(), to_entity(source), self._world.component(relation).id, to_entity(target),
                                          self._here()):
            self._world.fail()

    def unrelate(self, source: int, relation: Any, target: int) -> None:
        """Records the removal of an edge."""
        if not lib.mica_command_unrelate_id(self._valid(), to_entity(source), self._world.component(relation).id, to_entity(target),
                                            self._here()):
            self._world.fail()

    def close(self) -> None:
        """Discards what is recorded, and the buffer."""
        if self._pointer and not self._guard and self._world.is_open:
            lib.mica_commands_destroy(self._pointer)
            self._world.disown(self)
        self._pointer = ffi.NULL

    def __enter__(self) -> "Commands":
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is None and self._pointer:
            self._world.flush()
        self.close()


class Frame:
    """What a system gets: time, its query and its commands. Valid while the system runs. Iterating over it gives the views."""

    def __init__(self, callback: "Callback", pointer: Any) -> None:
        self.world = world = callback.world
        self._pointer = pointer
        self._guard = Guard(world)
        self._query = FrameQuery(world, pointer.query, callback.columns, callback.kept, self._guard) if pointer.query else None
        self.dt: float = pointer.dt
        self.alpha: float = pointer.alpha
        self.seconds: float = pointer.seconds
        self.tick: int = pointer.tick
        self.commands = Commands(world, lib.mica_frame_commands(pointer), self._guard)

    @property
    def query(self) -> FrameQuery:
        """The query of the terms of the system."""
        if self._query is None:
            raise errors.InvalidError("this system has no terms")
        return self._query

    def __iter__(self) -> Iterator[View]:
        return iter(self.query)

    def random(self) -> np.random.Generator:
        """Random numbers for this run of this system: the same for the same seed, system and tick."""
        self._guard.check()
        generator = lib.mica_random_of_frame(self._pointer)
        return np.random.Generator(np.random.Philox(key=[generator.state, generator.stream]))

    def close(self) -> None:
        """Ends the frame: its columns expire."""
        self._guard.is_open = False


class Event:
    """What an observer is told. Valid while it runs."""

    def __init__(self, world: Any, pointer: Any, guard: Guard) -> None:
        self.world = world
        self.kind: str = EVENT_NAMES.get(pointer.kind, str(pointer.kind))
        self.component = world.component(pointer.component) if pointer.component else None
        self.target = from_entity(pointer.target)
        self.entities: Column = make_array(guard, pointer.entities, pointer.count, ENTITY, 1, False)
        self.values: Optional[Column] = None
        if pointer.values and self.component and not self.component.struct.relation:
            self.values = make_values(guard, self.component, pointer.values, pointer.count)


class Callback:
    """A function of Python that Mica calls."""

    def __init__(self, world: Any, fn: Callable[..., Any], columns: Optional[dict[str, Any]] = None) -> None:
        self.world, self.fn, self.columns = world, fn, columns or {}
        self.kept = Columns(tuple(self.columns.values()))  # of all frames
        self.handle = ffi.new_handle(self)

    def call(self, *arguments: Any) -> None:
        """Calls the function. What it raises is raised by the call of the world that runs it, after the frame."""
        self.attempt(lambda: self.fn(*arguments))

    def attempt(self, call: Callable[[], Any]) -> None:
        """The same for a call of the function with arguments whose making may raise, too."""
        try:
            call()
        except BaseException as error:  # pylint: disable=broad-exception-caught
            self.world.raised.append(error)


@ffi.def_extern()
def mica_python_system(frame: Any) -> None:
    """Runs a system."""
    callback = ffi.from_handle(frame.context)
    if callback.world.raised:
        return
    shown = Frame(callback, frame)
    callback.call(shown)
    shown.close()


@ffi.def_extern()
def mica_python_observer(event: Any) -> None:
    """Calls an observer."""
    callback = ffi.from_handle(event.context)
    guard = Guard(callback.world)
    with callback.world._running():
        callback.call(Event(callback.world, event, guard))
    guard.is_open = False


@ffi.def_extern()
def mica_python_input(world: Any, data: Any, size: int, context: Any) -> None:
    """Passes input to its handler."""
    del world
    ffi.from_handle(context).call(bytes(ffi.buffer(data, size)) if size else b"")


class FlowMixin(WorldBase):
    """The part of World that runs frames."""

    def _flow_init(self) -> None:
        self.raised: list[BaseException] = []
        self.is_running = False
        self._callbacks: dict[Any, Any] = {}
        self._owned: list[Any] = []
        self._owned_libraries: list[Any] = []

    def own(self, item: Any) -> None:
        """Closes an object before the world."""
        self._owned.append(item)

    def disown(self, item: Any) -> None:
        """Takes back `own`: the object is closed already."""
        self._owned = [owned for owned in self._owned if owned is not item]

    @contextlib.contextmanager
    def _running(self) -> Iterator[None]:
        before, self.is_running = self.is_running, True
        try:
            yield
        finally:
            self.is_running = before

    def _raise_from_systems(self) -> None:
        raised, self.raised = self.raised, []
        if raised:
            self.reports.clear()
            raise raised[0]

    def configure(self, workers: int = 0, seed: int = 0, fixed_seconds: float = 1 / 60, catch_up_max: int = 8) -> None:
        """How systems run: the number of threads (0: one per core), the seed of random numbers, the step of the fixed phase."""
        definition = ffi.new("mica_flow_def *", lib.mica_flow_def_default())
        definition.worker_count, definition.seed = workers, seed
        definition.fixed_seconds, definition.catch_up_max = fixed_seconds, catch_up_max
        self.check(lib.mica_flow_configure(self._enter(), definition))

    def step(self, dt: float = 1 / 60) -> None:
        """Runs one frame. Raises what a system raised, after the frame; systems of Python that had not run yet are skipped."""
        pointer = self._enter()
        self.epoch += 1
        with self._running():
            result = lib.mica_step(pointer, dt)
        self.epoch += 1
        self._raise_from_systems()
        self.check(result)

    def run(self, frames: int, dt: float = 1 / 60) -> None:
        """Runs many frames."""
        for _ in range(frames):
            self.step(dt)

    @property
    def seconds(self) -> float:
        """The time of the world."""
        return float(lib.mica_time_get(self._enter()).seconds)

    @property
    def frame_count(self) -> int:
        """How many frames were run."""
        return int(lib.mica_time_get(self._enter()).frame)

    def phase(self, name: str) -> int:
        """A phase by name: "start", "begin", "fixed", "update", "end", or one that a module added."""
        found = lib.mica_phase_find(self._enter(), name.encode())
        if found == lib.MICA_PHASE_NONE:
            raise errors.UnknownError(f"there is no phase {name!r}")
        return found

    def _terms(self, text: str) -> tuple[Any, int, dict[str, Any]]:
        """The terms and columns of a text, by way of a query that is destroyed."""
        query = self.query(text)
        terms = ffi.new("mica_term[]", lib.MICA_TERMS_MAX)
        count = lib.mica_query_terms(query._pointer, terms, lib.MICA_TERMS_MAX)
        return terms, count, columns_of(self, query._pointer)

    def system(self, terms: str = "", *, name: Optional[str] = None, phase: str = "update", reads: Sequence[Any] = (),
               writes: Sequence[Any] = (), indexes: Sequence[Any] = (), before: Sequence[str] = (), after: Sequence[str] = (),
               every_frames: int = 0, every_seconds: float = 0, exclusive: bool = False, flush_first: bool = False,
               while_paused: bool = False) -> Callable[[Callable[[Frame], Any]], Callable[[Frame], Any]]:
        """Adds a function as a system. It gets a Frame, and runs together with native systems: at the same time as those that
        it does not conflict with. `terms` is what it iterates over; `reads`, `writes` and `indexes` what it accesses of other entities: components and streams."""
        def add(fn: Callable[[Frame], Any]) -> Callable[[Frame], Any]:
            self._add_system(fn, terms, name or fn.__name__, self.phase(phase), [*reads], [*writes], [*indexes], [*before], [*after],
                             {"every_frames": every_frames, "every_seconds": every_seconds, "exclusive": exclusive,
                              "flush_first": flush_first, "while_paused": while_paused})
            return fn
        return add

    def uses_of(self, reads: Sequence[Any], writes: Sequence[Any]) -> list[dict[str, Any]]:
        """What a system or handler accesses: components, and streams."""
        return [{"stream": item.valid(), "write": write} if hasattr(item, "push") else {"component": self.component(item).id, "write": write}
                for items, write in ((reads, False), (writes, True)) for item in items]

    def keep(self, key: Any, *items: Any) -> None:
        """Keeps what C refers to as long as the world. A key that is a text is not replaced."""
        self._callbacks[(key, len(self._callbacks)) if isinstance(key, str) else key] = items

    def _add_system(self, fn: Any, text: str, name: str, phase: int, reads: list[Any], writes: list[Any], indexes: list[Any],
                    before: list[str], after: list[str], options: dict[str, Any]) -> None:
        terms, count, columns = self._terms(text) if text else (ffi.NULL, 0, {})
        callback = Callback(self, fn, columns)
        uses = self.uses_of(reads, writes) + [{"index": index._valid()} for index in indexes]
        code = getattr(fn, "__code__", None)
        texts = [ffi.new("char[]", item.encode()) for item in (name, *before, *after)]
        file = ffi.new("char[]", os.fsencode(code.co_filename if code else inspect.getfile(type(fn))))
        use_array = ffi.new("mica_use[]", uses)
        definition = ffi.new("mica_system_def *", {
            "name": texts[0], "once": lib.mica_python_system, "terms": terms, "term_count": count, "uses": use_array,
            "use_count": len(uses), "context": callback.handle, "phase": phase, "before": texts[1:1 + len(before)],
            "after": texts[1 + len(before):], "location": {"file": file, "line": code.co_firstlineno if code else 0}, **options})
        system = lib.mica_system_add(self._enter(), definition)
        if not system.id:
            self.fail()
        self._callbacks[system.id] = (callback, file, [index for index in indexes])

    def remove_system(self, name: str) -> bool:
        """Removes a system. Returns False if there is none."""
        system = lib.mica_system_find(self._enter(), name.encode())
        return bool(lib.mica_system_remove(self.pointer, system)) if system.id else False

    def enable_system(self, name: str, enabled: bool = True) -> None:
        """Enables or disables a system, native or in Python."""
        system = lib.mica_system_find(self._enter(), name.encode())
        if not system.id or not lib.mica_system_enable(self.pointer, system, enabled):
            raise errors.UnknownError(f"there is no system {name!r}")

    def schedule(self) -> str:
        """The order of systems as text, with what each waits for and why."""
        size = lib.mica_graph_write(self._enter(), lib.MICA_GRAPH_TEXT, ffi.NULL, 0)
        text = ffi.new("char[]", size + 1)
        lib.mica_graph_write(self.pointer, lib.MICA_GRAPH_TEXT, text, size + 1)
        return ffi.string(text).decode()

    def observer(self, *events: str, component: Any = None, terms: str = "",
                 existing: bool = False) -> Callable[[Callable[[Event], Any]], Callable[[Event], Any]]:
        """Adds a function that is told events: "add", "set", "remove", "enable" and "disable" of a component, "destroy", or "match" and
        "unmatch" of terms. Changes that it makes are recorded."""
        def add(fn: Callable[[Event], Any]) -> Callable[[Event], Any]:
            unknown = [event for event in events if event not in EVENTS]
            if unknown or not events:
                raise errors.InvalidError(f"{unknown[0] if unknown else 'nothing'} is no event; they are: {', '.join(EVENTS)}")
            array, count, _ = self._terms(terms) if terms else (ffi.NULL, 0, {})
            kinds = ffi.new("mica_event_kind[]", [EVENTS[event] for event in events])
            numbers = ffi.new("mica_component[]", [self.component(component).id] if component is not None else [])
            callback = Callback(self, fn)
            label = ffi.new("char[]", getattr(fn, "__name__", "observer").encode())
            definition = ffi.new("mica_observer_def *", {
                "name": label, "events": kinds, "event_count": len(events), "components": numbers, "component_count": len(numbers),
                "terms": array, "term_count": count, "fn": lib.mica_python_observer, "context": callback.handle, "existing": existing})
            added = lib.mica_observer_add(self._enter(), definition)
            if not added.id:
                self.fail()
            self._callbacks["observer", added.id] = callback
            self._raise_from_systems()
            return fn
        return add

    def commands(self) -> Commands:
        """A command buffer. At the end of a `with` block it is flushed."""
        pointer = lib.mica_commands_create(self._enter())
        if not pointer:
            self.fail(lib.MICA_ERROR_MEMORY)
        made = Commands(self, pointer)
        self.own(made)
        return made

    def on_input(self, fn: Callable[[bytes], Any]) -> Callable[[bytes], Any]:
        """Sets the function that applies input, in a run and in its replay."""
        callback = Callback(self, fn)
        self.check(lib.mica_input_handle(self._enter(), lib.mica_python_input, callback.handle))
        self._callbacks["input"] = callback
        return fn

    def input(self, data: Union[bytes, bytearray]) -> None:
        """Passes input to its function, and records it."""
        result = lib.mica_input(self._enter(), ffi.from_buffer(data), len(data))
        self._raise_from_systems()
        self.check(result)
