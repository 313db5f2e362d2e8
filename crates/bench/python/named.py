"""Peers of the elementwise functions: the function of a library that has one of the names of a case, `asin arcsin`, and its largest
error at the values of mpmath in `crates/ops/tests/golden/precise.jsonl`."""
import functools
import json
import os

import numpy as np
from scipy import special

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../ops/tests/golden/precise.jsonl")
RENAMED = {"identity": "positive", "stop_gradient": "positive"}
# Functions that a user of NumPy writes with another one.
WRITTEN = {"softplus": lambda x: np.logaddexp(0, x), "sigmoid": lambda x: 1 / (1 + np.exp(-x))}


def named(modules, case):
    """Returns the function of the first module that has one of the names."""
    for name in case.split():
        for module in modules:
            found = getattr(module, RENAMED.get(name, name), None)
            if callable(found) and not isinstance(found, type):
                return found
    raise NotImplementedError("no such function")


def numpy(case, inputs):
    written = (WRITTEN[name] for name in case.split() if name in WRITTEN)
    return reused("numpy", next(written, None) or named([np], case), case, inputs)


def scipy(case, inputs):
    return reused("scipy", named([special], case), case, inputs)


def reused(library, function, case, inputs):
    """Returns a function with its inputs, its error and, if it can write into an array, that array."""
    np.seterr(all="ignore")
    known = error(library, function, case, inputs[0].dtype)
    if isinstance(function, np.ufunc):
        inputs = [*inputs, np.empty_like(function(*inputs))]
    return function, inputs, known


def jax(case, inputs):
    """Waits for the result, which is a new array."""
    import jax

    function = jitted(case)
    known = error("jax", function, case, inputs[0].dtype)
    return lambda *values: jax.block_until_ready(function(*values)), [jax.numpy.asarray(x) for x in inputs], known


@functools.cache
def jitted(case):
    import jax
    import jax.scipy.special

    jax.config.update("jax_enable_x64", True)
    return jax.jit(named([jax.numpy, jax.scipy.special, jax.nn], case))


@functools.cache
def golden():
    """Returns the lines of the file by name, such as `exp_f64`."""
    with open(GOLDEN) as lines:
        return {line["name"]: line for line in map(json.loads, lines)}


errors = {}


def error(library, function, case, dtype):
    """Returns the largest error in ulp at operands and results that are normal numbers; empty if no line has the function."""
    bits = 8 * dtype.itemsize
    found = (golden().get(f"{name}_f{bits}") for name in case.split())
    line = next(filter(None, found), None)
    if line is None:
        return {}
    if (key := (library, line["name"])) not in errors:
        columns = [line[key] for key in ("x", "y", "z", "out") if key in line]
        columns = [np.array([int(x, 16) for x in column.split()], f"u{bits // 8}").view(dtype) for column in columns]
        normal = [np.isfinite(column) & ((abs(column) >= np.finfo(dtype).tiny) | (column == 0)) for column in columns]
        *operands, expected = [column[np.logical_and.reduce(normal)] for column in columns]
        got = np.asarray(function(*operands)).astype(float)
        ulps = abs(got - expected.astype(float)) / np.spacing(abs(expected)).astype(float)
        errors[key] = {"ulp": float(np.nan_to_num(ulps, nan=1e6, posinf=1e6).max(initial=0).clip(max=1e6))}
    return errors[key]
