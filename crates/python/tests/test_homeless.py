"""Graphs are compiled for users without a home, with a read-only home, and with a full disk."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import numpy, precast
print(precast.function("x: f64[?]", "out = sum(x * 3)", policy="jit")(numpy.array([1.0, 2.0])))
"""

#: Mounts a file system of 16 KiB at HOME, fills it, and runs the command.
FULL = 'mount -t tmpfs -o size=16k tmpfs "$HOME" && cat /dev/zero > "$HOME/full" 2> /dev/null; exec "$@"'


def compiles(command, home):
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": ":".join(sys.path)} | home
    ended = subprocess.run([*command, sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert float(ended.stdout) == 9.0


# Even root cannot create a directory in /proc.
@pytest.mark.parametrize("home", [{}, {"HOME": "/nonexistent"}, {"HOME": "/proc"}], ids=str)
def test_a_graph_is_compiled_without_a_home(home):
    compiles([], home)


def test_graph_compiles_with_a_full_home_disk(tmp_path):
    command = ["unshare", "--map-root-user", "--mount", "sh", "-c", FULL, "sh"]
    home = {"HOME": str(tmp_path)}
    try:
        subprocess.run([*command, "true"], env=os.environ | home, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this user cannot mount a file system")
    for _ in range(2):
        compiles(command, home)
