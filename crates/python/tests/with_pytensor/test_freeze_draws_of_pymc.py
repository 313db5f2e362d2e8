"""Draws of PyMC's distributions with `random="counter"`: those of NumPy in distribution, in bundles that C and Rust call."""

import warnings

import numpy as np
import precast
import pytest

pytensor = pytest.importorskip("pytensor")
pm = pytest.importorskip("pymc")
stats = pytest.importorskip("scipy.stats")
import precast.pytensor  # noqa: E402
from pytensor.compile.mode import Mode  # noqa: E402
from test_freeze_pymc import REFUSED, distributions, drawn  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

COUNT = 3000
KEY = np.array([0, 42], np.uint32)
#: Distributions with time steps, whose `shape` includes them; `size` does not.
IN_TIME = ("AR", "GARCH11", "GaussianRandomWalk", "MvGaussianRandomWalk")


def several(name, params):
    """Returns a function of `COUNT` draws of a distribution."""
    one = drawn(name, params)()
    shape = np.shape(one[0] if isinstance(one, list) else one)
    rest = {key: value for key, value in params.items() if key != "shape"}
    size = {"size": COUNT} if name in IN_TIME else {"shape": (COUNT, *shape)}
    return drawn(name, {**rest, **size})


def are_alike(ours, wanted):
    """Returns whether a test of two samples does not reject that they have the same distribution."""
    return stats.ks_2samp(ours, wanted, method="asymp").pvalue > 1e-6


@pytest.mark.parametrize("which", range(len(list(distributions()))))
def test_draws_have_the_distribution_of_numpys(which):
    name, params = list(distributions())[which]
    if name == "LKJCholeskyCov":
        pytest.skip("it is a graph of PyMC, which has no `size`")
    fn = several(name, params)
    # The quantiles of a truncated gamma distribution are SciPy's.
    frozen = precast.pytensor.freeze(fn, random="counter", python=name == "Truncated")
    ours, wanted = frozen.function(policy="interpret")(KEY), fn()
    assert ours.dtype == wanted.dtype and ours.shape == wanted.shape and len(ours) == COUNT
    ours, wanted = ours.reshape(COUNT, -1), wanted.reshape(COUNT, -1)
    for at in range(ours.shape[1]):
        assert are_alike(ours[:, at], wanted[:, at]), (name, at)
    # The first and the last number depend on each other in the same way.
    products = [each[:, 0] * each[:, -1] for each in (ours, wanted)]
    assert are_alike(*products), name


def test_draws_that_reject_candidates_are_loops():
    fn = drawn("HurdlePoisson", {"psi": 0.5, "mu": 3, "shape": COUNT})
    frozen = precast.pytensor.freeze(fn, random="counter")
    assert "= scan{body=" in str(frozen.graph)
    assert are_alike(frozen.function(policy="interpret")(KEY), fn())


@pytest.mark.parametrize("name", ["CAR", "Interpolated"])
def test_distributions_without_a_key_are_rejected(name):
    with pytest.raises(precast.FreezeError, match="precast cannot draw from it with a key$"):
        precast.pytensor.freeze(drawn(name, REFUSED[name][0]), random="counter")


def test_posterior_predictions_run_in_c_and_rust(world, elsewhere):
    from pymc.sampling.forward import compile_forward_sampling_function as compiled

    with warnings.catch_warnings(), pm.Model() as model:
        warnings.simplefilter("ignore")
        theta = pm.Normal("theta", 0, 5, shape=4)
        y = pm.StudentT("y", nu=4, mu=theta, sigma=pm.math.exp(theta / 10), observed=np.zeros(4))
        path = pm.GaussianRandomWalk("path", 0, 1, steps=3, init_dist=pm.Normal.dist(theta[0], 1))
        total = pm.Deterministic("total", (y * pm.Poisson("count", 7, shape=4) + path).sum())
        fn, _ = compiled([total, y], vars_in_trace=[theta], model=model, random_seed=5, mode=Mode(linker="py"))
    bundle, point = str(world.path("predict.precast")), [0.5, -1.0, 2.0, 0.0]
    precast.pytensor.freeze(fn, bundle, name="predict", random="counter", isa="x86-64-v2")
    function = precast.load(bundle).predict
    assert [port.name for port in function.inputs] == ["key", "theta"]
    for seed in (42, 2**40 + 7):
        key = np.array([seed >> 32, seed & 0xFFFFFFFF], np.uint32)
        ours = [np.atleast_1d(each).tolist() for each in function(key, np.array(point))]
        # All bits are equal, because all run the same program.
        assert elsewhere.call(bundle, "predict", point, seed) == [ours, ours]
    draws = np.array([function(np.array([0, seed], np.uint32), np.array(point))[1] for seed in range(2000)])
    for column, mean in zip(draws.T, point, strict=True):
        assert stats.kstest((column - mean) / np.exp(mean / 10), "t", (4,)).pvalue > 1e-6
