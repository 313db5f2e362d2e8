"""PyTensor's own tests for what has C: with PyTensor alone, recorded, and then with no compiler.

``PYTENSOR_SOURCE`` names a source tree of the version that is installed, or of one near it: a file that cannot be imported is one in
every pass. (The source distribution has none of these tests but one, and not the module which that imports.)
"""

import collections
import json
import os
from pathlib import Path

import pytest

SOURCE = os.environ.get("PYTENSOR_SOURCE")
SUITE = str(Path(__file__).parent / "suite.py")

#: What is asked in any case.
SHARE = "tests/link/c/test_type.py tests/link/c/test_params_type.py tests/link/c/test_op.py tests/test_raise_op.py"
WHOLE = (
    "tests/link/c tests/link/test_vm.py tests/compile/test_ops.py tests/test_raise_op.py tests/tensor/test_elemwise.py "
    "tests/tensor/test_shape.py tests/tensor/test_subtensor.py tests/tensor/test_basic.py tests/tensor/test_blas.py "
    "tests/tensor/test_blas_c.py"
)
#: Of `test_subtensor`, `test_basic` and `test_blas`, which take hours as a whole, some classes; `PYTENSOR_SUITE` names others, as
#: pytest's `-k` has it. numba's tests write to `compiledir`.
CHOSEN = os.environ.get(
    "PYTENSOR_SUITE",
    "link or test_ops or test_raise_op or test_elemwise or test_shape or test_blas_c or TestSubtensor or TestIncSubtensor or "
    "TestAdvancedIncSubtensor1 or TestAllocBroadcast or TestJoinAndSplit or TestMakeVector or TestGemm",
)
# What PyTensor's conftest sets, too late for a program that has imported it.
FLAGS = "linker=cvm,on_opt_error=raise,on_shape_error=raise,base_compiledir="
#: A directory that nobody can make or write to, as a file system that is read-only.
NOWHERE = FLAGS + "/proc/nowhere"

pytestmark = pytest.mark.skipif(not SOURCE, reason="PYTENSOR_SOURCE names no source tree of PyTensor")


def compare(world, files, chosen, least):
    """Runs tests three times; they end in the same way, and what is replayed compiles nothing."""
    assert SOURCE is not None
    # The tests alone: beside them would be PyTensor's source, of another version than what is installed.
    for name in ("tests", "conftest.py"):
        world.path(name).symlink_to(Path(SOURCE).resolve() / name)
    # Without those of PyTensor's own cache and compiler, whose places we take.
    words = [*files.split(), "--deselect", "tests/link/c/test_cmodule.py", "-k", f"not numba and ({chosen})"]
    words += ["-q", "-p", "no:cacheprovider", f"--rootdir={world.root}"]
    bundle, stock = str(world.path("suite.bundle")), FLAGS + str(world.path("stock"))
    world.run(SUITE, "stock.json", *words, PYTENSOR_FLAGS=stock)
    world.run("-m", "precast", "record", "-o", bundle, SUITE, "recorded.json", *words, PYTENSOR_FLAGS=NOWHERE)
    world.run("-m", "precast", "replay", bundle, SUITE, "replayed.json", *words, compiler=False, PYTENSOR_FLAGS=NOWHERE)
    told = {name: json.loads(world.path(f"{name}.json").read_text()) for name in ("stock", "recorded", "replayed")}
    ended = {name: each["ended"] for name, each in told.items()}
    for name, each in told.items():
        counts = {key: each["stats"][key] for key in ("asked", "in_process", "served", "missed", "compiled")} if each["stats"] else {}
        print(name, dict(collections.Counter(ended[name].values())), counts)
    assert list(ended["stock"].values()).count("passed") > least
    for name in ("recorded", "replayed"):
        differ = {test: (end, ended[name].get(test)) for test, end in ended["stock"].items() if ended[name].get(test) != end}
        assert not differ and len(ended[name]) == len(ended["stock"]), (name, differ)
    assert told["stock"]["stats"] is None
    stats = told["replayed"]["stats"]
    assert stats["policy"] == "strict" and stats["compiled"] == stats["missed"] == 0 and not stats["aside"]


def test_a_share_of_pytensors_own_tests_ends_as_with_pytensor_alone_and_nothing_is_compiled(world):
    compare(world, SHARE, "test", least=15)


@pytest.mark.long
def test_pytensors_own_tests_end_as_with_pytensor_alone_and_nothing_is_compiled(world):
    compare(world, WHOLE, CHOSEN, least=0 if "PYTENSOR_SUITE" in os.environ else 100)
