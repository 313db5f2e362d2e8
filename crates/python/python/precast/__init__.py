"""Numeric graphs that are compiled ahead of deployment and called with NumPy arrays.

>>> import precast
>>> model = precast.load("model.precast")            # doctest: +SKIP
>>> model.score(x, y, z)                             # doctest: +SKIP

`precast build` compiles graphs to bundles and needs a compiler. Calling the functions of a bundle needs only NumPy.
"""

from typing import TYPE_CHECKING

from . import _interpreter as _interpreter

# The extension module needs NumPy. If NumPy is missing, this line raises a clear error.
import numpy as _numpy

from .errors import (
    BundleError,
    BundleNotFoundError,
    BundleReadError,
    CallAssertionError,
    CallError,
    CallIndexError,
    CallMemoryError,
    CallRuntimeError,
    CallTypeError,
    CallValueError,
    CompileError,
    EntryError,
    FreezeError,
    GraphAxisError,
    GraphError,
    GraphTypeError,
    GraphValueError,
    MissError,
    NativeError,
    PrecastError,
)
from ._native import Function, Graph, Model, get_num_threads, load, set_num_threads, set_profiling
from ._native import misread_threads as _misread_threads

if TYPE_CHECKING:
    from ._build import Explanation, check, explain, function, graph, input, save, ufunc
    from ._callback import NativeFunction
    from ._density import Density
    from ._own import Apply, CEnumType, COp, CType, EnumList, EnumType, ExternalCOp, Generic, ParamsType, as_variable
    from ._ports import Port
    from ._stateful import Stateful
    from ._steps import Steps
    from ._structured import Structured
    from ._types import TensorType, Type, upcast
    from ._variable import Variable

#: Names that are imported on first access, and their modules. Deployed programs only load and call, and skip these imports.
_LATER = {
    **dict.fromkeys(("Explanation", "check", "explain", "function", "graph", "input", "save", "ufunc"), "_build"),
    "NativeFunction": "_callback",
    "Density": "_density",
    **dict.fromkeys(
        ("Apply", "CEnumType", "COp", "CType", "EnumList", "EnumType", "ExternalCOp", "Generic", "ParamsType", "as_variable"), "_own"
    ),
    "Port": "_ports",
    "Stateful": "_stateful",
    "Steps": "_steps",
    "Structured": "_structured",
    **dict.fromkeys(("TensorType", "Type", "upcast"), "_types"),
    "Variable": "_variable",
}

__all__ = [
    "Apply",
    "BundleError",
    "BundleNotFoundError",
    "BundleReadError",
    "CEnumType",
    "COp",
    "CType",
    "CallAssertionError",
    "CallError",
    "CallIndexError",
    "CallMemoryError",
    "CallRuntimeError",
    "CallTypeError",
    "CallValueError",
    "CompileError",
    "Density",
    "EntryError",
    "EnumList",
    "EnumType",
    "Explanation",
    "ExternalCOp",
    "FreezeError",
    "Function",
    "Generic",
    "Graph",
    "GraphAxisError",
    "GraphError",
    "GraphTypeError",
    "GraphValueError",
    "MissError",
    "Model",
    "NativeError",
    "NativeFunction",
    "ParamsType",
    "Port",
    "PrecastError",
    "Stateful",
    "Steps",
    "Structured",
    "TensorType",
    "Type",
    "Variable",
    "as_variable",
    "check",
    "explain",
    "function",
    "get_num_threads",
    "graph",
    "input",
    "load",
    "save",
    "set_num_threads",
    "set_profiling",
    "ufunc",
    "upcast",
]


if _wrong := _misread_threads():
    import warnings as _warnings

    _warnings.warn(_wrong, RuntimeWarning, stacklevel=2)


def __getattr__(name: str):
    """Returns a lazily imported name, or a function of the library, such as ``precast.exp``."""
    if name in _LATER:
        from importlib import import_module

        return globals().setdefault(name, getattr(import_module(f"precast.{_LATER[name]}"), name))
    if name == "random":
        from importlib import import_module

        return import_module("precast.random")
    if not name.startswith("_"):
        from ._native import described
        from ._variable import _Function

        if described(name) is not None:
            return globals().setdefault(name, _Function(name))
    raise AttributeError(f"module `precast` has no attribute `{name}`")


def __dir__() -> list[str]:
    from ._native import names

    return sorted({*globals(), *_LATER, "random", *names()})
