"""Unrolled Scans match PyTensor's loop, with and without its rewrites."""

import numpy as np
import precast
import pytest
from frozen import compare, frozen, function

pytensor = pytest.importorskip("pytensor")
import pytensor.tensor as pt  # noqa: E402
from pytensor.gradient import grad  # noqa: E402
from pytensor.scan.utils import until  # noqa: E402

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
    try:
        ours = frozen(fn)
    except precast.FreezeError as refused:
        # Without rewrites the lengths of the buffers are unknown.
        assert rewrites is None and "known only at run time" in str(refused), refused
        pytest.skip("the graph does not contain the lengths of the buffers")
    compare(ours(*given), fn(*given))


@pytest.mark.parametrize("rewrites", [None, "fast_run"])
def test_loop_length_may_come_from_shared_constants(rewrites):
    data = pytensor.shared(np.arange(10.0))
    both = scan(lambda x, y, total: total * s + x * y, sequences=[data[2:], data[:-1]], outputs_info=pt.zeros(()))
    fn = function([s], [both, scan(lambda row: row.sum(), sequences=pytensor.shared(np.ones((3, 2))) * s)], rewrites)
    compare(frozen(fn)(np.array(0.5)), fn(np.array(0.5)))
    with pytest.raises(precast.FreezeError, match="known only at run time"):
        frozen(fn, state=[data])


@pytest.mark.parametrize("rewrites", [None, "fast_run"])
def test_a_loop_may_have_no_steps(rewrites):
    collected = scan(lambda a, b: a.sum() * b, sequences=pt.zeros((0, 2)), non_sequences=v)
    fn = function([v], [scan(lambda x: x * 2, outputs_info=v, n_steps=0), collected], rewrites)
    # PyTensor's reference does not infer the shape of collected results.
    for made in frozen(fn)(np.ones(3)):
        assert made.shape == (0, 3) and made.dtype == np.float64


def test_loops_of_unknown_length_are_rejected():
    fn = function([v], scan(lambda x, total: total + x, sequences=v, outputs_info=pt.zeros(())))
    with pytest.raises(precast.FreezeError, match="known only at run time"):
        frozen(fn)
    ended = scan(lambda x: (x * 2, until(x > 100)), outputs_info=pt.ones(()), n_steps=50)
    with pytest.raises(precast.FreezeError, match="known only at run time"):
        frozen(function([], ended))
    with pytest.raises(precast.FreezeError, match="too many to unroll"):
        frozen(function([s], scan(lambda x: x * s, outputs_info=pt.ones(()), n_steps=1000), "fast_run"))
