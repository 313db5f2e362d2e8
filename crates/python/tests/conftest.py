"""The bundle of `precast.toml`. `cargo xtask python` builds it and sets PRECAST_TEST_BUNDLE."""

import os
import tempfile
import time
from pathlib import Path

# Tests use their own cache, separate from the user's cache.
_CACHE = tempfile.TemporaryDirectory(prefix="precast-tests-")
os.environ["PRECAST_CACHE"] = _CACHE.name
os.environ.pop("PRECAST_STORE", None)
os.environ.pop("PRECAST_KEYRING", None)

import precast  # noqa: E402
import pytest  # noqa: E402
from elsewhere import Elsewhere  # noqa: E402


# Long runs have a time limit. Tests that would start after it are skipped.
_SECONDS = os.environ.get("PRECAST_TEST_SECONDS")
_END = time.monotonic() + float(_SECONDS) if _SECONDS else None


def pytest_runtest_setup(item: pytest.Item) -> None:
    if _END is not None and time.monotonic() > _END:
        pytest.skip("the time limit of PRECAST_TEST_SECONDS is exceeded")


@pytest.fixture(scope="session")
def bundle() -> Path:
    return Path(os.environ["PRECAST_TEST_BUNDLE"])


@pytest.fixture(scope="session")
def model(bundle: Path) -> precast.Model:
    return precast.load(bundle)


@pytest.fixture(scope="session")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Elsewhere:
    return Elsewhere(tmp_path_factory.mktemp("elsewhere"))
