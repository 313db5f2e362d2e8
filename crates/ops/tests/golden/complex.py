"""Writes complex.jsonl: functions of complex numbers. Run manually: `python3 complex.py`. Needs mpmath and NumPy.

One line for each function, dtype and kind: {"name": "exp_c128", "kind": "values", "steps": bound, "x": bits, "out": bits}. Bits are
hexadecimal, with the real part first and the operands of an element together. "values" come from mpmath with at least 100 digits, and
each part is rounded once. "edges" come from NumPy, for zeros, infinities and NaN.
"""

import json
import pathlib
import random
import warnings

import mpmath as mp
import numpy as np

from precise import bits, narrow, rounded

warnings.simplefilter("ignore")
PART = {"c64": "f32", "c128": "f64"}
# Name: function, and the tolerance of a part of c128 in steps from the rounded exact value. `README.md` lists the largest errors seen. An
# error of e ulp is at most e + 1/2 steps from the rounded value. A part of c64 rounds a part of c128: 0 steps. The bound of `pow` below
# applies to |z|, because one part alone may cancel.
ONE = {
    "exp": (mp.exp, 1), "log": (mp.log, 1), "sqrt": (mp.sqrt, 1), "sinh": (mp.sinh, 1), "cosh": (mp.cosh, 1), "tanh": (mp.tanh, 1),
    "sin": (mp.sin, 1), "cos": (mp.cos, 1), "tan": (mp.tan, 1), "asin": (mp.asin, 3), "acos": (mp.acos, 3), "asinh": (mp.asinh, 3),
    "acosh": (mp.acosh, 3), "atan": (mp.atan, 3), "atanh": (mp.atanh, 3),
    "log2": (lambda z: mp.log(z) / mp.log(2), 1), "log10": (lambda z: mp.log(z) / mp.log(10), 2), "log1p": (lambda z: mp.log(1 + z), 2),
    "expm1": (mp.expm1, 1),
}


def expm1(z):
    """Uses mpmath where parts of NumPy's result cancel, and C99 Annex G for non-finite values, where NumPy has NaN for `inf * 0`."""
    if not np.isfinite(z):
        return np.exp(z) - 1
    return complex(np.expm1(z.real), z.imag) if z.imag == 0 else complex(mp.expm1(mp.mpc(z)))


def points(draw, dtype):
    """Returns numbers around the origin, of all exponents, and close to the unit circle, 1 and i, where functions are ill-conditioned."""
    def far(low, high):
        return draw.choice([-1, 1]) * 2.0 ** draw.uniform(low, high)

    wide = 100 if dtype == "c64" else 400
    z = [complex(draw.uniform(-3, 3), draw.uniform(-3, 3)) for _ in range(50)]
    z += [complex(far(-30, 8), far(-30, 8)) for _ in range(40)]
    z += [complex(far(-wide, wide), far(-wide, wide)) for _ in range(20)]
    z += [(1 + far(-40, -3)) * complex(np.exp(1j * draw.uniform(-3.14, 3.14))) for _ in range(30)]
    z += [complex(1 + far(-40, -3), far(-60, 0)) * draw.choice([1, -1, 1j, -1j]) for _ in range(30)]
    z = [complex(narrow(p.real, PART[dtype]), narrow(p.imag, PART[dtype])) for p in z]
    return z


def value(name, z):
    if name in ("exp", "expm1", "sinh", "cosh", "sin", "cos", "tan", "tanh") and max(abs(z.real), abs(z.imag)) > 1e4:
        return None
    mp.mp.dps = 100 + int(5 * max(abs(np.log10(abs(z.real))), abs(np.log10(abs(z.imag)))))
    return ONE[name][0](mp.mpc(z))


def edges():
    some = [0.0, -0.0, 1.0, -1.0, 2.5, -2.5, float("inf"), -float("inf"), float("nan")]
    return [complex(x, y) for x in some for y in some]


def line(name, dtype, kind, steps, x, out):
    part = PART[dtype]
    flat = lambda all_: " ".join(bits(v, part) for v in all_)  # noqa: E731
    return json.dumps({"name": f"{name}_{dtype}", "kind": kind, "steps": steps, "x": flat(x), "out": flat(out)}) + "\n"


def split(z):
    return [v for p in z for v in (float(p.real), float(p.imag))]


if __name__ == "__main__":
    draw = random.Random(2)
    with open(pathlib.Path(__file__).parent / "complex.jsonl", "w", encoding="ascii", newline="\n") as out:
        for dtype, whole in (("c64", np.complex64), ("c128", np.complex128)):
            part = PART[dtype]
            for name, (_, steps) in ONE.items():
                x, y = [], []
                # Keep the points of the other functions unchanged.
                for z in points(random.Random(3) if name == "expm1" else draw, dtype):
                    w = value(name, z)
                    if w is not None:
                        x += split([z])
                        y += [rounded(w.real, part), rounded(w.imag, part)]
                out.write(line(name, dtype, "values", steps, x, y))
                function = getattr(np, name if hasattr(np, name) else name.replace("a", "arc", 1))
                function = np.vectorize(expm1, otypes=[whole]) if name == "expm1" else function
                y = function(np.array(edges(), dtype=whole))
                out.write(line(name, dtype, "edges", steps, split(edges()), split(y)))
            x, y = [], []
            while len(x) < 600:
                z = [complex(draw.uniform(-3, 3), draw.uniform(-3, 3)), complex(draw.uniform(-9, 9), draw.uniform(-3, 3))]
                z = [complex(narrow(p.real, part), narrow(p.imag, part)) for p in z]
                w = mp.power(mp.mpc(z[0]), mp.mpc(z[1]))
                if 1e-30 < abs(w) < 1e30:
                    x += split(z)
                    y += [rounded(w.real, part), rounded(w.imag, part)]
            out.write(line("pow", dtype, "values", 1, x, y))
