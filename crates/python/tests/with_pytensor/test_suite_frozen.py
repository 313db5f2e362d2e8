"""PyTensor's own tests of Scan and IfElse: every function that they call is frozen, and gives equal results or a known refusal.

``PYTENSOR_SOURCE`` names a source tree of PyTensor. The source distributions have no tests of Scan, and only some have those of IfElse.
"""

import collections
import json
import os
import re
from pathlib import Path

import pytest

SOURCE = os.environ.get("PYTENSOR_SOURCE")
SUITE = str(Path(__file__).parent / "suite_frozen.py")
FILES = ("tests/scan", "tests/test_ifelse.py")
#: The reasons why some functions of these tests are refused.
KNOWN = (
    "precast has no batched `Scan`",
    # Branches of sparse matrices and of other objects, and ops that the tests define in Python.
    "a result is not an array",
    "precast has no op for it",
)


@pytest.mark.long
@pytest.mark.skipif(not SOURCE, reason="PYTENSOR_SOURCE names no source tree of PyTensor")
def test_functions_of_pytensors_loops_and_branches_match(world, record_property):
    source = Path(SOURCE).resolve()
    for name in ("tests", "conftest.py"):
        world.path(name).symlink_to(source / name)
    words = [*FILES, "-q", "-p", "no:cacheprovider", f"--rootdir={world.root}", "-o", "pythonpath=."]
    flags = f"cxx=,linker=vm,on_opt_error=raise,base_compiledir={world.path('compiledir')}"
    world.run(SUITE, "found.json", *words, PYTENSOR_FLAGS=flags)
    found = json.loads(world.path("found.json").read_text())
    ended, equal, refused = found["ended"], found["equal"], found["refused"]
    # A test may fail with PyTensor alone, for example because NumPy is newer.
    different = [each for each in found["different"] if ended.get(each.partition(": ")[0]) == "passed"]
    record_property("told", f"PyTensor's tests of Scan and IfElse: {dict(collections.Counter(ended.values()))}")
    record_property("told", f"  calls of frozen functions with equal results: {equal}")
    record_property("told", f"  calls that raise in PyTensor: {found['raised']}")
    for why, count in sorted(refused.items()):
        record_property("told", f"  refused ({count} times): {why}")
    assert not different, "\n".join(different)
    assert sum(equal.values()) > 200
    assert all(any(re.search(known, why) for known in KNOWN) for why in refused), refused
