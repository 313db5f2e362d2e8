"""Convolutions and pooling, with gradients, match JAX."""

import pytest

pytest.importorskip("jax")
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax import lax  # noqa: E402
from jax_frozen import check, frozen  # noqa: E402

RNG = np.random.default_rng(0)
X, KERNEL = RNG.normal(size=(4, 6, 7, 4)), RNG.normal(size=(3, 2, 4, 6))
SETTINGS = [
    {"window_strides": (1, 1), "padding": "SAME"},
    {"window_strides": (2, 1), "padding": "VALID"},
    {"window_strides": (1, 2), "padding": ((1, 2), (0, -1)), "lhs_dilation": (2, 1), "rhs_dilation": (1, 2)},
]


def convolution(order=("NHWC", "HWIO", "NHWC"), **settings):
    return lambda x, kernel: lax.conv_general_dilated(x, kernel, dimension_numbers=order, **settings)


@pytest.mark.parametrize("settings", SETTINGS)
def test_convolutions_and_their_gradients_match_jax(settings):
    fn = convolution(**settings)
    check(fn, X, KERNEL)
    check(jax.grad(lambda x, kernel: (fn(x, kernel) ** 2).sum(), (0, 1)), X, KERNEL, near=4)
    other = convolution(("CHWN", "OIHW", "HWNC"), **settings)
    check(other, X.transpose(3, 1, 2, 0), KERNEL.transpose(3, 2, 0, 1))
    check(fn, X.astype("float32"), KERNEL.astype("float32"), near=4)


@pytest.mark.parametrize("groups", ["feature_group_count", "batch_group_count"])
def test_groups_of_convolutions_match_jax(groups):
    kernel = KERNEL[:, :, :2] if groups == "feature_group_count" else KERNEL
    fn = convolution(window_strides=(1, 1), padding="SAME", **{groups: 2})
    check(fn, X, kernel)
    if groups == "feature_group_count":
        check(jax.grad(lambda x, kernel: (fn(x, kernel) ** 2).sum(), (0, 1)), X, kernel, near=4)


def test_convolutions_along_one_and_three_axes_match_jax():
    line = convolution(("NWC", "WIO", "NWC"), window_strides=(2,), padding=((2, 1),))
    check(line, X[:, 0], KERNEL[0])
    check(lambda x, y: jnp.convolve(x, y, mode="same"), RNG.normal(size=20), RNG.normal(size=5))
    space = convolution(("NDHWC", "DHWIO", "NDHWC"), window_strides=(1, 1, 1), padding="SAME")
    check(space, RNG.normal(size=(1, 4, 3, 5, 2)), RNG.normal(size=(2, 3, 1, 2, 3)))


def test_pooling_and_its_gradients_match_jax():
    def highest(x):
        return lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 2, 1), (1, 2, 2, 1), "SAME")

    def lowest(x):
        return lax.reduce_window(x, jnp.inf, lax.min, (1, 2, 2, 1), (1, 1, 2, 1), "VALID")

    def mean(x):
        return lax.reduce_window(x, 0.0, lax.add, (1, 3, 2, 1), (1, 1, 2, 1), "SAME") / 6

    for pool in (highest, lowest, mean):
        check(pool, X)
        check(jax.grad(lambda x: (pool(x) ** 2).sum()), X)


def test_the_batch_may_have_any_extent():
    fn = convolution(window_strides=(1, 1), padding="SAME")
    got = frozen(fn, "f64[n,6,7,4]", KERNEL)
    for count in (1, 4):
        np.testing.assert_allclose(got(X[:count], KERNEL), fn(X[:count], KERNEL), rtol=1e-12, atol=1e-12)
