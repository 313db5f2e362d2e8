"""Cholesky decompositions and triangular systems: compiled and interpreted graphs match LAPACK, with NaN if LAPACK fails."""

import numpy as np
import precast
import pytest
from frozen import frozen, function

pytensor = pytest.importorskip("pytensor")
import pytensor.tensor as pt  # noqa: E402
from pytensor.tensor.linalg import cholesky, expm, solve_triangular  # noqa: E402

RNG = np.random.default_rng(3)
ROOT = np.tril(RNG.normal(size=(5, 5))) + 3 * np.eye(5)
DEFINITE = ROOT @ ROOT.T
RIGHT = RNG.normal(size=(5, 3))

a, b, c = pt.dmatrix("a"), pt.dmatrix("b"), pt.dvector("c")


def near(got, wanted, tolerance):
    for one, other in zip(got, wanted, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("policy", ["interpret", "jit"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_decompositions_match_lapack(policy, dtype):
    tolerance = 1e-4 if dtype == "float32" else 1e-11
    given = [value.astype(dtype) for value in (DEFINITE, ROOT, RIGHT)]
    matrix, root, right = (pt.matrix(name, dtype=dtype) for name in ("matrix", "root", "right"))
    outputs = [
        cholesky(matrix),
        cholesky(matrix, lower=False),
        solve_triangular(root, right, lower=True),
        solve_triangular(root, right[:, 0], lower=True, b_ndim=1),
        solve_triangular(root.T, right, lower=False),
        solve_triangular(root, right, lower=True, unit_diagonal=True),
        solve_triangular(root, right, lower=True, trans=1),
    ]
    fn = function([matrix, root, right], outputs)
    ours = frozen(fn, policy=policy)
    near(ours(*given), fn(*given), tolerance)
    # The other triangle is not read, and the strides of rows are arbitrary.
    garbage = [np.tril(given[0]) + 7 * np.triu(np.ones((5, 5), dtype), 1), np.asfortranarray(given[1]), given[2][:, ::-1]]
    near(ours(*garbage), fn(*garbage), tolerance)


@pytest.mark.parametrize("policy", ["interpret", "jit"])
def test_missing_decomposition_is_nan(policy):
    fn = function([a, b], [cholesky(a), solve_triangular(a, b, lower=True)])
    ours = frozen(fn, policy=policy)
    for matrix in (-DEFINITE, np.zeros((5, 5)), np.diag([1.0, 2, 0, 1, 1]), np.full((5, 5), np.nan), np.zeros((0, 0))):
        right = RIGHT[: len(matrix)]
        near(ours(matrix, right), fn(matrix, right), 1e-12)
    for matrix in (RIGHT, np.zeros((3, 5))):
        for called, kind in ((fn, ValueError), (ours, precast.CallError)):
            with pytest.raises(kind):
                called(matrix, RIGHT)


@pytest.mark.parametrize("policy", ["interpret", "jit"])
def test_exponentials_of_complex_matrices_and_of_stacks_match_scipy(policy):
    z, t = pt.zmatrix("z"), pt.dtensor3("t")
    given = [0.3 * (ROOT + 1j * DEFINITE / 9), 0.1 * np.stack([ROOT, DEFINITE / 9])]
    fn = function([z, t], [expm(z), expm(t)])
    near(frozen(fn, policy=policy)(*given), fn(*given), 1e-12)
