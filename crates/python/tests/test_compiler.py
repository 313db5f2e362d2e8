"""Compiling where PATH is empty, with the zig of the package `ziglang`: `pip install precast[compiler]`."""

import importlib.util
import os
import subprocess
import sys

import pytest

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(importlib.util.find_spec("ziglang") is None, reason="no zig: `pip install ziglang`"),
]


def bare(tmp_path, *arguments):
    """Runs Python in this environment without any program on PATH, and returns what it prints."""
    empty = tmp_path / "empty"
    empty.mkdir(exist_ok=True)
    clean = {"PATH": str(empty), "PRECAST_CACHE": str(tmp_path / "cache"), "HOME": str(tmp_path), "PYTHONPATH": ":".join(sys.path)}
    ran = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, env=clean, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_functions_are_compiled(tmp_path):
    code = (
        "import numpy as np, precast\n"
        "f = precast.function('x: f64[?]', 'out = tanh(x) * 3', policy='jit')\n"
        "print(f(np.linspace(-1, 1, 9)).tobytes().hex())"
    )
    by_zig = bare(tmp_path, "-c", code)
    # The same bits as from the compiler of this machine.
    here = dict(os.environ, PRECAST_CACHE=str(tmp_path / "other"))
    assert by_zig == subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=here).stdout


def test_bundles_are_saved(tmp_path):
    code = (
        "import numpy as np, precast\n"
        "x = precast.input('x', 'f64[?]')\n"
        "precast.save('model.precast', {'score': precast.graph([x], {'out': np.sum(np.exp(-x * x))})})\n"
        "print(precast.load('model.precast').score(np.zeros(4)))"
    )
    assert bare(tmp_path, "-c", code) == "4.0\n"


def test_command_line_finds_the_bundled_compiler(tmp_path):
    told = bare(tmp_path, "-m", "precast", "doctor")
    assert "compiler   zig 0." in told and "installed  " in told


def test_pytensor_is_recorded_and_replayed(tmp_path):
    if importlib.util.find_spec("pytensor") is None:
        pytest.skip("no PyTensor")
    (tmp_path / "script.py").write_text(
        "import numpy as np, pytensor, pytensor.tensor as pt\n"
        "x = pt.dvector('x')\n"
        "f = pytensor.function([x], pt.exp(-x ** 2).sum(), mode=pytensor.compile.mode.Mode(linker='cvm'))\n"
        "print(float(f(np.zeros(4))))\n"
    )
    assert bare(tmp_path, "-m", "precast", "record", "-o", "model.bundle", "script.py").endswith("4.0\n")
    assert bare(tmp_path, "-m", "precast", "replay", "model.bundle", "script.py").endswith("4.0\n")
