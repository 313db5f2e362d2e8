"""Arrays of other libraries, and dtypes that NumPy lacks."""

from typing import Any

import numpy


#: What to do with values of some classes.
_HINTS = {
    "PRNGKeyArray": "pass `jax.random.key_data(key)`",
    "Variable": "a variable of a graph has no value: `precast.function(…)` computes one, and a key is `np.array([0, seed], np.uint32)`",
}


def borrow(value: Any) -> numpy.ndarray:
    """Returns an array on the memory of an object, without a copy: by NumPy's interface, DLPack or the buffer protocol."""
    if hasattr(value, "__array_interface__"):
        return numpy.asarray(value)
    if hasattr(value, "__dlpack__"):
        return numpy.from_dlpack(value)
    try:
        return numpy.asarray(memoryview(value))
    except TypeError:
        kind = type(value).__name__
        hint = _HINTS.get(kind, "pass `numpy.asarray(x)`")
        raise TypeError(f"found a `{kind}`, expected an array or a number\nhint: {hint}") from None


def bfloat16() -> numpy.dtype:
    """Returns the dtype of bfloat16 from the package `ml_dtypes`."""
    try:
        import ml_dtypes
    except ImportError:
        from .errors import CallTypeError

        raise CallTypeError(
            "a result is `bf16`, which NumPy lacks\nhint: `pip install ml_dtypes`"
        ) from None
    return numpy.dtype(ml_dtypes.bfloat16)
