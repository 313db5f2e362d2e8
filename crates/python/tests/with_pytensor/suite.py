"""Runs tests of PyTensor's source tree. Writes the outcome of each test, and the statistics of precast if used, to a file.

usage: suite.py OUTCOMES PYTEST_ARGUMENTS
"""

import json
import sys

import pytest


class Outcomes:
    """The outcome of each test, and each file that could not be read."""

    def __init__(self) -> None:
        self.ended: dict[str, str] = {}
        self.why: dict[str, str] = {}

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.ended[report.nodeid] = "not collected"
            self.why[report.nodeid] = report.longreprtext.strip().splitlines()[-1].removeprefix("E").strip()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.outcome != "passed":
            self.ended[report.nodeid] = report.outcome


outcomes = Outcomes()
pytest.main(["--continue-on-collection-errors", *sys.argv[2:]], plugins=[outcomes])
beneath = sys.modules.get("precast.pytensor")
with open(sys.argv[1], "w") as file:
    json.dump({"ended": outcomes.ended, "why": outcomes.why, "stats": beneath and beneath.stats()}, file)
