"""The bundle of `precast.toml`. `cargo xtask python` builds it and sets PRECAST_TEST_BUNDLE."""

import os
import tempfile
import time
from collections import defaultdict
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


# Of each file about PyTensor, JAX and other hosts, one test function in four runs, and of a function with more cases than these
# one case in six, unless `--all-cases` is given.
_MANY, _CASES, _FUNCTIONS = 6, 6, 4


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all-cases", action="store_true", help="run all cases of each function")


# Cases that were not selected by name or mark are gone already.
@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--all-cases"):
        return
    files = defaultdict(lambda: defaultdict(list))
    for item in items:
        if "/with_" in item.nodeid:
            files[item.path][item.nodeid.split("[")[0]].append(item)
    left = set()
    for functions in files.values():
        for at, cases in enumerate(functions.values()):
            every = _CASES if len(cases) > _MANY else 1
            left.update(item for position, item in enumerate(cases) if at % _FUNCTIONS or position % every)
    config.hook.pytest_deselected(items=list(left))
    items[:] = [item for item in items if item not in left]


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
