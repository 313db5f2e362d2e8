"""Keys for generated texts that are computed without generating the text: the state of one op of PyTensor.

PyTensor's own key is not sufficient: it trusts the equality that ops define, and omits settings. The state contains everything that
such an op reads, by content: its class with the methods that generate C, its attributes and those of inner ops, types, constants,
equal inputs, and every setting. Ops and linkers of other packages may read anything, so they have no state and generate their text
each time. Replacing other functions of PyTensor at run time is not detected.
"""

import os
from collections.abc import Mapping
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy

from ._host import TESTED, Host

# Longer constants and more deeply nested objects are not compared.
_LONGEST = 64
_DEEPEST = 8

# Classes whose C can be registered at run time have this attribute.
_REGISTERED = "c_code_and_version"

# Attributes that an op with an inner graph derives from it.
_DERIVED = {"inputs", "outputs", "_c_code", "_name", "_py_perform_fn", "nodenames", "inner_float16", "prepare_node_called"}

_BUILT_IN = (bool, int, float, complex, str, bytes, tuple, list, dict, set, frozenset)

_METHODS = (
    "check_broadcast",
    "check_input",
    "params_type",
    "c_code",
    "c_code_cleanup",
    "c_code_contiguous",
    "c_support_code",
    "c_support_code_apply",
    "c_support_code_struct",
    "c_init_code",
    "c_init_code_apply",
    "c_init_code_struct",
    "c_cleanup_code_struct",
    "c_headers",
    "c_header_dirs",
    "c_libraries",
    "c_lib_dirs",
    "c_compile_args",
    "c_no_compile_args",
    "c_compiler",
    "c_declare",
    "c_init",
    "c_extract",
    "c_extract_out",
    "c_sync",
    "c_cleanup",
    "c_literal",
    "get_params",
    "prepare_node",
)


class _Unknown(Exception):
    """A value cannot be compared by content."""


def of_linker(host: Host, linker: Any) -> Any:
    """Returns a key. Two linkers with equal keys have equal texts and arguments. Returns `None` if that is not certain."""
    if host.version not in TESTED or type(linker) is not host.CLinker or len(linker.node_order) != 1:
        return None
    (node,), graph = linker.node_order, linker.fgraph
    variables = [*graph.inputs, *node.inputs, *node.outputs, *graph.outputs]
    state = _State()
    say = state.said.append
    try:
        state.add(node.op)
        say((len(graph.inputs), len(node.inputs), len(node.outputs), len(graph.outputs)))
        # A number for each distinct variable.
        numbers: dict[int, int] = {}
        for variable in variables:
            say(numbers.setdefault(id(variable), len(numbers)))
            state.add_variable(variable)
            say(variable in linker.no_recycling)
        # The value of each setting that was set or looked up.
        state.said += [parameter.__dict__.get("val") for parameter in list(host.config._config_var_dict.values())]
        key = tuple(state.said)
        hash(key)
    except (_Unknown, TypeError, RuntimeError):
        # A `RuntimeError` occurs if another thread changes a container, or if recursion is too deep.
        return None
    return key


class _State:
    """Values by content in a flat list: the type of each, because 1, 1.0 and `True` differ, then its content, with a length in front
    if the length varies. Nested tuples are avoided, because each garbage collection traverses them."""

    def __init__(self) -> None:
        self.said: list[Any] = []
        # The classes whose methods are in the list.
        self.classes: set[type] = set()

    def add_variable(self, variable: Any) -> None:
        self.said.append(type(variable))
        self.add(variable.type)
        self.add(getattr(variable, "data", None))

    def add(self, value: Any, depth: int = 0) -> None:
        say, kind = self.said.append, type(value)
        say(kind)
        if value is None or kind in (bool, int, str, bytes):
            say(value)
        elif kind in (float, complex):
            say(repr(value))
        elif depth > _DEEPEST:
            raise _Unknown
        elif kind in (tuple, list):
            self._all(value, depth)
        elif kind in (set, frozenset):
            say(frozenset(_alone(item, depth) for item in value))
        elif kind is dict:
            self._all([part for item in value.items() for part in item], depth)
        elif isinstance(value, type) or kind in (FunctionType, BuiltinFunctionType, numpy.ufunc):
            # The object itself: the key keeps it alive, so its identity is not reused.
            say(value)
        elif kind.__module__.startswith("pytensor."):
            self._own(kind, value, depth)
        elif kind is numpy.ndarray or isinstance(value, numpy.generic):
            if value.size > _LONGEST or value.dtype.hasobject:
                raise _Unknown
            self.said += (value.dtype.str, value.shape, value.tobytes())
        elif isinstance(value, numpy.dtype):
            say(value.str)
        elif isinstance(value, os.PathLike):
            say(os.fspath(value))
        else:
            raise _Unknown

    def _all(self, values: Any, depth: int) -> None:
        self.said.append(len(values))
        for value in values:
            self.add(value, depth + 1)

    def _own(self, kind: type, value: Any, depth: int) -> None:
        """Adds an object of a PyTensor class: an op, a type, or one of their attributes."""
        if hasattr(kind, _REGISTERED):
            raise _Unknown
        if kind.__name__ in ("TensorType", "ScalarType"):
            self.said += (value.dtype, value.shape, getattr(value, "name", None))
            return
        if kind.__module__ == "pytensor.misc.frozendict" and isinstance(value, Mapping):
            self.add(dict(value), depth)
            return
        if isinstance(value, _BUILT_IN) or hasattr(value, "owner") or not hasattr(value, "__dict__"):
            # The object has other content than its attributes, or it is a variable, which depends on its graph.
            raise _Unknown
        if any([base.__dict__.get("__slots__") for base in kind.__mro__]):
            raise _Unknown
        if hasattr(value, "toposort"):
            self._graph(value, depth)
            return
        if kind not in self.classes:
            self.classes.add(kind)
            self.said += [getattr(kind, name, None) for name in _METHODS]
        has = vars(value)
        if "fgraph" in has:
            has = {name: item for name, item in has.items() if name not in _DERIVED}
        self.add(dict(has), depth + 1)

    def _graph(self, graph: Any, depth: int) -> None:
        """Adds the inner graph of an op, with its edges."""
        numbers = {id(variable): number for number, variable in enumerate(graph.inputs)}
        nodes = graph.toposort()
        self.said += (len(graph.inputs), len(nodes), len(graph.outputs))
        for variable in graph.inputs:
            self.add_variable(variable)
        for node in nodes:
            self.add(node.op, depth + 1)
            self.said += (len(node.inputs), len(node.outputs))
            for variable in node.inputs:
                self._edge(variable, numbers)
            for variable in node.outputs:
                self.add_variable(variable)
                numbers[id(variable)] = len(numbers)
        for variable in graph.outputs:
            self._edge(variable, numbers)

    def _edge(self, variable: Any, numbers: dict[int, int]) -> None:
        known = numbers.get(id(variable))
        self.said.append(known)
        if known is None:
            self.add_variable(variable)


def _alone(value: Any, depth: int) -> Any:
    """Returns the state of one element of an unordered container."""
    state = _State()
    state.add(value, depth + 1)
    return tuple(state.said)
