"""Each array op that `freeze` lowers matches PyTensor's reference."""

import numpy as np
import precast
import pytest
from frozen import compare, frozen, function

pytensor = pytest.importorskip("pytensor")
import pytensor.tensor as pt  # noqa: E402
from pytensor.tensor.elemwise import Elemwise  # noqa: E402

RNG = np.random.default_rng(7)
M = RNG.normal(size=(3, 4))
V = RNG.normal(size=4)
T = RNG.normal(size=(2, 3, 4))
EMPTY = np.zeros((0, 4))
SPECIAL = np.array([[1.0, np.nan, -0.0], [np.inf, -np.inf, 2.0]])
INTS = np.array([[3, -1, 2], [7, 0, -128]], "int8")

m, v, t = pt.dmatrix("m"), pt.dvector("v"), pt.dtensor3("t")
i, n = pt.lscalar("i"), pt.lscalar("n")
at = pt.lvector("at")
b = pt.matrix("b", dtype="int8")
mask = pt.vector("mask", dtype="bool")
s = pt.dscalar("s")


def each(*values):
    return [list(value) for value in values]


#: Names, inputs, outputs, and arguments.
CASES = {
    "sums": lambda: ([m], [m.sum(), m.sum(0), m.sum(1), m.prod(), m.mean(0), m.sum(axis=())], each([M], [EMPTY], [M[:, ::-2]])),
    "sums of what is no number": lambda: ([m], [m.sum(1), m.prod(0), m.max(), m.min(1)], each([SPECIAL])),
    "extremes": lambda: ([m], [m.max(), m.max(0), m.min(1), m.argmax(), m.argmax(0), m.argmin(1)], each([M], [SPECIAL])),
    "extremes of nothing": lambda: ([m], [m.max(0)], each([EMPTY.T])),
    "all and any": lambda: ([m], [(m > 0).all(), (m > 0).any(0), (m > 9).all(1)], each([M], [EMPTY])),
    "reductions of integers": lambda: ([b], [b.sum(), b.prod(0), b.max(1), b.min(), b.sum(dtype="int8"), b.sum(acc_dtype="int32"), b.mean()], each([INTS])),
    "reductions in other dtypes": lambda: (
        [pt.fmatrix("f")],
        lambda f: [f.sum(), f.sum(0, dtype="float64"), f.sum(acc_dtype="float32"), f.prod(1, dtype="float64"), f.mean()],
        each([M.astype("f4")]),
    ),
    "products without zeros": lambda: ([m], [pt.prod(m, no_zeros_in_input=False), pt.math.ProdWithoutZeros(axis=(1,))(m)], each([np.array([[0.0, 2, 3], [4, 5, 0]])])),
    "argmax of several axes": lambda: ([t], [pt.argmax(t, axis=(0, 2)), pt.argmax(t, axis=(0, 1, 2))], each([T])),
    "shuffles": lambda: ([t], [t.transpose(2, 0, 1), t.dimshuffle(1, "x", 0, 2, "x"), t[:1].dimshuffle(0, 2, 1)], each([T], [T[:, ::2]])),
    "shapes": lambda: ([t], [t.shape, t.shape[1], t.shape[0] * t.shape[-1], t.size, t.shape[1:].prod()], each([T])),
    "reshapes": lambda: ([t], [t.reshape((3, -1)), t.flatten(), t.flatten(2), t.reshape((t.shape[2], t.shape[0] * t.shape[1]))], each([T])),
    "parts": lambda: ([m, i], [m[i], m[i, 1:], m[:, i], m[::-1, ::2], m[i:, :-1], m[-1], m[1:i:1], m[::i]], each([M, 1], [M, 2])),
    "parts with negative numbers": lambda: ([m, i], [m[i], m[i:], m[:i], m[::i]], each([M, -1], [M, -2])),
    "positions": lambda: ([m, at], [m[at], m[:, at], m[at][:, at], m[at, at]], each([M, [0, -1, 1]], [M, []])),
    "matrices of positions": lambda: ([m, pt.lmatrix("p")], lambda m, p: [m[p], m[:, p]], each([M, [[0, 1], [-1, 2]]])),
    "several arrays of positions": lambda: (
        [t, pt.lmatrix("p"), at, i],
        lambda t, p, at, i: [t[p, p], t[:, p, at[:2]], t[p, at[:2][:, None]], t[:, at[:2], i], t[i, at], t[p[:, :1], p[:1]]],
        each([T, [[0, 1], [-1, 0]], [0, -1], 1]),
    ),
    "arrays of positions with slices between and beside": lambda: (
        [t, pt.lmatrix("p"), at, i],
        lambda t, p, at, i: [
            t[at, :, at], t[at, at, 1:], t[:1, at, at], t[p, ::-1, at[0:1]], t[:, at, None, at], t[i, :, at], t[at, i:, i],
            pytensor.grad((t[at, :, at] ** 2).sum(), t),
        ],
        each([T, [[0, 1], [-1, 0]], [0, -1], 1]),
    ),
    "writing to arrays of positions with slices between and beside": lambda: (
        [t, pt.lmatrix("p"), at, i],
        lambda t, p, at, i: [
            pt.inc_subtensor(t[at, :, at], 1.0),
            pt.inc_subtensor(t[at * 0, :, at * 0], t[0, :1, :2].T),
            pt.set_subtensor(t[at, at, 1:], t[0, 0, 1:]),
            pt.set_subtensor(t[:1, p, at], 7.0),
            pt.inc_subtensor(t[i, :, at], 1.0),
        ],
        each([T, [[0, 1], [-1, 0]], [0, -1], 1]),
    ),
    "writing to several arrays of positions": lambda: (
        [t, pt.lmatrix("p"), at, i, v],
        lambda t, p, at, i, v: [
            pt.inc_subtensor(t[p, p], v),
            pt.set_subtensor(t[:, p, at[:2]], 2.0),
            pt.inc_subtensor(t[:, at[:2], i], 1.5),
            pt.inc_subtensor(t[p[:, :1], p[:1]], t[:1, :2]),
            pt.inc_subtensor(t[:, p], v),
            pt.set_subtensor(t[p], v),
        ],
        each([T, [[0, 1], [-1, 0]], [0, -1], 1, V]),
    ),
    "masks": lambda: ([m, mask], [m[mask], m[mask].sum(), mask.nonzero()[0]], each([M, [True, False, True]], [M, [False] * 3])),
    "setting parts": lambda: ([m, v, i], [pt.set_subtensor(m[i], v), pt.set_subtensor(m[:, 1:], 5.0), pt.set_subtensor(m[::2, i], s)], None),
    "adding to parts": lambda: ([m, v, i], [pt.inc_subtensor(m[i], v), pt.inc_subtensor(m[1:], v), pt.inc_subtensor(m[:, ::-1], 1)], each([M, V, 1], [M, V, -1])),
    "writing to positions": lambda: (
        [m, v, at],
        [pt.inc_subtensor(m[at], v), pt.set_subtensor(m[:, at], 2.0), pt.inc_subtensor(v[at], 1.5), pt.inc_subtensor(m[at, at], 1.0)],
        each([M, V, [0, 1, 1]], [M, V, [-1, 0, 2]]),
    ),
    "writing smaller dtypes": lambda: ([m, pt.vector("w", dtype="int8")], lambda m, w: [pt.inc_subtensor(m[0], w), pt.set_subtensor(m[:, 0], w[:3])], each([M, [1, 2, 3, 4]])),
    "joins": lambda: ([m, v], [pt.join(0, m, m * 2), pt.join(1, m, m), pt.stack([v, v + 1]), pt.stack([v, v], axis=1), pt.concatenate([v, [1, 2]])], each([M, V])),
    "joins of dtypes": lambda: ([v, pt.vector("w", dtype="int8")], lambda v, w: [pt.join(0, v, w), pt.join(0, w, w)], each([V, [1, 2]])),
    "splits": lambda: ([v, at], lambda v, at: pt.split(v, at, n_splits=2, axis=0), each([V, [1, 3]], [V, [4, 0]])),
    "splits of rows": lambda: ([m], [pt.split(m, [1, 3], n_splits=2, axis=1)[1], pt.split(m, [1, 1, 1], n_splits=3, axis=0)[2]], each([M])),
    "allocations": lambda: ([s, v, n], [pt.alloc(s, n, 2), pt.alloc(v, n, v.shape[0]), pt.zeros((n,)), pt.ones((2, n), dtype="int32"), pt.alloc(0.0)], each([2.5, V, 3], [-0.0, V, 0])),
    "vectors of numbers": lambda: ([s, i], [pt.stack([s, i]), pt.stack([i, i + 1]), pt.as_tensor([s, 2, i * s])], each([2.5, 3])),
    "ranges of floats": lambda: ([i, n], [pt.arange(i, n, 3, dtype="float32"), pt.arange(n, dtype="float64")], each([2, 20], [0, 0])),
    "blocks on a diagonal": lambda: ([m, b], [pt.linalg.block_diag(m, 2 * m[1:], b), pt.linalg.block_diag(m, np.zeros((0, 0)))], each([M, INTS], [EMPTY, INTS])),
    "ranges": lambda: ([i, n], [pt.arange(n), pt.arange(i, n), pt.arange(n, i, -2), pt.arange(0.0, 2.0, 0.3)], each([2, 7], [7, 2])),
    "eyes": lambda: ([n], [pt.eye(n), pt.eye(n, 4, 1), pt.eye(3, n, -1, dtype="int8"), pt.tri(n, 3)], each([3], [0])),
    "diagonals": lambda: ([m, v], [pt.diag(m), pt.diag(v), pt.diagonal(m, offset=1), pt.trace(m)], each([M, V])),
    "running sums": lambda: ([m], [pt.cumsum(m), pt.cumsum(m, axis=0), pt.cumprod(m, axis=1)], each([M], [SPECIAL], [EMPTY])),
    "sorted": lambda: ([m], [pt.sort(m), pt.sort(m, axis=0), pt.argsort(m, axis=1), pt.sort(m, axis=None)], each([M])),
    "searched": lambda: ([v, s], [pt.searchsorted(pt.sort(v), s), pt.searchsorted(pt.sort(v), v, side="right")], each([V, 0.1])),
    "repeats": lambda: ([m], [pt.repeat(m, 2, axis=0), pt.repeat(m, 3), pt.tile(m, (2, 1))], each([M])),
    "what differs": lambda: ([v], [pt.unique(v)], each([[2.0, 1.0, 2.0, -1.0]])),
    "products": lambda: ([m, v], [m @ v, m.T @ m, v @ v, pt.dot(v, m.T), pt.outer(v, v), m.dot(v[:, None])], each([M, V])),
    "products of nothing": lambda: ([m, v], [m @ v, m.T @ m], each([EMPTY, V])),
    "products of dtypes": lambda: ([m, pt.vector("w", dtype="int8")], lambda m, w: [m @ w, w @ w, w[:, None] @ w[None, :]], each([M, [1, 2, 3, 4]])),
    "products of stacks": lambda: ([t], [pt.matmul(t, t.transpose(0, 2, 1)), pt.matmul(t[:, :1], t.transpose(0, 2, 1)), pt.matmul(t, M.T)], each([T])),
    "softmax": lambda: ([m], [pt.special.softmax(m, axis=1), pt.special.log_softmax(m, axis=0), pt.special.softmax(m, axis=None), pt.logsumexp(m, axis=1)], each([M], [100 * M])),
    "numbers alone": lambda: ([s, i], [s + i, pt.switch(s > 0, i, s), s**i, i // 2, i % 3, pt.exp(s)], each([2.5, 3], [-2.5, -7])),
    "checked": lambda: ([s, v], [pt.specify_shape(v, (4,)), pytensor.raise_op.Assert("no")(s, s > 0)], each([2.5, V])),
    "broadcasts": lambda: (
        [m, v, s],
        [m + v, m * v[None, :] + s, pt.broadcast_to(v, (3, 4)), pt.second(m, s), pt.fill(m, 1), m + pt.zeros((1, 4))],
        each([M, V, 2.0]),
    ),
    "linear algebra of vectors": lambda: ([v], [pt.linalg.norm(v), pt.var(v), pt.std(v), pt.clip(v, -0.5, 0.5)], each([V])),
    "differences": lambda: ([v], [pt.diff(v), v[::-1], pt.roll(v, 1)], each([V])),
}


def made(name):
    inputs, outputs, calls = CASES[name]()
    outputs = outputs(*inputs) if callable(outputs) else outputs
    return inputs, outputs, calls


@pytest.mark.parametrize("rewrites", [None, "fast_run"])
@pytest.mark.parametrize("name", sorted(CASES))
def test_ops_match_pytensor(name, rewrites):
    inputs, outputs, calls = made(name)
    if name == "setting parts":
        inputs, calls = [*inputs, s], each([M, V, 1, 2.0], [M, V, -1, np.nan])
    fn = function(inputs, outputs, rewrites)
    ours = frozen(fn)
    for given in calls:
        given = [np.asarray(value, variable.type.dtype) for value, variable in zip(given, inputs)]
        try:
            with np.errstate(all="ignore"):
                wanted = fn(*given)
        except ValueError:
            with pytest.raises(precast.CallError):
                ours(*given)
            continue
        compare(ours(*given), wanted)


#: Cases in which PyTensor up to this version broadcasts extents that are 1 at run time, contrary to its documentation.
BROADCASTS = {"of values for rows": (3, 0)}


def refused(inputs, outputs, given, kind, broadcasts=(0, 0)):
    fn = function(inputs, outputs)
    given = [np.asarray(value, variable.type.dtype) for value, variable in zip(given, inputs)]
    with pytest.raises(precast.CallError):
        frozen(fn)(*given)
    version = tuple(int(part) for part in pytensor.__version__.split(".")[:2])
    if version <= broadcasts:
        fn(*given)
        return
    with pytest.raises(kind):
        fn(*given)


@pytest.mark.parametrize(
    ("name", "inputs", "outputs", "given"),
    [
        ("of two vectors", [v, pt.dvector("w")], lambda v, w: v + w, [V, [1.0]]),
        ("of two vectors that differ", [v, pt.dvector("w")], lambda v, w: v + w, [V, V[1:]]),
        ("of parts", [m, v], lambda m, v: m[:1] * v[1:2] + m, [M, V]),
        ("of an allocation", [v, n], lambda v, n: pt.alloc(v, n), [[1.0], 3]),
        ("of values for rows", [m, v, at], lambda m, v, at: pt.inc_subtensor(m[at], v), [M, [1.0], [0, 1]]),
        ("of a constant", [v], lambda v: v * np.arange(3.0), [[1.0]]),
        ("where a type says nothing", [v], None, None),
    ],
)
def test_unexpected_extent_one_is_rejected(name, inputs, outputs, given):
    if given is None:
        inputs, outputs, given = [v, pt.dvector("z")], lambda v, z: v * z, [V, [1.0]]
    refused(inputs, outputs(*inputs), given, (ValueError, AssertionError), BROADCASTS.get(name, (0, 0)))


def test_graph_op_is_checked_at_each_use():
    w, x, y = pt.dvector("w"), pt.dvector("x"), pt.dvector("y")
    op = pytensor.compile.builders.OpFromGraph([v, w], [v + w])
    fn = function([v, w, x, y], [op(v, w), op(x, y)])
    compare(frozen(fn)(V, V, V[1:], V[1:]), fn(V, V, V[1:], V[1:]))
    refused([v, w, x, y], [op(v, w), op(x, y)], [V, V, V, V[:1]], ValueError)


def test_graphs_in_graphs_do_not_share_their_variables():
    # Some versions use the same numbers for the inputs of all inner graphs.
    w = pt.dvector("w")
    inner = pytensor.compile.builders.OpFromGraph([v], [pt.exp(v)])
    outer = pytensor.compile.builders.OpFromGraph([v, w], [inner(w) - v, inner(v) * w])
    fn = function([v, w], outer(v, w))
    compare(frozen(fn)(V, V + 1), fn(V, V + 1))


def test_extents_known_to_be_equal_are_unchecked():
    fn = function([v], (pt.exp(v) * v + pt.zeros_like(v)).sum() + (v[:, None] * v[None, :]).sum())
    assert "assert" not in str(precast.pytensor.freeze(fn).graph)


def test_one_check_serves_all_uses_of_two_inputs():
    w = pt.dvector("w")
    fn = function([v, w], [v + w, v * w, pt.exp(v) - w])
    assert str(precast.pytensor.freeze(fn).graph).count("assert") == 1


def test_index_out_of_bounds_is_rejected():
    for outputs in (m[i], m[at], m[at, at], pt.set_subtensor(m[i], 0.0), pt.inc_subtensor(m[at], 1.0)):
        refused([m, i, at], outputs, [M, 5, [0, 5]], (IndexError, AssertionError, ValueError))


def test_unsupported_ops_are_named_with_reasons():
    class Airy(pytensor.scalar.UnaryScalarOp):
        def impl(self, x):
            return x + 1

        def c_code(self, *args):
            raise NotImplementedError

    airy = Elemwise(Airy(pytensor.scalar.basic.upgrade_to_float, name="airy"))
    w = airy(v) + pt.linalg.qr(pt.outer(v, v), mode="raw")[2] + pt.exp(airy(v + 1))
    with pytest.raises(precast.FreezeError) as error:
        frozen(function([v], w))
    text = str(error.value)
    for what in ("Airy", "(2 times)", "QR", "mode=\"raw\"", "has no function `Airy`"):
        assert what.lower() in text.lower(), text


def test_foreign_op_does_not_match_by_name():
    class Exp(pytensor.scalar.UnaryScalarOp):
        def impl(self, x):
            return x + 1

    Exp.__module__ = "somebody"
    op = Elemwise(Exp(pytensor.scalar.basic.upgrade_to_float, name="exp"))
    with pytest.raises(precast.FreezeError, match="the op has no C"):
        frozen(function([v], op(v)))


def test_fused_results_have_the_broadcast_shape():
    ps = pytensor.scalar
    x, y = ps.float64("x"), ps.float64("y")
    op = Elemwise(ps.Composite([x, y], [x * 2, x + y, ps.constant(1.5)]))
    fn = function([m, v], op(m, v[None, :]) + op(v[None, :], m))
    compare(frozen(fn)(M, V), fn(M, V))


def test_empty_extremes_return_the_initial_value():
    try:
        extremes = [pt.math.Max(axis=axes, initial=True) for axes in ((0,), (0, 1))]
    except TypeError:
        pytest.skip("this PyTensor has no extremes with an initial value")
    for variable, given in ((m, [M, EMPTY, np.zeros((0, 0))]), (b, [INTS, INTS[:0]])):
        fn = function([variable], [op(variable) for op in extremes])
        for values in given:
            compare(frozen(fn)(values), fn(values))


def test_names_and_extents_of_outputs_are_kept():
    from precast.pytensor import FREEZE, freeze

    x = pt.tensor("x", shape=(4,), dtype="float64")
    double, part = x + x, x[1:]
    double.name, part.name = "double", "part"
    frozen = freeze(pytensor.function([x], [double, part, double], mode=FREEZE))
    assert [(port.name, str(port.type)) for port in frozen.function().outputs] == [
        ("double", "f64[4]"),
        ("part", "f64[3]"),
        ("double_2", "f64[4]"),
    ]


def test_functions_of_mode_freeze_cannot_be_called():
    from precast.pytensor import FREEZE, freeze

    x = pt.dvector("x")
    made = pytensor.function([x], x + 1, mode=FREEZE)
    with pytest.raises(precast.GraphTypeError, match="cannot be called"):
        made(np.zeros(2))
    np.testing.assert_array_equal(freeze(made).function()(np.zeros(2)), np.ones(2))
