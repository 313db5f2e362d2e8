"""Writes random.jsonl: draws of JAX 0.10.2, and distributions of SciPy. Run manually: `python3 random.py`. Needs jax, scipy and NumPy.

    {"text": call, "dtype": …, "shape": …, "bits": …, "steps": 0}   the elements of JAX's result as hexadecimal bits. `steps` is the
                                                                    largest difference: the functions of XLA round differently
    {"text": call, "bounds": …, "p": …, "chi2": …, "ks": …}         the probabilities of the intervals that the bounds separate, the
                                                                    critical value of the chi-squared test, and that of Kolmogorov and
                                                                    Smirnov's test times the root of the number of draws

In the second kind `{n}` stands for the number of draws of a part, and `{part}` for the number of the part. A correct sampler exceeds a critical value with a probability of 1e-6.
"""

import json
import pathlib
import sys

# The name of this file hides a module of the standard library.
sys.path = [entry for entry in sys.path if pathlib.Path(entry or ".").resolve() != pathlib.Path(__file__).resolve().parent]

import jax  # noqa: E402
import ml_dtypes  # noqa: E402
import numpy as np  # noqa: E402
from jax import random as jr  # noqa: E402
from scipy import stats  # noqa: E402

jax.config.update("jax_enable_x64", True)
assert jax.__version__ == "0.10.2" and jax.config.jax_threefry_partitionable
NAMES = {"bool": "bool", "bfloat16": "bf16"}
LEVEL = 1e-6
FLOATS = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64}
INTEGERS = {f"{kind}{bits}": np.dtype(f"{name}{bits}") for kind, name in (("i", "int"), ("u", "uint")) for bits in (8, 16, 32, 64)}


def line(text, value, steps=0):
    """Returns the line of a draw."""
    if jax.dtypes.issubdtype(value.dtype, jax.dtypes.prng_key):
        value = jr.key_data(value)
    value = np.asarray(value)
    name = NAMES.get(value.dtype.name, value.dtype.kind + str(8 * value.dtype.itemsize))
    bits = value.view(np.dtype(f"u{value.dtype.itemsize}")).ravel()
    return {"text": text, "dtype": name, "shape": list(value.shape), "bits": " ".join(f"{int(b):x}" for b in bits), "steps": steps}


def exact():
    """Draws of integer arithmetic, exact scaling and comparisons."""
    for seed in (0, 42, -1, 2**40 + 7, 2**63 - 1, -(2**63)):
        yield f"random.key({seed})", jr.key(seed)
    key, text = jr.key(42), "random.key(42)"
    yield f"random.split({text})", jr.split(key)
    yield f"random.split({text}, 5)", jr.split(key, 5)
    yield f"random.split({text}, (2, 3))", jr.split(key, (2, 3))
    for number in (0, 7, 2**32 - 1):
        yield f"random.fold_in({text}, {number})", jr.fold_in(key, number)
    yield f"random.bits(random.fold_in(random.split({text})[1], 3))", jr.bits(jr.fold_in(jr.split(key)[1], 3), dtype=np.uint64)
    for name in ("u8", "u16", "u32", "u64"):
        yield f"random.bits({text}, (3, 5), {name})", jr.bits(key, (3, 5), INTEGERS[name])
    yield f"random.bits({text}, 70000)[69997:]", jr.bits(key, (70000,), np.uint64)[69997:]
    for name, dtype in FLOATS.items():
        yield f"random.uniform({text}, (3, 5), {name})", jr.uniform(key, (3, 5), dtype)
    yield f"random.uniform({text}, (3, 2), minval=-2, maxval=[2, 6])", jr.uniform(key, (3, 2), np.float64, -2.0, np.array([2.0, 6.0]))
    for name, dtype in INTEGERS.items():
        yield f"random.randint({text}, (3, 5), 3, 103, {name})", jr.randint(key, (3, 5), 3, 103, dtype)
    yield f"random.randint({text}, (3, 5), 0, 256, u8)", jr.randint(key, (3, 5), 0, 256, np.uint8)
    yield f"random.randint({text}, 3, [5, -7, 0], [5, 9, -1])", jr.randint(key, (3,), np.array([5, -7, 0]), np.array([5, 9, -1]), np.int64)
    yield f"random.bernoulli({text}, [0.1, 0.5, 0.9], (4, 3))", jr.bernoulli(key, np.array([0.1, 0.5, 0.9]), (4, 3))
    yield f"random.choice({text}, 7, (2, 4))", jr.choice(key, 7, (2, 4))
    yield f"random.choice({text}, 3, (2, 4), p=[0.25, 0.25, 0.5])", jr.choice(key, 3, (2, 4), p=np.array([0.25, 0.25, 0.5]))
    yield f"random.categorical({text}, [0.5, -1, 2], shape=(9,))", jr.categorical(key, np.array([0.5, -1.0, 2.0]), shape=(9,))
    logits = "[[0.5, -1, 2], [0, 1, 2]]"
    yield f"random.categorical({text}, {logits}, axis=0, shape=(4, 3))", jr.categorical(key, np.array(eval(logits)), axis=0, shape=(4, 3))


def near():
    """Draws of functions that XLA computes with other roundings, and how many steps they may differ."""
    key, text = jr.key(7), "random.key(7)"
    for name, dtype in (("f32", np.float32), ("f64", np.float64)):
        for function in ("normal", "exponential", "laplace", "logistic", "cauchy", "gumbel"):
            yield f"random.{function}({text}, 12, {name})", getattr(jr, function)(key, (12,), dtype), 64
    yield f"random.truncated_normal({text}, -1, 0.5, 12)", jr.truncated_normal(key, -1.0, 0.5, (12,), np.float64), 64
    yield f"random.truncated_normal({text}, 0.5, 3, 12)", jr.truncated_normal(key, 0.5, 3.0, (12,), np.float64), 64
    mean, cov = "[1, -2]", "[[2, 0.5], [0.5, 1]]"
    value = jr.multivariate_normal(key, np.array(eval(mean), float), np.array(eval(cov)), (5,))
    yield f"random.multivariate_normal({text}, {mean}, {cov}, 5)", value, 64


def tested(text, bounds, p):
    """Returns the line of a distribution."""
    p = np.asarray(p, float)
    assert len(p) == len(bounds) + 1 and abs(p.sum() - 1) < 1e-9 and p.min() > 0, text
    return {
        "text": text, "bounds": [float(x) for x in bounds], "p": [float(x) for x in p],
        "chi2": float(stats.chi2.isf(LEVEL, len(p) - 1)), "ks": float(stats.kstwobign.isf(LEVEL)),
    }  # fmt: skip


def continuous(text, law):
    """Takes 128 intervals of equal probability, and some of the tails."""
    q = np.concatenate([[1e-5, 1e-4, 1e-3], np.arange(1, 128) / 128, [1 - 1e-3, 1 - 1e-4, 1 - 1e-5]])
    bounds = law.ppf(q)
    # Distributions that are dense at an end have quantiles that no f64 separates.
    bounds = bounds[np.diff(np.concatenate([[0.0], law.cdf(bounds)])) > 1e-6]
    bounds = bounds[law.sf(bounds) > 1e-6]
    return tested(text, bounds, np.diff(np.concatenate([[0.0], law.cdf(bounds), [1.0]])))


def discrete(text, law, least=2e-4):
    """Takes intervals of whole numbers with at least this probability."""
    low, high = int(law.ppf(least)), int(law.isf(least))
    step = max(1, (high - low) // 100)
    bounds = np.arange(low, high + 1, step) + 0.5
    bounds = bounds[(law.cdf(bounds) > least / 2) & (law.sf(bounds) > least / 2)]
    p = np.diff(np.concatenate([[0.0], law.cdf(bounds), [1.0]]))
    p[-1] = law.sf(bounds[-1])
    return tested(text, bounds, p)


def listed(text, values):
    """Takes one interval for each value of a finite distribution."""
    values = sorted(values.items())
    return tested(text, [(a[0] + b[0]) / 2 for a, b in zip(values, values[1:])], [p for _, p in values])


def distributions():
    """Yields the laws. Every call has a seed of its own."""
    seeds = iter(range(1, 1000))

    def call(function, arguments, more=""):
        return f"random.{function}(random.fold_in(random.key({next(seeds)}), {{part}}), {arguments}{more})"

    yield continuous(call("uniform", "{n}"), stats.uniform())
    yield continuous(call("uniform", "{n}", ", f32, minval=-1, maxval=3"), stats.uniform(-1, 4))
    for name in ("f32", "f64"):
        yield continuous(call("normal", "{n}, " + name), stats.norm())
        yield continuous(call("exponential", "{n}, " + name), stats.expon())
        yield continuous(call("laplace", "{n}, " + name), stats.laplace())
        yield continuous(call("logistic", "{n}, " + name), stats.logistic())
        yield continuous(call("cauchy", "{n}, " + name), stats.cauchy())
        yield continuous(call("gumbel", "{n}, " + name), stats.gumbel_r())
    for low, high in ((-1, 2), (0.5, 1), (-5, -4), (7, 9)):
        yield continuous(call("truncated_normal", f"{low}, {high}, {{n}}"), stats.truncnorm(low, high))
    for a in (0.05, 0.5, 1, 1.5, 30, 1e5):
        yield continuous(call("gamma", f"{a}, {{n}}"), stats.gamma(a))
    for a in (0.01, 2):
        yield continuous(call("loggamma", f"{a}, {{n}}"), stats.loggamma(a))
    for a, b in ((0.1, 0.2), (1, 1), (2, 5), (300, 70)):
        yield continuous(call("beta", f"{a}, {b}, {{n}}"), stats.beta(a, b))
    for df in (1, 3.5, 100):
        yield continuous(call("student_t", f"{df}, {{n}}"), stats.t(df))
    for kappa in (1e-6, 0.3, 4, 300):
        yield continuous(call("von_mises", f"0, {kappa}, {{n}}"), stats.vonmises(kappa))
    for mean in (0.2, 5, 9.5, 10, 33, 1e4, 1e9):
        yield discrete(call("poisson", f"{mean}, {{n}}"), stats.poisson(mean))
    for n, p in ((1, 0.3), (20, 0.1), (20, 0.8), (45, 0.5), (100, 0.3), (1000, 0.995), (10**6, 0.37)):
        yield discrete(call("binomial", f"{n}, {p}, {{n}}"), stats.binom(n, p))
    for n, p in ((0.7, 0.2), (3, 0.5), (50, 0.1)):
        yield discrete(call("negative_binomial", f"{n}, {p}, {{n}}"), stats.nbinom(n, p))
    yield discrete(call("multinomial", "50, [0.2, 0.5, 0.3], {n}", ")[:, 0]")[:-1], stats.binom(50, 0.2))
    yield discrete(call("multinomial", "50, [0.2, 0.5, 0.3], {n}", ")[:, 2]")[:-1], stats.binom(50, 0.3))
    yield discrete(call("multinomial", "50, [2, 5, 0, 3], {n}", ")[:, ::3].sum(1)")[:-1], stats.binom(50, 0.5))
    yield continuous(call("dirichlet", "[0.3, 1, 2], {n}", ")[:, 0]")[:-1], stats.beta(0.3, 3))
    yield continuous(call("dirichlet", "[0.3, 1, 2], {n}", ")[:, :2].sum(1)")[:-1], stats.beta(1.3, 2))
    mean, cov, scale = "[1, -2]", "[[2, 0.5], [0.5, 1]]", "[[2, 0.5], [0.5, 1]]"
    yield continuous(call("multivariate_normal", f"{mean}, {cov}, {{n}}", ")[:, 1]")[:-1], stats.norm(-2, 1))
    text = "x = " + call("multivariate_normal", f"{mean}, {cov}, {{n}}") + "; x[:, 0] - 2 * x[:, 1]"
    yield continuous(text, stats.norm(5, 2))
    text = "x = " + call("wishart", f"3.5, {scale}, {{n}}") + "; x[:, 0, 0] / 2"
    yield continuous(text, stats.chi2(3.5))
    text = "x = " + call("wishart", f"3.5, {scale}, {{n}}") + "; (x[:, 0, 0] - 4 * x[:, 0, 1] + 4 * x[:, 1, 1]) / 4"
    yield continuous(text, stats.chi2(3.5))
    yield listed(call("randint", "{n}, -3, 4"), {k: 1 / 7 for k in range(-3, 4)})
    yield listed(call("bernoulli", "0.3, {n}"), {0: 0.7, 1: 0.3})
    yield listed(call("categorical", "log([0.2, 0.5, 0.3])", ", shape=({n},)"), {0: 0.2, 1: 0.5, 2: 0.3})
    yield listed(call("choice", "5, {n}"), {k: 0.2 for k in range(5)})
    yield listed(call("choice", "[2, 3, 5], {n}", ", p=[0.1, 0.6, 0.3]"), {2: 0.1, 3: 0.6, 5: 0.3})
    orders = {16 * a + 4 * b + c: 1 / 24 for a in range(4) for b in range(4) for c in range(4) if len({a, b, c}) == 3}
    rows = "zeros(({n}, 4), dtype=i64) + arange(4)"
    text = "x = " + call("permutation", rows, ", axis=1, independent=True") + "; 16 * x[:, 0] + 4 * x[:, 1] + x[:, 2]"
    yield listed(text, orders)
    yield continuous(call("truncated_normal", "45, 46, {n}"), stats.truncnorm(45, 46))
    yield continuous(call("truncated_normal", "-60, -38, {n}"), stats.truncnorm(-60, -38))


if __name__ == "__main__":
    lines = [line(*of) for of in exact()] + [line(*of) for of in near()] + list(distributions())
    path = pathlib.Path(__file__).with_suffix(".jsonl")
    path.write_text("".join(json.dumps(of) + "\n" for of in lines))
    print(len(lines), "lines,", path.stat().st_size, "bytes")
