"""Measures twelve functions of PyTensor in mode PRECAST and in PyTensor's own: `mode.py PLACE ROUNDS [TEXT]`.

Modules are compiled into the directory PLACE. Prints measurements as `calls.py` does, for the functions whose names contain TEXT.
"""

import json
import sys

import numpy as np
from calls import race

try:
    import pytensor
    import pytensor.tensor as pt
    from pytensor.gradient import grad
except ImportError as error:
    print(json.dumps({"what": "PyTensor", "samples": [], "skipped": [f"PyTensor: {error}"]}))
    sys.exit()

import precast.pytensor

RANDOM = np.random.default_rng(2)


def numbers(*shape):
    return RANDOM.normal(size=shape)


def elementwise():
    x, y = pt.dvectors("x", "y")
    return [x, y], [pt.exp(-x * x) * y + pt.log1p(x * x)]


def logistic():
    weights, x, seen = pt.dvector("weights"), pt.dmatrix("x"), pt.dvector("seen")
    logit = x @ weights
    loss = (pt.softplus(logit) - seen * logit).sum()
    return [weights, x, seen], [loss, grad(loss, weights)]


def network():
    x, *weights = pt.dmatrices("x", "a", "b", "c")
    hidden = x
    for weight in weights:
        hidden = pt.tanh(hidden @ weight)
    loss = (hidden**2).mean()
    return [x, *weights], [loss, *grad(loss, weights)]


def softmax():
    x = pt.dmatrix("x")
    return [x], [pt.special.softmax(x, axis=1)]


def normalised():
    x = pt.dmatrix("x")
    return [x], [(x - x.mean(axis=1, keepdims=True)) / pt.sqrt(x.var(axis=1, keepdims=True) + 1e-6)]


def scan():
    x, decay = pt.dvector("x"), pt.dscalar("decay")
    level = pytensor.scan(lambda x, level, decay: decay * level + x, [x], [pt.zeros(())], [decay], return_updates=False)
    return [x, decay], [level]


def cholesky():
    a, y = pt.dmatrix("a"), pt.dvector("y")
    root = pt.linalg.cholesky(a @ a.T + 4 * pt.eye(a.shape[0]))
    solved = pt.linalg.solve_triangular(root, y, lower=True)
    return [a, y], [pt.log(pt.diagonal(root)).sum() + (solved**2).sum()]


def positions():
    x, at, y = pt.dvector("x"), pt.lvector("at"), pt.dvector("y")
    return [x, at, y], [pt.inc_subtensor(x[at], y)]


def taken():
    x, at = pt.dmatrix("x"), pt.lvector("at")
    return [x, at], [x[at].sum(axis=1)]


def distances():
    x, y = pt.dmatrices("x", "y")
    return [x, y], [pt.sqrt(((x[:, None, :] - y[None, :, :]) ** 2).sum(axis=2))]


def schools():
    point = pt.dvector("point")
    y, error = np.array([28.0, 8, -3, 7, -1, 1, 18, 12]), np.array([15.0, 10, 16, 11, 9, 11, 10, 18])
    mean, spread, effect = point[0], pt.exp(point[1]), point[2:]
    logp = -(((y - mean - spread * effect) / error) ** 2).sum() / 2 - (effect**2).sum() / 2 - mean**2 / 50
    logp += point[1] - pt.log1p((spread / 5) ** 2)
    return [point], [logp, grad(logp, point)]


FUNCTIONS = {
    "exp, log1p of 10": (elementwise, [numbers(10), numbers(10)]),
    "exp, log1p of 100 000": (elementwise, [numbers(100_000), numbers(100_000)]),
    "logistic regression of 200 × 8 with gradient": (logistic, [numbers(8), numbers(200, 8), np.round(RANDOM.random(200))]),
    "network of 3 layers, 64 × 16, with gradients": (network, [numbers(64, 16), *(numbers(16, 16) / 4 for _ in range(3))]),
    "softmax of 100 × 20": (softmax, [numbers(100, 20)]),
    "rows of 200 × 50 normalised": (normalised, [numbers(200, 50)]),
    "scan of 100 steps": (scan, [numbers(100), np.array(0.9)]),
    "Cholesky and solution of 10": (cholesky, [numbers(10, 10), numbers(10)]),
    "inc_subtensor at 100 positions": (positions, [numbers(1000), RANDOM.integers(0, 1000, 100), numbers(100)]),
    "sums of 500 rows taken": (taken, [numbers(100, 20), RANDOM.integers(0, 100, 500)]),
    "distances of 50 and 60 points": (distances, [numbers(50, 3), numbers(60, 3)]),
    "eight schools with gradient": (schools, [numbers(10) / 4]),
}


def compiled(make, mode):
    function = pytensor.function(*make(), mode=mode)
    function.trust_input = True
    return function


def main():
    place, rounds, text = sys.argv[1], int(sys.argv[2]), " ".join(sys.argv[3:])
    own = precast.pytensor.mode(policy="jit", store=f"{place}/store")
    for name, (make, arguments) in FUNCTIONS.items():
        if text not in name:
            continue
        print(f"  {name}", file=sys.stderr, flush=True)
        contenders = [("PyTensor, mode PRECAST", own), ("PyTensor, numba", "NUMBA"), ("PyTensor, C", "CVM")]
        race(name, rounds, [(who, lambda mode=mode: (compiled(make, mode), arguments)) for who, mode in contenders])


if __name__ == "__main__":
    main()
