"""Primitives at edge values, for every dtype, have the results of JAX. XLA takes subnormal numbers for 0, so there are none here."""

import itertools

import pytest

pytest.importorskip("jax")
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import ml_dtypes  # noqa: E402
import numpy as np  # noqa: E402
from jax import lax  # noqa: E402
from jax_frozen import check  # noqa: E402

FLOATS = ["float64", "float32", "float16", ml_dtypes.bfloat16]
INTEGERS = ["int8", "int32", "int64", "uint8", "uint32", "uint64"]
COMPLEX = ["complex64", "complex128"]
WIDE = FLOATS[:2]


def edges(dtype):
    """Returns numbers with special cases in functions."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind == "c":
        return np.array([complex(a, b) for a in (0.0, 1.0, -2.0, 0.5) for b in (0.0, 1.0, -0.5)], dtype)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        small = [value for value in (0, 1, -1, 2, -2, 7, -7, 63, 64, 100, -100) if limits.min <= value <= limits.max]
        return np.array([*small, limits.min, limits.max], dtype)
    with np.errstate(over="ignore"):
        values = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, -3.0, 7.25, np.inf, -np.inf, np.nan, 1e300]
        return np.array(values).astype(dtype)


UNARY = {
    **dict.fromkeys("exp expm1 log log1p sin cos tan sinh cosh tanh asinh acosh atanh sqrt rsqrt logistic".split(), FLOATS + COMPLEX),
    **dict.fromkeys("exp2 cbrt asin acos atan floor ceil lgamma erf erfc erf_inv bessel_i0e bessel_i1e is_finite".split(), FLOATS),
    **dict.fromkeys(["sign", "square"], FLOATS + INTEGERS),
    "neg": FLOATS + INTEGERS + COMPLEX,
    "abs": [*FLOATS, *INTEGERS[:3], *COMPLEX],
    **dict.fromkeys(["real", "imag", "conj"], COMPLEX),
    **dict.fromkeys(["clz", "population_count"], INTEGERS),
    "bitwise_not": [*INTEGERS, "bool"],
}
BINARY = {
    **dict.fromkeys(["add", "sub", "mul", "div", "eq", "ne"], FLOATS + INTEGERS + COMPLEX),
    **dict.fromkeys(["lt", "le", "gt", "ge", "rem"], FLOATS + INTEGERS),
    **dict.fromkeys(["max", "min"], [*FLOATS, *INTEGERS, "bool"]),
    **dict.fromkeys(["bitwise_and", "bitwise_or", "bitwise_xor"], [*INTEGERS, "bool"]),
    **dict.fromkeys(["shift_left", "shift_right_logical", "shift_right_arithmetic"], INTEGERS),
    "nextafter": WIDE,
    **dict.fromkeys(["atan2", "pow"], FLOATS),
}


@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one_argument_match_jax(name):
    for dtype in UNARY[name]:
        check(getattr(lax, name), edges(dtype), near=50)


@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two_arguments_match_jax(name):
    for dtype in BINARY[name]:
        values = edges(dtype)
        if name == "nextafter":
            # The numbers after 0 are subnormal.
            values = values[values != 0]
        check(getattr(lax, name), np.repeat(values, len(values)), np.tile(values, len(values)), near=50)


@pytest.mark.parametrize("dtype", WIDE)
def test_special_functions_match_jax_in_their_domain(dtype):
    first, second = (each.ravel() for each in np.meshgrid([0.5, 1.0, 1.5, 2.0, 7.25, np.nan], [0.25, 1.0, 3.0, 12.5, np.nan]))
    first, second = first.astype(dtype), second.astype(dtype)
    for fn in (lax.igamma, lax.igammac, lambda a, b: lax.betainc(a, b, a / (a + b)), lambda s, q: lax.zeta(s + 1, q)):
        check(fn, first, second, near=100)
    check(lambda x: lax.polygamma(jnp.full_like(x, 2.0), x), second, near=100)


def test_digamma_matches_jax_except_at_its_poles():
    for dtype in FLOATS:
        values = edges(dtype)
        check(lax.digamma, values[values != 0], near=20)


@pytest.mark.parametrize("to", [*FLOATS, *INTEGERS, "bool"], ids=str)
def test_conversions_match_jax(to):
    for dtype in [*FLOATS, *INTEGERS, "bool"]:
        check(lambda x: lax.convert_element_type(x, to), edges(dtype), is_exact=True)


@pytest.mark.parametrize("exponent", [-3, -1, 0, 1, 2, 7, 12])
def test_integer_powers_match_jax(exponent):
    for dtype in FLOATS:
        check(lambda x: lax.integer_pow(x, exponent), edges(dtype))


def test_rounding_matches_jax():
    for method, dtype in itertools.product(lax.RoundingMethod, FLOATS):
        check(lambda x: lax.round(x, method), edges(dtype), is_exact=True)


@pytest.mark.parametrize(("dtype", "to"), [("float64", "uint64"), ("float32", "int32"), ("float16", "uint16"), (ml_dtypes.bfloat16, "int16")], ids=str)
def test_bits_of_floats_match_jax(dtype, to):
    values = edges(dtype)
    values = np.concatenate([values, np.array([1e-4, 3.14159, 65504.0, -1e-3]).astype(dtype)])
    check(lambda x: lax.bitcast_convert_type(x, to), values, is_exact=True)
    words = np.random.default_rng(1).integers(0, 1 << 16, 200).astype("uint16") if to[-2:] == "16" else values.view(to)
    check(lambda x: lax.bitcast_convert_type(x, dtype), words.astype(to), is_exact=True)


def test_bits_of_subnormal_numbers_are_exact():
    from jax_frozen import frozen

    for dtype, words in (("float64", [1, 5 << 40, (1 << 52) - 1]), ("float32", [1, 1 << 20, (1 << 23) - 1])):
        unsigned = f"u{np.dtype(dtype).name.replace('float', 'int')}"
        words = np.array(words, unsigned)
        np.testing.assert_array_equal(frozen(lambda x: lax.bitcast_convert_type(x, dtype), words)(words), words.view(dtype))
        np.testing.assert_array_equal(frozen(lambda x: lax.bitcast_convert_type(x, unsigned), words.view(dtype))(words.view(dtype)), words)


def test_bits_change_their_width_as_in_jax():
    check(lambda x: lax.bitcast_convert_type(x, "uint32"), edges("int64"), is_exact=True)
    check(lambda x: lax.bitcast_convert_type(x, "uint8"), edges("float32"), is_exact=True)
    check(lambda x: lax.bitcast_convert_type(x, "float64"), np.arange(6, dtype="uint32").reshape(3, 2) << 28, is_exact=True)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "uint8"])
def test_running_results_match_jax(dtype):
    x = np.random.default_rng(2).permutation(24).reshape(4, 6).astype(dtype)
    for fn, axis, reverse in itertools.product((lax.cummax, lax.cummin, lax.cumsum, lax.cumprod), (0, 1), (False, True)):
        check(lambda x: fn(x, axis=axis, reverse=reverse), x)
    if np.dtype(dtype).kind == "f":
        check(lambda x: lax.cumlogsumexp(x, axis=1), x, near=10)
        check(lax.cummax, edges(dtype))


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS, "bool"], ids=str)
def test_reductions_match_jax(dtype):
    x = edges(dtype)
    for fn in (jnp.max, jnp.min, jnp.argmax, jnp.argmin, jnp.any, jnp.all):
        check(fn, x, is_exact=True)
    check(lambda x: lax.argmax(x, 0, "int32"), x)
    finite = x[np.isfinite(x.astype(float))][:6]
    check(jnp.sum, finite)
    check(jnp.prod, finite)


def test_extremes_of_no_elements_are_limits():
    for dtype in ("float64", "int32", "bool"):
        check(lambda x: (lax.reduce_max(x, (0,)), lax.reduce_min(x, (0,))), np.zeros((0, 3), dtype))


def test_sorts_by_several_keys_match_jax():
    rng = np.random.default_rng(3)
    first, second = rng.integers(0, 3, (5, 8)), rng.integers(0, 2, (5, 8)).astype(float)
    for axis, keys in ((0, 1), (1, 2), (1, 3)):
        check(lambda *each: lax.sort(each, dimension=axis, num_keys=keys), first, second, rng.normal(size=(5, 8)), is_exact=True)
    check(lax.sort, edges("float64"), is_exact=True)


def test_searches_match_jax():
    table = np.array([-1.0, 0.0, 0.5, 2.0])
    for method in ("scan", "sort", "compare_all", "scan_unrolled"):
        check(lambda x, v: jnp.searchsorted(x, v, side="right", method=method), table, np.array([0.5, -3.0, 7.0, np.nan, 0.25]))


def test_reduced_precision_matches_jax():
    check(lambda x: lax.reduce_precision(x, 8, 7), edges("float32"), is_exact=True)
    check(lambda x: lax.reduce_precision(x, 5, 10), np.array([1.0 + 2**-12, 70000.0, 3.14159]), is_exact=True)


def test_division_of_integers_by_zero_is_that_of_jax():
    check(lambda x: (x // 0, x % 0, lax.div(x, jnp.int32(0)), lax.rem(x, jnp.int32(0))), np.array([5, -5, 0], "int32"))


@pytest.mark.parametrize("kind", ["fft", "ifft", "rfft", "irfft", "hfft"])
def test_fourier_transforms_match_jax(kind):
    rng = np.random.default_rng(4)
    for length in (2, 3, 8, 12, 30, 34, 97, 128):
        x = rng.normal(size=(3, length))
        x = x if kind == "rfft" else x + 1j * rng.normal(size=x.shape)
        check(getattr(jnp.fft, kind), x, near=10)
        check(getattr(jnp.fft, kind), x.astype("float32" if kind == "rfft" else "complex64"), near=10)


def test_fourier_transforms_of_several_axes_match_jax():
    rng = np.random.default_rng(5)
    check(jnp.fft.fft2, rng.normal(size=(2, 6, 10)) + 0j, near=10)
    check(jnp.fft.rfftn, rng.normal(size=(4, 6, 10)), near=10)
    check(jnp.fft.irfftn, rng.normal(size=(4, 6, 6)) + 1j, near=10)
    check(jax.grad(lambda x: (jnp.abs(jnp.fft.rfft(x)) ** 2).sum()), rng.normal(size=12), near=10)
