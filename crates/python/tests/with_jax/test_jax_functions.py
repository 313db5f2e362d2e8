"""Functions of `jax.numpy` and `jax.scipy` that are made of many primitives match JAX."""

import pytest

pytest.importorskip("jax")
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import jax.scipy as jsp  # noqa: E402
import numpy as np  # noqa: E402
from jax import lax  # noqa: E402
from jax_frozen import check  # noqa: E402

RNG = np.random.default_rng(0)
A, V, I = RNG.normal(size=(5, 6)), RNG.normal(size=12), RNG.integers(0, 5, 12)
S = A[:, :5] @ A[:, :5].T + 3 * np.eye(5)
B = RNG.normal(size=(3, 4, 4)) + 4 * np.eye(4)
Z = RNG.normal(size=(4, 5)) + 1j * RNG.normal(size=(4, 5))

FUNCTIONS = {
    "arguments_of_extremes": (lambda a: (jnp.argmax(a, 1), jnp.argmin(a), jnp.count_nonzero(a > 0, axis=0), jnp.any(a > 2, 1)), (A,)),
    "associative_scans": (lambda v, b: (lax.associative_scan(jnp.add, v), lax.associative_scan(jnp.matmul, b)), (V, B)),
    "bits": (lambda i: (i << 2, i >> 1, i ^ 3, ~i, jnp.bitwise_count(i), jnp.gcd(i, 6), jnp.lcm(i + 1, 4)), (I,)),
    "complex_numbers": (lambda z: (z @ z.T, abs(z), jnp.angle(z), z.conj(), jnp.exp(z), jnp.sqrt(z), z**2, (z * 1j).real), (Z,)),
    "convolutions": (lambda v, a: (jsp.signal.convolve(v, v[:4], mode="same"), jsp.signal.convolve2d(a, a[:2, :3])), (V, A)),
    "differences": (lambda v: (jnp.diff(v, 2), jnp.gradient(v), jnp.cumprod(v), jnp.ptp(v), jnp.trapezoid(v)), (V,)),
    "division": (lambda v: (jnp.divmod(v, 0.7), jnp.fmod(v, 0.7), jnp.remainder(v, -0.7), jnp.floor_divide(v, 0.3)), (V,)),
    "complex_matrices": (
        lambda s, z: (
            jnp.linalg.solve(s + 1j * s.T, s), jnp.linalg.inv(s - 1j * s.T), jnp.linalg.det(s + 1j), jnp.linalg.slogdet(s + 1j), *jsp.linalg.lu(s + 1j * s.T),
            jnp.linalg.cholesky(s @ s.T + jnp.eye(5) + 0.1j * (s - s.T)), *jnp.linalg.qr(s + 1j * s.T), jnp.linalg.eigvalsh(s + s.T + 1j * (s - s.T)),
            jnp.linalg.svd(z, compute_uv=False), jnp.linalg.pinv(z), jsp.linalg.solve_triangular(s + 1j + 5 * jnp.eye(5), s, trans="C"),
        ),
        (S, Z),
    ),
    "eigenvalues": (lambda s: (jnp.linalg.eigvals(s).sum(), abs(jnp.linalg.det(jsp.linalg.schur(s)[0])), jnp.linalg.eigvals(s + s.T).sum()), (S,)),
    "einsum": (lambda a, s: (jnp.einsum("ij,kj,ik->k", a, a, s), jnp.tensordot(a, a, ((0,), (0,))), jnp.kron(s, s)), (A, S)),
    "floats": (lambda v: (jnp.modf(v), jnp.frexp(v), jnp.ldexp(v, 3), jnp.copysign(v, -1.0), jnp.signbit(v), jnp.nan_to_num(v / 0)), (V,)),
    "gradient_of_eigenvalues": (jax.grad(lambda s: (jnp.linalg.eigh(s + s.T)[0] ** 2).sum()), (S,)),
    "gradient_of_inverses": (jax.grad(lambda s: jnp.linalg.inv(s).sum()), (S,)),
    "gradient_of_qr": (jax.grad(lambda a: (jnp.linalg.qr(a.T)[1] ** 2).sum()), (A,)),
    "gradient_of_singular_values": (jax.grad(lambda a: (jnp.linalg.svd(a, compute_uv=False) ** 2).sum()), (A,)),
    "hessians": (jax.hessian(lambda v: jnp.sum(jnp.sin(v) * jnp.cumsum(v) ** 2)), (V,)),
    "histograms": (lambda v, i: (jnp.histogram(v, bins=5), jnp.bincount(i, length=7), jnp.digitize(v, jnp.array([-1.0, 0.0, 1.0]))), (V, I)),
    "images": (lambda a: (jax.image.resize(a, (7, 3), "linear"), jsp.ndimage.map_coordinates(a, [jnp.array([0.5]), jnp.array([2.7])], 1)), (A,)),
    "interpolation": (lambda v: jnp.interp(v, jnp.arange(5.0), jnp.arange(5.0) ** 2), (V,)),
    "jacobians": (lambda v: (jax.jacfwd(lambda v: jnp.sort(v) * v)(v), jax.jacrev(lambda v: jnp.outer(v, v))(v[:4])), (V,)),
    "lu": (lambda s: (jsp.linalg.lu(s), jsp.linalg.lu_solve(jsp.linalg.lu_factor(s), s[0])), (S,)),
    "modes_and_ranks": (lambda v, i: (jsp.stats.mode(i), jsp.stats.rankdata(v), jnp.lexsort((v, v > 0))), (V, I)),
    "norms": (lambda a: (jnp.linalg.norm(a), jnp.linalg.norm(a, 2), jnp.linalg.norm(a, 1), jnp.linalg.cond(a)), (A,)),
    "pieces": (lambda v: (jnp.select([v > 1, v > 0], [v, v * 2], -1.0), jnp.piecewise(v, [v < 0], [lambda x: -x, jnp.exp]), jnp.clip(v, -1, 1)), (V,)),
    "products_of_batches": (lambda a: jax.vmap(lambda x: jax.vmap(lambda y: x @ y)(a))(a), (A,)),
    "probabilities": (lambda v: (jsp.stats.norm.cdf(v), jsp.stats.gamma.cdf(abs(v), 2.0), jsp.stats.chi2.sf(abs(v), 3), jsp.stats.gaussian_kde(v)(v)), (V,)),
    "quantiles": (lambda a: (jnp.percentile(a, jnp.array([10.0, 50.0]), axis=1), jnp.nanmedian(jnp.where(a > 1, jnp.nan, a), 0)), (A,)),
    "segments": (lambda v, i: (jax.ops.segment_sum(v, i, 5), jax.ops.segment_max(v, i, 7)), (V, I)),
    "selected_elements": (lambda a, s: (s[jnp.triu_indices(5, 1)], jnp.where(a > 0, a, 0).sum(where=a < 2, axis=0)), (A, S)),
    "sets": (lambda i: jnp.unique(i, size=6, fill_value=-1, return_counts=True), (I,)),
    "softmax": (lambda a: (jax.nn.softmax(a, 0), jax.nn.log_softmax(a), jax.nn.logsumexp(a, 1), jax.nn.elu(a), jax.nn.one_hot(I, 5)), (A,)),
    "solutions_of_batches": (lambda b: (jnp.linalg.inv(b), jnp.linalg.det(b), jnp.linalg.solve(b, b[..., :2]), jnp.linalg.qr(b)), (B,)),
    "statistics": (lambda a: (jnp.cov(a), jnp.corrcoef(a), jnp.var(a, 0, ddof=1), jnp.average(a, 1, jnp.abs(a))), (A,)),
    "tridiagonal_systems": (
        lambda a: (lax.linalg.tridiagonal_solve(a[0], a[1] + 4, a[2], a.T), jax.grad(lambda b: lax.linalg.tridiagonal_solve(*b[:3], b.T).sum())(a + 4)),
        (A,),
    ),
    "systems": (lambda a: (jnp.linalg.lstsq(a, a[:, 0])[0], jnp.linalg.pinv(a), jnp.linalg.matrix_rank(a)), (A,)),
    "transforms": (lambda v: (jsp.fft.dct(v), jnp.fft.fftshift(jnp.fft.fft(v)), jsp.signal.fftconvolve(v, v[:5])), (V,)),
    "updates_in_loops": (lambda a: lax.fori_loop(0, 5, lambda i, x: x.at[i].set(x[i - 1] * 2 + a[i].sum()), jnp.ones(5)), (A,)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_match_jax(name):
    fn, args = FUNCTIONS[name]
    check(fn, *args, near=200)


def test_differential_equations_match_jax():
    from jax.experimental.ode import odeint

    check(lambda y: odeint(lambda y, t: -y * t, y, jnp.linspace(0.0, 1.0, 5)), V[:3], near=1e6)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_gradients_of_incomplete_gamma_functions_match_jax(dtype):
    a, x = (each.ravel().astype(dtype) for each in np.meshgrid([0.3, 1.0, 2.5, 9.0], [0.0, 0.1, 1.0, 3.0, 12.0]))
    check(jax.vmap(jax.grad(jsp.special.gammainc)), a, x, near=500)
    check(jax.vmap(jax.grad(jsp.special.gammaincc)), a, x, near=500)


def test_gradients_of_implicit_draws_match_jax():
    check(jax.grad(lambda a: jax.random.gamma(jax.random.PRNGKey(0), a, (3,)).sum()), np.float64(2.5), near=100)
