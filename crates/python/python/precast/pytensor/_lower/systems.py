"""Cholesky decompositions, systems of linear equations, inverses and determinants.

PyTensor's ops give NaN for a matrix without a result, except for `MatrixInverse`, whose call fails.
"""

from __future__ import annotations

from typing import Any

from ..._variable import Variable, call
from .lowering import HINT, Lowering, Refused, array_type, cast, rule


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


def real_matrices(node: Any, inputs: list[Variable]) -> list[Variable]:
    """Returns the same for ops without complex numbers."""
    made = matrices(node, inputs)
    if node.outputs[0].type.dtype not in COMPLEX or any(value.type.dtype.startswith("complex") for value in node.inputs):
        raise Refused("precast does not support it for complex numbers")
    return made


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
