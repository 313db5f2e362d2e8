"""IfElse: both branches are computed and one is given, so what could fail where it is not asked for is refused."""

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

x, y, m = pt.dvector("x"), pt.dvector("y"), pt.dmatrix("m")
s, n = pt.dscalar("s"), pt.lscalar("n")


@pytest.mark.parametrize("policy", ["interpret", "jit"])
def test_a_branch_is_given_whatever_its_extents(policy):
    several = ifelse(pt.gt(s, 0), [x, pt.exp(m)], [y * 2, m * 0])
    outputs = [ifelse(s, x, y), ifelse(pt.lt(s, n), x.sum(), pt.tanh(s)), *several]
    fn = function([x, y, m, s, n], outputs)
    ours = frozen(fn, policy=policy)
    for condition in (1.0, 0.0, -1.0, np.nan):
        given = [np.arange(3.0), np.arange(5.0), np.ones((2, 0)), np.array(condition), np.array(0)]
        compare(ours(*given), fn(*given))


def test_gradients_go_through_branches():
    fn = function([x, s], pytensor.gradient.grad(ifelse(pt.gt(s, 0), (x**2).sum(), pt.exp(x).sum()), x))
    ours = frozen(fn)
    for condition in (1.0, -1.0):
        compare(ours(np.arange(3.0), np.array(condition)), fn(np.arange(3.0), np.array(condition)))


@pytest.mark.parametrize(
    "branch",
    [
        lambda: x[n],
        lambda: x.reshape((n,)),
        lambda: pt.zeros((n,)) + s,
        lambda: x + y,
        lambda: pytensor.raise_op.Assert("no")(x, s > 1),
        lambda: pt.max(x),
        lambda: n ** n,
        lambda: pt.dot(x, y),
    ],
)
def test_a_branch_that_may_fail_where_it_is_not_asked_for_is_refused(branch):
    failing = branch()
    other = failing.type("other")
    with pytest.raises(precast.FreezeError, match="both branches are computed, and .* may fail"):
        frozen(function([x, y, s, n, other], ifelse(pt.gt(s, 0), failing, other)))


def test_what_both_branches_need_may_fail():
    part = x[n]
    fn = function([x, s, n], ifelse(pt.gt(s, 0), part, part * 2))
    ours = frozen(fn)
    compare(ours(np.arange(3.0), np.array(0.0), np.array(2)), np.array(4.0))
    with pytest.raises(precast.CallIndexError):
        ours(np.arange(3.0), np.array(0.0), np.array(3))
