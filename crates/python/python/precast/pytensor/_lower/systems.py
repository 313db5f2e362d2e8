"""Cholesky decompositions, systems of linear equations, inverses and determinants.

PyTensor's ops give NaN for a matrix without a result, except for `MatrixInverse`, whose call fails.
"""

from __future__ import annotations

from typing import Any

from ..._variable import Variable, call
from .lowering import Lowering, Refused, cast, rule


#: The dtypes of complex numbers, by the dtypes of their parts.
COMPLEX = {"float32": "complex64", "float64": "complex128"}


def matrices(node: Any, inputs: list[Variable]) -> list[Variable]:
    """Returns inputs in the dtype of the result, or with its precision if the result of complex inputs is real."""
    dtype = node.outputs[0].type.dtype
    if any(value.type.dtype.startswith("complex") for value in node.inputs):
        dtype = COMPLEX.get(dtype, dtype)
    if dtype not in (*COMPLEX, *COMPLEX.values()):
        raise Refused(f"precast does not support it for {dtype}")
    return [cast(value, dtype) for value in inputs]


def equate(lower: Lowering, node: Any) -> None:
    """Notes that a solution has the extents of the right side. In a stack, either of them may be broadcast."""
    if node.inputs[1].type.ndim == node.op.b_ndim:
        lower.extents.equate(node.outputs[0], node.inputs[1])


def from_triangle(a: Variable, is_lower: bool, *, conjugate: bool) -> Variable:
    """Returns symmetric matrices, or Hermitian ones, of which one triangle is read."""
    half = call("tril" if is_lower else "triu", a)
    other = call("matrix_transpose", call("tril", a, k=-1) if is_lower else call("triu", a, k=1))
    return call("add", half, call("conj", other) if conjugate and a.type.dtype.startswith("complex") else other)


@rule("Cholesky")
def cholesky(lower: Lowering, node: Any, inputs: list[Variable]) -> Variable:
    (a,) = matrices(node, inputs)
    lower.extents.equate(node.outputs[0], node.inputs[0])
    return call("cholesky", a, upper=not node.op.lower, on_error="nan")


@rule("SolveTriangular")
def solve_triangular(lower: Lowering, node: Any, inputs: list[Variable]) -> Variable:
    a, b = matrices(node, inputs)
    equate(lower, node)
    trans = getattr(node.op, "trans", 0)
    return call("solve_triangular", a, b, trans=trans, lower=node.op.lower, unit_diagonal=node.op.unit_diagonal, on_error="nan")


@rule("Solve")
def solve(lower: Lowering, node: Any, inputs: list[Variable]) -> Variable:
    kind, is_lower = node.op.assume_a, node.op.lower
    a, b = matrices(node, inputs)
    equate(lower, node)
    if kind == "tridiagonal":
        below, main, above = (call("diagonal", a, offset=offset, axis1=-2, axis2=-1) for offset in (-1, 0, 1))
        edge = call("zeros_like", main[..., :1])
        below, above = (call("concatenate", pair, axis=-1) for pair in ([edge, below], [above, edge]))
        return call("tridiagonal_solve", below, main, above, b, on_error="nan")
    if kind == "pos":
        root = call("cholesky", a, upper=not is_lower, on_error="nan")
        return call("cho_solve", root, b, lower=is_lower, on_error="nan")
    if kind in ("sym", "her"):
        a = from_triangle(a, is_lower, conjugate=kind == "her")
    elif kind not in ("gen", "banded"):
        raise Refused(f"precast cannot solve a system with `assume_a=\"{kind}\"`")
    return call("solve", a, b, on_error="nan")


@rule("CholeskySolve")
def cholesky_solve(lower: Lowering, node: Any, inputs: list[Variable]) -> Variable:
    root, b = matrices(node, inputs)
    equate(lower, node)
    return call("cho_solve", root, b, lower=node.op.lower, on_error="nan")


@rule("MatrixInverse")
def inverse(lower: Lowering, node: Any, inputs: list[Variable]) -> Variable:
    (a,) = matrices(node, inputs)
    lower.extents.equate(node.outputs[0], node.inputs[0])
    return call("inv", a)


@rule("Det")
def determinant(lower: Lowering, node: Any, inputs: list[Variable]) -> Variable:
    return call("det", *matrices(node, inputs))


@rule("SLogDet")
def log_determinant(lower: Lowering, node: Any, inputs: list[Variable]) -> list[Variable]:
    return list(call("slogdet", *matrices(node, inputs)))
