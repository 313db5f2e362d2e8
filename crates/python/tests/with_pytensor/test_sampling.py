"""The Rust sampler of `crates/density/examples/sampling`: the reference posterior of eight schools, and the parameters of a regression.

It has a workspace of its own, which takes minutes to compile.
"""

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

EXAMPLE = Path(__file__).parents[3] / "density/examples/sampling"

#: Means and standard deviations of the non-centered eight schools by long runs of Stan and PyMC.
EIGHT = {"mu": (4.4, 3.3), "tau": (3.6, 3.2)}

EXPORT = """
import numpy as np, pymc as pm, precast.pymc
with pm.Model(coords={"school": list("ABCDEFGH")}) as eight:
    mu, tau = pm.Normal("mu", 0, 5), pm.HalfCauchy("tau", 5)
    theta = pm.Deterministic("theta", mu + tau * pm.Normal("eta", 0, 1, dims="school"), dims="school")
    effect, error = [28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0], [15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0]
    pm.Normal("obs", theta, np.array(error), observed=np.array(effect))
precast.pymc.export(eight, "eight.precast", isa="x86-64-v2")
# As the radon data: houses in counties, with and without a basement.
r = np.random.default_rng(1)
county, floor = r.integers(0, 40, 900), r.integers(0, 2, 900).astype(float)
level = 1.5 + 0.3 * r.normal(size=40)
y = level[county] - 0.7 * floor + 0.75 * r.normal(size=900)
with pm.Model(coords={"county": range(40)}) as radon:
    a = pm.Normal("a", pm.Normal("centre", 0, 10), pm.HalfNormal("spread", 1), dims="county")
    pm.Normal("y", a[county] + pm.Normal("b", 0, 10) * floor, pm.HalfNormal("noise", 1), observed=y)
precast.pymc.export(radon, "radon.precast", isa="x86-64-v2")
"""


@pytest.mark.long
def test_the_rust_sampler_finds_the_posteriors(world):
    pytest.importorskip("pymc")
    arviz, xarray = pytest.importorskip("arviz"), pytest.importorskip("xarray")
    pytest.importorskip("zarr")
    built = os.environ.get("PRECAST_TEST_BUILT")
    if built is None or not shutil.which("cargo"):
        pytest.skip("PRECAST_TEST_BUILT names no built libraries, or Cargo is not installed")
    world.run("-c", EXPORT)
    target = Path(built).parent / "sampling"
    command = ["cargo", "build", "--quiet", "--release", "--locked", "--manifest-path", str(EXAMPLE / "Cargo.toml")]
    subprocess.run(command, env=os.environ | {"CARGO_TARGET_DIR": str(target)}, check=True, timeout=3000)
    posteriors = {}
    for name, draws in (("eight", "4000"), ("radon", "1000")):
        # A directory without Python, and no environment.
        sampler = [str(target / "release/precast-sampling"), f"{name}.precast", f"{name}.zarr", "--draws", draws]
        ended = subprocess.run(sampler, env={}, cwd=world.root, capture_output=True, text=True, timeout=600)
        assert ended.returncode == 0, ended.stderr
        posteriors[name] = xarray.open_datatree(world.path(f"{name}.zarr"), engine="zarr", consolidated=False)["posterior"].to_dataset().load()
        rhat = arviz.rhat(posteriors[name])
        assert all(float(np.max(rhat[variable])) < 1.01 for variable in rhat.data_vars), rhat
    eight, radon = posteriors["eight"], posteriors["radon"]
    assert eight["theta"].dims == ("chain", "draw", "school") and eight["school"].values.tolist() == list("ABCDEFGH")
    for variable, (mean, deviation) in EIGHT.items():
        assert abs(float(eight[variable].mean()) - mean) < 0.3 and abs(float(eight[variable].std()) - deviation) < 0.3, variable
    for variable, true in (("centre", 1.5), ("spread", 0.3), ("b", -0.7), ("noise", 0.75)):
        assert abs(float(radon[variable].mean()) - true) < 4 * float(radon[variable].std()), variable
    refused = subprocess.run([*sampler], env={}, cwd=world.root, capture_output=True, text=True)
    assert refused.returncode == 1 and "exists" in refused.stderr
