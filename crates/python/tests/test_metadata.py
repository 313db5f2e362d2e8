"""What bundles state about their functions: documentation, dims, states and plans."""

import platform
from pathlib import Path

import numpy as np
import precast
import pytest
from precast import _metadata, _steps, _types

LEVEL = "x86-64-v2" if platform.machine() == "x86_64" else "aarch64"
#: A bundle of before there was metadata, with states and plans in entries whose names have suffixes.
SUFFIXES = Path(__file__).parents[3] / "artifacts/golden/suffixes-v3.precast"


class Saved:
    """A function that is saved with metadata, as a frozen one is."""

    def __init__(self, graphs, metadata):
        self._graphs, self._metadata = graphs, metadata

    def saved(self, name, taken):
        names = [f"{name}.{at}" + "_" * (f"{name}.{at}" in taken) for at in range(len(self._graphs))]
        return dict(zip(names, self._graphs)), self._metadata(names)


def plan(names):
    """A draw with a scale, and its exponential."""
    return {
        "inputs": [("x", "f64[?]"), ("rng", "generator")],
        "outputs": [("y", "f64[?]"), ("rng", "generator")],
        "known": {},
        "steps": [
            {
                "kind": "function",
                "callee": "draw",
                "host": "",
                "takes": ["rng", None, "x"],
                "gives": ["next", "drawn"],
                "settings": '{"dtypes":[null,"float64"],"settings":{"of":"exponential"}}',
            },
            {"kind": "entry", "callee": names[0], "host": "", "takes": ["drawn"], "gives": ["y"], "settings": ""},
        ],
        "results": ["y", "next"],
    }


def sampler():
    state = {"input": "rng", "update": "rng", "array": None, "json": _metadata._text(_steps.state_of(np.random.default_rng(3)))}
    graph = precast.graph("x: f64[?]", "y = exp(x)")
    return Saved([graph], lambda names: {"plan": plan(names), "state": [state]})


def test_bundle_metadata_round_trips(tmp_path):
    path = tmp_path / "model.precast"
    described = {"x": {"dims": ["day"], "documentation": "samples"}}
    metadata = {
        "score": {"documentation": "Scores days", "inputs": described, "json": {"mine.unit": {"x": "m"}}},
        "": {"json": {"mine.version": [1, 2]}},
    }
    graphs = {"score": precast.graph("x: f64[?]", "y = x + 1"), "plain": precast.graph("x: f64[?]", "y = x + 2")}
    precast.save(path, graphs, isa=LEVEL, metadata=metadata)
    model = precast.load(path)
    stated = model.metadata("score")
    assert stated == {**metadata["score"], "outputs": {}, "state": [], "plan": None}
    assert model.metadata()["json"] == {"mine.version": [1, 2]}
    assert not any(model.metadata("plain").values()) and not any(model.metadata("absent").values())
    assert model.entries == ("plain", "score")
    again = tmp_path / "again.precast"
    precast.save(again, dict(reversed(graphs.items())), isa=LEVEL, metadata=dict(reversed(metadata.items())))
    assert again.read_bytes() == path.read_bytes()
    precast.save(again, graphs, isa=LEVEL, metadata={"score": {}})
    assert again.stat().st_size < path.stat().st_size and again.read_bytes()[8] == 3


@pytest.mark.parametrize(
    ("metadata", "text"),
    [
        ({"scor": {"documentation": "x"}}, "unknown graph `scor`; found score"),
        ({"score": {"doc": "x"}}, "`doc` is no metadata\nhint: "),
        ({"score": {"json": {"unit": 1}}}, "key `unit` has no namespace\nhint: "),
        ({"score": {"inputs": {"z": {}}}}, "no input or output `z`"),
        ({"score": {"inputs": {"a b": {}}}}, "invalid name `a b`"),
    ],
)
def test_invalid_metadata_is_rejected(metadata, text, tmp_path):
    with pytest.raises(precast.PrecastError, match=text):
        precast.save(tmp_path / "m.precast", {"score": precast.graph("x: f64[?]", "y = x + 1")}, isa=LEVEL, metadata=metadata)
    assert not (tmp_path / "m.precast").exists()


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "float16", "float32", "float64", "complex64", "complex128"])
def test_initial_values_are_kept_bit_for_bit(dtype, tmp_path):
    initial = np.arange(600).reshape(2, 300)[:, ::-1].astype(dtype)
    name = {"float16": "f16", "complex64": "c64", "complex128": "c128"}.get(dtype, _types.dtype_name(np.dtype(dtype)))
    graph = precast.graph(f"s: {name}[?,?]", "out = s")
    state = _metadata.states({"s": initial}, [])
    path = tmp_path / "m.precast"
    precast.save(path, {"f": graph}, isa=LEVEL, metadata={"f": {"state": state}})
    (read,) = precast.load(path).metadata("f")["state"]
    assert read["array"].dtype == initial.dtype and read["update"] is None
    np.testing.assert_array_equal(read["array"], initial)


def test_functions_with_plan_and_state_load(tmp_path):
    path = tmp_path / "m.precast"
    precast.save(path, {"draw": sampler()}, isa=LEVEL)
    model = precast.load(path)
    assert model.entries == ("draw.0",)
    draw, generator = precast.Stateful.load(model, "draw"), np.random.default_rng(3)
    for _ in range(2):
        np.testing.assert_allclose(draw(np.ones(3)), np.exp(generator.exponential(np.ones(3))))
    assert [port.name for port in precast.Steps.load(model, "draw").inputs] == ["x", "rng"]


def test_names_with_former_suffixes_are_allowed(tmp_path):
    path, other = tmp_path / "m.precast", precast.graph("x: f64[?]", "y = x + 1")
    names = ("draw.0", "draw.state", "draw.steps", "f", "f.state", "f.steps")
    precast.save(path, {"draw": sampler(), **dict.fromkeys(names, other)}, isa=LEVEL)
    model = precast.load(path)
    assert model.entries == ("draw.0", "draw.0_", *names[1:])
    assert precast.Stateful.load(model, "draw")(np.zeros(3)).shape == (3,)
    assert model["draw.0"](np.zeros(2)).tolist() == [1, 1]


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the bundle has code for x86-64")
def test_bundles_with_former_suffixes_load():
    model = precast.load(SUFFIXES)
    assert model.entries == ("draw.0", "draw.1", "draw.state", "draw.steps", "step", "step.state")
    step, x = precast.Stateful.load(model, "step"), np.array([1.0, -2.0])
    assert step.state["total"].tolist() == [0.5, 1.5]
    assert [step(x).tolist() for _ in range(2)] == [[2.5, -2.5], [4.5, -6.5]]
    draw, generator = precast.Stateful.load(model, "draw"), np.random.default_rng(1)
    assert set(draw.state) == {"rng", "count"}
    for _ in range(2):
        np.testing.assert_allclose(draw(x), np.exp(generator.normal(x, 2.0)) + 1, rtol=1e-15)
    assert draw.state["count"] == 6
    with pytest.raises(precast.EntryError, match="no state of `draw.0`"):
        precast.Stateful.load(model, "draw.0")
