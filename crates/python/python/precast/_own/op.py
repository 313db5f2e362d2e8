"""Ops that are written in Python, with the methods of ops in Aesara and PyTensor."""

from __future__ import annotations

import inspect
import os
import weakref
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy

from .. import _native
from .._types import Output, Type
from .._variable import Variable
from ..errors import GraphTypeError, GraphValueError
from .code import NAME, SUB, CLinkerObject, check, lists
from .params import EnumType


class Apply:
    """One use of an op. `make_node` returns it, and the other methods get it as `node`."""

    def __init__(self, op: Any, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        self.op = op
        self.inputs = [as_variable(each) for each in inputs]
        self.outputs = [each() if isinstance(each, Type) else each for each in outputs]

    def __repr__(self) -> str:
        return f"Apply({self.op!r}, {self.inputs}, {self.outputs})"


def as_variable(value: Any) -> Variable:
    """Returns a variable unchanged, and converts an array or a number to a constant."""
    if isinstance(value, (Variable, Output)):
        return value
    return _native.constant(value)


class Op:
    """The base class of ops: `make_node` and `perform`."""

    #: The attributes that identify an op. Ops of one class with equal values are equal.
    __props__: Sequence[str] = ()
    #: Maps outputs to the inputs that they are views of: ``{output: [input]}``.
    view_map: Mapping[int, Sequence[int]] = {}
    #: Maps outputs to the inputs that they overwrite: ``{output: [input]}``.
    destroy_map: Mapping[int, Sequence[int]] = {}

    @property
    def name(self) -> str:
        """The name in signatures and messages."""
        return type(self).__name__

    def make_node(self, *inputs: Variable) -> Apply:
        """Checks the inputs and declares the outputs: ``Apply(self, [x], [x.type()])``."""
        raise NotImplementedError(f"`{type(self).__name__}` has no `make_node`")

    def perform(self, node: Apply, inputs: Sequence[numpy.ndarray], output_storage: Sequence[list[Any]]) -> None:
        """Computes the outputs in Python, ``output_storage[0][0] = …``. This is the reference for the C code."""
        raise NotImplementedError(f"`{type(self).__name__}` has no `perform`")

    def _props(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__props__}

    def __eq__(self, other: Any) -> bool:
        return self is other or (type(self) is type(other) and bool(self.__props__) and self._props() == other._props())

    def __hash__(self) -> int:
        return hash((type(self), *map(repr, self._props().values()))) if self.__props__ else id(self)

    def __call__(self, *inputs: Any) -> Any:
        """Applies the op. Returns a variable, or a tuple if the op has several outputs."""
        node = self.make_node(*(as_variable(each) for each in inputs))
        if not isinstance(node, Apply):
            raise GraphTypeError(f"`make_node` of `{self.name}` returned a `{type(node).__name__}`, expected an `Apply`")
        outputs = _native.apply(
            self._told(node),
            node.inputs,
            list(self._props().items()) + self._params(),
            self._param_types(),
            self._files(),
            self._reference(node),
        )
        return outputs[0] if len(outputs) == 1 else outputs

    def _reference(self, node: Apply) -> Any:
        """Returns `perform` as a function of arrays; `None` if the op does not define it."""
        if type(self).perform is Op.perform:
            return None

        def run(inputs: list[Any]) -> list[Any]:
            storage: list[list[Any]] = [[None] for _ in node.outputs]
            self.perform(node, inputs, storage)
            for cell, output in zip(storage, node.outputs):
                if cell[0] is None:
                    raise GraphValueError(f"`perform` of `{self.name}` left an output empty")
                cell[0] = numpy.asarray(cell[0], output.dtype)
            return [cell[0] for cell in storage]

        return run


class COp(Op, CLinkerObject):
    """An op whose methods return C. See "Writing ops in Python" in the documentation of the package."""

    #: The types of params that C receives at run time: ``ParamsType(low="f64")``.
    params_type: Any = None
    #: Whether the generated C checks the values of inputs and outputs.
    check_input = True
    _f16_ok = False

    def c_code(self, node: Apply, name: str, inputs: Sequence[str], outputs: Sequence[str], sub: Mapping[str, str]) -> str:
        """Returns the C code that computes the outputs. `inputs` and `outputs` are names of C variables."""
        raise NotImplementedError(f"`{type(self).__name__}` has no `c_code`")

    def c_code_cleanup(
        self, node: Apply, name: str, inputs: Sequence[str], outputs: Sequence[str], sub: Mapping[str, str]
    ) -> str:
        """Returns C code that runs after `c_code`, even if that failed."""
        return ""

    def c_support_code_apply(self, node: Apply, name: str) -> str:
        """Returns C code at file scope for one use. Its names should contain `name` to be unique."""
        return ""

    def c_init_code_apply(self, node: Apply, name: str) -> str:
        """Returns statements for one use that run once when the module is loaded."""
        return ""

    def c_support_code_struct(self, node: Apply, name: str) -> str:
        """Returns declarations of members of the module instance."""
        return ""

    def c_init_code_struct(self, node: Apply, name: str, sub: Mapping[str, str]) -> str:
        """Returns statements that initialize the members."""
        return ""

    def c_cleanup_code_struct(self, node: Apply, name: str) -> str:
        """Returns statements that release the resources of the members."""
        return ""

    def c_code_cache_version_apply(self, node: Apply) -> tuple[Any, ...] | None:
        """Returns the cache version of the code of one use."""
        return self.c_code_cache_version()

    def get_params(self, node: Apply) -> Mapping[str, Any]:
        """Returns the values of the params. The default is the attributes of the same names."""
        return {name: getattr(self, name) for name in self.params_type or ()}

    def _params(self) -> list[tuple[str, Any]]:
        values = self.get_params(None) if self.params_type else {}
        own = set(self.__props__)
        return [(name, value) for name, value in values.items() if name not in own]

    def _param_types(self) -> list[tuple[str, Any]]:
        return [(name, told.told if isinstance(told, EnumType) else str(told)) for name, told in (self.params_type or {}).items()]

    def _files(self) -> Any:
        return None

    def _texts(self, node: Apply) -> dict[str, str]:
        inputs = [f"PRECAST_INPUT_{at}_" for at in range(len(node.inputs))]
        outputs = [f"PRECAST_OUTPUT_{at}_" for at in range(len(node.outputs))]
        sub = dict(SUB)
        if not self.params_type:
            del sub["params"], sub["context"]
        texts = {
            "c_code_cleanup": self.c_code_cleanup(node, NAME, inputs, outputs, sub),
            "c_support_code_apply": self.c_support_code_apply(node, NAME),
            "c_init_code_apply": self.c_init_code_apply(node, NAME),
            "c_support_code_struct": self.c_support_code_struct(node, NAME),
            "c_init_code_struct": self.c_init_code_struct(node, NAME, sub),
            "c_cleanup_code_struct": self.c_cleanup_code_struct(node, NAME),
        }
        if type(self).c_code is not COp.c_code:
            texts["c_code"] = self.c_code(node, NAME, inputs, outputs, sub)
        for method, text in texts.items():
            check(self.name, method, text)
        return {method: text for method, text in texts.items() if text}

    def _told(self, node: Apply) -> dict[str, Any]:
        compiler = self.c_compiler()
        if compiler not in (None, "c", "c++"):
            raise GraphValueError(f"`c_compiler` of `{self.name}` returned {compiler!r}, expected None, \"c\" or \"c++\"")
        return {
            "name": self.name,
            "class": _identity(self),
            "inputs": [str(each.type) for each in node.inputs],
            "outputs": [str(each.type) for each in node.outputs],
            "texts": self._texts(node),
            "lists": lists(self),
            "version": _version(self.c_code_cache_version_apply(node)),
            "cxx": None if compiler is None else compiler == "c++",
            "view_map": _pairs(self.view_map),
            "destroy_map": _pairs(self.destroy_map),
            "check_input": bool(self.check_input),
            "f16_ok": bool(self._f16_ok),
        }


class ExternalCOp(COp):
    """An op whose C code is in files with ``#section`` tags. File names are relative to the file of its class."""

    #: The largest numbers of inputs and outputs that the C function takes, if larger than in one use.
    _cop_num_inputs: int | None = None
    _cop_num_outputs: int | None = None

    def __init__(self, func_files: str | Sequence[str], func_name: str | None = None) -> None:
        files = [func_files] if isinstance(func_files, str) else list(func_files)
        folder = os.path.dirname(inspect.getfile(type(self)))
        self.func_files = [os.path.join(folder, each) for each in files]
        self.func_name = func_name
        self._code = [(os.path.basename(each), _read(each)) for each in self.func_files]

    def _texts(self, node: Apply) -> dict[str, str]:
        return {}

    def c_sources(self) -> Mapping[str, str]:
        """Returns the names and texts of headers that the files include and that are part of the op."""
        return {}

    def _files(self) -> Any:
        return {
            "files": self._code,
            "sources": dict(self.c_sources()),
            "func": self.func_name,
            "max_inputs": self._cop_num_inputs,
            "max_outputs": self._cop_num_outputs,
        }


#: The number of classes and ops with each name so far, and the number of each class or op.
_counts: Counter[str] = Counter()
_numbers: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()


def _identity(op: Op) -> str:
    """Returns a text that differs for unequal ops. It contains no address, so it is the same in each run of a program."""
    own = type(op)
    name = f"{own.__module__}.{own.__qualname__}"
    what = own if op.__props__ else op
    number = _numbers.get(what)
    if number is None:
        number = _numbers[what] = _counts[name]
        _counts[name] += 1
    return f"{name}:{number}" if number else name


def _read(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


def _version(version: Any) -> list[int] | None:
    """Flattens a version to a list; returns `None` without a version."""
    if version is None:
        return None
    flat: list[int] = []
    for part in version:
        flat.extend(_version(part) or [] if isinstance(part, (tuple, list)) else [int(part)])
    return flat


def _pairs(of: Mapping[int, Sequence[int]]) -> list[tuple[int, int]]:
    return [(output, each) for output, inputs in of.items() for each in inputs]
