"""Arguments and results of frozen JAX functions: names, nesting, extents, errors."""

import collections
import dataclasses
import json
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("jax")
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import precast  # noqa: E402
import precast.jax  # noqa: E402
from jax import export  # noqa: E402
from jax_cases import CASES, KERNELS, eight_schools  # noqa: E402
from jax_frozen import compare, frozen  # noqa: E402

Moments = collections.namedtuple("Moments", "mean spread")
PARAMS = {"layers": [{"w": np.full((3, 4), 0.5), "b": np.zeros(4)}, {"w": np.ones((4, 2)), "b": np.ones(2)}], "scale": (np.float64(2.0), None)}
X = np.linspace(-1.0, 1.0, 6).reshape(2, 3)


def model(params, x):
    """Returns activations and their moments."""
    for layer in params["layers"]:
        x = jnp.tanh(x @ layer["w"] + layer["b"])
    return {"out": x * params["scale"][0], "moments": Moments(x.mean(), [x.std(), None])}


def inputs_of(made):
    return [str(port) for port in made.graph.inputs]


def outputs_of(made):
    return [port.name for port in made.graph.outputs]


def test_arrays_of_arguments_and_results_are_named_ports():
    made = precast.jax.freeze(model, PARAMS, "f64[batch,3]")
    assert made.name == "model"
    assert inputs_of(made) == [
        "params.layers.0.b: f64[4]",
        "params.layers.0.w: f64[3,4]",
        "params.layers.1.b: f64[2]",
        "params.layers.1.w: f64[4,2]",
        "params.scale.0: f64[]",
        "x: f64[batch,3]",
    ]
    assert outputs_of(made) == ["moments.mean", "moments.spread.0", "out"]
    compare(made.function(policy="interpret")(PARAMS, x=X), model(PARAMS, X))


def test_results_without_keys_are_numbered():
    assert outputs_of(precast.jax.freeze(lambda x: x * 2, X)) == ["out"]
    made = precast.jax.freeze(lambda *xs: (xs[0] + xs[1], (xs[0], xs[0])), X, X, name="both")
    assert [port.name for port in made.graph.inputs] == ["xs0", "xs1"] and outputs_of(made) == ["out0", "out1.0", "out1.1"]
    first, (second, third) = made.function(policy="interpret")(X, X)
    np.testing.assert_array_equal(first, 2 * X)
    assert not np.shares_memory(second, third) and not np.shares_memory(second, X)


def test_functions_of_arrays_are_plain_functions():
    made = precast.jax.freeze(lambda x, y: (x + y, x * y), X, X).function(policy="interpret")
    assert isinstance(made, precast.Function)
    assert isinstance(frozen(lambda x: [x], X), precast.Structured)


def test_bundles_keep_the_nesting(tmp_path):
    path = tmp_path / "model.precast"
    precast.jax.freeze(model, PARAMS, "f64[batch,3]", path=path, isa="x86-64-v2")
    bundle = precast.load(path)
    loaded = precast.Structured.load(bundle, "model")
    made = loaded(PARAMS, X)
    assert type(made["moments"]).__name__ == "Moments" and made["moments"].spread[1] is None
    compare([made["out"], *made["moments"].spread], [model(PARAMS, X)["out"], *model(PARAMS, X)["moments"].spread])
    assert bundle.metadata("model")["documentation"] == "Returns activations and their moments."
    assert len(bundle.model(*jax.tree.leaves(PARAMS), X)) == 3
    precast.save(path, {"f": precast.graph("x: f64[?]", "x + 1")}, isa="x86-64-v2")
    with pytest.raises(precast.BundleError, match="no structure of `f`"):
        precast.Structured.load(precast.load(path), "f")


def test_metadata_of_users_keeps_the_nesting(tmp_path):
    made = precast.jax.freeze(model, PARAMS, X)
    about = {"model": {"documentation": "Mine.", "json": {"mine.unit": "m"}}}
    precast.save(tmp_path / "model.precast", {"model": made}, isa="x86-64-v2", metadata=about)
    bundle = precast.load(tmp_path / "model.precast")
    assert bundle.metadata("model")["documentation"] == "Mine." and bundle.metadata("model")["json"]["mine.unit"] == "m"
    assert precast.Structured.load(bundle, "model")(PARAMS, X)["out"].shape == (2, 2)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"layers": PARAMS["layers"]}, r"`params` has the keys \['layers'\]"),
        ({**PARAMS, "layers": PARAMS["layers"][:1]}, "`params.layers` is a `list`, expected a list of 2 values"),
        ({**PARAMS, "layers": tuple(PARAMS["layers"])}, "`params.layers` is a `tuple`"),
        ({**PARAMS, "scale": (1.0, 2.0)}, "`params.scale.1` is a `float`, expected None"),
        ([1.0], "`params` is a `list`, expected a dict"),
    ],
)
def test_arguments_of_another_nesting_are_rejected(wrong, message):
    fn = frozen(model, PARAMS, X)
    with pytest.raises(precast.CallTypeError, match=message):
        fn(wrong, X)
    with pytest.raises(precast.CallTypeError, match=r"`frozen` takes \(params, x\)"):
        fn(PARAMS)


def test_objects_are_arguments_by_their_attributes():
    @jax.tree_util.register_dataclass
    @dataclasses.dataclass
    class Line:
        slope: jax.Array
        shift: jax.Array

    made = precast.jax.freeze(lambda line, x: Line(line.slope * x, line.shift), Line(np.float64(2.0), np.float64(1.0)), X)
    assert [port.name for port in made.graph.inputs] == ["line.slope", "line.shift", "x"]
    result = made.function(policy="interpret")(Line(np.float64(3.0), np.float64(1.0)), X)
    assert isinstance(result, Line)
    np.testing.assert_array_equal(result.slope, 3 * X)


def test_extents_with_names_stay_free():
    def fn(x, w, y):
        return (x @ w - y).sum(), jnp.concatenate([y, y[:1]]), jnp.arange(x.shape[0] * 2 + 1) / x.shape[0], x[1:], x[::-1].reshape(-1)

    n, k = export.symbolic_shape("n, k")
    types = [jax.ShapeDtypeStruct(shape, "float64") for shape in ((n, k), (k,), (n,))]
    for specs in (types, ["f64[n,k]", "f64[k]", "f64[n]"]):
        made = precast.jax.freeze(fn, *specs)
        assert inputs_of(made) == ["x: f64[n,k]", "w: f64[k]", "y: f64[n]"]
        for rows in (1, 4):
            args = jnp.arange(rows * 3.0).reshape(rows, 3), jnp.ones(3), jnp.ones(rows)
            compare(made.function(policy="interpret")(*map(np.asarray, args)), fn(*args))
    with pytest.raises(precast.CallValueError, match="`w` has extent 2 on axis 0, but `k` is 3"):
        made.function(policy="interpret")(np.ones((4, 3)), np.ones(2), np.ones(4))


def test_extents_that_are_expressions_are_checked():
    (m,) = export.symbolic_shape("m")
    made = precast.jax.freeze(lambda a, b: a.reshape(-1, 2).sum(1) + b, jax.ShapeDtypeStruct((2 * m,), "float64"), jax.ShapeDtypeStruct((m,), "float64"))
    fn = made.function(policy="interpret")
    np.testing.assert_array_equal(fn(np.ones(4), np.ones(2)), [3.0, 3.0])
    with pytest.raises(precast.CallAssertionError, match=r"axis 0 of `a` must have extent 2\*m"):
        fn(np.ones(6), np.ones(2))
    with pytest.raises(precast.FreezeError, match="`m` is not an expression of the extents of inputs"):
        precast.jax.freeze(lambda a: a, jax.ShapeDtypeStruct((2 * m,), "float64"))


def test_unnamed_extents_and_names_of_inputs_are_no_conflict():
    assert inputs_of(precast.jax.freeze(lambda x: x.sum(), "f64[?,3]")) == ["x: f64[?,3]"]
    assert inputs_of(precast.jax.freeze(lambda n: n.sum(), "f64[n]")) == ["n: f64[n_2]"]


def test_texts_of_types_are_checked():
    for text, message in (("f64[n", "invalid type"), ("f80[2]", "unknown dtype `f80`")):
        with pytest.raises(precast.GraphValueError, match=message):
            precast.jax.freeze(lambda x: x, text)
    with jax.enable_x64(False), pytest.raises(precast.GraphValueError, match="64-bit mode"):
        precast.jax.freeze(lambda x: x, "f64[2]")


def test_precision_is_that_of_jax():
    with jax.enable_x64(False):
        made = precast.jax.freeze(lambda x, n: (x * 0.1, n / 3, jnp.arange(3)), jnp.ones(2), jnp.int32(2))
        assert inputs_of(made) == ["x: f32[2]", "n: i32[]"]
        assert [port.type.partition("[")[0] for port in made.graph.outputs] == ["f32", "f32", "i32"]


def test_refusals_name_primitives_lines_and_reasons():
    def fn(x):
        y = jax.lax.linalg.hessenberg(x)[0]
        jax.debug.print("{}", y[0, 0])
        return jax.jit(lambda y: jax.lax.linalg.eig(y)[0])(y)

    with pytest.raises(precast.FreezeError) as caught:
        precast.jax.freeze(fn, np.eye(3))
    refusals = {refusal.op: refusal for refusal in caught.value.refusals}
    assert {"hessenberg", "eig"} <= set(refusals) and len(refusals) == 3
    for refusal in refusals.values():
        assert "test_jax_freeze.py" in refusal.where and str(refusal) in str(caught.value)
    assert "calls Python" in str(caught.value)


def test_refusals_in_loops_are_listed_once():
    with pytest.raises(precast.FreezeError) as caught:
        precast.jax.freeze(lambda x: jax.lax.fori_loop(0, 3, lambda i, v: jax.lax.linalg.hessenberg(v)[0], x), np.eye(3))
    assert [refusal.op for refusal in caught.value.refusals] == ["hessenberg"]


def test_unsupported_arguments_are_named():
    with pytest.raises(precast.FreezeError, match="input `x`: unsupported dtype `float8_e4m3fn`"):
        precast.jax.freeze(lambda x: x, jax.ShapeDtypeStruct((2,), jnp.float8_e4m3fn))
    with pytest.raises(TypeError, match="found a `int`"):
        precast.jax.freeze(3)
    with pytest.raises(precast.FreezeError, match="the keys of `x`"):
        precast.jax.freeze(lambda x: x, {(1, 2): X})


def test_functions_need_no_arguments_but_results():
    np.testing.assert_array_equal(frozen(lambda: jnp.arange(3))(), np.arange(3))
    np.testing.assert_array_equal(frozen(lambda x: jnp.ones(2), X)(X), np.ones(2))
    with pytest.raises(precast.FreezeError, match="it returns no array"):
        precast.jax.freeze(lambda x: None, X)


def test_frozen_functions_show_their_graph():
    assert repr(precast.jax.freeze(lambda x: x + 1, X, name="next")).startswith("<precast.jax.Frozen next: <precast.Graph (x: f64[2,3])")


#: Calls the functions of a bundle in a process that cannot import JAX.
DEPLOYED = """
import json, sys
for name in ("jax", "jaxlib", "scipy", "ml_dtypes"):
    sys.modules[name] = None
import numpy as np, precast
model = precast.load(sys.argv[1])
for name, args in json.load(open(sys.argv[2])).items():
    arrays = lambda v: {k: arrays(e) for k, e in v.items()} if isinstance(v, dict) else np.array(v)
    made = precast.Structured.load(model, name)(*map(arrays, args))
    print(json.dumps(made if not isinstance(made, dict) else sorted(made), default=lambda v: v.tolist()))
"""


def test_bundles_run_with_numpy_alone(tmp_path):
    path, names = str(tmp_path / "models.precast"), ["attention", "cnn", "kalman_scan"]
    made = {name: precast.jax.freeze(CASES[name][0], *CASES[name][1]) for name in names}
    precast.save(path, {**made, "cnn_grad": precast.jax.freeze(*CASES["cnn_grad"][:1], *CASES["cnn_grad"][1])}, isa="x86-64-v2")
    arguments = {name: jax.tree.map(lambda each: np.asarray(each).tolist(), list(CASES[name][1])) for name in [*names, "cnn_grad"]}
    (tmp_path / "arguments.json").write_text(json.dumps(arguments))
    command = [sys.executable, "-c", DEPLOYED, path, str(tmp_path / "arguments.json")]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stderr
    *rows, keys = map(json.loads, ended.stdout.splitlines())
    assert keys == sorted(KERNELS)
    for name, row in zip(names, rows, strict=True):
        compare(np.array(row), np.asarray(jax.jit(CASES[name][0])(*CASES[name][1])), near=2)


def test_bundles_run_from_c_and_rust(tmp_path, elsewhere):
    path, point = str(tmp_path / "schools.precast"), np.linspace(-0.5, 0.5, 10)
    precast.jax.freeze(jax.value_and_grad(eight_schools), "f64[10]", path=path, name="schools", isa="x86-64-v2")
    ours = [np.atleast_1d(each).tolist() for each in precast.load(path).schools(point)]
    compare(tuple(map(np.array, ours)), tuple(np.atleast_1d(each) for each in jax.jit(jax.value_and_grad(eight_schools))(point)), near=4)
    # All bits are equal, because all of them run the same program.
    assert elsewhere.call(path, "schools", point.tolist()) == [ours, ours]
