"""PyTensor's own tests of ops in mode `PRECAST`, which have the outcomes that they have with PyTensor's own thunks.

``PYTENSOR_SOURCE`` names a source tree of the installed version or of a similar one. Functions are interpreted: compiled graphs have the
same bits, and thousands of small ones would be compiled for hours.
"""

import collections
import json
import os
from pathlib import Path

import pytest

SOURCE = os.environ.get("PYTENSOR_SOURCE")
SUITE = str(Path(__file__).parent / "suite_mode.py")
FILES = [f"tests/tensor/test_{name}.py" for name in ("elemwise", "shape", "subtensor", "math", "basic", "blas")]
#: Tests with another outcome, with the reason. The list may only shrink.
KNOWN = {
    f"tests/tensor/test_subtensor.py::TestSubtensor::test_advanced1_inc_runtime_broadcast[{name}]": "the message has other words"
    for name in ("advanced_inc_subtensor1", "advanced_set_subtensor1")
}


@pytest.mark.long
@pytest.mark.skipif(not SOURCE, reason="PYTENSOR_SOURCE names no source tree of PyTensor")
def test_tests_of_ops_end_as_with_pytensors_thunks(world, record_property):
    source = Path(SOURCE).resolve()
    for name in ("tests", "conftest.py"):
        world.path(name).symlink_to(source / name)
    words = [*FILES, "-k", "not numba and not jax and not benchmark", "-q", "-p", "no:cacheprovider"]
    words += [f"--rootdir={world.root}", "-o", "pythonpath=."]
    found = {}
    for mode in ("REFERENCE", "PRECAST"):
        flags = f"cxx=,on_opt_error=raise,base_compiledir={world.path('compiledir')}"
        settings = {"PYTENSOR_FLAGS": flags, "PRECAST_POLICY": "interpret", "PRECAST_PYTENSOR": "0"}
        world.run(SUITE, f"{mode}.json", mode, *words, **settings)
        found[mode] = json.loads(world.path(f"{mode}.json").read_text())
        record_property("told", f"PyTensor's tests of ops, {mode}: {dict(collections.Counter(found[mode]['ended'].values()))}")
    counts = found["PRECAST"]["counts"]
    record_property("told", f"  Applies of their functions: {counts}")
    ended = {mode: each["ended"] for mode, each in found.items()}
    differ = {test for test, end in ended["REFERENCE"].items() if ended["PRECAST"].get(test) != end}
    for test in sorted(differ):
        record_property("told", f"  {test}: {ended['REFERENCE'][test]}, here {ended['PRECAST'].get(test)}")
    # The tests may be of another version than the installed one, and fail there in any mode.
    known = {test for test in KNOWN if ended["REFERENCE"].get(test) == "passed"}
    whys = "\n".join(f"{test}\n{found['PRECAST']['why'].get(test)}" for test in sorted(differ - known))
    assert differ == known, whys
    assert counts["precast"] > counts["PyTensor"] and list(ended["PRECAST"].values()).count("passed") > 500
