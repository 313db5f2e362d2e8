"""Positions in arrays: conversions between positions of several axes and of all elements, choices by position, and diagonals."""

from __future__ import annotations

from functools import reduce
from typing import Any

from ..._variable import Variable, call
from .indexing import product
from .lowering import Lowering, cast, rule


def _checked(x: Variable, is_right: Variable, message: str) -> Variable:
    """Returns an array; the call raises a ValueError unless all elements of a condition are true."""
    return call("assert", x, call("all", is_right), message=message, error="value")


def _inside(x: Variable, extent: Variable, mode: str, message: str) -> Variable:
    """Returns positions along an axis of this extent, as NumPy's `mode` says."""
    if mode == "wrap":
        return call("mod", x, extent)
    if mode == "clip":
        return call("clip", x, 0, call("sub", extent, 1))
    return _checked(x, call("logical_and", call("ge", x, 0), call("lt", x, extent)), message)


def _extents(dims: Variable, count: int, order: str) -> list[Variable]:
    """Returns the extents of axes, that of the fastest axis first."""
    extents = [cast(dims, "int64")[at] for at in range(count)]
    return extents if order == "F" else extents[::-1]


@rule("UnravelIndex")
def unravel_index(lower: Lowering, node: Any, inputs: list[Variable]) -> list[Variable]:
    extents = _extents(inputs[1], len(node.outputs), node.op.order)
    rest = _inside(cast(inputs[0], "int64"), product(extents), "raise", "an index is out of bounds for the array")
    made = []
    for extent in extents:
        made.append(call("mod", rest, extent))
        rest = call("floor_div", rest, extent)
    return made if node.op.order == "F" else made[::-1]


@rule("RavelMultiIndex")
def ravel_multi_index(lower: Lowering, node: Any, inputs: list[Variable]) -> list[Variable]:
    *positions, dims = inputs
    extents = _extents(dims, len(positions), node.op.order)
    positions = positions if node.op.order == "F" else positions[::-1]
    made: Variable | None = None
    # From the slowest axis on, as digits of a number.
    for position, extent in reversed(list(zip(positions, extents, strict=True))):
        own = _inside(cast(position, "int64"), extent, node.op.mode, "an index is out of bounds for its axis")
        made = own if made is None else call("add", call("mul", made, extent), own)
    assert made is not None
    return [made]


@rule("Choose")
def choose(lower: Lowering, node: Any, inputs: list[Variable]) -> list[Variable]:
    which, choices = cast(inputs[0], "int64"), inputs[1]
    count = call("shape_i", choices, i=0)
    which = _inside(which, count, node.op.mode, "a position is out of bounds for the choices")
    # Each choice is broadcast against the positions.
    rank, own = node.outputs[0].type.ndim, node.inputs[1].type.ndim - 1
    shape = call("shape", call("where", call("eq", which, 0), choices[0], choices[0]))
    choices = call("dimshuffle", choices, order=[0, *[-1] * (rank - own), *range(1, own + 1)])
    wide = call("reshape", call("concatenate", [call("reshape", count, 1), shape]), rank + 1)
    choices = call("broadcast_to", choices, *(wide[at] for at in range(rank + 1)))
    which = call("broadcast_to", which, *(shape[at] for at in range(rank)))
    return [call("take_along_axis", choices, call("expand_dims", which, axis=0), axis=0)[0]]


@rule("FillDiagonal")
def fill_diagonal(lower: Lowering, node: Any, inputs: list[Variable]) -> list[Variable]:
    x, value = inputs
    rank = node.inputs[0].type.ndim
    extents = [call("shape_i", x, i=axis) for axis in range(rank)]
    along = [call("dimshuffle", call("arange", extent), order=[-1] * axis + [0] + [-1] * (rank - 1 - axis)) for axis, extent in enumerate(extents)]
    is_diagonal = reduce(lambda x, y: call("logical_and", x, y), [call("eq", along[0], other) for other in along[1:]])
    if rank > 2:
        for extent in extents[1:]:
            x = _checked(x, call("eq", extent, extents[0]), "all dimensions must be of equal length")
    return [call("where", is_diagonal, value, x)]


@rule("FillDiagonalOffset")
def fill_diagonal_offset(lower: Lowering, node: Any, inputs: list[Variable]) -> list[Variable]:
    x, value, offset = inputs
    rows, columns = (call("arange", call("shape_i", x, i=axis)) for axis in range(2))
    is_diagonal = call("eq", call("sub", columns, rows[:, None]), cast(offset, "int64"))
    return [call("where", is_diagonal, value, x)]


@rule("PermuteRowElements")
def permute_rows(lower: Lowering, node: Any, inputs: list[Variable]) -> list[Variable]:
    x, order = inputs[0], cast(inputs[1], "int64")
    rank = node.outputs[0].type.ndim
    shape = call("shape", call("where", call("eq", order, 0), x, x))
    x, order = (call("broadcast_to", each, *(shape[at] for at in range(rank))) for each in (x, order))
    if node.op.inverse:
        order = call("argsort", call("mod", order, shape[rank - 1]), axis=-1)
    return [call("take_along_axis", x, order, axis=-1)]


@rule("Bartlett")
def bartlett(lower: Lowering, node: Any, inputs: list[Variable]) -> list[Variable]:
    count = cast(inputs[0], "int64")
    places = call("abs", call("arange", call("sub", 1, count), count, 2))
    longest = call("maximum", call("sub", count, 1), 1)
    return [call("sub", 1.0, call("div", cast(places, "float64"), cast(longest, "float64")))]
