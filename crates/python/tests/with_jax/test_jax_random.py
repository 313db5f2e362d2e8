"""Draws with keys have the bits of JAX, or its numbers up to rounding."""

import pytest

pytest.importorskip("jax")
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax import random  # noqa: E402
from jax_frozen import check, compare, frozen  # noqa: E402

KEY = np.asarray(random.PRNGKey(42))

EXACT = {
    "bits": lambda key: [random.bits(key, (5, 3), dtype) for dtype in ("uint8", "uint16", "uint32", "uint64")],
    "uniform": lambda key: [random.uniform(key, (7,), dtype, minval=-1, maxval=3) for dtype in ("float64", "float32")],
    "randint": lambda key: [random.randint(key, (7,), -5, 9, dtype) for dtype in ("int64", "int32", "uint8")],
    "bernoulli": lambda key: random.bernoulli(key, 0.3, (20,)),
    "permutation": lambda key: (random.permutation(key, 10), random.permutation(key, jnp.arange(12.0).reshape(4, 3), axis=1)),
    "choice": lambda key: (random.choice(key, 10, (4,)), random.choice(key, 10, (4,), replace=False)),
    "split": lambda key: (random.split(key, 3), random.split(key, (2, 2)), random.fold_in(key, 7)),
    "seed": lambda key: (random.PRNGKey(key[0]), random.key_data(random.key(123))),
    "number": lambda key: random.bits(key),
}
NEAR = {
    "normal": lambda key: [random.normal(key, (7,), dtype) for dtype in ("float64", "float32")],
    "exponential": lambda key: random.exponential(key, (7,)),
    "gumbel": lambda key: random.gumbel(key, (7,)),
    "laplace": lambda key: random.laplace(key, (7,)),
    "cauchy": lambda key: random.cauchy(key, (7,)),
    "categorical": lambda key: random.categorical(key, jnp.log(jnp.array([0.2, 0.3, 0.5])), shape=(9,)),
    "truncated_normal": lambda key: random.truncated_normal(key, -1.0, 2.0, (7,)),
    "multivariate_normal": lambda key: random.multivariate_normal(key, jnp.zeros(2), jnp.array([[2.0, 1.0], [1.0, 2.0]]), (3,)),
    "gamma": lambda key: random.gamma(key, jnp.array([0.3, 1.0, 4.5]), (2, 3)),
    "beta": lambda key: random.beta(key, 2.0, 3.0, (4,)),
    "dirichlet": lambda key: random.dirichlet(key, jnp.array([1.0, 2.0, 3.0]), (2,)),
    "t": lambda key: random.t(key, 4.0, (3,)),
    "poisson": lambda key: random.poisson(key, jnp.array([0.5, 40.0]), (3, 2)),
    "binomial": lambda key: random.binomial(key, 20.0, 0.3, (4,)),
    "gamma_grad": lambda key: jax.grad(lambda a: random.gamma(key, a))(2.5),
}


@pytest.mark.parametrize("name", EXACT)
def test_draws_have_the_bits_of_jax(name):
    check(EXACT[name], KEY, is_exact=True)


@pytest.mark.parametrize("name", NEAR)
def test_draws_have_the_numbers_of_jax(name):
    check(NEAR[name], KEY, near=20)


def test_typed_keys_are_words_of_a_frozen_function():
    def fn(key):
        first, second = random.split(key)
        return random.normal(first, (2,)), second

    frozen_fn = frozen(fn, random.key(0))
    assert [str(port) for port in frozen_fn.inputs] == ["key: u32[2]"]
    normal, key = frozen_fn(KEY)
    wanted, other = fn(random.wrap_key_data(KEY))
    compare(normal, wanted)
    np.testing.assert_array_equal(key, random.key_data(other))


def test_batches_of_keys_match_jax():
    def fn(keys):
        keys = random.wrap_key_data(keys)
        draws = jax.vmap(lambda key: random.normal(key, (3,)))(keys)
        parts = jax.vmap(random.split)(keys), keys[1], keys[::-1], keys.reshape(2, 2).T, jnp.concatenate([keys, keys[:1]])
        numbers = jax.vmap(random.fold_in)(keys, jnp.arange(4)), keys[jnp.array([2, 0])]
        return draws, [random.key_data(part) for part in (*parts, *numbers)]

    check(fn, np.asarray(random.split(random.PRNGKey(1), 4)))


def test_keys_are_selected_and_not_computed_with():
    import precast

    def fn(keys, at):
        keys = random.wrap_key_data(keys)
        chosen = jnp.where(at > 1, keys, keys[::-1]), jnp.where(at[0] > 1, keys[0], keys[1]), keys.at[0].get(), jnp.take(keys, at)
        return [random.key_data(part) for part in chosen]

    keys = np.asarray(random.split(random.PRNGKey(1), 4))
    check(fn, keys, np.array([2, 0, 1, 3]), is_exact=True)
    with pytest.raises(precast.FreezeError, match="not supported for random keys"):
        frozen(lambda keys, at: keys.at[at].set(keys[0]), jax.ShapeDtypeStruct((4,), random.key(0).dtype), np.array([1, 2]))


def test_keys_are_carries_of_loops():
    def fn(key):
        def step(key, _):
            key, own = random.split(key)
            return key, random.uniform(own)

        return jax.lax.scan(step, key, None, length=4)

    check(fn, KEY, is_exact=True)
    check(lambda key: jax.lax.map(lambda key: random.bits(key, (2,)), random.split(key, 3)), KEY, is_exact=True)


def test_other_generators_are_refused():
    import precast

    with pytest.raises(precast.FreezeError, match="threefry2x32"):
        frozen(lambda: random.bits(random.key(0, impl="rbg")))
    with jax.threefry_partitionable(False), pytest.raises(precast.FreezeError, match="jax_threefry_partitionable"):
        frozen(lambda key: random.bits(key, (3,)), KEY)
