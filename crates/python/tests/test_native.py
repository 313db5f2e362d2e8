"""Plain C functions: called by address, with no Python in between."""

import ctypes
import math
import sys

import precast
import pytest


def gauss(x):
    return math.exp(-x * x) * 0.5


def test_a_function_of_numbers_has_a_native_one(model):
    native = model.gauss.native
    assert native.signature == "d)d~" and native.address > 0
    assert "gauss" in repr(native) and "d)d~" in repr(native)
    assert native.ctypes()(0.25) == model.gauss(0.25) == pytest.approx(gauss(0.25), rel=1e-15)


def test_a_function_of_arrays_says_why_it_has_none(model):
    with pytest.raises(precast.NativeError, match="`score` has no native function: `x` is `f64\\[\\?\\]`"):
        model.score.native
    assert not hasattr(model.score, "native")


def test_a_function_that_may_fail_is_not_passed_on(model):
    native = model.power.native
    assert native.signature == "qq)q!c~"
    with pytest.raises(precast.NativeError, match="cannot fail"):
        native.ctypes()


def test_the_address_outlives_the_model(bundle):
    function = precast.load(bundle).gauss.native.ctypes()
    raw = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(ctypes.cast(function, ctypes.c_void_p).value)
    assert raw(1.0) == pytest.approx(gauss(1.0), rel=1e-15)


def test_scipy_integrates_it_without_python(model):
    integrate = pytest.importorskip("scipy.integrate")
    callback = model.gauss.native.low_level_callable()
    assert callback.signature.replace(" ", "") == "double(double)"
    calls = 0

    def count(frame, event, arg):
        nonlocal calls
        calls += event == "call" and frame.f_code.co_name == "gauss"

    want, _ = integrate.quad(gauss, 0.2, 3)
    sys.setprofile(count)
    try:
        got, _ = integrate.quad(callback, 0.2, 3)
        assert calls == 0
        integrate.quad(gauss, 0.2, 3)
    finally:
        sys.setprofile(None)
    assert calls > 0 and got == pytest.approx(want, rel=1e-14)
