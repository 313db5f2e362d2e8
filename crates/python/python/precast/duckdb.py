"""Registers functions of precast as SQL functions of DuckDB.

>>> import precast.duckdb                                                    # doctest: +SKIP
>>> precast.duckdb.register(connection, model.score)                         # doctest: +SKIP
>>> connection.sql("select score(x, y) from t")                              # doctest: +SKIP
"""

from __future__ import annotations

import inspect
from typing import Any

import duckdb

from ._arrow import Columns
from .errors import GraphTypeError

__all__ = ["register"]

_POSITIONAL = inspect.Parameter.POSITIONAL_ONLY

#: The types of SQL, by the names of Arrow's types.
_SQL = {
    "bool": "BOOLEAN",
    **{f"int{bits}": name for bits, name in ((8, "TINYINT"), (16, "SMALLINT"), (32, "INTEGER"), (64, "BIGINT"))},
    **{f"uint{bits}": f"U{name}" for bits, name in ((8, "TINYINT"), (16, "SMALLINT"), (32, "INTEGER"), (64, "BIGINT"))},
    "float": "FLOAT",
    "double": "DOUBLE",
}


def register(connection: duckdb.DuckDBPyConnection, function: Any, name: str | None = None) -> None:
    """Registers an elementwise function as a scalar function of SQL, under its own name or another.

    DuckDB casts arguments to wider types of the inputs, and passes many rows at once. A row with a NULL is NULL. Several results are the
    fields of a STRUCT.
    """
    columns = Columns(function)
    if not columns.is_elementwise:
        raise GraphTypeError(f"`{columns.interface.name}` is not elementwise: DuckDB passes parts of columns")
    parameters = [_sql(*port) for port in columns.inputs]
    results = {port[0]: _sql(*port) for port in columns.outputs}
    result = duckdb.struct_type(results) if len(results) > 1 else next(iter(results.values()))

    def run(*given: Any) -> Any:
        return columns.call([each.combine_chunks() for each in given])

    # DuckDB counts the parameters.
    run.__signature__ = inspect.Signature([inspect.Parameter(f"x{at}", _POSITIONAL) for at in range(len(parameters))])  # type: ignore[attr-defined]
    connection.create_function(name or columns.interface.name, run, parameters, result, type="arrow", null_handling="special")


def _sql(name: str, type_: Any) -> str:
    found = _SQL.get(str(type_))
    if found is None:
        raise GraphTypeError(f"`{name}` is `{type_}`, which DuckDB has no type for")
    return found
