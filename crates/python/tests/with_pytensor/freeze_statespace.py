"""Freezes the log-densities and gradients of state space models of pymc-extras to a bundle. Prints points and PyTensor's results.

usage: freeze_statespace.py BUNDLE
"""

import json
import os
import sys
import warnings

os.environ["PRECAST_PYTENSOR"] = "0"
warnings.simplefilter("ignore")

import numpy as np
import pandas as pd
import precast
import precast.pytensor
import pymc as pm
import pytensor.tensor as pt
from pymc_extras.statespace import BayesianSARIMAX, BayesianVARMAX
from pymc_extras.statespace import structural as parts
from pytensor.compile.mode import Mode

DAYS = 40
DATES = pd.date_range("2020-01-01", periods=DAYS, freq="D")
WALKS = np.cumsum(np.random.default_rng(1).normal(size=(DAYS, 2)), axis=0)


def data(count, missing=()):
    walks = WALKS[:, :count].copy()
    walks[list(missing)] = np.nan
    return pd.DataFrame(walks, columns=["x", "y"][:count], index=DATES)


def trend(**settings):
    model = parts.LevelTrend(order=2, innovations_order=[0, 1]) + parts.MeasurementError(name="err")
    return model.build(verbose=False, **settings)


def seasons():
    model = parts.LevelTrend(order=1) + parts.TimeSeasonality(season_length=7, name="week") + parts.Cycle(name="cycle", cycle_length=12.0)
    return (model + parts.MeasurementError(name="err")).build(verbose=False)


#: Models and their data.
MODELS = {
    "trend": lambda: (trend(), data(1)),
    "trend_with_missing_days": lambda: (trend(), data(1, missing=(3, 4, 20))),
    "trend_univariate": lambda: (trend(filter_type="univariate"), data(1)),
    "seasons": lambda: (seasons(), data(1)),
    "arma": lambda: (BayesianSARIMAX(order=(2, 0, 1), stationary_initialization=False, verbose=False), data(1)),
    "sarima": lambda: (BayesianSARIMAX(order=(1, 1, 1), stationary_initialization=False, verbose=False), data(1)),
    "varma": lambda: (BayesianVARMAX(endog_names=["x", "y"], order=(1, 0), measurement_error=True, verbose=False), data(2)),
}


def priors(model):
    for name, info in model.param_info.items():
        shape, constraint = info["shape"], info["constraints"] or ""
        if name == "P0" or "emi-definite" in constraint:
            pm.Deterministic(name, pt.as_tensor(np.eye(shape[0])), dims=info["dims"])
        elif "ositive" in constraint:
            pm.HalfNormal(name, 1, shape=shape or None)
        else:
            pm.Normal(name, 0, 0.3, shape=shape or None)


def frozen(name):
    """Returns a frozen function, its point, and PyTensor's results."""
    statespace, frame = MODELS[name]()
    with pm.Model(coords=statespace.coords) as model:
        priors(statespace)
        statespace.build_statespace_graph(frame)
    function = model.logp_dlogp_function(ravel_inputs=True, mode=Mode(linker="py", optimizer="fast_run"))
    function.set_extra_values({})
    point = 0.1 + np.concatenate([np.ravel(value) for value in model.initial_point().values()])
    numbers = [point, *map(np.atleast_1d, function._pytensor_function(point))]
    return precast.pytensor.freeze(function), [row.tolist() for row in numbers]


if __name__ == "__main__":
    made, told = {}, {}
    for name in sys.argv[2:] or MODELS:
        made[name], told[name] = frozen(name)
    precast.save(sys.argv[1], made, isa="x86-64-v2")
    print(json.dumps(told))
