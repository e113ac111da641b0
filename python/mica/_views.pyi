"""What python/views.c implements: guards, and the loop over the views of a query. mica/loop.py loads it."""
from typing import Any, Callable, Iterator, Optional

class Guard:
    """Whether the columns of a loop may still be used. Made from a World."""

    is_open: bool
    def __new__(cls, world: Any) -> Guard: ...
    def check(self) -> None: ...

class Columns:
    """The terms of a query that have a column, and the arrays that serve again."""

    def __new__(cls, terms: tuple[Any, ...]) -> Columns: ...

class ViewBase:
    """What View derives from. Iterating over it gives the columns."""

    count: int
    _query: Any
    _pointer: Any
    _guard: Guard
    def __iter__(self) -> Iterator[Any]: ...
    def _column(self, number: int, /) -> Any: ...
    def _move(self, pointer: Any, address: int, /) -> None: ...

class Views:
    """The iterator over the views of a query."""

    def __new__(cls, query: Any, pointer: Any, address: int, columns: Columns, guard: Guard, at_end: Optional[Callable[[], None]]) -> Views: ...
    def __iter__(self) -> Views: ...
    def __next__(self) -> Any: ...

def connect(view: type[ViewBase], make_array: Callable[..., Any], split_column: Callable[..., Any], expired: type[Exception]) -> None: ...
