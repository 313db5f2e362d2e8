"""The walk over a graph of PyTensor, and what the rules of its ops see."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy

from ... import _native
from ..._types import TensorType, dtype_name
from ..._variable import Variable, call
from ...errors import GraphError
from .._unit import signature
from . import reasons
from .extents import Extents

#: What makes variables of precast of an Apply: it is given the walk, the Apply and its inputs.
Rule = Callable[["Lowering", Any, list[Any]], Any]

_RULES: dict[str, Rule] = {}


class Refused(Exception):
    """An Apply cannot be lowered; the text says why."""


class Refusal(NamedTuple):
    """An Apply that cannot be lowered."""

    #: The Apply as people read it, ``Erfinv(float64[?]) -> float64[?]``.
    apply: str
    reason: str


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Declares the rule of the ops whose classes have these names."""

    def declare(made: Rule) -> Rule:
        for name in names:
            assert name not in _RULES, name
            _RULES[name] = made
        return made

    return declare


class Lowering:
    """Graphs of PyTensor as variables of precast."""

    def __init__(self) -> None:
        self.extents = Extents()
        self.refusals: list[Refusal] = []
        #: The Applies beside which a check went into the graph.
        self.checked: set[Any] = set()
        self._known: dict[Any, Any] = {}

    def bind(self, variable: Any, value: Any) -> Any:
        """Says what a variable of PyTensor is."""
        self._known[variable] = value
        if isinstance(value, Variable):
            self.extents.of(variable)
        return value

    def value(self, variable: Any) -> Any:
        """What a variable of PyTensor is: a variable of precast, or the value of a constant that is no array."""
        if variable in self._known:
            return self._known[variable]
        if not hasattr(variable, "data"):
            raise Refused(f"`{variable}` is made by nothing in the graph")
        if not is_array(variable.type):
            return self.bind(variable, variable.data)
        return self.bind(variable, constant(variable.data, variable.type.dtype))

    def graph(self, inputs: Sequence[Any], outputs: Sequence[Any], values: Sequence[Any]) -> list[Any]:
        """The outputs of a graph, with values for its inputs."""
        for variable, value in zip(inputs, values, strict=True):
            self.bind(variable, value)
        for node in applies(outputs, set(inputs)):
            self.apply(node)
        return [self.value(output) for output in outputs]

    @contextlib.contextmanager
    def scope(self) -> Iterator[None]:
        """While a graph inside of an op is lowered: its variables may be those of other uses, and of other ops."""
        known, self._known = self._known, {}
        try:
            with self.extents.scope():
                yield
        finally:
            self._known = known

    def apply(self, node: Any) -> None:
        """Lowers an Apply; one that cannot be is noted, and its results are what they are said to be."""
        try:
            made = self._apply(node)
        except (Refused, GraphError) as refused:
            self.refusals.append(Refusal(signature(node), str(refused)))
            made = [placeholder(output.type) for output in node.outputs]
        for output, value in zip(node.outputs, made, strict=True):
            self.bind(output, value)

    def _apply(self, node: Any) -> list[Any]:
        made = find(node.op)
        for variable in [*node.inputs, *node.outputs]:
            _check_type(variable.type)
        results = made(self, node, [self.value(variable) for variable in node.inputs])
        results = results if isinstance(results, list) else [results]
        return [
            cast(result, output.type.dtype) if isinstance(result, Variable) else result
            for result, output in zip(results, node.outputs, strict=True)
        ]


def find(op: Any) -> Rule:
    """The rule of an op."""
    own = type(op)
    is_pytensors = own.__module__.split(".")[0] == "pytensor"
    made = _RULES.get(own.__name__) if is_pytensors else None
    # Somebody's function of numbers has C of its own, perhaps.
    if made is None and _derives(own, "ScalarOp"):
        made = _RULES["Composite"]
    if made is None and is_pytensors and _derives(own, "OpFromGraph"):
        made = inlined
    if made is None:
        raise Refused(reasons.of(own))
    return made


def inlined(lower: Lowering, node: Any, inputs: list[Any]) -> list[Any]:
    """An op that is a graph."""
    inner, known = node.op.fgraph, [lower.extents.of(variable) for variable in node.inputs]
    with lower.scope():
        for variable, extents in zip(inner.inputs, known, strict=True):
            lower.extents.tell(variable, extents)
        made = lower.graph(inner.inputs, inner.outputs, inputs)
        told = [lower.extents.of(output) for output in inner.outputs]
    for output, extents in zip(node.outputs, told, strict=True):
        lower.extents.tell(output, extents)
    return made


def _derives(own: type, name: str) -> bool:
    """Whether a class derives from one of PyTensor's."""
    return any(base.__name__ == name for base in own.__mro__)


def rules() -> frozenset[str]:
    """The names of the classes that there are rules for."""
    return frozenset(_RULES)


def applies(outputs: Sequence[Any], known: set[Any]) -> list[Any]:
    """The Applies that outputs need, each behind those that it needs."""
    order: list[Any] = []
    seen: set[Any] = set()
    pending = [(output.owner, False) for output in reversed(outputs) if output not in known]
    while pending:
        node, is_ready = pending.pop()
        if node is None or node in seen and not is_ready:
            continue
        if is_ready:
            order.append(node)
            continue
        seen.add(node)
        pending.append((node, True))
        pending.extend((variable.owner, False) for variable in reversed(node.inputs) if variable not in known)
    return order


def is_array(type_: Any) -> bool:
    """Whether values of a type of PyTensor's are arrays or numbers."""
    return type(type_).__name__ in ("TensorType", "ScalarType")


def _check_type(type_: Any) -> None:
    if is_array(type_):
        dtype_of(type_)
    elif type(type_).__name__ not in ("NoneTypeT", "SliceType"):
        raise Refused(f"values of `{type_}` are no arrays")


def dtype_of(type_: Any) -> str:
    """The short name of the dtype of a type of PyTensor's."""
    try:
        return dtype_name(type_.dtype)
    except TypeError as error:
        raise Refused(str(error)) from None


def type_text(type_: Any) -> str:
    """A type of PyTensor's as a type of precast: ``f64[?]``."""
    return str(TensorType(type_.dtype, getattr(type_, "shape", ())))


def placeholder(type_: Any) -> Any:
    """Stands for what cannot be computed, so that the rest can be looked at."""
    return _native.input("unknown", type_text(type_)) if is_array(type_) else None


def constant(value: Any, dtype: str) -> Variable:
    """A constant of a dtype of NumPy's."""
    return _native.constant(numpy.asarray(value, dtype=dtype))


def cast(value: Variable, dtype: str) -> Variable:
    """A variable in a dtype, which it may have."""
    return value if value.type.dtype == dtype else call("cast", value, dtype=numpy.dtype(dtype))


def constant_value(variable: Any, what: str) -> Any:
    """The value of a constant of PyTensor's."""
    if not hasattr(variable, "data"):
        raise Refused(f"its {what} is known only when it runs")
    return variable.data
