"""Functions as SciPy callbacks: every form, with the results of Python callbacks, and without running Python code."""

import gc
import math
import re
import sys
from pathlib import Path

import numpy as np
import precast
import pytest
from test_ufunc import RaisesThird

integrate = pytest.importorskip("scipy.integrate")
ndimage = pytest.importorskip("scipy.ndimage")


def function(inputs, outputs, **settings):
    return precast.function(inputs, outputs, **{"policy": "jit", **settings})


def calls_of(work):
    """Returns the result of `work`, and the file and name of every Python or C function called from Python code during it."""
    calls = []

    def count(frame, event, arg):
        if event in ("call", "c_call"):
            calls.append((frame.f_code.co_filename, getattr(arg, "__name__", frame.f_code.co_name)))

    sys.setprofile(count)
    try:
        result = work()
    finally:
        sys.setprofile(None)
    return result, calls


def has_no_call(few, many):
    """Returns the results of two works that differ only in the number of callbacks, and checks that both make the same Python calls."""
    (first, some), (second, more) = calls_of(few), calls_of(many)
    assert some == more, (len(some), len(more))
    # In this file: `work` and the call that stops the counting.
    assert len([file for file, _ in some if file == __file__]) == 2, some
    return first, second


def rss_kib() -> int:
    """Returns the current memory of the process. The peak memory could belong to another test."""
    status = Path("/proc/self/status")
    if not status.is_file():
        pytest.skip("this system does not report the memory of a process")
    return int(re.search(r"VmRSS:\s+(\d+) kB", status.read_text())[1])


def gauss(x):
    return math.exp(-x * x) * 0.5


@pytest.mark.parametrize("how", ["low_level_callable", "ctypes"])
def test_quad_runs_without_python_calls(model, how):
    callback = model.gauss.low_level_callable() if how == "low_level_callable" else model.gauss.native.ctypes()
    easy, hard = ((lambda end=end: integrate.quad(callback, -end, end, full_output=1, limit=400)) for end in (0.5, 30.0))
    (near, _, told), (far, _, much) = has_no_call(easy, hard)
    assert much["neval"] > 5 * told["neval"]
    assert near == pytest.approx(integrate.quad(gauss, -0.5, 0.5)[0], rel=1e-14)
    assert far == pytest.approx(integrate.quad(gauss, -30, 30, limit=400)[0], rel=1e-12)
    # The count detects a Python function of any name.
    _, calls = calls_of(lambda: integrate.quad(lambda x: math.exp(-x * x), -0.5, 0.5))
    assert [name for _, name in calls].count("exp") == 21


def test_quad_passes_args_and_bound_values():
    f = function("x: f64, a: f64, b: f64", "out = exp(-a*x*x) + b*x")
    plain = lambda x, a, b: math.exp(-a * x * x) + b * x
    want, _ = integrate.quad(plain, 0.2, 3, args=(1.5, -2.0))
    several = f.low_level_callable()
    assert several.signature == "double (int, double *, void *)"
    assert integrate.quad(several, 0.2, 3, args=(1.5, -2.0))[0] == pytest.approx(want, rel=1e-13)
    one = f.low_level_callable(a=1.5, b=-2)
    assert one.signature == "double (double, void *)"
    assert has_no_call(lambda: integrate.quad(one, 0.2, 3)[0], lambda: integrate.quad(one, 0.2, 3, epsabs=1e-300)[0])[0] == pytest.approx(want, rel=1e-13)
    assert integrate.quad(f.low_level_callable(b=-2.0), 0.2, 3, args=(1.5,))[0] == pytest.approx(want, rel=1e-13)
    assert integrate.quad(f.low_level_callable(a=np.float64(1.5)), 0.2, 3, args=(-2.0,))[0] == pytest.approx(want, rel=1e-13)
    # Bind the first input.
    got = integrate.quad(f.low_level_callable(x=0.5), 0.2, 3, args=(-2.0,))[0]
    assert got == pytest.approx(integrate.quad(lambda a: plain(0.5, a, -2.0), 0.2, 3)[0], rel=1e-13)


def test_multiple_integrals_match_python():
    two = function("y: f64, x: f64", "out = x*y*y + exp(-x)").low_level_callable()
    want = integrate.dblquad(lambda y, x: x * y * y + math.exp(-x), 0, 2, 0, lambda x: x)
    assert integrate.dblquad(two, 0, 2, 0, lambda x: x)[0] == pytest.approx(want[0], rel=1e-13)
    three = function("z: f64, y: f64, x: f64", "out = x*y*z + 1").low_level_callable()
    want = integrate.tplquad(lambda z, y, x: x * y * z + 1, 1, 2, 2, 3, 0, 1)
    assert integrate.tplquad(three, 1, 2, 2, 3, 0, 1)[0] == pytest.approx(want[0], rel=1e-13)
    ranges = [[0, 1]] * 2 + [[-1, 1]]
    got = integrate.nquad(three, ranges)[0]
    assert got == pytest.approx(integrate.nquad(lambda z, y, x: x * y * z + 1, ranges)[0], rel=1e-13)
    # More arguments than plain calls support, with the bound one after the integration variables.
    many = function("a: f64, b: f64, c: f64, d: f64, e: f64", "out = a*b + c*d*e")
    plain = lambda a, b, c, d, e: a * b + c * d * e
    opts = {"epsabs": 1e-3}
    got = integrate.nquad(many.low_level_callable(), [[0, 1]] * 3, args=(2.0, 3.0), opts=opts)[0]
    assert got == pytest.approx(integrate.nquad(plain, [[0, 1]] * 3, args=(2.0, 3.0), opts=opts)[0], rel=1e-13)


def test_double_integral_skips_python_for_inner_points():
    f = function("y: f64, x: f64", "out = exp(-x*x*y*y)")
    callback = f.low_level_callable()
    _, calls = calls_of(lambda: integrate.dblquad(callback, 0, 1, 0, 1))
    _, plain = calls_of(lambda: integrate.dblquad(lambda y, x: math.exp(-x * x * y * y), 0, 1, 0, 1))
    # SciPy's Python code runs for the 21 outer points. The Python callback runs `<lambda>` and `exp` for the 441 inner points.
    assert len(plain) - len(calls) == 2 * 441
    assert len([file for file, _ in calls if "site-packages/scipy" not in file]) == 2, calls


def image(*shape):
    return np.random.default_rng(3).normal(size=shape)


def test_generic_filter_runs_without_python_calls():
    f = function("x: f64[?]", "out = sum(x*x) - max(x)")
    callback = f.low_level_callable()
    assert callback.signature == "int (double *, intptr_t, double *, void *)"
    for size, mode in ((3, "reflect"), ((1, 4), "constant")):
        small, large = image(4, 5), image(40, 30)
        got = has_no_call(*(lambda a=a: ndimage.generic_filter(a, callback, size=size, mode=mode) for a in (small, large)))
        for a, result in zip((small, large), got):
            assert np.allclose(result, ndimage.generic_filter(a, lambda x: np.sum(x * x) - np.max(x), size=size, mode=mode), rtol=1e-13)
    # Bind an array.
    weighted = function("x: f64[?], w: f64[?]", "out = sum(x*w)")
    w = np.arange(9.0)
    got = ndimage.generic_filter(large, weighted.low_level_callable(w=w), size=3)
    w[:] = 0
    assert np.allclose(got, ndimage.correlate(large, np.arange(9.0).reshape(3, 3)), rtol=1e-12)
    # With a fixed extent.
    nine = function("x: f64[9]", "out = sum(x)").low_level_callable()
    assert np.allclose(ndimage.generic_filter(large, nine, size=3), ndimage.uniform_filter(large, 3) * 9)
    with pytest.raises(precast.CallValueError, match=r"f64\[4\].*f64\[9\]"):
        ndimage.generic_filter(large, nine, size=2)


def test_generic_filter1d_runs_without_python_calls():
    f = function("x: f64[?]", "out = x[2:] - 2*x[1:-1] + x[:-2]")
    callback = f.low_level_callable()
    assert callback.signature == "int (double *, intptr_t, double *, intptr_t, void *)"

    def plain(x, out):
        out[:] = x[2:] - 2 * x[1:-1] + x[:-2]

    small, large = image(4, 5), image(40, 30)
    for axis in (0, 1):
        got = has_no_call(*(lambda a=a: ndimage.generic_filter1d(a, callback, 3, axis=axis) for a in (small, large)))
        for a, result in zip((small, large), got):
            assert np.array_equal(result, ndimage.generic_filter1d(a, plain, 3, axis=axis))
    with pytest.raises(precast.CallValueError, match="out"):
        ndimage.generic_filter1d(large, callback, 4)


def test_geometric_transform_runs_without_python_calls():
    f = function("i: i64[?]", "out = flip(i)*0.5 + 0.25")
    callback = f.low_level_callable()
    assert callback.signature == "int (intptr_t *, double *, int, int, void *)"
    plain = lambda at: tuple(each * 0.5 + 0.25 for each in reversed(at))
    small, large = image(4, 5), image(40, 30)
    got = has_no_call(*(lambda a=a: ndimage.geometric_transform(a, callback, order=1) for a in (small, large)))
    for a, result in zip((small, large), got):
        assert np.allclose(result, ndimage.geometric_transform(a, plain, order=1), rtol=1e-13)
    # Map a vector to positions in a two-dimensional array.
    cut = function("i: i64[?]", "out = concatenate([i*1.0, i*0.0 + 1])").low_level_callable()
    got = ndimage.geometric_transform(large, cut, output_shape=(7,), order=1)
    assert np.allclose(got, large[:7, 1])


def test_callback_errors_are_raised():
    power = function("x: f64[?], n: i64[?]", "out = sum(x)*astype((n**n)[0], f64)")
    square = power.low_level_callable(n=np.array([2]))
    assert np.allclose(ndimage.generic_filter(np.ones((3, 3)), square, size=3), 36)
    with pytest.raises(precast.CallValueError, match="negative integer powers"):
        ndimage.generic_filter(np.ones((3, 3)), power.low_level_callable(n=np.array([-2])), size=3)
    two = function("x: f64, y: f64", "out = x*y").low_level_callable()
    with pytest.raises((SystemError, precast.CallValueError)) as caught:
        integrate.quad(two, 0, 1)
    error = caught.value if isinstance(caught.value, precast.CallError) else caught.value.__cause__
    assert "takes 2 number(s) but SciPy passed 1" in str(error)
    assert integrate.quad(two, 0, 1, args=(2.0,))[0] == pytest.approx(1.0)


def test_no_code_runs_under_a_pending_exception():
    calls = []
    x = precast.input("x", "f64[]")
    callback = precast.function([x], {"y": RaisesThird(calls)(x)}, policy="interpret").low_level_callable()
    for _ in range(2):
        # SciPy calls the function at least 21 times.
        with pytest.raises((precast.CallValueError, SystemError)) as caught:
            integrate.quad(callback, 0, 1)
        error = caught.value if isinstance(caught.value, precast.CallError) else caught.value.__cause__
        assert isinstance(error, precast.CallValueError) and repr(error.__cause__) == "ValueError('third')"
        assert len(calls) == 3
        calls.clear()
    calls.extend([None] * 3)
    assert integrate.quad(callback, 0, 1)[0] == pytest.approx(1.0)
    calls.clear()
    x = precast.input("x", "f64[?]")
    callback = precast.function([x], {"y": RaisesThird(calls)(x)}, policy="interpret").low_level_callable()
    with pytest.raises(precast.CallValueError) as caught:
        ndimage.generic_filter1d(np.ones((5, 4)), callback, 1)
    assert repr(caught.value.__cause__) == "ValueError('third')" and len(calls) == 3


@pytest.mark.parametrize(
    "inputs, output",
    [("x: f32", "y = x"), ("x: f64", "y = x > 1"), ("x: f64[?,?]", "y = sum(x)"), ("x: f64[?], y: f64[?]", "z = x + y"), ("x: i64[?]", "y = x"), ("x: f64", ["a = x", "b = x"])],
)
def test_signatures_unknown_to_scipy_are_rejected(inputs, output):
    f = function(inputs, output)
    with pytest.raises(precast.NativeError, match="SciPy has no callback of the form `.*\nhint: "):
        f.low_level_callable()


def test_bound_values_are_checked():
    f = function("x: f64, a: f64", "y = x*a")
    for wrong, kind in (({"b": 1.0}, "has no input `b`"), ({"a": "1"}, "`a`"), ({"a": np.ones(2)}, r"`a` is `f64\[2\]`"), ({"a": np.float32(1)}, "`a` is `f32")):
        with pytest.raises(precast.CallTypeError, match=kind):
            f.low_level_callable(**wrong)
    with pytest.raises(precast.NativeError):
        f.low_level_callable(x=1.0, a=1.0)
    # An input may have the name of a parameter of the method.
    own = function("x: f64, self: f64", "y = x*self").low_level_callable(self=3)
    assert integrate.quad(own, 0, 1)[0] == pytest.approx(1.5)


def test_callback_frees_its_values_when_dropped():
    from scipy import LowLevelCallable

    callback = function("x: f64, a: f64", "y = x*a + 3").low_level_callable(a=2.0)
    assert type(callback) is LowLevelCallable
    gc.collect()
    assert integrate.quad(callback, 0, 1)[0] == pytest.approx(4.0)
    # Bound arrays are copied, and the copies are freed with the callback.
    f, w = function("x: f64[?], w: f64[?]", "y = sum(x) + sum(w)"), np.ones(1_000_000)
    f.low_level_callable(w=w)
    before = rss_kib()
    # The measurement detects leaks. An array of this size has its own pages, which are released with it.
    kept = np.ones(2**23)
    assert rss_kib() - before > 60_000
    del kept
    for _ in range(50):
        f.low_level_callable(w=w)
    assert rss_kib() - before < 100_000
    assert sys.getrefcount(w) == 2
