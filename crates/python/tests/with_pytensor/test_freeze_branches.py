"""IfElse computes only the selected branch."""

import numpy as np
import precast
import pytest
from frozen import compare, frozen, function

pytensor = pytest.importorskip("pytensor")
import pytensor.tensor as pt  # noqa: E402

try:
    from pytensor.conditional.op import ifelse
except ImportError:
    from pytensor.ifelse import ifelse

SCAN = {"return_updates": False} if "return_updates" in __import__("inspect").signature(pytensor.scan).parameters else {}
x, y, m = pt.dvector("x"), pt.dvector("y"), pt.dmatrix("m")
s, n = pt.dscalar("s"), pt.lscalar("n")


@pytest.mark.parametrize("policy", ["interpret", "jit"])
def test_branches_may_have_different_extents(policy):
    several = ifelse(pt.gt(s, 0), [x, pt.exp(m)], [y * 2, m * 0])
    outputs = [ifelse(s, x, y), ifelse(pt.lt(s, n), x.sum(), pt.tanh(s)), *several]
    fn = function([x, y, m, s, n], outputs)
    ours = frozen(fn, policy=policy)
    for condition in (1.0, 0.0, -1.0, np.nan):
        given = [np.arange(3.0), np.arange(5.0), np.ones((2, 0)), np.array(condition), np.array(0)]
        compare(ours(*given), fn(*given))


def test_gradients_pass_through_branches():
    fn = function([x, s], pytensor.gradient.grad(ifelse(pt.gt(s, 0), (x**2).sum(), pt.exp(x).sum()), x))
    ours = frozen(fn)
    for condition in (1.0, -1.0):
        compare(ours(np.arange(3.0), np.array(condition)), fn(np.arange(3.0), np.array(condition)))


@pytest.mark.parametrize("policy", ["interpret", "jit"])
@pytest.mark.parametrize(
    "branch, at",
    [
        (lambda: x[::n], 0),
        (lambda: x.reshape((n,)), 7),
        (lambda: pt.zeros((n,)) + s, -1),
        (lambda: x + y, 0),
        (lambda: pytensor.raise_op.Assert("no")(x, s > 1), 0),
        (lambda: pt.max(x), 0),
        (lambda: n**n, -1),
        (lambda: pt.dot(x, y), 0),
    ],
)
def test_unselected_branch_may_fail(branch, at, policy):
    failing = branch()
    other = failing.type("other")
    for outputs, condition in ((ifelse(pt.gt(s, 0), failing, other), -1.0), (ifelse(pt.gt(s, 0), other, failing), 1.0)):
        ours = frozen(function([x, y, s, n, other], outputs), policy=policy)
        given = [np.array(at), np.ones((2,) * other.type.ndim, other.type.dtype)]
        compare(ours(np.zeros(0), np.arange(3.0), np.array(condition), *given), given[1])
        with pytest.raises(precast.CallError):
            ours(np.zeros(0), np.arange(3.0), np.array(-condition), *given)


def test_branches_contain_branches_and_loops():
    sums = pytensor.scan(lambda row, c: c + row, sequences=x, outputs_info=pt.zeros(()), **SCAN)
    sums = sums if SCAN else sums[0]
    inner = ifelse(pt.gt(s, 1), m[n], y * 2)
    fn = function([x, y, m, s, n], [ifelse(pt.gt(s, 0), inner + y, sums), ifelse(pt.gt(s, 1), y, inner)])
    ours = frozen(fn)
    for condition in (2.0, 0.5, -1.0):
        given = [np.arange(4.0), np.ones(3), np.arange(6.0).reshape(2, 3), np.array(condition), np.array(1)]
        compare(ours(*given), fn(*given))


@pytest.mark.parametrize(
    "branch",
    [
        lambda: x[1:],
        lambda: x[::-1],
        lambda: x[n:],
        lambda: x[x.shape[0] - 2 :],
        lambda: pt.concatenate([x, y]),
        lambda: pt.sort(pt.cumsum(x))[:n],
        lambda: m[1:, ::2].sum(axis=0),
    ],
)
def test_a_branch_that_cannot_fail_is_computed(branch):
    fn = function([x, y, m, s, n], ifelse(pt.gt(s, 0), branch(), y))
    ours = frozen(fn)
    for condition in (1.0, -1.0):
        for given in ([np.arange(4.0), np.arange(5.0), np.ones((2, 3))], [np.zeros(0), np.zeros(1), np.ones((0, 0))]):
            given = [*given, np.array(condition), np.array(2)]
            compare(ours(*given), fn(*given))


@pytest.mark.parametrize("policy", ["interpret", "jit"])
def test_positions_are_checked_in_the_selected_branch(policy):
    nested = ifelse(pt.gt(s, 1), m[n, -1], m[0, 0])
    fn = function([x, m, s, n], [ifelse(pt.gt(s, 0), x[n] + nested, s), ifelse(pt.gt(s, 0), x[n:].sum(), x.sum())])
    ours = frozen(fn, policy=policy)
    full, empty = [np.array([3.0, -0.0, 5.0]), np.arange(6.0).reshape(3, 2)], [np.zeros(0), np.zeros((0, 0))]
    for condition, at in ((2.0, 1), (2.0, -3), (0.5, 2)):
        compare(ours(*full, np.array(condition), np.array(at)), fn(*full, np.array(condition), np.array(at)))
    # The reference computes both branches.
    for given, at, total in ((full, 9, 8.0), (full, -9, 8.0), (empty, 0, 0.0)):
        assert ours(*given, np.array(-1.0), np.array(at)) == (-1.0, total)
    for given, condition, at in ((full, 2.0, 3), (full, 0.5, -4), (empty, 0.5, 0)):
        with pytest.raises(precast.CallIndexError):
            ours(*given, np.array(condition), np.array(at))


def test_shared_position_is_always_checked():
    ours = frozen(function([x, s, n], [ifelse(pt.gt(s, 0), x[n], s), x[n]]))
    with pytest.raises(precast.CallIndexError):
        ours(np.arange(3.0), np.array(-1.0), np.array(3))


@pytest.mark.parametrize("rewrites", [None, "fast_run"])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_a_median_is_frozen(axis, rewrites):
    fn = function([m], pt.median(m, axis=axis), rewrites)
    ours = frozen(fn)
    for shape in ((3, 4), (4, 3), (1, 1)):
        given = np.random.default_rng(1).normal(size=shape)
        compare(ours(given), fn(given))


def test_shared_value_of_both_branches_may_fail():
    part = x[n]
    fn = function([x, s, n], ifelse(pt.gt(s, 0), part, part * 2))
    ours = frozen(fn)
    compare(ours(np.arange(3.0), np.array(0.0), np.array(2)), np.array(4.0))
    with pytest.raises(precast.CallIndexError):
        ours(np.arange(3.0), np.array(0.0), np.array(3))
