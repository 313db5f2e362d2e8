"""PyMC models that are recorded and run without a compiler give the same log-densities, gradients and draws."""

import importlib.util
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(importlib.util.find_spec("pymc") is None, reason="PyMC is not installed"),
]


def test_pymc_models_replay_without_a_compiler(world):
    script, bundle = str(Path(__file__).parent / "models.py"), str(world.path("models.bundle"))
    printed = world.run("-m", "precast", "record", "-o", bundle, script)
    assert printed.count("eight_schools") + printed.count("logistic") + printed.count("varying_intercepts") == 3
    assert world.run("-m", "precast", "replay", bundle, script, compiler=False) == printed
