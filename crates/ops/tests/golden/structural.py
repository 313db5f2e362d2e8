"""Writes structural.jsonl: NumPy's results for shapes, indices, reductions and running sums. Run manually with NumPy 2.

The format of lines and arrays is as in make.py. Most cases only move elements, so the tolerance is 0. Cases with sums state their
tolerance.
"""

import json
import pathlib
import warnings

import numpy as np

warnings.simplefilter("ignore")
NAMES = {"bool": np.bool_, "i64": np.int64, "f32": np.float32, "f64": np.float64}
random = np.random.default_rng(20261122)


def encode(a):
    name = next(n for n, t in NAMES.items() if np.dtype(t) == a.dtype)
    unsigned = {1: np.uint8, 4: np.uint32, 8: np.uint64}[a.dtype.itemsize]
    flat = np.ascontiguousarray(a).reshape(-1)
    return {"dtype": name, "shape": list(a.shape), "bits": " ".join(f"{int(x):x}" for x in flat.view(unsigned))}


def draw(name, *shape):
    raw = random.uniform(1, 2, shape)
    if name == "bool":
        return raw > 1.5
    return (raw * 100).astype(NAMES[name]) if name == "i64" else raw.astype(NAMES[name])


def written(x, part, y, add):
    """Returns a copy of x with a part set, or with values added for every index, including duplicates."""
    x = x.copy()
    if add:
        np.add.at(x, part, y)
    else:
        x[part] = y
    return x


def indices(name):
    x, i, v = draw(name, 5, 4, 3), np.array(-2), np.array([3, 0, -1, 3])
    for text in ["x[1]", "x[-1, 2]", "x[1:4]", "x[::-1]", "x[::-2, 1:, ::2]", "x[..., 0]", "x[None, 1, ..., None, ::-1]", "x[4:1:-2, :, -3:]",
                 "x[10:]", "x[-10:3, :0]", "x[...]", "x[2, 3, 1]", "x[:, 1][2:]"]:
        yield text, [x], np.asarray(eval(text)), 0
    yield "x[y]", [x, i], x[i], 0
    yield "x[y:, :, y]", [x, i], x[i:, :, i], 0
    yield "x[y]", [x, v], x[v], 0
    yield "take(x, y, axis=1)", [x, v % 4], np.take(x, v % 4, axis=1), 0
    values = draw(name, 2, 4, 3)
    yield "set_subtensor(x[1:3], y)", [x, values], written(x, slice(1, 3), values, False), 0
    yield "inc_subtensor(x[3:1:-1], y)", [x, values], written(x, slice(3, 1, -1), values, True), 0
    yield "set_subtensor(x[-1], y)", [x, values[0, 0]], written(x, -1, values[0, 0], False), 0
    rows = draw(name, 4, 4, 3)
    yield "inc_subtensor(x[y], z)", [x, v, rows], written(x, v, rows, True), 0
    yield "set_subtensor(x[y], z)", [x, v, rows], written(x, v, rows, False), 0


def shapes(name):
    x, y, n = draw(name, 2, 3, 4), draw(name, 2, 5, 4), np.array(6)
    yield "reshape(x, 6, -1)", [x], x.reshape(6, -1), 0
    yield "reshape(x, shape=(4, 6))", [x], x.reshape(4, 6), 0
    yield "reshape(transpose(x), y, -1)", [x, n], np.transpose(x).reshape(6, -1), 0
    yield "flatten(x[::-1])", [x], x[::-1].reshape(-1), 0
    yield "join(x, y, axis=1)", [x, y], np.concatenate([x, y], axis=1), 0
    yield "stack(x, x, axis=-1)", [x], np.stack([x, x], axis=-1), 0
    yield "split(x, sizes=(1, 2), axis=1, piece=1)", [x], x[:, 1:], 0
    yield "shape(x)", [x], np.array(x.shape), 0
    yield "shape_i(x, i=-1)", [x], np.array(x.shape[-1]), 0
    yield "alloc(x[0, 0, 0], 2, y)", [x, n], np.full((2, 6), x[0, 0, 0]), 0
    yield f"eye(x, 4, 1, dtype={name})", [n], np.eye(6, 4, 1, dtype=NAMES[name]), 0
    yield f"zeros(2, x, dtype={name})", [n], np.zeros((2, 6), dtype=NAMES[name]), 0
    yield "make_vector(x[0, 0, 0], x[1, 2, 3])", [x], np.array([x[0, 0, 0], x[1, 2, 3]]), 0
    yield "assert(x, x == x)", [x], x, 0


def ranges():
    for start, stop, step in [(0, 7, 1), (10, -5, -4), (3, 3, 1), (-3, 8, 5)]:
        a = [np.array(v) for v in (start, stop, step)]
        yield "arange(x, y, z)", a, np.arange(start, stop, step), 0
    for start, stop, step in [(0.0, 1.0, 0.1), (1.0, -0.5, -0.3), (0.5, 0.4, 1.0), (0.1, 1e3, 7.3)]:
        a = [np.array(v) for v in (start, stop, step)]
        yield "arange(x, y, z)", a, np.arange(start, stop, step), 0


def reductions(name):
    """Sums a few numbers of similar size, as in make.py, so that another order differs by a few ulp."""
    exact = name in ("bool", "i64")
    for shape in [(4,), (3, 5), (2, 3, 4)]:
        x = draw(name, *shape)
        for axis in [None, 0, -1, *([(0, 2)] if len(shape) == 3 else [])]:
            at = "" if axis is None else f", axis={axis}"
            yield f"prod(x{at})", [x], np.asarray(np.prod(x, axis=axis)), 0 if exact else 8
            yield f"min(x{at}, keepdims=True)", [x], np.min(x, axis=axis, keepdims=True), 0
            yield f"all(x{at})", [x], np.asarray(np.all(x, axis=axis)), 0
            yield f"any(x{at}, keepdims=True)", [x], np.any(x, axis=axis, keepdims=True), 0
            yield f'sum(x{at}, dtype="f64", keepdims=True)', [x], np.sum(x, axis=axis, dtype="f8", keepdims=True), 4
            if name == "f32":
                wide = np.sum(x, axis=axis, dtype="f8").astype("f4")
                yield f"sum(x{at}, acc_dtype=f64)", [x], np.asarray(wide), 0
            # Squared distances from a mean with an error of one or two ulp. For f32, compare with f64.
            for ddof in [0, 1]:
                more = f", ddof={ddof}" if ddof else ""
                count = x.size if axis is None else np.size(x) // np.size(np.sum(x, axis=axis))
                if count > ddof:
                    out = NAMES[name] if not exact else np.float64
                    yield f"var(x{at}{more})", [x], np.asarray(np.var(x, axis=axis, ddof=ddof)).astype(out), 64
                    yield f"std(x{at}{more})", [x], np.asarray(np.std(x, axis=axis, ddof=ddof)).astype(out), 64
            if not isinstance(axis, tuple):
                yield f"argmax(x{at})", [x], np.asarray(np.argmax(x, axis=axis)), 0
                yield f"argmin(x{at}, keepdims=True)", [x], np.argmin(x, axis=axis, keepdims=True), 0
                yield f"cumsum(x{at})", [x], np.cumsum(x, axis=axis), 0
                yield f"cumprod(x{at})", [x], np.cumprod(x, axis=axis), 0
    if not exact:
        x = np.array([1, np.nan, 3, np.nan, -np.inf], dtype=NAMES[name])
        for text in ["argmax", "argmin", "min", "cumsum"]:
            yield f"{text}(x)", [x], np.asarray(getattr(np, text)(x)), 0


def products(name):
    """Uses small integers, so every order of summation gives the same bits. NumPy's bool products combine `and` with `or`."""
    for a, b in [((3,), (2, 3, 4)), ((2, 3), (4, 3, 2)), ((2, 3, 4), (4,)), ((2, 3, 4), (4, 2)), ((2, 3, 4), (5, 4, 2)), ((2, 0), (0, 3)), ((2, 3), (3,))]:
        x, y = (random.integers(0, 9, s).astype(NAMES[name]) for s in (a, b))
        yield "dot(x, y)", [x, y], np.asarray(np.dot(x, y)), 0
    for a, b in [((2, 3, 4), (2, 4, 5)), ((0, 3, 4), (0, 4, 5))]:
        x, y = (random.integers(0, 9, s).astype(NAMES[name]) for s in (a, b))
        yield "batched_dot(x, y)", [x, y], np.matmul(x, y), 0
    x, y = (random.integers(0, 9, s).astype(NAMES[name]) for s in ((3, 4), (3, 4)))
    yield "batched_dot(x, y)", [x, y], np.matmul(x[:, None], y[:, :, None])[:, 0, 0], 0


def cases():
    for name in NAMES:
        yield from indices(name)
        yield from shapes(name)
        yield from reductions(name)
        yield from products(name)
    yield from ranges()


if __name__ == "__main__":
    here = pathlib.Path(__file__).parent
    with open(here / "structural.jsonl", "w", encoding="ascii", newline="\n") as out:
        for text, inputs, output, ulp in cases():
            row = {"text": text, "inputs": [encode(np.asarray(a)) for a in inputs], "output": encode(np.asarray(output)), "ulp": ulp}
            out.write(json.dumps(row) + "\n")
