"""IfElse: selects one of two arrays by a condition. PyTensor computes only the selected branch.

precast computes both branches and copies one result. A branch that could fail while it is not selected is refused. Bounds of indices
are checked only in the selected branch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from ..._own import Apply, ExternalCOp
from ..._types import TensorType
from ..._variable import Variable, call
from .indexing import has_position, items_of, positions_of
from .lowering import Lowering, Refused, applies, cast, constant, derives, is_array, name_of, rule

#: Ops that cannot fail for any values and extents.
_SAFE = frozenset(
    "All Alloc Any ArgSortOp Composite CumOp DeepCopyOp DimShuffle Elemwise IfElse Join JoinDims LogSoftmax MakeVector Prod "
    "ScalarFromTensor Shape Shape_i Softmax SortOp Subtensor Sum TensorFromScalar ViewOp".split()
)


class Pick(ExternalCOp):
    """Selects the second input if the first is true, otherwise the third. Their extents may differ."""

    __props__ = ()

    def __init__(self) -> None:
        super().__init__("c/pick.c", "APPLY_SPECIFIC(pick)")

    def make_node(self, condition: Variable, yes: Variable, no: Variable) -> Apply:
        extents = [a if a == b else None for a, b in zip(yes.type.shape, no.type.shape, strict=True)]
        return Apply(self, [condition, yes, no], [TensorType(yes.type.dtype, extents)()])

    def perform(self, node: Apply, inputs: Sequence[numpy.ndarray], output_storage: Sequence[list[Any]]) -> None:
        condition, yes, no = inputs
        output_storage[0][0] = (yes if condition else no).copy()


pick = Pick()


@rule("IfElse")
def if_else(lower: Lowering, node: Any, inputs: list[Any]) -> list[Variable]:
    count = node.op.n_outs
    if not all(is_array(output.type) for output in node.outputs):
        raise Refused("a result is not an array")
    variables, condition = node.inputs[1:], cast(call("ne", inputs[0], constant(0, node.inputs[0].type.dtype)), "bool")
    when_true = branch(lower, variables[:count], [node.inputs[0], *variables[count:]], condition)
    when_false = branch(lower, variables[count:], [node.inputs[0], *variables[:count]], call("logical_not", condition))
    pairs = zip(when_true, when_false, node.outputs, strict=True)
    return [pick(condition, cast(yes, out.type.dtype), cast(no, out.type.dtype)) for yes, no, out in pairs]


def branch(lower: Lowering, own: list[Any], others: list[Any], guard: Variable) -> list[Variable]:
    """Returns the results of a branch. Refuses a branch that could fail while the other one is selected."""
    needed = set(applies(others, set()))
    nodes = [each for each in applies(own, set()) if each not in needed]
    for each in nodes:
        is_safe = name_of(each.op) in _SAFE or derives(type(each.op), "ScalarOp")
        if not is_safe or each in lower.checked or may_refuse(each):
            raise Refused(f"both branches are computed, and `{each.op}` may fail in the branch that is not selected")
    # After a refusal, no guard is needed.
    if lower.refusals or all(is_within(each) for each in nodes):
        return [lower.value(variable) for variable in own]
    with lower.guarded(guard, nodes):
        return [lower.value(variable) for variable in own]


def may_refuse(node: Any) -> bool:
    """Returns whether an Apply of a safe op can fail: for negative extents, negative powers of integers, or steps of 0."""
    if name_of(node.op) == "Alloc":
        return not all(is_extent(variable) for variable in node.inputs[1:])
    if name_of(node.op) == "Subtensor":
        slices = [place for place in items_of(node.op.idx_list, node.inputs[1:]) if isinstance(place, slice)]
        return not all(place.step is None or getattr(place.step, "data", 0) != 0 for place in slices)
    is_float = all(variable.type.dtype.startswith("float") for variable in node.outputs)
    return "Pow" in scalar_ops(node.op) and not is_float


def is_within(node: Any) -> bool:
    """Returns whether an Apply cannot index out of bounds."""
    if name_of(node.op) not in ("IfElse", "Subtensor"):
        return True
    return name_of(node.op) == "Subtensor" and all(has_position(node, axis) for axis in positions_of(node))


def is_extent(variable: Any) -> bool:
    """Returns whether an integer is known not to be negative: an extent or a non-negative constant."""
    data, owner = getattr(variable, "data", None), variable.owner
    return data >= 0 if data is not None else owner is not None and name_of(owner.op) == "Shape_i"


def scalar_ops(op: Any) -> set[str]:
    """Returns the names of the scalar ops in an op."""
    op = getattr(op, "scalar_op", op)
    inner = getattr(op, "fgraph", None) if name_of(op) == "Composite" else None
    if inner is None:
        return {name_of(op)}
    return set().union(*(scalar_ops(each.op) for each in inner.apply_nodes))
