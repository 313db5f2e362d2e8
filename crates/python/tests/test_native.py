"""Plain C functions, called by address without running Python code."""

import ctypes
import math
import sys

import precast
import pytest


def gauss(x):
    return math.exp(-x * x) * 0.5


def test_scalar_function_has_a_native_function(model):
    native = model.gauss.native
    assert native.signature == "d)d~" and native.address > 0
    assert "gauss" in repr(native) and "d)d~" in repr(native)
    assert native.ctypes()(0.25) == model.gauss(0.25) == pytest.approx(gauss(0.25), rel=1e-15)


def test_array_function_explains_missing_native_function(model):
    with pytest.raises(precast.NativeError, match="`score` has no native function: `x` is `f64\\[\\?\\]`"):
        model.score.native
    assert not hasattr(model.score, "native")


def test_fallible_function_is_not_exported_to_ctypes(model):
    native = model.power.native
    assert native.signature == "qq)q!c~"
    with pytest.raises(precast.NativeError, match="cannot fail"):
        native.ctypes()


def test_the_address_outlives_the_model(bundle):
    function = precast.load(bundle).gauss.native.ctypes()
    raw = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(ctypes.cast(function, ctypes.c_void_p).value)
    assert raw(1.0) == pytest.approx(gauss(1.0), rel=1e-15)


def test_numba_calls_native_function_by_address(model):
    numba = pytest.importorskip("numba")
    pointer = model.gauss.native.ctypes()

    @numba.njit
    def total(n):
        found = 0.0
        for i in range(n):
            found += pointer(i * 0.25)
        return found

    calls, want = [], sum(gauss(i * 0.25) for i in range(40))
    total(1)
    sys.setprofile(lambda frame, event, arg: calls.append((event, frame.f_code.co_name)))
    try:
        got = total(40)
    finally:
        sys.setprofile(None)
    assert got == pytest.approx(want, rel=1e-14)
    # One call of `total`, and one call that stops the counting.
    assert len([event for event, _ in calls if event in ("call", "c_call")]) <= 2, calls


def test_cffi_calls_native_function_by_address(model):
    cffi = pytest.importorskip("cffi")
    native = model.gauss.native
    function = cffi.FFI().cast("double (*)(double)", native.address)
    assert [function(x) for x in (0.0, 0.5, -3.0)] == [model.gauss(x) for x in (0.0, 0.5, -3.0)]
    integrate = pytest.importorskip("scipy.integrate")
    from scipy import LowLevelCallable

    got, _ = integrate.quad(LowLevelCallable(function), 0.2, 3)
    assert got == pytest.approx(integrate.quad(gauss, 0.2, 3)[0], rel=1e-13)
