"""Functions of JAX programs, with arguments: models, networks, filters, special functions, matrices, draws."""

import math
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import jax.scipy as jsp
import numpy as np
from jax import lax

RNG = np.random.default_rng(0)
CASES: dict[str, tuple[Any, tuple[Any, ...]]] = {}
#: The error of these functions, in relation to the others.
NEAR: dict[str, float] = {"rnn_scan_grad": 10.0, "linalg.expm": 400.0, "linalg.inv": 4.0, "linalg.mvn": 4.0}


def case(*args: Any) -> Any:
    def put(fn: Any) -> Any:
        CASES[fn.__name__] = (fn, args)
        return fn

    return put


def normal(*shape: int, scale: float = 1.0) -> np.ndarray:
    return RNG.normal(size=shape) * scale


# A logistic regression.
DATA, LABELS, SLOPES = normal(100, 5), RNG.integers(0, 2, 100).astype(float), normal(5)


def log_loss(w, x, y):
    z = x @ w
    return jnp.mean(jax.nn.softplus(z) - y * z) + 0.1 * jnp.sum(w**2)


CASES["logistic"] = (log_loss, (SLOPES, DATA, LABELS))
CASES["logistic_grad"] = (jax.value_and_grad(log_loss), (SLOPES, DATA, LABELS))
CASES["logistic_hessian"] = (jax.hessian(log_loss), (SLOPES, DATA, LABELS))

# A perceptron with several layers.
LAYERS = [(normal(8, 16, scale=0.3), normal(16)), (normal(16, 16, scale=0.25), normal(16)), (normal(16, 3, scale=0.25), normal(3))]
BATCH, CLASSES = normal(32, 8), RNG.integers(0, 3, 32)


def perceptron(layers, x):
    *hidden, (w, b) = layers
    for v, c in hidden:
        x = jax.nn.gelu(x @ v + c)
    return x @ w + b


@case(LAYERS, BATCH)
def mlp(layers, x):
    return jax.nn.softmax(perceptron(layers, x))


@case(LAYERS, BATCH, CLASSES)
def mlp_grad(layers, x, classes):
    def loss(layers):
        scores = jax.nn.log_softmax(perceptron(layers, x))
        return -jnp.mean(jnp.take_along_axis(scores, classes[:, None], axis=1))

    return jax.value_and_grad(loss)(layers)


# A block of a transformer.
WIDTH, HEADS, LENGTH = 32, 4, 16
BLOCK = {
    "qkv": normal(WIDTH, 3 * WIDTH, scale=0.17),
    "out": normal(WIDTH, WIDTH, scale=0.17),
    "scale": np.ones(WIDTH),
    "shift": np.zeros(WIDTH),
    "up": normal(WIDTH, 4 * WIDTH, scale=0.17),
    "down": normal(4 * WIDTH, WIDTH, scale=0.08),
}


def layer_norm(p, x):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-5) * p["scale"] + p["shift"]


@case(BLOCK, normal(2, LENGTH, WIDTH))
def attention(p, x):
    batch, length, width = x.shape
    parts = jnp.split(layer_norm(p, x) @ p["qkv"], 3, axis=-1)
    q, k, v = (part.reshape(batch, length, HEADS, width // HEADS).transpose(0, 2, 1, 3) for part in parts)
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) / (width // HEADS) ** 0.5
    scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -jnp.inf)
    mixed = jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores, -1), v)
    x = x + mixed.transpose(0, 2, 1, 3).reshape(x.shape) @ p["out"]
    return x + jax.nn.relu(layer_norm(p, x) @ p["up"]) @ p["down"]


@case(*CASES["attention"][1])
def attention_grad(p, x):
    return jax.grad(lambda p: (attention(p, x) ** 2).sum())(p)


# A small convolutional network.
IMAGES = normal(2, 8, 8, 3)
KERNELS = {"first": normal(3, 3, 3, 4, scale=0.3), "second": normal(3, 3, 4, 5, scale=0.3), "dense": normal(20, 3, scale=0.3)}


@case(KERNELS, IMAGES)
def cnn(p, x):
    def convolve(x, kernel):
        return lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    def pool(x):
        return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")

    x = pool(jax.nn.relu(convolve(x, p["first"])))
    x = pool(jax.nn.silu(convolve(x, p["second"])))
    return jax.nn.log_softmax(x.reshape(x.shape[0], -1) @ p["dense"])


@case(KERNELS, IMAGES)
def cnn_grad(p, x):
    return jax.grad(lambda p: -cnn(p, x)[:, 1].sum())(p)


@case(normal(2, 8, 8, 3), normal(3, 3, 3, 4))
def conv2d(x, kernel):
    return lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


@case(normal(20), normal(5))
def convolve(x, kernel):
    return jnp.convolve(x, kernel)


# A Kalman filter.
STEP, NOISE, SEEN, ERROR = np.eye(4) + 0.1 * np.eye(4, k=2), 0.01 * np.eye(4), np.eye(2, 4), 0.1 * np.eye(2)


@case(np.zeros(4), np.eye(4), np.array([0.3, -0.2]))
def kalman_step(mean, cov, seen):
    to, noise, to_seen, error = (jnp.asarray(each, mean.dtype) for each in (STEP, NOISE, SEEN, ERROR))
    mean, cov = to @ mean, to @ cov @ to.T + noise
    factor = jnp.linalg.cholesky(to_seen @ cov @ to_seen.T + error)
    gain = jsp.linalg.cho_solve((factor, True), to_seen @ cov).T
    rest = seen - to_seen @ mean
    scaled = jsp.linalg.solve_triangular(factor, rest, lower=True)
    density = -0.5 * scaled @ scaled - jnp.log(jnp.diagonal(factor)).sum() - math.log(2 * math.pi)
    return mean + gain @ rest, cov - gain @ to_seen @ cov, density


@case(np.zeros(4), np.eye(4), normal(20, 2))
def kalman_scan(mean, cov, seen):
    def step(carry, row):
        mean, cov, density = kalman_step(*carry, row)
        return (mean, cov), density

    return lax.scan(step, (mean, cov), seen)[1].sum()


CASES["kalman_scan_grad"] = (jax.grad(kalman_scan, argnums=(0, 1)), CASES["kalman_scan"][1])

# Densities.
EFFECTS, ERRORS = np.array([28.0, 8, -3, 7, -1, 1, 18, 12]), np.array([15.0, 10, 16, 11, 9, 11, 10, 18])


def eight_schools(q):
    mean, log_scale, effects = q[0], q[1], q[2:]
    scale = jnp.exp(log_scale)
    prior = jsp.stats.norm.logpdf(mean, 0, 5) + jsp.stats.t.logpdf(scale, 3) + log_scale + jsp.stats.norm.logpdf(effects).sum()
    return prior + jsp.stats.norm.logpdf(jnp.asarray(EFFECTS, q.dtype), mean + scale * effects, jnp.asarray(ERRORS, q.dtype)).sum()


CASES["eight_schools"] = (jax.value_and_grad(eight_schools), (normal(10),))


@case(RNG.gamma(2.0, size=200), RNG.integers(0, 9, 200))
def counts(x, k):
    def density(x):
        parts = jsp.stats.poisson.logpmf(k, x), jsp.stats.gamma.logpdf(x, 2.5), jsp.stats.beta.logpdf(jax.nn.sigmoid(x), 2.0, 3.0)
        return sum(parts).sum()

    return jax.value_and_grad(density)(x)


SPOT = np.linspace(0.1, 0.9, 9)
for _name, _args in {
    "bernoulli": (0.3,),
    "beta": (2.0, 3.0),
    "cauchy": (0.2, 1.5),
    "chi2": (3.0,),
    "expon": (0.1, 2.0),
    "gamma": (2.5,),
    "gennorm": (1.5,),
    "laplace": (0.2, 1.5),
    "logistic": (0.2, 1.5),
    "norm": (0.2, 1.5),
    "pareto": (1.5, -1.0),
    "t": (3.0, 0.2, 1.5),
    "truncnorm": (-1.0, 2.0),
    "vonmises": (1.5,),
    "wrapcauchy": (0.4,),
}.items():
    _of = getattr(jsp.stats, _name)
    _density = partial(lambda fn, args, x: fn(x, *args), getattr(_of, "logpdf", None) or _of.logpmf, _args)
    if _name == "bernoulli":
        CASES[f"density.{_name}"] = (_density, (np.array([0, 1, 1]),))
    else:
        CASES[f"density.{_name}"] = (jax.vmap(jax.value_and_grad(_density)), (SPOT,))

for _name, _fn in {
    "bessel": lambda x: jsp.special.bessel_jn(x, v=2),
    "betainc": lambda x: jsp.special.betainc(2.0, 3.0, x),
    "digamma": jsp.special.digamma,
    "digamma_grad": jax.vmap(jax.grad(jsp.special.digamma)),
    "entr": jsp.special.entr,
    "erf": jsp.special.erf,
    "erfinv": jsp.special.erfinv,
    "exp1": jsp.special.exp1,
    "expi": jsp.special.expi,
    "expn": lambda x: jsp.special.expn(2, x),
    "gammainc": lambda x: jsp.special.gammainc(2.0, x),
    "gammaln": jsp.special.gammaln,
    "gammaln_grad": jax.vmap(jax.grad(jsp.special.gammaln)),
    "hyp1f1": lambda x: jsp.special.hyp1f1(1.0, 2.0, x),
    "i0e": jsp.special.i0e,
    "i1": jsp.special.i1,
    "log_ndtr": jsp.special.log_ndtr,
    "logsumexp": jsp.special.logsumexp,
    "multigammaln": lambda x: jsp.special.multigammaln(x + 3, 3),
    "ndtri": jsp.special.ndtri,
    "polygamma": lambda x: jsp.special.polygamma(1, x),
    "rel_entr": lambda x: jsp.special.rel_entr(x, x + 1),
    "spence": jsp.special.spence,
    "xlogy": lambda x: jsp.special.xlogy(x, x),
    "zeta": lambda x: jsp.special.zeta(x + 2, 1.0),
}.items():
    CASES[f"special.{_name}"] = (_fn, (RNG.uniform(0.05, 0.95, 20),))


# Loops and branches.
@case(np.float64(0.3), normal(100))
def rnn_scan(h, xs):
    return lax.scan(lambda h, x: (jnp.tanh(h * 0.9 + x), h), h, xs)


CASES["rnn_scan_grad"] = (jax.grad(lambda h, xs: rnn_scan(h, xs)[0], argnums=(0, 1)), CASES["rnn_scan"][1])


@case(normal(10))
def fori(x):
    return lax.fori_loop(0, 10, lambda i, v: v + x[i] * jnp.sin(v), jnp.zeros((), x.dtype))


@case(np.float64(0.7))
def newton(x):
    return lax.while_loop(lambda v: jnp.abs(v * v - 2) > 1e-6, lambda v: v - (v * v - 2) / (2 * v), 1 + x * x)


@case(normal(10), np.int64(2))
def switch(x, i):
    return lax.switch(i, [jnp.sin, jnp.cos, jnp.exp], x) + lax.cond(x[0] > 0, lambda x: x, lambda x: -x, x)


# Order and indices.
@case(normal(6, 4))
def sorts(x):
    return jnp.sort(x, 0), jnp.argsort(x, 1), jnp.median(x), jnp.argmax(x, 1), jnp.cumsum(x, 0), jnp.quantile(x, 0.3), lax.top_k(x, 2)


@case(normal(6, 4), np.array([0, 2, 5, 9]))
def indexing(x, i):
    parts = x[i, 1:3], x.at[i].add(1.0), x.at[1:3].set(0.0), x[::-1, ::2], x[:, -1]
    return *parts, jnp.roll(x, 1), jnp.pad(x, 1), jnp.diagonal(x)


@case(normal(6, 4))
def indexing_grad(x):
    def total(x):
        picked = (x[jnp.array([1, 1, 3]), 1:3] ** 2).sum() + jnp.sort(x.ravel())[3] + jnp.cumsum(x)[5]
        return picked + jnp.max(x, 1).sum() + jnp.prod(x[0])

    return jax.grad(total)(x)


# Matrices.
MATRIX = (lambda a: a @ a.T + 5 * np.eye(5))(normal(5, 5))
for _name, _fn in {
    "cholesky": jnp.linalg.cholesky,
    "cholesky_grad": jax.grad(lambda a: jnp.log(jnp.diagonal(jnp.linalg.cholesky(a))).sum()),
    "det": jnp.linalg.det,
    "eigvalsh": jnp.linalg.eigvalsh,
    "expm": lambda a: jsp.linalg.expm(a / 8),
    "fft": jnp.fft.fft,
    "inv": jnp.linalg.inv,
    "mvn": lambda a: jsp.stats.multivariate_normal.logpdf(a[0], a[1], a),
    "qr": jnp.linalg.qr,
    "slogdet": jnp.linalg.slogdet,
    "solve": lambda a: jnp.linalg.solve(a, a[0]),
    "svdvals": lambda a: jnp.linalg.svd(a, compute_uv=False),
}.items():
    CASES[f"linalg.{_name}"] = (_fn, (MATRIX,))
