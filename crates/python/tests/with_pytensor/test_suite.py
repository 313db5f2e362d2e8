"""PyTensor's own tests for what has C: with PyTensor alone, recorded, and then with no compiler."""

import collections
import json
import os
from pathlib import Path

import pytest

SOURCE = os.environ.get("PYTENSOR_SOURCE")
SUITE = str(Path(__file__).parent / "suite.py")

FILES = (
    "tests/link/c tests/link/test_vm.py tests/compile/test_ops.py tests/tensor/test_elemwise.py tests/tensor/test_shape.py "
    "tests/test_raise_op.py"
)
# Those of PyTensor's own cache and compiler, whose places we take; and numba's, which writes to `compiledir`.
WITHOUT = "--deselect tests/link/c/test_cmodule.py -k not(numba)"
# What PyTensor's conftest sets, too late for a program that has imported it.
FLAGS = "linker=cvm,on_opt_error=raise,on_shape_error=raise,base_compiledir="

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not SOURCE, reason="PYTENSOR_SOURCE names no source tree of PyTensor"),
]


def test_pytensors_own_tests_end_as_with_pytensor_alone_and_nothing_is_compiled(world):
    assert SOURCE is not None
    # The tests alone: beside them would be PyTensor's source, of another version than what is installed.
    for name in ("tests", "conftest.py"):
        world.path(name).symlink_to(Path(SOURCE).resolve() / name)
    words = [*FILES.split(), *WITHOUT.split(), "-q", "-p", "no:cacheprovider", f"--rootdir={world.root}"]
    bundle, stock = str(world.path("suite.bundle")), FLAGS + str(world.path("stock"))
    world.run(SUITE, "stock.json", *words, PYTENSOR_FLAGS=stock)
    world.run("-m", "precast", "record", "-o", bundle, SUITE, "recorded.json", *words, PYTENSOR_FLAGS=FLAGS + "/proc/nowhere")
    world.run(
        "-m", "precast", "replay", bundle, SUITE, "replayed.json", *words, compiler=False, PYTENSOR_FLAGS=FLAGS + "/proc/nowhere"
    )
    ended = {name: json.loads(world.path(f"{name}.json").read_text()) for name in ("stock", "recorded", "replayed")}
    for name, outcomes in ended.items():
        print(name, dict(collections.Counter(outcomes.values())))
    assert len(ended["stock"]) > 100
    assert ended["stock"] == ended["recorded"] == ended["replayed"]
