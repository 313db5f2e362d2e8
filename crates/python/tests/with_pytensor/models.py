"""Three PyMC models: log-density, gradient, and a short run of NUTS with a fixed seed. Does not use precast."""

import hashlib
import sys

import numpy as np
import pymc as pm


def eight_schools() -> pm.Model:
    # Rubin (1981): effects of coaching, and their standard errors.
    effect = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
    error = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])
    with pm.Model() as model:
        mu, tau = pm.Normal("mu", 0, 5), pm.HalfCauchy("tau", 5)
        theta = pm.Deterministic("theta", mu + tau * pm.Normal("z", 0, 1, shape=8))
        pm.Normal("y", theta, error, observed=effect)
    return model


def logistic() -> pm.Model:
    # Dalal, Fowlkes and Hoadley (1989): O-ring distress by launch temperature, in degrees Fahrenheit.
    heat = np.array([66, 70, 69, 68, 67, 72, 73, 70, 57, 63, 70, 78, 67, 53, 67, 75, 70, 81, 76, 79, 75, 76, 58], float)
    failed = np.array([0, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 1])
    with pm.Model() as model:
        weight = pm.Normal("weight", 0, 2, shape=2)
        pm.Bernoulli("failed", logit_p=weight[0] + weight[1] * (heat - heat.mean()) / heat.std(), observed=failed)
    return model


def varying_intercepts() -> pm.Model:
    group = np.repeat(np.arange(5), 6)
    x = np.tile(np.linspace(-1, 1, 6), 5)
    y = np.sin(7.0 * np.arange(30)) + 0.5 * x + group
    with pm.Model() as model:
        centre, spread = pm.Normal("centre", 0, 10), pm.HalfNormal("spread", 5)
        intercept = pm.Normal("intercept", centre, spread, shape=5)
        slope, noise = pm.Normal("slope", 0, 5), pm.HalfNormal("noise", 2)
        pm.Normal("y", intercept[group] + slope * x, noise, observed=y)
    return model


for make in (eight_schools, logistic, varying_intercepts):
    if sys.argv[1:] and make.__name__ not in sys.argv[1:]:
        continue
    model = make()
    point = model.initial_point()
    print(make.__name__, f"{float(model.compile_logp()(point)):.10f}", np.round(model.compile_dlogp()(point), 9).tolist())
    with model:
        settings = {"nuts_sampler": "pymc", "progressbar": False, "compute_convergence_checks": False}
        posterior = pm.sample(draws=20, tune=20, chains=1, cores=1, random_seed=7, **settings).posterior
    for name in sorted(posterior.data_vars):
        drawn = np.round(posterior[name].values, 5) + 0.0
        print(" ", name, drawn.ravel()[-2:].tolist(), hashlib.sha256(drawn.tobytes()).hexdigest()[:12])
