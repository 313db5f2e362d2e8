//! Compares every non-elementwise function with NumPy 2, in all call forms, for every dtype, and for shapes with
//! extents 0 and 1.
//!
//! A call is a text that is also valid Python. Its inputs are `x`, of every dtype and shape, and `y`, which is like
//! `x`. `v` has four elements, `s` the same elements in order, `m` is a mask with the shape of `x`, and `n` is a
//! number. A function without a call here or in the random expressions fails a test.
//!
//! Some of NumPy's answers are recorded in `tests/golden/functions.jsonl`, for machines without NumPy. With
//! `PRECAST_WRITE_GOLDEN` set, the test that calls NumPy writes them.

use super::functions::{FUNCTIONS, names};
use super::{Case, golden, near, ours, python};
use precast_graph::{Array, DType};
use precast_ops::{Ops, Sort};
use precast_testkit::{Choices, arrays};

/// The allowed distance from NumPy's result, in ulp of the largest element. Functions that only move elements are
/// exact.
const EXACT: f64 = 0.0;
const SUMS: f64 = 64.0;

/// The calls of one or two functions, and the allowed distance.
#[rustfmt::skip]
const CALLS: &[(&[&str], f64)] = &[
    (&["sort(x)", "sort(x, 0)", "sort(x, axis=None)", "sort(x, kind='stable')", "sort(x[::-1])"], EXACT),
    (&["argsort(x, kind='stable')", "argsort(x, 0, kind='stable')", "argsort(x, axis=None, stable=True)"], EXACT),
    (&["topk(x, 1)", "topk(x, 2, largest=False)", "topk(x, n, axis=0)", "argtopk(x, 2)", "argtopk(x, 1, 0, False)"], EXACT),
    (&["searchsorted(s, x)", "searchsorted(s, x, side='right')", "searchsorted(s, 2)", "searchsorted(s, 1.5, 'right')"], EXACT),
    (&["unique(x)", "unique(v)", "unique_values(x)", "unique(x, equal_nan=False)"], EXACT),
    (&["unique(x, return_index=True)[1]", "unique(x, return_inverse=True)[1]", "unique(x, return_counts=True)[1]", "unique(v, True, True, True)[3]", "unique(x, return_counts=True, equal_nan=False)[1]"], EXACT),
    (&["searchsorted(v, x, sorter=argsort(v))", "searchsorted(v, 2, 'right', sorter=argsort(v))"], EXACT),
    (&["median(x)", "median(x, axis=0)", "median(x, -1, keepdims=True)", "median(x, keepdims=True)"], SUMS),
    (&["quantile(f64(real(x)), 0.25)", "quantile(f64(real(x)), [0.0, 0.4, 1.0], axis=-1)", "percentile(f64(real(x)), 90, axis=0, keepdims=True)"], SUMS),
    (&["quantile(f32(real(x)), 0.25)", "quantile(f32(real(x)), [0.0, 0.4], axis=-1)", "quantile(i16(real(x)), [0, 1])", "percentile(f32(real(x)), [10, 50, 90])", "percentile(f32(real(x)), f32([10, 90]), axis=0)", "quantile(i8(real(x)), f32([0.1]))"], SUMS),
    (&["quantile(f64(real(x)), [0.0, 0.25, 0.4, 0.5, 0.75, 1.0], method='lower')", "quantile(f64(real(x)), [0.0, 0.25, 0.4, 0.5, 0.75, 1.0], method='higher')", "quantile(f64(real(x)), [0.0, 0.25, 0.4, 0.5, 0.75, 1.0], method='nearest')", "quantile(f64(real(x)), [0.0, 0.25, 0.4, 0.5, 0.75, 1.0], method='midpoint')", "quantile(f64(real(x)), [0.0, 0.25, 0.4, 0.5, 0.75, 1.0], method='inverted_cdf')", "quantile(f64(real(x)), [0.0, 0.25, 0.4, 0.5, 0.75, 1.0], method='averaged_inverted_cdf')", "quantile(f64(real(x)), [0.0, 0.25, 0.4, 0.5, 0.75, 1.0], method='closest_observation')"], SUMS),
    (&["quantile(f64(real(x)), [0.0, 0.25, 0.4, 0.5, 0.75, 1.0], axis=0, method='interpolated_inverted_cdf')", "quantile(f64(real(x)), [0.0, 0.25, 0.4, 0.5, 0.75, 1.0], axis=0, method='hazen')", "quantile(f64(real(x)), [0.0, 0.25, 0.4, 0.5, 0.75, 1.0], axis=0, method='weibull')", "quantile(f64(real(x)), [0.0, 0.25, 0.4, 0.5, 0.75, 1.0], axis=0, method='median_unbiased')", "quantile(f64(real(x)), [0.0, 0.25, 0.4, 0.5, 0.75, 1.0], axis=0, method='normal_unbiased')", "quantile(f64(real(x)), [0.0, 0.25, 0.4, 0.5, 0.75, 1.0], axis=0, method='linear')"], SUMS),
    (&["quantile(i64(real(x)), [0.0, 0.25, 0.4, 0.5, 0.75, 1.0], axis=-1, method='lower')", "quantile(i64(real(x)), [0.0, 0.25, 0.4, 0.5, 0.75, 1.0], axis=-1, method='higher')", "quantile(i64(real(x)), [0.0, 0.25, 0.4, 0.5, 0.75, 1.0], axis=-1, method='nearest')", "quantile(i64(real(x)), [0.0, 0.25, 0.4, 0.5, 0.75, 1.0], axis=-1, method='inverted_cdf')", "quantile(i64(real(x)), [0.0, 0.25, 0.4, 0.5, 0.75, 1.0], axis=-1, method='closest_observation')", "quantile(f32(real(x)), 0.25, method='nearest')", "percentile(f32(real(x)), 50, axis=0, keepdims=True, method='inverted_cdf')", "percentile(f64(real(x)), [10, 60], method='hazen')"], SUMS),
    (&["nanquantile(where(m, nan, f64(real(x))), [0.0, 0.25, 0.4, 0.5, 0.75, 1.0], axis=0)", "nanquantile(where(m, nan, f64(real(x))), 0.5)", "nanpercentile(where(m, nan, f64(real(x))), [20, 90], axis=-1, keepdims=True)", "nanquantile(where(m, nan, f64(real(x))), 0.3, axis=0, method='hazen')", "nanquantile(where(m, nan, f64(real(x))), 0.5, axis=-1, method='lower')"], SUMS),
    (&["quantile(f64(real(x)), [0.0, 0.25, 0.4, 0.5, 0.75, 1.0], method='inverted_cdf', weights=ones_like(f64(real(x))))", "quantile(f64(real(x)), 0.5, axis=0, method='inverted_cdf', weights=arange(f64(real(x)).shape[0]) + 1)", "quantile(f64(real(x)), [0.0, 0.25, 0.4, 0.5, 0.75, 1.0], axis=-1, method='inverted_cdf', weights=abs(f64(real(y))) + 1, keepdims=True)", "percentile(i64(real(x)), 30, axis=-1, method='inverted_cdf', weights=arange(x.shape[1]) + 1)", "quantile(f64(real(x)), [0.0, 0.5], axis=(0, 1), method='inverted_cdf', weights=m + 1)", "nanquantile(where(m, nan, f64(real(x))), [0.3, 0.6], axis=0, method='inverted_cdf', weights=abs(f64(real(y))) + 1)"], SUMS),
    (&["nonzero(x)", "nonzero(x)[0]", "flatnonzero(x)", "argwhere(x)", "count_nonzero(x)", "count_nonzero(x, 0)", "count_nonzero(x, axis=-1, keepdims=True)"], EXACT),
    (&["boolean_index(x, m)", "boolean_index(x, x == x)", "x[any(m)]", "x[all(m)]", "x[:, any(m)]", "x[0, any(m)]", "x[0, :, any(m)]", "x[1:, any(m), 0]", "sum(x)[any(m)]", "set_subtensor(x[any(m)], 1)", "set_subtensor(x[all(m)], 1)", "compress([True, False, True], x)", "compress([1, 0], x, axis=-1)", "extract(m, x)"], EXACT),

    (&["einsum('...->...', x)", "einsum('i->', x)", "einsum('ij->ji', x)", "einsum('ij->j', x)", "einsum('ii', x)", "einsum('ii->i', x)"], SUMS),
    (&["einsum('i,i', x, y)", "einsum('i,j', x, v)", "einsum('ij,ij->i', x, y)", "einsum('ij,kj', x, y)", "einsum('ij,ij->', x, y)", "einsum('...i,...i', x, y)"], SUMS),
    (&["einsum('ij,kj,l->ikl', x, y, v)", "einsum('ijk,ijl->kl', x, y)", "einsum('bij,bkj->bik', x, y)", "einsum('ij , ji -> i', x, transpose(y))"], SUMS),
    (&["einsum('ij,ij->', x, y[:, :1])", "einsum('ij,jk', x[:, :1], y)", "einsum('ij,jk->ik', x, y[:1])", "einsum('ij,ij->ij', x[:1], y)", "einsum('ij,kj->', x[:, :1], y)", "einsum('i,i,i->', x[:1], y, y)"], SUMS),
    (&["tensordot(x, y, 0)", "tensordot(x, transpose(y), 1)", "tensordot(x, y, axes=([0, 1], [0, 1]))", "tensordot(x, y, axes=(0, 0))"], SUMS),
    (&["inner(x, y)", "outer(x, v)", "vdot(x, y)", "inner(x, 2)", "outer(x, 2)"], SUMS),
    (&["norm(x)", "norm(x, axis=0)", "norm(x, 1)", "norm(x, inf, axis=-1)", "norm(x, -inf, 0, True)", "norm(x, 0, axis=0)", "norm(x, 3, axis=-1)", "norm(x, 'fro', axis=(0, 1), keepdims=True)", "norm(x, 2.5, axis=0)", "norm(x, -1)"], SUMS),

    (&["softmax(x)", "softmax(x, axis=-1)", "softmax(x, (0, 1))", "log_softmax(x)", "log_softmax(x, axis=0)"], SUMS),
    (&["logsumexp(x)", "logsumexp(x, axis=0)", "logsumexp(x, -1, keepdims=True)"], SUMS),
    (&["relu(x)", "ptp(x)", "ptp(x, axis=0)", "ptp(x, -1, keepdims=True)"], EXACT),
    (&["isclose(x, y)", "isclose(x, x)", "isclose(x, y, 0.5, 1)", "isclose(x, x, equal_nan=True)", "isclose(x, 1)", "allclose(x, x)", "allclose(x, y, rtol=10)"], EXACT),

    (&["nansum(x)", "nansum(x, axis=0)", "nansum(x, -1, keepdims=True)", "nansum(x, dtype=f64)", "nanprod(x)", "nanprod(x, axis=0)"], SUMS),
    (&["sum(x > 0, dtype=bool)", "sum(i64(real(x)), dtype=bool)", "sum(i64(real(x)), 0, dtype=i32)", "sum(i64(real(x)), dtype=u8)", "prod(i64(real(x)), dtype=i8)", "prod(i64(real(x)), -1, bool)", "cumsum(i64(real(x)), dtype=i16)", "cumsum(i64(real(x)), 0, dtype=bool)", "cumprod(i64(real(x)), dtype=u16)", "cumprod(i64(real(x)), dtype=bool)", "nansum(i64(real(x)), dtype=i32)", "nanprod(i64(real(x)), dtype=u32)"], SUMS),
    (&["var(x, ddof=0.5)", "std(x, axis=0, ddof=1.5)", "nanvar(x, 0, ddof=0.5)"], SUMS),
    (&["nanmean(x)", "nanmean(x, axis=0)", "nanmean(x, -1, keepdims=True)"], SUMS),
    (&["nanvar(x)", "nanvar(x, axis=0, ddof=1)", "nanstd(x)", "nanstd(x, axis=-1, ddof=1, keepdims=True)"], SUMS),
    (&["nansum(where(m, nan, x), axis=0)", "nanprod(where(m, nan, x))", "nanmean(where(m, nan, x))", "nanmean(where(m, x, nan), axis=-1)", "nanvar(where(m, x, nan), 0, ddof=1)", "nanstd(where(m, nan, x), keepdims=True)"], SUMS),
    (&["nanmax(x)", "nanmax(x, axis=0)", "nanmin(x)", "nanmin(x, axis=-1, keepdims=True)"], EXACT),
    (&["fmax(x, y)", "fmin(x, y)", "fmax(x, 1)", "fmin(v, v)", "nan_to_num(x)", "nan_to_num(x, nan=1.5, posinf=3, neginf=-2.0)"], EXACT),
    (&["heaviside(x, y)", "heaviside(x, 0.5)", "heaviside(x, 1)"], EXACT),
    (&["logaddexp(x, y)", "logaddexp(x, x)", "logaddexp(x, 1)", "sinc(x)"], SUMS),
    (&["amax(x)", "amin(x, axis=0)", "ravel(x)", "concat([x, y])", "concatenate((x, y), axis=None)", "permute_dims(x, (1, 0))"], EXACT),
    (&["squeeze(x[:1], 0)", "squeeze(x[None], axis=0)", "squeeze(expand_dims(x, (0, -1)), (0, -1))", "expand_dims(x, 0)", "expand_dims(x, axis=(-1, 0))"], EXACT),
    (&["swapaxes(x, 0, -1)", "swapaxes(x, 0, 1)", "moveaxis(x, 0, -1)", "moveaxis(x, (0, 1), (-1, 0))", "matrix_transpose(x)"], EXACT),
    (&["flip(x)", "flip(x, 0)", "flip(x, axis=(0, -1))", "flipud(x)", "fliplr(x)"], EXACT),
    (&["roll(x, 1)", "roll(x, -2)", "roll(x, n, axis=0)", "roll(x, 7, axis=-1)", "roll(x, (1, 2), axis=(0, 1))", "roll(x, 1, axis=(0, 1))"], EXACT),
    (&["repeat(x, 2)", "repeat(x, n, axis=0)", "repeat(x, 0, axis=-1)", "repeat(v, [1, 0, 2, 3])", "repeat(x, [2], axis=0)"], EXACT),
    (&["tile(x, 2)", "tile(x, (2, 1))", "tile(x, (1, 2, 3))", "tile(x, 0)", "tile(x, n)"], EXACT),
    (&["diff(x)", "diff(x, 2)", "diff(x, axis=0)", "diff(x, 1, 0)", "diff(x, 0)", "diff(x, prepend=0)", "diff(x, append=x)", "diff(x, 2, prepend=1, append=True)", "diff(x, axis=0, prepend=x, append=y[:1])"], EXACT),
    (&["concatenate(x)", "concatenate(x, axis=-1)", "concatenate([x])", "stack(x)", "stack(x, axis=1)", "stack([x])", "vstack(x)", "hstack(x)", "hstack([x])"], EXACT),
    (&["vstack([x, y])", "hstack((x, y))", "append(x, v)", "append(x, y, axis=0)", "atleast_1d(x)", "atleast_2d(x)"], EXACT),

    (&["full((2, 3), 1.5)", "full(n, True)", "full((n, 0), 2, dtype=f32)", "full((), v[0])", "full_like(x, 1)", "full_like(x, True, dtype=i16)"], EXACT),
    (&["zeros_like(x)", "ones_like(x)", "ones_like(x, dtype=f32)", "zeros((2, n), dtype=bool)", "ones(3)", "zeros_like(x, bool)"], EXACT),
    (&["broadcast_to(x, (2, 3))", "broadcast_to(v, (3, 4))", "broadcast_to(v[:1], (n,))"], EXACT),
    (&["linspace(0, 1)", "linspace(1, 10, 4)", "linspace(0, 7, 5, endpoint=False)", "linspace(2.5, 2.5, 3)", "linspace(0, 9, 4, dtype=i32)", "linspace(1, 2, 1)", "linspace(1, 2, 0)", "linspace(5, n, 6)"], SUMS),
    (&["diagonal(x)", "diagonal(x, 1)", "diagonal(x, offset=-1, axis1=-1, axis2=0)", "diag(x)", "diag(x, 1)", "diag(x, -2)", "diag(v)", "diag(x, 9)"], EXACT),
    (&["trace(x)", "trace(x, 1)", "trace(x, -1, 1, 0)", "trace(x, dtype=f64)", "trace(i64(real(x)), dtype=i16)"], SUMS),
    (&["tri(3)", "tri(2, 4, 1)", "tri(n, 3, -1, dtype=i8)", "tril(x)", "tril(x, 1)", "triu(x)", "triu(x, -1)", "triu(x, k=n)"], EXACT),
    (&["eye(3)", "eye(n, 4, k=1)", "eye(2, dtype=i8)"], EXACT),
    (&["array([1, 2])", "array([[True, n], [0, 3]])", "array([1.5], dtype=f32)"], EXACT),
    (&["arange(5)", "arange(1, 8, 3)", "arange(0.5, 2)"], EXACT),

    (&["divmod(x, y)[0]", "divmod(x, 2)[1]", "modf(x)[0]", "modf(x)[1]", "fix(x)"], EXACT),
    (&["frexp(nan_to_num(x))[0]", "frexp(nan_to_num(x))[1]", "ldexp(x, 3)", "ldexp(x, -n)"], EXACT),
    (&["isin(x, v)", "isin(x, y, invert=True)", "isin(x, [1, 2])", "isin(v, x, assume_unique=False, kind='sort')"], EXACT),
    (&["unique_all(x)[0]", "unique_all(x)[1]", "unique_all(x)[2]", "unique_all(x)[3]"], EXACT),
    (&["unique_counts(x)[0]", "unique_counts(v)[1]", "unique_inverse(x)[0]", "unique_inverse(x)[1]"], EXACT),
    (&["take_along_axis(x, argsort(x, kind='stable'))", "take_along_axis(x, argsort(x, 0, kind='stable'), axis=0)", "take_along_axis(x, argsort(x, None, kind='stable'), axis=None)", "take_along_axis(x, array([[0, -1]]), 1)"], EXACT),
    (&["meshgrid(v, s)[0]", "meshgrid(x, v, indexing='ij')[1]", "meshgrid(v, n, s, sparse=True)[2]", "meshgrid(x)[0]"], EXACT),
    (&["unstack(array([[1, 2, 3], [4, 5, 6]]), axis=1)[2]", "unstack(array([1.5, 2]))[0]"], EXACT),
    (&["array_split(x, 2)[0]", "array_split(x, 3, axis=-1)[1]", "array_split(x, [1, 2])[2]", "array_split(x, 3)[2]"], EXACT),
    (&["column_stack([x, y])", "column_stack((v, s))", "dstack([x, y])", "dstack([v, s])"], EXACT),
    (&["vecdot(x, y)", "vecdot(x, y, axis=0)", "vecdot(v, s)", "matvec(x, y[0])", "matvec([[1, 2, 3, 4]], v)", "vecmat(y[..., 0], x)"], SUMS),
    (&["kron(x, y)", "kron(v, x)", "cross(x, y)", "cross(x, y, axis=0)", "cross(v[:3], s[1:])"], SUMS),
    (&["convolve(v, s)", "convolve(x, v, 'same')", "convolve(v, x, 'valid')", "correlate(v, s)", "correlate(x, v, 'full')", "correlate(v, x, 'same')", "correlate(x, v, 'same')"], SUMS),
    (&["cumulative_sum(x)", "cumulative_sum(x, axis=0)", "cumulative_sum(x, axis=-1, include_initial=True)", "cumulative_prod(x, axis=0, include_initial=True)", "cumulative_prod(v)", "cumulative_sum(x, axis=0, dtype=f64)"], SUMS),
    (&["vector_norm(x)", "vector_norm(x, axis=0)", "vector_norm(x, axis=(0, 1), keepdims=True)", "vector_norm(x, ord=1)", "vector_norm(x, axis=-1, ord=inf)", "matrix_norm(x)", "matrix_norm(x, keepdims=True, ord=1)"], SUMS),
    (&["interp(real(x), sort(real(v).astype(float)), arange(4.0))", "interp(x, arange(3), [3, 5, 4], left=-1)", "interp(x, [1.0], v[:1], right=7)", "interp(1.5, arange(4), v)"], SUMS),
    (&["digitize(x, s)", "digitize(x, s[::-1], right=True)", "digitize(x, [1, 2], True)", "digitize(v, [2, 1.5, 0])"], EXACT),
    (&["bincount(x % 5)", "bincount(v % 7, minlength=2)", "bincount([1, 3, 1], minlength=7)", "bincount([1, 3, 1, 1], v)"], EXACT),
    (&["polyval([1, 2, 3], x)", "polyval([0.5, -2], x)", "polyval([2], x)", "polyval([1, 2], n)"], SUMS),
    (&["trapezoid(x)", "trapezoid(x, dx=0.5, axis=0)", "trapezoid(v, s)", "trapezoid(x, y)"], SUMS),
    (&["gradient(v)", "gradient(x, axis=0)", "gradient(x, 2.0, axis=-1)", "gradient(x)[0]", "gradient(v, [0, 1, 3, 7])", "gradient(x, 2, 0.5)[1]"], SUMS),
    (&["select([m], [x])", "select([m, x == y], [x, y], 7)", "select([m, m], [x, 1.5], default=2)"], EXACT),
    (&["pad(x, 1)", "pad(x, (1, 2), constant_values=3)", "pad(x, ((0, 1), (2, 0)))", "pad(x, 2, 'edge')", "pad(v, (3, 5), mode='reflect')", "pad(v, 6, mode='symmetric')", "pad(v, (5, 1), mode='wrap')", "pad(x[:1], 2, mode='reflect')"], EXACT),
    (&["delete(x, 0)", "delete(x, [0, -1], axis=0)", "delete(v, n)", "delete(v, [True, False, True, False])", "delete(x, [], axis=0)"], EXACT),
    (&["insert(x, 0, 1)", "insert(x, -1, 2, axis=0)", "insert(v, n, s)", "insert(x, 1, v[:1], axis=-1)"], EXACT),
    (&["x[[0, -1], [1, 0]]", "x[:, [0, 1], [1, 0]]", "x[[[0], [1]], [0, -1]]", "x[[0, 1], :, [0, 0]]", "x[0, :, [1, 2, 0]]", "x[..., [0], [0]]", "x[None, [0], 0]"], EXACT),

    (&["solve(f32(real(x)) + 99 * eye(3, dtype=f32), f32(real(y)))", "solve(99.0 * eye(3) + real(x), y)", "solve(99.0 * eye(3) + real(x), v[:3])", "solve(99.0 * eye(3) + real(x), [1, 2, 3])", "inv(f32(real(x)) + 99 * eye(3, dtype=f32))", "inv(99.0 * eye(3) + real(x))", "inv(x)", "inv(eye(3)[::-1])"], SUMS),
    (&["cholesky(f32(real(x)) + 99 * eye(3, dtype=f32))", "cholesky(99.0 * eye(3) + real(x), upper=True)", "cholesky(99 * eye(3) + ones((2, 3, 3)) * n)", "cholesky(-eye(3) * n)", "det(f32(real(x)) + 99 * eye(3, dtype=f32))", "det(x)", "slogdet(f32(real(x)) + 99 * eye(3, dtype=f32))[0]", "slogdet(99.0 * eye(3) + real(x))[1]", "slogdet(-(99.0 * eye(3) + real(x)))[0]"], SUMS),
    (&["lu_factor([[1, 2, 3], [4, 5, 6], [7, 8, 9.5]])[0]", "lu_factor(f32([[1, 2, 3], [4, 5, 6], [7, 8, 9.5]]))[1]", "solve_triangular(99.0 * eye(3) + real(x), v[:3])", "solve_triangular(99.0 * eye(3) + real(x), y, 'T', lower=True, unit_diagonal=True)", "cho_solve((99.0 * eye(3) + real(x), True), y)"], SUMS),
    (&["solve(99.0 * eye(2) + real(x)[:, :2], real(x))", "inv(99.0 * eye(2) + real(x)[:, :2])", "cholesky(99.0 * eye(2) + real(x)[:, :2])", "det(99.0 * eye(2) + real(x)[:, :2])", "slogdet(99.0 * eye(2) + real(x)[:, :2])[1]", "lu_factor(99.0 * eye(2) + real(x)[:, :2])[0]", "solve_triangular(99.0 * eye(2) + real(x)[:, :2], [1, 2])", "cho_solve((99.0 * eye(2) + real(x)[:, :2], True), [1, 2])"], SUMS),
    (&["qr(f32(real(x)) + 99 * eye(3, dtype=f32))[1]", "qr(99.0 * eye(3) + real(x))[0]", "qr(99.0 * eye(2) + real(x)[:, :2], 'complete')[0]", "qr(99.0 * eye(3, 2) + real(x)[..., :2], mode='complete')[1]", "qr(99.0 * eye(2, 3) + real(x)[:2], mode='r')", "qr(x[:, :0])[0]"], SUMS),
    (&["eigh(x)[0]", "abs(eigh([[2.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 9.0]] + 0 * real(x))[1])", "eigh(f32(real(x)), 'U')[0]", "eigvalsh(x)", "eigvalsh(x, UPLO='U')"], SUMS),
    (&["svd(x)[1]", "svd(x, full_matrices=False)[1]", "svd(x, compute_uv=False)", "svd(f32(real(x)))[1]", "abs(svd([[2.0, 1.0, 0.0], [1.0, 3.0, 1.0]] + 0 * real(x)[:2], full_matrices=False)[0])", "abs(svd([[2.0, 1.0, 0.0], [1.0, 3.0, 1.0]] + 0 * real(x)[:2])[2])", "svd(x[:, :0])[0] * 0", "svdvals(x)", "svd(x, compute_uv=False, hermitian=True)"], SUMS),
    (&["pinv(99.0 * eye(3) + real(x))", "pinv(real(x)[:, :1] + 9.0)", "pinv(ones((2, 3)) + 0 * real(x)[:2])", "pinv(diag([1.0, 1e-3, 0.0]) + 0 * real(x), 0.01)", "pinv(diag([1.0, 1e-3, 0.0]) + 0 * real(x), rtol=1e-5, hermitian=True)", "pinv(zeros_like(f64(real(x))))"], SUMS),
    (&["matrix_rank(ones((2, 3)) + 0 * real(x)[:2])", "matrix_rank(99.0 * eye(3) + real(x))", "matrix_rank(x, tol=1e30)", "matrix_rank(diag([1.0, 1e-3, 0.0]) + 0 * real(x), rtol=0.01)", "matrix_rank(diag([1.0, 1e-3, 0.0]) + 0 * real(x), hermitian=True)", "matrix_rank(v)", "matrix_rank(v * 0)"], SUMS),
    (&["condition_number(99.0 * eye(3) + real(x))", "condition_number(99.0 * eye(3) + real(x), -2)", "condition_number(99.0 * eye(3) + real(x), 1)", "condition_number(99.0 * eye(3) + real(x), 'fro')", "condition_number(0.0 * real(x))", "condition_number(0.0 * real(x), inf)"], SUMS),
    (&["lstsq(99.0 * eye(3) + real(x), real(y))[0]", "lstsq(99.0 * eye(3) + real(x), v[:3])[0]", "lstsq(99.0 * eye(3, 2) + real(x)[:, :2], real(y))[1]", "lstsq(real(x)[:, :1] + 9.0, [1.0, 2.0, 4.0])[0]", "lstsq(99.0 * eye(3, 2) + real(x)[:, :2], v[:3])[1]", "lstsq(ones((3, 2)) + 0 * real(x)[:, :2], [1.0, 2.0, 4.0], 1e-10)[0]", "lstsq(99.0 * eye(3) + real(x), real(y))[2]", "lstsq(ones((3, 2)) + 0 * real(x)[:, :2], [1.0, 2.0, 4.0], rcond=-1)[1]", "lstsq(99.0 * eye(2, 3) + real(x)[:2], [1, 2])[0]"], SUMS),
    (&["lu([[1, 2, 3], [4, 5, 6], [7, 8, 9.5]])[0]", "lu(f32([[1, 2, 3], [4, 5, 6], [7, 8, 9.5]]))[1]", "lu(99.0 * eye(2, 3) + real(x)[:2])[2]", "lu(99.0 * eye(3, 2)[::-1] + real(x)[:, :2])[0]", "lu(99.0 * eye(3, 2)[::-1] + real(x)[:, :2], True)[0]", "lu(99.0 * eye(3, 2)[::-1] + real(x)[:, :2], p_indices=True)[0]", "lu_solve(lu_factor(99.0 * eye(3)[::-1] + [[1, 2, 3], [4, 5, 6], [7, 8, 9]]), real(y))", "lu_solve(lu_factor(99.0 * eye(3)[::-1] + [[1, 2, 3], [4, 5, 6], [7, 8, 9]]), v[:3], trans=1)"], SUMS),
    (&["np.fft.fft(x)", "fft(v)", "fft(x, 2, axis=0)", "fft(x, n=7, norm='ortho')", "fft(x, norm='forward')", "ifft(x)", "ifft(x, 5, 0, 'forward')", "ifft(v, norm='ortho')"], SUMS),
    (&["rfft(real(x))", "rfft(real(v), 5)", "rfft(real(x), axis=0, norm='ortho')", "irfft(x)", "irfft(v, 5)", "irfft(x, n=1)", "irfft(v, 6, norm='forward')", "hfft(x)", "hfft(v, 5, norm='ortho')", "ihfft(real(x))", "ihfft(real(v), 4, norm='forward')"], SUMS),
    (&["fft2(x)", "ifft2(x, (2, 4))", "rfft2(real(x), norm='ortho')", "irfft2(x)", "irfft2(x, s=(3, 5))", "fftn(atleast_1d(x))", "fftn(x, axes=(0,))", "fftn(stack([x, y]), axes=(0, 2))", "ifftn(atleast_1d(x), norm='forward')", "rfftn(real(x), [2, 2], axes=(0, 1))", "irfftn(stack([x, x]))"], SUMS),
    (&["fftfreq(7)", "fftfreq(8, 0.5)", "fftfreq(1, d=2)", "rfftfreq(7)", "rfftfreq(8, 0.1)"], SUMS),
    (&["fftshift(x)", "fftshift(v)", "fftshift(x, axes=0)", "ifftshift(x)", "ifftshift(x, (0,))", "ifftshift(fftshift(v))"], EXACT),
    (&["vander(v)", "vander(v, 3)", "vander(x[0], N=0)", "vander(v, increasing=True)", "vander(v, 2, True)"], SUMS),
    (&["solve_banded((1, 1), 9.0 * eye(3)[1] + real(x)[:3, :3], v[:3])", "solve_banded((0, 1), 99.0 * ones((2, 3)) + real(x)[:2, :3], y)", "tridiagonal_solve(v[:3], 99.0 + s[:3], v[:3], y)", "solve_toeplitz(99.0 * eye(3)[0] + real(v)[:3], y)", "solve_toeplitz((99.0 * eye(3)[0] + real(v)[:3], s[:3]), v[:3])"], SUMS),
    (&["solve_sylvester(99.0 * eye(3) + x, 9.0 * eye(2) + [[1, 2], [-2, 3]], y)", "solve_sylvester([[1.0, 2.0], [-2.0, 1.0]] + 0j * x[:2, :2], [[3.0, -1.0, 0.5], [1.0, 3.0, 2.0], [0.0, 0.0, 4.0]], x[:2])", "solve_continuous_lyapunov(99.0 * eye(3) + 1j * x, x)", "solve_discrete_lyapunov(0.5 * eye(3)[::-1] + 0 * x, x)"], SUMS),
    (&["toeplitz(v)", "toeplitz(v, s[:2])", "toeplitz(x[0], v)", "block_diag(x, y)", "block_diag(v, x, 7)", "block_diag(x)", "block_diag(m, s)"], EXACT),
    (&["expm([[0.0, 1.0, 2.0], [-1.0, 0.0, 0.5], [0.3, 0.0, 1.0]] + 0 * real(x))", "expm(f32([[0, 1], [-1, 0]]))", "expm([[[0.0, 9.0], [-9.0, 0.0]], [[1.0, 0.0], [0.0, 0.1]]])", "expm(zeros_like(real(x)))"], 512.0),
    (&["matrix_power(x, 3)", "matrix_power(real(x), 0)", "matrix_power(99.0 * eye(3) + real(x), -2)", "matrix_power(x, 1)", "matrix_power(f32(real(x)), 6)"], SUMS),
    (&["norm(x, 2, axis=(-2, -1))", "norm(99.0 * eye(3) + real(x), -2.0, (0, 1), True)", "norm(x, 'nuc', axis=(-1, -2))", "matrix_norm(x, ord='nuc', keepdims=True)", "matrix_norm(x, ord=2)"], SUMS),
    (&["eig(diag([3.0, 1.0, 2.0]) + 0 * real(x))[0]", "abs(eig([[2.0, 1.0], [1.0, 3.0]])[1])", "eigvals([[0.0, -1.0], [1.0, 0.0]])", "eigvals(f32([[1, 4], [-1, 1]]))", "abs(eig([[1.0, 4.0], [-1.0, 1.0]])[1])", "sort(real(eigvals(99.0 * eye(3) + real(x))))", "abs(schur([[2.0, 1.0], [0.0, 3.0]])[0])", "abs(schur([[2.0, 1.0], [1.0, 3.0]])[1])", "abs(schur(diag([3.0, 1.0, 2.0]) + 0 * real(x), output='complex')[0])"], SUMS),
    (&["abs(qr(9.0 * eye(3)[:, ::-1] + real(x), pivoting=True)[1])", "qr([[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]] + 0 * real(x)[:2], 'complete', True)[0]", "qr(diag([1.0, 3.0, 2.0]) + 0 * real(x), mode='r', pivoting=True)[1]"], SUMS),
    (&["abs(schur([[1.0, 2.0], [3.0, 4.0]] + 0 * real(x)[:2, :2], sort='rhp')[0])", "abs(qz([[1.0, 2.0], [3.0, 4.0]] + 0 * real(x)[:2, :2], [[2.0, 0.0], [1.0, 1.0]], sort='lhp')[0])", "abs(qz([[1.0, 2.0], [3.0, 4.0]] + 0 * real(x)[:2, :2], [[2.0, 0.0], [1.0, 1.0]], sort='ouc')[1])", "abs(ordqz([[1.0, 2.0], [3.0, 4.0]] + 0 * real(x)[:2, :2], [[2.0, 0.0], [1.0, 1.0]])[4])", "abs(ordqz([[1.0, 2.0], [3.0, 4.0]] + 0 * real(x)[:2, :2], [[2.0, 0.0], [1.0, 1.0]], sort='rhp', output='complex')[5])", "real(ordqz([[1.0, 2.0], [3.0, 4.0]] + 0 * real(x)[:2, :2], [[2.0, 0.0], [1.0, 1.0]], 'iuc')[2] / ordqz([[1.0, 2.0], [3.0, 4.0]] + 0 * real(x)[:2, :2], [[2.0, 0.0], [1.0, 1.0]], 'iuc')[3])"], SUMS),
    (&["solve(99.0 * eye(3) + (1 + 1j) * x, y)", "inv(99.0 * eye(3) + 1j * x)", "cholesky(99.0 * eye(3) + x + conj(x.T) + 1j * (x - x.T))", "det(9.0 * eye(3) + 1j * x)", "slogdet(9.0 * eye(3) + 1j * x)[1]", "solve_triangular(99.0 * eye(3) + 1j * x, y, 'C')", "qr(9.0 * eye(3) + 1j * x)[1]", "svd(9.0 * eye(3) + 1j * x)[1]", "eigh(9.0 * eye(3) + 1j * (x - x.T))[0]", "pinv(9.0 * eye(3) + 1j * x)"], SUMS),
    (&["solve_banded((1, 1), 99.0 * eye(3)[1][:, None] + 1j * x[:3, :3], v[:3])", "solve_banded((0, 1), 99.0 * eye(2)[1][:, None] + (1 + 1j) * x[:2, :3], y)", "tridiagonal_solve(1j * v[:3], 99.0 + s[:3], v[:3], y)", "solve_toeplitz(99.0 * eye(3)[0] + 1j * v[:3], y)", "lstsq(99.0 * eye(3) + 1j * x, y)[0]", "lstsq(99.0 * eye(3, 2) + 1j * x[:, :2], y)[1]", "lstsq(ones((3, 2)) + 0j * x[:, :2], [1j, 2.0, 4.0], 1e-10)[0]"], SUMS),
    (&["expm([[1j, 1.0, 2.0], [-1.0, -1j, 0.5], [0.3, 0.0, 1.0]] + 0 * x)", "expm([[1j, 9.0 + 1j], [-9.0 + 1j, 1j]])"], 512.0),
];

/// Calls that one side rejects on purpose: a fragment of its message, and the reason.
#[rustfmt::skip]
const ON_PURPOSE: &[(&str, &str)] = &[
    ("does not support dtype", "a function that is not there for complex numbers, or for truth values"),
    ("numpy boolean subtract", "as above"),
    ("real numbers", "a function that is not there for complex numbers"),
    ("out of bounds for axis 0 with size 0", "nothing has no middle"),
    ("need at least one array", "an array of no rows has none to put together in NumPy"),
    ("zero-size array", "NumPy's `norm` and SciPy's `logsumexp` have a value for nothing"),
    ("einsum: extents of `i` differ", "NumPy reads behind an array without elements"),
    ("does not fit", "a literal that the dtype cannot hold is refused"),
    ("vectors have three elements", "NumPy's products of vectors of two are deprecated"),
    ("the weights of a line are infinite or all 0", "NumPy's `nanquantile` of nothing is NaN"),
    ("it supports f32, f64", "the next number is of f32 and f64"),
    ("array type float16 is unsupported in linalg", "norms of f16 are computed in f32"),
];

/// Returns the calls that work with the inputs of the page.
pub(super) fn calls() -> impl Iterator<Item = String> {
    CALLS.iter().flat_map(|(texts, _)| *texts).map(|text| (*text).to_owned())
}

const SHAPES: [&[usize]; 10] =
    [&[], &[0], &[1], &[5], &[3, 0], &[0, 3], &[2, 3], &[3, 3], &[1, 1], &[2, 1, 3]];

/// Returns few distinct values, so that they repeat. Floats include the special values, except for sums.
fn drawn(choices: &mut Choices, dtype: DType, shape: &[usize], specials: bool) -> Array {
    let plain = arrays::draw_plain(choices, dtype, shape);
    if !specials {
        return plain;
    }
    let few = [arrays::specials(dtype), arrays::draw_plain(choices, dtype, &[9])].map(|a| a.bits()).concat();
    let words = dtype.words();
    let bits: Vec<u64> = (0..shape.iter().product())
        .flat_map(|_| {
            let at = choices.below(few.len() / words) * words;
            few[at..at + words].to_vec()
        })
        .collect();
    Array::from_bits(dtype, shape, &bits).unwrap()
}

fn case(text: &str, dtype: DType, shape: &[usize], specials: bool, choices: &mut Choices) -> Case {
    let mut draw = |dtype, shape: &[usize]| drawn(choices, dtype, shape, specials);
    let v = draw(dtype, &[4]);
    let s = precast_graph::Op::perform(&Sort { positions: false, axis: 0 }, &[&v]).unwrap().remove(0);
    let (x, y, m) = (draw(dtype, shape), draw(dtype, shape), draw(DType::Bool, shape));
    let all = [("x", x), ("y", y), ("v", v), ("s", s), ("m", m), ("n", Array::from(2_i64))];
    let words: Vec<&str> = text.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    let used = all.into_iter().filter(|(name, _)| words.contains(name));
    let inputs = used.map(|(name, array)| (name.to_owned(), array)).collect();
    Case { text: text.to_owned(), inputs, single: true }
}

/// Returns whether two results are within the call's tolerance, measured by the largest element.
fn same(found: &Array, want: &Array, ulps: f64) -> bool {
    let (a, b) = (found.numbers(), want.numbers());
    let is_nan = |n: &precast_graph::Number| n.parts().0.is_nan() || n.parts().1.is_nan();
    if ulps == 0.0 {
        return a.iter().zip(&b).all(|(a, b)| a.same(*b) || is_nan(a) && is_nan(b));
    }
    let size = |n: &precast_graph::Number| n.parts().0.abs().max(n.parts().1.abs());
    let largest = b.iter().map(size).filter(|x| x.is_finite()).fold(1.0, f64::max);
    let precision = match found.dtype().real() {
        DType::F16 => 2_f64.powi(-10),
        DType::F32 => 2_f64.powi(-23),
        _ => f64::EPSILON,
    };
    let close = |a: f64, b: f64| (a - b).abs() <= ulps * precision * largest;
    let both = |(a, b): (&precast_graph::Number, &precast_graph::Number)| {
        let ((ar, ai), (br, bi)) = (a.parts(), b.parts());
        near(*a, *b, found.dtype(), ulps) || close(ar, br) && close(ai, bi)
    };
    a.iter().zip(&b).all(both)
}

/// Describes the difference between the library's result of a case and the answer.
fn wrong(case: &Case, answer: &Result<Array, String>, ulps: f64) -> Option<String> {
    let listed = |error: &String| ON_PURPOSE.iter().any(|(fragment, _)| error.contains(fragment));
    match (ours(case), answer) {
        (Err(_), Err(_)) => None,
        (Err(error), Ok(_)) if listed(&error) => None,
        (Ok(_), Err(error)) if listed(error) => None,
        (Err(error), Ok(value)) => Some(format!("refused: {error}\nNumPy gives {value:?}")),
        (Ok(value), Err(error)) => Some(format!("gives {value:?}\nNumPy refuses: {error}")),
        (Ok(found), Ok(want)) if found.shape() != want.shape() && is_without_fractions(case) => None,
        (Ok(found), Ok(want)) if found.dtype() != want.dtype() || found.shape() != want.shape() => {
            Some(format!("gives {}, NumPy {}", found.ty(), want.ty()))
        }
        (Ok(found), Ok(want)) => (!same(&found, want, ulps))
            .then(|| format!("gives {found:?}\nNumPy {want:?}\ninputs {:?}", case.inputs)),
    }
}

/// Returns whether NumPy leaves out the dimension of the fractions, as it does for arrays without elements.
pub(super) fn is_without_fractions(case: &Case) -> bool {
    let functions = ["nanquantile(", "nanpercentile(", "percentile(i64(real(x))"];
    functions.iter().any(|function| case.text.starts_with(function))
        && case.inputs.iter().any(|(_, array)| array.shape().contains(&0))
}

/// Panics with the first difference of each call.
fn assert_none(wrong: Vec<String>) {
    let (count, mut first) = (wrong.len(), wrong);
    first.dedup_by_key(|what| what.split(" of ").next().map(str::to_owned));
    let shown: String = first.into_iter().take(super::number("PRECAST_NUMPY_SHOWN", 8) as usize).collect();
    assert!(count == 0, "{count} differ from NumPy:\n{shown}");
}

fn told(case: &Case, what: &str) -> String {
    let types: Vec<String> = case.inputs.iter().map(|(name, a)| format!("{name} {}", a.ty())).collect();
    format!("{} of {}: {what}\n", case.text, types.join(", "))
}

#[test]
fn every_function_matches_numpy() {
    let Some(python) = python::find() else {
        println!("skipped: no python3 with NumPy 2; PRECAST_TEST_PYTHON names one");
        return;
    };
    let mut choices = Choices::seeded(41);
    let mut cases: Vec<(Case, f64)> = Vec::new();
    for (texts, ulps) in CALLS {
        for text in *texts {
            for dtype in DType::ALL.into_iter().filter(|dtype| *dtype != DType::Bf16) {
                for shape in SHAPES {
                    cases.push((case(text, dtype, shape, *ulps == EXACT, &mut choices), *ulps));
                }
            }
        }
    }
    let requests: Vec<_> = cases.iter().map(|(case, _)| (case.text.clone(), case.inputs.clone())).collect();
    let answers = python::evaluate(&python, &requests);
    if std::env::var_os("PRECAST_WRITE_GOLDEN").is_some() {
        golden::write(&cases, &answers);
    }
    let values = answers.iter().filter(|answer| answer.is_ok()).count();
    let all = cases.iter().zip(&answers);
    let differ: Vec<String> =
        all.filter_map(|((case, ulps), answer)| Some(told(case, &wrong(case, answer, *ulps)?))).collect();
    println!("{} calls, {values} values, {} differ from NumPy", cases.len(), differ.len());
    assert_none(differ);
    assert!(values > cases.len() / 3, "too few calls have a value");
}

#[test]
fn every_function_matches_stored_numpy_results() {
    let ulps = |text: &str| CALLS.iter().find(|(texts, _)| texts.contains(&text)).map(|(_, ulps)| *ulps);
    let (mut count, mut differ) = (0, Vec::new());
    for (case, answer) in golden::read() {
        let ulps = ulps(&case.text).unwrap_or_else(|| panic!("stale: {}", case.text));
        differ.extend(wrong(&case, &Ok(answer), ulps).map(|what| told(&case, &what)));
        count += 1;
    }
    assert_none(differ);
    assert!(count > 300, "{count} cases: the file was cut");
}

#[test]
fn every_function_has_a_comparison() {
    let called = |name: &str| {
        CALLS.iter().flat_map(|(texts, _)| *texts).any(|text| text.contains(&format!("{name}(")))
    };
    let random: Vec<&str> = FUNCTIONS.iter().map(|(name, _)| *name).collect();
    let missing = Ops::rows().filter(|row| !super::functions::is_elsewhere(row));
    let missing: Vec<&str> = missing
        .filter(|row| names(row).all(|name| !random.contains(&name) && !called(name)))
        .map(|row| row.name)
        .collect();
    assert!(missing.is_empty(), "no call of {missing:?} is compared with NumPy");
}
