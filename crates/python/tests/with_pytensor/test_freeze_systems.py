"""Systems of linear equations, inverses and determinants: compiled and interpreted graphs match LAPACK."""

from functools import partial

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


@pytest.mark.parametrize("kind", ["sym", "her", "tridiagonal", "banded"])
@pytest.mark.parametrize("is_lower", [False, True])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_assumptions_about_matrices_are_used(kind, is_lower, dtype):
    m, r, rows = pt.matrix("m", dtype=dtype), pt.dmatrix("r"), pt.dvector("rows")
    stack = pt.tensor3("stack", dtype=dtype)
    solve = partial(linalg.solve, assume_a=kind, lower=is_lower)
    fn = function([m, r, rows, stack], [solve(m, r), solve(m, rows), solve(stack, r, b_ndim=2)])
    given = RNG.normal(size=(3, 4, 4)) + (1j * RNG.normal(size=(3, 4, 4)) if dtype == "complex128" else 0)
    given = given + 3 * np.eye(4)
    if kind in ("tridiagonal", "banded"):
        given = np.triu(np.tril(given, 1), -1)
    if kind == "her":
        given[..., range(4), range(4)] = given[..., range(4), range(4)].real
    given = given[0], RNG.normal(size=(4, 2)), RNG.normal(size=4), given
    near(frozen(fn)(*given), fn(*given), 1e-9)


def test_small_tridiagonal_systems_are_solved():
    fn = function([a, b], linalg.Solve(assume_a="tridiagonal", b_ndim=2)(a, b))
    for n in (0, 1, 2):
        given = 3 * np.eye(n) + 1, RNG.normal(size=(n, 2))
        near(frozen(fn)(*given), np.linalg.solve(*given), 1e-12)


def test_control_equations_match_pytensor():
    q = pt.dmatrix("q")
    outputs = [linalg.solve_sylvester(a, b, q), linalg.solve_continuous_lyapunov(a, q), linalg.solve_discrete_lyapunov(a / 9, q)]
    outputs += pytensor.gradient.grad(sum(output.sum() for output in outputs), [a, b, q])
    fn = function([a, b, q], outputs)
    # The eigenvalues of the first matrix are not real.
    turned = np.array([[1.0, 2.0, 0.3], [-2.0, 1.5, 0.1], [0.2, 0.0, 3.0]])
    given = turned, turned.T + np.eye(3), RNG.normal(size=(3, 3))
    near(frozen(fn)(*given), fn(*given), 1e-9)


def test_gradients_pass_through_solve():
    density = -(b * linalg.solve(a, b)).sum() / 2 - linalg.slogdet(a)[1]
    fn = function([a, b], [density, *pytensor.gradient.grad(density, [a, b])])
    given = RNG.normal(size=(4, 4)) + 3 * np.eye(4), RNG.normal(size=(4, 2))
    near(frozen(fn)(*given), fn(*given), 1e-9)


@pytest.mark.parametrize("policy", ["interpret", "jit"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_tridiagonal_factors_match_lapack(policy, dtype):
    tridiagonal = pytest.importorskip("pytensor.tensor.linalg.solvers.tridiagonal")
    below, main, above, one = (pt.vector(name, dtype=dtype) for name in ("below", "main", "above", "one"))
    many = pt.matrix("many", dtype=dtype)
    factors = tridiagonal.LUFactorTridiagonal()(below, main, above)
    solved = [
        tridiagonal.SolveLUFactorTridiagonal(b_ndim=right.ndim, transposed=transposed)(*factors, right)
        for transposed in (False, True)
        for right in (one, many)
    ]
    fn = function([below, main, above, one, many], [*factors, *solved])
    ours = frozen(fn, policy=policy)

    def drawn(*shape):
        values = RNG.normal(size=shape)
        return (values + 1j * RNG.normal(size=shape) if dtype.startswith("complex") else values).astype(dtype)

    tolerance = 2e-3 if dtype in ("float32", "complex64") else 1e-10
    # SciPy takes no fewer than three rows.
    for n in (3, 5, 40):
        given = drawn(n - 1), drawn(n), drawn(n - 1), drawn(n), drawn(n, 3)
        near(ours(*given), fn(*given), tolerance)
    # No row is exchanged, and each of them.
    for scale in (9, 0):
        given = np.ones(4, dtype), np.full(5, scale, dtype), np.full(4, 2, dtype), drawn(5), drawn(5, 3)
        near(ours(*given)[:5], fn(*given)[:5], tolerance)
    zeros = np.zeros(2, dtype), np.zeros(3, dtype), np.ones(2, dtype), drawn(3), drawn(3, 3)
    near(ours(*zeros)[:5], fn(*zeros)[:5], 0)
