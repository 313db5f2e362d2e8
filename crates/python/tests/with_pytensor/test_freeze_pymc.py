"""Frozen draws of PyMC's distributions and frozen predictions give the numbers of PyMC, without PyMC."""

import json
import warnings

import numpy as np
import precast
import pytest
from frozen import compare, frozen

pytensor = pytest.importorskip("pytensor")
pm = pytest.importorskip("pymc")
import precast.pytensor  # noqa: E402
import pytensor.tensor as pt  # noqa: E402
from pytensor.compile.mode import Mode  # noqa: E402

COV = np.array([[2.0, 0.3, 0.1], [0.3, 1.0, 0.2], [0.1, 0.2, 3.0]])
CUTS, EDGES = [-1.0, 1.0], np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
P, THREE, FOUR = [0.2, 0.5, 0.3], np.zeros(3), np.linspace(0.5, 2, 4)


def distributions():
    """Yields every PyMC distribution that supports draws, with params."""
    yield from continuous()
    yield from discrete()
    yield from of_arrays()
    yield from of_others()


def continuous():
    yield "AsymmetricLaplace", {"kappa": 0.5, "mu": 1, "b": 2}
    yield "Beta", {"alpha": FOUR, "beta": 3}
    yield "Cauchy", {"alpha": 0, "beta": 1}
    yield "ChiSquared", {"nu": 3}
    yield "ExGaussian", {"mu": 0, "sigma": 1, "nu": 1}
    yield "Exponential", {"lam": FOUR}
    yield "Gamma", {"alpha": 2, "beta": FOUR}
    yield "Gumbel", {"mu": 0, "beta": 1}
    yield "HalfCauchy", {"beta": 1}
    yield "HalfNormal", {"sigma": FOUR}
    yield "HalfStudentT", {"nu": 3, "sigma": 1}
    yield "InverseGamma", {"alpha": 3, "beta": FOUR}
    yield "Kumaraswamy", {"a": 2, "b": 3}
    yield "Laplace", {"mu": 0, "b": 1}
    yield "Logistic", {"mu": FOUR, "s": 1}
    yield "LogitNormal", {"mu": 0, "sigma": 1}
    yield "LogNormal", {"mu": FOUR, "sigma": 1}
    yield "Moyal", {"mu": FOUR, "sigma": 1}
    yield "Normal", {"mu": FOUR, "sigma": 1}
    yield "Pareto", {"alpha": 2, "m": 1}
    yield "Rice", {"nu": 1, "sigma": FOUR}
    yield "SkewNormal", {"mu": FOUR, "sigma": 1, "alpha": 2}
    yield "SkewStudentT", {"a": 2, "b": 3, "mu": FOUR, "sigma": 1}
    yield "StudentT", {"nu": 3, "mu": FOUR, "sigma": 1}
    yield "Triangular", {"lower": 0, "c": 0.5, "upper": 1}
    yield "TruncatedNormal", {"mu": FOUR, "sigma": 1, "lower": -1, "upper": 2}
    yield "Uniform", {"lower": 0, "upper": FOUR}
    yield "VonMises", {"mu": 0, "kappa": 1}
    yield "Wald", {"mu": FOUR, "lam": 1, "alpha": 0.5}
    yield "Weibull", {"alpha": 2, "beta": FOUR}


def discrete():
    yield "Bernoulli", {"p": P}
    yield "BetaBinomial", {"alpha": 2, "beta": 3, "n": 9}
    yield "Binomial", {"n": 9, "p": P}
    yield "Categorical", {"p": P}
    yield "Categorical", {"p": [P, P[::-1]], "shape": (4, 2)}
    yield "DiscreteUniform", {"lower": 1, "upper": [9, 3]}
    yield "DiscreteWeibull", {"q": 0.5, "beta": 1}
    yield "Geometric", {"p": P}
    yield "HyperGeometric", {"N": 20, "k": 5, "n": 4}
    yield "NegativeBinomial", {"mu": 3, "alpha": 2}
    yield "OrderedLogistic", {"eta": 0, "cutpoints": CUTS}
    yield "OrderedProbit", {"eta": 0, "cutpoints": CUTS}
    yield "Poisson", {"mu": FOUR}
    yield "ZeroInflatedBinomial", {"psi": 0.5, "n": 9, "p": 0.3}
    yield "ZeroInflatedNegativeBinomial", {"psi": 0.5, "mu": 3, "alpha": 2}
    yield "ZeroInflatedPoisson", {"psi": 0.5, "mu": 3}


def of_arrays():
    root = np.linalg.cholesky(COV)
    yield "Dirichlet", {"a": [1, 2, 3]}
    yield "DirichletMultinomial", {"n": 9, "a": [1, 2, 3]}
    yield "KroneckerNormal", {"mu": np.zeros(9), "covs": [COV, COV]}
    yield "LKJCholeskyCov", {"n": 3, "eta": 2, "sd_dist": pm.Exponential.dist(1)}
    yield "LKJCorr", {"n": 3, "eta": 2}
    yield "MatrixNormal", {"mu": np.zeros((3, 3)), "rowcov": COV, "colcov": COV}
    yield "Multinomial", {"n": 9, "p": P}
    yield "MvNormal", {"mu": THREE, "cov": COV}
    yield "MvNormal", {"mu": THREE, "chol": root}
    yield "MvNormal", {"mu": THREE, "tau": COV}
    yield "MvStudentT", {"nu": 3, "mu": THREE, "scale": COV}
    yield "OrderedMultinomial", {"eta": 0, "cutpoints": CUTS, "n": 9}
    yield "StickBreakingWeights", {"alpha": 2, "K": 4}
    yield "StickBreakingWeights", {"alpha": FOUR, "K": 2}
    yield "Wishart", {"nu": 4, "V": COV}
    yield "ZeroSumNormal", {"sigma": 1, "shape": 4}


def of_others():
    normal, apart = pm.Normal.dist(), pm.MvNormal.dist(THREE, COV)
    yield "AR", {"rho": [0.5, 0.2], "sigma": 1, "steps": 5, "init_dist": pm.Normal.dist(shape=2)}
    yield "Censored", {"dist": normal, "lower": -1, "upper": 1}
    yield "DiracDelta", {"c": 3}
    yield "GARCH11", {"omega": 1, "alpha_1": 0.1, "beta_1": 0.1, "initial_vol": 1, "steps": 4}
    yield "GaussianRandomWalk", {"mu": 0, "sigma": 1, "steps": 5, "init_dist": normal}
    yield "HurdleGamma", {"psi": 0.5, "alpha": 2, "beta": 1}
    yield "Mixture", {"w": [0.4, 0.6], "comp_dists": [normal, pm.StudentT.dist(3)]}
    yield "MvGaussianRandomWalk", {"mu": THREE, "chol": np.linalg.cholesky(COV), "steps": 3, "init_dist": apart}
    yield "NormalMixture", {"w": [0.4, 0.6], "mu": [0, 1], "sigma": [1, 2]}
    yield "Truncated", {"dist": pm.Gamma.dist(2, 1), "lower": 0.5, "upper": 3}


#: The distributions that are refused, and the reasons.
REFUSED = {
    "CAR": ({"mu": THREE, "W": EDGES, "alpha": 0.5, "tau": 1}, "draws from a NumPy generator$"),
    "HurdlePoisson": ({"psi": 0.5, "mu": 3}, "the number of steps of a while loop is known only at run time"),
    "Interpolated": ({"x_points": FOUR, "pdf_points": FOUR}, "draws from a NumPy generator$"),
}


def drawn(name, params):
    """Returns a drawing function of PyMC that runs PyTensor's reference."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = getattr(pm, name).dist(**params)
        return pm.pytensorf.compile([], made, random_seed=3, mode=Mode(linker="py", optimizer="fast_run"))


@pytest.mark.parametrize("which", range(len(list(distributions()))))
def test_draws_match_pymc(which):
    name, params = list(distributions())[which]
    fn = drawn(name, params)
    ours = precast.pytensor.freeze(fn, python=True).function(policy="interpret")
    for _ in range(2):
        wanted, got = fn(), ours()
        for one, other in zip(wanted if isinstance(wanted, list) else [wanted], got if isinstance(got, tuple) else [got], strict=True):
            assert np.allclose(other, one, rtol=1e-12, atol=0), name
            assert np.shape(other) == np.shape(one)


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_unsupported_draws_are_rejected(name):
    params, why = REFUSED[name]
    with pytest.raises(precast.FreezeError, match=rf"(?m){why}"):
        precast.pytensor.freeze(drawn(name, params), python=True)


def test_model_predictions_are_drawn_without_pymc(world):
    from pymc.sampling.forward import compile_forward_sampling_function as compiled

    with pm.Model() as model:
        x = pm.Data("x", np.linspace(-1, 1, 6))
        slope, noise = pm.Normal("slope", 0, 5), pm.HalfNormal("noise", 2)
        y = pm.StudentT("y", nu=4, mu=slope * x, sigma=noise, observed=np.sin(np.arange(6.0)))
        kind = pm.Categorical("kind", pm.math.softmax(slope * x))
    fn, _ = compiled([y, kind], vars_in_trace=[slope, noise], model=model, random_seed=5, mode=Mode(linker="py"))
    path = world.path("predict.precast")
    precast.pytensor.freeze(fn, path, name="predict", python=True, isa="x86-64-v2")
    program = (
        "import sys; sys.modules.update(dict.fromkeys(('pymc', 'pytensor', 'numba')))\n"
        "import json, precast, numpy as np\n"
        "predict = precast.Stateful.load(precast.load(sys.argv[1]), 'predict')\n"
        "print(json.dumps([[each.tolist() for each in predict(slope=0.3, noise=0.5)] for _ in range(3)]))"
    )
    elsewhere = json.loads(world.run("-c", program, str(path), compiler=False))
    for drawn_there in elsewhere:
        compare(tuple(map(np.array, drawn_there)), fn(slope=0.3, noise=0.5), is_exact=True)


def test_a_density_has_the_checks_of_its_parameters():
    scale = pt.dscalar("scale")
    ours = frozen(pytensor.function([scale], pm.logp(pm.Normal.dist(0, scale), 0.5)))
    assert abs(float(ours(np.array(1.0))) + 1.0439385332046727) < 1e-15
    with pytest.raises(precast.errors.CallValueError, match="sigma > 0"):
        ours(np.array(-1.0))


def test_pymc_scalar_functions_match_scipy():
    stats, scale = pytest.importorskip("scipy.stats"), pt.dscalar("scale")
    fn = pytensor.function([scale], [pm.logp(pm.VonMises.dist(0.1, scale), 0.5), pm.logp(pm.Rice.dist(1.0, scale), 0.5)])
    # PyTensor's reference computes Rice draws with less precision than f64.
    expected = [stats.vonmises.logpdf(0.5, 0.7, loc=0.1), stats.rice.logpdf(0.5, 1 / 0.7, scale=0.7)]
    assert np.allclose(frozen(fn, python=True)(np.array(0.7)), expected, rtol=1e-14)


@pytest.mark.parametrize("name", ["i0e", "i1e"])
def test_pymcs_own_scalar_functions_are_lowered(name):
    special = pytest.importorskip("scipy.special")
    from pymc.distributions import dist_math

    x, given = pt.dvector("x"), np.linspace(-5, 5, 7)
    ours = frozen(pytensor.function([x], getattr(dist_math, name)(x)))
    assert np.allclose(ours(given), getattr(special, name)(given), rtol=1e-14)
