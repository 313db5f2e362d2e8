"""Models of flax, equinox, NumPyro and JAX alone, each as a function and its arguments."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

#: A function, its arguments, and the specs to freeze it with.
Model = tuple[Callable[..., Any], tuple[Any, ...], tuple[Any, ...]]

RNG = np.random.default_rng(0)


def _linen(module: Any, x: np.ndarray, spec: str) -> Model:
    """Returns the application of a module of flax. The parameters are an argument."""
    params = module.init(jax.random.key(0), jnp.zeros(x.shape, x.dtype))
    params = jax.tree.map(lambda each: np.asarray(each) + RNG.normal(size=each.shape, scale=0.1).astype(each.dtype), params)

    def apply(params, x):
        return module.apply(params, x)

    return apply, (params, x), (params, spec)


def mlp() -> Model:
    nn = pytest.importorskip("flax.linen")

    class Network(nn.Module):
        @nn.compact
        def __call__(self, x):
            x = nn.relu(nn.Dense(32)(x))
            x = nn.LayerNorm()(nn.gelu(nn.Dense(32)(x)) + x)
            return nn.log_softmax(nn.Dense(5)(x))

    return _linen(Network(), RNG.normal(size=(6, 10)).astype("float32"), "f32[n,10]")


def transformer() -> Model:
    nn = pytest.importorskip("flax.linen")

    class Block(nn.Module):
        @nn.compact
        def __call__(self, x):
            y = nn.LayerNorm()(x)
            mask = nn.make_causal_mask(jnp.ones(x.shape[:2]))
            x = x + nn.MultiHeadDotProductAttention(num_heads=4, qkv_features=16)(y, y, mask=mask)
            y = nn.Dense(32)(nn.LayerNorm()(x))
            return x + nn.Dense(16)(nn.gelu(y))

    return _linen(Block(), RNG.normal(size=(2, 7, 16)).astype("float32"), "f32[b,7,16]")


def cnn() -> Model:
    nn = pytest.importorskip("flax.linen")

    class Network(nn.Module):
        @nn.compact
        def __call__(self, x):
            x = nn.relu(nn.Conv(8, (3, 3))(x))
            x = nn.avg_pool(x, (2, 2), strides=(2, 2))
            x = nn.relu(nn.Conv(16, (3, 3), padding="VALID")(x))
            x = nn.max_pool(x, (2, 2), strides=(2, 2))
            return nn.Dense(10)(x.reshape(x.shape[0], -1))

    return _linen(Network(), RNG.normal(size=(3, 12, 12, 1)).astype("float32"), "f32[n,12,12,1]")


def training_step() -> Model:
    """A step of gradient descent on the weights of an MLP of equinox."""
    eqx = pytest.importorskip("equinox")
    network, static = eqx.partition(eqx.nn.MLP(4, 2, 8, 2, key=jax.random.key(0)), eqx.is_array)
    leaves, tree = jax.tree.flatten(jax.tree.map(lambda each: np.asarray(each, "float32"), network))

    def step(weights, x, y):
        def loss(weights):
            model = eqx.combine(jax.tree.unflatten(tree, weights), static)
            return jnp.mean((jax.vmap(model)(x) - y) ** 2)

        value, slopes = jax.value_and_grad(loss)(weights)
        return value, [weight - 0.1 * slope for weight, slope in zip(weights, slopes)]

    x, y = RNG.normal(size=(6, 4)).astype("float32"), RNG.normal(size=(6, 2)).astype("float32")
    return step, (leaves, x, y), (leaves, "f32[n,4]", "f32[n,2]")


def density() -> Model:
    """The log density of a hierarchical model of NumPyro in unconstrained parameters, with its gradient."""
    pytest.importorskip("numpyro")
    import numpyro
    import numpyro.distributions as dist
    from numpyro.infer.util import initialize_model

    y = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
    sigma = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])

    def schools():
        mu = numpyro.sample("mu", dist.Normal(0, 5))
        tau = numpyro.sample("tau", dist.HalfCauchy(5))
        with numpyro.plate("school", 8):
            theta = numpyro.sample("theta", dist.Normal(mu, tau))
            numpyro.sample("obs", dist.Normal(theta, sigma), obs=y)

    potential = initialize_model(jax.random.key(0), schools).potential_fn
    point = {"mu": np.float64(1.5), "tau": np.float64(0.3), "theta": np.linspace(-1.0, 2.0, 8)}

    def log_density(point):
        value, slopes = jax.value_and_grad(potential)(point)
        return -value, jax.tree.map(jnp.negative, slopes)

    return log_density, (point,), (point,)


def kalman() -> Model:
    """The log likelihood of a Kalman filter, by `scan`, with its gradient by the noise."""

    def filtered(q, r, f, h, ys):
        def step(carry, y):
            m, p = f @ carry[0], f @ carry[1] @ f.T + q * jnp.eye(3)
            s = h @ p @ h.T + r * jnp.eye(2)
            e = y - h @ m
            k = jnp.linalg.solve(s, h @ p).T
            value = -0.5 * (jnp.linalg.slogdet(s)[1] + e @ jnp.linalg.solve(s, e) + 2 * jnp.log(2 * jnp.pi))
            return (m + k @ e, p - k @ h @ p), value

        return jax.lax.scan(step, (jnp.zeros(3), jnp.eye(3)), ys)[1].sum()

    f = np.eye(3) * 0.9 + np.eye(3, k=1) * 0.1
    h = np.array([[1.0, 0.0, 0.5], [0.0, 1.0, 0.0]])
    args = (np.float64(0.3), np.float64(0.7), f, h, RNG.normal(size=(20, 2)))
    return jax.value_and_grad(filtered, (0, 1)), args, (*args[:4], "f64[t,2]")


MODELS: dict[str, Callable[[], Model]] = {
    each.__name__: each for each in (mlp, transformer, cnn, training_step, density, kalman)
}
