"""Matrix products."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from ..._variable import Variable, call
from . import scalars
from .elementwise import with_extent
from .lowering import Lowering, Refused, cast, constant, rule


def product(function: str, x: Variable, y: Variable, dtype: str) -> Variable:
    """Returns a product computed in a dtype."""
    return call(function, cast(x, dtype), cast(y, dtype))


@rule("Dot", "Dot22")
def dot(lower: Lowering, node: Any, inputs: list[Variable]) -> Variable:
    rows, columns = lower.extents.of(node.inputs[0])[:-1], lower.extents.of(node.inputs[1])[1:]
    if len(node.outputs[0].type.shape) == len(rows) + len(columns):
        lower.extents.tell(node.outputs[0], [*rows, *columns])
    return product("dot", *inputs, node.outputs[0].type.dtype)


@rule("Dot22Scalar")
def dot_scaled(lower: Lowering, node: Any, inputs: list[Variable]) -> Variable:
    x, y, scale = inputs
    return call("mul", dot(lower, node, [x, y]), scale)


@rule("BatchedDot")
def batched_dot(lower: Lowering, node: Any, inputs: list[Variable]) -> Variable:
    return product("batched_dot", *inputs, node.outputs[0].type.dtype)


@rule("Blockwise")
def blockwise(lower: Lowering, node: Any, inputs: list[Variable]) -> Any:
    op, core = node.op, type(node.op.core_op)
    if all(variable.type.ndim == len(axes) for variable, axes in zip(node.inputs, op.inputs_sig, strict=True)):
        # Single matrices without batch axes.
        return lower.find(op.core_op)(lower, SimpleNamespace(op=op.core_op, inputs=node.inputs, outputs=node.outputs), inputs)
    is_known = core.__name__ in ("Dot", "Dot22") or takes_stacks(op.core_op)
    if not is_known or core.__module__.split(".")[0] != "pytensor":
        raise Refused(f"precast has no batched `{core.__name__}`")
    one, other = node.inputs[0], node.inputs[-1]
    for axis, (a, b) in enumerate(zip(one.type.shape[:-2], other.type.shape[:-2], strict=True)):
        extents = [lower.extents.of(variable)[axis] for variable in (one, other)]
        if 1 not in (a, b) and extents[0] is not extents[1] and extents[0] != extents[1]:
            raise Refused(f"whether the extents of axis {axis} are equal is known only at run time")
    if takes_stacks(op.core_op):
        return lower.find(op.core_op)(lower, SimpleNamespace(op=op.core_op, inputs=node.inputs, outputs=node.outputs), inputs)
    return product("matmul", *inputs, node.outputs[0].type.dtype)


#: Ops whose rules apply to stacks of matrices.
_OF_STACKS = frozenset(
    "Cholesky Det Eig Eigh Eigvalsh Expm LU LUFactor MatrixInverse MatrixPinv PivotToPermutations QR QZ SLogDet SVD Schur TRSYL".split()
)


def takes_stacks(op: Any) -> bool:
    """Returns whether the rule of an op also applies to stacks of matrices."""
    name = type(op).__name__
    if name in _OF_STACKS:
        return True
    return name in ("CholeskySolve", "Solve", "SolveTriangular") and op.b_ndim == 2


@rule("Gemv", "CGemv")
def gemv(lower: Lowering, node: Any, inputs: list[Variable]) -> Variable:
    y, alpha, a, x, beta = inputs
    rows = lower.extents.of(node.inputs[2])[0]
    own = lower.extents.of(node.inputs[0])[0]
    if own is not rows and own != rows:
        y = with_extent(y, 0, call("shape_i", a, i=0))
        lower.extents.unite(own, rows)
    lower.extents.equate(node.outputs[0], node.inputs[0])
    return added(node, y, beta, call("mul", cast(alpha, a.type.dtype), call("dot", a, x)))


@rule("Gemm")
def gemm(lower: Lowering, node: Any, inputs: list[Variable]) -> Variable:
    z, alpha, x, y, beta = inputs
    return added(node, z, beta, call("mul", alpha, call("dot", x, y)))


@rule("Ger", "CGer", "ScipyGer")
def ger(lower: Lowering, node: Any, inputs: list[Variable]) -> Variable:
    a, alpha, x, y = inputs
    lower.extents.equate(node.outputs[0], node.inputs[0])
    return call("add", a, call("mul", alpha, call("outer", x, y)))


def added(node: Any, y: Variable, beta: Variable, product: Variable) -> Variable:
    """Returns ``beta * y + product``. If `beta` is 0, `y` is ignored, even if it is NaN."""
    data = getattr(node.inputs[4], "data", None)
    beta = cast(beta, y.type.dtype)
    if data is None:
        zero = constant(0, y.type.dtype)
        return scalars.select(call("eq", beta, zero), product, call("add", call("mul", beta, y), product))
    if data == 0:
        return product
    return call("add", y if data == 1 else call("mul", beta, y), product)
