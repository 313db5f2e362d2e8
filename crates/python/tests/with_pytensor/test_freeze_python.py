"""With `python=True`, Python computes parts between graphs and gives the numbers of PyTensor, without PyTensor."""

import contextlib
import functools
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
from precast import _calls, _draws, _steps  # noqa: E402
from precast.pytensor._lower.python import _CALLS, _DRAWS  # noqa: E402
from pytensor.tensor import linalg, signal  # noqa: E402

try:
    from pytensor.tensor.linalg.decomposition import schur
    from pytensor.tensor.linalg.solvers import linear_control as control
    from pytensor.tensor.linalg.solvers import tridiagonal
except ImportError:
    from pytensor.tensor import slinalg as schur
    from pytensor.tensor._linalg.solve import linear_control as control
    from pytensor.tensor._linalg.solve import tridiagonal
try:
    from pytensor.conditional.op import ifelse
except ImportError:
    from pytensor.ifelse import ifelse

#: Params of distributions by class. Other distributions get one or two numbers between 0 and 1.
PARAMS = {
    "BetaBinomialRV": (9, 2.0, 3.0),
    "BinomialRV": (9, 0.3),
    "GenGammaRV": (2.0, 0.7, 1.5),
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
    """Returns the next generator and the draw of an op."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return op(*params, rng=rng, size=size).owner.outputs


def frozen(fn, **settings):
    return precast.pytensor.freeze(fn, python=True).function(policy="interpret", **settings)


#: The distributions whose params or draws are arrays.
ARRAYS = {"CategoricalRV", "ChoiceWithoutReplacement", "DirichletRV", "MultinomialRV", "MvNormalRV", "PermutationRV"}


@pytest.mark.parametrize("own", sorted({*_DRAWS} - ARRAYS))
def test_draws_match_pytensor_for_every_distribution(own):
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


def of_arrays():
    """Yields draws of arrays: with one distribution, with several, and with more draws than distributions."""
    p, mean, count = np.array([0.2, 0.5, 0.3]), np.array([1.0, -2.0, 0.5]), np.array([4, 30])
    some, cov = np.stack([p, p[::-1]]), SYMMETRIC[:3, :3] @ SYMMETRIC[:3, :3] + np.eye(3)
    matrices = np.stack([cov, np.diag([1.0, 4.0, 9.0])])
    for size in (None, (4,), (0,)):
        yield draws.categorical, [p], size
        yield draws.dirichlet, [p], size
        yield draws.multinomial, [np.array(9), p], size
        yield draws.multivariate_normal, [mean, cov], size
    for size in (None, (2,), (4, 2), (0, 2), (4, 1)):
        yield draws.categorical, [some], size
        yield draws.dirichlet, [some], size
        yield draws.multinomial, [count, p], size
        yield draws.multinomial, [np.array(9), some], size
        yield draws.multivariate_normal, [mean, matrices], size
        yield draws.multivariate_normal, [np.stack([mean, p]), cov], size
    for method in ("svd", "eigh"):
        yield functools.partial(draws.multivariate_normal, method=method), [mean, cov], (5,)
    yield draws.permutation, [np.array(7)], None
    yield draws.permutation, [matrices], None
    for batched in ("(a,b)->(a,b)", "(a)->(a)"):
        permute = draws.PermutationRV(signature=batched, dtype="float64")
        yield permute, [matrices], None
        yield permute, [matrices], (4, 2) if batched == "(a,b)->(a,b)" else (2, 3)
    for chosen in ({"size": ()}, {"size": (2,)}, {"size": (2,), "p": p}, {"size": (1, 3), "p": p}):
        yield draws.choice, [mean], {"replace": False, **chosen}
        yield draws.choice, [cov], {"replace": False, **chosen}
    yield draws.choice, [np.array(9)], {"replace": False, "size": (2, 3)}
    each = draws.ChoiceWithoutReplacement(signature="(a),(1)->(b)", dtype="float64")
    weighed = draws.ChoiceWithoutReplacement(signature="(a,c),(a),(1)->(b,c)", dtype="float64")
    yield each, [cov, np.array([2])], None
    yield each, [cov, np.array([[2], [2], [2]])], (4, 3)
    yield weighed, [matrices, p, np.array([2])], None
    yield weighed, [matrices, some, np.array([2])], (3, 2)


@pytest.mark.parametrize("which", range(len(list(of_arrays()))))
def test_array_draws_match_pytensor(which):
    op, given, asked_for = list(of_arrays())[which]
    settings = asked_for if isinstance(asked_for, dict) else {"size": asked_for}
    rng = pytensor.shared(np.random.default_rng(7), name="rng")
    # PyTensor needs the number of dimensions of a draw.
    shapes = [value.shape if value.dtype == np.int64 else (None,) * value.ndim for value in given]
    inputs = [pt.tensor(dtype=value.dtype, shape=shape) for value, shape in zip(given, shapes)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        drawn_once = op(*inputs, rng=rng, **settings).owner.outputs
    fn = function(inputs, drawn_once[1], updates={rng: drawn_once[0]})
    try:
        wanted = [fn(*given), fn(*given)]
    except ValueError:
        wanted = None
    rng.set_value(np.random.default_rng(7))
    ours = frozen(fn)
    if wanted is None:
        with pytest.raises(ValueError):
            ours(*given)
        return
    for each in wanted:
        compare(ours(*given), each, is_exact=True)


def test_every_draw_of_arrays_has_a_test():
    seen = set()
    for op, given, asked_for in of_arrays():
        settings = asked_for if isinstance(asked_for, dict) else {"size": asked_for}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            seen.add(type(op(*given, **settings).owner.op).__name__)
    assert seen == ARRAYS


@pytest.mark.parametrize("bits", _steps._BITS)
def test_generators_resume_from_saved_state(bits):
    made = np.random.Generator(getattr(np.random, bits)(3))
    made.integers(0, 9, 3, dtype=np.int32)
    again = _steps.generator_of(json.loads(json.dumps(_steps.state_of(made))))
    assert (again.normal(size=99) == _draws.copied(made).normal(size=99)).all()


def asked():
    """Returns a graph with each call, and its arguments."""
    a = pt.dmatrix("a")
    for modes in ({}, {"mode": "economic"}, {"mode": "r"}, {"mode": "raw"}, {"pivoting": True}):
        for given in (TALL, np.where(TALL > 1, np.nan, TALL)):
            yield "QR", [a], linalg.qr(a, **modes), [given]
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
    yield from asked_of_lapack(a)
    yield from asked_of_numpy(a)


def asked_of_lapack(a):
    b, holes = pt.dmatrix("b"), np.where(A > 1, np.nan, A)
    for given in (A, SYMMETRIC, np.zeros((0, 0)), holes):
        for output in ("real", "complex"):
            for sort in (None, "lhp", "rhp", "iuc", "ouc"):
                yield "Schur", [a], schur.Schur(output=output, sort=sort)(a), [given]
    for settings in ({}, {"complex_output": True}, {"return_eigenvalues": True}, {"complex_output": True, "return_eigenvalues": True}):
        for sort in (None, "lhp", "rhp", "iuc", "ouc"):
            yield "QZ", [a, b], schur.QZ(sort=sort, **settings)(a, b), [A, np.diag([1.0, 2.0, 0.0, 4.0]) + 0.1 * np.triu(A)]
    below, diagonal, above = (pt.diagonal(a, offset=at) for at in (-1, 0, 1))
    for matrix in (A, np.zeros((3, 3))):
        yield "LUFactorTridiagonal", [a], tridiagonal.LUFactorTridiagonal()(below, diagonal, above), [matrix]
    factors = tridiagonal.LUFactorTridiagonal()(below, diagonal, above)
    for transposed in (False, True):
        for values in (b, b[:, 0]):
            solve = tridiagonal.SolveLUFactorTridiagonal(b_ndim=values.ndim, transposed=transposed)
            yield "SolveLUFactorTridiagonal", [a, b], solve(*factors, values), [A, TALL[:4]]
    yield "TRSYL", [a, b], control.TRSYL()(a, b, a[:, :3] + 1), [np.triu(A), np.triu(TALL[:3])]


def asked_of_numpy(a):
    for method in ("direct", "fft", "auto"):
        for mode in ("full", "valid", "same"):
            yield "Convolve2d", [a], signal.convolve2d(a, a[:2, :2], mode=mode, method=method), [TALL]


# PyTensor uses a deprecated signature of NumPy's transforms.
@pytest.mark.filterwarnings("ignore:.axes. should not be:DeprecationWarning")
@pytest.mark.parametrize("which", range(len(list(asked()))))
def test_decompositions_match_pytensor(which):
    _, inputs, made, given = list(asked())[which]
    fn = function(inputs, list(made) if isinstance(made, (list, tuple)) else [made])
    compare(frozen(fn)(*given), fn(*given), is_exact=True)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int64", "uint8", "bool"])
def test_truncated_integer_factors_are_rejected(dtype):
    k, b = pt.matrix("k", dtype=dtype), pt.dvector("b")
    for made in ([linalg.lu_factor(k)[0]], [linalg.solve(k, b), linalg.solve(k.T, b)]):
        fn = function([k, b], made, "fast_run")
        if not any(type(node.op).__name__ == "LUFactor" for node in fn.maker.fgraph.apply_nodes):
            continue
        with pytest.raises(precast.FreezeError, match=f"declared as {dtype}, but they are floats\n.*cast the matrix to float64"):
            frozen(fn)


def test_call_results_are_not_truncated():
    step = {"call": "eigvalsh", "settings": {"lower": True}, "takes": ["a"], "gives": ["y"], "dtypes": ["int64"]}
    plan = {"inputs": [["a", "f64[?,?]"]], "outputs": [["y", "i64[?]"]], "generators": {}, "steps": [step], "results": ["y"]}
    with pytest.raises(precast.CallError, match="`eigvalsh`: Cannot cast"):
        precast.Steps("f", plan, [])(SYMMETRIC)


@pytest.mark.parametrize("dtype", ["int8", "int16", "uint8", "bool", "float32", "complex64"])
def test_complex_schur_forms_match_pytensor_exactly(dtype):
    a = pt.matrix("a", dtype=dtype)
    for sort in (None, "iuc"):
        fn = function([a], schur.Schur(output="complex", sort=sort)(a))
        wanted, got = fn(A.astype(dtype)), frozen(fn)(A.astype(dtype))
        for one, other in zip(got, wanted):
            np.testing.assert_array_equal(one, other.astype(one.dtype))


@pytest.mark.parametrize("name", ["halfnormal", "gumbel", "cauchy", "bernoulli"])
@pytest.mark.parametrize("size", [None, (2, 3), (1,)])
def test_draws_are_writable(name, size):
    at = 0.5 * np.ones(3 if size == (2, 3) else 1)
    rng = pytensor.shared(np.random.default_rng(3))
    _, made = drawn(getattr(draws, name), *([at] if name == "bernoulli" else [at, 1.0]), rng=rng, size=size)
    fn = function([], made)
    got = frozen(fn)()
    compare(got, fn(), is_exact=True)
    assert got.flags.writeable


def test_pivots_out_of_range_are_rejected():
    solve = _calls.CALLS["solve_lu_factor_tridiagonal"]
    factors = (np.ones(3), np.full(4, 9.0), np.ones(3), np.ones(2))
    rows = np.arange(1, 5, dtype=np.int32)
    for given in (rows, rows + (rows < 4), rows + 1, rows - 1, np.full(4, 10**8, np.int32), rows[:3]):
        is_fine = given.shape == (4,) and set(given - rows) <= {0, 1} and given[-1] == 4
        with contextlib.nullcontext() if is_fine else pytest.raises(ValueError, match="each pivot"):
            solve(*factors, given, np.ones(4), transposed=False)
    assert solve(*factors, rows, np.ones((4, 0)), transposed=True)[0].shape == (4, 0)


@pytest.mark.parametrize("of", sorted(_calls.SPECIAL))
def test_scipy_functions_do_not_overwrite_inputs(of):
    arrays = [np.full(2, 0.5) for _ in range(6)]
    fine = 0
    for count in range(7):
        with contextlib.suppress(ValueError), np.errstate(all="ignore"):
            _calls.CALLS["special"](*arrays[:count], of=of)
            fine += 1
    assert fine == 1 and all((array == 0.5).all() for array in arrays)


def test_every_call_has_a_test():
    assert {name for name, *_ in asked()} == set(_CALLS)
    assert {name for name, _ in _CALLS.values()} | {"draw", *OLD} == set(_calls.CALLS)


#: The calls of bundles that were written before their ops were lowered.
OLD = {"block_diag", "choose", "fill_diagonal", "ravel_multi_index", "solve", "special", "unravel_index"}


def test_calls_of_older_bundles_work():
    (made,) = _calls.CALLS["block_diag"](A, TALL)
    assert made.shape == (len(A) + len(TALL), A.shape[1] + TALL.shape[1])
    compare(made[: len(A), : A.shape[1]], A, is_exact=True)
    compare(made[len(A) :, A.shape[1] :], TALL, is_exact=True)
    assert _calls.CALLS["unravel_index"](np.array([5]), np.array([3, 4]), order="C") == (1, 1)
    assert _calls.CALLS["ravel_multi_index"](np.array([1]), np.array([1]), np.array([3, 4]), mode="raise", order="C") == (5,)
    assert _calls.CALLS["choose"](np.array([1]), np.array([[2], [3]]), mode="raise") == (3,)
    assert (_calls.CALLS["fill_diagonal"](np.ones((2, 2)), 3)[0] == [[3, 1], [1, 3]]).all()


def sampler():
    """Returns a function whose state is generators and an array, and whose calls use results of other calls."""
    rng = pytensor.shared(np.random.default_rng(1), name="rng")
    total = pytensor.shared(np.zeros(3), name="total")
    fixed = pytensor.shared(np.random.default_rng(2), name="fixed")
    x = pt.dvector("x")
    rng1, a = drawn(draws.normal, x, 2.0, rng=rng)
    rng2, b = drawn(draws.gamma, pt.exp(a), 1.0, rng=rng1)
    _, c = drawn(draws.uniform, 0.0, b, rng=fixed)
    values = linalg.svd(pt.outer(a, b), compute_uv=False)[:1]
    return function([x], [a + b, c, values], updates={rng: rng2, total: total + a}), total


def test_bundle_keeps_steps_and_state_without_pytensor(tmp_path, world):
    fn, total = sampler()
    x, path = np.arange(3.0), tmp_path / "sampler.precast"
    fn(x)
    frozen = precast.pytensor.freeze(fn, path, name="step", python=True, isa="x86-64-v2")
    assert frozen.graph is None and "rng: generator" in repr(frozen)
    model = precast.load(path)
    assert model.entries == tuple(f"step.{at}" for at in range(4))
    assert {each["input"] for each in model.metadata("step")["state"]} == {"rng", "total"}
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
    # The argument does not change.
    assert ours(begin, x=5.0)[1] == one == np.random.default_rng(3).normal(5.0)
    assert ours(after, 5.0)[1] != one
    for wrong in ((begin,), (3, 5.0), (begin, 5.0, 1)):
        with pytest.raises(TypeError):
            ours(*wrong)


def test_inputs_are_checked_and_results_are_copies():
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
def test_generator_states_with_bad_positions_are_rejected(bits, path):
    state = _steps.state_of(np.random.Generator(getattr(np.random, bits)(1)))
    assert _steps.generator_of(state)
    for place in (700, -1, 2**70, None, "1"):
        inner = state
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = place
        with pytest.raises(ValueError, match="invalid position"):
            _steps.generator_of(state)


def test_functions_without_python_are_one_graph():
    a = pt.dmatrix("a")
    frozen = precast.pytensor.freeze(function([a], a + 1), python=True)
    assert set(frozen.saved("f", set())[0]) == {"f"}


def test_python_exceptions_are_call_errors():
    a = pt.dmatrix("a")
    ours = frozen(function([a], linalg.svd(a, compute_uv=False)))
    with pytest.raises(precast.CallError, match="`svd`: .*converge"):
        ours(np.full((2, 2), np.nan))


def test_c_error_messages_name_positions():
    said = {"V1: expected a number": "input 1: expected a number", "V2: expected an array": "output 0: expected an array", "V2 is": "V2 is"}
    assert {text: _steps._said(TypeError(text), 2) for text in said} == said


def test_python_steps_in_branches_and_foreign_draws_fail():
    a, which = pt.dmatrix("a"), pt.lscalar("which")
    with pytest.raises(precast.FreezeError, match="Python computes `svd` of a branch"):
        frozen(function([a, which], ifelse(which, linalg.svd(a, compute_uv=False), a[0])))
    rng = pytensor.shared(np.random.default_rng(1))

    class OwnRV(draws.NormalRV):
        """A user-defined distribution."""

        @classmethod
        def rng_fn(cls, rng, *given):
            return 2 * rng.normal(*given)

    _, made = drawn(OwnRV(), 0.0, 1.0, rng=rng)
    with pytest.raises(precast.FreezeError, match="draws from a NumPy generator$"):
        frozen(function([], made))


@pytest.mark.parametrize(
    "change",
    [
        {"steps": [{"call": "system", "settings": {}, "takes": [], "gives": [], "dtypes": []}]},
        {"steps": [{"graph": 99, "takes": [], "gives": []}]},
        {"steps": 3},
        {"generators": {"generator.0": {"bit_generator": "os"}}},
        {"inputs": [["x"]]},
        {"results": ["zz"]},
        {"results": [["x"]]},
        {"steps": [{"call": "svd", "settings": {}, "takes": ["zz"], "gives": ["y"], "dtypes": ["f8"]}]},
        {"steps": [{"call": "svd", "settings": {}, "takes": [["x"]], "gives": ["y"], "dtypes": ["f8"]}]},
        {"steps": [{"call": "svd", "settings": {}, "takes": ["x"], "gives": ["y", "z"], "dtypes": ["f8"]}]},
        {"steps": [{"call": "svd", "settings": {}, "takes": ["x"], "gives": ["y"], "dtypes": ["zz"]}]},
        {"steps": [{"call": "svd", "settings": {}, "takes": ["x"], "gives": ["y"], "dtypes": ["O"]}]},
    ],
)
def test_invalid_plans_are_rejected(change):
    plan = {"inputs": [["x", "f64[]"]], "outputs": [["y", "f64[]"]], "generators": {}, "steps": [], "results": ["x"]}
    assert precast.Steps("f", plan, [])(2.0) == 2
    with pytest.raises(precast.BundleError):
        precast.Steps("f", plan | change, [])
