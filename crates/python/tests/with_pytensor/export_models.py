"""Exports ten PyMC models to packages, and prints PyMC's own numbers at a point.

usage: export_models.py DIRECTORY
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

os.environ["PRECAST_PYTENSOR"] = "0"

import numpy as np
import precast.pymc
import pymc as pm
import pytensor
import pytensor.tensor as pt


def hierarchical() -> pm.Model:
    r = np.random.default_rng(10)
    group, x = np.repeat(np.arange(6), 8), r.normal(size=48)
    with pm.Model(coords={"group": list("abcdef")}) as model:
        slope, by = pm.Data("x", x), pm.Data("by", group)
        a = pm.Normal("a", pm.Normal("centre", 0, 1), pm.HalfNormal("spread", 1), dims="group")
        mean = pm.Deterministic("mean", a[by] + pm.Normal("b", 0, 1) * slope)
        y = group * 0.3 + x + r.normal(size=48)
        pm.Normal("y", mean, pm.HalfNormal("noise", 1), observed=y, shape=mean.shape)
    return model


def process() -> pm.Model:
    x = np.linspace(0, 3, 12)[:, None]
    with pm.Model() as model:
        cov = pm.HalfNormal("eta", 1) ** 2 * pm.gp.cov.ExpQuad(1, pm.Gamma("ell", 2, 2))
        pm.gp.Marginal(cov_func=cov).marginal_likelihood("y", X=x, y=np.sin(2 * x[:, 0]), sigma=pm.HalfNormal("noise", 1))
    return model


def mixture() -> pm.Model:
    y = np.random.default_rng(1).normal(size=30) + np.repeat([-2.0, 2.0], 15)
    ordered = pm.distributions.transforms.ordered
    with pm.Model(coords={"part": [0, 1]}) as model:
        w = pm.Dirichlet("w", np.ones(2), dims="part")
        mu = pm.Normal("mu", [-1, 1], 2, transform=ordered, initval=[-1.0, 1.0], dims="part")
        pm.NormalMixture("y", w, mu, sigma=pm.HalfNormal("s", 1, shape=2), observed=y)
    return model


def lkj() -> pm.Model:
    with pm.Model() as model:
        chol, _, _ = pm.LKJCholeskyCov("chol", n=3, eta=2.0, sd_dist=pm.Exponential.dist(1.0, shape=3))
        pm.MvNormal("y", pm.Normal("mu", 0, 1, shape=3), chol=chol, observed=np.random.default_rng(2).normal(size=(20, 3)))
    return model


def censored() -> pm.Model:
    y = np.clip(np.random.default_rng(3).normal(1, 1, 40), 0, 2)
    with pm.Model() as model:
        latent = pm.Normal.dist(pm.Normal("mu", 0, 2), pm.HalfNormal("s", 2))
        pm.Censored("y", latent, lower=0, upper=2, observed=y)
    return model


def autoregressive() -> pm.Model:
    y = np.cumsum(np.random.default_rng(4).normal(size=50)) * 0.1
    with pm.Model() as model:
        rho, s = pm.Normal("rho", 0, 0.5, shape=2), pm.HalfNormal("s", 1)
        pm.AR("y", rho, sigma=s, init_dist=pm.Normal.dist(0, 1, shape=2), observed=y)
    return model


def ordinal() -> pm.Model:
    r = np.random.default_rng(5)
    x = r.normal(size=60)
    ordered = pm.distributions.transforms.ordered
    with pm.Model() as model:
        cut = pm.Normal("cut", [-1, 0, 1], 1.5, transform=ordered, initval=[-1.0, 0.0, 1.0])
        y = np.digitize(x + r.normal(size=60) * 0.5, [-1, 0, 1])
        pm.OrderedLogistic("y", eta=pm.Normal("b", 0, 1) * pm.Data("x", x), cutpoints=cut, observed=y, compute_p=False)
    return model


def inflated() -> pm.Model:
    y = np.random.default_rng(6).poisson(2, 50) * (np.random.default_rng(7).random(50) > 0.3)
    with pm.Model() as model:
        pm.ZeroInflatedPoisson("y", pm.Beta("psi", 1, 1), pm.Gamma("mu", 2, 1), observed=y)
    return model


def missing() -> pm.Model:
    y = np.random.default_rng(8).normal(size=20)
    y[[3, 7]] = np.nan
    with pm.Model(coords={"day": range(20)}) as model:
        pm.Normal("y", pm.Normal("mu", 0, 1), pm.HalfNormal("s", 1), observed=np.ma.masked_invalid(y), dims="day")
    return model


def scanned() -> pm.Model:
    y = np.random.default_rng(9).normal(size=30)
    with pm.Model() as model:
        a, s = pm.Normal("a", 0, 0.5), pm.HalfNormal("s", 1)
        steps = {"sequences": [pt.as_tensor(y[:-1])], "outputs_info": [pt.zeros(())], "non_sequences": [a]}
        mean = pytensor.scan(lambda now, before, a: a * before + now * 0.1, return_updates=False, **steps)
        pm.Normal("y", mean, s, observed=y[1:])
    return model


MODELS = (hierarchical, process, mixture, lkj, censored, autoregressive, ordinal, inflated, missing, scanned)


def numbers(model: pm.Model, point: dict[str, np.ndarray]) -> dict[str, Any]:
    """Returns PyMC's answers at an unconstrained point. Its functions are computed by NumPy, op by op."""
    mode = pytensor.compile.mode.Mode(linker="py", optimizer="fast_compile")
    known = {"mode": mode, "on_unused_input": "ignore"}

    def computed(outputs: Any) -> Any:
        return pytensor.function(model.value_vars, outputs, **known)(*(point[value.name] for value in model.value_vars))

    def flat(arrays: Any) -> list[float]:
        return np.concatenate([np.ravel(array) for array in arrays]).tolist()

    made = [*model.free_RVs, *model.deterministics]
    values = computed(model.replace_rvs_by_values(made))
    return {
        "logp": float(computed(model.logp())),
        "plain": float(computed(model.logp(jacobian=False))),
        "gradient": flat(computed(pytensor.gradient.grad(model.logp(), model.value_vars))),
        "pointwise": flat(computed(model.logp(vars=model.observed_RVs, sum=False))),
        "constrained": {rv.name: np.asarray(value).tolist() for rv, value in zip(made, values, strict=True)},
    }


if __name__ == "__main__":
    folder, told = Path(sys.argv[1]), {}
    for make in MODELS:
        model = make()
        exported = precast.pymc.export(model, folder / f"{make.__name__}.precast", name=make.__name__, isa="x86-64-v2")
        point = {name: value + 0.05 for name, value in model.initial_point(random_seed=0).items()}
        q = np.concatenate([np.ravel(point[value.name]) for value in model.value_vars])
        told[make.__name__] = {"q": q.tolist(), "left_out": dict(exported.left_out), **numbers(model, point)}
    model = hierarchical()
    precast.pymc.export(model, folder / "again.precast", name="hierarchical", isa="x86-64-v2")
    with model:
        pm.set_data({"x": np.arange(48) / 10})
    told["hierarchical"]["moved"] = numbers(model, {name: value + 0.05 for name, value in model.initial_point(random_seed=0).items()})["logp"]
    print(json.dumps(told))
