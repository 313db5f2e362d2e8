"""What Python computes between graphs, where `freeze` is told so: the numbers are PyTensor's, without PyTensor."""

import json
import warnings

import numpy as np
import precast
import pytest
from frozen import compare, function

pytensor = pytest.importorskip("pytensor")
import precast.pytensor  # noqa: E402
import pytensor.tensor as pt  # noqa: E402
import pytensor.tensor.random.basic as draws  # noqa: E402
from precast import _calls, _steps  # noqa: E402
from precast.pytensor._lower.python import _CALLS, _DRAWS  # noqa: E402
from pytensor.tensor import linalg  # noqa: E402

try:
    from pytensor.conditional.op import ifelse
except ImportError:
    from pytensor.ifelse import ifelse

#: Params of distributions, by the class; for the others one or two numbers between 0 and 1 do.
PARAMS = {
    "BetaBinomialRV": (9, 2.0, 3.0),
    "BinomialRV": (9, 0.3),
    "HyperGeometricRV": (7, 5, 4),
    "IntegersRV": (2, 900),
    "NegBinomialRV": (4, 0.3),
    "StudentTRV": (4.0, 0.5, 0.7),
    "TriangularRV": (-1.0, 0.2, 3.0),
    "TruncExponentialRV": (2.0, 0.5, 0.7),
}
RNG = np.random.default_rng(5)
A = RNG.normal(size=(4, 4))
SYMMETRIC, TALL = A + A.T, RNG.normal(size=(5, 3))


def drawn(op, *params, rng, size=None):
    """The next generator and the draw of an op."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return op(*params, rng=rng, size=size).owner.outputs


def frozen(fn, **settings):
    return precast.pytensor.freeze(fn, python=True).function(policy="interpret", **settings)


@pytest.mark.parametrize("own", sorted(_DRAWS))
def test_draws_are_pytensors_for_every_distribution(own):
    op = next(each for each in vars(draws).values() if type(each).__name__ == own)
    params = PARAMS.get(own, (0.4, 0.9)[: len(op.ndims_params)])
    rng = pytensor.shared(np.random.default_rng(7), name="rng")
    vectors = [pt.vector(dtype=np.asarray(value).dtype) for value in params]
    rng1, one = drawn(op, *vectors, rng=rng)
    rng2, two = drawn(op, *params, rng=rng1, size=(2, 3))
    fn = function(vectors, [one, two], updates={rng: rng2})
    ours = frozen(fn)
    given = [np.full(4, value) for value in params]
    for _ in range(2):
        compare(ours(*given), fn(*given), is_exact=True)


@pytest.mark.parametrize("bits", _steps._BITS)
def test_every_generator_goes_on_from_the_state_that_it_was_saved_with(bits):
    made = np.random.Generator(getattr(np.random, bits)(3))
    made.integers(0, 9, 3, dtype=np.int32)
    again = _steps.generator_of(json.loads(json.dumps(_steps.state_of(made))))
    assert (again.normal(size=99) == _calls.copied(made).normal(size=99)).all()


def asked():
    """Graphs of every call, and what they are called with."""
    a = pt.dmatrix("a")
    for modes in ({}, {"mode": "economic"}, {"mode": "r"}, {"mode": "raw"}, {"pivoting": True}):
        yield "QR", [a], linalg.qr(a, **modes), [TALL]
    yield "SVD", [a], linalg.svd(a), [TALL]
    yield "SVD", [a], linalg.svd(a, full_matrices=False), [TALL]
    yield "SVD", [a], linalg.svd(a, compute_uv=False), [TALL]
    yield "Eig", [a], linalg.eig(a), [A]
    yield "Eigh", [a], linalg.eigh(a), [SYMMETRIC]
    yield "Eigvalsh", [a], linalg.eigvalsh(a, None), [SYMMETRIC]
    yield "LU", [a], linalg.lu(a), [A]
    yield "LU", [a], linalg.lu(a, permute_l=True), [A]
    yield "LU", [a], linalg.lu(a, p_indices=True), [A]
    for matrix in (A, np.zeros((3, 3)), np.zeros((0, 0))):
        yield "LUFactor", [a], linalg.lu_factor(a), [matrix]
    yield "PivotToPermutations", [a], linalg.pivot_to_permutation(linalg.lu_factor(a)[1], inverse=True), [A]
    yield "PivotToPermutations", [a], linalg.pivot_to_permutation(linalg.lu_factor(a)[1]), [A]
    yield "MatrixPinv", [a], linalg.pinv(a), [TALL]
    yield "Lstsq", [a], linalg.lstsq(a, a[:, 0], 1e-9), [TALL]
    yield "Expm", [a], linalg.expm(a), [A]
    yield "TensorInv", [a], linalg.tensorinv(a, ind=1), [A]
    yield "TensorSolve", [a], linalg.tensorsolve(a.reshape((2, 2, 2, 2)), a[:2, 1:3]), [A]
    yield "BlockDiagonal", [a], linalg.block_diag(a, 2 * a), [TALL]


@pytest.mark.parametrize("which", range(len(list(asked()))))
def test_decompositions_are_pytensors(which):
    _, inputs, made, given = list(asked())[which]
    fn = function(inputs, list(made) if isinstance(made, (list, tuple)) else [made])
    compare(frozen(fn)(*given), fn(*given), is_exact=True)


@pytest.mark.parametrize("kind", ["sym", "her", "tridiagonal", "banded"])
@pytest.mark.parametrize("ndim", [1, 2])
def test_systems_with_other_matrices_are_solved(kind, ndim):
    a, b = pt.dmatrix("a"), pt.dmatrix("b")
    fn = function([a, b], linalg.Solve(assume_a=kind, b_ndim=ndim)(a, b if ndim == 2 else b[:, 0]))
    matrix = np.triu(np.tril(SYMMETRIC, 1), -1) + 9 * np.eye(4)
    compare(frozen(fn)(matrix, A), fn(matrix, A), is_exact=True)


def test_every_call_has_a_test():
    assert {name for name, *_ in asked()} == set(_CALLS)
    assert {name for name, _ in _CALLS.values()} | {"draw", "solve", "special"} == set(_calls.CALLS)


def test_functions_without_c_are_scipys():
    x = pt.dvector("x")
    near = pt.tanh(x)
    fn = function([x], [pt.erfinv(near), pt.erfcinv(near + 1) * 2 + pt.i0(x), pt.erfinv(near).sum()], "fast_run")
    given = np.linspace(-2, 2.5, 7)
    compare(frozen(fn)(given), fn(given))
    with pytest.raises(precast.FreezeError, match="no C of it for float64\n    hint: .*python=True"):
        precast.pytensor.freeze(fn)


def sampler():
    """A function with generators and an array as its state, and with calls that take results of calls."""
    rng = pytensor.shared(np.random.default_rng(1), name="rng")
    total = pytensor.shared(np.zeros(3), name="total")
    fixed = pytensor.shared(np.random.default_rng(2), name="fixed")
    x = pt.dvector("x")
    rng1, a = drawn(draws.normal, x, 2.0, rng=rng)
    rng2, b = drawn(draws.gamma, pt.exp(a), 1.0, rng=rng1)
    _, c = drawn(draws.uniform, 0.0, b, rng=fixed)
    values = linalg.svd(pt.outer(a, b), compute_uv=False)[:1]
    return function([x], [a + b, c, values], updates={rng: rng2, total: total + a}), total


def test_a_bundle_keeps_steps_and_their_state_and_needs_no_pytensor(tmp_path, world):
    fn, total = sampler()
    x, path = np.arange(3.0), tmp_path / "sampler.precast"
    fn(x)
    frozen = precast.pytensor.freeze(fn, path, name="step", python=True, isa="x86-64-v2")
    assert frozen.graph is None and "rng: generator" in repr(frozen)
    model = precast.load(path)
    assert model.entries == (*(f"step.{at}" for at in range(4)), "step.state", "step.steps")
    step = precast.Stateful.load(model, "step")
    program = (
        "import sys; sys.modules.update(dict.fromkeys(('pytensor', 'scipy', 'numba')))\n"
        "import json, precast, numpy as np\n"
        "step = precast.Stateful.load(precast.load(sys.argv[1]), 'step')\n"
        "print(json.dumps([[each.tolist() for each in step(np.arange(3.0))] for _ in range(2)]))"
    )
    elsewhere = json.loads(world.run("-c", program, str(path), compiler=False))
    for others in elsewhere:
        wanted = fn(x)
        compare(step(x), wanted)
        compare(tuple(map(np.array, others)), wanted)
    compare(step.state["total"], total.get_value())


def test_generators_may_be_inputs_and_outputs():
    rng, x = pt.random.type.RandomGeneratorType()("rng"), pt.dscalar("x")
    other, made = drawn(draws.normal, x, 1.0, rng=rng)
    ours = frozen(function([rng, x], [other, made]))
    assert [port.type for port in ours.inputs] == ["generator", "f64[]"]
    begin = np.random.default_rng(3)
    after, one = ours(begin, 5.0)
    # What is given stays as it is.
    assert ours(begin, x=5.0)[1] == one == np.random.default_rng(3).normal(5.0)
    assert ours(after, 5.0)[1] != one
    for wrong in ((begin,), (3, 5.0), (begin, 5.0, 1)):
        with pytest.raises(TypeError):
            ours(*wrong)


def test_arrays_are_held_against_their_ports_and_results_are_ones_own():
    a = pt.dmatrix("a")
    ours = frozen(function([a], [linalg.svd(a, compute_uv=False), a]))
    given = np.eye(3)
    for wrong in (given.astype("f4"), np.ones((5, 3, 3)), [1.0], "a", None):
        with pytest.raises((TypeError, ValueError), match="`a`"):
            ours(wrong)
    _, same = ours(given)
    same += 7
    assert (given == np.eye(3)).all()
    total = pytensor.shared(np.zeros(3), name="total")
    values = linalg.svd(a, compute_uv=False)
    summed = frozen(function([a], total + values, updates={total: total + values}))
    for count in (1, 2, 3):
        made = summed(given)
        assert (made == count).all()
        made += 7


@pytest.mark.parametrize(("bits", "path"), [("MT19937", ("state", "pos")), ("Philox", ("buffer_pos",))])
def test_generators_look_for_numbers_where_they_have_some(bits, path):
    state = _steps.state_of(np.random.Generator(getattr(np.random, bits)(1)))
    assert _steps.generator_of(state)
    for place in (700, -1, 2**70, None, "1"):
        inner = state
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = place
        with pytest.raises(ValueError, match="no number at"):
            _steps.generator_of(state)


def test_what_needs_no_python_is_one_graph():
    a = pt.dmatrix("a")
    frozen = precast.pytensor.freeze(function([a], a + 1), python=True)
    assert set(frozen.graphs("f")) == {"f"}


def test_what_a_call_raises_is_an_error_of_the_call():
    a = pt.dmatrix("a")
    ours = frozen(function([a], linalg.svd(a, compute_uv=False)))
    with pytest.raises(precast.CallError, match="`svd`: .*converge"):
        ours(np.full((2, 2), np.nan))


def test_what_the_c_of_an_op_says_names_positions():
    said = {"V1: expected a number": "input 1: expected a number", "V2: expected an array": "output 0: expected an array", "V2 is": "V2 is"}
    assert {text: _steps._said(TypeError(text), 2) for text in said} == said


def test_what_python_computes_stands_in_no_branch_and_of_others_nothing_is_drawn():
    a, which = pt.dmatrix("a"), pt.lscalar("which")
    with pytest.raises(precast.FreezeError, match="may fail where it is not asked for"):
        frozen(function([a, which], ifelse(which, linalg.svd(a, compute_uv=False), a[0])))
    rng = pytensor.shared(np.random.default_rng(1))
    _, made = drawn(draws.categorical, np.full(3, 1 / 3), rng=rng)
    with pytest.raises(precast.FreezeError, match="draws from a generator of NumPy's$"):
        frozen(function([], made))


@pytest.mark.parametrize(
    "change",
    [
        {"steps": [{"call": "system", "settings": {}, "takes": [], "gives": [], "dtypes": []}]},
        {"steps": [{"graph": 99, "takes": [], "gives": []}]},
        {"steps": 3},
        {"generators": {"generator.0": {"bit_generator": "os"}}},
        {"inputs": [["x"]]},
    ],
)
def test_plans_that_say_what_cannot_be_are_refused(change, tmp_path):
    plan = {"inputs": [["x", "f64[]"]], "outputs": [["y", "f64[]"]], "generators": {}, "steps": [], "results": ["x"]}
    path = tmp_path / "plan.precast"
    constant = precast._native.constant(_steps.text(plan | change))
    precast.save(path, {"f.steps": precast.graph([], {"plan": constant})}, isa="x86-64-v2")
    with pytest.raises(precast.PrecastError):
        precast.Steps.load(precast.load(path), "f")
