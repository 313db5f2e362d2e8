"""Recorded programs run without a compiler, a home and writable directories. Missing or damaged modules are reported."""

import concurrent.futures
import importlib.metadata
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from world import PRELUDE

VERSION = importlib.metadata.version("pytensor") if importlib.util.find_spec("pytensor") else ""
REPLAY = ("-m", "precast", "replay")


def test_recorded_script_runs_without_a_compiler(recorded):
    replayed = recorded.world.run(*REPLAY, str(recorded.bundle), str(recorded.script), "a", "-b", compiler=False)
    assert replayed == recorded.printed


@pytest.mark.skipif(VERSION.startswith("2."), reason="importing PyTensor 2 runs `g++ -v`")
def test_replay_never_starts_an_installed_compiler(recorded, world):
    compiler = world.path("bin/g++")
    compiler.write_text('#!/bin/sh\necho "$@" >> "$0.started"\nexit 1\n')
    compiler.chmod(0o755)
    recorded.world.run(
        *REPLAY, str(recorded.bundle), str(recorded.script), "a", "-b", compiler=False, PATH=str(world.path("bin"))
    )
    assert not world.path("bin/g++.started").exists()


def test_the_import_and_two_variables_are_enough(recorded):
    code = "import precast.pytensor as p, sys; exec(open('script.py').read()); print(p.stats()['compiled'], p.stats()['missed'], p.stats()['served'])"
    printed = recorded.world.run(
        "-c", code, "a", "-b", compiler=False, PRECAST_BUNDLE=str(recorded.bundle), PRECAST_POLICY="strict"
    )
    assert printed == recorded.printed + "0 0 9\n"


def test_default_miss_without_a_compiler_is_an_error(recorded):
    said = recorded.world.code("pytensor.function([x], pt.cosh(x))", compiler=False, status=1)
    assert "precast.errors.MissError: miss: `" in said and "hint: record the program again" in said


def test_miss_names_the_op_and_the_nearest(recorded):
    said = recorded.world.code(
        "z = pt.ivector('z'); pytensor.function([z], z.sum())",
        status=1,
        PRECAST_BUNDLE=str(recorded.bundle),
        PRECAST_POLICY="strict",
    )
    assert "MissError: miss: `Sum{axes=None}(int32[?]) -> int64[]`; nearest `Sum{axes=None}(float64[?]) -> float64[]`" in said, said


def test_interpret_runs_missing_ops_in_python(recorded):
    printed = recorded.world.code(
        "print(pytensor.function([x], pt.cosh(x))([0]), stats()['missed'] > 0)", compiler=False, PRECAST_POLICY="interpret"
    )
    assert printed == "[1.] True\n"


@pytest.mark.long
def test_two_records_are_equal_byte_by_byte(recorded, world, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    script = shutil.copy(recorded.script, world.path("other.py"))
    bundle = world.path("other.bundle")
    variables = {"TMPDIR": str(tmp_path / "elsewhere"), "PYTHONHASHSEED": "7", "PWD": "/"}
    world.run("-m", "precast", "record", "-o", str(bundle), str(script), "a", "-b", **variables)
    assert bundle.read_bytes() == recorded.bundle.read_bytes()


def test_record_includes_hits_and_requires_a_successful_end(recorded):
    world = recorded.world
    printed = world.code("""
f = lambda: pytensor.function([x], pt.exp(x))([0]).tolist()
try:
    with precast.pytensor.record("none.bundle"):
        f()
        raise KeyError
except KeyError:
    print(os.path.exists("none.bundle"))
with precast.pytensor.record("one.bundle"):
    f()
precast.pytensor.install("one.bundle", policy="strict")
print(f(), stats()["by_layer"], stats()["layers"])
""")
    assert printed == "False\n[1.0] {'bundle `one.bundle`': 1} ['bundle `one.bundle`']\n"
    fails = world.path("fails.py")
    fails.write_text("import sys; sys.exit(3)")
    world.run("-m", "precast", "record", "-o", "fails.bundle", str(fails), status=3)
    assert not world.path("fails.bundle").exists()


@pytest.mark.long
def test_bundle_has_every_level_and_loads_the_best(world):
    printed = world.code("""
with precast.pytensor.record("both.bundle"):
    pytensor.function([x], pt.exp(x))
precast.pytensor.install("both.bundle", policy="strict")
cache = precast.pytensor._hook.current().cache
print(cache.modules.find(cache.cutils().unit).isa)
""", PRECAST_ISA="x86-64,x86-64-v2")
    assert printed == "x86-64-v2\n"


def test_native_level_is_rejected(world):
    said = world.code("", PRECAST_ISA="native", status=1)
    assert "precast.errors.PrecastError: ISA level `native` depends on the build machine" in said


def test_damaged_bundle_raises_an_error_or_works(recorded):
    # Most of a bundle is machine code. Each position is damaged in a separate bundle, and one process loads all of them.
    printed = recorded.world.code("""
import collections
whole = open("model.bundle", "rb").read()
ends = collections.Counter()
def attempt(data):
    open("damaged.bundle", "wb").write(data)
    try:
        precast.pytensor.install("damaged.bundle", policy="strict")
        f = pytensor.function([x], pytensor.gradient.grad((pt.exp(-(x**2)) * pt.tanh(x)).sum(), x), mode=Mode("cvm"))
        assert abs(f([0.3])[0] - 0.6766) < 1, f([0.3])
        cache = precast.pytensor._hook.current().cache
        cache.serve(cache.cutils()), cache.serve(cache.lazylinker())
        return "served"
    except precast.PrecastError as error:
        return type(error).__name__
for at in range(0, len(whole), max(1, len(whole) // 30)):
    ends[attempt(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1:])] += 1
for length in (0, 1, 8, 40, 64, 200, len(whole) // 2, len(whole) - 1):
    assert attempt(whole[:length]) == "BundleError", length
assert attempt(b"\\x7fELF" + whole[4:]) == "BundleError"
print(sorted(ends))
""", compiler=False)
    assert set(eval(printed)) <= {"BundleError", "MissError", "served"} and "MissError" in printed


def test_world_writable_bundle_is_rejected(recorded, world):
    bundle = shutil.copy(recorded.bundle, world.path("open.bundle"))
    os.chmod(bundle, 0o666)
    said = world.code("", PRECAST_BUNDLE=str(bundle), status=1)
    assert "is writable by everybody" in said and "hint: " in said
    said = world.code("", PRECAST_BUNDLE="/nonexistent/model.bundle", status=1)
    assert "precast.errors.BundleNotFoundError" in said
    said = world.code("", PRECAST_BUNDLE=str(world.path("home")), status=1)
    assert "precast.errors.Bundle" in said


def test_another_python_or_numpy_is_a_named_miss(recorded):
    said = recorded.world.code("""
precast.pytensor._hook.current().cache.host.versions[:] = ["cpython-39-x86_64-linux-gnu", "numpy-c-abi-0x1000009"]
cache = precast.pytensor._hook.current().cache
cache.serve(cache.cutils())
""", compiler=False, status=1, PRECAST_BUNDLE=str(recorded.bundle))
    assert "MissError" in said and "--precast-host=cpython-39-x86_64-linux-gnu" in said


@pytest.mark.parametrize("damage", ["del basic.CLinker.header_dirs", "basic.CLinker.cthunk_factory = lambda self: 0", "basic.get_module_cache = None"])
def test_unexpected_pytensor_runs_without_precast(world, damage):
    code = f"""
import pytensor, pytensor.link.c.basic as basic
{damage}
import precast.pytensor
print(precast.pytensor.stats(), pytensor.config.linker)
"""
    assert world.run("-c", code, PYTENSOR_FLAGS="linker=py") == "{'installed': False} py\n"
    said = world.run("-c", code, PYTENSOR_FLAGS="", PRECAST_POLICY="strict", status=1)
    assert "precast.errors.PrecastError: PyTensor runs without precast: `" in said


def test_compatible_unknown_pytensor_is_served_with_a_warning(world):
    # The same PyTensor with another version, and one that lacks a part that precast uses.
    code = """
import pytensor, pytensor.link.c.basic as basic
pytensor.__version__ = "9.9.9"
DAMAGE
import precast.pytensor, pytensor.tensor as pt
stats = precast.pytensor.stats()
print({name: stats[name] for name in ("installed", "pytensor", "tested") if name in stats})
x = pt.dvector("x")
if stats["installed"]:
    print(pytensor.function([x], pt.exp(x))([0]), precast.pytensor.stats()["compiled"] > 0)
sys.exit(1)
"""
    said = world.run("-c", "import sys" + code.replace("DAMAGE", ""), status=1)
    assert "{'installed': True, 'pytensor': '9.9.9', 'tested': False}\n[1.] True\n" in said
    assert "precast is not tested with PyTensor 9.9.9, only with" in said and "2.38.3, 3.0.7, 3.3.7, 3.3.8" in said
    said = world.run("-c", "import sys" + code.replace("DAMAGE", "del basic.CLinker.header_dirs"), status=1)
    assert "{'installed': False}\n" in said and "PyTensor runs without precast: " in said


def test_compatible_patch_release_is_served_silently(world):
    code = """
import pytensor, pytensor.link.c.basic as basic, sys
pytensor.__version__ = pytensor.__version__.rpartition(".")[0] + ".999"
DAMAGE
import precast.pytensor
print({name: precast.pytensor.stats().get(name) for name in ("installed", "tested")})
sys.exit(1)
"""
    assert world.run("-c", code.replace("DAMAGE", ""), status=1) == "{'installed': True, 'tested': False}\n"
    said = world.run("-c", code.replace("DAMAGE", "del basic.CLinker.header_dirs"), status=1)
    assert "{'installed': False, 'tested': None}\n" in said and "PyTensor runs without precast: " in said


def test_tested_version_prints_nothing(world):
    code = "import precast.pytensor as p, sys; print(p.stats()['tested'], p.stats()['pytensor']); sys.exit(1)"
    said = world.run("-c", code, status=1)
    assert said == f"True {VERSION}\n"


@pytest.mark.parametrize("variables", [{"PYTENSOR_FLAGS": "linker=cvm,base_compiledir=/proc/nowhere"}, {"PYTENSOR_FLAGS": "linker=cvm", "HOME": "/proc"}])
def test_replay_works_with_unwritable_directories(recorded, variables):
    # PyTensor alone gets a compiler here, because it would otherwise compute in Python.
    words = (str(recorded.script), "a", "-b")
    said = recorded.world.run(*words, status=1, **variables)
    assert "/proc/" in said and ("compiledir" in said or "No such file" in said), said
    assert recorded.world.run(*REPLAY, str(recorded.bundle), *words, compiler=False, **variables) == recorded.printed


def test_concurrent_replays_share_one_bundle(recorded):
    def replay(_):
        return recorded.world.run(*REPLAY, str(recorded.bundle), str(recorded.script), "a", "-b", compiler=False)

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert set(pool.map(replay, range(8))) == {recorded.printed}


#: Stops the process group as soon as a compiler runs in it.
STOPPING = """
import signal, threading, time
def is_compiler(pid):
    try:
        return os.getpgid(int(pid)) == os.getpgrp() and open(f"/proc/{pid}/comm").read().startswith("cc1plus")
    except OSError:
        return False
def stop():
    while not any(map(is_compiler, filter(str.isdigit, os.listdir("/proc")))):
        time.sleep(0.001)
    print("stopping", flush=True)
    os.killpg(0, signal.SIGSTOP)
threading.Thread(target=stop, daemon=True).start()
"""


def state(pid):
    """Returns the state letter of a process: `T` if it is stopped."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_nothing_is_locked_while_a_process_compiles(world):
    code = "print(pytensor.function([x, y], pt.tanh(x) - y)([0, 1], [3, 4]), stats()['compiled'] > 0, stats()['events'])"
    printed = "[-3.         -3.23840584] True []\n"
    environment = {"HOME": str(world.path("home")), "PATH": os.environ["PATH"], "PRECAST_CACHE": str(world.path("cache"))}
    environment["PYTENSOR_FLAGS"] = "linker=cvm,base_compiledir=/proc/nowhere"
    command = [sys.executable, "-B", "-c", PRELUDE + STOPPING + code]
    with subprocess.Popen(command, env=environment, cwd=world.root, stdout=subprocess.PIPE, text=True, start_new_session=True) as first:
        try:
            assert first.stdout.readline() == "stopping\n"
            assert os.WIFSTOPPED(os.waitpid(first.pid, os.WUNTRACED)[1])
            # Another process needs the same modules and does not wait for the stopped one.
            assert world.code(code) == printed
            assert state(first.pid) == "T"
            os.killpg(first.pid, signal.SIGCONT)
            assert first.stdout.read() == printed
        finally:
            os.killpg(first.pid, signal.SIGKILL)


def test_pytensor_imported_earlier_stays_without_a_compiler(world):
    code = "import pytensor, precast.pytensor; print(precast.pytensor.stats())"
    assert world.run("-c", code, compiler=False, PYTENSOR_FLAGS="", PRECAST_POLICY="interpret") == "{'installed': False}\n"
    said = world.run("-c", code, compiler=False, status=1, PYTENSOR_FLAGS="")
    assert "it was imported before and found no compiler: import precast.pytensor first" in said


def test_empty_cxx_flag_disables_precast(world):
    code = "import precast.pytensor, pytensor; print(precast.pytensor.stats(), repr(pytensor.config.cxx))"
    assert world.run("-c", code, PYTENSOR_FLAGS="cxx=") == "{'installed': False} ''\n"


@pytest.mark.long
def test_concurrent_processes_share_a_store(world):
    code = "print(pytensor.function([x, y], pt.tanh(x) - y)([0, 1], [3, 4]), stats()['events'], stats()['aside'])"
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        printed = set(pool.map(lambda _: world.code(code), range(3)))
    assert printed == {"[-3.         -3.23840584] [] []\n"}
    assert world.code("pytensor.function([x, y], pt.tanh(x) - y); print(stats()['compiled'])") == "0\n"
