"""Bundles of graphs that are built in Python. Their ops and types need no Python at run time."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import precast
import pytest

LEVELS = "x86-64-v2"

#: A program with its own op and type, and a graph with another class of the same name.
WRITES = """
import sys
import precast
from test_own import VectorTimesVector
from test_own_types import Double, Times

def other():
    class VectorTimesVector(precast.COp):
        def make_node(self, x):
            return precast.Apply(self, [x], [x.type()])

        def c_code(self, node, name, inputs, outputs, sub):
            return f"Py_XINCREF({inputs[0]}); Py_XDECREF({outputs[0]}); {outputs[0]} = {inputs[0]};"

    return VectorTimesVector()

x, y = precast.input("x", "f64[?]"), precast.input("y", "f64[?]")
double = Double()
a, b = double("a"), double("b")
graphs = {
    "product": precast.graph([x, y], {"z": VectorTimesVector()(x, y) + 1}),
    "same": precast.graph([x], {"z": other()(other()(x))}),
    "times": precast.graph([a, b], {"c": Times()(a, b)}),
}
precast.save(sys.argv[1], graphs, isa="x86-64-v2")
"""

READS = """
import sys
import numpy as np, precast
model = precast.load(sys.argv[1])
print(model.product(np.arange(3.0), np.ones(3)), model.same(np.ones(2)), model.times(2.0, 3.5), "test_own" in sys.modules)
"""


def run(code, path):
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    ended = subprocess.run([sys.executable, "-B", "-c", code, str(path)], env=environment, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_bundles_run_python_ops_without_their_classes(tmp_path):
    first, second = tmp_path / "first.precast", tmp_path / "second.precast"
    for path in (first, second):
        run(WRITES, path)
    assert first.read_bytes() == second.read_bytes(), "equal graphs must give equal bundles"
    assert run(READS, first) == "[1. 2. 3.] [1. 1.] 7.0 False\n"


def test_bundle_contains_graphs_and_functions_by_name(tmp_path):
    x = precast.input("x", "f64[?]")
    function = precast.function([x], {"y": x * 2}, policy="interpret")
    path = tmp_path / "model.precast"
    precast.save(path, {"twice": function, "sum": precast.graph([x], {"s": x.sum()})}, isa=[LEVELS])
    model = precast.load(path)
    assert model.entries == ("sum", "twice")
    assert model.sum(model.twice(np.arange(4.0))) == 12


@pytest.mark.parametrize(
    ("graphs", "settings", "kind", "text"),
    [
        ({"f": 3}, {}, TypeError, "`f` is a `int`, expected a graph"),
        ({"": None}, {}, TypeError, "expected a graph"),
        ({"": "graph"}, {}, ValueError, "name"),
        ({"f": "graph"}, {"isa": "x86-64-v9"}, ValueError, "x86-64-v9"),
        ({"f": "unversioned"}, {}, precast.CompileError, "cannot publish"),
    ],
)
def test_save_error_has_a_reason(graphs, settings, kind, text, tmp_path):
    x = precast.input("x", "f64[?]")

    class Never(precast.COp):
        def make_node(self, x):
            return precast.Apply(self, [x], [x.type()])

        def c_code(self, node, name, inputs, outputs, sub):
            return f"Py_XINCREF({inputs[0]}); {outputs[0]} = {inputs[0]};"

        def c_code_cache_version(self):
            return ()

    made = {"graph": lambda: precast.graph([x], {"y": x + 1}), "unversioned": lambda: precast.graph([x], {"y": Never()(x)})}
    graphs = {name: made[graph]() if graph in made else graph for name, graph in graphs.items()}
    path = tmp_path / "model.precast"
    with pytest.raises(kind, match=text):
        precast.save(path, graphs, **{"isa": LEVELS, **settings})
    assert not path.exists()


def test_unusable_named_store_is_an_error(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("not a store")
    path, graph = str(tmp_path / "m.precast"), precast.graph("x: f64[?]", "y = x + 1")
    with pytest.raises(precast.errors.CompileError):
        precast.save(path, {"y": graph}, isa="x86-64-v2", store=tmp_path / "file")
    monkeypatch.setenv("PRECAST_STORE", str(tmp_path / "file"))
    with pytest.raises(precast.errors.CompileError):
        precast.save(path, {"y": graph}, isa="x86-64-v2")
    assert not (tmp_path / "m.precast").exists()
    monkeypatch.delenv("PRECAST_STORE")
    monkeypatch.setenv("PRECAST_CACHE", str(tmp_path / "file"))
    with pytest.warns(RuntimeWarning):
        precast.save(path, {"y": graph}, isa="x86-64-v2")
    assert precast.load(path)["y"](np.ones(2)).tolist() == [2, 2]


def test_damage_in_the_store_is_a_warning(tmp_path):
    store, path = tmp_path / "store", str(tmp_path / "m.precast")
    graph = precast.graph("x: f64[?]", "y = x + 1")
    precast.save(path, {"y": graph}, isa="x86-64-v2", store=store)
    before = (tmp_path / "m.precast").read_bytes()
    for damaged in (file for file in (store / "objects").rglob("*") if file.is_file()):
        damaged.chmod(0o600)
        damaged.write_bytes(b"damaged")
    with pytest.warns(RuntimeWarning):
        precast.save(path, {"y": graph}, isa="x86-64-v2", store=store)
    assert (tmp_path / "m.precast").read_bytes() == before


def test_save_uses_the_store_of_build_scripts(tmp_path, monkeypatch):
    monkeypatch.setenv("PRECAST_CACHE", str(tmp_path))
    monkeypatch.delenv("PRECAST_STORE", raising=False)
    precast.save(str(tmp_path / "m.precast"), {"y": precast.graph("x: f64[?]", "y = x + 1")}, isa="x86-64-v2")
    assert sorted(folder.name for folder in tmp_path.glob("store*")) == ["store-v2"]


def test_bundle_for_another_level_names_the_missing_one(tmp_path):
    path = tmp_path / "model.precast"
    precast.save(path, {"f": precast.graph("x: f64[?]", "out = x + 1")}, isa="x86-64-v3", store=tmp_path / "store")
    code = "import sys, precast; precast.load(sys.argv[1]).f"
    environment = {**os.environ, "PRECAST_ISA_LIMIT": "x86-64-v2"}
    ended = subprocess.run([sys.executable, "-B", "-c", code, str(path)], env=environment, capture_output=True, text=True)
    assert ended.returncode == 1
    assert "MissError" in ended.stderr and "`x86-64-v3`: needs CPU features" in ended.stderr
    assert ended.stderr.endswith("\nhint: build the bundle for this host too, with `--isa x86-64-v2`\n")
