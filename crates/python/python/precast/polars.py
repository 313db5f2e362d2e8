"""Calls functions of precast in expressions of Polars.

>>> import precast.polars                                                    # doctest: +SKIP
>>> score = precast.polars.expr(model.score)                                 # doctest: +SKIP
>>> frame.with_columns(out=score("x", "y"))                                  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars
import pyarrow

from ._arrow import Columns

__all__ = ["expr"]


def expr(function: Any) -> Callable[..., polars.Expr]:
    """Returns a function of columns whose result is an expression: names of columns, expressions or numbers, by position or by name.

    Columns have the dtypes of the inputs and are read in place. A row with a null is null if the function is elementwise, as functions
    of C scalars (``x: f64``) are. Other functions get whole columns, or those of a group; their results are columns or numbers, and nulls
    are errors. Several results are the fields of a struct.
    """
    columns = Columns(function)
    empty = [(name, pyarrow.array([], type_)) for name, type_ in columns.outputs]
    dtypes = [(name, polars.from_arrow(array).dtype) for name, array in empty]
    result = polars.Struct(dict(dtypes)) if len(dtypes) > 1 else dtypes[0][1]

    def run(series: Any) -> Any:
        return polars.from_arrow(columns.call([each.rechunk().to_arrow() for each in series]))

    def called(*args: Any, **named: Any) -> polars.Expr:
        given = columns.interface.flat(args, named)
        exprs = [_expr(value, type_) for value, (_, type_) in zip(given, columns.inputs, strict=True)]
        return polars.map_batches(
            exprs, run, return_dtype=result, is_elementwise=columns.is_elementwise, returns_scalar=columns.is_reduction
        )

    called.__name__ = called.__qualname__ = columns.interface.name
    called.__doc__ = f"Returns an expression that calls `{columns.interface.name}{columns.interface.function.signature}`."
    return called


def _expr(value: Any, type_: Any) -> Any:
    """Returns the expression of an argument."""
    if isinstance(value, str):
        return polars.col(value)
    if isinstance(value, polars.Expr):
        return value
    return polars.lit(value, dtype=polars.from_arrow(pyarrow.array([], type_)).dtype)
