"""Random numbers: draws are functions of the key, have the bits of JAX, and the distributions of SciPy."""

import numpy as np
import precast
import pytest
from precast import random

COUNT = 100_000
KEY = np.array([0, 42], np.uint32)


def drawn(draw, store):
    """Returns the value of a function of a key."""
    key = precast.input("key", "u32[2]")
    return precast.function([key], draw(key), policy="jit", store=store)(KEY)


def test_keys_and_bits_are_those_of_jax(tmp_path):
    keys = drawn(lambda key: random.split(key), tmp_path)
    np.testing.assert_array_equal(keys, [[1832780943, 270669613], [64467757, 2916123636]])
    seeded = precast.function([], random.key(42), policy="jit", store=tmp_path)()
    np.testing.assert_array_equal(seeded, KEY)
    words = drawn(lambda key: random.bits(key, (3,), dtype="u32"), tmp_path)
    assert words.dtype == np.uint32
    np.testing.assert_array_equal(words, drawn(lambda key: random.bits(key, 5, "u32"), tmp_path)[:3])


def test_keys_are_taken_apart(tmp_path):
    key = precast.input("key", "u32[2]")
    first, second = random.split(key)
    third, *rest = random.split(key, 3)
    assert len(random.split(key, 4)) == 4 and len(rest) == 2
    one, two, three = precast.function([key], [first, second, third], policy="jit", store=tmp_path)(KEY)
    np.testing.assert_array_equal([one, two], drawn(lambda key: random.split(key), tmp_path))
    np.testing.assert_array_equal(three, drawn(lambda key: random.split(key, 3), tmp_path)[0])


def test_variables_are_no_arguments_of_calls():
    key = precast.input("key", "u32[2]")
    with pytest.raises(precast.CallTypeError, match="a key is `np.array"):
        precast.function([key], random.normal(key, 3), policy="interpret")(random.key(42))


def test_threads_change_no_bit(tmp_path):
    before = precast.get_num_threads()
    try:
        draws = []
        for threads in (1, 2):
            precast.set_num_threads(threads)
            draws.append(drawn(lambda key: random.gamma(key, 2.5, COUNT), tmp_path))
    finally:
        precast.set_num_threads(before)
    np.testing.assert_array_equal(*draws)


def test_shapes_come_from_variables(tmp_path):
    key, x = precast.input("key", "u32[2]"), precast.input("x", "f64[?,3]")
    function = precast.function([key, x], x + random.normal(key, x.shape), policy="jit", store=tmp_path)
    zeros = function(KEY, np.zeros((4, 3)))
    assert zeros.shape == (4, 3) and len(set(zeros.ravel())) == 12
    np.testing.assert_array_equal(function(KEY, np.ones((4, 3))), 1 + zeros)


def test_multinomial_is_a_chain_of_binomial_draws(tmp_path):
    p = [0.5, 2.0, 0.0, 1.5]

    def chain(key):
        keys, left, counts = random.split(key, 3), 30, []
        for at in range(3):
            counts.append(random.binomial(keys[at], left, p[at] / sum(p[at:]), (5,)))
            left = left - counts[-1]
        return precast.stack([*counts, left], axis=-1)

    expected = drawn(chain, tmp_path)
    np.testing.assert_array_equal(drawn(lambda key: random.multinomial(key, 30, p, 5), tmp_path), expected)
    assert (expected.sum(-1) == 30).all() and (expected[:, 2] == 0).all()


LAWS = {
    "normal": (lambda key: random.normal(key, (COUNT,)), "norm", ()),
    "exponential": (lambda key: random.exponential(key, COUNT), "expon", ()),
    "gamma": (lambda key: random.gamma(key, 0.3, COUNT), "gamma", (0.3,)),
    "beta": (lambda key: random.beta(key, 2, 5, COUNT), "beta", (2, 5)),
    "student_t": (lambda key: random.student_t(key, 4, COUNT), "t", (4,)),
    "von_mises": (lambda key: random.von_mises(key, 0, 3, COUNT), "vonmises", (3,)),
    "truncated_normal": (lambda key: random.truncated_normal(key, 1, 4, COUNT), "truncnorm", (1, 4)),
}


@pytest.mark.parametrize("name", LAWS)
def test_distributions_match_scipy(name, tmp_path):
    stats = pytest.importorskip("scipy.stats")
    draw, law, parameters = LAWS[name]
    assert stats.kstest(drawn(draw, tmp_path), law, parameters).pvalue > 1e-6


def test_wrong_calls_name_the_function():
    key = precast.input("key", "u32[2]")
    with pytest.raises(AttributeError, match=r"`precast.random` has no attribute `nrmal`"):
        random.nrmal(key)
    with pytest.raises(precast.GraphTypeError, match="a key"):
        random.normal(precast.input("x", "f64[?]")).type
    assert "normal" in dir(random) and precast.random is random
    assert random.normal.__doc__.startswith("random_normal(key, shape, dtype=None)")
