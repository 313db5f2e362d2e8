"""What a linker's text is made of, where that can be said without making the text: the state of one op of PyTensor's own.

PyTensor's key is not enough for that: it takes ops for equal that say so, and leaves out settings. Here is what such an op looks
at, by content: its class with the methods that write C, its attributes and those of the ops in it, types, constants, which
inputs are one variable, and every setting. The ops of others may read whatever they like, and are asked each time; so is
PyTensor's own by a linker of others. Who replaces other functions of PyTensor's while a program runs is not seen.
"""

import os
from collections.abc import Mapping
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy

from ._host import TESTED, Host

# A constant that is longer is not compared; nor is an object that lies deeper.
_LONGEST = 64
_DEEPEST = 8

# Classes whose C others may register while the program runs have this attribute.
_REGISTERED = "c_code_and_version"

# What an op that has a graph keeps beside it, all of it made from the graph.
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
    """Something that cannot be compared by its content."""


def of_linker(host: Host, linker: Any) -> Any:
    """A key that equals another where the texts and arguments of both linkers are equal; `None` where that is not known."""
    if host.version not in TESTED or type(linker) is not host.CLinker or len(linker.node_order) != 1:
        return None
    (node,), graph = linker.node_order, linker.fgraph
    variables = [*graph.inputs, *node.inputs, *node.outputs, *graph.outputs]
    state = _State()
    say = state.said.append
    try:
        state.add(node.op)
        say((len(graph.inputs), len(node.inputs), len(node.outputs), len(graph.outputs)))
        # Which of them are one variable.
        numbers: dict[int, int] = {}
        for variable in variables:
            say(numbers.setdefault(id(variable), len(numbers)))
            state.add_variable(variable)
            say(variable in linker.no_recycling)
        # What was said or looked up of each setting.
        state.said += [parameter.__dict__.get("val") for parameter in list(host.config._config_var_dict.values())]
        key = tuple(state.said)
        hash(key)
    except (_Unknown, TypeError, RuntimeError):
        # Of the last kind: another thread changes it meanwhile, or it is too deep.
        return None
    return key


class _State:
    """Values by their content, one after the other: the type of each, for 1, 1.0 and `True` are three, and what it holds, with a
    length before what can be longer. No tuples in tuples: many that stay are gone through by each collection of garbage."""

    def __init__(self) -> None:
        self.said: list[Any] = []
        # The classes whose methods were said.
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
            # Itself: the key holds it, so that no other takes its place.
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
        """An object of a class of PyTensor's: an op, a type, or what they have."""
        if hasattr(kind, _REGISTERED):
            raise _Unknown
        if kind.__name__ in ("TensorType", "ScalarType"):
            self.said += (value.dtype, value.shape, getattr(value, "name", None))
            return
        if kind.__module__ == "pytensor.misc.frozendict" and isinstance(value, Mapping):
            self.add(dict(value), depth)
            return
        if isinstance(value, _BUILT_IN) or hasattr(value, "owner") or not hasattr(value, "__dict__"):
            # It has more than its attributes, or is a variable, which is what its graph makes it.
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
        """The graph of an op that is a program of others, with its edges."""
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
    """One of values that have no order."""
    state = _State()
    state.add(value, depth + 1)
    return tuple(state.said)
