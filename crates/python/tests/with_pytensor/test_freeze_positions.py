"""Conversions of positions, choices by position, filled diagonals, and convolutions of matrices, without Python."""

import numpy as np
import pytest
from frozen import compare, frozen, function

pytensor = pytest.importorskip("pytensor")
import pytensor.tensor as pt  # noqa: E402
from pytensor.tensor import signal  # noqa: E402

RNG = np.random.default_rng(5)
TALL = RNG.normal(size=(5, 3))
a, cube = pt.dmatrix("a"), pt.dtensor3("cube")
at, dims, which = pt.lvector("at"), pt.lvector("dims"), pt.lmatrix("which")


def positions():
    for order in ("C", "F"):
        made = pt.unravel_index(at, (3, 4), order=order)
        yield [at], made, [np.array([0, 5, 11])]
        yield [at], made, [np.array([], dtype=np.int64)]
        yield [at, dims], pt.unravel_index(at, pt.stack([dims[0], dims[1], dims[2]]), order=order), [np.array([23, 7]), np.array([2, 3, 4])]
        for mode in ("raise", "wrap", "clip"):
            given = [np.array([0, 1, 2]), np.array([3, 4, 4])] if mode == "raise" else [np.array([0, 5, -1]), np.array([3, 4, 2])]
            yield [at, dims], [pt.ravel_multi_index((at, at + 1, 0 * at), dims, mode=mode, order=order)], given


def choices():
    three = pt.stack([a, -a, a * 2])
    for mode in ("raise", "wrap", "clip"):
        for given in ([[0, 2, 1]], [[0], [1], [2], [0], [1]], [[1]]):
            yield [which, a], [pt.choose(which, three, mode)], [np.array(given), TALL]
        yield [which, a], [pt.choose(which, a, mode)], [np.array([[0, 2], [4, 1]]), TALL[:, 0:1] + np.zeros((1, 2))]
    for mode in ("wrap", "clip"):
        yield [which, a], [pt.choose(which, three, mode)], [np.array([[7, -2, 3]]), TALL]


def diagonals():
    for given in (TALL, TALL.T, TALL[:0], TALL[:, :0]):
        yield [a], [pt.fill_diagonal(a, 7)], [given]
    yield [a], [pt.fill_diagonal(a, a[0, 1])], [TALL]
    yield [cube], [pt.fill_diagonal(cube, 7)], [np.ones((3, 3, 3))]


def orders():
    n = pt.lscalar("n")
    for count in (-1, 0, 1, 2, 7, 8):
        yield [n], [pt.bartlett(n)], [count]
    for offset in (-9, -2, 0, 1, 9):
        for given in (TALL, TALL.T):
            yield [a, n], [pt.fill_diagonal_offset(a, 7, n)], [given, offset]
    permuted = [[2, 0, 1], [0, 1, 2]]
    for inverse in (False, True):
        yield [a, at], [pt.basic.permute_row_elements(a, at, inverse)], [TALL, np.array(permuted[0])]
        for x in (a, a[0]):
            for order in (permuted, [[-1, 0, -2], [0, 1, 2]]):
                yield [a, which], [pt.basic.permute_row_elements(x, which, inverse)], [TALL[:2], np.array(order)]


@pytest.mark.parametrize("which", range(len([*positions(), *choices(), *diagonals(), *orders()])))
def test_positions_match_pytensor(which):
    inputs, made, given = [*positions(), *choices(), *diagonals(), *orders()][which]
    fn = function(inputs, list(made))
    compare(frozen(fn)(*given), fn(*given), is_exact=True)


@pytest.mark.parametrize(
    "inputs, made, given",
    [
        ([at], pt.unravel_index(at, (3, 4)), [np.array([12])]),
        ([at], pt.unravel_index(at, (3, 4)), [np.array([-1])]),
        ([at], [pt.ravel_multi_index((at, at + 1), (3, 4))], [np.array([3])]),
        ([which, a], [pt.choose(which, pt.stack([a, -a]), "raise")], [np.array([[2, 0, 0]]), TALL]),
        ([which, a], [pt.choose(which, pt.stack([a, -a]), "raise")], [np.array([[-1, 0, 0]]), TALL]),
        ([cube], [pt.fill_diagonal(cube, 7)], [np.ones((3, 2, 3))]),
        ([a, which], [signal.convolve2d(a, pt.cast(which, "float64"), mode="valid")], [TALL, np.ones((2, 4), dtype=np.int64)]),
    ],
)
def test_invalid_positions_are_value_errors(inputs, made, given):
    fn = function(inputs, list(made))
    for call in (fn, frozen(fn)):
        with pytest.raises(ValueError):
            call(*given)


@pytest.mark.parametrize("mode", ["full", "valid", "same"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
def test_convolutions_match_pytensor(mode, dtype):
    x, kernel = pt.matrix("x", dtype=dtype), pt.matrix("kernel", dtype=dtype)
    fn = function([x, kernel], [signal.convolve2d(x, kernel, mode=mode, method="direct")])
    for one, other in [((5, 3), (2, 2)), ((5, 3), (1, 3)), ((2, 2), (2, 2)), ((2, 2), (4, 5))]:
        given = [(9 * RNG.normal(size=shape)).astype(dtype) for shape in (one, other)]
        if mode == "same" and one[0] < other[0]:
            continue
        compare(frozen(fn)(*given), fn(*given), near=1e-14 if dtype == "float64" else 1e-5)
