"""Functions as NumPy ufuncs and gufuncs."""

import gc

import numpy as np
import precast
import pytest


def function(inputs, outputs, name="f"):
    return precast.function(inputs, outputs, name=name, policy="jit")


@pytest.fixture(scope="module")
def fma():
    wide = function("x: f64[?], y: f64[?]", "out = x*y + 1", "fma")
    narrow = function("x: f32[?], y: f32[?]", "out = x*y + 1", "fma")
    return wide.ufunc(narrow)


def plain(x, y):
    return x * y + 1


def test_ufunc_has_a_loop_per_dtype(fma):
    assert type(fma) is np.ufunc and fma.__name__ == "fma" and (fma.nin, fma.nout) == (2, 1)
    assert fma.types == ["ff->f", "dd->d"] and "fma(x: f64[?], y: f64[?])" in fma.__doc__
    assert fma(np.float32(2), np.float32(3)).dtype == np.float32
    assert fma(np.float32(2), np.float64(3)).dtype == np.float64
    assert fma(2, 3) == 7.0


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16, np.bool_, ">f8", np.float16])
def test_ufunc_broadcasts_and_casts_like_numpy(fma, dtype):
    a = (np.random.default_rng(1).normal(size=(3, 4, 5)) * 4).astype(dtype)
    for x in (a, a[::-1, ::2], a.T, a[:0], a[..., 0], np.asfortranarray(a)):
        for y in (x, 2, x[..., :1], np.float32(1.5)):
            want = plain(x.astype("f8"), np.asarray(y).astype("f8"))
            assert np.allclose(fma(x, y), want, rtol=1e-5)


def test_methods_of_ufuncs_are_right(fma):
    x, y = np.random.default_rng(2).normal(size=(2, 6))
    own = np.frompyfunc(plain, 2, 1)
    assert np.allclose(fma.reduce(x), float(own.reduce(x)))
    assert np.allclose(fma.accumulate(x), own.accumulate(x, dtype=object).astype(float))
    assert np.allclose(fma.outer(x, y), plain(x[:, None], y))
    at = x.copy()
    fma.at(at, [0, 0, 3], 2.0)
    want = x.copy()
    for i in (0, 0, 3):
        want[i] = plain(want[i], 2.0)
    assert np.allclose(at, want)
    out = np.zeros(6)
    assert fma(x, y, out=out, where=x > 0) is out and np.allclose(out, np.where(x > 0, plain(x, y), 0))
    for shift in range(4):
        room = np.arange(12.0)
        want = plain(room[:8], room[1:9])
        fma(room[:8], room[1:9], out=room[shift : shift + 8])
        assert np.allclose(room[shift : shift + 8], want)


@pytest.mark.parametrize("args", ["x: f64", "x: f64, y: f64", "x: f64, y: f64, z: f64", "x: f32", "x: f32, y: f32", "x: i32", "x: f64, y: i32"])
def test_functions_of_numbers_are_ufuncs(args):
    names = [each.split(":")[0].strip() for each in args.split(",")]
    f = function(args, "out = " + " + 2*".join(names))
    ufunc = f.ufunc()
    dtypes = {"f64": "f8", "f32": "f4", "i32": "i4"}
    arrays = [np.arange(6).reshape(2, 3).astype(dtypes[port.type]) + at for at, port in enumerate(f.inputs)]
    want = arrays[0] + sum(2 * each for each in arrays[1:])
    assert np.array_equal(ufunc(*arrays), want) and ufunc(*(each[::-1, ::-1] for each in arrays))[0, 0] == want[-1, -1]


def test_several_results_are_several_outputs():
    ufunc = function("x: f64[?]", ["a = x + 1", "b = x * 2"]).ufunc()
    a, b = ufunc(np.arange(4.0)[::2])
    assert ufunc.nout == 2 and np.array_equal(a, [1, 3]) and np.array_equal(b, [0, 4])


def test_gufuncs_call_for_each_index():
    dot = function("x: f64[?], y: f64[?]", "out = sum(x*y)", "dot").gufunc("(n),(n)->()")
    x, y = np.random.default_rng(4).normal(size=(2, 3, 4, 5))
    assert dot.signature == "(n),(n)->()" and np.allclose(dot(x, y), np.einsum("ijk,ijk->ij", x, y))
    assert np.allclose(dot(x.T, y.T), np.einsum("ijk,ijk->kj", x, y)) and np.allclose(dot(x, y[0, 0]), x @ y[0, 0])
    product = function("a: f64[?,?], b: f64[?,?]", "out = a @ b", "product").gufunc("(n,m),(m,k)->(n,k)")
    assert np.allclose(product(x, y.swapaxes(-1, -2)), x @ y.swapaxes(-1, -2))
    with pytest.raises(ValueError):
        dot(x, y[..., :2])


@pytest.mark.parametrize("wrong", ["", "n,n->()", "(n),(n)", "(n->()", "(n),(n),(n)->()", "()->()", "(n,m),(n)->()"])
def test_mismatched_signatures_are_rejected(wrong):
    f = precast.function("x: f64[?], y: f64[?]", "out = sum(x*y)", policy="interpret")
    with pytest.raises(precast.GraphError):
        f.gufunc(wrong)


@pytest.mark.parametrize(
    "inputs, outputs",
    [("x: f64[?]", "y = sum(x)"), ("x: f64[?], s: f64[]", "y = x*s"), ("x: f64[?,?]", "y = x*2"), ("x: f64[?]", "y = cumsum(x)")],
)
def test_unsupported_functions_have_a_reason(inputs, outputs):
    with pytest.raises(precast.GraphTypeError, match="cannot be a loop: "):
        function(inputs, outputs).ufunc()
    with pytest.raises(precast.GraphTypeError, match="different numbers"):
        function("x: f64[?]", "y = -x").ufunc(function("x: f64[?], z: f64[?]", "y = x + z"))
    with pytest.raises(precast.GraphTypeError, match="expected a `precast.Function`"):
        function("x: f64[?]", "y = -x").ufunc(np.exp)


@pytest.mark.parametrize("dtype", ["i8", "i4", "i2", ">i8", "?"])
@pytest.mark.parametrize("size", [1, 2, 5000, 20000])
def test_op_errors_are_raised(dtype, size):
    power = function("a: i64[?], b: i64[?]", "y = a ** b").ufunc()
    base = np.full(size, 1, dtype)
    for args in ((base, np.full(size, -2)), (base.astype(np.int64), np.int8(-2)), (1, -2)):
        with pytest.raises(precast.CallValueError, match="negative integer powers"):
            power(*args)
        with pytest.raises(precast.CallValueError, match="negative integer powers"):
            power(*args, out=np.zeros(np.broadcast(*args).shape, "f8"), where=np.True_, casting="unsafe")
    assert list(power([2, 3], np.int8([3, 2]))) == [8, 9]


@pytest.mark.parametrize("dtype", ["i8", "i4"])
def test_method_errors_have_the_op_error_as_cause(dtype):
    power = function("a: i64[?], b: i64[?]", "y = a ** b").ufunc()
    bad = np.array([2, -1, -1], dtype)
    for work in (power.reduce, power.accumulate, lambda x: power.outer(x, x), lambda x: power.at(x, [0], -1)):
        with pytest.raises((precast.CallValueError, SystemError)) as caught:
            work(bad.copy())
        told = [caught.value]
        while told[-1].__cause__ is not None:
            told.append(told[-1].__cause__)
        assert isinstance(told[-1], precast.CallValueError) and "negative integer powers" in str(told[-1]), told
    assert list(power([2, 3], [3, 2])) == [8, 9]


class Calls(precast.COp):
    """Computes a number with a Python function."""

    def __init__(self, function):
        self.function = function

    def make_node(self, x):
        return precast.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = np.float64(self.function(inputs[0]))


def test_nested_ufunc_raises_at_its_call():
    power = function("a: i64[?], b: i64[?]", "y = a ** b").ufunc()
    met = []

    def meets(x):
        for work in (lambda: power(np.int32(2), np.int32(-1)), lambda: power.reduce(np.array([2, -1]))):
            with pytest.raises((precast.CallValueError, SystemError)):
                work()
            met.append(float(x))
        return power(2, 3) + x

    x = precast.input("x", "f64[]")
    outer = precast.function([x], {"y": Calls(meets)(x)}, policy="interpret").ufunc()
    assert list(outer(np.float32([1, 2]))) == [9, 10] and met == [1, 1, 2, 2]
    x = precast.input("x", "f64[]")
    outer = precast.function([x], {"y": Calls(lambda x: power(2, -1))(x)}, policy="interpret").ufunc()
    with pytest.raises(precast.CallValueError) as caught:
        outer(np.float32([1, 2]))
    assert isinstance(caught.value.__cause__, precast.CallValueError)


class RaisesThird(precast.COp):
    """Doubles its input. The third call raises."""

    def __init__(self, calls):
        self.calls = calls

    def make_node(self, x):
        return precast.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        self.calls.append(inputs[0])
        if len(self.calls) == 3:
            raise ValueError("third")
        output_storage[0][0] = inputs[0] * 2


@pytest.mark.parametrize("signature", [None, "(n)->(n)"])
def test_no_code_runs_under_a_pending_exception(signature):
    calls = []
    x = precast.input("x", "f64[?]" if signature else "f64[]")
    f = precast.function([x], {"y": RaisesThird(calls)(x)}, policy="interpret")
    ufunc = f.gufunc(signature) if signature else f.ufunc()
    # NumPy calls the loop several times: for each buffer, and for each row.
    array = np.arange(80.0).reshape(4, 4, 5)[:, :2, :3:2] if signature else np.arange(9000)
    for _ in range(2):
        with pytest.raises(precast.CallValueError) as caught:
            ufunc(array)
        assert repr(caught.value.__cause__) == "ValueError('third')"
        assert len(calls) == 3
        calls.clear()
    # The ufunc works again after an error.
    calls.extend([None] * 3)
    assert np.array_equal(ufunc(array), array * 2)


def test_unused_vector_lanes_raise_no_warnings():
    ufunc = function("x: f64[?]", "y = log(x) + exp(x) / x").ufunc()
    with np.errstate(all="raise"):
        for n in range(1, 40):
            ufunc(np.full(n, 0.5))


def test_a_bundles_graphs_are_loops(model):
    ufunc = model.ufunc("gauss")
    assert ufunc.types == ["d->d"] and ufunc(0.0) == 0.5
    with pytest.raises(precast.EntryError):
        model.ufunc("nothing")


def test_bundle_ufunc_has_a_loop_per_dtype(model):
    clip = model.ufunc("clip")
    assert type(clip) is np.ufunc and clip.types == ["iii->i", "fff->f", "ddd->d"]
    x = np.random.default_rng(5).normal(size=(3, 4)) * 9
    for dtype in ("i4", "f4", "f8"):
        each, low = x.astype(dtype), np.arange(-2, 2).astype(dtype)
        got = clip(each[::-1], low, dtype_of(dtype)(3))
        assert got.dtype == dtype and np.array_equal(got, np.clip(each[::-1], low, dtype_of(dtype)(3)))
    # Other dtypes are cast to the narrowest loop that can hold them.
    assert clip(np.int16(7), np.int8(0), np.int16(5)).dtype == np.int32 and clip(np.float16(7), np.float16(0), np.float16(5)) == 5


def dtype_of(text):
    return np.dtype(text).type


def test_unsupported_loops_are_skipped_with_a_reason(model):
    said = [line for line in model.ufunc("clip").__doc__.split("\n") if "cannot be a loop" in line]
    assert len(said) == 2
    assert any("clip.bf16(" in line and "`#1E#1E#1E)#1E`" in line and "no type for `#1E`" in line for line in said), said
    assert any("clip.whole(" in line and "not elementwise" in line for line in said), said
    with pytest.raises(precast.GraphTypeError, match="keep_bf16.*no type for"):
        model.ufunc("keep_bf16")
    # A function that is passed explicitly is not left out.
    with pytest.raises(precast.GraphTypeError, match="no type for"):
        model["clip.f64"].ufunc(model["clip.bf16"])


def test_a_bundles_graphs_are_loops_of_a_gufunc(model):
    dot = model.ufunc("dot", "(n),(n)->()")
    assert dot.types == ["ff->f", "dd->d"] and dot.signature == "(n),(n)->()"
    x, y = np.random.default_rng(6).normal(size=(2, 3, 5))
    assert np.allclose(dot(x, y), np.einsum("ij,ij->i", x, y))
    assert dot(x.astype("f4"), y.astype("f4")).dtype == np.float32


def test_layer_ufunc_has_a_loop_per_dtype(bundle, tmp_path):
    hypot = precast.ufunc("hypot", layers=[bundle])
    assert type(hypot) is np.ufunc and hypot.types == ["ff->f", "dd->d"] and "no type for `#1E`" in hypot.__doc__
    x, y = np.random.default_rng(7).normal(size=(2, 3, 4))
    for dtype, bound in (("f4", 1e-6), ("f8", 1e-15)):
        got = hypot(x.astype(dtype)[:, ::-1], y[0].astype(dtype))
        assert got.dtype == dtype and np.allclose(got, np.hypot(x[:, ::-1], y[0]), rtol=bound * 4)
    product = precast.ufunc("matmul", "(n,m),(m,k)->(n,k)", layers=[bundle])
    assert product.types == ["ff->f", "dd->d"] and np.allclose(product(x, y.T), x @ y.T)
    assert product(np.stack([x, y]), y.T).shape == (2, 3, 3)
    with pytest.raises(precast.MissError, match="no layer has `expm1`.*\n.*ndim = \\[1\\]"):
        precast.ufunc("expm1", layers=[bundle])
    with pytest.raises(precast.GraphValueError, match="no function `clap`"):
        precast.ufunc("clap", layers=[bundle])
    with pytest.raises(precast.GraphTypeError, match="cannot be a loop"):
        precast.ufunc("matmul", "(n),(n,k)->(k)", layers=[bundle])


@pytest.mark.parametrize("wrong", ["garbage", "", "(n)", "->(n)", "(n),->(n)", "(n,m->(n)"])
def test_invalid_signature_is_not_a_miss(bundle, model, wrong):
    with pytest.raises(precast.GraphValueError, match="invalid gufunc signature"):
        precast.ufunc("hypot", wrong, layers=[bundle])
    with pytest.raises(precast.GraphValueError, match="invalid gufunc signature"):
        model.ufunc("dot", wrong)


def test_layer_lookup_uses_input_ranks(bundle):
    with pytest.raises(precast.MissError, match="for arrays of 1 dimension.*\n.*ndim = \\[1\\]"):
        precast.ufunc("expm1", " (n) -> (n, n) ", layers=[bundle])
    with pytest.raises(precast.MissError, match="for arrays of 1, 2 dimension.*\n.*ndim = \\[1, 2\\]"):
        precast.ufunc("expm1", "(n,m),(m)->()", layers=[bundle])


def test_two_loops_with_equal_dtypes_are_rejected():
    one, two = function("x: f64[?]", "y = x + 1", "one"), function("x: f64", "y = x + 1", "two")
    with pytest.raises(precast.GraphTypeError, match="`one.*` and `two.*` have the same dtypes"):
        one.ufunc(two)


def test_plain_name_wins_among_equal_loops(tmp_path):
    graphs = {
        "score.grad": precast.graph("x: f64[?]", "y = x*0 + 2"),
        "score": precast.graph("x: f64[?]", "y = x*2"),
        "score.f32": precast.graph("x: f32[?]", "y = x*2"),
    }
    precast.save(tmp_path / "score.precast", graphs, isa="x86-64-v2")
    score = precast.load(tmp_path / "score.precast").ufunc("score")
    assert score.types == ["f->f", "d->d"] and list(score([1.0, 3.0])) == [2.0, 6.0]
    (said,) = [line for line in score.__doc__.split("\n") if "left out" in line]
    assert said.startswith("`score.grad(x: f64[?])") and "left out: `score(x: f64[?])" in said


def test_ufuncs_are_created_and_freed_repeatedly():
    def loops():
        gc.collect()
        return sum(type(each).__name__ == "ufunc" for each in gc.get_objects())

    f = function("x: f64[?]", "y = x + 1")
    before = loops()
    for _ in range(500):
        ufunc = f.ufunc()
        assert ufunc(1.0) == 2.0
    del ufunc
    assert loops() == before


def test_sizes_of_a_signature_are_numbers():
    made = function("x: f64[?], y: f64[?]", "out = x[0] + sum(y)").gufunc("(3),(03)->()")
    np.testing.assert_array_equal(made(np.ones((2, 3)), np.ones((2, 3))), [4.0, 4.0])


@pytest.mark.parametrize("shapes", [((0,), (4,)), ((4,), (0,)), ((2, 0), (2, 3))])
def test_empty_results_are_returned(shapes):
    made = function("x: f64[?], y: f64[?]", "out = outer(x, y)").gufunc("(n),(m)->(n,m)")
    x, y = map(np.ones, shapes)
    assert made(x, y).shape == (*shapes[0], shapes[1][-1])
