"""SQL: the world as SQLite tables."""
from __future__ import annotations

from typing import Any, Optional, Sequence

from . import errors
from ._native import ffi, lib
from .world_base import WorldBase

ROW, DONE = 100, 101
INTEGER, FLOAT, TEXT, BLOB = 1, 2, 3, 4


class Rows(list):
    """The rows of a statement as tuples, and the names of its columns."""

    columns: tuple[str, ...] = ()


class _Connection:
    """A connection to the tables of one world, closed with it."""

    def __init__(self, world: Any) -> None:
        self.world = world
        self.pointer = lib.mica_sql_open(world._enter(), ffi.NULL)
        if not self.pointer:
            world.fail()
        self.components = lib.mica_world_get_stats(world.pointer).component_count
        world.own(self)

    def close(self) -> None:
        lib.sqlite3_close(self.pointer)
        self.world.disown(self)


class SqlMixin(WorldBase):
    """The part of World for SQL."""

    _connection: Optional[_Connection] = None

    def sql(self, text: str, parameters: Sequence[Any] = ()) -> Rows:
        """Executes one statement over the tables of the world, and returns its rows: see mica/sql.h for tables and columns."""
        self._define_names(text)
        database = self._database()
        self.epoch += 1
        statement, rest = ffi.new("sqlite3_stmt **"), ffi.new("const char **")
        source = ffi.new("char[]", text.encode())
        if lib.sqlite3_prepare_v2(database, source, -1, statement, rest):
            self._sql_fail(database)
        if not statement[0]:
            return Rows()
        try:
            if ffi.string(rest[0]).strip():
                raise errors.InvalidError("sql executes one statement")
            return self._execute(database, statement[0], parameters)
        finally:
            lib.sqlite3_finalize(statement[0])

    def _database(self) -> Any:
        count = lib.mica_world_get_stats(self._enter()).component_count
        if self._connection and self._connection.components != count:
            self.check(lib.mica_sql_attach(self._connection.pointer, self.pointer, ffi.NULL))
            self._connection.components = count
        if not self._connection:
            self._connection = _Connection(self)
        return self._connection.pointer

    def _sql_fail(self, database: Any) -> None:
        self.reports.clear()
        raise errors.InvalidError(ffi.string(lib.sqlite3_errmsg(database)).decode())

    def _execute(self, database: Any, statement: Any, parameters: Sequence[Any]) -> Rows:
        wanted = lib.sqlite3_bind_parameter_count(statement)
        if wanted != len(parameters):
            raise errors.InvalidError(f"the statement has {wanted} parameters, and {len(parameters)} are given")
        kept = [_bind(statement, i + 1, value) for i, value in enumerate(parameters)]
        count = lib.sqlite3_column_count(statement)
        rows = Rows()
        rows.columns = tuple(ffi.string(lib.sqlite3_column_name(statement, i)).decode() for i in range(count))
        while (result := lib.sqlite3_step(statement)) == ROW:
            rows.append(tuple(_read(statement, i) for i in range(count)))
        del kept
        if result != DONE:
            self._sql_fail(database)
        return rows


def _bind(statement: Any, index: int, value: Any) -> Any:
    """Binds a parameter. Returns what must stay alive until the statement is executed."""
    if value is None:
        return lib.sqlite3_bind_null(statement, index)
    if isinstance(value, str):
        text = ffi.new("char[]", value.encode())
        lib.sqlite3_bind_text(statement, index, text, len(text) - 1, ffi.NULL)
        return text
    if isinstance(value, float):
        return lib.sqlite3_bind_double(statement, index, value)
    number = int(value)
    return lib.sqlite3_bind_int64(statement, index, number if number < 1 << 63 else number - (1 << 64))


def _read(statement: Any, column: int) -> Any:
    kind = lib.sqlite3_column_type(statement, column)
    if kind == INTEGER:
        return lib.sqlite3_column_int64(statement, column)
    if kind == FLOAT:
        return lib.sqlite3_column_double(statement, column)
    if kind in (TEXT, BLOB):
        data = lib.sqlite3_column_blob(statement, column)
        raw = bytes(ffi.buffer(data, lib.sqlite3_column_bytes(statement, column))) if data else b""
        return raw.decode(errors="replace") if kind == TEXT else raw
    return None
