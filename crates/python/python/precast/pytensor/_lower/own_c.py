"""Scalar functions that the library lacks, compiled from the C of PyTensor or of another author.

The C of a scalar op is an expression on numbers. It becomes the body of a loop over vectors in a new op, which is compiled with
precast's headers instead of those of Python and NumPy. If it needs more than these headers, compilation fails.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy

from ..._own import Apply, COp
from ..._own.code import NAME, SUB
from ..._types import TensorType
from ..._variable import Variable, call
from .classes import c_is_of
from .lowering import Refused, cast, constant

_LISTS = ("c_headers", "c_header_dirs", "c_libraries", "c_lib_dirs", "c_compile_args", "c_no_compile_args", "c_init_code")

#: The ops created so far, shared by all uses of a function.
_made: dict[Any, Loop] = {}


def apply(op: Any, arguments: list[Variable], dtypes: Sequence[str]) -> list[Variable]:
    """Returns the results of a PyTensor scalar op on arrays or numbers, computed by its own C."""
    key = (op, tuple(argument.type.dtype for argument in arguments), tuple(dtypes))
    loop = _made.get(key) or _made.setdefault(key, Loop(*key))
    whole = [covered(argument, arguments[:at] + arguments[at + 1 :]) for at, argument in enumerate(arguments)]
    made = loop(*(call("flatten", each) for each in whole))
    made = made if isinstance(made, tuple) else (made,)
    return [call("reshape", each, call("shape", whole[0]), ndim=whole[0].type.ndim) for each in made]


def covered(value: Variable, others: Sequence[Variable]) -> Variable:
    """Broadcasts a value with other values."""
    for other in others:
        value = call("switch", constant(True, "bool"), value, cast(cast(other, "bool"), value.type.dtype))
    return value


class Loop(COp):
    """Applies a PyTensor scalar op to each element of vectors."""

    def __init__(self, op: Any, given: tuple[str, ...], dtypes: tuple[str, ...]) -> None:
        from pytensor.scalar.basic import get_scalar_type

        self.op, self.given, self.dtypes = op, given, dtypes
        if not c_is_of(type(op)):
            raise Refused(f"`{self.name}` inherits C from a class with another computation")
        self.scalar = op.make_node(*(get_scalar_type(each)() for each in given))
        self.code = _asked(op, "c_code", self.scalar, NAME, *self._names(), {key: SUB[key] for key in ("fail", "id")})
        if not self.code:
            raise Refused(f"precast has no function `{self.name}`, and the op has no C for {', '.join(given)}")
        for method in ("c_support_code_apply", "c_init_code_apply"):
            if _asked(op, method, self.scalar, NAME):
                raise Refused(f"precast has no function `{self.name}`, and its C is more than an expression")

    @property
    def name(self) -> str:
        return type(self.op).__name__

    def _names(self) -> tuple[list[str], list[str]]:
        return [f"precast_x{at}" for at in range(len(self.given))], [f"precast_z{at}" for at in range(len(self.dtypes))]

    def make_node(self, *inputs: Variable) -> Apply:
        return Apply(self, list(inputs), [TensorType(dtype, [None])() for dtype in self.dtypes])

    def perform(self, node: Apply, inputs: Sequence[numpy.ndarray], output_storage: Sequence[list[Any]]) -> None:
        computed = [self._numbers(numbers) for numbers in zip(*inputs, strict=True)]
        for at, (cell, dtype) in enumerate(zip(output_storage, self.dtypes, strict=True)):
            cell[0] = numpy.array([results[at] for results in computed], dtype=dtype).reshape(inputs[0].shape)

    def _numbers(self, given: Sequence[Any]) -> list[Any]:
        """Returns the results of PyTensor's reference for numbers."""
        storage: list[list[Any]] = [[None] for _ in self.dtypes]
        self.op.perform(self.scalar, list(given), storage)
        return [cell[0] for cell in storage]

    def c_code(self, node: Apply, name: str, inputs: Sequence[str], outputs: Sequence[str], sub: Mapping[str, str]) -> str:
        names, results = self._names()
        elements = "\n".join(
            f"npy_{dtype} {own} = *(npy_{dtype} *)((char *)PyArray_DATA({x}) + i_ * PyArray_STRIDES({x})[0]);"
            for dtype, own, x in zip(self.given, names, inputs, strict=True)
        )
        made = "\n".join(
            f"""
            Py_XDECREF({z});
            {z} = (PyArrayObject *)PyArray_EMPTY(1, PyArray_DIMS({inputs[0]}), NPY_{dtype.upper()}, 0);
            if (!{z}) {{ {sub["fail"]} }}"""
            for dtype, z in zip(self.dtypes, outputs, strict=True)
        )
        declared = "\n".join(f"npy_{dtype} {own};" for dtype, own in zip(self.dtypes, results, strict=True))
        kept = "\n".join(
            f"((npy_{dtype} *)PyArray_DATA({z}))[i_] = {own};" for dtype, own, z in zip(self.dtypes, results, outputs, strict=True)
        )
        return f"""
        {made}
        for (npy_intp i_ = 0; i_ < PyArray_DIMS({inputs[0]})[0]; i_++) {{
            {elements}
            {declared}
            {{ {self.code} }}
            {kept}
        }}
        """

    def c_support_code(self) -> list[str]:
        given = _asked(self.op, "c_support_code") or []
        return ["#include <math.h>", *([given] if isinstance(given, str) else given)]

    def c_compiler(self) -> str:
        # PyTensor's C is C++.
        return "c++"


def _asked(op: Any, method: str, *args: Any) -> Any:
    """Calls a method of an op. Returns `None` if the op does not define it."""
    from pytensor.graph.utils import MethodNotDefined

    try:
        return getattr(op, method)(*args)
    except (NotImplementedError, MethodNotDefined):
        return None


def _listed(method: str) -> Any:
    def listed(self: Loop) -> list[str]:
        return list(_asked(self.op, method) or [])

    return listed


for _method in _LISTS:
    setattr(Loop, _method, _listed(_method))
