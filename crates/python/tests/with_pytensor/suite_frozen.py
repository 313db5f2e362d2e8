"""Runs tests of PyTensor's source tree, and freezes every function that they call. Writes what was found to a file.

usage: suite_frozen.py FOUND PYTEST_ARGUMENTS

Each of the first calls of a function also calls the frozen one, with copies of the inputs and shared variables, and compares the results.
"""

import collections
import copy
import json
import os
import sys
import warnings

os.environ["PRECAST_PYTENSOR"] = "0"

import numpy as np
import precast.pytensor
import pytensor
import pytest

#: The number of calls of a function that are compared.
CALLS = 3

#: The settings of `freeze`, in the order in which they are tried.
HOW = {
    "as one graph": {},
    "with `python=True`": {"python": True},
    'with `random="counter"`, in dtype and shape': {"python": True, "random": "counter"},
}
KEY = np.array([0, 42], np.uint32)

#: The test that runs.
test = ""
found = {"equal": collections.Counter(), "raised": collections.Counter(), "refused": collections.Counter(), "different": []}


class Compared:
    """The thunks of a function, which also call the frozen function."""

    def __init__(self, function):
        self._function, self._vm, self._left, self._how = function, function.vm, CALLS, ""

    def __getattr__(self, name):
        return getattr(self._vm, name)

    def __call__(self, *args, **settings):
        if self._left == 0 or settings or args:
            return self._vm(*args, **settings)
        self._left -= 1
        ours = self._frozen()
        try:
            made = self._vm()
        except Exception as error:
            if isinstance(ours, (Exception, tuple)):
                kind = "refused" if isinstance(ours, precast.FreezeError) else "raised"
                found["raised"][kind] += 1
                if isinstance(ours, tuple):
                    found["different"].append(f"{test}: PyTensor raises {type(error).__name__}: {str(error)[:200]}")
            raise
        if isinstance(ours, precast.FreezeError):
            for line in str(ours).splitlines()[1:] or [str(ours)]:
                if not line.strip().startswith("hint"):
                    found["refused"][reason(line)] += 1
            return made
        outputs = [each.storage[0] for each in self._function.output_storage] if made is None else made
        self._compare(ours, outputs)
        return made

    def _frozen(self):
        """Returns the results of the frozen function, in the order of PyTensor's outputs, or its error."""
        fn, fgraph = self._function, self._function.maker.fgraph
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                ours = self._freeze().function(policy="interpret")
            is_kept = lambda variable: not (self._has_key and is_generator(variable))  # noqa: E731
            held = set(fgraph.update_mapping.values())
            free = [at for at, own in enumerate(fn.maker.inputs) if not own.shared and at not in held and is_kept(fgraph.inputs[at])]
            given = [copy.deepcopy(fn.input_storage[at].storage[0]) for at in free]
            made = ours(*([KEY] if self._has_key else []), *given)
            rest = iter(made if isinstance(made, tuple) else () if made is None else (made,))
            stated = iter(ours.state.values()) if hasattr(ours, "state") else iter(())
            state = {at: next(stated) for at in sorted(held) if is_kept(fgraph.inputs[at])}
            return tuple(
                None if not is_kept(output) else state[fgraph.update_mapping[at]] if at in fgraph.update_mapping else next(rest)
                for at, output in enumerate(fgraph.outputs)
            )
        except Exception as error:
            return error

    @property
    def _has_key(self):
        return "random" in HOW[self._how]

    def _freeze(self):
        """Freezes the function: as one graph, or with calls of Python between graphs."""
        refusals = []
        for self._how, settings in HOW.items():
            try:
                return precast.pytensor.freeze(self._function, **settings)
            except precast.FreezeError as error:
                refusals.append(error)
        raise refusals[1]

    def _compare(self, ours, theirs):
        try:
            if isinstance(ours, Exception):
                raise AssertionError(f"{type(ours).__name__}: {ours}")
            for at, (one, other) in enumerate(zip(ours, theirs, strict=True)):
                if isinstance(other, np.random.Generator) and self._has_key:
                    continue
                if isinstance(other, np.random.Generator):
                    assert one.bit_generator.state == other.bit_generator.state, f"generator {at}"
                    continue
                one, other = np.asarray(one), np.asarray(other)
                assert (one.dtype, one.shape) == (other.dtype, other.shape), f"{at}: {one.dtype}{one.shape}, {other.dtype}{other.shape}"
                if self._has_key:
                    continue
                near = 1e-4 if one.dtype.itemsize <= 4 and one.dtype.kind == "f" else 1e-9
                assert np.allclose(one, other, rtol=near, atol=near, equal_nan=True), f"{at}: {one}, {other}"
            found["equal"][self._how] += 1
        except Exception as error:
            found["different"].append(f"{test}: {str(error)[:600]}")


def is_generator(variable):
    return type(variable.type).__name__ == "RandomGeneratorType"


def reason(line):
    """Returns the op and the reason of a refusal, without types."""
    apply, _, why = line.strip().partition("`: ")
    return f"{apply.lstrip('`').partition('(')[0].partition('{')[0]}: {why}" if why else line.strip()[:120]


def compared(original):
    def function(*args, **settings):
        made = original(*args, **settings)
        if hasattr(made, "vm") and not isinstance(made.vm, Compared):
            made.vm = Compared(made)
        return made

    return function


class Named:
    """Notes the test that runs, and the outcomes of tests."""

    def __init__(self):
        self.ended = {}

    def pytest_runtest_setup(self, item):
        global test
        test = item.nodeid

    def pytest_collectreport(self, report):
        if report.failed:
            self.ended[report.nodeid] = report.longreprtext.strip().splitlines()[-1]

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.outcome != "passed":
            self.ended[report.nodeid] = report.outcome


original = pytensor.function
for module in list(sys.modules.values()):
    if getattr(module, "function", None) is original:
        module.function = compared(original)
named = Named()
pytest.main(["--continue-on-collection-errors", *sys.argv[2:]], plugins=[named])
with open(sys.argv[1], "w") as file:
    json.dump({**found, "ended": named.ended}, file)
