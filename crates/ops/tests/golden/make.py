"""Writes golden.jsonl: NumPy's results for each op, dtype and edge case. Run manually: `python3 make.py`, with NumPy 2.

One line for each case: {"text": expression of x, y, z, "inputs": [array, ..], "output": array, "ulp": tolerance}.
An array is {"dtype", "shape", "bits": one hexadecimal number for each element, as in NumPy's memory}.
The tolerance is 0 with two exceptions. Functions that neither side rounds correctly (exp, log, tanh, sigmoid) have 1 ulp each, 2 in
total. Sums are added in another order; their tolerance is stated with the case.
"""

import json
import pathlib
import warnings

import numpy as np

warnings.simplefilter("ignore")
NAMES = {"bool": np.bool_, "i64": np.int64, "f32": np.float32, "f64": np.float64}
random = np.random.default_rng(20261121)


def encode(a):
    name = next(n for n, t in NAMES.items() if np.dtype(t) == a.dtype)
    unsigned = {1: np.uint8, 4: np.uint32, 8: np.uint64}[a.dtype.itemsize]
    flat = np.ascontiguousarray(a).reshape(-1)
    return {"dtype": name, "shape": list(a.shape), "bits": " ".join(f"{int(x):x}" for x in flat.view(unsigned))}


def edges(name):
    if name == "bool":
        return np.array([False, True, True, False])
    if name == "i64":
        low, high = -(2**63), 2**63 - 1
        return np.array([0, 1, -1, 2, -7, 100, low, high, low + 1, high - 1, 2**53 + 1, -(2**53) - 1, 2**31], dtype=np.int64)
    t = NAMES[name]
    f = np.finfo(t)
    more = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.75, np.inf, -np.inf, np.nan, f.max, f.tiny, f.smallest_subnormal, f.min, -f.tiny]
    return np.array([*more, 1e-3, 88.5, -87.9, 20.0, -20.0, 0.7071067811865476], dtype=t)


def pairs(name):
    e = edges(name)[:14]
    return np.repeat(e, len(e)), np.tile(e, len(e))


def sigmoid(x):
    wide = x.astype(np.longdouble)
    return (1 / (1 + np.exp(-wide))).astype(x.dtype)


def wide(function):
    """Computes a function in 80-bit arithmetic and rounds once, because NumPy's result has an error of up to 4 ulp."""
    return lambda x: function(x.astype(np.longdouble)).astype(x.dtype)


def cases():
    unary = {"exp": wide(np.exp), "log": wide(np.log), "sqrt": np.sqrt, "tanh": wide(np.tanh), "sigmoid": sigmoid}
    for name in ["f32", "f64"]:
        for text, function in unary.items():
            x = np.concatenate([edges(name), random.normal(0, 5, 200).astype(NAMES[name])])
            yield f"{text}(x)", [x], function(x), 0 if text == "sqrt" else 1
    for name in NAMES:
        x, y = pairs(name)
        signed = [] if name == "bool" else [("x - y", np.subtract), ("minimum(x, y)", np.minimum)]
        both = [("x + y", np.add), ("x * y", np.multiply), ("maximum(x, y)", np.maximum), *signed]
        compare = [("x == y", np.equal), ("x != y", np.not_equal), ("x < y", np.less), ("x <= y", np.less_equal)]
        compare += [("x > y", np.greater), ("x >= y", np.greater_equal)]
        for text, function in both + compare:
            if text.startswith(("maximum", "minimum")):  # NumPy does not specify the result for +0 and -0
                keep = ~((x == 0) & (y == 0))
                yield text, [x[keep], y[keep]], function(x[keep], y[keep]), 0
            else:
                yield text, [x, y], function(x, y), 0
        yield "x / y", [x, y], np.true_divide(x, y), 0
        yield "abs(x)", [edges(name)], np.abs(edges(name)), 0
        if name != "bool":
            yield "-x", [edges(name)], -edges(name), 0
        yield "where(x, y, z)", [x != 0, x, y], np.where(x != 0, x, y), 0
    yield "x & y", list(pairs("bool")), np.logical_and(*pairs("bool")), 0
    yield "x | y", list(pairs("bool")), np.logical_or(*pairs("bool")), 0
    yield "~x", [edges("bool")], np.logical_not(edges("bool")), 0
    yield from promotions()
    yield from casts()
    yield from shapes()
    yield from reductions()
    yield from products()


def promotions():
    for a in NAMES:
        for b in NAMES:
            x, y = np.array([3, 0, 1], dtype=NAMES[a]), np.array([1, 1, 0], dtype=NAMES[b])
            yield "x + y", [x, y], x + y, 0
            yield "x / y", [x, y], x / y, 0
            yield "where(y, x, y)", [x, y], np.where(y != 0, x, y), 0


def casts():
    for a in NAMES:
        x = edges(a)
        for b in NAMES:
            if a.startswith("f") and b == "i64":  # NumPy leaves overflow undefined, so keep only values in range
                x = x[np.isfinite(x) & (np.abs(np.where(np.isfinite(x), x, 0)) < 2.0**62)]
            yield f"{b}(x)", [x], x.astype(NAMES[b]), 0
            x = edges(a)


def shapes():
    def make(*shape):
        return random.normal(0, 1, shape)

    for a, b in [((5, 3), (3,)), ((5, 1), (1, 7)), ((2, 1, 4), (3, 1)), ((), (4,)), ((0,), (1,)), ((3, 0), (1, 1)), ((1,), (1,))]:
        x, y = make(*a), make(*b)
        yield "x * y", [np.asarray(x), np.asarray(y)], np.asarray(x * y), 0
    x = make(2, 3, 4)
    yield "transpose(x)", [x], np.transpose(x), 0
    yield "transpose(x, axes=(1, 0, 2))", [x], np.transpose(x, (1, 0, 2)), 0


def reductions():
    """Sums numbers of similar size and equal sign: n additions in another order differ by a few ulp."""
    for name in ["f32", "f64", "i64", "bool"]:
        for shape in [(0,), (1,), (17,), (5, 3), (3, 0), (2, 3, 4), (4097,)]:
            raw = random.uniform(1, 2, shape)
            x = (raw > 1.5) if name == "bool" else (raw * 100).astype(NAMES[name]) if name == "i64" else raw.astype(NAMES[name])
            if x.size > 4000 and name in ("i64", "bool"):
                continue  # long rows test the blocks of float sums
            for axis in [None, *range(len(shape))][: 1 if x.size > 4000 else None]:
                at = "" if axis is None else f", axis={axis}"
                exact = name in ("i64", "bool")
                if name == "f32":  # precast rounds once, from f64 totals; NumPy's f32 sum is less exact
                    total, mean = np.sum(x, axis=axis, dtype=np.float64), np.mean(x, axis=axis, dtype=np.float64)
                    total, mean = np.asarray(total).astype(np.float32), np.asarray(mean).astype(np.float32)
                else:
                    total, mean = np.sum(x, axis=axis), np.mean(x, axis=axis)
                few = 0 if exact else 4 if x.size < 100 else 16
                yield f"sum(x{at})", [x], np.asarray(total), few
                if x.size > 4000:
                    continue
                yield f"mean(x{at})", [x], np.asarray(mean), 0 if exact else few
                count = x.size if axis is None else shape[axis]
                if count > 0:
                    yield f"max(x{at})", [x], np.asarray(np.max(x, axis=axis)), 0
    for x in [np.array([1.0, np.nan, 2.0]), np.array([-np.inf, -np.inf]), np.array([np.inf, -np.inf]), np.array([-0.0, -0.0])]:
        yield "sum(x)", [x], np.asarray(np.sum(x)), 0
        yield "max(x)", [x], np.asarray(np.max(x)), 0


def products():
    """Uses small integers, so every order of summation gives the same bits."""
    for name in ["f32", "f64"]:
        for a, b in [((5,), (5,)), ((5,), (5, 3)), ((4, 5), (5,)), ((4, 5), (5, 3)), ((0,), (0,)), ((2, 0), (0, 3)), ((0, 2), (2, 3))]:
            x, y = (random.integers(-8, 9, s).astype(NAMES[name]) for s in (a, b))
            yield "dot(x, y)", [x, y], np.asarray(np.dot(x, y)), 0


if __name__ == "__main__":
    here = pathlib.Path(__file__).parent
    with open(here / "golden.jsonl", "w", encoding="ascii", newline="\n") as out:
        for text, inputs, output, ulp in cases():
            row = {"text": text, "inputs": [encode(np.asarray(a)) for a in inputs], "output": encode(np.asarray(output)), "ulp": ulp}
            out.write(json.dumps(row) + "\n")
