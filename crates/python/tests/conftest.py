"""The bundle of `precast.toml`, which `cargo xtask python` builds and names in PRECAST_TEST_BUNDLE."""

import os
import tempfile
from pathlib import Path

# What tests compile is kept apart from what the user has.
_CACHE = tempfile.TemporaryDirectory(prefix="precast-tests-")
os.environ["PRECAST_CACHE"] = _CACHE.name
os.environ.pop("PRECAST_STORE", None)

import precast  # noqa: E402
import pytest  # noqa: E402


@pytest.fixture(scope="session")
def bundle() -> Path:
    return Path(os.environ["PRECAST_TEST_BUNDLE"])


@pytest.fixture(scope="session")
def model(bundle: Path) -> precast.Model:
    return precast.load(bundle)
