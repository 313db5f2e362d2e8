"""Measures log densities of PyMC models with their gradients, and of the same models in Stan: `models.py PLACE ROUNDS [TEXT]`.

The models whose names contain TEXT, or all, are exported to the directory PLACE. Prints measurements as `calls.py` does.
"""
import json
import os
import sys

import numpy as np
import stan
from calls import race

import precast

try:
    import pymc as pm
    import pytensor
    import pytensor.tensor as pt
    from pymc.distributions.transforms import ordered
except ImportError as error:
    print(json.dumps({"what": "PyMC", "samples": [], "skipped": [f"PyMC: {error}"]}))
    sys.exit()

import precast.pymc


def eight_schools():
    y, error = [28.0, 8, -3, 7, -1, 1, 18, 12], [15.0, 10, 16, 11, 9, 11, 10, 18]
    mean, spread, effect = pm.Normal("mean", 0, 5), pm.HalfCauchy("spread", 5), pm.Normal("effect", shape=8)
    pm.Normal("y", mean + spread * effect, error, observed=y)
    return {"y": y, "error": error}


def negative_binomial(r):
    group, x, y = r.integers(0, 20, 500), r.normal(size=(500, 5)), r.poisson(2, 500)
    a, b = pm.Normal("a", 0, pm.HalfNormal("spread"), shape=20), pm.Normal("b", shape=5)
    pm.NegativeBinomial("y", mu=pm.math.exp(a[group] + x @ b), alpha=pm.Exponential("alpha", 1.0), observed=y)
    return {"group": group + 1, "x": x, "y": y}


def zero_inflated(r, n):
    y = r.poisson(3, n) * r.binomial(1, 0.7, n)
    pm.ZeroInflatedPoisson("y", psi=pm.Beta("psi", 2, 2), mu=pm.Gamma("rate", 2, 1), observed=y)
    return {"y": y}


def mixture(r, n, parts):
    start = np.linspace(-1, 1, parts)
    mean = pm.Normal("mean", 0, 5, shape=parts, transform=ordered, initval=start)
    pm.NormalMixture("y", pm.Dirichlet("w", np.ones(parts)), mean, pm.HalfNormal("s", shape=parts), observed=r.normal(size=n))


def gaussian_process(r, n, kernel):
    x = np.linspace(0, 3, n)[:, None]
    cov = pm.HalfNormal("eta") ** 2 * kernel(1, pm.Gamma("ell", 2, 1))
    process = pm.gp.Marginal(cov_func=cov)
    y = np.sin(2 * x[:, 0]) + 0.1 * r.normal(size=n)
    process.marginal_likelihood("y", X=x, y=y, sigma=pm.HalfNormal("noise"))
    return {"x": x[:, 0], "y": y}


def ordinal(r, n, levels):
    x, y = r.normal(size=n), r.integers(0, levels, n)
    start = np.linspace(-2, 2, levels - 1)
    cut = pm.Normal("cut", 0, 5, shape=levels - 1, transform=ordered, initval=start)
    pm.OrderedLogistic("y", eta=pm.Normal("b") * x, cutpoints=cut, observed=y, compute_p=False)
    return {"levels": levels, "x": x, "y": y + 1}


def covariance(r, n):
    chol, _, _ = pm.LKJCholeskyCov("chol", n=3, eta=2, sd_dist=pm.Exponential.dist(1.0, shape=3))
    pm.MvNormal("y", pm.Normal("mean", shape=3), chol=chol, observed=r.normal(size=(n, 3)))


def random_walk(r):
    walk = pm.GaussianRandomWalk("walk", sigma=pm.HalfNormal("s"), init_dist=pm.Normal.dist(0, 1), shape=100)
    y = r.normal(size=100)
    pm.StudentT("y", nu=4, mu=walk, sigma=pm.HalfNormal("noise"), observed=y)
    return {"y": y}


def hierarchical(r):
    group, x = np.repeat(np.arange(6), 8), r.normal(size=48)
    a = pm.Normal("a", pm.Normal("centre"), pm.HalfNormal("spread"), shape=6)
    mean = a[group] + pm.Normal("b") * x
    y = 0.3 * group + x + r.normal(size=48)
    pm.Normal("y", mean, pm.HalfNormal("noise"), observed=y)
    return {"group": group + 1, "x": x, "y": y}


def censored(r):
    latent = pm.Normal.dist(pm.Normal("mean", 0, 2), pm.HalfNormal("s", 2))
    y = np.clip(r.normal(1, 1, 40), 0, 2)
    pm.Censored("y", latent, lower=0, upper=2, observed=y)
    return {"low": np.sum(y == 0), "high": np.sum(y == 2), "y": y[(y > 0) & (y < 2)]}


def autoregressive(r):
    rho, s = pm.Normal("rho", 0, 0.5, shape=2), pm.HalfNormal("s")
    y = 0.1 * np.cumsum(r.normal(size=50))
    pm.AR("y", rho, sigma=s, init_dist=pm.Normal.dist(0, 1, shape=2), observed=y)
    return {"y": y}


def missing(r):
    y = r.normal(size=20)
    y[[3, 7]] = np.nan
    pm.Normal("y", pm.Normal("mean"), pm.HalfNormal("s"), observed=np.ma.masked_invalid(y))


def loop(r):
    y, a = r.normal(size=30), pm.Normal("a", 0, 0.5)
    steps = {"sequences": [pt.as_tensor(y[:-1])], "outputs_info": [pt.zeros(())], "non_sequences": [a]}
    mean, _ = pytensor.scan(lambda now, before, a: a * before + now * 0.1, **steps)
    pm.Normal("y", mean, pm.HalfNormal("s"), observed=y[1:])


MODELS = {
    "eight schools": lambda r: eight_schools(),
    "negative binomial of 500": negative_binomial,
    "zero-inflated Poisson of 300": lambda r: zero_inflated(r, 300),
    "zero-inflated Poisson of 50": lambda r: zero_inflated(r, 50),
    "mixture of three, 300": lambda r: mixture(r, 300, 3),
    "mixture of two, 30": lambda r: mixture(r, 30, 2),
    "Gaussian process of 30": lambda r: gaussian_process(r, 30, pm.gp.cov.Matern52),
    "Gaussian process of 12": lambda r: gaussian_process(r, 12, pm.gp.cov.ExpQuad),
    "ordinal, 200 of 5 levels": lambda r: ordinal(r, 200, 5),
    "ordinal, 60 of 4 levels": lambda r: ordinal(r, 60, 4),
    "LKJ covariance, 100": lambda r: covariance(r, 100),
    "LKJ covariance, 20": lambda r: covariance(r, 20),
    "random walk of 100": random_walk,
    "hierarchical regression of 48": hierarchical,
    "censored, 40": censored,
    "autoregressive of 50": autoregressive,
    "missing data, 20": missing,
    "loop of 30 steps": loop,
}

# The programs in `stan/` with the same parameters in the same order; the functions above return their data.
STAN = {
    "eight schools": "eight_schools",
    "negative binomial of 500": "negative_binomial",
    "zero-inflated Poisson of 300": "zero_inflated",
    "zero-inflated Poisson of 50": "zero_inflated",
    "Gaussian process of 30": "gaussian_process",
    "ordinal, 200 of 5 levels": "ordinal",
    "ordinal, 60 of 4 levels": "ordinal",
    "random walk of 100": "random_walk",
    "hierarchical regression of 48": "hierarchical",
    "censored, 40": "censored",
    "autoregressive of 50": "autoregressive",
}


def point_of(model):
    start = model.initial_point(random_seed=0)
    return np.concatenate([np.ravel(start[value.name] + 0.05) for value in model.value_vars])


def measured(name, place, rounds):
    with pm.Model() as model:
        data = MODELS[name](np.random.default_rng(1))
    point = point_of(model)

    def ours():
        path = os.path.join(place, "model.precast")
        precast.pymc.export(model, path, entries=["log_density_gradient"])
        return precast.load(path).log_density_gradient, [point]

    def compiled(mode):
        made = model.logp_dlogp_function(ravel_inputs=True, mode=mode)
        made.set_extra_values({})
        made._pytensor_function.trust_input = True
        return made._pytensor_function, [point]

    contenders = [
        ("precast", ours),
        ("PyMC, numba, trust_input", lambda: compiled("NUMBA")),
        ("PyMC, C, trust_input", lambda: compiled("CVM")),
    ]
    if name in STAN:
        # PyTensor computes logarithms of small integers, such as a scale of 5, in f32.
        contenders.append(("Stan, g++ -O3", lambda: (stan.density(STAN[name], data, place), [point]), 1e-6))
    race(name, rounds, contenders)


def main():
    place, rounds, text = sys.argv[1], int(sys.argv[2]), " ".join(sys.argv[3:])
    for name in MODELS:
        if text in name:
            print(f"  {name}", file=sys.stderr, flush=True)
            measured(name, place, rounds)


if __name__ == "__main__":
    main()
