"""Scans match PyTensor's loop, with and without its rewrites."""

import numpy as np
import precast.pytensor
import pytest
from frozen import compare, frozen, function

pytensor = pytest.importorskip("pytensor")
import pytensor.tensor as pt  # noqa: E402
from pytensor.gradient import grad  # noqa: E402
from pytensor.scan.utils import until  # noqa: E402
from test_freeze_own_c import cubed  # noqa: E402

s, v = pt.dscalar("s"), pt.dvector("v")
known, table = pt.tensor("known", shape=(6,), dtype="float64"), pt.tensor("table", shape=(4, 3), dtype="float64")
V, K, T = np.array([0.5, -1.0]), np.linspace(-1, 1, 6), np.linspace(0, 1, 12).reshape(4, 3)


def scan(*args, **settings):
    made = pytensor.scan(*args, **settings, return_updates=False) if NEW else pytensor.scan(*args, **settings)[0]
    return made


NEW = "return_updates" in __import__("inspect").signature(pytensor.scan).parameters

#: Inputs, outputs, arguments.
CASES = {
    "powers": lambda: ([s], scan(lambda x, a: x * a, outputs_info=pt.ones(()), non_sequences=s, n_steps=5), [np.array(1.5)]),
    "the last one": lambda: ([s], scan(lambda x, a: x * a + 1, outputs_info=pt.ones(()), non_sequences=s, n_steps=7)[-1], [np.array(1.5)]),
    "vectors": lambda: ([v], scan(lambda x: pt.tanh(x) + 1, outputs_info=v, n_steps=4), [V]),
    "a sequence": lambda: ([known], scan(lambda x, total: total + x**2, sequences=known, outputs_info=pt.zeros(())), [K]),
    "rows": lambda: ([table], scan(lambda row, x: x * 0.5 + row, sequences=table, outputs_info=pt.zeros(3)), [T]),
    "no state": lambda: ([table], scan(lambda row: row.sum() * row, sequences=table), [T]),
    "two taps": lambda: (
        [s],
        scan(lambda a, b: a + b * s, outputs_info=dict(initial=pt.stack([s, s + 1]), taps=[-2, -1]), n_steps=6),
        [np.array(0.5)],
    ),
    "taps of a sequence": lambda: ([known], scan(lambda a, b: b - a, sequences=dict(input=known, taps=[0, 1])), [K]),
    "several": lambda: (
        [s, v],
        scan(lambda x, y: [x + y.sum(), y * x, x - 1], outputs_info=[s, v, None], n_steps=3),
        [np.array(0.5), V],
    ),
    "backwards": lambda: ([known], scan(lambda x, total: total * x + 1, sequences=known, outputs_info=pt.ones(()), go_backwards=True), [K]),
    "a gradient": lambda: (
        [s, v],
        grad(scan(lambda x: pt.sin(x) * s, outputs_info=v, n_steps=4)[-1].sum(), [s, v]),
        [np.array(0.5), V],
    ),
    "a gradient of a sum over a sequence": lambda: (
        [known, s],
        grad(scan(lambda x, total: total * s + x**2, sequences=known, outputs_info=pt.zeros(()))[-1], [known, s]),
        [K, np.array(0.5)],
    ),
}


@pytest.mark.parametrize("rewrites", [None, "fast_run"])
@pytest.mark.parametrize("name", CASES)
def test_loops_match_pytensor(name, rewrites):
    inputs, outputs, given = CASES[name]()
    fn = function(inputs, outputs, rewrites)
    assert is_loop(fn)
    compare(frozen(fn)(*given), fn(*given))


def is_loop(fn):
    """Returns whether the frozen graph has as many loops as PyTensor's."""
    frozen_ = precast.pytensor.freeze(fn)
    scans = sum(type(node.op).__name__ == "Scan" for node in fn.maker.fgraph.apply_nodes)
    return str(frozen_.graph).count("= scan{body=") >= scans


n, w, m = pt.lscalar("n"), pt.dvector("w"), pt.dmatrix("m")

#: Scans whose number of steps is an input, and the arguments of several calls.
UNKNOWN = {
    "a running sum": lambda: ([w], scan(lambda x, total: total + x, sequences=w, outputs_info=pt.zeros(())), [[K], [K[:1]]]),
    "the last sum": lambda: ([w], scan(lambda x, total: total + x, sequences=w, outputs_info=pt.zeros(()))[-1], [[K], [K[:1]]]),
    "autoregression": lambda: (
        [w, v],
        scan(lambda e, a, b: 0.5 * a - 0.25 * b + e, sequences=w, outputs_info=dict(initial=v, taps=[-1, -2])),
        [[K, V], [K[:1], V]],
    ),
    "the last of an autoregression": lambda: (
        [n, v],
        scan(lambda a, b: 0.5 * a - 0.25 * b, outputs_info=dict(initial=v, taps=[-1, -2]), n_steps=n)[-1],
        [[np.array(5), V], [np.array(1), V]],
    ),
    "several": lambda: (
        [n, s, v],
        scan(lambda x, y: [x + y.sum(), y * x, x - 1], outputs_info=[s, v, None], n_steps=n),
        [[np.array(3), np.array(0.5), V], [np.array(1), np.array(0.5), V]],
    ),
    "backwards": lambda: (
        [w],
        scan(lambda x, total: total * x + 1, sequences=w, outputs_info=pt.ones(()), go_backwards=True),
        [[K], [K[:2]]],
    ),
    "backwards over taps": lambda: (
        [w],
        scan(lambda a, b, c: c + a * b, sequences=dict(input=w, taps=[0, 2]), outputs_info=pt.ones(()), go_backwards=True),
        [[K], [K[:3]]],
    ),
    "collected rows": lambda: ([m], scan(lambda row: row * row.sum(), sequences=m), [[T], [T[:1]]]),
    "nested": lambda: (
        [m, s],
        scan(
            lambda row, total: total * 0.5 + scan(lambda x, c: c * s + x, sequences=row, outputs_info=total)[-1],
            sequences=m,
            outputs_info=pt.zeros(()),
        ),
        [[T, np.array(0.5)], [T[:1, :2], np.array(0.5)]],
    ),
    "until": lambda: (
        [n, s],
        scan(lambda x: (x * s, until(x > 20)), outputs_info=pt.ones(()), n_steps=n),
        [[np.array(50), np.array(2.0)], [np.array(3), np.array(2.0)], [np.array(1), np.array(2.0)]],
    ),
    "the last of until": lambda: (
        [n, s],
        scan(lambda x: (x * s, until(x > 20)), outputs_info=pt.ones(()), n_steps=n)[-1],
        [[np.array(50), np.array(2.0)], [np.array(3), np.array(2.0)]],
    ),
    "until, collected": lambda: (
        [m, s],
        scan(lambda row, a: ([row.sum() + a, row * a], until(a > s)), sequences=m, outputs_info=[pt.zeros(()), None]),
        [[T, np.array(1.0)], [T, np.array(99.0)]],
    ),
    "a gradient": lambda: (
        [w, s],
        grad(scan(lambda x, total: pt.sin(total) * s + x**2, sequences=w, outputs_info=s)[-1], [w, s]),
        [[K, np.array(0.5)], [K[:1], np.array(0.5)]],
    ),
    "a gradient of all results": lambda: (
        [w, v],
        grad((scan(lambda e, a, b: a * b + e, sequences=w, outputs_info=dict(initial=v, taps=[-1, -2])) ** 2).sum(), [w, v]),
        [[K, V], [K[:1], V]],
    ),
    "a gradient by a matrix": lambda: (
        [m, w],
        grad(scan(lambda x: pt.tanh(m @ x), outputs_info=w, n_steps=3)[-1].sum(), [m, w]),
        [[np.eye(2) / 2 + 0.25, V]],
    ),
    "a gradient of until": lambda: (
        [s],
        grad(scan(lambda x: (x * s, until(x > 20)), outputs_info=pt.ones(()), n_steps=50)[-1], [s]),
        [[np.array(2.0)]],
    ),
}


@pytest.mark.parametrize("policy", ["interpret", "jit"])
@pytest.mark.parametrize("rewrites", [None, "fast_run"])
@pytest.mark.parametrize("name", UNKNOWN)
def test_number_of_steps_may_be_unknown(name, rewrites, policy):
    inputs, outputs, calls = UNKNOWN[name]()
    fn = function(inputs, outputs, rewrites)
    assert is_loop(fn)
    ours = frozen(fn, policy=policy)
    for given in calls:
        compare(ours(*given), fn(*given), near=1e-13)


@pytest.mark.parametrize("rewrites", [None, "fast_run"])
def test_loop_length_may_come_from_shared_constants(rewrites):
    data = pytensor.shared(np.arange(10.0))
    both = scan(lambda x, y, total: total * s + x * y, sequences=[data[2:], data[:-1]], outputs_info=pt.zeros(()))
    fn = function([s], [both, scan(lambda row: row.sum(), sequences=pytensor.shared(np.ones((3, 2))) * s)], rewrites)
    compare(frozen(fn)(np.array(0.5)), fn(np.array(0.5)))
    with_state = frozen(fn, state=[data])
    compare(with_state(np.array(0.5)), fn(np.array(0.5)))


@pytest.mark.parametrize("rewrites", [None, "fast_run"])
def test_a_loop_may_have_no_steps(rewrites):
    collected = scan(lambda a, b: a.sum() * b, sequences=pt.zeros((0, 2)), non_sequences=v)
    fn = function([v], [scan(lambda x: x * 2, outputs_info=v, n_steps=0), collected], rewrites)
    # PyTensor's reference does not infer the shape of collected results.
    for made in frozen(fn)(np.ones(3)):
        assert made.shape == (0, 3) and made.dtype == np.float64


@pytest.mark.parametrize("policy", ["interpret", "jit"])
def test_the_last_of_no_collected_results_is_an_error(policy):
    fn = function([w, s], scan(lambda x: (x + 1, until(x > s)), sequences=w)[-1], "fast_run")
    ours = frozen(fn, policy=policy)
    compare(ours(K, np.array(0.0)), fn(K, np.array(0.0)))
    for each in (fn, ours):
        with pytest.raises(IndexError):
            each(np.zeros(0), np.array(0.0))


def test_long_loops_are_not_unrolled():
    fn = function([s], scan(lambda x: x * s + 1, outputs_info=pt.ones(()), n_steps=1000), "fast_run")
    compare(frozen(fn)(np.array(0.5)), fn(np.array(0.5)))


def test_python_steps_are_unrolled():
    step = lambda x: pt.real(pt.linalg.eig(0.1 * x)[0]) * x * 0.5  # noqa: E731
    fn = function([m], scan(step, outputs_info=m, n_steps=3)[-1], "fast_run")
    compare(frozen(fn, python=True)(np.eye(2) + 1), fn(np.eye(2) + 1), near=1e-13)
    fn = function([m, n], scan(step, outputs_info=m, n_steps=n)[-1])
    with pytest.raises(precast.FreezeError, match="Python computes `eig` in its steps, and the number of steps is known only at run time"):
        frozen(fn, python=True)
    fn = function([m], scan(lambda x: pt.linalg.qr(x, mode="raw")[2], outputs_info=m, n_steps=3)[-1])
    with pytest.raises(precast.FreezeError, match="QR.*: precast has no"):
        frozen(fn)


@pytest.mark.parametrize("policy", ["interpret", "jit"])
def test_steps_with_cxx_are_unrolled(policy):
    step = lambda x: cubed(x) + x  # noqa: E731
    fn = function([s], scan(step, outputs_info=s, n_steps=3))
    assert not is_loop(fn)
    compare(frozen(fn, policy=policy)(np.array(0.5)), fn(np.array(0.5)), near=1e-13)
    with pytest.raises(precast.FreezeError, match="is C.., which loops cannot contain, and the number of steps is known only at run time"):
        frozen(function([s, n], scan(step, outputs_info=s, n_steps=n)))


def test_steps_that_fail_raise():
    fn = function([w, v], scan(lambda i, total: total + v[pt.cast(i, "int64")], sequences=w, outputs_info=pt.zeros(())))
    for policy in ("interpret", "jit"):
        ours = frozen(fn, policy=policy)
        compare(ours(np.array([0.0, 1.0, 0.0]), V), fn(np.array([0.0, 1.0, 0.0]), V))
        with pytest.raises(precast.CallIndexError, match="step 1"):
            ours(np.array([0.0, 2.0]), V)


def test_frozen_loops_are_saved(tmp_path):
    inputs, outputs, calls = UNKNOWN["autoregression"]()
    fn = function(inputs, outputs, "fast_run")
    precast.pytensor.freeze(fn, tmp_path / "loop.precast", name="loop", isa="x86-64-v2")
    compare(precast.load(tmp_path / "loop.precast").loop(*calls[0]), fn(*calls[0]))
