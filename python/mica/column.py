"""Columns: NumPy arrays over the memory of a world, which refuse to be used after the memory may have changed."""
from __future__ import annotations

from sys import getrefcount
from typing import Any, Optional

import numpy as np

from . import errors
from ._native import ffi
from .dynamic import DynamicColumn
from .loop import Guard


REFERENCES_WHEN_UNUSED = 3  # of the fields, of the local variable and of the call that counts them
_set, _buffer = object.__setattr__, ffi.buffer


class Column(np.ndarray):
    """An array over a column of a world. Fields are attributes: position.x. Results of computations are ordinary arrays; slices are
    columns. `numpy.asarray(column)` returns an array without the check: use `column.copy()` to keep values."""

    _guard: Optional[Guard] = None
    _component: Any = None

    def __array_finalize__(self, source: Any) -> None:
        # A new array has its own memory and never expires. A slice shares the memory of its source.
        if source is not None and self.base is not None:
            guard = getattr(source, "_guard", None)
            if guard is not None:
                _set(self, "_guard", guard)

    def _check(self) -> None:
        if self._guard is not None:
            self._guard.check()

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:
        checked = None
        plain = []
        for item in inputs if out is None else (*inputs, *out):
            if isinstance(item, Column):
                guard = item._guard
                if guard is not checked and guard is not None:  # columns of one view are checked once
                    guard.check()
                    checked = guard
                item = item.view(np.ndarray)
            plain.append(item)
        if out is None:
            return getattr(ufunc, method)(*plain, **options)
        result = getattr(ufunc, method)(*plain[:len(inputs)], out=tuple(plain[len(inputs):]), **options)
        return out[0] if len(out) == 1 and out[0] is not None else result

    def __array_function__(self, func: Any, kinds: Any, args: Any, kwargs: Any) -> Any:
        return func(*_plain_tree(args), **_plain_tree(kwargs))

    def __getitem__(self, key: Any) -> Any:
        self._check()
        component = self._component
        if isinstance(key, str) and component is not None and (component.width or component.is_dynamic):
            return self._field(key)
        result = super().__getitem__(key)
        if isinstance(result, Column) and not np.may_share_memory(result, self):
            return result.view(np.ndarray)
        if isinstance(result, Column) and isinstance(key, slice):
            _set(result, "_component", component)
            if "_fields_plain" in self.__dict__:
                _set(result, "_fields_plain", self.__dict__["_fields_plain"][key])
        return result

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in self._names():
            return self._field(name)
        self._check()
        raise AttributeError(f"this column has no field {name!r}; it has {', '.join(self._names()) or 'none'}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("shape", "dtype", "strides"):
            self.__dict__.pop("_plain", None)
            self.__dict__.pop("_fields", None)
        if name.startswith("_") or name in ("shape", "dtype", "strides", "flat", "real", "imag", "data"):
            super().__setattr__(name, value)
        elif name in self._names():
            field = self._field(name)
            if isinstance(field, DynamicColumn):
                field[:] = value
            elif field is not value:  # after `position.x += 1` the value is the field itself
                field[...] = value
        else:
            raise AttributeError(f"this column has no field {name!r}; it has {', '.join(self._names()) or 'none'}")

    def _names(self) -> tuple[str, ...]:
        if self._component is not None and self._component.width:
            return self._component.dtype.names or ()
        return self.dtype.names or ()

    def _kept_field(self, name: str) -> "Column":
        """A field, which is made once if nothing else refers to it. It must not refer to this column, which serves again like it."""
        attributes = self.__dict__
        guard = attributes.get("_guard")
        if guard is not None:
            guard.check()
        fields = attributes.setdefault("_fields", {})
        field = fields.get(name)
        if field is not None:
            known = field.__dict__
            if known.get("_guard") is guard:
                return field
            if getrefcount(field) == REFERENCES_WHEN_UNUSED:
                known["_guard"] = guard
                return field
        field = fields[name] = _plain_field(self, name).view(Column)
        known = field.__dict__
        known["_guard"], known["_plain"] = guard, field.view(np.ndarray)
        return field

    def _field(self, name: str) -> Any:
        """A field of a column, by its name."""
        component = self._component
        if component is None or self.dtype.names != component.dtype.names and not component.width:
            return self._kept_field(name)
        if name not in component.dtype.names:
            raise errors.UnknownError(f"{component.name} has no field {name!r}")
        if component.is_dynamic and name in component.dynamic_fields:
            self._check()
            return DynamicColumn(self._guard, component.dynamic_fields[name], self.__array_interface__["data"][0], self.strides[0],
                                 len(self), "_fields_plain" in self.__dict__)
        return self._kept_field(name)

    @property
    def records(self) -> "Column":
        """The same memory as an array of structs: column.records["x"]."""
        self._check()
        if self._component is None or not self._component.width:
            return self
        result = self.view(self._component.dtype) if self.ndim == 1 else self.view(self._component.dtype)[:, 0]
        _set(result, "_component", None)
        return result

    def __reduce__(self) -> Any:
        self._check()
        return np.array(self, subok=False).__reduce__()


def _plain(item: Any) -> Any:
    if isinstance(item, Column):
        item._check()
        return item.view(np.ndarray)
    return item


def _plain_tree(item: Any) -> Any:
    if isinstance(item, (list, tuple)):
        return type(item)(_plain_tree(part) for part in item)
    if isinstance(item, dict):
        return {key: _plain_tree(part) for key, part in item.items()}
    return _plain(item)


def _plain_field(column: Column, name: str) -> np.ndarray:
    """A field as an ordinary array over the same memory."""
    component = column._component
    plain = column.__dict__["_plain"] if "_plain" in column.__dict__ else _keep_plain(column)
    plain = column.__dict__.get("_fields_plain", plain)
    if component is None or not component.width:
        return plain[name]
    part, offset = component.dtype.fields[name][:2]
    size = component.number.itemsize
    first, count = offset // size, part.itemsize // size
    if plain.ndim == 1:
        return plain
    return plain[:, first if count == 1 else slice(first, first + count)]


def _in_place(name: str, ufunc: Any) -> Any:
    """An operator such as += without the general path through __array_ufunc__, which costs as much as adding some thousand numbers."""
    def operator(self: Column, other: Any) -> Column:
        guard, attributes = self._guard, self.__dict__
        if guard is not None:
            guard.check()
        if isinstance(other, Column):
            if other._guard is not guard:
                other._check()
            other = other.__dict__["_plain"] if "_plain" in other.__dict__ else _keep_plain(other)
        target = attributes["_plain"] if "_plain" in attributes else _keep_plain(self)
        ufunc(target, other, out=target)
        return self

    operator.__name__ = name
    return operator


def _keep_plain(column: Column) -> np.ndarray:
    plain = column.__dict__["_plain"] = column.view(np.ndarray)
    return plain


for _name, _ufunc in (("__iadd__", np.add), ("__isub__", np.subtract), ("__imul__", np.multiply), ("__itruediv__", np.true_divide)):
    setattr(Column, _name, _in_place(_name, _ufunc))


def _comparison(name: str, ufunc: Any) -> Any:
    """NumPy catches what __array_ufunc__ raises in a comparison, and compares something else instead."""
    def operator(self: Column, other: Any) -> Any:
        return ufunc(_plain(self), _plain(other))

    operator.__name__ = name
    return operator


for _name, _ufunc in (("__eq__", np.equal), ("__ne__", np.not_equal), ("__lt__", np.less), ("__le__", np.less_equal), ("__gt__", np.greater),
                      ("__ge__", np.greater_equal)):
    setattr(Column, _name, _comparison(_name, _ufunc))


def _guarded(name: str) -> Any:
    original = getattr(np.ndarray, name)

    def method(self: Column, *args: Any, **kwargs: Any) -> Any:
        self._check()
        return original(self, *args, **kwargs)

    method.__name__, method.__doc__ = name, original.__doc__ or f"As numpy.{name}."
    return method


# What NumPy implements without going through ufuncs and functions.
_SPECIAL = ("__iter__", "__repr__", "__str__", "__contains__", "__float__", "__int__", "__bool__", "__copy__", "__deepcopy__", "__array__",
            "__setitem__", "__index__", "__format__", "__complex__")
for _name in (*_SPECIAL, *(name for name in dir(np.ndarray) if not name.startswith("_") and callable(getattr(np.ndarray, name)))):
    if _name not in ("view", "setflags") and _name not in Column.__dict__:
        setattr(Column, _name, _guarded(_name))


def make_values(guard: Guard, component: Any, address: Any, count: int) -> Column:
    """The values that an event or a message has, which may be changed."""
    dtype = component.number if component.width else component.dtype
    return make_array(guard, address, count, dtype, component.width, True, component)


def make_array(guard: Guard, address: Any, count: int, dtype: np.dtype, width: int, writable: bool, component: Any = None) -> Column:
    """An array over memory at an address, without a copy."""
    plain = np.frombuffer(_buffer(address, count * max(width, 1) * dtype.itemsize), dtype)
    if width > 1:
        plain = plain.reshape(count, width)
    whole = plain
    if not writable or (component is not None and component.is_dynamic):  # text and lists are more than their bytes
        plain = plain.view()
        plain.setflags(write=False)
    column = plain.view(Column)
    attributes = column.__dict__
    attributes["_guard"], attributes["_component"], attributes["_plain"] = guard, component, plain
    if writable and plain is not whole:
        attributes["_fields_plain"] = whole  # numbers can be written, one field after the other
    return column
