"""The world: entities, components, queries, files and SQL."""
from __future__ import annotations

import contextlib
import ctypes
import json
import os
import re
import warnings
from typing import Any, Iterator, Optional, Sequence, Union

import numpy as np

from . import errors, types
from ._native import ffi, lib
from .dynamic import DynamicValues
from .flow import FlowMixin
from .index import Index
from .messaging import MessagingMixin
from .past import History, Recording, Snapshot
from .query import ENTITY, Query, entity_pointer, from_entity, to_entity
from .relations import RelationMixin
from .sql import SqlMixin

ComponentLike = Union[str, type, int, types.Component]


@ffi.def_extern()
def mica_python_report(report: Any, context: Any) -> None:
    """Every report of a world: kept until the call that caused it returns."""
    ffi.from_handle(context).reports.append((report.result, ffi.string(report.text).decode(errors="replace")))


class World(FlowMixin, MessagingMixin, RelationMixin, SqlMixin):
    """A container of entities. Use it in a `with` statement, or call close().

    Entities are integers, 0 is none. Where a component is expected, pass its class, its name or its id; where a value is expected, an
    instance: world.create(Position(1, 2), Frozen).
    """

    def __init__(self, workers: Optional[int] = None, seed: int = 0, check_ranges: bool = False, handle_space: int = 0) -> None:
        self.reports: list[tuple[int, str]] = []
        self.garbage: list[tuple[Any, Any]] = []
        self._handle = ffi.new_handle(self)
        definition = ffi.new("mica_world_def *", lib.mica_world_def_default())
        definition.report, definition.report_context = lib.mica_python_report, self._handle
        definition.seed, definition.check_ranges, definition.handle_space = seed, check_ranges, handle_space
        self._adopt(lib.mica_world_create(definition))
        if workers is not None or seed:
            self.configure(workers=workers or 0, seed=seed)

    def _adopt(self, pointer: Any) -> None:
        self.pointer = pointer
        self.is_open = bool(pointer)
        self._life = ffi.new("mica_python_life *", (pointer, 0, self.is_open))
        self.life_address = int(ffi.cast("uintptr_t", self._life))
        self._components: dict[int, types.Component] = {}
        self._by_name: dict[str, types.Component] = {}
        self._flow_init()
        if not pointer:
            self.fail(lib.MICA_ERROR_MEMORY)

    @property
    def epoch(self) -> int:
        """Increased by everything besides structural changes that makes columns invalid."""
        return int(self._life.epoch)

    @epoch.setter
    def epoch(self, value: int) -> None:
        self._life.epoch = value

    # Errors

    def check_open(self) -> None:
        """Raises an exception if the world is closed."""
        if not self.is_open:
            raise errors.ExpiredError("the world is closed")

    def fail(self, result: int = 0) -> None:
        """Raises the exception for a call that failed, with the text of its report."""
        reports, self.reports = self.reports, []
        if reports:
            raise errors.make(reports[-1][0], reports[-1][1])
        raise errors.make(result or lib.MICA_ERROR_INVALID)

    def check(self, result: int) -> None:
        """Raises an exception unless the result is MICA_OK. Other reports become warnings."""
        self.settle()
        if result != lib.MICA_OK:
            self.fail(result)
        if self.reports:
            self._warn()

    def settle(self) -> None:
        """Raises what an observer raised during a call, when the call has returned."""
        if self.raised and not self.is_running:
            self._raise_from_systems()

    def raise_reports(self) -> None:
        """Raises an exception if there was a report."""
        if self.reports:
            self.fail()

    def _warn(self) -> None:
        reports, self.reports = self.reports, []
        for _, text in reports:
            warnings.warn(text, errors.ReportWarning, stacklevel=3)

    def _enter(self) -> Any:
        """The pointer for a call, after what Python no longer refers to is destroyed."""
        self.check_open()
        if self.garbage and not self.is_running:
            garbage, self.garbage = self.garbage, []
            for destroy, pointer in garbage:
                destroy(pointer)
        return self.pointer

    # Life

    def close(self) -> None:
        """Destroys the world. Everything made from it is invalid afterwards."""
        if self.is_open:
            if self.is_running:
                raise errors.RefusedError("a world can't be closed by its own systems and observers")
            self._enter()
            for owned in list(self._owned):
                owned.close()
            self.is_open = self._life.is_open = False
            lib.mica_world_destroy(self.pointer)
            self.pointer = ffi.NULL

    def __enter__(self) -> "World":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "is_open", False):
            self.close()

    def clear(self) -> None:
        """Destroys every entity."""
        self.check(lib.mica_world_clear(self._enter()))

    def clone(self) -> "World":
        """A world with the same content, without queries and systems."""
        pointer = lib.mica_world_clone(self._enter())
        if not pointer:
            self.fail(lib.MICA_ERROR_MEMORY)
        copy = World.__new__(World)
        copy.reports, copy.garbage = self.reports, []
        copy._handle = self._handle  # the clone has the report handler of the original
        copy._adopt(pointer)
        copy._original = self
        return copy

    # Components

    def define(self, *classes: type) -> None:
        """Registers components, so that files and text can name them. Other functions do this for classes that they are given."""
        for cls in classes:
            number = lib.mica_component_define(self._enter(), types.description_of(cls).struct)
            if not number and self.reports and self.reports[-1][0] == lib.MICA_ERROR_REFUSED:
                self.reports.clear()
                raise errors.RefusedError(f"{cls.__name__} is new to this world, and systems can't define components: call "
                                          f"world.define({cls.__name__}) before the frame")
            if not number:
                self.fail(lib.MICA_ERROR_LAYOUT)
            self._remember(number, cls)

    def _remember(self, number: int, cls: Optional[type]) -> types.Component:
        found = types.Component(number, cls)
        self._components[number] = self._by_name[found.name] = found
        return found

    def component(self, component: ComponentLike) -> types.Component:
        """A component by class, name or id."""
        if isinstance(component, types.Component):
            return component
        if isinstance(component, type):
            known = self._by_name.get(component.__name__)
            if known is None or known.cls is not component:
                self.define(component)
            return self._by_name[component.__name__]
        if isinstance(component, str):
            if component not in self._by_name:
                number = lib.mica_component_find(self._enter(), component.encode())
                if not number and component in types.CLASSES:
                    return self.component(types.CLASSES[component])
                if not number:
                    raise errors.UnknownError(f"there is no component {component!r}")
                self._remember(number, None)
            return self._by_name[component]
        if component not in self._components:
            if not lib.mica_component_type(component):
                raise errors.UnknownError(f"there is no component with the id {component}")
            self._remember(component, None)
        return self._components[component]

    def components(self) -> list[types.Component]:
        """All components of the world."""
        found, number = [], 0
        while number := lib.mica_component_next(self._enter(), number):
            found.append(self.component(number))
        return found

    def value(self, value: Any) -> tuple[types.Component, Any, Any]:
        """A component, a mica_value and what must stay alive as long as it is used, from an instance, class or name."""
        is_instance = not isinstance(value, (type, str, types.Component))
        component = self.component(type(value) if is_instance else value)
        if not is_instance or component.is_tag:
            return component, ffi.new("mica_value *", (component.id, 0, ffi.NULL)), None
        if component.is_dynamic:
            made = DynamicValues.of(component, value)
            return component, ffi.new("mica_value *", (component.id, component.dtype.itemsize, made.pointer)), made
        record = component.pack(value)
        data = ffi.new("mica_value *", (component.id, component.dtype.itemsize, ffi.cast("void *", record.ctypes.data)))
        return component, data, record

    def values(self, items: Sequence[Any]) -> tuple[Any, list[Any]]:
        """An array of mica_value, and what must stay alive as long."""
        made = [self.value(item) for item in items]
        return ffi.new("mica_value[]", [data[0] for _, data, _ in made]), made

    # Entities

    def create(self, *values: Any, name: Optional[str] = None, parent: int = 0) -> int:
        """Creates an entity with these components: instances, or classes for default values and tags."""
        array, _kept = self.values(values)
        entity = from_entity(lib.mica_create_id(self._enter(), array, len(values)))
        self.settle()
        if not entity:
            self.fail()
        if parent:
            self.set_parent(entity, parent)
        if name is not None:
            self.set_name(entity, name)
        return entity

    def create_many(self, count: int, *defaults: ComponentLike, **columns: Any) -> np.ndarray:
        """Creates `count` entities and returns their handles. Columns are arrays by component name: create_many(3, Frozen,
        Position=numpy.zeros((3, 2), "f4"), Health={"current": [1, 2, 3]})."""
        values: list[Any] = []
        kept: list[Any] = []
        for item in defaults:
            values.append((self.component(item).id, 0, ffi.NULL))
        for name, column in columns.items():
            component = self.component(name)
            if component.is_dynamic:
                dynamic = DynamicValues.columns(component, column, count)
                kept.append(dynamic)
                values.append((component.id, component.dtype.itemsize, dynamic.pointer))
                continue
            packed = component.pack(column, count)
            kept.append(packed)
            values.append((component.id, component.dtype.itemsize, ffi.cast("void *", packed.ctypes.data)))
        entities = np.empty(count, ENTITY)
        array = ffi.new("mica_value[]", values)
        self.check(lib.mica_create_many(self._enter(), count, array, len(values), entity_pointer(entities)))
        return entities

    def destroy(self, entity: Any) -> bool:
        """Destroys an entity, or an array of entities. Returns False if the entity is not alive."""
        if isinstance(entity, np.ndarray):
            handles = np.ascontiguousarray(entity, ENTITY)
            done = lib.mica_destroy_many(self._enter(), entity_pointer(handles), len(handles))
        else:
            done = lib.mica_destroy(self._enter(), to_entity(entity))
            self.reports.clear()
        self.settle()
        return bool(done)

    def is_alive(self, entity: int) -> bool:
        """Whether an entity is alive."""
        return bool(lib.mica_is_alive(self._enter(), to_entity(entity)))

    def has(self, entity: int, component: ComponentLike) -> bool:
        """Whether an entity is alive and has a component."""
        return bool(lib.mica_has_id(self._enter(), to_entity(entity), self.component(component).id))

    def get(self, entity: int, component: ComponentLike) -> Any:
        """A copy of a component, or None. It is an instance of the class of the component, or else a namespace."""
        found = self.component(component)
        if found.is_tag:
            return found.cls() if found.cls and self.has(entity, found) else None
        if found.is_dynamic:
            return self._get_dynamic(entity, found)
        record = np.zeros((), found.dtype)
        if not lib.mica_get_value_id(self._enter(), to_entity(entity), found.id, ffi.cast("void *", record.ctypes.data)):
            return None
        return found.unpack(record)

    def _get_dynamic(self, entity: int, component: types.Component) -> Any:
        address = lib.mica_get_id(self._enter(), to_entity(entity), component.id)
        if not address:
            return None
        member = lib.mica_member_of(component.id, ffi.cast("void *", address))
        size = lib.mica_value_write(member, ffi.NULL, 0)
        text = ffi.new("char[]", size + 1)
        lib.mica_value_write(member, text, size + 1)
        return types.from_json(json.loads(ffi.string(text).decode()), component.cls)

    def set(self, entity: int, *values: Any) -> None:
        """Adds or overwrites components: set(ship, Position(1, 2), Frozen)."""
        for value in values:
            component, data, _kept = self.value(value)
            if not (lib.mica_add_id(self._enter(), to_entity(entity), component.id) if not data.data
                      else lib.mica_set_id(self._enter(), to_entity(entity), data[0])):
                self.fail(lib.MICA_ERROR_DEAD)
            self.settle()

    def _parse(self, entity: int, text: str) -> None:
        error = ffi.new("mica_value_error *")
        result = lib.mica_entity_parse_json(self._enter(), to_entity(entity), text.encode(), error)
        if result != lib.MICA_OK:
            self.reports.clear()
            raise errors.make(result, f"at {error.position}: {ffi.string(error.text).decode()}")

    def update(self, entity: int, component: ComponentLike, **fields: Any) -> None:
        """Writes some fields of a component that the entity has."""
        found = self.component(component)
        if found.is_dynamic or found.struct.split:
            self._parse(entity, '{"components": {%s: %s}}' % (json.dumps(found.name), types.to_json(fields)))
            return
        address = lib.mica_write_id(self._enter(), to_entity(entity), found.id)
        if not address:
            raise errors.DeadError(f"the entity {entity:#x} is not alive or has no {found.name}")
        types.fill(np.frombuffer(ffi.buffer(address, found.dtype.itemsize), found.dtype).reshape(()), fields, found.name)

    def remove(self, entity: int, *components: ComponentLike) -> bool:
        """Removes components. Returns False if the entity does not have one of them."""
        done = [lib.mica_remove_id(self._enter(), to_entity(entity), self.component(item).id) for item in components]
        self.settle()
        return all(done)

    def enable(self, entity: int, component: ComponentLike, enabled: bool = True) -> None:
        """Enables or disables a component that can be toggled."""
        if not lib.mica_enable_id(self._enter(), to_entity(entity), self.component(component).id, enabled):
            self.fail()

    def components_of(self, entity: int) -> list[types.Component]:
        """The components of an entity."""
        count = lib.mica_get_components(self._enter(), to_entity(entity), ffi.NULL, 0)
        numbers = ffi.new("mica_component[]", max(count, 1))
        lib.mica_get_components(self.pointer, to_entity(entity), numbers, count)
        return [self.component(number) for number in ffi.unpack(numbers, count)]

    def gather(self, entities: np.ndarray, component: ComponentLike) -> tuple[np.ndarray, np.ndarray]:
        """A copy of a component of many entities, and which of them have it."""
        found = self._plain_component(component)
        handles = np.ascontiguousarray(entities, ENTITY)
        values = np.zeros(len(handles), found.dtype)
        has = np.zeros(len(handles), "?")
        lib.mica_python_gather(self._enter(), entity_pointer(handles), len(handles), found.id, ffi.cast("void *", values.ctypes.data),
                               ffi.cast("uint8_t *", has.ctypes.data))
        if found.width:
            values = values.view(found.number).reshape(len(handles), found.width)
        return (values[:, 0] if found.width == 1 else values), has

    def scatter(self, entities: np.ndarray, component: ComponentLike, values: Any) -> int:
        """Writes a component of many entities from an array. Returns how many have it."""
        found = self._plain_component(component)
        handles = np.ascontiguousarray(entities, ENTITY)
        packed = found.pack(values, len(handles))
        return int(lib.mica_python_scatter(self._enter(), entity_pointer(handles), len(handles), found.id,
                                           ffi.cast("void *", packed.ctypes.data)))

    def _plain_component(self, component: ComponentLike) -> types.Component:
        found = self.component(component)
        if found.is_dynamic or found.is_tag or found.struct.split:
            raise errors.InvalidError(f"{found.name} is a tag, is split, or has text or lists: its values are not one array")
        return found

    def singleton(self, component: ComponentLike) -> Any:
        """A copy of the value of a singleton."""
        found = self.component(component)
        address = lib.mica_singleton_get_id(self._enter(), found.id)
        if not address:
            self.fail()
        return found.unpack(np.frombuffer(ffi.buffer(address, found.dtype.itemsize), found.dtype)[0])

    def set_singleton(self, value: Any) -> None:
        """Writes the value of a singleton."""
        found = self.component(type(value))
        address = lib.mica_singleton_write_id(self._enter(), found.id)
        if not address:
            self.fail()
        types.fill(np.frombuffer(ffi.buffer(address, found.dtype.itemsize), found.dtype).reshape(()), value, found.name)

    # Names and parents

    def set_name(self, entity: int, name: Optional[str], scope: int = 0) -> None:
        """Names an entity, unique within its scope."""
        text = name.encode() if name is not None else ffi.NULL
        self.check(lib.mica_name_set(self._enter(), to_entity(entity), to_entity(scope), text))

    def name(self, entity: int) -> Optional[str]:
        """The name of an entity, or None."""
        text = lib.mica_name_get(self._enter(), to_entity(entity))
        return ffi.string(text).decode() if text else None

    def find(self, path: str, scope: int = 0) -> int:
        """The entity with a path such as "station/door", or 0."""
        return from_entity(lib.mica_find_from(self._enter(), to_entity(scope), path.encode()))

    def set_parent(self, child: int, parent: int) -> None:
        """Makes an entity the last child of another one; 0: of none."""
        self.check(lib.mica_set_parent(self._enter(), to_entity(child), to_entity(parent)))

    def parent(self, entity: int) -> int:
        """The parent of an entity, or 0."""
        return from_entity(lib.mica_parent(self._enter(), to_entity(entity)))

    def children(self, entity: int) -> list[int]:
        """The children of an entity in their order."""
        found, child = [], from_entity(lib.mica_first_child(self._enter(), to_entity(entity)))
        while child:
            found.append(child)
            child = from_entity(lib.mica_next_sibling(self.pointer, to_entity(child)))
        return found

    # Queries and changes

    def query(self, text: str) -> Query:
        """A query as text: "write Position, Velocity, !Frozen". Classes that are components are known by their names."""
        self._define_names(text)
        return Query(self, text)

    def _define_names(self, text: str) -> None:
        self._enter()
        for name in re.findall(r"[\w.:]+", text):
            if name in types.CLASSES and name not in self._by_name and not lib.mica_component_find(self.pointer, name.encode()):
                self.define(types.CLASSES[name])

    def mark(self) -> int:
        """A mark, for Query.views(since=mark): later changes are newer."""
        self.epoch += 1
        return int(lib.mica_world_mark(self._enter()))

    @contextlib.contextmanager
    def defer(self) -> Iterator["World"]:
        """Records changes until the end of the `with` block, so that queries can be iterated meanwhile."""
        lib.mica_defer(self._enter())
        try:
            yield self
        finally:
            self.epoch += 1
            result = lib.mica_flush(self.pointer)
        self.check(result)

    def flush(self) -> None:
        """Applies recorded changes."""
        self.epoch += 1
        self.check(lib.mica_flush(self._enter()))

    # State

    @property
    def hash(self) -> int:
        """The hash of everything that a program can observe."""
        return int(lib.mica_world_hash(self._enter()))

    @property
    def content_hash(self) -> int:
        """The hash without time, clocks and messages: what a clone or replica has in common with the world."""
        return int(lib.mica_world_hash_content(self._enter()))

    def __len__(self) -> int:
        return int(lib.mica_world_get_stats(self._enter()).entity_count)

    def __bool__(self) -> bool:
        return True

    def validate(self) -> None:
        """Checks every invariant of the world. Slow."""
        self.check(lib.mica_world_validate(self._enter()))

    def difference(self, other: "World") -> Optional[str]:
        """Describes the first difference of two worlds, or None."""
        out = ffi.new("mica_difference *")
        return ffi.string(out.text).decode() if lib.mica_hash_diff(self._enter(), other._enter(), out) else None

    def snapshot(self) -> Snapshot:
        """Takes a snapshot, which can be restored."""
        return Snapshot(self)

    def history(self, capacity: int) -> History:
        """Keeps the last ticks, for rollback."""
        return History(self, capacity)

    @contextlib.contextmanager
    def record(self, path: Union[str, os.PathLike], detail: str = "world", systems: bool = False) -> Iterator["World"]:
        """Records the steps of the `with` block to a file. Details are "world", "slices" and "entities"."""
        details = {"world": lib.MICA_RECORDING_WORLD, "slices": lib.MICA_RECORDING_SLICES, "entities": lib.MICA_RECORDING_ENTITIES}
        definition = ffi.new("mica_recording_def *", (details[detail], systems))
        self.check(lib.mica_recording_begin(self._enter(), os.fsencode(path), definition))
        try:
            yield self
        finally:
            result = lib.mica_recording_end(self.pointer)
        self.check(result)

    def replay(self, recording: Recording) -> Optional[str]:
        """Replays a recording. Returns None if all frames are equal, or describes the first difference."""
        out = ffi.new("mica_difference *")
        with self._running():
            same = lib.mica_replay(self._enter(), recording.pointer, out)
        self._raise_from_systems()
        if not same and not out.text[0]:
            self.fail(lib.MICA_ERROR_REFUSED)
        return None if same else ffi.string(out.text).decode()

    # Indexes

    def index(self, component: ComponentLike, field: str, hashed: bool = False, unique: bool = False) -> Index:
        """An index that finds entities by the value of a field."""
        return Index(self, component, field, hashed=hashed, unique=unique)

    def grid(self, component: ComponentLike, fields: str, cell_size: float, maximum: Sequence[float], minimum: Sequence[float] = (0, 0, 0),
             torus: bool = False) -> Index:
        """A grid that finds entities by their position, which is in two or three fields: grid(Position, "x, y", 5, (100, 100))."""
        return Index(self, component, fields, cell_size=cell_size, minimum=minimum, maximum=maximum, torus=torus)

    # Files

    def save(self, path: Union[str, os.PathLike], compression: int = 0) -> None:
        """Saves the world, crash-safely. A world that is loaded continues exactly."""
        definition = ffi.new("mica_save_def *", {"compression": compression})
        self.check(lib.mica_save(self._enter(), os.fsencode(path), definition))

    def load(self, path: Union[str, os.PathLike], copies: int = 1, parent: int = 0) -> np.ndarray:
        """Creates everything in a file, and returns the entities. The components must be defined."""
        error = ffi.new("mica_resource_error *")
        resource = lib.mica_resource_load(os.fsencode(path), ffi.NULL, error)
        if not resource:
            raise errors.make(error.result, f"{os.fspath(path)}: {ffi.string(error.text).decode()}")
        try:
            entities = np.zeros(lib.mica_resource_entity_count(resource) * copies, ENTITY)
            definition = ffi.new("mica_spawn_def *", {"copies": copies, "parent": to_entity(parent), "out_capacity": len(entities)})
            definition.out_entities = entity_pointer(entities)
            self.epoch += 1
            self.check(lib.mica_spawn(self._enter(), resource, definition))
        finally:
            lib.mica_resource_free(resource)
        return entities

    # Native modules

    def load_module(self, path: Union[str, os.PathLike]) -> None:
        """Loads a shared library with MICA_MODULE (mica/module.h): its components and systems belong to this world afterwards."""
        library = ctypes.CDLL(os.path.abspath(os.fspath(path)), mode=os.RTLD_NOW | os.RTLD_LOCAL)
        try:
            info = (ctypes.c_uint32 * 3).in_dll(library, "mica_module_info")
            address = ctypes.cast(library.mica_module_main, ctypes.c_void_p).value
        except (AttributeError, ValueError):
            raise errors.DataError(f"{os.fspath(path)} has no entry point: write it with MICA_MODULE (mica/module.h)") from None
        if (info[0], info[1], info[2]) != (lib.MICA_PYTHON_MAJOR, lib.MICA_PYTHON_MINOR, 0):
            raise errors.DataError(f"{os.fspath(path)} was built for Mica {info[0]}.{info[1]}{' with MICA_CHECKED' if info[2] else ''}, and "
                                   f"this is {lib.MICA_PYTHON_MAJOR}.{lib.MICA_PYTHON_MINOR}: build it again")
        self._owned_libraries.append(library)
        self.check(lib.mica_python_module_main(address, self._enter()))
