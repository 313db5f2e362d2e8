"""CheckAndRaise: returns a value if all conditions are true, otherwise raises the exception of the op."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy

from ..._own import Apply, COp
from ..._variable import Variable, call
from .lowering import Lowering, rule

#: The exceptions that a graph can raise. Other exceptions become a `RuntimeError`.
_KINDS = (TypeError, ValueError, IndexError, MemoryError, AssertionError, RuntimeError)


@rule("CheckAndRaise", "Assert")
def check(lower: Lowering, node: Any, inputs: list[Any]) -> Variable:
    value, *conditions = inputs
    lower.extents.equate(node.outputs[0], node.inputs[0])
    if not conditions:
        return value
    message, kind = str(node.op.msg or node.op.exc_type.__name__), kind_of(node.op.exc_type)
    if kind is AssertionError:
        return call("assert", value, *conditions, message=message)
    return Check(kind, message)(value, *conditions)


def kind_of(exception: type[BaseException]) -> type[Exception]:
    """Returns the exception that a graph raises for a class of exceptions."""
    return next((kind for kind in exception.__mro__ if kind in _KINDS), RuntimeError)


class Check(COp):
    """Returns the first input if all other inputs are true, otherwise raises an exception."""

    __props__ = ("kind", "message")
    view_map = {0: [0]}

    def __init__(self, kind: type[Exception], message: str) -> None:
        self._raised = kind
        self.kind, self.message = kind.__name__, message

    def make_node(self, value: Variable, *conditions: Variable) -> Apply:
        return Apply(self, [value, *conditions], [value.type()])

    def perform(self, node: Apply, inputs: Sequence[numpy.ndarray], output_storage: Sequence[list[Any]]) -> None:
        value, *conditions = inputs
        if not all(condition.all() for condition in conditions):
            raise self._raised(self.message)
        output_storage[0][0] = value

    def c_code(self, node: Apply, name: str, inputs: Sequence[str], outputs: Sequence[str], sub: Mapping[str, str]) -> str:
        value, *conditions = inputs
        (out,) = outputs
        hold = " && ".join(f"*(npy_bool *)PyArray_DATA({condition})" for condition in conditions)
        return f"""
        if (!({hold})) {{
            PyErr_SetString(PyExc_{self.kind}, "{_quoted(self.message)}");
            {sub["fail"]}
        }}
        Py_XDECREF({out});
        {out} = {value};
        Py_INCREF({out});
        """


def _quoted(text: str) -> str:
    """Escapes a text for a C string: all characters except letters, digits and spaces become octal escapes."""
    return "".join(re.sub(r"[^A-Za-z0-9 ]", lambda found: "".join(f"\\{byte:03o}" for byte in found[0].encode()), text))
