"""From graphs to functions: policies, layers, records, and the command line."""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import precast
import pytest
from precast import _build


@pytest.fixture
def graph():
    x, y = precast.input("x", "f64[?]"), precast.input("y", "f64[?]")
    return precast.graph([x, y], {"out": np.sum(np.exp(-x * x) * y)})


def expected(x, y):
    return np.sum(np.exp(-x * x) * y)


X = np.linspace(0, 1, 7)


@pytest.mark.parametrize("policy", [None, "jit", "interpret"])
def test_policies_return_equal_results(graph, policy):
    function = precast.function(graph, policy=policy, name="score")
    assert function(X, X) == pytest.approx(expected(X, X), rel=1e-13)
    served = function.provenance[0][1]
    assert ("reference" in served) == (policy == "interpret")
    assert repr(function) == "<precast.Function score(x: f64[?], y: f64[?]) -> (out: f64[])>"


def test_texts_are_graphs(graph):
    function = precast.function("x: f64[?], y: f64[?]", "out = sum(exp(-x*x)*y)", policy="interpret")
    assert function(X, X) == precast.function(graph, policy="interpret")(X, X)
    function = precast.function(["x: f64[?,?]", "y: i64"], ["a = x * y", "b = x[0]"], policy="interpret")
    assert [port.name for port in function.outputs] == ["a", "b"]


def test_a_miss_under_strict_names_the_nearest(graph):
    with pytest.raises(precast.MissError, match="miss: "):
        precast.function(graph, policy="strict")
    told = precast.explain(graph)
    assert not told.is_hit and told.startswith("miss") and not precast.check(graph)


def test_layers_serve_modules_of_other_processes(graph, tmp_path):
    store = tmp_path / "store"
    built = precast.function(graph, store=store, policy="jit")
    assert built(X, X) == pytest.approx(expected(X, X), rel=1e-13)
    code = (
        "import sys, numpy as np, precast\n"
        "f = precast.function('x: f64[?], y: f64[?]', 'out = sum(exp(-x*x)*y)', layers=[sys.argv[1]], policy='strict')\n"
        "assert precast.check(f.graph, layers=[sys.argv[1]])\n"
        "print(float(f(np.ones(3), np.ones(3))))"
    )
    # Use other processes, because publishing may continue until the runtimes of this process end.
    for _ in range(50):
        ran = subprocess.run([sys.executable, "-c", code, str(store)], capture_output=True, text=True)
        if ran.returncode == 0:
            break
    assert ran.returncode == 0, ran.stderr
    assert float(ran.stdout) == pytest.approx(3 * np.exp(-1.0))


def test_a_bundle_is_a_layer(bundle):
    x, y, z = (precast.input(name, "f64[?]") for name in "xyz")
    score = np.sum(np.exp(-x * x) * y + z)
    function = precast.function([x, y, z], {"out": score}, layers=[bundle], policy="strict")
    assert function(X, X, X) == pytest.approx(np.sum(np.exp(-X * X) * X + X), rel=1e-13)
    assert "model.precast" in function.provenance[0][1]


def test_misses_are_recorded(graph, tmp_path):
    manifest = tmp_path / "precast.toml"
    precast.function(graph, policy="interpret", record=manifest)
    assert "[[graph]]" in manifest.read_text() or "[[op]]" in manifest.read_text()


def test_debug_mode_checks_op_contracts(graph):
    function = precast.function(graph, policy="jit", check=True)
    assert function(X, X) == pytest.approx(expected(X, X), rel=1e-13)


def test_numbers_are_plain_functions():
    x = precast.input("x", "f64")
    function = precast.function([x], {"y": precast.exp(-x * x) * 0.5}, policy="jit")
    assert function.native.signature == "d)d~" and function.native.ctypes()(0.0) == 0.5


def test_missing_compiler_is_reported(graph, tmp_path):
    code = (
        "import sys; sys.modules['ziglang'] = None\n"
        "import precast\n"
        "try: precast.function('x: f64[?]', 'out = cosh(x) * 3', policy='jit')\n"
        "except precast.CompileError as error: print(error)"
    )
    clean = {"PATH": str(tmp_path), "PRECAST_CACHE": str(tmp_path), "HOME": str(tmp_path), "PYTHONPATH": ":".join(sys.path)}
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=clean)
    assert "compiler" in ran.stdout and "hint:" in ran.stdout, ran.stderr


def test_a_process_probes_a_cache_once(tmp_path, monkeypatch):
    monkeypatch.delenv("PRECAST_STORE", raising=False)
    probed, probe = [], tempfile.TemporaryFile
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **given: probed.append(given["dir"]) or probe(**given))
    for cache in (tmp_path / "one", tmp_path / "one", tmp_path / "two", tmp_path / "one"):
        monkeypatch.setenv("PRECAST_CACHE", str(cache))
        assert _build._store("jit")
    assert probed == [str(tmp_path / "one"), str(tmp_path / "two")]


def test_the_module_is_the_command_line(bundle, tmp_path):
    def run(*arguments):
        return subprocess.run([sys.executable, "-m", "precast", *arguments], capture_output=True, text=True, cwd=tmp_path)

    listed = run("ls", "--bundle", str(bundle))
    assert listed.returncode == 0 and "score" in listed.stdout, listed.stderr
    assert run("--version").stdout.startswith("precast ")
    wrong = run("nothing")
    assert wrong.returncode == 2 and "unrecognized" in wrong.stderr
    missed = run("run", "--bundle", str(bundle), "--entry", "nothing")
    assert missed.returncode == 3 and missed.stderr.startswith("error: miss:")
    np.save(tmp_path / "x.npy", X)
    ran = run("run", "--expr", "x * 2", "-i", "x=x.npy", "--policy", "interpret")
    assert ran.returncode == 0 and "f64[7]" in ran.stdout, ran.stderr


def test_importing_is_light():
    code = (
        "import sys, numpy; before = set(sys.modules); import precast; "
        "print(sorted(name for name in set(sys.modules) - before if not name.startswith('precast')))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert not {"scipy", "pathlib", "inspect", "importlib.metadata"} & set(eval(loaded))
    assert Path(precast.__file__).parent.joinpath("py.typed").exists()


def test_replaced_bundle_is_reloaded(bundle, tmp_path):
    path = tmp_path / "model.precast"
    path.write_bytes(bundle.read_bytes())
    f = lambda: precast.function("x: f64[?], by: f64[]", "y = x * by", layers=[path], policy="strict")
    assert f()(np.ones(1), 2.0)[0] == 2.0
    path.write_bytes(b"no bundle")
    with pytest.raises(precast.BundleError):
        f()


def _run(script: str, *args: str) -> str:
    ran = subprocess.run([sys.executable, "-c", script, *args], capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_exit_after_a_call_leaves_a_hit(tmp_path):
    script = (
        "import sys, numpy, precast\n"
        "policy, store, text = sys.argv[1:]\n"
        "settings = {'store': store} if policy == 'jit' else {'layers': [store]}\n"
        "print(precast.function('x: f64[?]', text, policy=policy, **settings)(numpy.ones(2))[0])\n"
    )
    for number in range(3):
        text, store = f"x + {number}", str(tmp_path / f"store{number}")
        assert [_run(script, policy, store, text) for policy in ("jit", "strict")] == [f"{1.0 + number}\n"] * 2


def test_forked_child_compiles_module_of_a_parent_thread(tmp_path):
    text = " + ".join(f"tanh(x * {n}.5) * erf(x + {n})" for n in range(12))
    script = (
        "import os, sys, threading, time, numpy, precast\n"
        "compiled = lambda: precast.function('x: f64[?]', sys.argv[2], policy='jit', store=sys.argv[1])\n"
        "thread = threading.Thread(target=compiled)\n"
        "thread.start()\n"
        "time.sleep(0.25)\n"
        "if child := os.fork():\n"
        "    assert os.waitpid(child, 0)[1] == 0\n"
        "    thread.join()\n"
        "else:\n"
        "    os._exit(0 if compiled()(numpy.ones(3)).shape == (3,) else 1)\n"
    )
    _run(script, str(tmp_path / "store"), text)
