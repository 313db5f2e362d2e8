"""Models of flax, equinox, NumPyro and JAX are saved, called with NumPy alone and from Rust, and equal to JAX."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("jax")
import jax  # noqa: E402
import numpy as np  # noqa: E402
import precast.jax  # noqa: E402
from jax_frozen import compare  # noqa: E402
from jax_models import MODELS  # noqa: E402

#: Calls the function of a bundle in a process without JAX.
CALL = """
import pickle, sys
for name in ("jax", "jaxlib", "flax", "equinox", "numpyro"):
    sys.modules[name] = None
import precast
model = precast.load("model.precast")
with open("arguments.pickle", "rb") as file:
    arguments = pickle.load(file)
is_nested = "precast.structure" in model.metadata("model")["json"]
made = precast.Structured.load(model, "model")(*arguments) if is_nested else model.model(*arguments)
with open("results.pickle", "wb") as file:
    pickle.dump(made, file)
"""

#: The largest error, in units of the dtype's: networks sum many products.
NEAR = {"mlp": 10, "transformer": 10, "cnn": 10, "training_step": 20, "density": 10, "kalman": 100}


def saved(name: str, folder: Path) -> tuple:
    """Writes the bundle of a model. Returns the function and its arguments."""
    fn, arguments, specs = MODELS[name]()
    precast.jax.freeze(fn, *specs, path=folder / "model.precast", name="model", isa="x86-64-v2")
    return fn, arguments


@pytest.mark.parametrize("name", MODELS)
def test_models_run_without_jax(tmp_path, name):
    fn, arguments = saved(name, tmp_path)
    with (tmp_path / "arguments.pickle").open("wb") as file:
        pickle.dump(jax.tree.map(np.asarray, arguments), file)
    ended = subprocess.run([sys.executable, "-c", CALL], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stderr
    with (tmp_path / "results.pickle").open("rb") as file:
        made = pickle.load(file)
    compare(made, jax.jit(fn)(*arguments), near=NEAR[name])


@pytest.mark.parametrize("name", MODELS)
def test_models_run_from_rust(tmp_path, name):
    """`precast run` is a Rust program: it calls the model without Python, without a compiler, and under `strict`."""
    built = os.environ.get("PRECAST_TEST_BUILT")
    if built is None:
        pytest.skip("PRECAST_TEST_BUILT names no built programs")
    fn, arguments = saved(name, tmp_path)
    words = [f"{built}/precast", "run", "--entry", "model", "--bundle", "model.precast", "--policy", "strict", "-o", "results.npz"]
    for at, argument in enumerate(jax.tree.leaves(arguments)):
        np.save(tmp_path / f"{at}.npy", np.asarray(argument))
        words += ["-i", f"{at}={at}.npy"]
    # An empty environment: no Python, no compiler, no cache of the user.
    ended = subprocess.run(words, cwd=tmp_path, env={}, capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stderr
    results = np.load(tmp_path / "results.npz")
    made = [results[output.name] for output in precast.load(tmp_path / "model.precast")["model"].outputs]
    compare(made, jax.tree.leaves(jax.jit(fn)(*arguments)), near=NEAR[name])


def test_density_runs_from_c_and_rust(tmp_path, elsewhere):
    fn, (start,), _ = MODELS["density"]()

    def flat(point):
        value, slopes = fn({"mu": point[0], "tau": point[1], "theta": point[2:]})
        return value, jax.numpy.concatenate([jax.numpy.atleast_1d(slopes[name]) for name in ("mu", "tau", "theta")])

    point = np.concatenate([np.ravel(start[name]) for name in ("mu", "tau", "theta")])
    path = str(tmp_path / "flat.precast")
    precast.jax.freeze(flat, "f64[10]", path=path, name="flat", isa="x86-64-v2")
    ours = [np.atleast_1d(each).tolist() for each in precast.load(path).flat(point)]
    compare(tuple(map(np.array, ours)), tuple(np.atleast_1d(each) for each in jax.jit(flat)(point)), near=10)
    assert elsewhere.call(path, "flat", point.tolist()) == [ours, ours]


def test_called_model_matches_jax():
    fn, arguments, specs = MODELS["density"]()
    value = precast.jax.freeze(lambda point: fn(point)[0], *specs, name="density")
    called = precast.jax.call(value, gradient=precast.jax.freeze(fn, *specs, name="density_gradient"))
    compare(jax.grad(called)(*arguments), fn(*arguments)[1], near=10)
