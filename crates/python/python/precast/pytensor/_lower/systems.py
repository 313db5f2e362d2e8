"""Systems of linear equations, inverses and determinants, by decompositions with partial pivoting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from ..._own import Apply, ExternalCOp
from ..._types import TensorType
from ..._variable import Variable, call
from .decompositions import as_given, as_matrix, check_dtype, cholesky_lower, triangular
from .elementwise import index
from .lowering import HINT, Lowering, Refused, array_type, cast, constant, rule


class LU(ExternalCOp):
    """Computes P·a = L·U. Returns L and U in one matrix, and the row order of P followed by its sign."""

    __props__ = ()

    def __init__(self) -> None:
        super().__init__("c/lu.c", "APPLY_SPECIFIC(lu)")

    def make_node(self, a: Variable) -> Apply:
        return Apply(self, [a], [a.type(), TensorType("int64", [None])()])

    def c_headers(self) -> list[str]:
        return ["<math.h>"]

    def perform(self, node: Apply, inputs: Sequence[numpy.ndarray], output_storage: Sequence[list[Any]]) -> None:
        u = inputs[0].copy()
        if u.shape[0] != u.shape[1]:
            raise ValueError("expected a square matrix")
        rows = numpy.append(numpy.arange(len(u)), 1)
        for k in range(len(u)):
            with numpy.errstate(all="ignore"):
                sizes = numpy.abs(u[k:, k])
                pivot = k + (0 if numpy.isnan(sizes[0]) else int(numpy.nanargmax(sizes)))
                if pivot != k:
                    u[[k, pivot]], rows[[k, pivot]] = u[[pivot, k]], rows[[pivot, k]]
                    rows[-1] *= -1
                if u[k, k] != 0:
                    u[k + 1 :, k] /= u[k, k]
                    u[k + 1 :, k + 1 :] -= numpy.outer(u[k + 1 :, k], u[k, k + 1 :])
        output_storage[0][0], output_storage[1][0] = u, rows


lu = LU()


def decomposed(a: Variable) -> tuple[Variable, Variable, Variable]:
    """Returns the two triangles of a matrix, the order of its rows, and the sign of that permutation."""
    made, rows = lu(a)
    return made, index(rows, slice(None, -1)), index(rows, -1)


def diagonal(a: Variable) -> Variable:
    """Returns the diagonal of a matrix."""
    return call("diagonal", a, offset=0, axis1=0, axis2=1)


def solved(a: Variable, b: Variable) -> tuple[Variable, Variable]:
    """Solves a system. Returns the solution, which is NaN for a singular matrix, and the pivots."""
    made, rows, _ = decomposed(a)
    x = triangular(made, triangular(made, index(b, rows), lower=True, unit_diagonal=True), lower=False)
    return x, diagonal(made)


@rule("Solve")
def solve(lower: Lowering, node: Any, inputs: list[Variable]) -> Variable:
    dtype, kind = node.outputs[0].type.dtype, node.op.assume_a
    check_dtype(dtype)
    lower.extents.equate(node.outputs[0], node.inputs[1])
    a, b = (cast(value, dtype) for value in inputs)
    b = as_matrix(node, b)
    if kind == "gen":
        return as_given(node, solved(a, b)[0])
    if kind == "pos":
        return as_given(node, by_root(cholesky_lower(a if node.op.lower else call("transpose", a)), b))
    if lower.python:
        (made,) = lower.ask("solve", [a, b], [array_type(dtype, 2)], lower=node.op.lower, assume_a=kind)
        return as_given(node, made)
    raise Refused(f"precast cannot solve a system with `assume_a=\"{kind}\"`\n    {HINT}")


@rule("CholeskySolve")
def cholesky_solve(lower: Lowering, node: Any, inputs: list[Variable]) -> Variable:
    dtype = node.outputs[0].type.dtype
    check_dtype(dtype)
    lower.extents.equate(node.outputs[0], node.inputs[1])
    root, b = (cast(value, dtype) for value in inputs)
    return as_given(node, by_root(root if node.op.lower else call("transpose", root), as_matrix(node, b)))


def by_root(root: Variable, b: Variable) -> Variable:
    """Solves a system whose matrix is `root` times its transpose."""
    return triangular(call("transpose", root), triangular(root, b, lower=True), lower=False)


@rule("MatrixInverse")
def inverse(lower: Lowering, node: Any, inputs: list[Variable]) -> Variable:
    dtype = node.outputs[0].type.dtype
    check_dtype(dtype)
    lower.extents.equate(node.outputs[0], node.inputs[0])
    a = cast(inputs[0], dtype)
    x, pivots = solved(a, cast(call("eye", call("shape_i", a, i=0)), dtype))
    is_regular = call("all", call("ne", pivots, constant(0, dtype)))
    return call("assert", x, is_regular, message="Singular matrix")


@rule("Det")
def determinant(lower: Lowering, node: Any, inputs: list[Variable]) -> Variable:
    dtype = node.outputs[0].type.dtype
    check_dtype(dtype)
    made, _, sign = decomposed(cast(inputs[0], dtype))
    return call("mul", call("prod", diagonal(made)), cast(sign, dtype))


@rule("SLogDet")
def log_determinant(lower: Lowering, node: Any, inputs: list[Variable]) -> list[Variable]:
    dtype = node.outputs[0].type.dtype
    check_dtype(dtype)
    made, _, sign = decomposed(cast(inputs[0], dtype))
    pivots = diagonal(made)
    return [call("mul", call("prod", call("sign", pivots)), cast(sign, dtype)), call("sum", call("log", call("abs", pivots)))]
