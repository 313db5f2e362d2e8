"""Fourier transforms without Python."""

import numpy as np
import pytest
from frozen import frozen, function

pytensor = pytest.importorskip("pytensor")
import pytensor.tensor as pt  # noqa: E402
from pytensor.tensor import fft, fourier  # noqa: E402

RNG = np.random.default_rng(5)
A, TALL = RNG.normal(size=(4, 4)), RNG.normal(size=(5, 3))


def cases(a):
    """Returns results, and the values of `a`."""
    n = pt.lscalar("n")
    yield fft.rfft(a), [A]
    yield fft.rfft(a, norm="ortho"), [TALL]
    yield fft.rfft_op(a, [3]), [TALL]
    yield fft.rfft_op(a, pt.stack([a.shape[1] + 2])), [TALL]
    yield fft.irfft(fft.rfft(a), is_odd=True), [TALL]
    yield fft.irfft(fft.rfft(a[:, :, None] + a[0])), [A]
    yield pytensor.grad((fft.rfft(a) ** 2 * pt.arange(2)).sum(), a), [TALL]
    yield fourier.fft(a, n=6, axis=0), [A]
    yield fourier.fft(a, n=None, axis=1), [TALL]
    yield fourier.fft(a, n=n, axis=1), [TALL, 4]


# PyTensor uses a deprecated signature of NumPy's transforms.
@pytest.mark.filterwarnings("ignore:.axes. should not be:DeprecationWarning")
@pytest.mark.parametrize("which", range(len(list(cases(pt.dmatrix())))))
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_transforms_match_pytensor(which, dtype):
    a = pt.matrix("a", dtype=dtype)
    made, given = list(cases(a))[which]
    given[0] = given[0].astype(dtype)
    inputs = [a, *(v for v in pytensor.graph.traversal.explicit_graph_inputs([made]) if v is not a)]
    fn = function(inputs, [made])
    got, (wanted,) = frozen(fn)(*given), fn(*given)
    # PyTensor declares complex128, and returns complex64 for float32.
    assert got.dtype == made.type.dtype and got.shape == wanted.shape
    tolerance = 1e-13 if dtype == "float64" else 1e-5
    np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance * np.abs(wanted).max())
