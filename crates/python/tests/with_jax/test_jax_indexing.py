"""Gathers, scatters and slices match JAX for every mode, also outside of arrays."""

import itertools

import pytest

pytest.importorskip("jax")
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax import lax  # noqa: E402
from jax_frozen import check  # noqa: E402

X = np.arange(30.0).reshape(5, 6)
#: Positions inside and outside of an array.
FAR = np.array([0, 4, -1, 5, -9, 100, 2])


@pytest.mark.parametrize("mode", ["clip", "fill", "promise_in_bounds"])
def test_gathers_outside_of_an_array_match_jax(mode):
    at = FAR if mode != "promise_in_bounds" else np.array([0, 4, 2])
    for dtype in ("float64", "int32", "uint8", "bool"):
        x = (X % 7).astype(dtype)
        check(lambda x, i: x.at[i].get(mode=mode), x, at, is_exact=True)
        check(lambda x, i: x.at[i, 1].get(mode=mode), x, at, is_exact=True)
        check(lambda x, i: x.at[i, i].get(mode=mode), x, at, is_exact=True)
        check(lambda x, i: x.at[1:3, i].get(mode=mode), x, at, is_exact=True)
        check(lambda x, i: x.at[i[:, None], i[:3]].get(mode=mode), x, at, is_exact=True)
        check(lambda x, i: x.at[i[0]].get(mode=mode), x, at, is_exact=True)


@pytest.mark.parametrize("how", ["set", "add", "subtract", "multiply", "min", "max"])
def test_scatters_match_jax(how):
    for mode, index in itertools.product(("clip", "drop"), range(5)):
        # Positions differ, because JAX does not define the order of writes to one element.
        at = np.array([3, 0, 4]) if mode != "drop" else np.array([3, 0, 4, 77, -9])

        def fn(x, i, y):
            part = [lambda: x.at[i], lambda: x.at[:, i], lambda: x.at[i, 1:3], lambda: x.at[i, i], lambda: x.at[i[0], 2]][index]()
            return getattr(part, how)(y, mode=mode)

        check(fn, X, at, np.float64(2.5))
        check(fn, X.astype("int32"), at, np.int32(3))


def test_scatters_add_repeated_positions():
    check(lambda x, i, y: x.at[i].add(y), X, np.array([1, 1, 3, 1]), np.arange(24.0).reshape(4, 6))
    check(lambda x, i: x.at[i].mul(2.0), X, np.array([1, 1, 3]))
    check(jax.grad(lambda x: (x[jnp.array([1, 1, 3])] ** 3).sum()), X)


def test_starts_of_dynamic_slices_are_clamped():
    for start in ((0, 0), (3, 4), (-2, 1), (9, 9), (2, -7)):
        starts = tuple(map(np.int64, start))
        check(lambda x, *at: lax.dynamic_slice(x, at, (2, 3)), X, *starts, is_exact=True)
        check(lambda x, *at: lax.dynamic_slice(x, at, (1, 6)), X, *starts, is_exact=True)
        check(lambda x, *at: lax.dynamic_update_slice(x, jnp.ones((2, 3)), at), X, *starts, is_exact=True)
        check(lambda x, *at: lax.dynamic_update_slice(x, jnp.ones((1, 3)), at), X, *starts, is_exact=True)


def test_batches_of_slices_match_jax():
    starts = np.array([0, 2, 7])
    check(jax.vmap(lambda x, at: lax.dynamic_slice(x, (at,), (2,))), X[:3], starts, is_exact=True)
    check(jax.vmap(lambda x, at: lax.dynamic_update_slice(x, jnp.ones(2), (at,))), X[:3], starts, is_exact=True)
    check(jax.vmap(lambda x, i: x[i]), X[:3], np.array([[0, 1], [5, 2], [3, 3]]), is_exact=True)
    check(jax.vmap(lambda x, i: x.at[i].add(1.0)), X[:3], np.array([[0, 1], [5, 2], [3, 3]]), is_exact=True)
    check(lambda x, i: jnp.take_along_axis(x, i, 1), X, np.argsort(-X, 1), is_exact=True)


@pytest.mark.parametrize("config", [((1, 2, 0), (0, 0, 0)), ((0, 0, 2), (1, 0, 1)), ((-1, 2, 0), (3, -2, 0)), ((-1, -1, 1), (0, 1, 0)), ((2, -4, 1), (0, 0, 0))])
def test_padding_matches_jax(config):
    check(lambda x: lax.pad(x, -1.0, config), X, is_exact=True)
    check(lambda x: lax.pad(x, -1.0, config), X[:, :0], is_exact=True) if config[1][2] == 0 and config[1][1] >= 0 else None


def test_shapes_match_jax():
    check(lambda x: (x.T, x.reshape(3, 10), x.ravel(), x[None, :, None], jnp.flip(x), jnp.tile(x, (2, 1)), jnp.repeat(x, 2, 1)), X, is_exact=True)
    check(lambda x: (jnp.stack([x, x], 1), jnp.concatenate([x, x[:1]]), jnp.split(x, 2, 1), jnp.squeeze(x[:1]), x[1:4:2, ::-2]), X, is_exact=True)
    check(lambda x: (jnp.arange(5), jnp.eye(3), jnp.zeros((2, 0)), jnp.full((2, 2), 7), jnp.linspace(0.0, 1.0, 5), x * 0), X)
    check(lambda x: jnp.broadcast_to(x[:, :1], (4, 5, 6)) + jnp.broadcast_to(1.0, (6,)), X)


def test_arrays_without_elements_match_jax():
    empty = np.zeros((0, 3))
    check(lambda x: (x.sum(0), x.sum(1), jnp.sort(x), x @ jnp.ones((3, 2)), x[:, jnp.array([0, 2])], jnp.concatenate([x, x])), empty)
    check(lambda x: (x[jnp.zeros(0, int)], x.at[jnp.zeros(0, int)].set(1.0)), X)
