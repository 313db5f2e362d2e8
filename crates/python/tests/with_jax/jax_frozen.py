"""Shared code of the tests of `precast.jax`: JAX is the oracle."""

from typing import Any

import jax
import numpy as np
import precast.jax

#: The largest error by dtype, in relation to the largest element of a result.
NEAR = {"bfloat16": 1e-2, "float16": 2e-3, "float32": 2e-6, "complex64": 2e-6, "float64": 2e-14, "complex128": 2e-14}


def frozen(fn: Any, *specs: Any, policy: str = "interpret") -> Any:
    """Freezes a function."""
    return precast.jax.freeze(fn, *specs, name="frozen").function(policy=policy)


def check(fn: Any, *args: Any, near: float = 1.0, policy: str = "interpret", is_exact: bool = False) -> None:
    """Checks that a frozen function returns what `jax.jit` returns: structure, dtypes, shapes, values."""
    args = jax.tree.map(np.asarray, args)
    compare(frozen(fn, *args, policy=policy)(*args), jax.jit(fn)(*args), near, is_exact)


def compare(got: Any, wanted: Any, near: float = 1.0, is_exact: bool = False) -> None:
    """Compares results. `near` multiplies the largest error of a dtype."""
    assert jax.tree.structure(got) == jax.tree.structure(wanted), (got, wanted)
    for one, other in zip(jax.tree.leaves(got), jax.tree.leaves(wanted), strict=True):
        one, other = np.asarray(one), np.asarray(other)
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        most = near * NEAR.get(other.dtype.name, 0.0)
        if most:
            # NumPy does not compare NaN of bfloat16.
            wide = "complex128" if other.dtype.kind == "c" else "float64"
            with np.errstate(invalid="ignore"):
                one, other = one.astype(wide), other.astype(wide)
        if is_exact or not most:
            np.testing.assert_array_equal(one, other)
            continue
        size = np.max(np.abs(other[np.isfinite(other)]), initial=1.0)
        np.testing.assert_allclose(one, other, rtol=most, atol=most * size)


def singles(values: Any) -> Any:
    """Returns values with floats and integers of 32 bits."""
    to = {"f": np.float32, "i": np.int32}
    return jax.tree.map(lambda each: np.asarray(each).astype(to.get(np.asarray(each).dtype.kind, np.asarray(each).dtype)), values)
