"""The mode `PRECAST`: functions of PyTensor that graphs of precast compute, and what PyTensor computes beside them."""

import numpy as np
import precast
import pytest
from frozen import compare

pytensor = pytest.importorskip("pytensor")
import pytensor.tensor as pt  # noqa: E402
from pytensor.compile.mode import Mode  # noqa: E402
from pytensor.gradient import grad  # noqa: E402

try:
    from pytensor.conditional.op import ifelse
except ImportError:
    from pytensor.ifelse import ifelse

SCAN = {"return_updates": False} if "return_updates" in __import__("inspect").signature(pytensor.scan).parameters else {}


def mode(**settings):
    from precast.pytensor import mode

    return mode(**{"policy": "interpret", **settings})


def told(fn):
    from precast.pytensor import report

    return report(fn)


def both(inputs, outputs, *arguments, **settings):
    """Compares the results of a function in mode `PRECAST` with PyTensor's reference, and returns the function."""
    fn = pytensor.function(inputs, outputs, mode=mode(), on_unused_input="ignore", **settings)
    reference = pytensor.function(inputs, outputs, mode=Mode(linker="py", optimizer=None), on_unused_input="ignore", **settings)
    compare(tuple(fn(*arguments)), reference(*arguments), arguments, near=1e-12)
    return fn


def test_whole_functions_are_one_graph():
    M, w, y = pt.dmatrix("M"), pt.dvector("w"), pt.dvector("y")
    z = M @ w
    loss = (pt.softplus(z) - y * z).mean() + 0.1 * (w**2).sum()
    r = np.random.default_rng(0)
    fn = both([M, w, y], [loss, grad(loss, w)], r.normal(size=(30, 4)), r.normal(size=4), np.ones(30))
    assert told(fn).startswith("32 of 32 ops in 1 graph") or " in 1 graph of precast" in told(fn)


def test_other_ops_divide_the_function():
    M, w = pt.dmatrix("M"), pt.dvector("w")
    values = pt.diagonal(pt.linalg.qr(M * 2, mode="raw")[2])
    fn = both([M, w], [pt.sort(w)[::-1] + 1, pt.exp(values) + w], np.diag([1.0, 2.0, 3.0]), np.arange(3.0))
    lines = told(fn).splitlines()
    assert " in 2 graphs of precast" in lines[0] and "QR" in lines[1]


def test_updates_and_shared_variables():
    total, rate = pytensor.shared(np.zeros(3), name="total"), pytensor.shared(2.0, name="rate")
    x = pt.dvector("x")
    fn = pytensor.function([x], total.sum(), updates={total: total + rate * x}, mode=mode())
    assert [float(fn(np.ones(3))) for _ in range(3)] == [0, 6, 12]
    assert total.get_value().tolist() == [6, 6, 6]
    rate.set_value(0.0)
    fn(np.ones(3))
    assert total.get_value().tolist() == [6, 6, 6]
    nothing = pytensor.function([], [], updates={total: total * 0}, mode=mode())
    assert not nothing() and total.get_value().tolist() == [0, 0, 0]


@pytest.mark.filterwarnings("ignore:RandomVariable Ops")
def test_generators_draw_as_in_pytensor():
    def drawn(mode):
        rng = pytensor.shared(np.random.default_rng(3))
        following, x = pt.random.normal(1, 2, size=(4,), rng=rng).owner.outputs
        fn = pytensor.function([], [pt.exp(x), x + 1], updates={rng: following}, mode=mode)
        return [value for _ in range(2) for value in fn()]

    compare(tuple(drawn(mode())), drawn(Mode(linker="py", optimizer=None)))


def test_results_and_inputs_do_not_share_memory():
    x = pt.dvector("x")
    fn = pytensor.function([x], [x, x + 0, x, x[1:]], mode=mode())
    given = np.arange(3.0)
    results = fn(given)
    assert all(not np.shares_memory(given, result) for result in results)
    again = fn(given)
    assert not any(np.shares_memory(one, two) for one in results for two in again)


def test_loops_and_branches():
    x, n = pt.dvector("x"), pt.lscalar("n")
    steps = pytensor.scan(lambda total, x: total * 0.5 + x.sum(), outputs_info=[pt.zeros(())], non_sequences=[x], n_steps=n, **SCAN)
    steps = steps if SCAN else steps[0]
    both([x, n], [steps, ifelse(pt.gt(n, 2), x * 2, x - 1)], np.ones(3), 4)


def test_givens_names_and_copies():
    x, y = pt.dvector("x"), pt.dscalar("y")
    fn = pytensor.function([x, y], x * y, mode=mode())
    assert fn(np.ones(2), 3.0).tolist() == [3, 3] and fn(np.ones(2), y=2).tolist() == [2, 2]
    given = pytensor.function([x], x.sum() * y, givens={y: x[0]}, mode=mode())
    assert float(given(np.full(2, 2.0))) == 8
    assert fn.copy()(np.ones(2), 3.0).tolist() == [3, 3]


def test_errors_keep_their_class():
    x = pt.dvector("x")
    fn = pytensor.function([x], pt.specify_shape(x, (3,)) * 2, mode=mode())
    with pytest.raises(AssertionError):
        fn(np.zeros(4))
    index = pytensor.function([x], x[5], mode=mode())
    with pytest.raises(IndexError):
        index(np.zeros(2))


def test_layers_serve_functions_without_a_compiler(world):
    code = """
import numpy as np, pytensor, pytensor.tensor as pt, precast
from precast.pytensor import mode
x = pt.dvector("x")
made = lambda **settings: pytensor.function([x], pt.exp(x) * 2, mode=mode(**settings))(np.zeros(2)).tolist()
"""
    with pytest.raises(AssertionError, match="MissError"):
        world.run("-c", code + 'made(policy="strict")', PRECAST_PYTENSOR="0")
    assert world.run("-c", code + 'print(made(policy="jit", store="store"))', PRECAST_PYTENSOR="0") == "[2.0, 2.0]\n"
    served = world.run("-c", code + 'print(made(policy="strict", layers=["store"]))', PRECAST_PYTENSOR="0", compiler=False)
    assert served == "[2.0, 2.0]\n"
    named = {"PRECAST_PYTENSOR": "0", "PRECAST_BUNDLE": str(world.path("store")), "PRECAST_POLICY": "strict"}
    assert world.run("-c", code + "print(made())", compiler=False, **named) == "[2.0, 2.0]\n"


def test_a_report_needs_the_mode():
    x = pt.dvector("x")
    with pytest.raises(precast.GraphTypeError, match="PRECAST"):
        told(pytensor.function([x], x + 1))
    from pytensor.compile.mode import predefined_modes

    assert "PRECAST" in predefined_modes


class Overwrites(pytensor.graph.op.Op):
    """Adds 1000 to its input in place."""

    __props__ = ()
    destroy_map = {0: [0]}

    def make_node(self, x):
        return pytensor.graph.basic.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, outputs):
        inputs[0] += 1000
        outputs[0][0] = inputs[0]


class Doubles(pytensor.graph.op.Op):
    """An op that PyTensor computes."""

    __props__ = ()

    def make_node(self, x):
        return pytensor.graph.basic.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, outputs):
        outputs[0][0] = inputs[0] * 2


def test_ops_that_overwrite_an_input_run_after_its_readers():
    def called(mode):
        a = pytensor.shared(np.arange(4.0))
        late = Doubles()(Doubles()(a + 1) + 1) * a
        fn = pytensor.function([], late, updates={a: Overwrites()(a)}, mode=mode, accept_inplace=True)
        return [fn(), fn(), a.get_value()]

    compare(tuple(called(mode())), called(Mode(linker="py", optimizer=None)))


def test_ops_in_place_overwrite_inputs():
    from pytensor.scalar import add
    from pytensor.tensor.elemwise import Elemwise

    x, y = pt.dvectors("x", "y")
    fn = pytensor.function([x, y], pt.exp(Elemwise(add, inplace_pattern={0: 0})(x, y)), mode=mode(), accept_inplace=True)
    taken = np.ones(3)
    compare((fn(taken, np.arange(3.0)),), (np.exp(1 + np.arange(3.0)),))
    assert taken.tolist() == [1, 2, 3]
    assert "it overwrites an input of the function" in told(fn)


def test_scalars_are_numbers():
    x = pt.bscalar("x")
    (value,) = pytensor.function([x], [pt.scalar_from_tensor(x) * 2], mode=mode())(3)
    assert isinstance(value, np.integer) and value == 6


def test_wrong_extents_and_positions_raise_as_in_pytensor():
    x, y, at = pt.dvector("x"), pt.dvector("y"), pt.lvector("at")
    with pytest.raises(ValueError, match="extents differ"):
        pytensor.function([x, y], x + y, mode=mode())(np.ones(3), np.ones(4))
    with pytest.raises(IndexError, match="out of bounds"):
        pytensor.function([x, at], x[at], mode=mode())(np.ones(3), np.array([3]))
