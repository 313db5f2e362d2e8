"""Array ops that the library lacks, compiled from the C of PyTensor or of another author.

```
c_code ─▶ compiles with precast's headers ─▶ an op in the graph: for Python, Rust and C
   └ otherwise, or if a value is not an array ─▶ with `python=True` a step of the plan: an extension module of host
                                                 `cpython`, for the stable ABI if possible, or for this CPython version
```
The compiler decides which API suffices, so the C is compiled here. Without a compiler, the decision is deferred until the code is
compiled on another machine.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy

from ... import _build, _cpython, _native
from ..._own import Apply, COp, CType
from ..._own.code import NAME, SUB
from ..._steps import OBJECT
from ..._types import TensorType, Type
from ..._variable import Variable
from ...errors import CompileError, GraphError
from .lowering import HINT, Hosted, Lowering, Refused, is_array, port_of, rule, type_text
from .own_c import _LISTS, _asked

_TYPE = ("c_init", "c_sync", "c_cleanup", "c_support_code")


@rule("CLinkerOp")
def applied(lower: Lowering, node: Any, inputs: list[Any]) -> Any:
    node = _fresh(node)
    why = next((f"values of `{each.type}` are not arrays" for each in _variables(node) if not is_array(each.type)), None)
    if why is None:
        why = _problem(node)
    if why is None:
        lower.cxx.append(type(node.op).__name__)
        made = Whole(node)(*inputs)
        return list(made) if isinstance(made, tuple) else made
    if not lower.python:
        raise Refused(f"{why}\n    {HINT}")
    hosted = _hosted(node)
    types = [variable.type for variable in node.outputs]
    return lower.ask(type(node.op).__name__, inputs, types, hosted)


def _fresh(node: Any) -> Any:
    """Returns a copy of an Apply for `c_code`, because the original may belong to another graph."""
    from pytensor.graph.basic import Apply

    made = Apply(node.op, list(node.inputs), [output.type() for output in node.outputs])
    if hasattr(node.op, "prepare_node"):
        node.op.prepare_node(made, None, None, "c")
    return made


def _variables(node: Any) -> list[Any]:
    return [*node.inputs, *node.outputs]


def _problem(node: Any) -> str | None:
    """Returns the reason why the C of an op needs more than precast's headers, or `None`."""
    try:
        graph = _graph(node, Whole(node))
        if _native.Modules.no_compiler() is None:
            _native.compile(graph, "op", _build._settings("jit", (), None, None, None))
    except (CompileError, GraphError) as error:
        return f"its C needs more than precast's headers: {_first(error)}"
    return None


def _hosted(node: Any) -> Hosted:
    """Compiles an op to an extension module."""
    problem: Exception | None = None
    for host in (_cpython.STABLE, _cpython.whole()):
        own = Whole(node, host)
        try:
            graph = _graph(node, own)
            unit = _cpython.unit_of(graph, host)
            if _native.Modules.no_compiler() is None:
                modules = _native.Modules(store=_build._store(None))
                if modules.find(unit, fresh=True) is None:
                    modules.compile(unit)
        except (CompileError, GraphError) as error:
            problem = error
            continue
        types = [OBJECT if port_of(each.type) else type_text(each.type) for each in node.inputs]
        return Hosted(graph, unit, host, types, sorted(own.destroyed), own.reference)
    raise Refused(f"its C does not compile with the headers of Python and NumPy: {_first(problem)}")


def _graph(node: Any, op: Whole) -> _native.Graph:
    """Returns the graph of one op."""
    inputs = [
        ObjectType(each.type)(f"x{at}") if port_of(each.type) else _native.input(f"x{at}", type_text(each.type))
        for at, each in enumerate(node.inputs)
    ]
    made = op(*inputs)
    made = made if isinstance(made, tuple) else (made,)
    return _build.graph(inputs, {f"out{at}": each for at, each in enumerate(made)})


def _first(error: Exception | None) -> str:
    """Returns the first message of a compiler."""
    said = re.search(r"^\s*\S+:\d+:\d+: (.+)$", str(error), re.MULTILINE)
    return said[1] if said else str(error)


class Whole(COp):
    """A PyTensor op or a user-defined op with its own C."""

    def __init__(self, node: Any, host: str | None = None) -> None:
        self.node, self.op, self.host = node, node.op, host
        #: The inputs that the op overwrites.
        self.destroyed = {at for places in (getattr(self.op, "destroy_map", None) or {}).values() for at in places}
        if host is None:
            self.destroy_map, self.view_map = (dict(getattr(self.op, name, None) or {}) for name in ("destroy_map", "view_map"))
        self.check_input = bool(getattr(self.op, "check_input", True))
        self._f16_ok = bool(getattr(self.op, "_f16_ok", False))
        self.struct, self.params = _params(self.op, node)

    @property
    def name(self) -> str:
        return type(self.op).__name__

    def make_node(self, *inputs: Variable) -> Apply:
        outputs = [
            Type(str(ObjectType(each.type))) if port_of(each.type) else TensorType(each.type.dtype, getattr(each.type, "shape", ()))
            for each in self.node.outputs
        ]
        return Apply(self, list(inputs), [each() for each in outputs])

    def perform(self, node: Apply, inputs: Sequence[numpy.ndarray], output_storage: Sequence[list[Any]]) -> None:
        made = self.reference(*inputs)
        for cell, value in zip(output_storage, made if len(output_storage) > 1 else (made,), strict=True):
            cell[0] = value

    def reference(self, *given: Any) -> Any:
        """Calls PyTensor's `perform`. Returns a result, or a tuple if there are several."""
        values = [value[()] if _is_number(each) else value for each, value in zip(self.node.inputs, given, strict=True)]
        # Copy the inputs that the op overwrites.
        values = [numpy.array(value) if at in self.destroyed and is_array(self.node.inputs[at].type) else value for at, value in enumerate(values)]
        storage: list[list[Any]] = [[None] for _ in self.node.outputs]
        self.op.perform(self.node, values, storage)
        results = tuple(cell[0] for cell in storage)
        return results if len(results) > 1 else results[0]

    def c_code(self, node: Apply, name: str, inputs: Sequence[str], outputs: Sequence[str], sub: Mapping[str, str]) -> str:
        # Scalars are C numbers in PyTensor, and arrays without dimensions in precast.
        given = [f"precast_x{at}" if _is_number(each) else x for at, (each, x) in enumerate(zip(self.node.inputs, inputs))]
        made = [f"precast_z{at}" if _is_number(each) else z for at, (each, z) in enumerate(zip(self.node.outputs, outputs))]
        before = "".join(
            f"npy_{each.type.dtype} {own} = *(npy_{each.type.dtype} *)PyArray_DATA({x});\n"
            for each, own, x in zip(self.node.inputs, given, inputs)
            if own != x
        )
        named = zip(_variables(self.node), [*given, *made])
        before += "".join(f"typedef npy_{each.type.dtype} dtype_{own};\n" for each, own in named if is_array(each.type))
        numbers = [(each.type.dtype, own, z) for each, own, z in zip(self.node.outputs, made, outputs) if own != z]
        before += "".join(f"npy_{dtype} {own} = {{}};\n" for dtype, own, _ in numbers)
        code = _asked(self.op, "c_code", self.node, name, given, made, self._sub(sub))
        if not code:
            raise Refused("the op has no C for these types")
        after = "".join(
            f"Py_XDECREF({z});\n{z} = (PyArrayObject *)PyArray_EMPTY(0, NULL, NPY_{dtype.upper()}, 0);\n"
            f"if (!{z}) {{ {sub['fail']} }}\n*(npy_{dtype} *)PyArray_DATA({z}) = {own};\n"
            for dtype, own, z in numbers
        )
        return f"{{\n{before}{{\n{code}\n}}\n{after}}}\n"

    def c_code_cleanup(self, node: Apply, name: str, inputs: Sequence[str], outputs: Sequence[str], sub: Mapping[str, str]) -> str:
        return _asked(self.op, "c_code_cleanup", self.node, name, list(inputs), list(outputs), self._sub(sub)) or ""

    def c_support_code_apply(self, node: Apply, name: str) -> str:
        return self.struct + (_asked(self.op, "c_support_code_apply", self.node, name) or "")

    def c_init_code_apply(self, node: Apply, name: str) -> str:
        return _asked(self.op, "c_init_code_apply", self.node, name) or ""

    def c_support_code_struct(self, node: Apply, name: str) -> str:
        return _asked(self.op, "c_support_code_struct", self.node, name) or ""

    def c_init_code_struct(self, node: Apply, name: str, sub: Mapping[str, str]) -> str:
        return _asked(self.op, "c_init_code_struct", self.node, name, self._sub(sub)) or ""

    def c_cleanup_code_struct(self, node: Apply, name: str) -> str:
        return _asked(self.op, "c_cleanup_code_struct", self.node, name) or ""

    def c_support_code(self) -> list[str]:
        given = _asked(self.op, "c_support_code") or []
        return ["#include <math.h>", *([given] if isinstance(given, str) else given)]

    def c_compile_args(self) -> list[str]:
        whole = [] if self.host in (None, _cpython.STABLE) else [_cpython.WHOLE_API]
        return [*(_asked(self.op, "c_compile_args") or []), *whole]

    def c_compiler(self) -> str:
        # PyTensor's C is C++.
        return "c++"

    def _sub(self, sub: Mapping[str, str]) -> dict[str, str]:
        params = {} if self.params is None else {"params": self.params}
        return {key: sub[key] for key in ("fail", "id", "failure_var")} | params


class ObjectType(CType):
    """A PyTensor type whose values are not arrays, with its own C."""

    carrier = "u8[]"

    def __init__(self, own: Any) -> None:
        self.own = own
        self.texts = {method: _asked(own, method, NAME, SUB) or "" for method in _TYPE[:2]}
        marks = {**SUB, "py_ptr": "PRECAST_PY_PTR_", "stor_ptr": "PRECAST_STOR_PTR_"}
        texts = [self.c_declare(NAME, marks), self.c_extract(NAME, marks), *self.texts.values()]
        #: The name contains a hash of the C, because two types of one class may have different C.
        self.name = f"{type(own).__name__.lower()}_{hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:8]}"

    def c_declare(self, name: str, sub: Mapping[str, str], check_input: bool = True) -> str:
        return self._text("c_declare", name, dict(sub), check_input)

    def c_init(self, name: str, sub: Mapping[str, str]) -> str:
        return self._text("c_init", name, dict(sub))

    def c_extract(self, name: str, sub: Mapping[str, str], check_input: bool = True) -> str:
        return self._text("c_extract", name, dict(sub), check_input)

    def c_sync(self, name: str, sub: Mapping[str, str]) -> str:
        # In PyTensor every cell contains an object.
        first = f"if (py_{name} == NULL) {{\n  py_{name} = Py_None;\n  Py_INCREF(Py_None);\n}}\n"
        return first + self._text("c_sync", name, dict(sub))

    def c_cleanup(self, name: str, sub: Mapping[str, str]) -> str:
        return _asked(self.own, "c_cleanup", name, dict(sub)) or ""

    def c_support_code(self) -> list[str]:
        given = _asked(self.own, "c_support_code") or []
        return [given] if isinstance(given, str) else list(given)

    def c_compiler(self) -> str:
        return "c++"

    def _text(self, method: str, *args: Any) -> str:
        text = _asked(self.own, method, *args)
        if text is None:
            raise Refused(f"values of `{self.own}` have no C")
        return str(text)


def _is_number(variable: Any) -> bool:
    return type(variable.type).__name__ == "ScalarType"


def _params(op: Any, node: Any) -> tuple[str, str | None]:
    """Returns C definitions of the params as constants, and the C expression for them."""
    type_ = getattr(op, "params_type", None)
    if type_ is None:
        return "", None
    values = op.get_params(node)
    if type(type_).__name__ != "ParamsType":
        ctype, value = _constant(type_, values)
        return _asked(type_, "c_support_code") or "", f"(({ctype}){value})"
    fields = [(name, own, *_constant(own, getattr(values, name))) for name, own in zip(type_.fields, type_.types, strict=True)]
    support = "".join(_asked(own, "c_support_code") or "" for _, own, _, _ in fields if hasattr(own, "ctype"))
    members = " ".join(f"{ctype} {name};" for name, _, ctype, _ in fields)
    values = ", ".join(f"({ctype}){value}" for _, _, ctype, value in fields)
    name = f"precast_params_{NAME}"
    text = f"{support}\nstruct {type_.name} {{ {members} }};\nstatic {type_.name} {name} = {{ {values} }};\n"
    return text, f"(&{name})"


def _constant(type_: Any, value: Any) -> tuple[str, str]:
    """Returns the C type and the C value of a param."""
    own = type(type_).__name__
    if own in ("EnumType", "EnumList"):
        return type_.ctype, repr(value)
    if own != "ScalarType" or numpy.dtype(type_.dtype).kind not in "biuf":
        raise Refused(f"a param of its C is a `{type_}`, but constants must be numbers")
    number = numpy.asarray(value, type_.dtype)
    # C represents half-precision numbers by their bits.
    plain = number.view("u2").item() if type_.dtype == "float16" else number.item()
    if isinstance(plain, float) and not math.isfinite(plain):
        return f"npy_{type_.dtype}", "(0.0 / 0.0)" if math.isnan(plain) else f"({'-' if plain < 0 else ''}__builtin_inf())"
    return f"npy_{type_.dtype}", str(int(plain)) if number.dtype.kind == "b" else repr(plain)


def _listed(method: str, of: str) -> Any:
    def listed(self: Any) -> list[str]:
        return [each for each in _asked(getattr(self, of), method) or [] if each]

    return listed


for _method in _LISTS:
    if _method != "c_compile_args":
        setattr(Whole, _method, _listed(_method, "op"))
    setattr(ObjectType, _method, _listed(_method, "own"))
