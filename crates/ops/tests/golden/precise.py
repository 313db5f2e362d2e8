"""Writes precise.jsonl: functions that NumPy lacks, to 60 digits, rounded once. Run by hand: `python3 precise.py`, needs mpmath.

One line a function and dtype: {"name": "erf_f64", "x": bits, "out": bits}, all hexadecimal. What leaves the range of a dtype is
rounded as IEEE 754 does: to subnormals, 0 and inf.
"""

import json
import math
import pathlib
import random
import struct

import mpmath as mp

mp.mp.dps = 60
FORM = {"f32": ("<f", "<I"), "f64": ("<d", "<Q")}
DIGITS = {"f32": (24, -149, 128), "f64": (53, -1074, 1024)}


def bits(x, dtype):
    value, whole = FORM[dtype]
    return f"{struct.unpack(whole, struct.pack(value, x))[0]:x}"


def narrow(x, dtype):
    """A float of Python as the dtype has it."""
    value, _ = FORM[dtype]
    try:
        return struct.unpack(value, struct.pack(value, x))[0]
    except OverflowError:
        return mp.inf * mp.sign(x)


def rounded(x, dtype):
    """To nearest, ties to even: in units of the last place, which is a whole number below 2^53."""
    if not mp.isfinite(x) or x == 0:
        return float(x)
    digits, least, most = DIGITS[dtype]
    unit = max(mp.frexp(x)[1] - digits, least)
    y = mp.ldexp(mp.nint(mp.ldexp(x, -unit)), unit)
    return math.copysign(float(mp.inf) if abs(y) >= mp.ldexp(1, most) else float(abs(y)), float(mp.sign(x)))


def operands(low, high, draw):
    some = [0.0, 5e-324, 1e-310, 1e-45, 1e-40, 2.0**-126, 2.0**-1022, 1e-20, 1e-9, 0.5, 1.0, 1.5, 2.0, 3.0, 1e9, 1e30, 1e300]
    some += [draw.uniform(low, high) for _ in range(160)] + [2.0 ** draw.uniform(-30, 3) for _ in range(60)]
    return [float("nan"), *some, *[-x for x in some], float("inf"), -float("inf")]


def erf(x):
    return x if x == 0 else mp.erf(max(min(x, 40), -40))


def erfc(x):
    return mp.erfc(max(min(x, 40), -40))


def gammaln(x):
    if not mp.isfinite(x) or x <= 0 and x == mp.floor(x):
        return mp.inf
    return mp.re(mp.loggamma(x))


def digamma(x):
    if x == 0:
        return -math.copysign(mp.inf, x)
    if x < 0 and (not mp.isfinite(x) or x == mp.floor(x)):
        return mp.nan
    return mp.psi(0, x) if mp.isfinite(x) else x


FUNCTIONS = {"erf": (erf, -6, 6), "erfc": (erfc, -6, 27.4), "gammaln": (gammaln, 0, 40), "digamma": (digamma, 0, 20)}


if __name__ == "__main__":
    draw = random.Random(1)
    with open(pathlib.Path(__file__).parent / "precise.jsonl", "w", encoding="ascii", newline="\n") as out:
        for dtype in ("f32", "f64"):
            for name, (function, low, high) in FUNCTIONS.items():
                x = [narrow(x, dtype) for x in operands(low, high, draw)]
                y = [x_ if x_ != x_ else rounded(function(x_), dtype) for x_ in x]
                line = {"name": f"{name}_{dtype}", "x": " ".join(bits(v, dtype) for v in x)}
                out.write(json.dumps({**line, "out": " ".join(bits(v, dtype) for v in y)}) + "\n")
