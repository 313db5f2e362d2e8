"""Cholesky decompositions and triangular systems, which densities of multivariate normal distributions use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from ..._own import Apply, ExternalCOp
from ..._variable import Variable, call
from . import scalars
from .elementwise import index
from .lowering import Lowering, Refused, cast, constant, rule


class Cholesky(ExternalCOp):
    """Returns the lower Cholesky factor of a positive definite matrix, or NaN."""

    __props__ = ()

    def __init__(self) -> None:
        super().__init__("c/cholesky.c", "APPLY_SPECIFIC(cholesky)")

    def make_node(self, a: Variable) -> Apply:
        return Apply(self, [a], [a.type()])

    def c_headers(self) -> list[str]:
        return ["<math.h>"]

    def perform(self, node: Apply, inputs: Sequence[numpy.ndarray], output_storage: Sequence[list[Any]]) -> None:
        try:
            output_storage[0][0] = numpy.linalg.cholesky(inputs[0])
        except numpy.linalg.LinAlgError:
            if inputs[0].shape[0] != inputs[0].shape[1]:
                raise ValueError("expected a square matrix") from None
            output_storage[0][0] = numpy.full_like(inputs[0], numpy.nan)


class SolveLower(ExternalCOp):
    """Solves a system with a lower triangular matrix."""

    __props__ = ()

    def __init__(self) -> None:
        super().__init__("c/solve_lower.c", "APPLY_SPECIFIC(solve_lower)")

    def make_node(self, a: Variable, b: Variable) -> Apply:
        return Apply(self, [a, b], [b.type()])

    def c_headers(self) -> list[str]:
        return ["<math.h>"]

    def perform(self, node: Apply, inputs: Sequence[numpy.ndarray], output_storage: Sequence[list[Any]]) -> None:
        a, b = inputs
        if a.shape[0] != a.shape[1] or a.shape[0] != b.shape[0]:
            raise ValueError("expected a square matrix and as many rows on the right")
        x = b.copy()
        with numpy.errstate(all="ignore"):
            for row in range(len(b)):
                x[row] = (b[row] - a[row, :row] @ x[:row]) / a[row, row]
        x[...] = x if numpy.diagonal(a).all() else numpy.nan
        output_storage[0][0] = x


cholesky_lower, solve_lower = Cholesky(), SolveLower()


def check_dtype(dtype: str) -> None:
    """Refuses dtypes other than float32 and float64."""
    if dtype not in ("float32", "float64"):
        raise Refused(f"precast does not support it for {dtype}")


@rule("Cholesky")
def cholesky(lower: Lowering, node: Any, inputs: list[Variable]) -> Variable:
    dtype = node.outputs[0].type.dtype
    check_dtype(dtype)
    lower.extents.equate(node.outputs[0], node.inputs[0])
    a = cast(inputs[0], dtype)
    if node.op.lower:
        return cholesky_lower(a)
    return call("transpose", cholesky_lower(call("transpose", a)))


@rule("SolveTriangular")
def solve_triangular(lower: Lowering, node: Any, inputs: list[Variable]) -> Variable:
    dtype = node.outputs[0].type.dtype
    check_dtype(dtype)
    if getattr(node.op, "trans", 0) not in (0, "N"):
        raise Refused("precast cannot solve with the transpose of the matrix")
    lower.extents.equate(node.outputs[0], node.inputs[1])
    a, b = (cast(value, dtype) for value in inputs)
    b = as_matrix(node, b)
    return as_given(node, triangular(a, b, node.op.lower, node.op.unit_diagonal))


def as_matrix(node: Any, b: Variable) -> Variable:
    """Returns the right-hand side of a system as a matrix; a vector becomes one column."""
    return b if node.op.b_ndim == 2 else index(b, (slice(None), None))


def as_given(node: Any, x: Variable) -> Variable:
    """Returns a solution with as many axes as the given right-hand side."""
    return x if node.op.b_ndim == 2 else index(x, (slice(None), 0))


def triangular(a: Variable, b: Variable, lower: bool, unit_diagonal: bool = False) -> Variable:
    """Solves a system with a triangular matrix."""
    if unit_diagonal:
        ones = cast(call("eye", call("shape_i", a, i=0)), "bool")
        a = scalars.select(ones, constant(1, a.type.dtype), a)
    # An upper triangular matrix with rows and columns reversed is lower triangular.
    if not lower:
        a, b = call("flip", a), call("flip", b, axis=0)
    x = solve_lower(a, b)
    return x if lower else call("flip", x, axis=0)
