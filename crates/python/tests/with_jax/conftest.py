"""Tests with JAX, which are skipped if it is not installed."""

import importlib.util
import os
from pathlib import Path

import pytest

MISSING = importlib.util.find_spec("jax") is None

os.environ.setdefault("JAX_PLATFORMS", "cpu")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents and MISSING:
            item.add_marker(pytest.mark.skip(reason="JAX is not installed"))


if not MISSING:
    import jax

    # Arguments select the precision in most tests.
    jax.config.update("jax_enable_x64", True)
