"""Threads with another rounding mode, set by libraries or `fesetround`, get the same numbers."""

import contextlib
import ctypes
import ctypes.util
import platform

import numpy as np
import precast
import pytest

libm = ctypes.CDLL(ctypes.util.find_library("m") or "libm.so.6")
MODES = {
    "x86_64": {"downward": 0x400, "upward": 0x800, "toward zero": 0xC00},
    "aarch64": {"upward": 0x400000, "downward": 0x800000, "toward zero": 0xC00000},
}.get(platform.machine(), {})
VALUES = np.array([1e300, 2.0, -0.3, 0.3, 1.4616, 5e-324, 0.1, 37.25])


@contextlib.contextmanager
def rounding(mode):
    """Sets the rounding mode inside the block, which must not compute in Python: results of Python would differ."""
    assert libm.fesetround(mode) == 0
    try:
        yield
        assert libm.fegetround() == mode
    finally:
        libm.fesetround(0)


def everything(f, g, ufunc, native):
    out = np.empty_like(VALUES)
    f(VALUES, out=out)
    calls = [f(VALUES), f(VALUES[::-1]), f(x=VALUES), out, ufunc(VALUES), f(memoryview(VALUES))]
    numbers = [g(0.3), native(0.3), ufunc(0.3)]
    return [result.tobytes() for result in calls] + [float(number).hex() for number in numbers]


@pytest.mark.parametrize("policy", ["jit", "interpret"])
def test_every_call_has_equal_bits(policy):
    f = precast.function("x: f64[?]", "sin(x)/3 + round(x) + digamma(x + 2)", policy=policy)
    g = precast.function("x: f64", "exp(-x*x)/3", policy="jit")
    h = precast.function("x: f32[]", "x*1", policy=policy)
    native, ufunc = g.native.ctypes(), g.ufunc()
    want, single = everything(f, g, ufunc, native), float(h(0.1))
    for mode in MODES.values():
        with rounding(mode):
            found = everything(f, g, ufunc, native)
            narrowed = h(0.1)
        assert found == want
        assert float(narrowed) == single == float(np.float32(0.1))


def test_the_values_are_right():
    f = precast.function("x: f64[?]", "sin(x)", policy="jit")
    x = np.array([1e300, 2.0])
    for mode in MODES.values():
        with rounding(mode):
            found = f(x)
        assert found.tolist() == [-0.8178819121159085, 0.9092974268256817]


def test_graphs_are_equal_in_every_environment():
    def make():
        return precast.function("x: f64[?]", "x*(1/3) + 0.1 + sin(2.5)", policy="interpret")

    want = make()(VALUES)
    for mode in MODES.values():
        with rounding(mode):
            f = make()
        assert f(VALUES).tobytes() == want.tobytes()
