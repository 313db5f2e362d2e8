"""IfElse: computes one of two branches, which a condition selects.

The Applies of a branch that nothing else needs are lowered in the function of this branch, so they are computed only if it is selected.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..._variable import Variable, call
from .lowering import Held, Lowering, Refused, cast, constant, is_array, is_generator, rule


@rule("IfElse")
def if_else(lower: Lowering, node: Any, inputs: list[Any]) -> list[Any]:
    count, asked, cxx = node.op.n_outs, len(lower.asked), len(lower.cxx)
    results = [at for at, output in enumerate(node.outputs) if lower.keys is None or not is_generator(output.type)]
    if not all(is_array(node.outputs[at].type) for at in results):
        raise Refused("a result is not an array")
    condition = cast(call("ne", inputs[0], constant(0, node.inputs[0].type.dtype)), "bool")
    told: list[list[list[Any]]] = []

    def branch(first: int) -> Callable[[], list[Variable]]:
        own = [node.inputs[first + at] for at in results]

        def compute() -> list[Variable]:
            with lower.extents.inside():
                made = lower.inside(own)
                told.append([lower.extents.of(variable) for variable in own])
            return [cast(value, node.outputs[at].type.dtype) for value, at in zip(made, results, strict=True)]

        return compute

    made = call("cond", condition, branch(1), branch(1 + count)) if results else []
    if len(lower.asked) > asked:
        op = lower.asked[asked].call
        del lower.asked[asked:]
        raise Refused(f"Python computes `{op}` of a branch, but a branch must be one graph")
    if len(lower.cxx) > cxx:
        raise Refused(f"the C of `{lower.cxx[cxx]}` is C++, which branches cannot contain")
    for at, first, second in zip(results, *told, strict=True):
        known = [a if a is b or a == b else object() for a, b in zip(first, second, strict=True)]
        lower.extents.tell(node.outputs[at], known)
    found = dict(zip(results, made, strict=True))
    return [found.get(at, Held("generator")) for at in range(count)]
