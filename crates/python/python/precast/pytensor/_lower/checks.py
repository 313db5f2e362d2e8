"""CheckAndRaise: returns a value if all conditions are true, otherwise raises the exception of the op."""

from __future__ import annotations

from typing import Any

from ..._variable import Variable, call
from .lowering import Lowering, rule

#: The exceptions that a graph can raise, with the names of their kinds. Other exceptions become a `RuntimeError`.
_KINDS: dict[type[BaseException], str] = {
    TypeError: "type",
    ValueError: "value",
    IndexError: "index",
    MemoryError: "memory",
    AssertionError: "assertion",
    RuntimeError: "runtime",
}


@rule("CheckAndRaise", "Assert")
def check(lower: Lowering, node: Any, inputs: list[Any]) -> Variable:
    value, *conditions = inputs
    lower.extents.equate(node.outputs[0], node.inputs[0])
    if not conditions:
        return value
    exception = node.op.exc_type
    kind = next((_KINDS[of] for of in exception.__mro__ if of in _KINDS), "runtime")
    return call("assert", value, *conditions, message=str(node.op.msg or exception.__name__), error=kind)
