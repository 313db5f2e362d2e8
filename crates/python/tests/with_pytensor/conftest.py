"""Tests with PyTensor, which are skipped if it is not installed."""

import importlib.util
from pathlib import Path
from typing import Any

import pytest
from world import Recorded, World

MISSING = importlib.util.find_spec("pytensor") is None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker("pytensor")
            if MISSING:
                item.add_marker(pytest.mark.skip(reason="PyTensor is not installed: `cargo xtask python --pytensor`"))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Prints the messages that tests pass to `record_property("told", …)`: counts, and tests that cannot run."""
    told = [line for report in terminalreporter.getreports("passed") for name, line in report.user_properties if name == "told"]
    for line in told:
        terminalreporter.write_line(line)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path / "world")


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    return Recorded(World(tmp_path_factory.mktemp("recorded") / "world"))
