"""Constants and casts with NumPy's dtypes."""

from __future__ import annotations

from typing import Any

import numpy

from .. import _native
from .._variable import Variable, call


def constant(value: Any, dtype: Any) -> Variable:
    """Returns a constant with a NumPy dtype."""
    return _native.constant(numpy.asarray(value, dtype=dtype))


def cast(value: Variable, dtype: Any) -> Variable:
    """Casts a variable to a dtype, unless it has that dtype."""
    return value if value.type.dtype == str(dtype) else call("cast", value, dtype=numpy.dtype(dtype))
