"""The part of the package that is written in C, python/views.c: guards, and the loop over the views of a query.

It is in the file of mica._native, which is a module of its own with a second entry point."""
from __future__ import annotations

import importlib.util
from importlib.machinery import ExtensionFileLoader
from typing import TYPE_CHECKING, Any

from . import _native


def _load() -> Any:
    name = "mica._views"
    loader = ExtensionFileLoader(name, _native.__file__)
    spec = importlib.util.spec_from_file_location(name, _native.__file__, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


if TYPE_CHECKING:
    from ._views import Columns, Guard, ViewBase, Views, connect, live_arrow
else:
    _views = _load()
    Guard, Columns, ViewBase, Views = _views.Guard, _views.Columns, _views.ViewBase, _views.Views
    connect, live_arrow = _views.connect, _views.live_arrow

__all__ = ["Columns", "Guard", "ViewBase", "Views", "connect", "live_arrow"]
