"""Writes special.jsonl: NumPy's results for edge cases of transcendental functions. Run manually: `python3 special.py`. Needs NumPy.

One line for each function and dtype: {"name": "exp_f64", "x": bits, "y": bits (for two operands), "out": bits}, all hexadecimal. NumPy
computes in 80 bits and rounds once, so a function that is accurate to 1 ulp differs by at most 1 ulp.
"""

import json
import pathlib
import warnings

import numpy as np

warnings.simplefilter("ignore")
ONE = "exp exp2 expm1 log log2 log10 log1p sinh cosh tanh arcsinh arccosh arctanh arcsin arccos arctan sin cos tan cbrt".split()
TWO = "power arctan2 hypot".split()
OURS = {"power": "pow"}


def own(name):
    return OURS.get(name, name.replace("arc", "a"))


def edges(t):
    f = np.finfo(t)
    some = [0.0, 1.0, 0.5, 2.0, 3.0, 2.5, 0.99, 1.01, 1e-9, 20.0, 88.5, 709.5, 1e22, np.inf, f.max, f.tiny, f.smallest_subnormal]
    return np.array([np.nan, *some, *[-x for x in some]], dtype=t)


def bits(a):
    return " ".join(f"{int(x):x}" for x in a.view({4: np.uint32, 8: np.uint64}[a.dtype.itemsize]))


def softplus(x):
    return np.logaddexp(np.longdouble(0), x)


if __name__ == "__main__":
    with open(pathlib.Path(__file__).parent / "special.jsonl", "w", encoding="ascii", newline="\n") as out:
        for dtype, t in (("f32", np.float32), ("f64", np.float64)):
            x = edges(t)
            for name in [*ONE, "softplus"]:
                function = softplus if name == "softplus" else getattr(np, name)
                y = function(x.astype(np.longdouble)).astype(t)
                out.write(json.dumps({"name": f"{own(name)}_{dtype}", "x": bits(x), "out": bits(y)}) + "\n")
            a, b = np.repeat(x, len(x)), np.tile(x, len(x))
            for name in TWO:
                y = getattr(np, name)(a.astype(np.longdouble), b.astype(np.longdouble)).astype(t)
                out.write(json.dumps({"name": f"{own(name)}_{dtype}", "x": bits(a), "y": bits(b), "out": bits(y)}) + "\n")
