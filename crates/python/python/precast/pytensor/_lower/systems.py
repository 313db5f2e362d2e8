"""Cholesky decompositions, systems of linear equations, inverses and determinants.

PyTensor's ops give NaN for a matrix without a result, except for `MatrixInverse`, whose call fails.
"""

from __future__ import annotations

from typing import Any

from ..._variable import Variable, call
from .lowering import HINT, Lowering, Refused, array_type, cast, rule


def matrices(node: Any, inputs: list[Variable]) -> list[Variable]:
    """Returns inputs in the dtype of the result, which must be float32 or float64."""
    dtype = node.outputs[0].type.dtype
    if dtype not in ("float32", "float64"):
        raise Refused(f"precast does not support it for {dtype}")
    return [cast(value, dtype) for value in inputs]


def equate(lower: Lowering, node: Any) -> None:
    """Notes that a solution has the extents of the right side. In a stack, either of them may be broadcast."""
    if node.inputs[1].type.ndim == node.op.b_ndim:
        lower.extents.equate(node.outputs[0], node.inputs[1])


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
    kind = node.op.assume_a
    a, b = matrices(node, inputs)
    equate(lower, node)
    if kind == "gen":
        return call("solve", a, b, on_error="nan")
    if kind == "pos":
        root = call("cholesky", a, upper=not node.op.lower, on_error="nan")
        return call("cho_solve", root, b, lower=node.op.lower, on_error="nan")
    if lower.python:
        b = b if b.type.ndim == 2 else call("expand_dims", b, axis=1)
        (made,) = lower.ask("solve", [a, b], [array_type(node.outputs[0].type.dtype, 2)], lower=node.op.lower, assume_a=kind)
        return made if node.op.b_ndim == 2 else call("squeeze", made, axis=1)
    raise Refused(f"precast cannot solve a system with `assume_a=\"{kind}\"`\n    {HINT}")


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
