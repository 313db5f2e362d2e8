"""Decompositions of tridiagonal matrices with partial pivoting, as LAPACK's gttrf and gttrs compute them: loops over rows."""

from __future__ import annotations

from typing import Any

from ..._variable import Variable, call
from .factors import by_python
from .lowering import Lowering, cast, rule
from .systems import matrices


def size(value: Variable) -> Variable:
    """Returns the size by which pivots are compared: of a complex number, the sum of the sizes of its parts."""
    if not value.type.dtype.startswith("complex"):
        return call("abs", value)
    return call("add", call("abs", call("real", value)), call("abs", call("imag", value)))


def joined(*parts: Variable) -> Variable:
    return call("concatenate", list(parts), axis=0)


def zeros_like(vector: Variable, count: int) -> Variable:
    """Returns a number of zeros with the dtype of a vector."""
    return call("zeros", count, dtype=vector.type.dtype)


def eliminated(carry: Any, row: Any) -> tuple[Any, Any]:
    """Eliminates the element below the diagonal of one column.

    The carry is the column's element of the diagonal and the one right of it; the row is the element below, and the
    next row's elements of the diagonal and right of it. Returns the carry of the next column, and the factor, the two
    elements of this row of U and the one right of them, and whether the rows are exchanged.
    """
    (main, above), (below, next_main, next_above) = carry, row
    is_kept = call("ge", size(main), size(below))
    is_zero = call("logical_and", is_kept, call("eq", main, 0))
    factor = call("where", is_zero, below, call("where", is_kept, below, main) / call("where", is_kept, main, below))
    kept = call("where", is_zero, next_main, next_main - factor * above)
    exchanged = (above - factor * next_main, -(factor * next_above))
    carry = (call("where", is_kept, kept, exchanged[0]), call("where", is_kept, next_above, exchanged[1]))
    zero = call("zeros_like", next_above)
    upper = [
        call("where", is_kept, mine, other) for mine, other in ((main, below), (above, next_main), (zero, next_above))
    ]
    return carry, (factor, *upper, call("logical_not", is_kept))


@rule("LUFactorTridiagonal")
@by_python
def factor(lower: Lowering, node: Any, inputs: list[Variable]) -> list[Variable]:
    below, main, above = matrices(node, inputs)
    right = joined(above, zeros_like(above, 1))
    (last, _), rows = call("scan", eliminated, (main[0], right[0]), (below, main[1:], right[1:]))
    factors, diagonal, first, second, is_exchanged = rows
    diagonal = joined(diagonal, call("expand_dims", last, axis=0))
    count = call("shape_i", main, i=0)
    # Pivots are counted from 1. The last row has none to be exchanged with.
    pivots = call("add", call("arange", 1, count), cast(is_exchanged, "int64"))
    pivots = cast(joined(pivots, call("expand_dims", count, axis=0)), "int32")
    return [factors, diagonal, first, second[:-1], pivots]


def by_rows(step: Any, init: Variable, rows: Any, *, reverse: bool = False) -> tuple[Variable, Variable]:
    """Returns the last carry of a loop with one carry, as a row, and the rows."""
    last, made = call("scan", step, init, rows, reverse=reverse)
    return call("expand_dims", last, axis=0), made


def substituted(reverse: bool, values: Variable, main: Variable, first: Variable, second: Variable) -> Variable:
    """Solves with U, or with its transpose, whose elements off the diagonal stand at the rows that they are used in."""

    def step(carry: Any, row: Any) -> tuple[Any, Any]:
        (near, far), (value, pivot, one, two) = carry, row
        solved = (value - one * near - two * far) / pivot
        return (solved, near), solved

    zero = call("zeros_like", values[0])
    _, solved = call("scan", step, (zero, zero), (values, main, first, second), reverse=reverse)
    return solved


@rule("SolveLUFactorTridiagonal")
@by_python
def solve(lower: Lowering, node: Any, inputs: list[Variable]) -> list[Variable]:
    below, main, above, second, _, values = matrices(node, inputs)
    pivots = cast(inputs[4], "int64")[:-1]
    is_exchanged = call("ne", pivots, call("arange", 1, call("shape_i", main, i=0)))
    lower.extents.equate(node.outputs[0], node.inputs[5])
    zeros = (zeros_like(main, 1), zeros_like(main, 2))
    if not node.op.transposed:

        def forward(above: Any, row: Any) -> tuple[Any, Any]:
            factor, is_exchanged, value = row
            one, other = (call("where", is_exchanged, *pair) for pair in ((value, above), (above, value)))
            return other - factor * one, one

        last, rows = by_rows(forward, values[0], (below, is_exchanged, values[1:]))
        return [substituted(True, joined(rows, last), main, joined(above, zeros[0]), joined(second, zeros[1])[: main.shape[0]])]

    def backward(after: Any, row: Any) -> tuple[Any, Any]:
        factor, is_exchanged, value = row
        changed = value - factor * after
        return call("where", is_exchanged, after, changed), call("where", is_exchanged, changed, after)

    solved = substituted(False, values, main, joined(zeros[0], above), joined(zeros[1], second)[: main.shape[0]])
    first, rows = by_rows(backward, solved[-1], (below, is_exchanged, solved[:-1]), reverse=True)
    return [joined(first, rows)]
