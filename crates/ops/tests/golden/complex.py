"""Writes complex.jsonl: functions of complex numbers. Run by hand: `python3 complex.py`, needs mpmath and NumPy.

One line a function, dtype and kind: {"name": "exp_c128", "kind": "values", "x": bits, "out": bits}, all hexadecimal, real part
first, the operands of one element together. "values" are mpmath's to 100 digits and more, each part rounded once; "edges" are
NumPy's, for zeros, infinities and NaN.
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
ONE = {
    "exp": mp.exp, "log": mp.log, "sqrt": mp.sqrt, "sinh": mp.sinh, "cosh": mp.cosh, "tanh": mp.tanh,
    "sin": mp.sin, "cos": mp.cos, "tan": mp.tan, "asin": mp.asin, "acos": mp.acos, "asinh": mp.asinh,
    "acosh": mp.acosh, "atan": mp.atan, "atanh": mp.atanh,
    "log2": lambda z: mp.log(z) / mp.log(2), "log10": lambda z: mp.log(z) / mp.log(10), "log1p": lambda z: mp.log(1 + z),
}


def points(draw, dtype):
    """Around the origin, over the exponents, and close to the unit circle, 1 and i, where functions are delicate."""
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
    if name in ("exp", "sinh", "cosh", "sin", "cos", "tan", "tanh") and max(abs(z.real), abs(z.imag)) > 1e4:
        return None
    mp.mp.dps = 100 + int(5 * max(abs(np.log10(abs(z.real))), abs(np.log10(abs(z.imag)))))
    return ONE[name](mp.mpc(z))


def edges():
    some = [0.0, -0.0, 1.0, -1.0, 2.5, -2.5, float("inf"), -float("inf"), float("nan")]
    return [complex(x, y) for x in some for y in some]


def line(name, dtype, kind, x, out):
    part = PART[dtype]
    flat = lambda all_: " ".join(bits(v, part) for v in all_)  # noqa: E731
    return json.dumps({"name": f"{name}_{dtype}", "kind": kind, "x": flat(x), "out": flat(out)}) + "\n"


def split(z):
    return [v for p in z for v in (float(p.real), float(p.imag))]


if __name__ == "__main__":
    draw = random.Random(2)
    with open(pathlib.Path(__file__).parent / "complex.jsonl", "w", encoding="ascii", newline="\n") as out:
        for dtype, whole in (("c64", np.complex64), ("c128", np.complex128)):
            part = PART[dtype]
            for name in ONE:
                x, y = [], []
                for z in points(draw, dtype):
                    w = value(name, z)
                    if w is not None:
                        x += split([z])
                        y += [rounded(w.real, part), rounded(w.imag, part)]
                out.write(line(name, dtype, "values", x, y))
                function = getattr(np, name if hasattr(np, name) else name.replace("a", "arc", 1))
                y = function(np.array(edges(), dtype=whole))
                out.write(line(name, dtype, "edges", split(edges()), split(y)))
            x, y = [], []
            while len(x) < 600:
                z = [complex(draw.uniform(-3, 3), draw.uniform(-3, 3)), complex(draw.uniform(-9, 9), draw.uniform(-3, 3))]
                z = [complex(narrow(p.real, part), narrow(p.imag, part)) for p in z]
                w = mp.power(mp.mpc(z[0]), mp.mpc(z[1]))
                if 1e-30 < abs(w) < 1e30:
                    x += split(z)
                    y += [rounded(w.real, part), rounded(w.imag, part)]
            out.write(line("pow", dtype, "values", x, y))
