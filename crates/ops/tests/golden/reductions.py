"""Writes reductions.jsonl: reductions of the dtypes that structural.py leaves out. Needs NumPy 2: `python3 reductions.py`.

The format of lines is as in make.py, and that of arrays as in scalar.py. Numbers and parts of complex numbers are small integers, so
every order of summation gives the same bits. The tolerance is 0, except 1 for quotients of complex numbers, where NumPy multiplies by
a reciprocal, and 4 for results that depend on a rounded mean.
"""

import json
import pathlib

import numpy as np
from scalar import COMPLEX, INTEGERS, NAMES, bits, name_of

random = np.random.default_rng(20261123)


def draw(name, *shape):
    low = -3 if name[0] in "ifc" else 0
    real = random.integers(low, 4, shape)
    return (real + 1j * random.integers(low, 4, shape) if name in COMPLEX else real).astype(NAMES[name])


def cases():
    for name in [*INTEGERS, "f16", *COMPLEX]:
        if name == "i64":
            continue
        wide = {"dtype": np.float32} if name == "f16" else {}
        for shape in [(6,), (0,), (3, 5), (2, 3, 4)]:
            x = draw(name, *shape)
            for axis in [None, 0, *([(0, 2)] if len(shape) == 3 else [])]:
                at, one = "" if axis is None else f", axis={axis}", not isinstance(axis, tuple)
                yield f"sum(x{at})", x, np.sum(x, axis=axis), 0
                yield f"prod(x{at}, keepdims=True)", x, np.prod(x, axis=axis, keepdims=True), 0
                if x.size == 0:
                    continue
                yield f"mean(x{at})", x, np.mean(x, axis=axis), 1
                result = np.var(x, axis=axis, **wide)
                yield f"var(x{at})", x, result.astype(x.dtype) if wide else result, 4
                if name not in COMPLEX:
                    yield f"max(x{at})", x, np.max(x, axis=axis), 0
                    yield f"min(x{at})", x, np.min(x, axis=axis), 0
                    if one:
                        yield f"argmax(x{at})", x, np.argmax(x, axis=axis), 0
                if one:
                    yield f"cumsum(x{at})", x, np.cumsum(x, axis=axis), 0
                    yield f"cumprod(x{at})", x, np.cumprod(x, axis=axis), 0


def encode(a):
    a = np.asarray(a)
    return {"dtype": name_of(a.dtype), "shape": list(a.shape), "bits": bits(a)}


if __name__ == "__main__":
    here = pathlib.Path(__file__).parent
    with open(here / "reductions.jsonl", "w", encoding="ascii", newline="\n") as out:
        for text, x, output, ulp in cases():
            row = {"text": text, "inputs": [encode(x)], "output": encode(output), "ulp": ulp}
            out.write(json.dumps(row) + "\n")
