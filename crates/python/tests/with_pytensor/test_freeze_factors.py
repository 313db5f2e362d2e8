"""LU and QR decompositions, eigenvalues, singular values and pseudoinverses without Python: they match LAPACK up to signs."""

import numpy as np
import precast
import pytest
from frozen import frozen, function

pytensor = pytest.importorskip("pytensor")
import pytensor.tensor as pt  # noqa: E402
from pytensor.tensor import linalg  # noqa: E402

RNG = np.random.default_rng(4)
A, TALL = RNG.normal(size=(4, 4)), RNG.normal(size=(5, 3))


def outputs(a, tall):
    """Returns results that do not depend on the signs of vectors."""
    yield from linalg.qr(tall, mode="economic")
    yield from linalg.qr(tall)
    yield linalg.qr(tall, mode="r")
    values, vectors = linalg.eigh(a)
    yield from (values, abs(vectors), linalg.eigvalsh(a, None), linalg.eigvalsh(a.T, None, lower=False))
    for full in (True, False):
        u, s, vh = linalg.svd(tall, full_matrices=full)
        yield from (abs(u[:, :3]), s, abs(vh))
    yield linalg.svd(tall.T, compute_uv=False)
    yield linalg.pinv(tall)
    yield linalg.expm(a)
    for settings in ({}, {"permute_l": True}, {"p_indices": True}):
        yield from linalg.lu(a, **settings)
    factors, pivots = linalg.lu_factor(a)
    yield from (factors, pivots, linalg.pivot_to_permutation(pivots), linalg.pivot_to_permutation(pivots, inverse=True))


@pytest.mark.parametrize("policy", ["interpret", "jit"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_factors_match_lapack(policy, dtype):
    a, tall = pt.matrix("a", dtype=dtype), pt.matrix("tall", dtype=dtype)
    fn = function([a, tall], list(outputs(a, tall)))
    given = A.astype(dtype), TALL.astype(dtype)
    tolerance = 2e-5 if dtype == "float32" else 1e-13
    for got, wanted in zip(frozen(fn, policy=policy)(*given), fn(*given), strict=True):
        assert got.dtype == wanted.dtype and got.shape == wanted.shape
        np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("policy", ["interpret", "jit"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_eigenvectors_and_schur_forms_restore_the_matrix(policy, dtype):
    a = pt.matrix("a", dtype=dtype)
    fn = function([a], [*linalg.eig(a), *linalg.schur(a), *linalg.schur(a, output="complex")])
    given = (A + np.triu(A) * (1j if "complex" in dtype else 1)).astype(dtype)
    near = 2e-5 if dtype in ("float32", "complex64") else 1e-13
    values, vectors, *forms = found = frozen(fn, policy=policy)(given)
    assert [part.dtype for part in found] == [part.dtype for part in fn(given)]
    np.testing.assert_allclose(vectors * values, given @ vectors, rtol=near, atol=near)
    np.testing.assert_allclose(np.sort_complex(values), np.sort_complex(fn(given)[0]), rtol=near, atol=near)
    for form, unitary in (forms[:2], forms[2:]):
        np.testing.assert_allclose(unitary @ form @ unitary.conj().T, given, rtol=near, atol=near)


SORTS = [None, "lhp", "rhp", "iuc", "ouc"]


@pytest.mark.parametrize("sort", SORTS[1:])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_sorted_schur_forms_match_lapack(dtype, sort):
    a = pt.matrix("a", dtype=dtype)
    fn = function([a], [*linalg.schur(a, sort=sort), *linalg.schur(a, output="complex", sort=sort)])
    given = (A + np.triu(A) * (1j if "complex" in dtype else 1)).astype(dtype)
    near = 5e-5 if dtype in ("float32", "complex64") else 1e-13
    found, wanted = frozen(fn)(given), fn(given)
    for (form, unitary), (other, _) in zip((found[:2], found[2:]), (wanted[:2], wanted[2:]), strict=True):
        assert form.dtype == other.dtype
        np.testing.assert_allclose(unitary @ form @ unitary.conj().T, given, rtol=near, atol=near)
        # The eigenvalues that come first are the same.
        firsts = {"lhp": np.real, "rhp": lambda x: -np.real(x), "iuc": lambda x: abs(x) - 1, "ouc": lambda x: 1 - abs(x)}[sort]
        count = sum(firsts(np.linalg.eigvals(given)) < 0)
        for one in (form, other):
            assert (firsts(np.linalg.eigvals(one[:count, :count])) < 0).all()


@pytest.mark.parametrize("policy", ["interpret", "jit"])
@pytest.mark.parametrize("sort", SORTS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_generalized_schur_forms_restore_both_matrices(policy, dtype, sort):
    schur = pytest.importorskip("pytensor.tensor.linalg.decomposition.schur")
    a, b = pt.matrix("a", dtype=dtype), pt.matrix("b", dtype=dtype)
    settings = [{"complex_output": is_complex, "return_eigenvalues": values} for is_complex in (False, True) for values in (False, True)]
    results = [schur.QZ(sort=sort, **own)(a, b) for own in settings]
    fn = function([a, b], [part for parts in results for part in parts])
    turn = 1j if "complex" in dtype else 1
    given = (A + np.triu(A) * turn).astype(dtype), (np.diag([1.0, 2.0, 0.0, 4.0]) + 0.1 * np.triu(A, 1) * turn).astype(dtype)
    near = 5e-5 if dtype in ("float32", "complex64") else 1e-13
    found, wanted = list(frozen(fn, policy=policy)(*given)), list(fn(*given))
    assert [part.dtype for part in found] == [part.dtype for part in wanted]
    for parts in results:
        (aa, bb, *values, q, z), (_, _, *others, _, _) = ([every.pop(0) for _ in parts] for every in (found, wanted))
        for form, matrix in ((aa, given[0]), (bb, given[1])):
            np.testing.assert_allclose(q @ form @ z.conj().T, matrix, rtol=near, atol=near)
        if values:
            ours, theirs = (np.sort_complex(alpha[abs(beta) > near] / beta[abs(beta) > near]) for alpha, beta in (values, others))
            assert len(ours) == 3
            np.testing.assert_allclose(ours, theirs, rtol=20 * near, atol=20 * near)


@pytest.mark.parametrize("policy", ["interpret", "jit"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_columns_are_exchanged_as_in_lapack(policy, dtype):
    a = pt.matrix("a", dtype=dtype)
    results = [linalg.qr(a, mode=mode, pivoting=True) for mode in ("full", "economic", "r")]
    fn = function([a], [part for parts in results for part in parts])
    frozen_fn = frozen(fn, policy=policy)
    near = 5e-5 if dtype in ("float32", "complex64") else 1e-13
    for given in (TALL, TALL.T, A, TALL[:, [0, 1, 0]] * [1, 0, 1], np.zeros((2, 3))):
        given = (given * (1 + 1j) if "complex" in dtype else given).astype(dtype)
        for got, wanted in zip(frozen_fn(given), fn(given), strict=True):
            assert got.dtype == wanted.dtype and got.shape == wanted.shape
            # What is left of columns that depend on others is rounding errors.
            if np.linalg.matrix_rank(given) == min(given.shape):
                np.testing.assert_allclose(got, wanted, rtol=near, atol=near)


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_eigenvalues_of_two_matrices_match_lapack(dtype, lower):
    a, b = pt.matrix("a", dtype=dtype), pt.matrix("b", dtype=dtype)
    try:
        values, vectors = linalg.eigh(a, b, lower=lower)
    except TypeError:
        pytest.skip("this PyTensor has no eigenvalues of two matrices")
    fn = function([a, b], [values, vectors, linalg.eigvalsh(a, b, lower=lower)])
    if "complex" in dtype and "complex" not in vectors.type.dtype:
        with pytest.raises(precast.FreezeError, match="declares a real result"):
            frozen(fn)
        return
    turn = 1j if "complex" in dtype else 1
    # The other triangle is not read.
    left = (np.triu(A, 1) * 99 + np.tril(A) + np.tril(A, -1) * turn).astype(dtype)
    right = (np.triu(A, 1) * 77 + 5 * np.eye(4) + np.tril(A.T, -1) * turn).astype(dtype)
    if not lower:
        left, right = left.T.copy(), right.T.copy()
    near = 5e-4 if dtype in ("float32", "complex64") else 1e-12
    for got, wanted in zip(frozen(fn)(left, right), fn(left, right), strict=True):
        np.testing.assert_allclose(abs(got) if got.ndim == 2 else got, abs(wanted) if got.ndim == 2 else wanted, rtol=near, atol=near)
    assert np.isnan(frozen(fn)(left, -right)[0]).all()


@pytest.mark.parametrize("policy", ["interpret", "jit"])
def test_discrete_riccati_equations_match_scipy(policy):
    solve = pytest.importorskip("pytensor.tensor.linalg.solvers.linear_control").solve_discrete_are
    scipy_linalg = pytest.importorskip("scipy.linalg")
    a, b, q, r = (pt.dmatrix(name) for name in "abqr")
    ours = frozen(function([a, b, q, r], solve(a, b, q, r)), policy=policy)
    for seed in range(5):
        rng = np.random.default_rng(seed)
        given = rng.normal(size=(4, 4)), rng.normal(size=(4, 2)), np.eye(4) + np.ones((4, 4)), np.diag([1.0, 2.0])
        np.testing.assert_allclose(ours(*given), scipy_linalg.solve_discrete_are(*given), rtol=1e-8, atol=1e-8)


def test_stacks_of_pairs_match_single_pairs():
    qz = pytest.importorskip("pytensor.tensor.linalg").qz
    s, t = pt.dtensor3("s"), pt.dtensor3("t")
    fn = function([s, t], [*qz(s, t + s, sort="iuc")])
    stack = np.stack([A, A.T + np.eye(4)])
    aa, bb, q, z = frozen(fn)(stack, stack[::-1] - stack)
    for form, matrices in ((aa, stack), (bb, stack[::-1])):
        np.testing.assert_allclose(q @ form @ np.swapaxes(z, -1, -2), matrices, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_factors_of_complex_matrices_match_lapack(dtype):
    a, tall = pt.matrix("a", dtype=dtype), pt.matrix("tall", dtype=dtype)
    q, r = linalg.qr(tall, mode="economic")
    made = [q, r, linalg.eigvalsh(a, None), linalg.svd(tall, compute_uv=False), linalg.pinv(tall), *linalg.lu(a), *linalg.lu_factor(a)]
    # PyTensor's own determinants of complex matrices are not complex.
    systems = [linalg.solve(a, tall[:4]), linalg.matrix_inverse(a), linalg.solve_triangular(a, tall[:4], lower=True)]
    definite = a @ a.conj().T + pt.eye(4)
    systems += [linalg.cholesky(definite), linalg.cholesky(definite, lower=False), linalg.solve(definite, tall[:4], assume_a="pos")]
    fn = function([a, tall], [*made, *systems])
    given = (A + 1j * np.triu(A)).astype(dtype), (TALL + 1j * TALL[::-1]).astype(dtype)
    tolerance = 5e-5 if dtype == "complex64" else 1e-12
    for got, wanted in zip(frozen(fn)(*given), fn(*given), strict=True):
        assert got.dtype == wanted.dtype and got.shape == wanted.shape
        np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance)


def test_factors_of_stacks_match_lapack():
    t = pt.dtensor3("t")
    fn = function([t], [linalg.svd(t, compute_uv=False), linalg.eigvalsh(t, None), *linalg.qr(t), *linalg.lu(t)])
    stack = np.stack([A, A.T + np.eye(4)])
    for got, wanted in zip(frozen(fn)(stack), fn(stack), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-13, atol=1e-13)


def test_singular_factors_are_nan():
    a = pt.dmatrix("a")
    fn = function([a], linalg.lu_factor(a))
    for matrix in (np.zeros((3, 3)), np.zeros((0, 0))):
        for got, wanted in zip(frozen(fn)(matrix), fn(matrix), strict=True):
            np.testing.assert_array_equal(got, wanted)


def test_unsupported_factors_are_rejected():
    a = pt.dmatrix("a")
    with pytest.raises(precast.FreezeError, match="precast has no.*\n.*python=True"):
        frozen(function([a], linalg.qr(a, mode="raw")))


@pytest.mark.parametrize("rcond", [1e-9, 0.5, -1.0])
def test_least_squares_match_lapack(rcond):
    a, b = pt.dmatrix("a"), pt.dmatrix("b")
    fn = function([a, b], linalg.lstsq(a, b, rcond))
    for left, right in ((TALL, A[:, :2].repeat(2, 0)[:5]), (A, A[:, :2]), (TALL.T, TALL.T[:, :1]), (TALL * [1, 0, 1], TALL[:, :2])):
        for got, wanted in zip(frozen(fn)(left, right), fn(left, right), strict=True):
            assert got.dtype == wanted.dtype and got.shape == wanted.shape
            np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-12)
    with pytest.raises(precast.FreezeError, match="declares a matrix"):
        frozen(function([a], linalg.lstsq(a, a[:, 0], rcond)))


def test_systems_of_tensors_match_numpy():
    a, b, t = pt.dmatrix("a"), pt.dmatrix("b"), pt.dtensor4("t")
    made = [linalg.tensorsolve(t, b), linalg.tensorsolve(t, b, axes=(0, 2)), linalg.tensorinv(t, ind=2), linalg.tensorinv(a, ind=1)]
    fn = function([a, b, t], made)
    given = A, A[:2, 1:3], A.reshape((2, 2, 2, 2))
    for got, wanted in zip(frozen(fn)(*given), fn(*given), strict=True):
        assert got.dtype == wanted.dtype and got.shape == wanted.shape
        np.testing.assert_allclose(got, wanted, rtol=1e-13, atol=1e-13)
