"""Shared code of the tests of `freeze`: PyTensor functions that run PyTensor's reference, and comparisons.

Frozen graphs run with the policy `interpret`. The tests of ops check that compiled graphs give the same bits.
"""

import os
import tempfile
import warnings

import numpy as np

# PyTensor must not use precast in the test process.
os.environ["PRECAST_PYTENSOR"] = "0"
_COMPILEDIR = tempfile.TemporaryDirectory(prefix="precast-tests-")
os.environ.setdefault("PYTENSOR_FLAGS", f"cxx=,linker=py,on_opt_error=raise,base_compiledir={_COMPILEDIR.name}")


def function(inputs, outputs, rewrites=None, **settings):
    """Returns a PyTensor function without rewrites that runs PyTensor's reference."""
    import pytensor
    from pytensor.compile.mode import Mode

    mode = Mode(linker="py", optimizer=rewrites)
    return pytensor.function(inputs, outputs, mode=mode, on_unused_input="ignore", **settings)


def frozen(fn, policy="interpret", **settings):
    """Freezes a function."""
    import precast.pytensor

    return precast.pytensor.freeze(fn, **settings).function(policy=policy)


def compare(got, wanted, given=(), is_exact=False, near=4e-15):
    """Compares results with those of PyTensor: dtypes, shapes, NaN, infinities, and values up to `near` (f64)."""
    if isinstance(wanted, (list, tuple)):
        got = got if isinstance(got, tuple) else (got,)
        assert len(got) == len(wanted)
        for one, other in zip(got, wanted):
            compare(one, other, given, is_exact, near)
        return
    got, wanted = np.asarray(got), np.asarray(wanted)
    assert got.dtype == wanted.dtype, (got.dtype, wanted.dtype)
    assert got.shape == wanted.shape, (got.shape, wanted.shape)
    if got.dtype.kind in "biu" or is_exact:
        ok = same_bits(got, wanted)
    else:
        single = got.dtype in (np.float32, np.complex64)
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            within = 2e-6 if single else max(near, 1e-13) if got.dtype.kind == "c" else near
            ok = np.isclose(got, wanted, rtol=within, atol=0, equal_nan=True)
    if not ok.all():
        at = tuple(axis[0] for axis in np.nonzero(~np.atleast_1d(ok)))
        arguments = [np.asarray(x)[at] if np.shape(x) == got.shape else x for x in given]
        raise AssertionError(f"at {at}: got {np.atleast_1d(got)[at]!r}, PyTensor {np.atleast_1d(wanted)[at]!r}, given {arguments}")


def same_bits(a, b):
    """Returns whether numbers are equal, including the signs of zeros and the positions of NaN."""
    if a.dtype.kind == "c":
        return same_bits(a.real, b.real) & same_bits(a.imag, b.imag)
    if a.dtype.kind != "f":
        return a == b
    return ((a == b) & (np.signbit(a) == np.signbit(b))) | (np.isnan(a) & np.isnan(b))
