"""Runs tests of PyTensor's source tree; writes how each ended into a file. Knows nothing of precast.

usage: suite.py OUTCOMES PYTEST_ARGUMENTS
"""

import json
import sys

import pytest


class Outcomes:
    """How each test ended."""

    def __init__(self) -> None:
        self.ended: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.outcome != "passed":
            self.ended[report.nodeid] = report.outcome


outcomes = Outcomes()
pytest.main(sys.argv[2:], plugins=[outcomes])
with open(sys.argv[1], "w") as file:
    json.dump(outcomes.ended, file)
