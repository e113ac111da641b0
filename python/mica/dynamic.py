"""Text and lists: values that own some outside of a world, and columns of them.

    for view in world.query("write Person"):
        names = view.Person.name            a DynamicColumn
        names[0] = "Anna"
        print(list(names), view.Person.scores[0])
"""
from __future__ import annotations

import json
from typing import Any, Iterator, Optional, Sequence, Union

import numpy as np

from . import errors, types
from ._native import ffi, lib
from .loop import Guard

TO_THE_END = 0xFFFFFFFF


def parse(member: Any, text: str) -> None:
    """Sets a value from JSON."""
    error = ffi.new("mica_value_error *")
    result = lib.mica_value_parse(member, text.encode(), error)
    if result != lib.MICA_OK:
        raise errors.make(result, f"at {error.position}: {ffi.string(error.text).decode()}")


def written(member: Any) -> Any:
    """A value as JSON says it."""
    size = lib.mica_value_write(member, ffi.NULL, 0)
    text = ffi.new("char[]", size + 1)
    lib.mica_value_write(member, text, size + 1)
    return json.loads(ffi.string(text).decode())


class DynamicField:
    """A field of a component that is a text or a list."""

    def __init__(self, component: types.Component, position: int) -> None:
        self.struct, self.position = component.struct, position
        self.field = component.fields[position]
        self.name = ffi.string(self.field.name).decode()
        self.is_text = self.field.kind == lib.MICA_KIND_TEXT and self.field.count == 1
        hints = types.hints_of(component.cls)
        self.hint = hints.get(self.name)
        self.number: Optional[np.dtype] = None
        if self.field.kind == lib.MICA_KIND_LIST and self.field.count == 1:
            self.number = types.number_of(self.field.type)

    def read(self, address: int) -> Any:
        """The text, an array of numbers that is a copy, or a list."""
        at = address + self.field.offset
        if self.is_text:
            text = ffi.cast("mica_text *", at)
            return bytes(ffi.buffer(lib.mica_text_get(text), lib.mica_text_length(text))).decode(errors="replace")
        if self.number is not None:
            items = ffi.cast("mica_list *", at)
            count = lib.mica_list_count(items)
            if not count:
                return np.empty(0, self.number)
            return np.frombuffer(ffi.buffer(lib.mica_list_items_type(items, self.field.type), count * self.number.itemsize), self.number).copy()
        return types.from_json_item(written(self._member(address)), self.hint)

    def write(self, address: int, value: Any) -> None:
        """Sets the text or list."""
        at = address + self.field.offset
        if self.is_text:
            if not isinstance(value, str):
                raise errors.InvalidError(f"{self.name} is a text, and {value!r} is none")
            data = value.encode()
            result = lib.mica_text_set_bytes(ffi.cast("mica_text *", at), data, len(data))
        elif self.number is not None:
            array = np.asarray(value)
            if array.ndim != 1 or not (len(array) == 0 or np.can_cast(array.dtype, self.number, "same_kind")):
                raise errors.InvalidError(f"{self.name} is a list of {self.number}, and {value!r} is none")
            array = np.ascontiguousarray(array, self.number)
            result = lib.mica_list_replace_type(ffi.cast("mica_list *", at), self.field.type, 0, TO_THE_END,
                                                ffi.cast("void *", array.ctypes.data), len(array))
        else:
            parse(self._member(address), types.item_to_json(value, self.hint))
            return
        if result != lib.MICA_OK:
            raise errors.make(result)

    def _member(self, address: int) -> Any:
        return lib.mica_member_at(lib.mica_member_of_type(self.struct, ffi.cast("void *", address)), self.position)


class DynamicColumn(Sequence[Any]):
    """The text or lists of one field, of all rows of a view. Items are copies: str, an array of numbers, or a list. Those of a component
    that the query writes can be set: column[3] = "Anna"."""

    def __init__(self, guard: Optional[Guard], field: DynamicField, address: int, stride: int, count: int, is_written: bool) -> None:
        self._guard, self._field, self._address, self._stride, self._count = guard, field, address, stride, count
        self._is_written = is_written

    def _place(self, position: int) -> int:
        if self._guard is not None:
            self._guard.check()
        if position < 0:
            position += self._count
        if not 0 <= position < self._count:
            raise IndexError(f"the column has {self._count} rows")
        return self._address + position * self._stride

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, position: Union[int, slice]) -> Any:
        if isinstance(position, slice):
            return [self[i] for i in range(*position.indices(self._count))]
        return self._field.read(self._place(int(position)))

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(self._count))

    def __setitem__(self, position: Union[int, slice], value: Any) -> None:
        if not self._is_written:
            raise ValueError(f"{self._field.name} is read-only: the query does not write the component")
        if isinstance(position, slice):
            rows = range(*position.indices(self._count))
            values = [value] * len(rows) if isinstance(value, str) else list(value)
            if len(values) != len(rows):
                raise errors.InvalidError(f"{self._field.name}: {len(values)} values for {len(rows)} rows")
            for row, item in zip(rows, values):
                self._field.write(self._place(row), item)
        else:
            self._field.write(self._place(int(position)), value)

    def tolist(self) -> list[Any]:
        """All items."""
        return list(self)

    def __eq__(self, other: Any) -> bool:
        return list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<column of {self._field.name}: {list(self)!r}>"


class DynamicValues:
    """Values with text and lists in memory of their own, to be copied to a world."""

    def __init__(self, component: types.Component, count: int) -> None:
        self.component = component
        self.array = np.zeros(count, component.dtype)
        self.pointer = ffi.cast("char *", self.array.ctypes.data)

    @classmethod
    def of(cls, component: types.Component, value: Any) -> "DynamicValues":
        """One instance."""
        made = cls(component, 1)
        parse(lib.mica_member_of_type(component.struct, made.pointer), types.to_json(value))
        return made

    @classmethod
    def columns(cls, component: types.Component, values: Any, count: int) -> "DynamicValues":
        """Many values, from a dict with a column for each field: an array, a list of texts or of lists."""
        if not isinstance(values, dict):
            raise errors.InvalidError(f"the column of {component.name}, which has text or lists, is a dict with a column for each field")
        made = cls(component, count)
        dynamic = component.dynamic_fields
        made.array = component.pack({name: column for name, column in values.items() if name not in dynamic}, count)
        made.pointer = ffi.cast("char *", made.array.ctypes.data)
        for name, column in values.items():
            if name in dynamic:
                DynamicColumn(None, dynamic[name], made.array.ctypes.data, component.dtype.itemsize, count, True)[:] = column
        return made

    def __del__(self) -> None:
        for row in range(len(self.array)):
            _clear(self.component.struct, self.array.ctypes.data + row * self.component.dtype.itemsize)


def _clear(struct: Any, address: int) -> None:
    """Frees the text and lists of a value."""
    for field in ffi.unpack(struct.fields, struct.field_count) if struct.field_count else []:
        for i in range(field.count):
            at = address + field.offset + i * field.element_bytes
            if field.kind == lib.MICA_KIND_TEXT:
                lib.mica_text_clear(ffi.cast("mica_text *", at))
            elif field.kind == lib.MICA_KIND_LIST:
                lib.mica_list_clear_type(ffi.cast("mica_list *", at), field.type)
            elif field.kind == lib.MICA_KIND_STRUCT:
                _clear(field.type, at)
