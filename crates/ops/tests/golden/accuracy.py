"""Prints the largest errors of NumPy's and SciPy's functions in ulp, compared with mpmath. They are the bounds in `tests/it/accuracy.rs`.
Run manually: `python3 accuracy.py [values]`. Needs NumPy, SciPy and mpmath. Uses 20000 values, drawn as in `tests/c/accuracy.c`.
"""

import sys

import mpmath as mp
import numpy as np
from scipy import special

mp.mp.prec = 200
N = int(sys.argv[1]) if len(sys.argv) > 1 else 20000


def sigmoid(x):
    return 1 / (1 + mp.exp(-x))


def softplus(x):
    return mp.log1p(mp.exp(x))


ONE = {
    "exp": (np.exp, mp.exp, -746, 710),
    "exp2": (np.exp2, lambda x: mp.mpf(2) ** x, -1076, 1025),
    "expm1": (np.expm1, mp.expm1, -3, 3),
    "log": (np.log, mp.log, 0, 4),
    "log2": (np.log2, lambda x: mp.log(x) / mp.log(2), 0, 4),
    "log10": (np.log10, mp.log10, 0, 4),
    "log1p": (np.log1p, mp.log1p, -1, 3),
    "sigmoid": (special.expit, sigmoid, -740, 40),
    "tanh": (np.tanh, mp.tanh, -3, 3),
    "sinh": (np.sinh, mp.sinh, -3, 3),
    "cosh": (np.cosh, mp.cosh, -3, 3),
    "asinh": (np.arcsinh, mp.asinh, -3, 3),
    "acosh": (np.arccosh, mp.acosh, 1, 3),
    "atanh": (np.arctanh, mp.atanh, -1, 1),
    "asin": (np.arcsin, mp.asin, -1, 1),
    "acos": (np.arccos, mp.acos, -1, 1),
    "atan": (np.arctan, mp.atan, -3, 3),
    "cbrt": (np.cbrt, mp.cbrt, 0, 8),
    "erf": (special.erf, mp.erf, -6, 6),
    "erfc": (special.erfc, mp.erfc, -2, 26),
    "sin": (np.sin, mp.sin, -30, 30),
    "cos": (np.cos, mp.cos, -30, 30),
    "tan": (np.tan, mp.tan, -30, 30),
    "gammaln": (special.gammaln, mp.loggamma, 0, 30),
    "digamma": (special.digamma, mp.digamma, 0, 30),
}
TWO = {
    "pow": (np.power, lambda x, y: x**y, 0, 4),
    "atan2": (np.arctan2, mp.atan2, -3, 3),
    "hypot": (np.hypot, mp.hypot, -3, 3),
}


def largest(function, exact, operands, dtype):
    with np.errstate(all="ignore"):
        found = function(*operands)
    if found.dtype != dtype:
        return None
    worst, tiny = 0.0, float(np.finfo(dtype).smallest_normal)
    for i, y in enumerate(found):
        want = exact(*(mp.mpf(float(x[i])) for x in operands))
        if not np.isfinite(y) or abs(want) < tiny:
            continue
        worst = max(worst, float(abs((mp.mpf(float(y)) - want) / mp.mpf(float(np.spacing(np.abs(dtype(float(want)))))))))
    return worst


draw = np.random.default_rng(1)
for name, (function, exact, low, high) in {**ONE, **TWO}.items():
    cells = []
    for dtype in (np.float64, np.float32):
        ends = (low, high) if dtype is np.float64 else (max(low, -80), min(high, 80))
        operands = [draw.uniform(*ends, N).astype(dtype) for _ in range(2 if name in TWO else 1)]
        worst = largest(function, exact, operands, dtype)
        cells.append("-" if worst is None else f"{worst:.2f}")
    print(f"{name:10} f64 {cells[0]:>6}  f32 {cells[1]:>6}", flush=True)
