"""What the parts of World use of each other, for type checkers. World implements it."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

if TYPE_CHECKING:
    from .query import Query
    from .types import Component


class WorldBase:
    """The base of the parts of World."""

    reports: list[tuple[int, str]]
    pointer: Any
    is_open: bool

    if TYPE_CHECKING:
        @property
        def epoch(self) -> int: ...

        @epoch.setter
        def epoch(self, value: int) -> None: ...

        def _enter(self) -> Any: ...

        def fail(self, result: int = 0) -> None: ...

        def check(self, result: int) -> None: ...

        def settle(self) -> None: ...

        def check_open(self) -> None: ...

        def component(self, component: Any) -> Component: ...

        def query(self, text: str) -> Query: ...

        def value(self, value: Any) -> tuple[Component, Any, Any]: ...

        def _define_names(self, text: str) -> None: ...

        def own(self, item: Any) -> None: ...

        def disown(self, item: Any) -> None: ...

    _original: Optional["WorldBase"] = None  # of a clone
