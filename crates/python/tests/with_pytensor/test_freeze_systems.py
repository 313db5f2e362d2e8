"""Systems of linear equations, inverses and determinants: compiled and interpreted graphs match LAPACK."""

import numpy as np
import precast
import pytest
from frozen import frozen, function

pytensor = pytest.importorskip("pytensor")
import pytensor.tensor as pt  # noqa: E402
from pytensor.tensor import linalg  # noqa: E402

RNG = np.random.default_rng(5)
a, b = pt.dmatrix("a"), pt.dmatrix("b")


def near(got, wanted, tolerance):
    for one, other in zip(got, wanted, strict=True):
        assert np.asarray(one).dtype == other.dtype and np.shape(one) == other.shape
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("policy", ["interpret", "jit"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_solve_matches_lapack(policy, dtype):
    m, r = pt.matrix("m", dtype=dtype), pt.matrix("r", dtype=dtype)
    outputs = [
        linalg.solve(m, r),
        linalg.solve(m, r[:, 0], b_ndim=1),
        linalg.solve(m @ m.T, r, assume_a="pos", lower=True),
        linalg.solve(m @ m.T, r, assume_a="pos"),
        linalg.cho_solve((linalg.cholesky(m @ m.T), True), r, b_ndim=2),
        linalg.matrix_inverse(m),
        linalg.det(m),
        *linalg.slogdet(m),
    ]
    fn = function([m, r], outputs)
    ours = frozen(fn, policy=policy)
    for n in (1, 2, 5, 9):
        given = (RNG.normal(size=(n, n)) + np.eye(n)).astype(dtype), RNG.normal(size=(n, 3)).astype(dtype)
        near(ours(*given), fn(*given), 2e-2 if dtype == "float32" else 1e-9)
    # The first pivot is zero, and the strides of rows are arbitrary.
    given = np.asfortranarray(np.eye(4)[::-1] * 2).astype(dtype), RNG.normal(size=(4, 6)).astype(dtype)[:, ::-2]
    near(ours(*given), fn(*given), 1e-5)


@pytest.mark.parametrize("policy", ["interpret", "jit"])
def test_singular_matrices_match_pytensor(policy):
    fn = function([a], [linalg.det(a), *linalg.slogdet(a)])
    for matrix in (np.zeros((3, 3)), np.ones((2, 2)), np.diag([1.0, 0, 2]), np.zeros((0, 0))):
        near(frozen(fn, policy=policy)(matrix), fn(matrix), 1e-12)
    inverse = frozen(function([a], linalg.matrix_inverse(a)), policy=policy)
    with pytest.raises(precast.CallError, match="singular matrix"):
        inverse(np.ones((2, 2)))
    assert np.isnan(frozen(function([a, b], linalg.solve(a, b)), policy=policy)(np.ones((2, 2)), np.ones((2, 2)))).all()
    with pytest.raises(precast.CallError):
        inverse(np.ones((2, 3)))


@pytest.mark.parametrize("policy", ["interpret", "jit"])
def test_stacks_match_pytensor(policy):
    m, r = pt.dtensor3("m"), pt.dmatrix("r")
    definite = m @ m.mT
    outputs = [
        linalg.cholesky(definite),
        linalg.matrix_inverse(m),
        linalg.det(m),
        *linalg.slogdet(m),
        linalg.solve(m, r, b_ndim=2),
        linalg.solve(definite, r, assume_a="pos", b_ndim=2),
        linalg.solve_triangular(m, r, lower=True, b_ndim=2),
    ]
    fn = function([m, r], outputs)
    given = RNG.normal(size=(3, 4, 4)) + 3 * np.eye(4), RNG.normal(size=(4, 2))
    near(frozen(fn, policy=policy)(*given), fn(*given), 1e-9)


def test_other_assumptions_are_rejected():
    with pytest.raises(precast.FreezeError, match='`assume_a="sym"`'):
        frozen(function([a, b], linalg.solve(a, b, assume_a="sym")))


def test_gradients_pass_through_solve():
    density = -(b * linalg.solve(a, b)).sum() / 2 - linalg.slogdet(a)[1]
    fn = function([a, b], [density, *pytensor.gradient.grad(density, [a, b])])
    given = RNG.normal(size=(4, 4)) + 3 * np.eye(4), RNG.normal(size=(4, 2))
    near(frozen(fn)(*given), fn(*given), 1e-9)
