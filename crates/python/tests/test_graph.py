"""Graphs that are built in Python: operations on variables match NumPy's operations on arrays."""

import itertools
import operator

import numpy as np
import precast
import pytest

# Literals promote as in NumPy 2. NumPy 1.26 needs this setting.
if np.lib.NumpyVersion(np.__version__) < "2.0.0":
    np._set_promotion_state("weak")

DTYPES = {
    "bool": np.bool_,
    "i8": np.int8,
    "u8": np.uint8,
    "i32": np.int32,
    "i64": np.int64,
    "u64": np.uint64,
    "f32": np.float32,
    "f64": np.float64,
    "c128": np.complex128,
}
BINARY = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.floordiv,
    operator.mod,
    operator.pow,
    operator.and_,
    operator.or_,
    operator.xor,
    operator.lshift,
    operator.rshift,
    operator.lt,
    operator.le,
    operator.gt,
    operator.ge,
    operator.eq,
    operator.ne,
]
UNARY = [operator.neg, operator.pos, operator.abs, operator.invert]


def values(dtype):
    return np.array([0, 1, 2, 3, 1], dtype)


def interpreted(inputs, outputs, *arrays):
    return precast.function(inputs, outputs, policy="interpret")(*arrays)


def agrees(got, want):
    got, want = np.asarray(got), np.asarray(want)
    assert got.dtype == want.dtype and got.shape == want.shape
    if got.dtype.kind in "fc":
        with np.errstate(all="ignore"):
            assert np.allclose(got, want, equal_nan=True, rtol=1e-6)
    else:
        assert np.array_equal(got, want)


@pytest.mark.parametrize("operate", BINARY, ids=lambda each: each.__name__)
def test_operators_match_numpy(operate):
    inputs, arrays = [], []
    for name, dtype in DTYPES.items():
        inputs.append(precast.input(name, f"{name}[?]"))
        arrays.append(values(dtype))
    outputs, wants = [], []

    def both(left, right, a, b):
        with np.errstate(all="ignore"):
            try:
                want = operate(a, b)
            except TypeError:
                with pytest.raises((TypeError, ValueError)):
                    operate(left, right)
                return
        outputs.append(operate(left, right))
        wants.append(want)

    for (x, a), (y, b) in itertools.product(zip(inputs, arrays), repeat=2):
        both(x, y, a, b)
    for x, a in zip(inputs, arrays):
        for number in (True, 2, 2.5, 1 + 2j):
            both(x, number, a, number)
            both(number, x, number, a)
        # NumPy 1.26 squares if the exponent is 2, for every dtype.
        if operate is not operator.pow or np.lib.NumpyVersion(np.__version__) >= "2.0.0":
            both(x, np.float32(2), a, np.float32(2))
        both(np.arange(5, dtype="i8"), x, np.arange(5, dtype="i8"), a)
    for got, want in zip(interpreted(inputs, outputs, *arrays), wants, strict=True):
        agrees(got, want)


@pytest.mark.parametrize("operate", UNARY, ids=lambda each: each.__name__)
def test_unary_operators_match_numpy(operate):
    for name, dtype in DTYPES.items():
        x, a = precast.input("x", f"{name}[?]"), values(dtype)
        try:
            want = operate(a)
        except TypeError:
            if operate is not operator.pos:
                with pytest.raises((TypeError, ValueError)):
                    operate(x)
            continue
        agrees(interpreted([x], operate(x), a), want)


FUNCTIONS = {
    "ufuncs": lambda x, y: [np.exp(x), np.add(x, y), np.maximum(x, 1.5), np.arctan2(x, y), np.exp2(y), np.isnan(x)],
    "numpy": lambda x, y: [
        np.sum(x),
        np.sum(x, axis=0),
        np.mean(x, axis=1, keepdims=True),
        np.std(x, axis=0, ddof=1),
        np.where(x > y, x, y),
        np.concatenate([x, y], axis=1),
        np.stack([x, y]),
        np.clip(x, 0.5, 2),
        np.argmax(x, axis=1),
        np.cumsum(x, axis=0),
        np.sort(x, axis=0),
        np.transpose(x),
        np.dot(x, np.transpose(y)),
        np.einsum("ij,kj->ik", x, y),
        np.prod(x),
        np.any(x > 1),
        np.ravel(x),
    ],
    "reductions": lambda x, y: [np.add.reduce(x), np.multiply.reduce(x, axis=1), np.maximum.reduce(x, axis=None), np.add.accumulate(x)],
    "methods": lambda x, y: [
        x.sum(),
        x.sum(0),
        x.mean(axis=1),
        x.T,
        x.reshape(-1),
        x.reshape((2, -1)),
        x.astype("float32"),
        x.astype(np.int64),
        x.astype(int),
        x.max(),
        x.dot(y.T),
        x.ravel(),
        x @ y.T,
        x.cumsum(axis=1),
        x.real,
    ],
    "indices": lambda x, y: [
        x[0],
        x[-1, 1],
        x[:, 1:],
        x[::-1, ::2],
        x[..., 0],
        x[None, :, 1],
        x[1:][0],
        x[[1, 0]],
        x[np.array([1, 1])],
        x[:, -1:0:-1],
        x[0:2],
    ],
}


@pytest.mark.parametrize("which", FUNCTIONS)
def test_functions_methods_and_indices_match_numpy(which):
    x, y = precast.input("x", "f64[?,?]"), precast.input("y", "f64[?,?]")
    a, b = np.random.default_rng(3).normal(size=(2, 4, 6))
    outputs = FUNCTIONS[which](x, y)
    wants = FUNCTIONS[which](a, b)
    for got, want in zip(interpreted([x, y], outputs, a, b), wants, strict=True):
        agrees(got, want)


def test_module_exposes_every_library_function():
    x = precast.input("x", "f64[?]")
    assert "exp" in dir(precast) and len(dir(precast)) > 150
    assert "exp(x)" in precast.exp.__doc__ and repr(precast.exp) == "<precast function exp(x)>"
    a = np.linspace(0.1, 2, 5)
    got = interpreted([x], [precast.exp(x), precast.softplus(x) if "softplus" in dir(precast) else precast.log(x)], a)
    agrees(got[0], np.exp(a))
    with pytest.raises(AttributeError, match="no attribute `nothing`"):
        precast.nothing


def test_slices_can_be_set_and_incremented():
    x, y = precast.input("x", "f64[?]"), precast.input("y", "f64[?]")
    a, b = np.arange(5.0), np.array([10.0, 20.0])
    want, more = a.copy(), a.copy()
    want[1:3], more[1:3] = b, a[1:3] + b
    got = interpreted([x, y], [x[1:3].set(y), x[1:3].inc(y)], a, b)
    agrees(got[0], want)
    agrees(got[1], more)


def test_extents_are_graph_or_python_integers():
    x = precast.input("x", "f64[?,3]")
    rows, columns = x.shape
    assert x.ndim == 2 and x.dtype == np.float64 and x.type == "f64[?,3]"
    assert x.type.shape == (None, 3) and x.type.ndim == 2 and x.type.dtype == "float64"
    a = np.ones((2, 3), np.float32)
    assert interpreted([x], x.size, a.astype("f8")) == 6
    agrees(interpreted([x], precast.ones((rows, 2)) * columns, a.astype("f8")), np.full((2, 2), 3.0))
    y = precast.input("y", "f32[?]")
    assert (y * y.shape[0]).type == "f32[?]"
    first, second, third = precast.input("z", "f64[3,?]")
    assert third.ndim == 1 and len(precast.input("w", "f64[3]")) == 3
    for wrong in (lambda: list(x), lambda: len(x), lambda: iter(y).__next__()):
        with pytest.raises(precast.GraphTypeError, match="length|number of rows"):
            wrong()


def test_variables_have_no_values():
    x = precast.input("x", "f64[?]")
    for wrong in (lambda: np.add.at(x, 0, 1), lambda: bool(x), lambda: float(x), lambda: np.asarray(x), lambda: x in [x + 1, 1], lambda: int(x), lambda: range(x)):
        with pytest.raises(TypeError):
            wrong()
    assert hash(x) is not None and {x: 1}[x] == 1
    assert divmod(x, 2)[0].type == "f64[?]"


@pytest.mark.parametrize(
    "wrong, kind, text",
    [
        (lambda x: x @ precast.input("m", "f64[?,?,?,?]")[0, 0, 0, 0], TypeError, "matmul"),
        (lambda x: x + "a", TypeError, "expected an array or a number"),
        (lambda x: x + object(), TypeError, "found a `object`"),
        (lambda x: x + {}, TypeError, "found a `dict`"),
        (lambda x: x.sum(axis=3), ValueError, "axis"),
        (lambda x: x.sum(nothing=3), ValueError, "nothing"),
        (lambda x: x[0, 0], (TypeError, ValueError), "subtensor"),
        (lambda x: x["a"], (TypeError, ValueError), "subtensor"),
        (lambda x: x & 1.5, TypeError, "bitwise_and"),
        (lambda x: x.nothing, AttributeError, "has no attribute `nothing`"),
        (lambda x: np.add(x, 1, out=np.zeros(3)), TypeError, "takes no `out`"),
        (lambda x: np.logaddexp2(x, 1), TypeError, "unknown function `logaddexp2`"),
        (lambda x: np.unwrap(x), TypeError, "unknown function `unwrap`"),
        (lambda x: x + np.array(["a"]), TypeError, "unsupported dtype"),
        (lambda x: precast.input("x", "f99[?]"), ValueError, "f99"),
        (lambda x: precast.exp(), TypeError, "exp"),
        (lambda x: precast.function([x], [x + precast.input("y", "f64[?]")]), ValueError, "missing input `y"),
        (lambda x: precast.function([x, x], [x]), ValueError, "duplicate name"),
        (lambda x: precast.function([x], []), ValueError, "no outputs"),
        (lambda x: precast.function([1], [x]), TypeError, "must be a `precast.Variable`"),
        (lambda x: precast.function("x: f64[?]", "out = nothing(x)"), ValueError, "nothing"),
        (lambda x: precast.function("x", "out = x"), ValueError, "x"),
        (lambda x: precast.function([x], x, policy="never"), ValueError, "unknown policy"),
        (lambda x: precast.function([x], x, layers="a"), TypeError, "list of paths"),
        (lambda x: precast.function([x], x, layers=["nothing.precast"]), OSError, "nothing.precast"),
    ],
)
def test_mistakes_raise_at_their_call(wrong, kind, text):
    x = precast.input("x", "f64[?]")
    with pytest.raises(kind, match=text) as caught:
        wrong(x)
    assert isinstance(caught.value, (precast.PrecastError, AttributeError))


def test_deeply_nested_lists_are_rejected():
    x = precast.input("x", "f64[?]")
    nested = [x]
    for _ in range(100):
        nested = [nested]
    with pytest.raises(precast.GraphValueError, match="nested too deeply"):
        precast.stack(nested)
    endless = []
    endless.append(endless)
    with pytest.raises(precast.GraphValueError, match="nested too deeply"):
        precast.stack(endless)


def test_graphs_may_be_deep():
    x = precast.input("x", "i64[]")
    y = x
    for _ in range(12_000):
        y = y + 1
    assert y.type == "i64[]"
    graph = precast.graph([x], y)
    assert len(graph.outputs) == 1
    del y, graph


def test_an_intermediate_value_may_be_an_input():
    x = precast.input("x", "f64[?]")
    y = precast.exp(x)
    agrees(interpreted([y], y * 2, np.ones(2)), np.full(2, 2.0))


def test_outputs_have_names():
    x = precast.input("x", "f64[?]")
    y = x * 2
    y.name = "twice"
    function = precast.function([x], {"a": x + 1, "b": y}, policy="interpret")
    assert [str(port) for port in function.outputs] == ["a: f64[?]", "b: f64[?]"]
    function = precast.function([x], [y, x + 1], policy="interpret")
    assert [port.name for port in function.outputs] == ["twice", "out1"]
    assert precast.function(x, y, policy="interpret").outputs[0].name == "twice"
    assert repr(x) == "<precast.Variable x: f64[?]>" and repr(x + 1) == "<precast.Variable f64[?]>"


def test_graphs_are_shown():
    x = precast.input("x", "f64[?]")
    graph = precast.graph([x], {"y": precast.exp(x)})
    assert repr(graph) == "<precast.Graph (x: f64[?]) -> (y: f64[?])>" and "exp" in str(graph)
    assert graph._repr_svg_().startswith("<svg") and "exp" in graph._repr_svg_() and "<svg" in graph._repr_html_()
    assert "exp" in x.__class__._repr_svg_(precast.exp(x))
    assert '"exp"' in graph.json()
    function = precast.function(graph, policy="interpret")
    assert function.graph is graph and function._repr_svg_() == graph._repr_svg_()
    assert function._repr_html_() == graph._repr_html_() and function._repr_svg_() in function._repr_html_()


def test_bundle_function_has_a_signature_without_picture(model):
    # Notebooks show the text in this case.
    assert model.score.graph is None and model.score._repr_svg_() is None and model.score._repr_html_() is None
    assert repr(model.score) == "<precast.Function score(x: f64[?], y: f64[?], z: f64[?]) -> (out: f64[])>"


def test_threads_build_graphs_at_once():
    import threading

    failed = []

    def work():
        try:
            x = precast.input("x", "f64[?]")
            for n in range(150):
                assert (precast.exp(x) * n + np.ones(3)).sum().type == "f64[]"
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def test_finalizers_may_build_graphs():
    x = precast.input("x", "f64[?]")
    gone = []

    class Going(precast.COp):
        def make_node(self, x):
            return precast.Apply(self, [x], [x.type()])

        def perform(self, node, inputs, output_storage):
            output_storage[0][0] = inputs[0]

        def __del__(self):
            gone.append((precast.exp(x) + 1).type)

    for _ in range(3000):
        Going()(x)
    y = x
    for _ in range(5000):
        y = y + 1
    assert len(gone) >= 2000


def test_unused_constants_are_freed():
    resource = pytest.importorskip("resource")
    x, big = precast.input("x", "f64[?]"), np.zeros(1 << 20)
    for _ in range(10):
        x * big
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(100):
        x * big
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 150_000


def test_errors_in_threads_do_not_deadlock():
    import threading

    def work():
        x = precast.input("x", "f64[?]")
        for _ in range(200):
            for wrong in (lambda: x & 1.5, lambda: x + "a", lambda: x.sum(axis=4), lambda: x * np.ones(2)):
                try:
                    wrong()
                except precast.GraphError:
                    pass

    threads = [threading.Thread(target=work, daemon=True) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
        assert not thread.is_alive()
