"""A recording contains the modules of child processes, and reports unseen processes and the exit of the script."""

import pytest
from world import World

#: Runs a function in a process of each kind. The last ones end with `os._exit` and with a signal.
SCRIPT = """
import multiprocessing, os, signal, subprocess, sys
import numpy as np
OTHER = '''
import numpy as np, pytensor, pytensor.tensor as pt
x = pt.dvector("x")
print(pytensor.function([x], pt.sinh(x), mode=pytensor.compile.mode.Mode("cvm", None))(np.zeros(1)))
'''
def compute(name):
    import pytensor, pytensor.tensor as pt
    x = pt.dvector("x")
    f = pytensor.function([x], getattr(pt, name)(x), mode=pytensor.compile.mode.Mode("cvm", None))
    print(name, f(np.ones(2)), flush=True)
def forked(name, end):
    if pid := os.fork():
        os.waitpid(pid, 0)
    else:
        compute(name)
        end()
if __name__ == "__main__":
    for method, name in (("spawn", "cosh"), ("forkserver", "tanh"), ("fork", "exp")):
        child = multiprocessing.get_context(method).Process(target=compute, args=(name,))
        child.start()
        child.join()
        print(method, child.exitcode, flush=True)
    print(subprocess.run([sys.executable, "-c", OTHER], check=True, capture_output=True, text=True).stdout, flush=True)
    forked("log1p", lambda: os._exit(0))
    forked("sqrt", lambda: os.kill(os.getpid(), signal.SIGKILL))
"""

SIMPLE = """
import os, sys, pytensor, pytensor.tensor as pt
x = pt.dvector("x")
print(pytensor.function([x], pt.exp(x), mode=pytensor.compile.mode.Mode("cvm", None))([0]), flush=True)
"""


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """One world for all tests of this file, so that each module is compiled once."""
    return World(tmp_path_factory.mktemp("children") / "world")


@pytest.fixture
def record(world):
    world.path("model.bundle").unlink(missing_ok=True)

    def recorded(script, *options, status=0, name="model.bundle"):
        world.path("script.py").write_text(script)
        return world.run("-m", "precast", "record", "-o", name, *options, "script.py", status=status)

    return recorded


def test_recording_contains_modules_of_child_processes(world, record):
    printed = record(SCRIPT)
    assert all(f"{method} 0\n" in printed for method in ("spawn", "forkserver", "fork")) and "sqrt [1. 1.]\n" in printed
    assert world.run("-m", "precast", "replay", "model.bundle", "script.py", compiler=False) == printed


@pytest.mark.long
def test_recorded_block_contains_modules_of_child_processes(world):
    world.path("script.py").write_text(
        SCRIPT.replace('if __name__ == "__main__":', 'if __name__ == "__main__":\n  import precast.pytensor\n  with precast.pytensor.record("model.bundle"):')
    )
    printed = world.run("script.py")
    world.path("script.py").write_text(SCRIPT)
    assert world.run("-m", "precast", "replay", "model.bundle", "script.py", compiler=False) == printed


@pytest.mark.parametrize("end, status", [("sys.exit(3)", 3), ("os._exit(4)", 4), ("raise KeyError", 1), ("os.kill(os.getpid(), 9)", 137)])
def test_failed_script_writes_a_bundle_only_on_request(world, record, end, status):
    said = record(SIMPLE + end, status=status)
    assert "error: no bundle was written" in said and "--keep-going" in said
    assert not world.path("model.bundle").exists()
    record(SIMPLE + end, "--keep-going", status=status)
    world.path("script.py").write_text(SIMPLE)
    assert world.run("-m", "precast", "replay", "model.bundle", "script.py", compiler=False) == "[1.]\n"


def test_script_that_exits_early_writes_a_bundle(world, record):
    record(SIMPLE + "os._exit(0)")
    assert world.path("model.bundle").exists()


@pytest.mark.parametrize("start", ['[sys.executable, "-I", "-c", ""]', '[sys.executable, "-c", ""], env={}'])
def test_a_program_that_cannot_be_recorded_is_named(world, record, start):
    world.path("script.py").write_text(SIMPLE + f"import subprocess; subprocess.run({start})\nsys.exit(3)")
    said = world.run("-m", "precast", "record", "-o", "b", "script.py", status=3)
    assert "warning: not recorded: `" in said


def test_a_path_may_have_a_colon(world, record):
    world.path("a:b").mkdir()
    printed = record(SIMPLE, name="a:b/model.bundle")
    assert world.run("-m", "precast", "replay", "a:b/model.bundle", "script.py", compiler=False) == printed
