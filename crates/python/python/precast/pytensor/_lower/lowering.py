"""The walk over a PyTensor graph, and the interface for the rules of its ops."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Container, Iterator, Sequence
from typing import Any, NamedTuple

import numpy

from ... import _native
from ..._build import function, graph_of
from ..._front.refusals import Refusal, Refused
from ..._front.rules import declare
from ..._front.values import cast, constant
from ..._steps import GENERATOR, OBJECT
from ..._types import TensorType, dtype_name
from ..._variable import Variable
from ...errors import CallError, GraphError
from .._unit import signature
from . import reasons
from .classes import behaves_as, derives, has_c
from .extents import Extent, Extents
from .keys import Keys

#: Converts an Apply to variables of precast. The arguments are the walk, the Apply and its inputs.
Rule = Callable[["Lowering", Any, list[Any]], Any]

_RULES: dict[str, Rule] = {}

#: The rules of ops that Python computes between graphs.
_OF_PYTHON: dict[str, Rule] = {}

#: The rules of random draws that are functions of a key.
_OF_COUNTER: dict[str, Rule] = {}

_TABLES = {"graph": _RULES, "python": _OF_PYTHON, "counter": _OF_COUNTER}

#: Types whose values are settings of the graph.
_PLAIN = ("NoneTypeT", "SliceType")

KEYED = 'hint: `freeze(…, random="counter")` draws with a key, in the graph'
HINT = "hint: `freeze(…, python=True)` computes it in Python, between graphs"


class Held(NamedTuple):
    """A value that is not an array: its name in a plan, and its port type."""

    name: str
    port: str = GENERATOR


class Hosted(NamedTuple):
    """An extension module of host `cpython` with the C of an op."""

    #: The graph of this op.
    graph: _native.Graph
    unit: _native.Unit
    #: The ABI that the module is compiled for.
    host: str
    #: The types of the inputs.
    types: list[str]
    #: The inputs that the op overwrites.
    destroys: list[int]
    #: PyTensor's `perform`.
    reference: Callable[..., Any]


class Asked(NamedTuple):
    """A Python call: a function of `_calls`, or an op that runs its own C."""

    call: str
    settings: dict[str, Any]
    #: The arguments; `None` is passed as Python's `None`.
    takes: list[Variable | Held | None]
    gives: list[Variable | Held]
    hosted: Hosted | None = None


def rule(*names: str, of: str = "graph") -> Callable[[Rule], Rule]:
    """Declares the rule of ops by class name. Names of PyMC classes start with ``pymc.``."""
    return declare(_TABLES[of], *names)


class Lowering:
    """Lowers PyTensor graphs to variables of precast. With `python`, Python computes the ops that precast lacks."""

    def __init__(self, python: bool = False, key: Variable | None = None) -> None:
        self.python = python
        #: The keys of draws; `None` if NumPy generators draw.
        self.keys: Keys | None = None if key is None else Keys(key)
        #: The names of inputs.
        self.taken: set[str] = set() if key is None else {"key"}
        #: The Python calls. Each follows the calls whose results it uses.
        self.asked: list[Asked] = []
        #: The constant generators by name.
        self.generators: dict[str, Any] = {}
        #: The names of applied ops with their own C, which is C++. Loops and branches cannot contain C++.
        self.cxx: list[str] = []
        self.extents = Extents()
        self.refusals: list[Refusal] = []
        self._known: dict[Any, Any] = {}
        #: The shapes of constants.
        self._shapes: dict[Variable, tuple[int, ...]] = {}

    def bind(self, variable: Any, value: Any) -> Any:
        """Binds a PyTensor variable to a value."""
        self._known[variable] = value
        if isinstance(value, Variable):
            for own, extent in zip(self.extents.of(variable), self._shapes.get(value, ()), strict=False):
                self.extents.unite(own, extent)
        return value

    def number(self, variable: Any) -> Extent:
        """Returns the extent that an integer variable equals. It is a number if it can be computed from constants."""
        found = self.extents.value(variable)
        if isinstance(found, int):
            return found
        value = self._known.get(variable)
        if not isinstance(value, Variable) or _native.needed([value]):
            return found
        try:
            found = int(function(graph_of(value), policy="interpret")())
        except (CallError, GraphError):
            # The value depends on the step of a loop, or cannot be computed.
            return found
        self.extents.is_value(variable, found)
        return found

    def value(self, variable: Any) -> Any:
        """Returns the value of a PyTensor variable: a variable of precast, or a constant that is not an array."""
        if variable in self._known:
            return self._known[variable]
        if not hasattr(variable, "data"):
            raise Refused(f"`{variable}` is not computed in the graph")
        return self.bind(variable, self.known(variable.type, variable.data))

    def known(self, type_: Any, value: Any) -> Any:
        """Converts a constant of a PyTensor type."""
        if is_generator(type_) and self.keys is not None:
            return Held("generator")
        if is_generator(type_):
            held = Held(f"generator.{len(self.generators)}")
            self.generators[held.name] = value
            return held
        if not is_array(type_):
            return value
        made = constant(value, type_.dtype)
        self._shapes[made] = numpy.shape(value)
        return made

    def ask(
        self, call: str, takes: Sequence[Any], types: Sequence[Any], hosted: Hosted | None = None, **settings: Any
    ) -> list[Any]:
        """Adds a Python call and returns its results. `types` are types of PyTensor or precast."""
        if not all(value is None or isinstance(value, (Variable, Held)) for value in takes):
            raise Refused("an input is a constant that is not an array\n    hint: make it an input of the function")
        at = len(self.asked)
        names = [f"python{at}_{place}" for place in range(len(types))]
        while self.taken.intersection(names):
            names = [f"{name}_" for name in names]
        gives = [
            Held(name, port) if (port := port_of(type_)) else _native.input(name, type_text(type_))
            for name, type_ in zip(names, types, strict=True)
        ]
        self.asked.append(Asked(call, settings, list(takes), gives, hosted))
        return gives

    def graph(self, inputs: Sequence[Any], outputs: Sequence[Any], values: Sequence[Any]) -> list[Any]:
        """Returns the outputs of a graph, with values for its inputs."""
        for variable, value in zip(inputs, values, strict=True):
            self.bind(variable, value)
        for node in applies(outputs, set(inputs)):
            self.apply(node)
        return [self.value(output) for output in outputs]

    @contextlib.contextmanager
    def scope(self) -> Iterator[None]:
        """Enters the inner graph of an op. Other uses and other ops may have the same inner variables."""
        known, self._known = self._known, {}
        try:
            with self.extents.scope():
                yield
        finally:
            self._known = known

    def inside(self, outputs: Sequence[Any]) -> list[Any]:
        """Returns variables of this graph in a function of precast. Values that are computed in it are unknown outside."""
        known, self._known = self._known, dict(self._known)
        try:
            for node in applies(outputs, self._known):
                self.apply(node)
            return [self.value(output) for output in outputs]
        finally:
            self._known = known

    def apply(self, node: Any) -> None:
        """Lowers an Apply. If it cannot be lowered, notes the reason and uses placeholders for its results."""
        try:
            made = self._apply(node)
        except (Refused, GraphError) as refused:
            self.refusals.append(Refusal(signature(node), str(refused)))
            made = [placeholder(output.type) for output in node.outputs]
        for output, value in zip(node.outputs, made, strict=True):
            self.bind(output, value)

    def _apply(self, node: Any) -> list[Any]:
        made = self.find(node.op)
        for variable in [*node.inputs, *node.outputs]:
            self._check_type(variable.type)
        given = node.inputs[:1] if is_lazy(node) else node.inputs
        results = made(self, node, [self.value(variable) for variable in given])
        results = results if isinstance(results, list) else [results]
        return [
            cast(result, output.type.dtype) if isinstance(result, Variable) else result
            for result, output in zip(results, node.outputs, strict=True)
        ]

    def _check_type(self, type_: Any) -> None:
        port = port_of(type_)
        if port == OBJECT and not self.python:
            raise Refused(f"values of `{type_}` are not arrays\n    {HINT}")
        if is_array(type_):
            dtype_of(type_)
        elif port is None and type(type_).__name__ not in _PLAIN:
            raise Refused(f"values of `{type_}` are not arrays")

    def find(self, op: Any) -> Rule:
        """Returns the rule of an op."""
        own = type(op)
        named = behaves_as(own, _RULES)
        # A user-defined scalar op may have its own C.
        if named is None and derives(own, "ScalarOp"):
            named = "Composite"
        if named is None and behaves_as(own, ("OpFromGraph",)):
            return inlined
        if named is not None:
            return _RULES[named]
        if self.keys is not None and derives(own, "RNGConsumerOp", "AbstractRNGConstructor"):
            return by_counter(own)
        asked = behaves_as(own, _OF_PYTHON)
        by_python = None if asked is None else _OF_PYTHON[asked]
        if by_python is None and has_c(own):
            return _RULES["CLinkerOp"]
        if by_python is None:
            raise Refused(reasons.of(own))
        if not self.python:
            keyed = f"\n    {KEYED}" if behaves_as(own, _OF_COUNTER) else ""
            raise Refused(f"{reasons.of(own)}{keyed}\n    {HINT}")
        return by_python


def by_counter(own: type) -> Rule:
    """Returns the rule of a random variable whose draws are functions of a key."""
    name = behaves_as(own, _OF_COUNTER)
    if name is None:
        hint = "\n    hint: `freeze(…, python=True)` without `random` draws with NumPy" if behaves_as(own, _OF_PYTHON) else ""
        raise Refused(f"precast cannot draw from it with a key{hint}")
    return _OF_COUNTER[name]


def inlined(lower: Lowering, node: Any, inputs: list[Any]) -> list[Any]:
    """Lowers the inner graph of an op."""
    inner, known = node.op.fgraph, [lower.extents.of(variable) for variable in node.inputs]
    with lower.scope():
        for variable, extents in zip(inner.inputs, known, strict=True):
            lower.extents.tell(variable, extents)
        made = lower.graph(inner.inputs, inner.outputs, inputs)
        told = [lower.extents.of(output) for output in inner.outputs]
    for output, extents in zip(node.outputs, told, strict=True):
        lower.extents.tell(output, extents)
    return made


def name_of(op: Any) -> str:
    """Returns the name of the class that an op is lowered as."""
    own = type(op)
    return next(filter(None, (behaves_as(own, table) for table in _TABLES.values())), own.__name__)


def rules(of: str = "graph") -> frozenset[str]:
    """Returns the names of the classes with rules."""
    return frozenset(_TABLES[of])


def is_lazy(node: Any) -> bool:
    """Returns whether only the first input of an Apply is always needed. The others are those of two branches."""
    return name_of(node.op) == "IfElse"


def applies(outputs: Sequence[Any], known: Container[Any], shared: dict[Any, list[Any]] | None = None) -> list[Any]:
    """Returns the Applies that outputs always depend on, in topological order. `shared` are results by lazy Apply."""
    order: list[Any] = []
    shared = {} if shared is None else shared

    def inputs_of(node: Any) -> list[Any]:
        if not is_lazy(node):
            return node.inputs
        if node not in shared:
            count = node.op.n_outs
            first, second = (applies(part, known, shared) for part in (node.inputs[1 : 1 + count], node.inputs[1 + count :]))
            both = set(second)
            shared[node] = [output for each in first if each in both for output in each.outputs]
        return [node.inputs[0], *shared[node]]

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
        pending.extend((variable.owner, False) for variable in reversed(inputs_of(node)) if variable not in known)
    return order


def is_array(type_: Any) -> bool:
    """Returns whether values of a PyTensor type are arrays or numbers."""
    return type(type_).__name__ in ("TensorType", "ScalarType")


def is_generator(type_: Any) -> bool:
    """Returns whether values of a PyTensor type are NumPy generators."""
    return type(type_).__name__ == "RandomGeneratorType"


def port_of(type_: Any) -> str | None:
    """Returns the port type of values that are not arrays: generators, and types with their own C."""
    if is_generator(type_):
        return GENERATOR
    own = type(type_)
    is_own = derives(own, "CLinkerType") and not derives(own, "TensorType") and own.__name__ not in (*_PLAIN, "ScalarType")
    return OBJECT if is_own else None


def dtype_of(type_: Any) -> str:
    """Returns the short name of the dtype of a PyTensor type."""
    try:
        return dtype_name(type_.dtype)
    except TypeError as error:
        raise Refused(str(error)) from None


def type_text(type_: Any) -> str:
    """Converts a PyTensor type to a type text of precast: ``f64[?]``."""
    return str(TensorType(type_.dtype, getattr(type_, "shape", ())))


def array_type(dtype: str, ndim: int) -> TensorType:
    """Returns the type of arrays with unknown extents."""
    return TensorType(dtype, [None] * ndim)


def placeholder(type_: Any) -> Any:
    """Returns a placeholder for a value that cannot be lowered, so that the walk can continue."""
    if port := port_of(type_):
        return Held("unknown", port)
    return _native.input("unknown", type_text(type_)) if is_array(type_) else None


def constant_value(variable: Any, what: str) -> Any:
    """Returns the value of a PyTensor constant."""
    if not hasattr(variable, "data"):
        raise Refused(f"its {what} is known only at run time")
    return variable.data
