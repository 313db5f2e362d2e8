"""The bundle of `precast.toml`, which `cargo xtask python` builds and names in PRECAST_TEST_BUNDLE."""

import os
from pathlib import Path

import precast
import pytest


@pytest.fixture(scope="session")
def bundle() -> Path:
    return Path(os.environ["PRECAST_TEST_BUNDLE"])


@pytest.fixture(scope="session")
def model(bundle: Path) -> precast.Model:
    return precast.load(bundle)
