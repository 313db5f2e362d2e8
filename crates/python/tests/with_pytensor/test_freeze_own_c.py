"""Scalar functions that the library lacks, compiled from their own C, match that C without PyTensor's headers."""

import numpy as np
import precast
import pytest
from frozen import compare, frozen, function

pytensor = pytest.importorskip("pytensor")
import pytensor.scalar as ps  # noqa: E402
import pytensor.tensor as pt  # noqa: E402
from pytensor.tensor.elemwise import Elemwise  # noqa: E402

X = np.array([[0.1, 0.5, 0.9], [1.5, 2.5, 0.3]])
V = np.array([0.2, 1.1, 2.0])

m, v = pt.dmatrix("m"), pt.dvector("v")


def test_special_functions_need_no_python():
    special = pytest.importorskip("scipy.special")
    x = np.array([[0.1, 0.5, 0.9], [0.25, 0.75, 0.3]])
    names = ["erfinv", "erfcinv", "erfcx", "i0", "i1", "j0", "j1", "gamma"]
    fn = function([m], [getattr(pt, name)(m) for name in names])
    for policy in ("jit", "interpret"):
        for name, found in zip(names, frozen(fn, policy=policy)(x), strict=True):
            np.testing.assert_allclose(found, getattr(special, name)(x), rtol=1e-14, err_msg=name)


@pytest.mark.parametrize("policy", ["interpret", "jit"])
def test_special_functions_of_several_operands_need_no_python(policy):
    gradient = pytensor.grad(pt.hyp2f1(0.5, 1.0, 1.5, -v).sum(), v)
    outputs = [pt.jv(1.5, v + 2), pt.jv(-2.0, v), pt.kve(1.5, v) * 2 + pt.ive(1.5, v), pt.hyp2f1(0.5, 1.0, 1.5, v / 3), gradient]
    fn = function([v], outputs)
    compare(frozen(fn, policy=policy)(V), fn(V), near=1e-14)


#: Values of mpmath for which PyTensor's own C gives other results.
TAILS = [
    (lambda: pt.gammaincc(v + 1e6 + 1, 1e6), 0.0, 0.5002659614862837),
    (lambda: pt.gammainc(v, 1.0), 0.0, 1.0),
    (lambda: pt.tri_gamma(v), -0.5, 8.934802200544679),
    (lambda: pt.betainc(1e6, 1e6, v), 0.5, 0.5),
]


@pytest.mark.parametrize("made, given, wanted", TAILS)
def test_distribution_tails_use_library_functions(made, given, wanted):
    fn = function([v], made())
    for policy in ("jit", "interpret"):
        np.testing.assert_allclose(frozen(fn, policy=policy)(np.array([given])), [wanted], rtol=1e-14)


class Cubed(ps.UnaryScalarOp):
    """A user-defined op."""

    def impl(self, x):
        return x * x * x

    def c_support_code(self, **_):
        return "static double cubed(double x) { return x * x * x; }"

    def c_code(self, node, name, inputs, outputs, sub):
        if node.inputs[0].type not in ps.float_types:
            raise NotImplementedError
        return f"{outputs[0]} = cubed({inputs[0]});"


Cubed.__module__ = "somebody"
cubed = Elemwise(Cubed(ps.basic.upgrade_to_float, name="cubed"))


def test_foreign_op_compiles_for_any_rank():
    s, n = pt.dscalar("s"), pt.lvector("n")
    fn = function([m, v, s], [cubed(m) + v, cubed(v[:0]), cubed(s), cubed(m.T)[::-1]])
    given = X, V, 2.5
    compare(frozen(fn, policy="jit")(*given), fn(*given))
    compare(frozen(fn)(*given), fn(*given))
    with pytest.raises(precast.FreezeError, match="the op has no C for int64"):
        frozen(function([n], cubed(n)))


def test_bundle_contains_the_foreign_op(tmp_path):
    fn = function([m, v], cubed(m) * v)
    precast.pytensor.freeze(fn, tmp_path / "cubed.precast", isa="x86-64-v2")
    compare(precast.load(tmp_path / "cubed.precast").function(X, V), fn(X, V))


def test_fused_functions_are_lowered_one_by_one():
    x = ps.float64("x")
    op = Elemwise(ps.Composite([x], [ps.exp(cubed.scalar_op(x)) + 1]))
    fn = function([m], op(m))
    compare(frozen(fn, policy="jit")(X), fn(X))


@pytest.mark.parametrize("policy", ["interpret", "jit"])
def test_gradients_that_are_loops_of_numbers_are_lowered(policy):
    k, point = pt.dvectors("k", "point")
    outputs = [pytensor.grad(function_of(k, point).sum(), k) for function_of in (pt.gammainc, pt.gammaincc)]
    fn = function([k, point], outputs, "fast_run")
    given = [np.array([2.0, 0.5]), np.array([2.5, 0.1])]
    made = frozen(fn, policy=policy)(*given)
    assert abs(made[0][0] + 0.24878307) < 1e-8
    # The C of digamma in loops of PyTensor 3.0 is less accurate than its reference.
    assert np.allclose(made, fn(*given), rtol=1e-9, atol=0)
