"""Writes scalar.jsonl and promotion.txt: elementwise functions of every dtype in NumPy and ml_dtypes. Needs NumPy 2 and ml_dtypes:
`python3 scalar.py`.

scalar.jsonl starts with sets of values, followed by one line for each case:
    {"set": name, "dtype", "bits"}              bits: one hexadecimal number for each element (c128: two words)
    {"text", "of": [set, ..], "dtype", "bits", "ulp"}
A case with two sets covers all pairs, and the first set varies slowest. Elements marked `_` are not compared: NumPy does not specify
them (float to integer out of range, maximum of two zeros), or the value is undefined (1 // 0 in `reciprocal`).

Tolerances, in ulp of the result:
    0   operations that IEEE 754 or integer rules define
    1   functions in f16, bf16, f32: both sides round a wider result, which may be near a midpoint; hypot, abs of complex;
        deg2rad and rad2deg, whose factor NumPy computes in the dtype and precast rounds once
    2   functions in f64: precast is accurate to 1.06 ulp, and the oracle rounds 80-bit arithmetic
    4   functions in c128: precast is accurate to 3 ulp; complex.py has more numbers, also ill-conditioned ones
    3   sign of complex (a quotient by |z|, rounded twice on each side)
The oracle multiplies complex numbers by four real products and two sums, because NumPy's loop contracts them on some CPUs.

promotion.txt has a table for each function: the dtype of the result for each pair of dtypes, `-` if NumPy does not support it.
"""

import json
import pathlib
import warnings

import ml_dtypes
import numpy as np

warnings.simplefilter("ignore")
np.seterr(all="ignore")
NAMES = {
    "bool": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64,
    "c64": np.complex64, "c128": np.complex128,
}
INTEGERS = [n for n in NAMES if n[0] in "iu"]
FLOATS = ["f16", "bf16", "f32", "f64"]
COMPLEX = ["c64", "c128"]
PARTS = {"c64": np.float32, "c128": np.float64}


def name_of(dtype):
    return next((n for n, t in NAMES.items() if np.dtype(t) == dtype), None)


def bits(a, skip=None):
    unsigned = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64, 16: np.uint64}[a.dtype.itemsize]
    words = np.ascontiguousarray(a).reshape(-1).view(unsigned)
    skip = np.zeros(a.size, bool) if skip is None else np.asarray(skip).reshape(-1)
    skip = np.repeat(skip, len(words) // max(a.size, 1))
    return " ".join("_" if s else f"{int(w):x}" for w, s in zip(words, skip))


def values(name):
    t = NAMES[name]
    if name == "bool":
        return np.array([False, True])
    if name in INTEGERS:
        low, high = np.iinfo(t).min, np.iinfo(t).max
        more = [low + 1, -1, -2, -7] if name[0] == "i" else [high // 2 + 1, 11, 64, 9]
        return np.array([0, 1, 2, 3, 7, 8, 100, low, high, high - 1, *more], dtype=t)
    if name in FLOATS:
        f = ml_dtypes.finfo(t)
        more = [float(f.max), float(f.tiny), float(f.smallest_subnormal)]
        all = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.5, 0.7, np.inf, -np.inf, np.nan, -0.3, 100.5, *more]
        return np.array(all, dtype=np.float64).astype(t)
    part, inf, nan = PARTS[name], np.inf, np.nan
    big = float(np.finfo(part).max) / 4
    pairs = [(0.0, 0.0), (-0.0, 0.0), (1, 0), (0, -1), (2.5, -3.75), (-0.1, 0.7), (inf, 1), (-inf, inf), (nan, 1), (1, nan)]
    pairs += [(inf, nan), (big, -big), (1e-3, 100.5), (3, 0.25)]
    z = np.empty(len(pairs), dtype=t)
    z.real, z.imag = [p[0] for p in pairs], [p[1] for p in pairs]
    return z


def wide(function):
    """Computes a function in 80-bit arithmetic and rounds once."""
    return lambda *x: function(*(a.astype(np.longdouble) for a in x)).astype(np.result_type(*x))


def complex_of(re, im):
    z = np.empty(re.shape, dtype=np.complex64 if re.dtype == np.float32 else np.complex128)
    z.real, z.imag = re, im
    return z


def product(a, b):
    if a.dtype.kind != "c":
        return a * b
    return complex_of(a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real)


def modf_away(x):
    return np.copysign(np.floor(np.abs(x.astype(np.float64)) + 0.5), x.astype(np.float64)).astype(x.dtype)


def nextafter(x, y):
    if x.dtype not in (np.float32, np.float64):
        raise TypeError("f32 and f64 only")
    return np.nextafter(x, y)


def scalb(x, y):
    """Computes `x * 2**(64 y)` with `ldexp`, if the exponent is a number."""
    if x.dtype not in (np.float32, np.float64):
        raise TypeError("f32 and f64 only")
    exponent = np.trunc(np.clip(np.nan_to_num(y * x.dtype.type(64), nan=0, posinf=9999, neginf=-9999), -9999, 9999)).astype(np.int32)
    return np.where(np.isnan(y), np.nan, np.ldexp(x, exponent)).astype(x.dtype)


EXACT_1 = {
    "neg": np.negative, "abs": np.abs, "sign": np.sign, "square": lambda x: product(x, x) if x.dtype.kind == "c" else np.square(x), "reciprocal": np.reciprocal,
    "sqrt": np.sqrt, "isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite, "invert": np.invert, "floor": np.floor,
    "ceil": np.ceil, "trunc": np.trunc, "round": np.round, "round_half_away": modf_away, "deg2rad": np.deg2rad,
    "rad2deg": np.rad2deg, "signbit": np.signbit, "rint": np.rint, "fabs": np.fabs, "logical_not": np.logical_not, "real": np.real, "imag": np.imag, "conj": np.conj,
}
EXACT_2 = {
    "x + y": np.add, "x - y": np.subtract, "x * y": product, "x / y": np.true_divide, "x // y": np.floor_divide,
    "x % y": np.mod, "x << y": np.left_shift, "x >> y": np.right_shift, "x & y": np.bitwise_and, "x | y": np.bitwise_or,
    "x ^ y": np.bitwise_xor, "maximum(x, y)": np.maximum, "minimum(x, y)": np.minimum, "x < y": np.less,
    "x <= y": np.less_equal, "x > y": np.greater, "x >= y": np.greater_equal, "x == y": np.equal, "x != y": np.not_equal,
    "logical_and(x, y)": np.logical_and, "logical_or(x, y)": np.logical_or, "logical_xor(x, y)": np.logical_xor,
    "copysign(x, y)": np.copysign, "nextafter(x, y)": nextafter, "fmod(x, y)": np.fmod, "scalb(x, y * 64)": scalb,
    "clip(x, y, x)": lambda x, y: np.minimum(np.maximum(x, y), x), "where(x, y, x)": lambda x, y: np.where(x != 0, y, x),
}
FUNCTIONS_1 = {
    "cbrt": np.cbrt, "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "log": np.log, "log2": np.log2, "log10": np.log10,
    "log1p": np.log1p, "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "softplus": lambda x: np.logaddexp(x, 0),
    "log1mexp": lambda x: np.log(-np.expm1(x)), "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos,
    "atan": np.arctan, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh, "acosh": np.arccosh,
    "atanh": np.arctanh,
}
COMPLEX_1 = [
    "sqrt", "exp", "log", "log2", "log10", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh",
]
FUNCTIONS_2 = {"atan2(x, y)": np.arctan2, "hypot(x, y)": np.hypot, "pow(x, y)": np.power}


def open_zero(text, a, b):
    """Returns the positions of two zeros, of which NumPy may return either as the maximum or minimum."""
    return (a == 0) & (b == 0) if text.startswith(("max", "min", "clip")) else np.zeros(a.shape, bool)


def cases():
    for name in NAMES:
        x = values(name)
        for text, function in EXACT_1.items():
            try:
                result = np.asarray(function(x))
            except (TypeError, ValueError):
                continue
            skip = (x == 0) if text == "reciprocal" and name in INTEGERS else None
            ulp = 0
            if name in COMPLEX:
                ulp = {"abs": 1, "sign": 3}.get(text, 0)
            if text in ("round_half_away", "sqrt", "deg2rad", "rad2deg") and name not in FLOATS:
                continue
            if name_of(result.dtype) is None or (name == "bool" and text in ("floor", "ceil", "trunc", "round")):
                continue
            if text in ("deg2rad", "rad2deg"):
                ulp = 1
                if name == "bf16":  # ml_dtypes rounds the factor to bf16 first
                    continue
            if (name, text) == ("bf16", "sign"):  # ml_dtypes keeps the sign of a zero, NumPy's own floats do not
                skip = x == 0
            if (name, text) == ("bool", "conj"):
                continue
            yield f"{text}(x)", [name], result, ulp, skip
        a, b = np.repeat(x, len(x)), np.tile(x, len(x))
        for text, function in EXACT_2.items():
            try:
                result = np.asarray(function(a, b))
            except (TypeError, ValueError):
                continue
            if name_of(result.dtype) is not None:
                yield text, [name, name], result, 0, open_zero(text, a, b)
        if name in FLOATS:
            few = 2 if name == "f64" else 1
            for text, function in FUNCTIONS_1.items():
                yield f"{text}(x)", [name], wide(function)(x), few, None
            for text, function in FUNCTIONS_2.items():
                yield text, [name, name], wide(function)(a, b), few, None
        if name in ("f32", "f64"):
            yield "complex(x, y)", [name, name], complex_of(a, b), 0, None
        if name in COMPLEX:
            yield "angle(x)", [name], np.angle(x), 2 if name == "c128" else 1, None
            for text in COMPLEX_1:
                function = FUNCTIONS_1.get(text, np.sqrt)
                result = function(x.astype(np.clongdouble)).astype(x.dtype)
                yield f"{text}(x)", [name], result, 4 if name == "c128" else 1, None
        if name in INTEGERS:
            power = x[(x >= 0) & (x < 9)]
            a, b = np.repeat(x, len(power)), np.tile(power, len(x))
            yield "pow(x, y)", [name, f"exponents {name}"], np.power(a, b), 0, None
        for to in NAMES:
            yield cast(name, to, x)


def cast(name, to, x):
    result, skip = x.astype(NAMES[to]), None
    if to in INTEGERS and (name in FLOATS or name in COMPLEX):
        info = np.iinfo(NAMES[to])
        wide_x = x.real.astype(np.float64) if name in COMPLEX else x.astype(np.float64)
        skip = ~((np.trunc(wide_x) >= float(info.min)) & (np.trunc(wide_x) < float(info.max)))
    return f"{to}(x)", [name], result, 0, skip


def promotions():
    two = {
        "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.true_divide, "floor_div": np.floor_divide, "mod": np.mod,
        "pow": np.power, "maximum": np.maximum, "lt": np.less, "logical_and": np.logical_and, "bitwise_and": np.bitwise_and,
        "left_shift": np.left_shift, "atan2": np.arctan2, "hypot": np.hypot,
    }
    one = {
        "neg": np.negative, "abs": np.abs, "sign": np.sign, "square": np.square, "reciprocal": np.reciprocal, "sqrt": np.sqrt,
        "exp": np.exp, "sin": np.sin, "cbrt": np.cbrt, "deg2rad": np.deg2rad, "floor": np.floor, "isnan": np.isnan,
        "invert": np.invert, "logical_not": np.logical_not, "real": np.real, "imag": np.imag, "conj": np.conj, "angle": np.angle,
    }

    def result(function, *names):
        try:
            return name_of(np.asarray(function(*(np.ones(1, dtype=NAMES[n]) for n in names))).dtype) or "-"
        except (TypeError, ValueError):
            return "-"

    for text, function in two.items():
        yield f"{text}"
        for a in NAMES:
            yield " ".join([f"  {a}", *(result(function, a, b) for b in NAMES)])
    for text, function in one.items():
        yield f"{text}"
        yield " ".join([" ", *(result(function, a) for a in NAMES)])


def main():
    here = pathlib.Path(__file__).parent
    with open(here / "scalar.jsonl", "w", encoding="ascii", newline="\n") as out:
        for name in NAMES:
            x = values(name)
            out.write(json.dumps({"set": name, "dtype": name, "bits": bits(x)}) + "\n")
            if name in INTEGERS:
                power = x[(x >= 0) & (x < 9)]
                out.write(json.dumps({"set": f"exponents {name}", "dtype": name, "bits": bits(power)}) + "\n")
        for text, of, result, ulp, skip in cases():
            row = {"text": text, "of": of, "dtype": name_of(result.dtype), "bits": bits(result, skip), "ulp": ulp}
            out.write(json.dumps(row) + "\n")
    with open(here / "promotion.txt", "w", encoding="ascii", newline="\n") as out:
        out.write(" ".join(NAMES) + "\n")
        out.writelines(line + "\n" for line in promotions())


if __name__ == "__main__":
    main()
