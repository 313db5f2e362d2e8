"""IfElse: computes one of two branches, which a condition selects.

The Applies of a branch that nothing else needs are lowered in the function of this branch, so they are computed only if it is selected.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..._variable import Variable, call
from .lowering import Lowering, Refused, cast, constant, is_array, rule


@rule("IfElse")
def if_else(lower: Lowering, node: Any, inputs: list[Any]) -> list[Variable]:
    count, asked, cxx = node.op.n_outs, len(lower.asked), len(lower.cxx)
    if not all(is_array(output.type) for output in node.outputs):
        raise Refused("a result is not an array")
    condition = cast(call("ne", inputs[0], constant(0, node.inputs[0].type.dtype)), "bool")
    told: list[list[list[Any]]] = []

    def branch(own: Sequence[Any]) -> Callable[[], list[Variable]]:
        def compute() -> list[Variable]:
            with lower.extents.inside():
                made = lower.inside(own)
                told.append([lower.extents.of(variable) for variable in own])
            return [cast(value, output.type.dtype) for value, output in zip(made, node.outputs, strict=True)]

        return compute

    made = call("cond", condition, branch(node.inputs[1 : 1 + count]), branch(node.inputs[1 + count :]))
    if len(lower.asked) > asked:
        op = lower.asked[asked].call
        del lower.asked[asked:]
        raise Refused(f"Python computes `{op}` of a branch, but a branch must be one graph")
    if len(lower.cxx) > cxx:
        raise Refused(f"the C of `{lower.cxx[cxx]}` is C++, which branches cannot contain")
    for output, first, second in zip(node.outputs, *told, strict=True):
        lower.extents.tell(output, [a if a is b or a == b else object() for a, b in zip(first, second, strict=True)])
    return list(made)
