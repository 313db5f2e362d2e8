"""A process up to its first result: `start.py WHO SIZE BUNDLE`. Environment variables set the cache directories.

    freeze, record     write BUNDLE with a frozen function, or with the modules of a PyTensor function
    frozen             calls the frozen function
    beneath            compiles a PyTensor function with the recorded modules
    import             imports PyTensor and computes with NumPy
    numpy, jax, pytensor-c, pytensor-numba
"""
import sys

import numpy as np

who, size, bundle = sys.argv[1:]
v = np.arange(4.0)
given = (v, v, v) if size == "small" else (v, v, v, np.eye(4))


def small(np, x, y, z):
    return (x + y) * z


def big(np, x, y, z, a):
    e = np.exp(-((x - y) ** 2) / (1 + z**2)) * np.tanh(x) + np.log1p(y**2)
    return e + e.sum() + np.dot(a, e) + np.dot(a.T, np.dot(a, e)).sum()


expression = {"small": small, "big": big}[size]


def pytensor_function(mode):
    import pytensor
    import pytensor.tensor as pt

    variables = [pt.tensor(name, dtype="float64", shape=(None,) * value.ndim) for name, value in zip("xyza", given)]
    return pytensor.function(variables, expression(pt, *variables), mode=mode)


if who == "numpy":
    result = expression(np, *given)
elif who == "import":
    import pytensor
    import pytensor.tensor

    result = expression(np, *given)
elif who == "frozen":
    import precast

    result = precast.load(bundle)[size](*given)
elif who == "freeze":
    import precast.pytensor

    precast.pytensor.freeze(pytensor_function("CVM"), bundle, name=size)
    result = v
elif who == "record":
    import precast.pytensor

    with precast.pytensor.record(bundle):
        result = pytensor_function("CVM")(*given)
elif who == "beneath":
    import precast.pytensor

    precast.pytensor.install(bundle, policy="strict")
    result = pytensor_function("CVM")(*given)
elif who == "jax":
    import jax

    jax.config.update("jax_enable_x64", True)
    result = jax.jit(lambda *given: expression(jax.numpy, *given))(*given)
else:
    result = pytensor_function({"pytensor-c": "CVM", "pytensor-numba": "NUMBA"}[who])(*given)
print(float(np.asarray(result).sum()), flush=True)
