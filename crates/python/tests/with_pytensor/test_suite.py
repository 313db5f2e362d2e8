"""PyTensor's own tests of ops with C: with PyTensor alone, recorded, and replayed without a compiler.

``PYTENSOR_SOURCE`` names a source tree of the installed version or of a similar one; a file that cannot be imported fails in every pass.
The long run also uses the source distribution of the installed version. It contains a few test files, some of which import missing
modules. Counts, and tests that cannot run with the reasons, are printed after all tests.
"""

import collections
import importlib.metadata
import json
import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

SOURCE = os.environ.get("PYTENSOR_SOURCE")
SUITE = str(Path(__file__).parent / "suite.py")

#: The tests that always run.
SHARE = "tests/link/c/test_type.py tests/link/c/test_params_type.py tests/link/c/test_op.py tests/test_raise_op.py"
WHOLE = (
    "tests/link/c tests/link/test_vm.py tests/compile/test_ops.py tests/test_raise_op.py tests/tensor/test_elemwise.py "
    "tests/tensor/test_shape.py tests/tensor/test_subtensor.py tests/tensor/test_basic.py tests/tensor/test_blas.py "
    "tests/tensor/test_blas_c.py"
)
#: Some classes of `test_subtensor`, `test_basic` and `test_blas`, which take hours in full. `PYTENSOR_SUITE` selects other tests, like
#: pytest's `-k`. The tests of numba write to `compiledir`.
CHOSEN = os.environ.get(
    "PYTENSOR_SUITE",
    "link or test_ops or test_raise_op or test_elemwise or test_shape or test_blas_c or TestSubtensor or TestIncSubtensor or "
    "TestAdvancedIncSubtensor1 or TestAllocBroadcast or TestJoinAndSplit or TestMakeVector or TestGemm",
)
# The settings of PyTensor's conftest, which come too late after an import.
FLAGS = "linker=cvm,on_opt_error=raise,on_shape_error=raise,base_compiledir="
#: A directory that cannot be created, as on a read-only file system.
NOWHERE = FLAGS + "/proc/nowhere"

with_source = pytest.mark.skipif(not SOURCE, reason="PYTENSOR_SOURCE names no source tree of PyTensor")


def compare(world, source, files, chosen, least, tell):
    """Runs tests three times and checks that the outcomes are equal and the replay compiles nothing. Returns collection errors."""
    # Copy only the tests: next to them would be PyTensor's source, of another version than the installed one.
    for name in ("tests", "conftest.py"):
        if (source / name).exists():
            world.path(name).symlink_to(source.resolve() / name)
    # Skip the tests of PyTensor's own cache and compiler, which precast replaces.
    words = [*files.split(), "--deselect", "tests/link/c/test_cmodule.py", "-k", f"not numba and ({chosen})"]
    words += ["-q", "-p", "no:cacheprovider", f"--rootdir={world.root}", "-o", "pythonpath=."]
    bundle, stock = str(world.path("suite.bundle")), FLAGS + str(world.path("stock"))
    world.run(SUITE, "stock.json", *words, PYTENSOR_FLAGS=stock)
    world.run("-m", "precast", "record", "-o", bundle, SUITE, "recorded.json", *words, PYTENSOR_FLAGS=NOWHERE)
    world.run("-m", "precast", "replay", bundle, SUITE, "replayed.json", *words, compiler=False, PYTENSOR_FLAGS=NOWHERE)
    told = {name: json.loads(world.path(f"{name}.json").read_text()) for name in ("stock", "recorded", "replayed")}
    ended = {name: each["ended"] for name, each in told.items()}
    for name, each in told.items():
        counts = {key: each["stats"][key] for key in ("asked", "in_process", "served", "missed", "compiled")} if each["stats"] else {}
        tell("told", f"PyTensor's own tests, {name}: {dict(collections.Counter(ended[name].values()))} {counts or ''}".rstrip())
    assert list(ended["stock"].values()).count("passed") > least
    differ = {name: {test for test, end in ended["stock"].items() if ended[name].get(test) != end} for name in ended}
    if left := differ["recorded"] | differ["replayed"]:
        # Tests of `compiledir` also fail with PyTensor alone if the directory cannot be created.
        world.run(SUITE, "nowhere.json", *sorted(left), "-q", "-p", "no:cacheprovider", f"--rootdir={world.root}", "-o", "pythonpath=.", PYTENSOR_FLAGS=NOWHERE)
        nowhere = json.loads(world.path("nowhere.json").read_text())["ended"]
        for test in sorted(left):
            tell("told", f"  needs a directory that can be written, with PyTensor alone too: {test}")
        ended["stock"] |= nowhere
    for name in ("recorded", "replayed"):
        assert ended[name] == ended["stock"], (name, differ[name])
    assert told["stock"]["stats"] is None
    stats = told["replayed"]["stats"]
    assert stats["policy"] == "strict" and stats["compiled"] == stats["missed"] == 0 and not stats["aside"]
    return told["stock"]["why"]


@with_source
def test_selected_pytensor_tests_match_without_compiling(world, record_property):
    compare(world, Path(SOURCE), SHARE, "test", 15, record_property)


@with_source
@pytest.mark.long
def test_pytensor_test_suite_matches_without_compiling(world, record_property):
    compare(world, Path(SOURCE), WHOLE, CHOSEN, 0 if "PYTENSOR_SUITE" in os.environ else 100, record_property)


@pytest.mark.long
def test_source_distribution_tests_match_without_compiling(world, tmp_path, record_property):
    version = importlib.metadata.version("pytensor")
    download = ["download", "--quiet", "--disable-pip-version-check", "--no-binary", "pytensor", "--no-deps", "-d", str(tmp_path)]
    ended = subprocess.run([sys.executable, "-m", "pip", *download, f"pytensor=={version}"], capture_output=True, text=True)
    if ended.returncode != 0:
        pytest.skip(f"pip cannot download the source distribution of PyTensor {version}: {ended.stderr.strip()[-300:]}")
    (archive,) = tmp_path.glob("pytensor-*.tar.gz")
    with tarfile.open(archive) as opened:
        opened.extractall(tmp_path / "source", filter="data")
    (source,) = (tmp_path / "source").iterdir()
    files = sorted(path.relative_to(source).as_posix() for path in (source / "tests").rglob("test_*.py"))
    record_property("told", f"The source distribution of PyTensor {version} has {len(files)} files of tests")
    left = compare(world, source, "tests", "test", 10, record_property)
    for file, why in left.items():
        record_property("told", f"  cannot be run: {file}: {why}")
        # Only a missing module of the tests themselves.
        named = re.search(r"cannot import name '(\w+)' from '(tests[\w.]*)'|No module named '(tests[\w.]*)'", why)
        assert named, (file, why)
        module = source.joinpath(*(named[3] or f"{named[2]}.{named[1]}").split("."))
        assert not module.exists() and not module.with_suffix(".py").exists(), module
    assert set(left) <= set(files) and len(left) < len(files)
