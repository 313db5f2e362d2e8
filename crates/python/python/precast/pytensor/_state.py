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
    try:
        # Which of them are one variable.
        numbers: dict[int, int] = {}
        variables = [*graph.inputs, *node.inputs, *node.outputs, *graph.outputs]
        state = (
            _of(node.op, 0),
            tuple(numbers.setdefault(id(variable), len(numbers)) for variable in variables),
            tuple(_of_variable(variable) for variable in variables),
            (len(graph.inputs), len(node.inputs), len(node.outputs)),
            tuple(variable in linker.no_recycling for variable in variables),
            # What was said or looked up of each setting.
            tuple(parameter.__dict__.get("val") for parameter in list(host.config._config_var_dict.values())),
        )
        hash(state)
    except (_Unknown, TypeError, RuntimeError):
        # Of the last kind: another thread changes it meanwhile, or it is too deep.
        return None
    return state


def _of_variable(variable: Any) -> tuple[Any, ...]:
    return type(variable), _of(variable.type, 0), _of(getattr(variable, "data", None), 0)


def _of(value: Any, depth: int) -> Any:
    """A value by its content, with its type: 1, 1.0 and `True` are three."""
    kind = type(value)
    if value is None or kind in (bool, int, str, bytes):
        return kind, value
    if kind in (float, complex):
        return kind, repr(value)
    if depth > _DEEPEST:
        raise _Unknown
    if kind in (tuple, list):
        return kind, tuple(_of(item, depth + 1) for item in value)
    if kind in (set, frozenset):
        return kind, frozenset(_of(item, depth + 1) for item in value)
    if kind is dict or (isinstance(value, Mapping) and kind.__module__ == "pytensor.misc.frozendict"):
        return kind, tuple((_of(key, depth + 1), _of(item, depth + 1)) for key, item in value.items())
    if kind is numpy.ndarray or isinstance(value, numpy.generic):
        if value.size > _LONGEST or value.dtype.hasobject:
            raise _Unknown
        return kind, value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, numpy.dtype):
        return kind, value.str
    if isinstance(value, os.PathLike):
        return kind, os.fspath(value)
    if isinstance(value, type) or kind in (FunctionType, BuiltinFunctionType, numpy.ufunc):
        # Itself: the key holds it, so that no other takes its place.
        return kind, value
    return _of_own(kind, value, depth)


def _of_own(kind: type, value: Any, depth: int) -> Any:
    """An object of a class of PyTensor's: an op, a type, or what they have."""
    if not kind.__module__.startswith("pytensor.") or hasattr(kind, _REGISTERED):
        raise _Unknown
    if kind.__name__ in ("TensorType", "ScalarType"):
        return kind, value.dtype, value.shape, getattr(value, "name", None)
    if isinstance(value, _BUILT_IN) or hasattr(value, "owner") or not hasattr(value, "__dict__"):
        # It has more than its attributes, or is a variable, which is what its graph makes it.
        raise _Unknown
    if any(base.__dict__.get("__slots__") for base in kind.__mro__):
        raise _Unknown
    if hasattr(value, "toposort"):
        return kind, _of_graph(value, depth)
    has = dict(vars(value))
    if "fgraph" in has:
        has = {name: item for name, item in has.items() if name not in _DERIVED}
    return kind, tuple(getattr(kind, name, None) for name in _METHODS), _of(has, depth + 1)


def _of_graph(graph: Any, depth: int) -> Any:
    """The graph of an op that is a program of others, with its edges."""
    numbers = {id(variable): number for number, variable in enumerate(graph.inputs)}
    said: list[Any] = [tuple(_of_variable(variable) for variable in graph.inputs)]

    def number(variable: Any) -> Any:
        known = numbers.get(id(variable))
        return _of_variable(variable) if known is None else known

    for node in graph.toposort():
        said.append((_of(node.op, depth + 1), tuple(map(number, node.inputs)), tuple(map(_of_variable, node.outputs))))
        for variable in node.outputs:
            numbers[id(variable)] = len(numbers)
    return tuple(said), tuple(map(number, graph.outputs))
