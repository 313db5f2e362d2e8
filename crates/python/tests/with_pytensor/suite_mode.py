"""Runs tests of PyTensor's source tree in a mode. Writes the outcome of each test, and how many Applies graphs of precast computed, to a file.

usage: suite_mode.py FOUND MODE PYTEST_ARGUMENTS

The mode is `PRECAST`, or `REFERENCE`: the same rewrites, and PyTensor's own thunks in Python.
"""

import collections
import json
import sys

import precast.pytensor
import pytensor
import pytest
from precast.pytensor import _linker
from pytensor.compile.mode import Mode

MODES = {
    "PRECAST": precast.pytensor.mode(),
    "REFERENCE": Mode(linker="vm", optimizer=precast.pytensor.mode().provided_optimizer),
}
pytensor.config.mode = MODES[sys.argv[2]]
counts: collections.Counter[str] = collections.Counter()


class Counting(_linker.PrecastLinker):
    """The linker of the mode, which also counts Applies."""

    def make_all(self, *args, **settings):
        made = super().make_all(*args, **settings)
        for part in self.parts:
            counts["precast" if part.reason is None else "PyTensor"] += len(part.nodes)
        return made


class Outcomes:
    """The outcome of each test with its last line, and each file that could not be read."""

    def __init__(self) -> None:
        self.ended: dict[str, str] = {}
        self.why: dict[str, str] = {}

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._add(report, "not collected")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.outcome != "passed":
            self._add(report, report.outcome)

    def _add(self, report, outcome: str) -> None:
        self.ended[report.nodeid] = outcome
        if outcome != "passed":
            self.why[report.nodeid] = "\n".join(report.longreprtext.strip().splitlines()[-6:])


outcomes = Outcomes()
MODES["PRECAST"].linker.__class__ = Counting
pytest.main(["--continue-on-collection-errors", *sys.argv[3:]], plugins=[outcomes])
with open(sys.argv[1], "w") as file:
    json.dump({"ended": outcomes.ended, "why": outcomes.why, "counts": counts}, file)
