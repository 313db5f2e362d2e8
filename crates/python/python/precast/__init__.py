"""Numeric graphs compiled ahead of deployment, called with NumPy arrays.

>>> import precast
>>> model = precast.load("model.precast")            # doctest: +SKIP
>>> model.score(x, y, z)                             # doctest: +SKIP

Compiling needs a compiler and happens before: `precast build` writes bundles. Calling needs NumPy alone.
"""

# The native part stands on NumPy: where it is not installed, the import says so here.
import numpy as _numpy

from ._callback import NativeFunction
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
    EntryError,
    MissError,
    NativeError,
    PrecastError,
)
from ._native import Function, Model, load
from ._ports import Port

__all__ = [
    "BundleError",
    "BundleNotFoundError",
    "BundleReadError",
    "CallAssertionError",
    "CallError",
    "CallIndexError",
    "CallMemoryError",
    "CallRuntimeError",
    "CallTypeError",
    "CallValueError",
    "EntryError",
    "Function",
    "MissError",
    "Model",
    "NativeError",
    "NativeFunction",
    "Port",
    "PrecastError",
    "load",
]
