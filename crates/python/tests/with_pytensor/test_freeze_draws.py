"""Draws with `random="counter"` have the distributions of SciPy, are functions of the key, and need no generator."""

import os

import numpy as np
import pytest
from frozen import compare, function

pytensor = pytest.importorskip("pytensor")
stats = pytest.importorskip("scipy.stats")
import precast.pytensor  # noqa: E402
import pytensor.tensor as pt  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

random = pt.random
COUNT = int(os.environ.get("PRECAST_DRAWS", 20_000))
KEY, OTHER = np.array([0, 42], np.uint32), np.array([7, 42], np.uint32)
P = np.array([0.2, 0.5, 0.3])
COV = np.array([[2.0, 0.3, 0.1], [0.3, 1.0, 0.2], [0.1, 0.2, 3.0]])


def counted(inputs, outputs, policy="interpret", **settings):
    """Freezes a function with a key."""
    return precast.pytensor.freeze(function(inputs, outputs, **settings), random="counter").function(policy=policy)


#: Draws of one number, and their distribution.
LAWS = {
    "normal": (lambda n: random.normal(1, 2, size=n), stats.norm(1, 2)),
    "uniform": (lambda n: random.uniform(-1, 3, size=n), stats.uniform(-1, 4)),
    "triangular": (lambda n: random.triangular(-1, 0.5, 2, size=n), stats.triang(0.5, -1, 3)),
    "beta": (lambda n: random.beta(2, 3, size=n), stats.beta(2, 3)),
    "halfnormal": (lambda n: random.halfnormal(1, 2, size=n), stats.halfnorm(1, 2)),
    "lognormal": (lambda n: random.lognormal(0.5, 2, size=n), stats.lognorm(2, scale=np.exp(0.5))),
    "gamma": (lambda n: random.gamma(0.5, scale=3, size=n), stats.gamma(0.5, scale=3)),
    "chisquare": (lambda n: random.chisquare(3, size=n), stats.chi2(3)),
    "pareto": (lambda n: random.pareto(3, 2, size=n), stats.pareto(3, scale=2)),
    "gumbel": (lambda n: random.gumbel(1, 2, size=n), stats.gumbel_r(1, 2)),
    "exponential": (lambda n: random.exponential(2, size=n), stats.expon(scale=2)),
    "weibull": (lambda n: random.weibull(1.5, size=n), stats.weibull_min(1.5)),
    "logistic": (lambda n: random.logistic(1, 2, size=n), stats.logistic(1, 2)),
    "vonmises": (lambda n: random.vonmises(0.5, 2, size=n), stats.vonmises(2, loc=0.5)),
    "cauchy": (lambda n: random.cauchy(1, 2, size=n), stats.cauchy(1, 2)),
    "halfcauchy": (lambda n: random.halfcauchy(1, 2, size=n), stats.halfcauchy(1, 2)),
    "invgamma": (lambda n: random.invgamma(3, 2, size=n), stats.invgamma(3, scale=2)),
    "wald": (lambda n: random.wald(2, 0.5, size=n), stats.invgauss(2 / 0.5, scale=0.5)),
    "truncexpon": (lambda n: random.truncexpon(2, 1, 3, size=n), stats.truncexpon(2, 1, 3)),
    "student_t": (lambda n: random.t(4, 1, 2, size=n), stats.t(4, 1, 2)),
    "laplace": (lambda n: random.laplace(1, 2, size=n), stats.laplace(1, 2)),
    "gengamma": (lambda n: random.gengamma(3, 2, 1.5, size=n), stats.gengamma(1.5, 2, scale=1.5)),
    "poisson": (lambda n: random.poisson(3.5, size=n), stats.poisson(3.5)),
    "geometric": (lambda n: random.geometric(0.3, size=n), stats.geom(0.3)),
    "hypergeometric": (lambda n: random.hypergeometric(7, 5, 6, size=n), stats.hypergeom(12, 7, 6)),
    "bernoulli": (lambda n: random.bernoulli(0.3, size=n), stats.bernoulli(0.3)),
    "binomial": (lambda n: random.binomial(9, 0.3, size=n), stats.binom(9, 0.3)),
    "negative_binomial": (lambda n: random.negative_binomial(3, 0.4, size=n), stats.nbinom(3, 0.4)),
    "betabinom": (lambda n: random.betabinom(9, 2, 3, size=n), stats.betabinom(9, 2, 3)),
    "categorical": (lambda n: random.categorical(P, size=n), stats.rv_discrete(values=([0, 1, 2], P))),
    "integers": (lambda n: random.integers(-2, 5, size=n), stats.randint(-2, 5)),
    "choice": (lambda n: random.choice(pt.as_tensor([0, 1, 2]), size=n, p=P), stats.rv_discrete(values=([0, 1, 2], P))),
    "a choice without replacement": (
        lambda n: pt.stack([random.choice(3, size=2, replace=False, p=P)[0] for _ in range(200)]),
        stats.rv_discrete(values=([0, 1, 2], P)),
    ),
    "a normal number of a vector": (lambda n: random.multivariate_normal(np.ones(3), COV, size=n)[:, 2], stats.norm(1, 3**0.5)),
    "a share of Dirichlet's distribution": (lambda n: random.dirichlet(10 * P, size=n)[:, 1], stats.beta(5, 5)),
    "a count of a multinomial draw": (lambda n: random.multinomial(9, P, size=n)[:, 1], stats.binom(9, 0.5)),
}


def is_likely(drawn, law):
    """Returns whether a test does not reject a distribution: Kolmogorov's and Smirnov's, or chi-squared for integers."""
    if drawn.dtype.kind == "f":
        return stats.kstest(drawn, law.cdf).pvalue > 1e-6
    values = np.arange(drawn.min(), drawn.max() + 1)
    expected, observed = len(drawn) * law.pmf(values), (drawn[:, None] == values).sum(0)
    often = expected >= 5
    # Rare values, and those that were not drawn, share a bin.
    rare = len(drawn) - expected[often].sum(), len(drawn) - observed[often].sum()
    assert not observed[expected == 0].any()
    expected, observed = np.append(expected[often], max(rare[0], 5)), np.append(observed[often], rare[1])
    return stats.chi2(often.sum()).sf(((observed - expected) ** 2 / expected).sum()) > 1e-6


@pytest.mark.parametrize("name", LAWS)
def test_distributions_match_scipy(name):
    draw, law = LAWS[name]
    fn = function([], draw(COUNT))
    ours = precast.pytensor.freeze(fn, random="counter").function(policy="interpret")
    drawn, wanted = ours(KEY), fn()
    assert drawn.dtype == wanted.dtype and drawn.shape == wanted.shape
    assert is_likely(drawn, law), name
    assert not (ours(OTHER) == drawn).all()
    np.testing.assert_array_equal(ours(KEY), drawn)


x, y, s, n, c = pt.dvector("x"), pt.dvector("y"), pt.dscalar("s"), pt.lscalar("n"), pt.lscalar("c")
m = pt.tensor("m", shape=(None, 1), dtype="float64")

#: Inputs, outputs, arguments: sizes, and params that are broadcast.
SHAPES = {
    "the params": ([x, m], lambda: random.normal(x, m), [np.ones(3), np.ones((2, 1))]),
    "equal extents": ([x], lambda: random.normal(x, pt.exp(x)), [np.zeros(3)]),
    "one element": ([x, s], lambda: random.gamma(x, scale=s), [np.ones(1), np.array(2.0)]),
    "numbers": ([s], lambda: random.beta(s, 2.0), [np.array(1.0)]),
    "a size": ([s, n], lambda: random.poisson(s, size=(n, 2)), [np.array(3.0), np.array(4)]),
    "an empty size": ([s], lambda: random.poisson(s, size=()), [np.array(3.0)]),
    "no draws": ([s, n], lambda: random.poisson(s, size=(n, 2)), [np.array(3.0), np.array(0)]),
    "a size from a shape": ([x, m], lambda: random.uniform(x, 2, size=(m.shape[0], x.shape[0])), [np.zeros(3), np.ones((2, 1))]),
    "a constant size": ([x], lambda: random.laplace(x, size=(2, 3)), [np.zeros(3)]),
    "an f32": ([x], lambda: random.normal(x, dtype="float32"), [np.zeros(3)]),
    "integer params": ([n], lambda: random.normal(n, 1, size=2), [np.array(4)]),
    "vectors": ([m], lambda: random.dirichlet(pt.exp(m + np.zeros(3)), size=(4, m.shape[0])), [np.ones((2, 1))]),
    "counts of vectors": ([n], lambda: random.multinomial(pt.stack([n, 2 * n]), np.stack([P, P[::-1]])), [np.array(6)]),
    "categories": ([x], lambda: random.categorical(pt.special.softmax(x), size=(5,)), [np.zeros(3)]),
    "normal vectors": ([x], lambda: random.multivariate_normal(x, COV, size=(2,)), [np.zeros(3)]),
    "a permutation": ([n], lambda: random.permutation(n), [np.array(6)]),
    "a permutation of rows": ([m], lambda: random.permutation(m + np.zeros(2)), [np.zeros((4, 1))]),
    "a choice": ([x], lambda: random.choice(x, size=(2, 2), replace=False), [np.arange(5.0)]),
    "a choice of rows": ([m], lambda: random.choice(m, size=3, p=P, replace=False), [np.arange(3.0)[:, None]]),
}


@pytest.mark.parametrize("rewrites", [None, "fast_run"])
@pytest.mark.parametrize("name", SHAPES)
def test_shapes_and_dtypes_match_pytensor(name, rewrites):
    inputs, output, given = SHAPES[name]
    fn = function(inputs, output(), rewrites)
    frozen = precast.pytensor.freeze(fn, random="counter")
    drawn, wanted = frozen.function(policy="interpret")(KEY, *given), np.asarray(fn(*given))
    assert (np.shape(drawn), drawn.dtype) == (wanted.shape, wanted.dtype)


def test_params_must_fit_the_size():
    ours = counted([x, s, n], random.normal(x, s, size=n))
    assert ours(KEY, np.zeros(1), np.array(1.0), np.array(3)).shape == (3,)
    for extent in (2, 1):
        with pytest.raises(precast.CallError):
            ours(KEY, np.zeros(3), np.array(1.0), np.array(extent))
    with pytest.raises(precast.CallError):
        counted([x, y], random.normal(x, y))(KEY, np.zeros(3), np.ones(2))


#: Draws with params that NumPy rejects.
INVALID = {
    "normal": lambda: random.normal(0, -1), "uniform": lambda: random.uniform(1, 0), "gamma": lambda: random.gamma(-1, scale=1),
    "gamma by scale": lambda: random.gamma(1, scale=-1), "exponential": lambda: random.exponential(-1),
    "pareto": lambda: random.pareto(-1, 1), "weibull": lambda: random.weibull(-1), "triangular": lambda: random.triangular(0, 3, 2),
    "wald": lambda: random.wald(-1, 1), "truncexpon": lambda: random.truncexpon(-1), "lognormal": lambda: random.lognormal(0, -1),
    "normal vectors": lambda: random.multivariate_normal([0, 0], [[1.0, 2.0], [2.0, 1.0]]),
    "poisson": lambda: random.poisson(-1), "binomial": lambda: random.binomial(3, 1.5), "bernoulli": lambda: random.bernoulli(1.5),
    "geometric": lambda: random.geometric(0), "hypergeometric": lambda: random.hypergeometric(2, 2, 5),
    "categorical": lambda: random.categorical([0.5, -0.5, 1]), "multinomial": lambda: random.multinomial(3, [np.nan, 1]),
}  # fmt: skip


@pytest.mark.parametrize("name", INVALID)
def test_invalid_params_give_nan_or_minus_1(name):
    drawn = np.asarray(counted([], INVALID[name]())(KEY))
    assert np.isnan(drawn).all() if drawn.dtype.kind == "f" else (drawn == -1).any()


def test_bounds_without_integers_raise():
    with pytest.raises(precast.CallError, match="low >= high"):
        counted([n], random.integers(n, 0))(KEY, np.array(0))


def keyed(*numbers):
    """Returns the normal numbers of a key, to which numbers are folded in."""
    key = precast.input("key", "u32[2]")
    inner = key
    for number in numbers:
        inner = precast.random.fold_in(inner, number)
    return precast.function([key], precast.random.normal(inner, 3), policy="interpret")(KEY)


def test_keys_fold_in_positions_and_steps():
    draws = counted([], [random.normal(size=3), random.normal(size=3)])(KEY)
    compare(draws, [keyed(0), keyed(1)], is_exact=True)
    made, updates = walk(n, (3,))
    steps = np.diff(counted([n, s], made, updates=updates)(KEY, np.array(3), np.array(1.0)), axis=0, prepend=0)
    compare(steps, np.stack([keyed(0, step, 0) for step in range(3)]), near=1e-13)


def walk(steps, size=None):
    """Returns a random walk of PyTensor with draws in its steps, the last generator, and the generator."""
    rng = pytensor.shared(np.random.default_rng(1), name="rng")

    def step(before, rng):
        other, noise = random.normal(0, s, size=size, rng=rng).owner.outputs
        return before + noise, {rng: other}

    made, updates = pytensor.scan(step, outputs_info=pt.zeros(size or ()), non_sequences=rng, n_steps=steps)
    return made, updates


@pytest.mark.parametrize("rewrites", [None, "fast_run"])
@pytest.mark.parametrize("policy", ["interpret", "jit"])
def test_steps_of_a_loop_draw_other_numbers(policy, rewrites):
    made, updates = walk(n, (3,))
    frozen = precast.pytensor.freeze(function([n, s], [made, random.normal(0, s)], rewrites, updates=updates), random="counter")
    assert [port.name for port in frozen.graph.inputs] == ["key", "n", "s"] and len(frozen.graph.outputs) == 2
    assert "= scan{body=" in str(frozen.graph) and not frozen.state
    ours = frozen.function(policy=policy)
    drawn, _ = ours(KEY, np.array(2000), np.array(2.0))
    noise = np.diff(drawn, axis=0, prepend=0).ravel()
    assert len(set(noise)) == 6000 and is_likely(noise, stats.norm(0, 2))
    # A shorter walk is the beginning of a longer one.
    compare(ours(KEY, np.array(5), np.array(2.0))[0], drawn[:5], is_exact=True)


def test_unrolled_steps_draw_the_numbers_of_loops():
    made, updates = walk(4)
    plain = precast.pytensor.freeze(function([s], made, updates=updates), random="counter").function(policy="interpret")
    rng = pytensor.shared(np.random.default_rng(1), name="rng")

    def step(before, rng):
        other, noise = random.normal(0, s, rng=rng).owner.outputs
        return before + noise * pt.linalg.svd(pt.eye(2), compute_uv=False)[0], {rng: other}

    made, updates = pytensor.scan(step, outputs_info=pt.zeros(()), non_sequences=rng, n_steps=4)
    fn = function([s], made, updates=updates)
    ours = precast.pytensor.freeze(fn, random="counter", python=True).function(policy="interpret")
    compare(ours(KEY, np.array(1.0)), plain(KEY, np.array(1.0)), near=1e-13)


def test_branches_draw():
    from pytensor.ifelse import ifelse

    drawn = ifelse(c, random.normal(10, 1, size=3), random.uniform(0, 1, size=3))
    ours = counted([c], [drawn, random.normal()], rewrites="fast_run")
    first, after = ours(KEY, np.array(1))
    assert (first > 5).all() and (ours(KEY, np.array(0))[0] < 1).all()
    assert ours(KEY, np.array(0))[1] == after


def test_generators_are_not_ports():
    rng, total = pytensor.shared(np.random.default_rng(1), name="rng"), pytensor.shared(0.0, name="total")
    given = pt.random.type.RandomGeneratorType()("given")
    first, one = random.normal(x, rng=rng).owner.outputs
    second, two = random.normal(x, rng=first).owner.outputs
    third, three = random.normal(x, rng=given).owner.outputs
    key = pt.dscalar("key")
    fn = function([x, given, key], [one, two, three + key, third], updates={rng: second, total: total + one.sum()})
    frozen = precast.pytensor.freeze(fn, random="counter")
    assert [port.name for port in frozen.graph.inputs] == ["key", "x", "key_2", "total"]
    assert [port.name for port in frozen.graph.outputs] == ["out0", "out1", "out2", "total"]
    assert set(frozen.state) == {"total"}
    ours = frozen.function(policy="interpret")
    drawn = ours(KEY, np.zeros(3), np.array(0.0))
    assert len(set(np.ravel(drawn))) == 9
    assert ours.state["total"] == drawn[0].sum()


def test_compiled_draws_have_the_bits_of_interpreted_ones():
    names = [name for name in LAWS if not name.startswith("a choice")]
    frozen = precast.pytensor.freeze(function([], [LAWS[name][0](70) for name in names]), random="counter")
    expected = frozen.function(policy="interpret")(KEY)
    compare(frozen.function(policy="jit")(KEY), list(expected), is_exact=True)


def test_refused_draws_have_hints():
    with pytest.raises(precast.FreezeError, match=r'draws from a NumPy generator\n.*`freeze\(…, random="counter"\)` draws with a key'):
        precast.pytensor.freeze(function([], random.normal()))
    with pytest.raises(ValueError, match="`random` is 'numpy', expected"):
        precast.pytensor.freeze(function([], random.normal()), random="numpy")
