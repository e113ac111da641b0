"""Components: descriptions of Python classes, and NumPy types of the descriptions that a world has.

    @mica.component
    class Position:
        x: mica.f32
        y: mica.f32 = 1

A class becomes a dataclass and a description like those of C (mica/describe.h). Types of fields:

    bool, int, float          bool, i64, f64
    mica.i8 ... mica.f64      the types of NumPy with these sizes
    mica.Entity               another entity; 0 is none
    str                       text of any length
    list[T]                   a list of any length
    another class, an Enum    a struct, an enum
    Annotated[T, mica.Field(count=3, unit="m", minimum=0, maximum=9, note="...")]     an array, and attributes
"""
from __future__ import annotations

import dataclasses
import enum
import json
import types
import typing
from typing import TYPE_CHECKING, Any, Callable, Iterable, NewType, Optional, TypeVar, overload

import numpy as np

from . import errors
from ._native import ffi, lib

Class = TypeVar("Class", bound=type)
if TYPE_CHECKING:
    from typing_extensions import dataclass_transform

    # Any number is accepted, and converted.
    i8 = int
    u8 = int
    i16 = int
    u16 = int
    i32 = int
    u32 = int
    i64 = int
    u64 = int
    Entity = int
    f32 = float
    f64 = float
else:
    i8, u8, i16, u16, i32, u32, i64, u64, f32, f64 = (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64,
                                                      np.float32, np.float64)
    Entity = NewType("Entity", int)

    def dataclass_transform():
        """For type checkers only."""
        return lambda function: function

NUMBERS = {
    lib.MICA_KIND_BOOL: "?", lib.MICA_KIND_I8: "i1", lib.MICA_KIND_U8: "u1", lib.MICA_KIND_I16: "<i2", lib.MICA_KIND_U16: "<u2",
    lib.MICA_KIND_I32: "<i4", lib.MICA_KIND_U32: "<u4", lib.MICA_KIND_I64: "<i8", lib.MICA_KIND_U64: "<u8",
    lib.MICA_KIND_F32: "<f4", lib.MICA_KIND_F64: "<f8",
}
KINDS = {np.dtype(code): kind for kind, code in NUMBERS.items()}
STORAGES = {"chunk": lib.MICA_STORAGE_CHUNK, "tag": lib.MICA_STORAGE_TAG, "singleton": lib.MICA_STORAGE_SINGLETON,
            "pool": lib.MICA_STORAGE_POOL}
POLICIES = {"remove": lib.MICA_TARGET_REMOVE, "destroy": lib.MICA_TARGET_DESTROY, "keep": lib.MICA_TARGET_KEEP,
            "refuse": lib.MICA_TARGET_REFUSE}
TRAITS = ("toggle", "track_added", "track_changed", "split", "many", "hides", "exclusive", "symmetric", "acyclic", "transitive",
          "ordered")


@dataclasses.dataclass(frozen=True)
class Field:
    """What is known about a field besides its type: Annotated[mica.f32, mica.Field(count=3, unit="m")]."""

    count: int = 1
    unit: Optional[str] = None
    note: Optional[str] = None
    minimum: float = 0
    maximum: float = 0


@dataclasses.dataclass
class _Part:
    """A type as it is stored: what a mica_field says, without name and offset."""

    kind: int
    bytes: int
    alignment: int
    type: Any = ffi.NULL
    zero: Any = 0


class Description:
    """The mica_type of a class. Everything that it points to lives as long as the class."""

    def __init__(self, name: str) -> None:
        self.owned: list[Any] = []
        self.struct = ffi.new("mica_type *")
        self.struct.name = self.text(name)

    def text(self, text: str) -> Any:
        """A text for C that lives as long as the class."""
        self.owned.append(ffi.new("char[]", text.encode()))
        return self.owned[-1]

    def array(self, kind: str, items: Any) -> Any:
        """An array for C that lives as long as the class."""
        self.owned.append(ffi.new(kind, items))
        return self.owned[-1]


def description_of(cls: type) -> Description:
    """The description that mica.component, mica.relation or mica.singleton made of a class."""
    found = cls.__dict__.get("__mica__")
    if found is None:
        raise TypeError(f"{cls.__name__} is no component: decorate it with mica.component")
    return found


def _describe_enum(cls: type[enum.Enum]) -> Description:
    found = cls.__dict__.get("__mica__")
    if found is None:
        found = Description(cls.__name__)
        constants = [(found.text(item.name), item.value) for item in cls]
        found.struct.kind = lib.MICA_KIND_FLAGS if issubclass(cls, enum.Flag) else lib.MICA_KIND_ENUM
        found.struct.constants = found.array("mica_constant[]", constants)
        found.struct.constant_count = len(constants)
        found.struct.size_bytes = found.struct.alignment = 4
        setattr(cls, "__mica__", found)
    return found


def _part_of(hint: Any, where: str) -> _Part:
    if hint is Entity:
        return _Part(lib.MICA_KIND_ENTITY, 8, 4)
    if hint is str:
        return _Part(lib.MICA_KIND_TEXT, ffi.sizeof("mica_text"), ffi.alignof("mica_text"), zero="")
    if typing.get_origin(hint) is list:
        element = _part_of(typing.get_args(hint)[0], where)
        described = element.type if element.type else _primitive(element)
        return _Part(lib.MICA_KIND_LIST, ffi.sizeof("mica_list"), ffi.alignof("mica_list"), described, list)
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        struct = _describe_enum(hint).struct
        return _Part(struct.kind, 4, 4, struct, next(iter(hint.__members__.values())) if struct.kind == lib.MICA_KIND_ENUM else 0)
    if isinstance(hint, type) and "__mica__" in hint.__dict__:
        struct = description_of(hint).struct
        return _Part(lib.MICA_KIND_STRUCT, struct.size_bytes, struct.alignment, struct, hint)
    try:
        dtype = np.dtype({int: "i8", float: "f8", bool: "?"}.get(hint, hint))
        return _Part(KINDS[dtype], dtype.itemsize, dtype.itemsize, zero=False if hint is bool else 0)
    except (KeyError, TypeError):
        raise TypeError(f"{where}: {hint!r} can't be a field of a component") from None


_primitives: dict[int, Description] = {}


def _primitive(part: _Part) -> Any:
    """The description of a number, which lists need."""
    names = {lib.MICA_KIND_ENTITY: "mica_entity", lib.MICA_KIND_TEXT: "mica_text"}
    if part.kind not in _primitives:
        made = Description(names.get(part.kind, np.dtype(NUMBERS.get(part.kind, "u1")).name))
        made.struct.kind, made.struct.size_bytes, made.struct.alignment = part.kind, part.bytes, part.alignment
        _primitives[part.kind] = made
    return _primitives[part.kind].struct


def _attributes(description: Description, options: Field, default: Any, part: _Part) -> Any:
    has_initial = default is not dataclasses.MISSING and default is not None and part.kind in (*NUMBERS, lib.MICA_KIND_ENUM)
    if options == Field(count=options.count) and not has_initial:
        return ffi.NULL
    attributes = description.array("mica_attributes *", {"minimum": options.minimum, "maximum": options.maximum})
    if options.unit:
        attributes.unit = description.text(options.unit)
    if options.note:
        attributes.note = description.text(options.note)
    if has_initial:
        attributes.initial = float(default.value if isinstance(default, enum.Enum) else default)
    return attributes


def _field_hints(cls: type) -> list[tuple[str, Any, Field]]:
    hints = typing.get_type_hints(cls, include_extras=True)
    result = []
    for name in cls.__dict__.get("__annotations__", {}):
        hint, options = hints[name], Field()
        if typing.get_origin(hint) is typing.Annotated:
            hint, *extra = typing.get_args(hint)
            options = next((item for item in extra if isinstance(item, Field)), options)
        result.append((name, hint, options))
    return result


def _describe_fields(cls: type, description: Description) -> tuple[list[dict[str, Any]], int, int]:
    """The fields of a class laid out as a C compiler does it, and size and alignment. Fields without a default get one: zero."""
    fields, offset, alignment = [], 0, 1
    for name, hint, options in _field_hints(cls):
        part = _part_of(hint, f"{cls.__name__}.{name}")
        default = cls.__dict__.get(name, dataclasses.MISSING)
        if default is dataclasses.MISSING:
            zero = part.zero if options.count == 1 else (lambda count=options.count, zero=part.zero: [zero] * count)
            setattr(cls, name, dataclasses.field(default_factory=zero) if callable(zero) else zero)
        offset = -(-offset // part.alignment) * part.alignment
        attributes = _attributes(description, options, default, part)
        fields.append({"name": description.text(name), "type": part.type, "offset": offset, "element_bytes": part.bytes,
                       "count": options.count, "kind": part.kind, "attributes": attributes})
        offset += part.bytes * options.count
        alignment = max(alignment, part.alignment)
    return fields, -(-offset // alignment) * alignment, alignment


def _describe(cls: type, storage: Optional[str], relation: bool, traits: dict[str, Any]) -> type:
    description = Description(cls.__name__)
    struct = description.struct
    fields, size, alignment = _describe_fields(cls, description)
    if storage is None:
        storage = "pool" if relation else "chunk" if fields else "tag"
    if relation:  # as MICA_RELATION does: the fields of the program, then the target and its place among the sources
        offset = -(-size // 4) * 4
        alignment = max(alignment, 4)
        extra = [("target", lib.MICA_KIND_ENTITY, 8, offset), ("rank", lib.MICA_KIND_U32, 4, offset + 8)]
        fields = [{"name": description.text(name), "offset": at, "element_bytes": size_, "count": 1, "kind": kind}
                  for name, kind, size_, at in extra] + fields
        size = -(-(offset + 12) // alignment) * alignment
        struct.relation = struct.many = True
    struct.kind, struct.storage = lib.MICA_KIND_STRUCT, STORAGES[storage]
    if fields:
        struct.fields, struct.field_count = description.array("mica_field[]", fields), len(fields)
        struct.size_bytes, struct.alignment = size, alignment
    for name, value in traits.items():
        if name in ("required", "excludes"):
            items = [description_of(other).struct for other in value]
            setattr(struct, name, description.array("mica_type *[]", [*items, ffi.NULL]))
        elif name == "on_target":
            struct.on_target = POLICIES[value]
        elif name in TRAITS:
            setattr(struct, name, bool(value))
        else:
            raise TypeError(f"{cls.__name__}: {name} is no trait of a component; the traits are: "
                            f"{', '.join((*TRAITS, 'required', 'excludes', 'on_target'))}")
    problem = lib.mica_type_problem(struct)
    if problem:
        raise errors.make(lib.MICA_ERROR_INVALID, f"{cls.__name__}: {ffi.string(problem).decode()}")
    setattr(cls, "__mica__", description)
    made: type = dataclasses.dataclass(cls)
    CLASSES[made.__name__] = made
    return made


CLASSES: dict[str, type] = {}  # the last class that was described under a name


@overload
@dataclass_transform()
def component(cls: Class) -> Class: ...


@overload
@dataclass_transform()
def component(cls: None = None, *, storage: Optional[str] = None, **traits: Any) -> Callable[[Class], Class]: ...


def component(cls: Optional[type] = None, *, storage: Optional[str] = None, **traits: Any) -> Any:
    """Makes a class a component. A class without fields is a tag. Storages are "chunk", "tag", "singleton" and "pool"; traits are those of
    mica/describe.h: toggle, track_added, track_changed, split, many, hides, required=[...], excludes=[...]."""
    decorate: Callable[[type], type] = lambda cls: _describe(cls, storage, False, traits)
    return decorate(cls) if cls is not None else decorate


@dataclass_transform()
def singleton(cls: Class) -> Class:
    """Makes a class a component with one value per world."""
    _describe(cls, "singleton", False, {})
    return cls


@overload
@dataclass_transform()
def relation(cls: Class) -> Class: ...


@overload
@dataclass_transform()
def relation(cls: None = None, **traits: Any) -> Callable[[Class], Class]: ...


def relation(cls: Optional[type] = None, **traits: Any) -> Any:
    """Makes a class a relation between entities; its fields are those of each edge. Traits are those of mica/relation.h: exclusive, symmetric,
    acyclic, transitive, ordered, on_target="remove", "destroy", "keep" or "refuse"."""
    decorate: Callable[[type], type] = lambda cls: _describe(cls, None, True, traits)
    return decorate(cls) if cls is not None else decorate


def dtype_of(struct: Any) -> np.dtype:
    """The NumPy type of values with this description. Text and lists are opaque bytes in it."""
    names, formats, offsets = [], [], []
    for field in ffi.unpack(struct.fields, struct.field_count) if struct.field_count else []:
        names.append(ffi.string(field.name).decode())
        offsets.append(field.offset)
        formats.append(_field_dtype(field))
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": struct.size_bytes})


def _field_dtype(field: Any) -> np.dtype:
    if field.kind == lib.MICA_KIND_CHAR:
        return np.dtype(f"S{field.count}")
    if field.kind in NUMBERS:
        base = np.dtype(NUMBERS[field.kind])
    elif field.kind in (lib.MICA_KIND_ENTITY, lib.MICA_KIND_ASSET):
        base = np.dtype("<u8")
    elif field.kind in (lib.MICA_KIND_ENUM, lib.MICA_KIND_FLAGS):
        base = np.dtype(f"<{'i' if field.kind == lib.MICA_KIND_ENUM else 'u'}{field.element_bytes}")
    elif field.kind == lib.MICA_KIND_STRUCT:
        base = dtype_of(field.type)
    else:
        base = np.dtype(f"V{field.element_bytes}")
    return base if field.count == 1 else np.dtype((base, (field.count,)))


def _numbers(dtype: np.dtype) -> Iterable[tuple[np.dtype, int]]:
    """The type and offset of every number in a value, in order."""
    if dtype.subdtype:
        base, shape = dtype.subdtype
        for i in range(int(np.prod(shape))):
            yield from ((part, i * base.itemsize + at) for part, at in _numbers(base))
    elif dtype.fields:
        for name in dtype.names or ():
            part, offset = dtype.fields[name][:2]
            yield from ((number, offset + at) for number, at in _numbers(part))
    else:
        yield dtype, 0


class Component:
    """A component of a world: id, name, NumPy type and, if it was described in Python, its class."""

    def __init__(self, number: int, cls: Optional[type]) -> None:
        struct = lib.mica_component_type(number)
        self.id = number
        self.name: str = ffi.string(struct.name).decode()
        self.struct = struct
        self.cls = cls
        self.dtype = dtype_of(struct)
        self.fields = ffi.unpack(struct.fields, struct.field_count) if struct.field_count else []
        self._fields: dict[tuple[int, str], Any] = {}  # by description and name
        self._dtypes: dict[int, np.dtype] = {}  # by field
        self.is_tag = struct.size_bytes == 0
        self.is_dynamic = _has_dynamic(struct)
        self._dynamic_fields: Optional[dict[str, Any]] = None
        self.width = self._uniform_width()

    def _uniform_width(self) -> int:
        """How many numbers a value has if it consists of equal numbers without gaps, so that a column is an ordinary array; else 0."""
        numbers = [] if self.is_tag else list(_numbers(self.dtype))
        if not numbers or numbers[0][0].kind in "SV":
            return 0
        size = numbers[0][0].itemsize
        same = all(number == numbers[0][0] and at == i * size for i, (number, at) in enumerate(numbers))
        self.number = numbers[0][0]
        return len(numbers) if same and size * len(numbers) == self.dtype.itemsize else 0

    @property
    def dynamic_fields(self) -> dict[str, Any]:
        """The fields that are text or lists, by name."""
        if self._dynamic_fields is None:
            from .dynamic import DynamicField  # pylint: disable=import-outside-toplevel
            made = [DynamicField(self, i) for i, field in enumerate(self.fields)
                    if field.kind in (lib.MICA_KIND_TEXT, lib.MICA_KIND_LIST)]
            self._dynamic_fields = {field.name: field for field in made}
        return self._dynamic_fields

    def pack(self, values: Any, count: Optional[int] = None) -> np.ndarray:
        """Values as bytes in the layout of the component: from an instance, a dict, or for `count` values an array."""
        if count is None:
            record = np.zeros((), self.dtype)
            fill(record, values, self.name)
            return record
        return self._pack_column(values, count)

    def _pack_column(self, values: Any, count: int) -> np.ndarray:
        if isinstance(values, dict):
            packed = np.zeros(count, self.dtype)
            for name, column in values.items():
                if name not in (self.dtype.names or ()):
                    raise errors.UnknownError(f"{self.name} has no field {name!r}")
                packed[name] = column
            return packed
        array = np.asarray(values)
        if array.dtype == self.dtype and array.shape == (count,):
            return np.ascontiguousarray(array)
        shapes = [(count, self.width)] + ([(count,)] if self.width == 1 else [])
        if self.width and array.shape in shapes and np.can_cast(array.dtype, self.number, "same_kind"):
            return np.ascontiguousarray(array, self.number)
        expected = f"shape {shapes[-1]} of {self.number}" if self.width else f"shape ({count},) of {self.dtype}"
        raise errors.InvalidError(f"the column of {self.name} has shape {array.shape} of {array.dtype}, and needs {expected}, "
                                  "or a dict with an array for each field")

    def unpack(self, record: np.ndarray) -> Any:
        """An instance of the class of the component, or a namespace, from one value."""
        return _read(record, self.cls)

    def field_of(self, struct: Any, name: str) -> Any:
        """A field of the description, or of that of a field, by name; None if there is none."""
        key = int(ffi.cast("uintptr_t", struct)), name
        if key not in self._fields:
            fields = ffi.unpack(struct.fields, struct.field_count)
            self._fields[key] = next((item for item in fields if ffi.string(item.name).decode() == name), None)
        return self._fields[key]

    def dtype_at(self, field: Any) -> np.dtype:
        """The NumPy type of a field."""
        key = int(ffi.cast("uintptr_t", ffi.addressof(field)))
        if key not in self._dtypes:
            self._dtypes[key] = _field_dtype(field)
        return self._dtypes[key]

    def __repr__(self) -> str:
        return f"<component {self.name}>"


def number_of(struct: Any) -> Optional[np.dtype]:
    """The NumPy type of the elements of a list, or None if they are not numbers or handles."""
    if struct and struct.kind in NUMBERS:
        return np.dtype(NUMBERS[struct.kind])
    return np.dtype("<u8") if struct and struct.kind == lib.MICA_KIND_ENTITY else None


def hints_of(cls: Optional[type]) -> dict[str, Any]:
    """The types of the fields of a class; none without a class."""
    return {name: hint for name, hint, _ in _field_hints(cls)} if cls else {}


def _has_dynamic(struct: Any) -> bool:
    return any(field.kind in (lib.MICA_KIND_TEXT, lib.MICA_KIND_LIST) or (field.kind == lib.MICA_KIND_STRUCT and _has_dynamic(field.type))
               for field in (ffi.unpack(struct.fields, struct.field_count) if struct.field_count else []))


def items_of(value: Any) -> dict[str, Any]:
    """The fields of an instance, namespace or dict."""
    if isinstance(value, dict):
        return value
    return dict(vars(value)) if hasattr(value, "__dict__") else {name: getattr(value, name) for name in value.__slots__}


def fill(record: np.ndarray, value: Any, where: str) -> None:
    """Writes the fields of an instance, dict or struct to a value of a column."""
    if isinstance(value, np.void) or isinstance(value, np.ndarray):
        record[...] = value
        return
    for name, item in items_of(value).items():
        if name not in (record.dtype.names or ()):
            raise errors.UnknownError(f"{where} has no field {name!r}")
        if isinstance(item, enum.Enum):
            item = item.value
        if record.dtype[name].fields and not isinstance(item, (np.void, tuple)):
            fill(record[name], item, f"{where}.{name}")
        else:
            record[name] = item


def _read(record: Any, cls: Optional[type]) -> Any:
    hints = {name: hint for name, hint, _ in _field_hints(cls)} if cls else {}
    values = {}
    for name in record.dtype.names or ():
        item, hint = record[name], hints.get(name)
        if record.dtype[name].fields:
            values[name] = _read(item, hint)
        elif isinstance(hint, type) and issubclass(hint, enum.Enum):
            values[name] = hint(item.item())
        else:
            values[name] = item.tolist()
    if cls is None:
        return types.SimpleNamespace(**values)
    return cls(**{name: item for name, item in values.items() if name in hints})


def to_json(value: Any) -> str:
    """Fields as mica_value_parse reads them."""
    hints = hints_of(type(value)) if "__mica__" in type(value).__dict__ else {}
    return json.dumps({name: _json_item(item, hints.get(name)) for name, item in items_of(value).items()})


def item_to_json(value: Any, hint: Any = None) -> str:
    """A field as mica_value_parse reads it."""
    return json.dumps(_json_item(value, hint))


def _json_item(item: Any, hint: Any = None) -> Any:
    if hint is Entity:
        return f"#{item & 0xFFFFFFFF}:{item >> 32}" if item else None
    if typing.get_origin(hint) is list:
        return [_json_item(part, typing.get_args(hint)[0]) for part in item]
    if isinstance(item, enum.Enum):
        return item.name
    if dataclasses.is_dataclass(item):
        return json.loads(to_json(item))
    if isinstance(item, types.SimpleNamespace):
        return {name: _json_item(part) for name, part in items_of(item).items()}
    if isinstance(item, (list, tuple, np.ndarray)):
        return [_json_item(part) for part in item]
    if isinstance(item, np.generic):
        return item.item()
    return item


def from_json(value: Any, cls: Optional[type]) -> Any:
    """An instance of a class, or a namespace, from the text of mica_value_write."""
    hints = {name: hint for name, hint, _ in _field_hints(cls)} if cls else {}
    values = {name: from_json_item(item, hints.get(name)) for name, item in value.items()}
    return cls(**{name: item for name, item in values.items() if name in hints}) if cls else types.SimpleNamespace(**values)


def from_json_item(item: Any, hint: Any) -> Any:
    """A field from the text of mica_value_write, by its type."""
    if isinstance(item, dict):
        return from_json(item, hint if isinstance(hint, type) else None)
    if isinstance(item, list):
        element = typing.get_args(hint)[0] if typing.get_origin(hint) is list else None
        return [from_json_item(part, element) for part in item]
    if hint is Entity:
        index, generation = map(int, item[1:].split(":")) if item else (0, 0)
        return generation << 32 | index
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return hint[item] if isinstance(item, str) else hint(item)
    return item
