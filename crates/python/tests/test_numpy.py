"""NumPy's functions, ufunc methods and keywords, called with variables."""

import inspect

import numpy as np
import precast
import pytest
from test_graph import agrees, interpreted

NEW = np.lib.NumpyVersion(np.__version__) >= "2.3.0"
RNG = np.random.default_rng(5)
A, B = RNG.normal(size=(2, 3, 6))
V, W = RNG.normal(size=(2, 6))
N = np.array([[3, -1, 4, 1, -5, 9], [2, 6, -5, 3, 5, -8], [9, 7, 9, 3, 2, 3]])
MASK = A > 0

CALLS = {
    "scalar": lambda x, y, v, w, n, m: [
        np.rint(x), np.rint(n), np.fabs(n), np.fix(x), np.fmod(n, 3), np.fmod(x, y), np.copysign(x, y), np.signbit(x),
        np.nextafter(x, y), np.ldexp(x, n), np.positive(x),
    ],
    "several results": lambda x, y, v, w, n, m: [*np.divmod(n, 4), *np.divmod(x, y), *np.modf(x), *np.frexp(x)],
    "clip": lambda x, y, v, w, n, m: [np.clip(x, -0.5, None), np.clip(x, a_min=0, a_max=1), x.clip(max=0.5), np.clip(n, 0, 5)],
    "reductions": lambda x, y, v, w, n, m: [
        np.sum(x, where=m), np.sum(x, axis=0, initial=2.0), np.prod(n, axis=1, where=n > 0), np.max(x, initial=0.0, where=m),
        np.min(n, axis=1, initial=3), np.any(x > 1, where=m), np.all(m, axis=0, where=x > -1), np.mean(x, axis=1, where=m),
        np.add.reduce(x, where=m), x.sum(axis=1, where=m, initial=1.0), x.max(initial=5.0), np.maximum.reduce(x, axis=1, initial=0.0),
    ],
    "outer": lambda x, y, v, w, n, m: [np.add.outer(v, x), np.multiply.outer(x, w), np.subtract.outer(v, 2.0), np.less.outer(V, w)],
    "dtype": lambda x, y, v, w, n, m: [np.add(x, y, dtype=np.float32), np.multiply(n, 2, dtype="f8"), np.exp(n, dtype=np.float32)],
    "indices": lambda x, y, v, w, n, m: [
        x[[0, 2], [1, -1]], x[np.array([[0], [2]]), [1, 3]], x[1, [0, 1]], x[np.nonzero(m)], x[np.where(m)], x[:, None, [0, 1]],
    ],
    "where": lambda x, y, v, w, n, m: [*np.where(m), *np.nonzero(n), np.where(m, x, y)],
    "pieces": lambda x, y, v, w, n, m: [
        *np.split(x, 3), *np.split(v, [2, 5]), *np.array_split(x, 4, axis=1), *np.hsplit(x, 2), *np.vsplit(x, [1]),
        *np.meshgrid(v, w[:2]), *np.meshgrid(v, w, indexing="ij", sparse=True), np.column_stack([v, w]), np.dstack([x, y]),
        np.block([[x, y], [y, x]]), np.block([v, w[:1], 0.0]),
    ],
    "edited": lambda x, y, v, w, n, m: [
        np.delete(x, [0, -1], axis=1), np.delete(v, 2), np.insert(x, 1, 0.5, axis=0), np.insert(v, 2, w[:3]),
        np.pad(x, ((1, 0), (2, 3))), np.pad(v, 2, mode="reflect"), np.select([m, x > y], [x, y], default=9.0),
    ],
    "products": lambda x, y, v, w, n, m: [
        np.kron(x, y), np.cross(x[:, :3], y[:, :3]), np.convolve(v, w), np.convolve(v, w[:3], mode="same"), np.correlate(v, w[:2]),
    ],
    "samples": lambda x, y, v, w, n, m: [
        np.interp(v, np.arange(4.0), [3.0, 1.0, 4.0, 1.0]), np.interp(x, np.arange(6.0), w, left=-9.0), np.polyval([1.0, 2.0, 3.0], x),
        np.gradient(v), *np.gradient(x), np.gradient(x, 2.0, axis=1), np.gradient(v, np.array([0.0, 1, 3, 4, 6, 7])),
        np.digitize(x, [-1.0, 0.0, 1.0]), np.bincount(abs(n[0])), np.bincount(abs(n[0]), weights=v, minlength=12),
        np.average(x), np.average(n, axis=0), np.average(x, axis=1, weights=v), np.average(x, weights=abs(y)),
    ],
    "sets": lambda x, y, v, w, n, m: [np.isin(n, [3, 9]), np.take_along_axis(x, np.argsort(x, axis=1, kind="stable"), axis=1)],
    "linalg": lambda x, y, v, w, n, m: [np.linalg.norm(x), np.shape(x), np.ndim(x), np.size(x)],
    "decompositions": lambda x, y, v, w, n, m: [
        np.linalg.cholesky(x @ x.T), np.linalg.solve(x @ x.T, y), np.linalg.solve(x @ x.T, y[:, 0]), np.linalg.inv(x @ x.T), np.linalg.det(x[:, :3]),
        np.linalg.slogdet(x[:, :3]).sign, np.linalg.slogdet(x[None, :, :3]).logabsdet, np.linalg.det(n[:2, :2]),
    ],
    "factors": lambda x, y, v, w, n, m: [
        np.linalg.qr(x).R, np.linalg.qr(x, mode="r"), abs(np.linalg.eigh(x @ x.T).eigenvectors), np.linalg.eigvalsh(x @ x.T, "U"),
        np.linalg.svd(x).S, abs(np.linalg.svd(x, full_matrices=False).Vh), np.linalg.svd(x, compute_uv=False), np.linalg.pinv(x),
        np.linalg.matrix_rank(n), np.linalg.cond(x), np.linalg.cond(x @ x.T, 1), np.linalg.norm(x, "nuc"), *np.linalg.lstsq(x.T, w),
        np.linalg.matrix_power(n[:2, :2], 5), np.linalg.matrix_power(x[:, :3], -2),
    ],
}  # fmt: skip
if NEW:
    CALLS["new"] = lambda x, y, v, w, n, m: [
        np.trapezoid(x), np.trapezoid(v, w), np.vecdot(x, y), np.matvec(x, v), np.vecmat(v, x.T), *np.unique_all(n), *np.unique_counts(n),
        *np.unique_inverse(n), np.cumulative_sum(x, axis=0, include_initial=True), np.linalg.vector_norm(x, axis=1), np.linalg.trace(x[None]),
        np.linalg.diagonal(x[None]), np.clip(x, min=0), np.clip(x, max=1), np.linalg.matrix_norm(x),
    ]  # fmt: skip


@pytest.mark.parametrize("which", CALLS)
def test_calls_with_variables_match_numpy(which):
    arrays = (A, B, V, W, N, MASK)
    types = ("f64[?,?]", "f64[?,?]", "f64[?]", "f64[?]", "i64[?,?]", "bool[?,?]")
    variables = [precast.input(name, type) for name, type in zip("xyvwnm", types)]
    wants = CALLS[which](*arrays)
    found = CALLS[which](*variables)
    assert len(found) == len(wants)
    graphs = [each for each in found if isinstance(each, precast.Variable)]
    values = iter(interpreted(variables, graphs, *arrays) if graphs else ())
    for each, want in zip(found, wants):
        agrees(next(values) if isinstance(each, precast.Variable) else each, want)


def test_unstack_requires_a_known_extent():
    x = precast.input("x", "f64[3,?]")
    a = np.ones((3, 2))
    assert len(precast.unstack(x)) == 3
    agrees(interpreted([x], precast.unstack(x)[1], a), a[1])
    with pytest.raises(precast.GraphValueError, match="unknown extent"):
        precast.unstack(precast.input("x", "f64[?]"))


@pytest.mark.parametrize("function", [np.concatenate, np.stack, np.hstack, np.vstack])
def test_concatenate_accepts_a_variable_as_rows(function):
    a = np.arange(6.0).reshape(2, 3)
    x = precast.input("x", "f64[2,3]")
    agrees(interpreted([x], function(x), a), function(a))
    with pytest.raises(precast.GraphTypeError, match="cannot iterate over `f64\\[\\?,3\\]`"):
        function(precast.input("x", "f64[?,3]"))


def test_quantiles_have_methods_and_weights():
    x, w = precast.input("x", "f64[?,?]"), precast.input("w", "f64[?]")
    a, b = A.copy(), np.array([1.0, 0.0, 2.0, 0.5, 1.0, 3.0])
    a[0, 1] = np.nan
    methods = ["lower", "hazen", "median_unbiased", "closest_observation", "averaged_inverted_cdf"]
    calls = [lambda x, w, method=method: np.nanquantile(x, [0.1, 0.5], axis=1, method=method) for method in methods]
    calls += [
        lambda x, w: np.percentile(x, 40, axis=1, method="inverted_cdf", weights=w),
        lambda x, w: np.nanpercentile(x[0], [40, 90], method="inverted_cdf", weights=w),
        lambda x, w: np.diff(x, prepend=1.0, append=x[:, :1]),
        lambda x, w: np.searchsorted(w, x, sorter=np.argsort(w)),
    ]
    for call in calls:
        agrees(interpreted([x, w], call(x, w), a, b), call(a, b))


def test_unique_returns_the_requested_results():
    n = precast.input("n", "i64[?,?]")
    found = np.unique(n, return_index=True, return_counts=True)
    for one, want in zip(interpreted([n], list(found), N), np.unique(N, return_index=True, return_counts=True), strict=True):
        agrees(one, want)
    assert np.unique_all(n)._fields == precast.unique_all(n)._fields == np.unique_all(N)._fields
    assert precast.unique_counts(n)._fields == np.unique_counts(N)._fields


def test_axis_out_of_range_raises_axis_error():
    x = precast.input("x", "f64[?,?]")
    for kind in (precast.GraphAxisError, precast.GraphValueError, IndexError, ValueError, np.exceptions.AxisError):
        with pytest.raises(kind, match="`axis` is 2, out of range for 2 dimension"):
            np.sum(x, axis=2)


def test_functions_have_signatures():
    signature = inspect.signature(precast.quantile)
    assert str(signature).startswith("(x, q, axis=None, *, method='linear'")
    assert list(inspect.signature(precast.stack).parameters) == ["tensors", "axis"]
    assert "x" not in inspect.signature(precast.input("x", "f64[?]").sum).parameters


@pytest.mark.parametrize(
    "wrong",
    [
        lambda x: np.linalg.tensorinv(x),
        lambda x: np.linalg.matrix_power(x, 0.5),
        lambda x: np.linalg.qr(x, mode="raw"),
        lambda x: np.copyto(x, 1.0),
        lambda x: np.apply_along_axis(sum, 0, x),
        lambda x: np.add(x, x, where=x > 0),
        lambda x: np.add(x, x, dtype=np.int32),
        lambda x: np.max(x, where=x > 0),
        lambda x: np.add(x, 1, out=np.zeros((2, 2))),
        lambda x: x.mean(initial=1.0, where=x > 0),
    ],
)
def test_rejected_calls_have_a_reason(wrong):
    with pytest.raises(precast.GraphError) as caught:
        wrong(precast.input("x", "f64[?,?]"))
    assert isinstance(caught.value, (TypeError, ValueError)) and "`" in str(caught.value)
