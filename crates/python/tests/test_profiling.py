"""Modules in a profiler: perf names the graph and its expression, with the interpreter as the caller."""

import shutil
import subprocess
import sys
from pathlib import Path

import precast
import pytest

_PROGRAM = """\
import numpy as np, precast
score = precast.function("x: f64[?]", "sum(exp(-x * x) * sin(x))", name="score", policy="jit")
x = np.full(200_000, 0.5)
for _ in range(300):
    score(x)
"""


def test_modules_of_a_profiling_directory_have_names(bundle, tmp_path):
    directory = tmp_path / "modules"
    try:
        precast.set_profiling(directory)
        score = precast.load(bundle).score
        files = [file.name for file in directory.iterdir()]
        assert len(files) == 1 and files[0].startswith("precast-score-")
        assert str(directory / files[0]) in Path("/proc/self/maps").read_text()
        precast.set_profiling(None)
        again = precast.load(bundle)
        assert again.score.inputs == score.inputs
        assert len(list(directory.iterdir())) == 1
    finally:
        precast.set_profiling(None)
    with pytest.raises(TypeError):
        precast.set_profiling(1)


def _stacks(directory: Path) -> list[list[str]]:
    """Runs the program under perf, and returns the names of each sample's frames, innermost first."""
    program = directory / "score.py"
    program.write_text(_PROGRAM)
    environment = {"PATH": "/usr/bin:/bin", "PRECAST_PROFILING": str(directory / "modules")}
    environment["PRECAST_CACHE"] = str(directory / "cache")
    environment["PYTHONPATH"] = str(Path(precast.__file__).parent.parent)
    record = ["perf", "record", "-q", "-e", "cpu-clock", "-F", "500", "--call-graph", "dwarf,65528", "-o", "perf.data"]
    recorded = subprocess.run([*record, sys.executable, program], cwd=directory, env=environment, capture_output=True, text=True)
    if recorded.returncode or not (directory / "perf.data").is_file():
        pytest.skip(f"perf records nothing: {recorded.stderr}")
    script = ["perf", "script", "-i", "perf.data", "--no-inline", "-F", "ip,sym"]
    text = subprocess.run(script, cwd=directory, check=True, capture_output=True, text=True).stdout
    frames = [[line.split(maxsplit=1) for line in stack.splitlines()] for stack in text.split("\n\n")]
    return [[frame[1] for frame in stack if len(frame) == 2] for stack in frames]


@pytest.mark.skipif(shutil.which("perf") is None, reason="needs perf")
def test_perf_names_ops_below_the_interpreter(tmp_path):
    op = "score: sum(exp(neg(x) * x) * sin(x)) ["
    with_op = [stack for stack in _stacks(tmp_path) if any(frame.startswith(op) for frame in stack)]
    # A stripped interpreter has callers without names.
    assert any(len(stack) - [frame.startswith(op) for frame in stack].index(True) > 5 for stack in with_op), with_op[:1]
