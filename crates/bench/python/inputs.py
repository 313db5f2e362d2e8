"""The inputs of the bench program, with the same bits: `src/cases/inputs.rs` has the same formulas."""
import functools

import numpy as np


def noise(count, which):
    """Returns 32-bit numbers, derived from the position and the number of the array."""
    position = np.arange(count, dtype=np.uint64) + np.uint64(which * 40503)
    return (position * np.uint64(2654435761)) & np.uint64(0xFFFFFFFF)


@functools.lru_cache(maxsize=8)
def array(kind, shape, which):
    """Returns an array. `f64` and `f32` are exact numbers between -2 and 2; `index` is below 10⁷, the extent of the first input."""
    numbers = noise(int(np.prod(shape)), which)
    if kind == "index":
        return (numbers % np.uint64(10_000_000)).astype(np.int64).reshape(shape)
    values = numbers.astype(np.float64) / 2.0**30 - 2.0
    return values.astype({"f64": np.float64, "f32": np.float32}[kind]).reshape(shape)


def arrays(inputs):
    """Returns the inputs of a case: `[[kind, shape], …]`."""
    return [array(kind, tuple(shape), which) for which, (kind, shape) in enumerate(inputs)]
