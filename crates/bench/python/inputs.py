"""The inputs of the bench program, with the same bits: `src/peers/inputs.rs` has the same formulas."""
import functools
import json

import numpy as np


def noise(count, which):
    """Returns 32-bit numbers, derived from the position and the number of the array."""
    position = np.arange(count, dtype=np.uint64) + np.uint64(which * 40503)
    return (position * np.uint64(2654435761)) & np.uint64(0xFFFFFFFF)


DTYPES = {
    "bool": np.bool_,
    **{f"{sign}{8 * size}": np.dtype(f"{sign}{size}").type for sign in "iu" for size in (1, 2, 4, 8)},
    **{f"{sign}{bits}": np.dtype(f"{sign}{bits // 8}").type for sign, bits in (("f", 16), ("f", 32), ("f", 64), ("c", 64), ("c", 128))},
}


def value(numbers):
    """Returns exact numbers between -2 and 2."""
    return numbers.astype(np.float64) / 2.0**30 - 2.0


def spread(numbers, spread, low, high):
    """Returns numbers from `low` to `high`, or for `powers` between these powers of two."""
    places = low + (high - low) * (numbers.astype(np.float64) / 2.0**32)
    if spread == "powers":
        fractions = (numbers & np.uint64(0xFFFF)).astype(np.float64) / 65536
        return np.ldexp(1 + fractions, np.floor(places).astype(np.int32))
    return np.floor(places) if spread == "whole" else places


def of(dtype, numbers):
    """Returns integers from the range of a dtype, or floats between -2 and 2."""
    kind, bits = DTYPES[dtype], min(8 * np.dtype(DTYPES[dtype]).itemsize, 32)
    if dtype == "bool":
        return numbers >> np.uint64(31) == 1
    if dtype == "c128":
        return value(numbers) + 1j * value((numbers * np.uint64(2654435761)) & np.uint64(0xFFFFFFFF))
    if issubclass(kind, np.floating):
        return value(numbers).astype(kind)
    least = 1 << (bits - 1) if dtype.startswith("i") else 0
    return ((numbers >> np.uint64(32 - bits)).astype(np.int64) - least).astype(kind)


@functools.lru_cache(maxsize=8)
def array(kind, shape, which):
    """Returns an array of a kind, given as JSON: `f64` and `f32` are between -2 and 2; `index` is below 10⁷, the extent of the
    first input; `definite` is near the identity; `of` and `in` have a dtype, and `in` a range."""
    numbers, kind = noise(int(np.prod(shape)), which), json.loads(kind)
    if kind == "index":
        return (numbers % np.uint64(10_000_000)).astype(np.int64).reshape(shape)
    if kind == "definite":
        return value(numbers).reshape(shape) / (2.0 * shape[-1]) + np.eye(shape[-1])
    if isinstance(kind, str):
        return value(numbers).astype(DTYPES[kind]).reshape(shape)
    if "of" in kind:
        return of(kind["of"], numbers).reshape(shape)
    given = kind["in"]
    return spread(numbers, given["spread"], given["low"], given["high"]).astype(DTYPES[given["dtype"]]).reshape(shape)


def arrays(inputs):
    """Returns the inputs of a case: `[[kind, shape], …]`."""
    return [array(json.dumps(kind), tuple(shape), which) for which, (kind, shape) in enumerate(inputs)]
