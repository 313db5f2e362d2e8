"""Frozen functions run from bundles without PyTensor, with their state."""

import importlib.util
import json
import os
import warnings
from pathlib import Path

import numpy as np
import precast
import pytest
from frozen import compare, function

pytensor = pytest.importorskip("pytensor")
import precast.pytensor  # noqa: E402
import pytensor.tensor as pt  # noqa: E402

HERE = Path(__file__).parent
#: The graphs of the models and PyMC's results, which a Rust test also checks.
GOLDEN = HERE.parent / "frozen"

#: Calls the functions of a bundle without PyTensor, PyMC and SciPy.
DEPLOYED = """
import json, sys
for name in ("pytensor", "pymc", "scipy", "numba"):
    sys.modules[name] = None
import numpy as np, precast
model, points = precast.load(sys.argv[1]), json.loads(sys.argv[2])
print(json.dumps({name: [np.atleast_1d(each).tolist() for each in model[name](np.array(point))] for name, point in points.items()}))
"""


@pytest.mark.long
@pytest.mark.skipif(importlib.util.find_spec("pymc") is None, reason="PyMC is not installed")
def test_frozen_pymc_models_match_without_pytensor(world, elsewhere):
    bundle = str(world.path("models.precast"))
    flags = {"PYTENSOR_FLAGS": f"cxx=,linker=py,base_compiledir={world.path('compiledir')}"}
    told = json.loads(world.run(str(HERE / "freeze_models.py"), bundle, PRECAST_ISA="x86-64-v2", **flags))
    if os.environ.get("PRECAST_WRITE_GOLDEN"):
        for name, each in told.items():
            (GOLDEN / f"{name}.json").write_text(each["graph"] + "\n")
            rows = (" ".join(map(repr, row)) for row in each["numbers"])
            (GOLDEN / f"{name}.txt").write_text("\n".join(rows) + "\n")
    points = {name: each["numbers"][0] for name, each in told.items()}
    deployed = json.loads(world.run("-c", DEPLOYED, bundle, json.dumps(points), compiler=False))
    for name, each in told.items():
        for rows in (deployed[name], *elsewhere.call(bundle, name, points[name])):
            for got, wanted in zip(rows, each["numbers"][1:], strict=True):
                np.testing.assert_allclose(got, wanted, rtol=1e-13, atol=1e-13)
        if pytensor.__version__ == "3.3.8":
            assert (GOLDEN / f"{name}.json").read_text() == each["graph"] + "\n", "PRECAST_WRITE_GOLDEN=1 updates it"


def test_frozen_functions_run_from_c_and_rust(tmp_path, elsewhere):
    x = pt.dvector("x")
    density = (-(x**2) / 2 - pt.log1p(pt.exp(-2 * x)) + pt.gammainc(2.0, pt.exp(x))).sum()
    fn = function([x], [density, pytensor.gradient.grad(density - pt.gammainc(2.0, pt.exp(x)).sum(), x)], "fast_run")
    path, point = tmp_path / "density.precast", [-1.0, 0.25, 2.0]
    precast.pytensor.freeze(fn, path, name="density", isa="x86-64-v2")
    ours = [np.atleast_1d(each).tolist() for each in precast.load(path).density(np.array(point))]
    compare(tuple(map(np.array, ours)), [np.atleast_1d(each) for each in fn(np.array(point))])
    # All bits are equal, because both run the same program.
    assert elsewhere.call(str(path), "density", point) == [ours, ours]


def counter():
    """Returns a function with updates."""
    total, rate = pytensor.shared(np.zeros(3), name="total"), pytensor.shared(2.0, name="rate")
    x = pt.dvector("x")
    return function([x], [total.sum(), x * rate], updates={total: total + rate * x}), total, rate


def test_updates_are_kept_between_calls():
    fn, total, _ = counter()
    frozen = precast.pytensor.freeze(fn)
    assert [port.name for port in frozen.graph.inputs] == ["x", "total"]
    assert [port.name for port in frozen.graph.outputs] == ["out0", "out1", "total"]
    ours, x = frozen.function(policy="interpret"), np.arange(3.0)
    for _ in range(3):
        compare(ours(x), fn(x))
    compare(ours.state["total"], total.get_value())


def test_unchanged_shared_variables_are_constants_unless_named():
    fn, _, rate = counter()
    kept = precast.pytensor.freeze(fn, state=[rate])
    rate.set_value(5.0)
    ours, x = kept.function(policy="interpret"), np.ones(3)
    assert set(kept.state) == {"total", "rate"}
    compare(ours(x)[1], 2 * x)
    ours.state["rate"] = np.array(7.0)
    compare(ours(x)[1], 7 * x)
    with pytest.raises(TypeError, match="no shared variable"):
        precast.pytensor.freeze(fn, state=[pytensor.shared(1.0, name="other")])


def test_a_bundle_has_the_first_state(tmp_path):
    fn, total, _ = counter()
    x, path = np.arange(3.0), tmp_path / "counter.precast"
    fn(x)
    precast.pytensor.freeze(fn, path, name="step", isa="x86-64-v2")
    model = precast.load(path)
    assert model.entries == ("step",)
    (stated,) = model.metadata("step")["state"]
    assert (stated["input"], stated["update"]) == ("total", "total")
    step = precast.Stateful.load(model, "step")
    compare(step.state["total"], 2 * x)
    for _ in range(2):
        compare(step(x), fn(x))
    compare(step.state["total"], total.get_value())
    assert "total" in repr(step)


def test_function_without_results_returns_none():
    count = pytensor.shared(np.int64(0), name="count")
    ours = precast.pytensor.freeze(function([], [], updates={count: count + 1})).function(policy="interpret")
    assert ours() is None and ours() is None
    assert ours.state["count"] == 2


def test_port_names_are_unique_identifiers():
    x, y = pt.dscalar("a b"), pt.dscalar("a b")
    z, w = x + y, x - y
    z.name = w.name = "z[0]"
    graph = precast.pytensor.freeze(function([x, y], [z, w])).graph
    assert [port.name for port in graph.inputs + graph.outputs] == ["a_b", "a_b_2", "z_0_", "z_0__2"]


def test_freeze_rejects_other_functions():
    with pytest.raises(TypeError, match="found a `int`"):
        precast.pytensor.freeze(3)
    rng = pytensor.shared(np.random.default_rng(1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fn = function([], pt.random.normal(rng=rng))
    with pytest.raises(precast.FreezeError, match="draws from a NumPy generator"):
        precast.pytensor.freeze(fn)


def test_compiled_functions_match_interpreted_ones():
    x, m = pt.dvector("x"), pt.dmatrix("m")
    outputs = [m @ x, pt.exp(-(x**2)).sum(), pt.special.softmax(m, axis=1), m[1:, ::2], pt.set_subtensor(m[:, 0], 1.0), x // 2]
    fn = function([m, x], outputs, "fast_run")
    given = np.arange(12.0).reshape(3, 4), np.linspace(-2, 2, 4)
    frozen = precast.pytensor.freeze(fn)
    compare(frozen.function(policy="jit")(*given), frozen.function(policy="interpret")(*given), is_exact=True)
    compare(frozen.function(policy="jit")(*given), fn(*given))


def test_fused_reductions_keep_map_and_reduction():
    from pytensor.tensor.elemwise import CAReduce

    ps = pytensor.scalar
    m = pt.dmatrix("m")
    total, x, single = ps.float64("total"), ps.float64("x"), ps.float32("single")
    # PyTensor's `perform` starts such a reduction with an element, and its C with the identity. Compare with NumPy.
    fused = [
        (ps.Composite([total, x], [total + ps.sqr(x)]), m, lambda a, axis: (a**2).sum(axis)),
        (ps.Composite([total, x], [ps.log1p(ps.exp(-x)) + total]), m, lambda a, axis: np.log1p(np.exp(-a)).sum(axis)),
        (ps.Composite([total, x], [total * ps.exp(x)]), m, lambda a, axis: np.exp(a).prod(axis)),
        (
            ps.Composite([total, single], [ps.cast(total + ps.sqr(single), "float64")]),
            pt.cast(m, "float32"),
            lambda a, axis: (a.astype("f4") ** 2).sum(axis, dtype="f8").astype("f4"),
        ),
    ]
    settings = {"acc_dtype": "float64", "dtype": "float64"}
    given, axes = np.linspace(-1, 1, 6).reshape(2, 3), (None, 0, 1)
    for op, argument, expected in fused:
        op.identity = 0.0
        fn = function([m], [CAReduce(op, axis=axis, **settings)(argument) for axis in axes])
        got = precast.pytensor.freeze(fn).function(policy="interpret")(given)
        for value, axis in zip(got, axes):
            np.testing.assert_allclose(value, expected(given, axis), rtol=1e-14)
    # An op that uses the total twice is not a sum.
    op = ps.Composite([total, x], [total + ps.sqr(total) * x])
    op.identity = 0.0
    with pytest.raises(precast.FreezeError, match="no reduction by"):
        precast.pytensor.freeze(function([m], CAReduce(op, axis=None, **settings)(m)))
