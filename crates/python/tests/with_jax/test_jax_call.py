"""JAX functions that call functions of precast: values, transformations, shapes, errors."""

import threading

import pytest

pytest.importorskip("jax")
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
import precast  # noqa: E402
import precast.jax  # noqa: E402
from jax import export  # noqa: E402
from jax_frozen import compare  # noqa: E402

#: The exceptions of failed computations; JAX chooses.
FAILED = (jax.errors.JaxRuntimeError, ValueError)
X, Y = np.linspace(0.0, 1.0, 8), np.linspace(2.0, 3.0, 8)
LOSS = precast.graph("x: f64[n], s: f64", "out = sum(exp(-x*x))*s")


def function(inputs, outputs, **settings):
    return precast.function(inputs, outputs, policy="interpret", **settings)


def bell(x, y):
    return jnp.exp(-x * x) * y + 1


@pytest.fixture(scope="module")
def called():
    return precast.jax.call(function("x: f64[n], y: f64[n]", "out: f64[n] = exp(-x*x)*y + 1", name="bell"))


@pytest.fixture(scope="module")
def loss():
    gradient = precast.function(LOSS.value_and_grad(["x", "s"]), policy="interpret")
    return precast.jax.call(precast.function(LOSS, policy="interpret", name="loss"), gradient=gradient)


def plain_loss(x, s):
    return jnp.sum(jnp.exp(-x * x)) * s


TRANSFORMED = {
    "eager": lambda f: f(X, Y),
    "jit": lambda f: jax.jit(lambda x: f(x, x) * 2)(X),
    "names": lambda f: f(y=Y, x=X),
    "map": lambda f: jax.lax.map(lambda x: f(x, Y), np.ones((3, 8))),
    "scan": lambda f: jax.lax.scan(lambda c, x: (f(c, x), c.sum()), X, np.ones((4, 8))),
    "cond": lambda f: jax.lax.cond(X[0] < 1, f, lambda x, y: x, X, Y),
    "vmap": lambda f: jax.vmap(f, (0, None))(np.arange(24.0).reshape(3, 8), Y),
    "vmap_of_other_axes": lambda f: jax.vmap(f, (1, 0), 1)(np.arange(24.0).reshape(8, 3), np.ones((3, 8))),
    "vmap_of_vmap": lambda f: jax.vmap(jax.vmap(f, (0, None)), (None, 0))(np.ones((3, 8)), np.arange(16.0).reshape(2, 8)),
    "vmap_of_three_axes": lambda f: jax.vmap(jax.vmap(jax.vmap(f)), (None, 0))(np.ones((3, 2, 8)), np.arange(192.0).reshape(4, 3, 2, 8)),
    "empty": lambda f: f(X[:0], Y[:0]),
    "empty_batch": lambda f: jax.vmap(f)(np.ones((0, 8)), np.ones((0, 8))),
    "donated": lambda f: jax.jit(f, donate_argnums=0)(jnp.asarray(X), Y),
}


@pytest.mark.parametrize("name", TRANSFORMED)
def test_transformed_calls_match_jax(called, name):
    compare(TRANSFORMED[name](called), TRANSFORMED[name](bell), near=10)


DERIVATIVES = {
    "grad": lambda f: jax.grad(f, (0, 1))(X, 2.0),
    "jvp": lambda f: jax.jvp(f, (X, 2.0), (Y, 1.0)),
    "vmap_of_grad": lambda f: jax.vmap(jax.grad(f), (0, None))(np.arange(24.0).reshape(3, 8), 2.0),
    "grad_of_vmap": lambda f: jax.grad(lambda x: jax.vmap(f)(x, jnp.arange(3.0)).sum())(np.arange(24.0).reshape(3, 8) / 9),
    "grad_of_scan": lambda f: jax.grad(lambda x: jax.lax.scan(lambda c, s: (c * f(c, s), s), x, Y)[0].sum())(X),
    "grad_of_jit": lambda f: jax.grad(jax.jit(lambda x: jnp.sin(f(x * 2, x[0]))))(X),
    "grad_of_checkpoint": lambda f: jax.grad(jax.checkpoint(lambda x: f(jnp.cos(x), 1.5)))(X),
    "jacfwd": lambda f: jax.jacfwd(f)(X, 2.0),
}


@pytest.mark.parametrize("name", DERIVATIVES)
def test_derivatives_match_jax(loss, name):
    compare(DERIVATIVES[name](loss), DERIVATIVES[name](plain_loss), near=10)


def test_the_dtypes_are_those_of_xla():
    dtypes = ("bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64", "c64", "c128")
    for dtype in dtypes:
        copied = precast.jax.call(function(f"x: {dtype}[n]", f"out: {dtype}[n] = copy(x)"))
        given = jnp.asarray([0, 1, 1], precast.Type(dtype).dtype)
        made = copied(given)
        assert made.dtype == given.dtype and np.array_equal(made, given)


def test_several_results_have_their_dtypes_and_shapes():
    made = precast.jax.call(function("x: f32[n,k]", ["rows: f32[n] = sum(x, axis=1)", "top: f32[] = max(x)", "is_high: bool[n,k] = x > 2"]))
    rows, top, is_high = jax.vmap(made)(jnp.arange(24, dtype="float32").reshape(2, 3, 4))
    assert rows.shape == (2, 3) and top.shape == (2,) and is_high.shape == (2, 3, 4)
    assert top.tolist() == [11, 23] and rows.dtype == "float32" and is_high.dtype == bool and is_high.sum() == 21


def test_nested_arguments_match_jax():
    def predict(params, x):
        return {"y": jnp.tanh(x @ params["w"] + params["b"])}

    def error(params, x):
        return jnp.sum(predict(params, x)["y"] ** 2)

    params = {"b": np.ones(2), "w": np.arange(6.0).reshape(3, 2) / 6}
    x = np.linspace(-1, 1, 12).reshape(4, 3)
    made, wanted = precast.jax.freeze(predict, params, "f64[n,3]"), jax.jit(predict)(params, x)
    compare(precast.jax.call(made)(params, x), wanted, near=10)
    compare(precast.jax.call(made.function(policy="interpret"))(params, x=x), wanted, near=10)
    gradient = precast.jax.freeze(jax.value_and_grad(error), params, "f64[n,3]")
    frozen = precast.jax.call(precast.jax.freeze(error, params, "f64[n,3]"), gradient=gradient)
    compare(jax.grad(frozen)(params, x), jax.grad(error)(params, x), near=10)


def test_gradients_by_other_arguments_need_argnums():
    def fn(a, b):
        return jnp.sum(a * jnp.sin(b))

    specs = ("f64[n]", "f64[n]")
    made, gradient = precast.jax.freeze(fn, *specs), precast.jax.freeze(jax.value_and_grad(fn, 1), *specs)
    frozen = precast.jax.call(made, gradient=gradient, argnums=1)
    compare(jax.grad(frozen, 1)(X, Y), jax.grad(fn, 1)(X, Y), near=10)
    with pytest.raises(precast.CallTypeError, match="`a`"):
        jax.grad(frozen)(X, Y)
    compare(jax.jit(frozen)(X, Y), fn(X, Y), near=10)


def test_functions_without_gradient_cannot_be_differentiated(called):
    with pytest.raises(ValueError):
        jax.grad(lambda x: called(x, x).sum())(X)


def test_extents_without_names_need_shapes():
    joined = function("x: f64[?], y: f64[?]", "out = concatenate((x, y))")
    with pytest.raises(precast.CallValueError, match="shapes="):
        precast.jax.call(joined)(X, Y)
    made = precast.jax.call(joined, shapes=lambda x, y: (x[0] + y[0],))
    compare(made(X, Y[:3]), np.concatenate([X, Y[:3]]))
    wrong = precast.jax.call(joined, shapes=lambda x, y: x)
    with pytest.raises(FAILED, match="out"):
        wrong(X, Y).block_until_ready()
    with pytest.raises(precast.CallValueError):
        precast.jax.call(joined, shapes=lambda x, y: ())(X, Y)


def test_errors_of_ops_become_errors_of_jax():
    made = precast.jax.call(function("x: f64[n], i: i64[]", "out = x[i]"))
    assert made(X, 3) == X[3]
    with pytest.raises(FAILED, match="INVALID_ARGUMENT"):
        made(X, 9).block_until_ready()
    assert made(X, 7) == X[7]


@pytest.mark.parametrize(
    "arguments",
    [(X.astype("float32"), Y), (X, Y[:3]), (X[None], Y), (X,), (X, Y, Y), (X, Y.astype("int64"))],
    ids=["dtype", "extent", "rank", "too_few", "too_many", "integers"],
)
def test_wrong_arguments_are_errors(called, arguments):
    with pytest.raises(precast.CallError):
        called(*arguments)


def test_fixed_extents_are_checked():
    made = precast.jax.call(function("x: f64[3]", "out = x*2"))
    assert made(X[:3]).shape == (3,)
    with pytest.raises(precast.CallValueError):
        made(X)


def test_numbers_are_converted():
    made = precast.jax.call(function("x: f32[], k: i32[]", "out: f32[] = x*f32(k)"))
    assert made(1.5, 2).dtype == "float32" and made(1, 2) == 2
    with pytest.raises(precast.CallTypeError):
        made(1.5, 2.0)


def test_64_bit_types_need_the_64_bit_mode(called):
    jax.config.update("jax_enable_x64", False)
    try:
        with pytest.raises(precast.CallTypeError, match="jax_enable_x64"):
            called(X, Y)
        singles = precast.jax.call(function("x: f32[n]", "out: f32[n] = x + 1"))
        assert singles(X).dtype == "float32"
    finally:
        jax.config.update("jax_enable_x64", True)


@pytest.mark.parametrize("value", [None, 3, lambda x: x], ids=["none", "number", "function"])
def test_other_values_are_errors(value):
    with pytest.raises(precast.GraphError):
        precast.jax.call(value)


def test_gradients_of_other_functions_are_errors():
    made = precast.function(LOSS, policy="interpret")
    other = precast.function(precast.graph("x: f64[n]", "out = sum(x)").value_and_grad(["x"]), policy="interpret")
    with pytest.raises(precast.GraphError):
        precast.jax.call(made, gradient=other)
    with pytest.raises(precast.GraphError):
        precast.jax.call(function("x: f64[n]", "out = x*2"), gradient=function("x: f64[n]", ["out = x*2", "grad_x = x"]))


def test_calls_of_many_threads_match_jax(called):
    made, results = jax.jit(lambda x: called(x, x)), {}

    def work(at):
        results[at] = [made(X + at) for _ in range(50)]

    threads = [threading.Thread(target=work, args=(at,)) for at in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for at, found in results.items():
        assert all(np.allclose(each, bell(X + at, X + at)) for each in found)
    assert len(results) == 8


def test_exported_computations_call_the_same_function(called):
    n = export.symbolic_shape("n")[0]
    shape = jax.ShapeDtypeStruct((n,), "float64")
    checks = [export.DisabledSafetyCheck.custom_call("precast")]
    made = export.export(jax.jit(lambda x: called(x, x)), disabled_checks=checks)(shape)
    assert "precast" in made.mlir_module()
    compare(made.call(X), bell(X, X), near=10)


def test_unknown_numbers_are_errors(called):
    made = jax.jit(lambda x: jax.ffi.ffi_call("precast", jax.ShapeDtypeStruct((8,), "float64"))(x, function=np.uint64(3)))
    with pytest.raises(FAILED, match="another process"):
        made(X).block_until_ready()
    without = jax.jit(lambda x: jax.ffi.ffi_call("precast", jax.ShapeDtypeStruct((8,), "float64"))(x))
    with pytest.raises(FAILED):
        without(X).block_until_ready()


def test_buffers_of_other_types_are_errors(called):
    number = precast._native.xla_function(function("x: f64[n]", "out = x*2"))

    def raw(x, shape, dtype):
        return jax.ffi.ffi_call("precast", jax.ShapeDtypeStruct(shape, dtype))(x, function=np.uint64(number)).block_until_ready()

    assert np.array_equal(raw(X, (8,), "float64"), X * 2)
    for x, shape, dtype in ((X.astype("float32"), (8,), "float64"), (X, (8,), "float32"), (X, (9,), "float64"), (X[0], (8,), "float64")):
        with pytest.raises(FAILED):
            raw(x, shape, dtype)
    with pytest.raises(FAILED):
        raw(np.ones((3, 8)), (2, 8), "float64")


def test_functions_of_bundles_are_called(model):
    made = precast.jax.call(model.score, shapes=lambda x, y, z: ())
    compare(jax.jit(made)(X, Y, X), np.sum(np.exp(-X * X) * Y + X), near=10)
