"""Model packages of PyMC models: the numbers of PyMC, from NumPy alone and through BridgeStan's client; the page's examples."""

import copy
import json
import os
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import precast
import pytest

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "PYMC.md"
NAMES = ["hierarchical", "process", "mixture", "lkj", "censored", "autoregressive", "ordinal", "inflated", "missing", "scanned"]

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """Returns a directory with the packages, and PyMC's numbers by model."""
    pytest.importorskip("pymc")
    folder = tmp_path_factory.mktemp("packages")
    environment = os.environ | {"PRECAST_CACHE": str(folder / "cache"), "PYTENSOR_FLAGS": "cxx="}
    command = [sys.executable, str(HERE / "export_models.py"), str(folder)]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=3000)
    assert ended.returncode == 0, ended.stderr
    return folder, json.loads(ended.stdout)


def near(found, expected, tolerance=1e-9):
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", NAMES)
def test_packages_have_the_numbers_of_pymc(packages, name):
    folder, told = packages
    told, density = told[name], precast.Density(folder / f"{name}.precast")
    q = np.array(told["q"])
    value, gradient = density.logp_and_grad(q)
    near([density.logp(q), value], told["logp"])
    near(gradient, told["gradient"])
    near(precast.Density(folder / f"{name}.precast", jacobian=False).logp(q), told["plain"])
    constrained = density.constrain(q)
    assert list(constrained) == list(told["constrained"])
    for variable, expected in told["constrained"].items():
        near(constrained[variable], expected)
    near(np.concatenate([part.ravel() for part in density.log_likelihood(q).values()]), told["pointwise"])
    free = [each["name"] for each in density.description["parameters"]]
    near(density.unconstrain({each: constrained[each] for each in free}), q, 1e-8)
    assert told["left_out"] == {}


@pytest.mark.parametrize("name", NAMES)
def test_products_equal_differences_of_gradients(packages, name):
    density = precast.Density(packages[0] / f"{name}.precast")
    q, step = np.array(packages[1][name]["q"]), 1e-5
    hessian = density.hessian(q)[2]
    near(hessian, hessian.T, 1e-8 * max(1.0, np.abs(hessian).max()))
    for unit, row in zip(np.eye(density.dim), hessian, strict=True):
        ahead, behind = (density.logp_and_grad(q + sign * step * unit)[1] for sign in (1, -1))
        near(row, (ahead - behind) / (2 * step), 1e-5 * max(1.0, np.abs(hessian).max()))


@pytest.mark.parametrize("name", NAMES)
def test_draws_are_functions_of_their_key(packages, name):
    density = precast.Density(packages[0] / f"{name}.precast")
    q = density.initial()
    for draw in (lambda key: density.predict(key, q), density.prior):
        one, same, other = draw(7), draw(7), draw(8)
        assert all(np.array_equal(one[variable], same[variable], equal_nan=True) for variable in one)
        assert any(not np.array_equal(one[variable], other[variable]) for variable in one)
    shapes = {each["name"]: tuple(each["shape"]) for each in density.description["observed"]}
    assert {variable: value.shape for variable, value in density.predict(1, q).items()} == shapes


def test_prior_draws_have_their_distribution(packages):
    stats = pytest.importorskip("scipy.stats")
    density = precast.Density(packages[0] / "hierarchical.precast")
    draws = [density.prior(key) for key in range(2000)]
    for name, distribution in (("centre", stats.norm()), ("spread", stats.halfnorm()), ("b", stats.norm())):
        assert stats.kstest([float(draw[name]) for draw in draws], distribution.cdf).pvalue > 1e-3, name


def test_densities_are_pickled_with_their_data(packages):
    folder, told = packages
    q = np.array(told["hierarchical"]["q"])
    density = precast.Density(folder / "hierarchical.precast", data={"x": np.arange(48) / 10}, jacobian=False)
    expected = density.logp(q)
    for copied in (pickle.loads(pickle.dumps(density)), copy.copy(density), copy.deepcopy(density)):
        assert copied.logp(q) == expected and copied.data.keys() == density.data.keys()
        copied.with_data(x=np.zeros(48))
        assert copied.logp(q) == density.logp(q) == expected


def test_data_is_an_input(packages):
    folder, told = packages
    density = precast.Density(folder / "hierarchical.precast")
    q = np.array(told["hierarchical"]["q"])
    near(density.with_data(x=np.arange(48) / 10).logp(q), told["hierarchical"]["moved"])
    smaller = density.with_data(x=np.zeros(3), by=[0, 5, 5])
    assert smaller.constrain(q)["mean"].shape == (3,) and smaller.predict(1, q)["y"].shape == (3,)
    assert density.constrain(q)["mean"].shape == (48,)
    with pytest.raises(precast.GraphValueError, match="has no data"):
        density.with_data(z=1)
    with pytest.raises(precast.CallError):
        density.with_data(x=np.zeros(3)).logp(q)


def test_a_second_export_has_the_same_bytes(packages):
    first, second = ((packages[0] / f"{name}.precast").read_bytes() for name in ("hierarchical", "again"))
    assert first == second


def test_the_description_names_what_the_model_has(packages):
    told = precast.Density(packages[0] / "hierarchical.precast").description
    spread = next(each for each in told["parameters"] if each["name"] == "spread")
    assert spread["unconstrained"] == {"name": "spread_log__", "shape": [], "transform": "log"}
    a = next(each for each in told["parameters"] if each["name"] == "a")
    assert a["dims"] == ["group"] and a["shape"] == [6] and told["coords"] == {"group": list("abcdef")}
    assert set(told["versions"]) == {"pymc", "pytensor"}
    missing = precast.Density(packages[0] / "missing.precast").description
    assert [each["name"] for each in missing["observed"]] == ["y_observed"]


def bridged(package):
    """Opens a package with BridgeStan's own client."""
    bridgestan = pytest.importorskip("bridgestan")
    built = os.environ.get("PRECAST_TEST_BUILT")
    if built is None:
        pytest.skip("PRECAST_TEST_BUILT names no built libraries")
    return bridgestan.StanModel(f"{built}/libprecast_bridgestan.so", {"precast.package": str(package)}, warn=False)


@pytest.mark.parametrize("name", NAMES)
def test_bridgestans_client_agrees(packages, name):
    model, density = bridged(packages[0] / f"{name}.precast"), precast.Density(packages[0] / f"{name}.precast")
    q = np.array(packages[1][name]["q"])
    assert model.param_unc_num() == density.dim
    value, gradient, hessian = model.log_density_hessian(q)
    assert (value, gradient.tolist()) == (density.logp(q), density.logp_and_grad(q)[1].tolist())
    assert np.array_equal(hessian, density.hessian(q)[2])
    assert model.log_density(q, jacobian=False) == precast.Density(packages[0] / f"{name}.precast", jacobian=False).logp(q)
    constrained, rng = density.constrain(q), model.new_rng(3)
    whole = model.param_constrain(q, include_tp=True, include_gq=True, rng=rng)
    parts = np.concatenate([np.ravel(value, order="F") for value in constrained.values()])
    assert np.array_equal(whole[: len(parts)], parts)
    assert len(whole) == len(model.param_names(include_tp=True, include_gq=True))
    near(model.param_unconstrain(model.param_constrain(q)), q, 1e-8)
    free = {each["name"]: constrained[each["name"]].tolist() for each in density.description["parameters"]}
    near(model.param_unconstrain_json(free), q, 1e-8)
    first = next(iter(free))
    start = model.param_initialize(rng, {first: free[first]})
    near(density.constrain(start)[first], free[first], 1e-8)
    assert np.isfinite(model.log_density(start))


def test_discrete_parameters_and_unknown_names_are_refused(world):
    pytest.importorskip("pymc")
    code = """
import pymc as pm, precast.pymc
with pm.Model() as model:
    pm.Poisson("n", pm.HalfNormal("s", 1))
for arguments in ({}, {"data": ["x"]}, {"entries": ["gradient"]}):
    try:
        precast.pymc.export(model if not arguments else other, "m.precast", **arguments)
    except precast.GraphValueError as error:
        print(error)
"""
    code = code.replace("for arguments", 'with pm.Model() as other:\n    pm.Normal("q1", 0, 1)\nfor arguments')
    lines = world.run("-c", code).splitlines()
    assert [line.split("`")[1] for line in lines if not line.startswith("hint")] == ["n", "x", "gradient"]


def test_what_a_model_cannot_have_is_left_out(world):
    pytest.importorskip("pymc")
    code = """
import warnings, numpy as np, pymc as pm, precast.pymc
with pm.Model() as model:
    mu = pm.Normal("mu", 0, 1)
    pm.CustomDist("y", mu, logp=lambda value, mu: -(value - mu) ** 2, observed=np.ones(3))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    exported = precast.pymc.export(model, "m.precast", isa="x86-64-v2")
print(sorted(exported.left_out), len([each for each in caught if "has no entry" in str(each.message)]))
density = precast.Density("m.precast")
q = np.array([0.5])
print(density.logp(q))
try:
    density.predict(1, q)
except precast.EntryError as error:
    print(error)
try:
    precast.pymc.export(model, "m.precast", entries=["predict"])
except Exception as error:
    print(type(error).__name__, error)
"""
    shown = world.run("-c", code).splitlines()
    assert shown[0] == "['predict', 'prior'] 2"
    near(float(shown[1]), -0.5 * 0.25 - 0.5 * np.log(2 * np.pi) - 3 * 0.25)
    assert "has no entry `predict`; available: " in shown[2] and "cannot be read" not in shown[2]
    assert shown[3].startswith("FreezeError")


#: Two data in another order than the model's, names that are not ASCII or reserved, coordinates that are not JSON, a matrix.
ODD = """
import numpy as np, pymc as pm, pytensor.tensor as pt, precast.pymc
with pm.Model(coords={"day": [0, 1, 2], "x": [1.5, np.nan]}) as model:
    a, b = pm.Data("a", 1.0), pm.Data("b", [4, 5])
    mean, other = pm.Normal("α", a, 1), pm.Normal("β", 0, 1, dims="x")
    scale, q = pm.Normal("s", 0, 1, initval=1.0), pm.Normal("q", 0, 1, shape=3)
    count = pm.Deterministic("count", pt.cast(q * 0 + 2, "int32"), dims="day")
    sums = pm.Deterministic("sums", b * mean)
    matrix = pm.Normal("m", 0, scale, shape=(2, 3))
precast.pymc.export(model, "odd.precast", isa="x86-64-v2", data=["b", "a"], entries=["log_density_gradient", "unconstrain"])
print(float(model.compile_logp(mode="FAST_COMPILE")(model.initial_point(random_seed=0))))
"""


def test_odd_models(world):
    pytest.importorskip("pymc")
    printed = float(world.run("-c", ODD, PRECAST_PYTENSOR="0", PYTENSOR_FLAGS="cxx="))
    density = precast.Density(world.path("odd.precast"))
    near(density.logp(density.initial()), printed)
    assert {name: value.tolist() for name, value in density.data.items()} == {"a": 1.0, "b": [4, 5]}
    assert len({each["port"] for each in density.description["parameters"]}) == 5
    assert density.description["coords"]["x"] == [1.5, "nan"]
    with pytest.raises(precast.CallError):
        density.logp(np.full(density.dim, -1.0))
    for wrong in ({"b": [1.5, 2]}, {"b": [2**40, 1]}, {"a": 1j}, {"a": np.ma.masked_equal([1.0], 1.0)}):
        with pytest.raises(precast.GraphValueError):
            density.with_data(**wrong)
    given = np.array([6, 7])
    changed = density.with_data(b=given)
    given[:] = 0
    changed.data["b"][:] = 0
    assert changed.constrain(density.initial())["sums"].tolist() == (np.array([6, 7]) * density.initial()[0]).tolist()
    for key in (-1, 1 << 64):
        with pytest.raises(precast.GraphValueError):
            density.uniform(key)


def test_nutpie_samples_odd_models(world):
    pytest.importorskip("pymc")
    nutpie = pytest.importorskip("nutpie")
    world.run("-c", ODD, PRECAST_PYTENSOR="0", PYTENSOR_FLAGS="cxx=")
    density = precast.Density(world.path("odd.precast"))
    for each, extent in ((density, 2), (density.with_data(b=np.arange(5)), 5)):
        draws = nutpie.sample(each.nutpie(), draws=20, tune=20, chains=1, progress_bar=False, seed=1).posterior
        assert draws["count"].dims[2:] == ("day",) and draws["q"].shape[2:] == (3,) and draws["sums"].shape[2:] == (extent,)


def test_bridged_names_follow_the_values(world):
    pytest.importorskip("pymc")
    world.run("-c", ODD, PRECAST_PYTENSOR="0", PYTENSOR_FLAGS="cxx=")
    model = bridged(world.path("odd.precast"))
    names, whole = model.param_unc_names(), model.param_names()
    q = np.arange(1.0, model.param_unc_num() + 1)
    values = dict(zip(whole, model.param_constrain(q), strict=True))
    # The model has no transforms.
    assert [values[name] for name in names] == q.tolist()


def test_the_examples_of_the_page_run(world):
    pytest.importorskip("pymc")
    for package in ("nutpie", "bridgestan"):
        pytest.importorskip(package)
    blocks = re.findall(r"^```(\w+)\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    shown = iter([text for kind, text in blocks if kind == "text"])
    for kind, text in blocks:
        if kind != "python":
            continue
        name = re.match(r"# (\S+)", text)[1]
        if name == "bridged.py":
            bridge(world)
        world.path(name).write_text(text)
        assert world.run(name) == next(shown), name


def bridge(world):
    """Runs `precast bridgestan` on the package of the page."""
    built = os.environ.get("PRECAST_TEST_BUILT")
    if built is None:
        pytest.skip("PRECAST_TEST_BUILT names no built libraries")
    command = [f"{built}/precast", "bridgestan", "model.precast"]
    subprocess.run(command, cwd=world.root, check=True, capture_output=True)
