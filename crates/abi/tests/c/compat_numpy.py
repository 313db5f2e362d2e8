"""Writes compat_numpy.inc: NumPy's results for the functions of the compat headers. Run manually: `python3 compat_numpy.py`. Needs
NumPy.

A case is a function, its arrays (buffers with first element and strides, in elements), up to four integers, and the arrays of the
result, or the exception.
"""

import pathlib
import warnings

import numpy as np

warnings.simplefilter("ignore")
RAVEL = -(2**31)
ONE_NUMBER = {9: 7, 10: 8}  # long long has a separate type number in NumPy
rng = np.random.default_rng(7)
pools, cases = {}, []


def values(a):
    a = np.asarray(a).ravel()
    flat = np.stack([a.real, a.imag], -1).ravel() if a.dtype.kind == "c" else a
    text = ", ".join("NAN" if x != x else ("-" if x < 0 else "") + "INFINITY" if abs(x) == np.inf else f"{float(x)!r}"
                     for x in (float(x) for x in flat)) or "0"
    return "v%d" % pools.setdefault(text, len(pools))


def spec(a):
    base = a
    while base.base is not None:
        base = base.base
    base = base.ravel(order="K") if base.size else base
    item = a.dtype.itemsize
    first = (a.__array_interface__["data"][0] - base.__array_interface__["data"][0]) // item
    row = lambda xs: "{%s}" % (", ".join(str(int(x)) for x in xs) or "0")
    return (f"{{{ONE_NUMBER.get(a.dtype.num, a.dtype.num)}, {a.ndim}, {row(a.shape)}, {row(s // item for s in a.strides)}, {first}, {base.size}, "
            f"{values(base)}}}")


def case(what, ins, args, make):
    ins = [np.asarray(x) for x in ins]
    error, outs = "NULL", []
    try:
        made = make(*ins)
        outs = [np.ascontiguousarray(x) if np.ndim(x) else np.array(x) for x in (made if isinstance(made, tuple) else (made,))]
    except Exception as e:
        error = "PyExc_" + next(t.__name__ for t in type(e).__mro__ if t.__module__ == "builtins")
    args = list(args) + [0] * (4 - len(args))
    cases.append(f'{{"{what}", {len(ins)}, {{{", ".join(map(spec, ins)) or "NONE"}}}, {{{", ".join(map(str, args))}}}, '
                 f'{error}, {len(outs)}, {{{", ".join(map(spec, outs)) or "NONE"}}}}},')


def number(t):
    return np.dtype(t).num


def some(shape, t, low=-5, high=6):
    a = rng.integers(max(low, 0) if np.dtype(t).kind in "ub" else low, 2 if t == "?" else high, shape)
    a = a + 1j * rng.integers(low, high, shape) if np.dtype(t).kind == "c" else a
    return np.asarray(a).astype(t)


def axis_of(axis):
    return None if axis == RAVEL else axis


def along_an_axis():
    for t in "? b H i Q e f d F D".split():
        a = some((3, 4), t)
        wide = some((6, 8), t)[::-2, ::2]
        for x in (a, a.T, wide):
            for axis in (0, 1, -1, RAVEL):
                for name, f in (("ArgMax", np.argmax), ("ArgMin", np.argmin), ("Max", np.max), ("Min", np.min), ("Any", np.any),
                                ("All", np.all)):
                    case(name, [x], [axis], lambda x: f(x, axis=axis_of(axis)))
                for name, f in (("CumSum", np.cumsum), ("CumProd", np.cumprod), ("Sum", np.sum), ("Prod", np.prod)):
                    if x is not wide:
                        case(name, [x], [axis, 25], lambda x: f(x, axis=axis_of(axis)))
    nan = np.array([1, np.nan, 3, np.nan, -1, np.inf])
    for t in "e f d".split():
        x = nan.astype(t)
        case("ArgMax", [x], [0], np.argmax)
        case("ArgMin", [x], [0], np.argmin)
        case("Max", [x], [0], np.max)
        y = rng.normal(size=40).astype(t)
        case("CumSum", [y], [0, number(t)], lambda y: np.cumsum(y, dtype=t))
        case("CumProd", [y], [0, number(t)], lambda y: np.cumprod(y, dtype=t))
    z = (rng.normal(size=20) + 1j * rng.normal(size=20)).astype("F")
    case("CumProd", [z], [0, number("F")], np.cumprod)
    case("CumSum", [some(9, "b")], [0, number("f")], lambda x: np.cumsum(x, dtype="f"))
    for name, f in (("ArgMax", np.argmax), ("ArgMin", np.argmin), ("Max", np.max), ("Sum", np.sum)):
        case(name, [np.zeros((0, 3))], [0, 25], lambda x: f(x, axis=0))
        case(name, [np.zeros((0, 3))], [1, 25], lambda x: f(x, axis=1))
        case(name, [np.zeros(3)], [1, 25], lambda x: f(x, axis=1))
        case(name, [np.float64(3)], [0, 25], lambda x: f(x, axis=0))
    case("CumSum", [np.float64(3)], [RAVEL, 25], np.cumsum)


def picks():
    a = some((3, 4), "d")
    at = np.array([[0, 2], [-1, 1]])
    for x in (a, a.T, some((3, 4), "b"), some((2, 3, 4), "F"), some((6, 8), "e")[::2, ::-2]):
        for axis in (0, 1, -2, RAVEL):
            for mode, name in enumerate(("clip", "wrap", "raise")):
                case("TakeFrom", [x, at], [axis, mode], lambda x, at: np.take(x, at, axis_of(axis), mode=name))
    for mode, name in enumerate(("clip", "wrap", "raise")):
        case("TakeFrom", [a, np.array([7, -9, 0], "h")], [0, mode], lambda a, at: np.take(a, at, 0, mode=name))
        case("TakeFrom", [np.zeros((0, 2)), np.array([0])], [0, mode], lambda a, at: np.take(a, at, 0, mode=name))
        case("Choose", [np.array([0, 1, 5, -1]), some(4, "h"), some(4, "f")], [mode], lambda i, x, y: np.choose(i, [x, y], mode=name))
    case("TakeFrom", [np.zeros((0, 2)), np.zeros(0, "i")], [0, 2], lambda a, at: np.take(a, at, 0))
    case("TakeFrom", [a, np.int64(1)], [0, 2], lambda a, at: np.take(a, at, 0))
    case("TakeFrom", [a, np.array([0.5])], [0, 2], lambda a, at: np.take(a, at, 0))
    case("Choose", [np.array([[0], [1]]), some(3, "b"), some((1, 3), "F")], [2], lambda i, x, y: np.choose(i, [x, y]))
    case("Choose", [np.array([0, 1]), some(3, "b"), some(3, "b")], [2], lambda i, x, y: np.choose(i, [x, y]))
    c = some((2, 3), "?")
    for x, y in ((some((2, 3), "b"), some(3, "f")), (some((3, 2), "d").T, some((2, 1), "Q")), (some(2, "d"), some(3, "d"))):
        case("Where", [c, x, y], [], np.where)
    case("Where", [some((3, 4), "d").T], [], np.where)
    case("Where", [some((2, 2, 3), "F")[::-1]], [], np.where)
    case("Where", [np.float64(1)], [], lambda c: np.where(np.asarray(c)))
    for axis in (0, 1, -1, 2, RAVEL):
        for x, y in ((a, some((3, 4), "b")), (a.T, some((4, 3), "F")), (a, some((3, 5), "d")), (a, some(4, "d"))):
            case("Concatenate", [x, y], [axis], lambda x, y: np.concatenate([x, y], axis_of(axis)))
    case("Concatenate", [np.float64(1), np.float64(2)], [0], lambda x, y: np.concatenate([x, y]))
    case("Concatenate", [np.float64(1), np.int8(2)], [RAVEL], lambda x, y: np.concatenate([x, y], None))
    case("Concatenate", [], [0], lambda: np.concatenate([]))


def orders():
    nan = np.array([3, np.nan, -0.0, 1, np.nan, 0.0, -np.inf, 2])
    many = np.array([1 + 1j, complex(np.nan, 1), 1 - 1j, complex(0, np.nan), complex(np.nan, 0), complex(1, np.nan), 0, 1 + 0j])
    for x in (nan, nan.astype("e"), nan[::-1], many, many.astype("F"), some((4, 5), "b"), some((4, 5), "Q").T, some((3, 4), "?"),
              some((6, 7), "f")[::2, ::-3], np.zeros((0, 3)), np.zeros((3, 0))):
        for axis in range(-1, x.ndim + 1):
            case("Sort", [x], [axis], lambda x: np.sort(x, axis, kind="stable"))
            case("ArgSort", [x], [axis], lambda x: np.argsort(x, axis, kind="stable"))
    case("ArgSort", [some((3, 4), "d")], [RAVEL], lambda x: np.argsort(x, None, kind="stable"))
    case("ArgSort", [np.float64(2)], [0], lambda x: np.argsort(x, 0))
    case("Sort", [np.float64(2)], [0], lambda x: np.sort(x, 0))
    long = rng.integers(0, 50, 333).astype("h")
    case("Sort", [long], [0], lambda x: np.sort(x))
    case("ArgSort", [long], [0], lambda x: np.argsort(x, kind="stable"))
    keys = np.array([[-9, 0, 1], [3, 3.5, 99]])
    for side, name in enumerate(("left", "right")):
        for t in "b H f d".split():
            row = np.sort(some(9, t))
            case("SearchSorted", [row, keys], [side], lambda row, keys: np.searchsorted(row, keys, name))
        mixed = some(9, "d")
        case("SearchSorted", [mixed, keys, np.argsort(mixed)], [side], lambda x, k, s: np.searchsorted(x, k, name, s))
        case("SearchSorted", [mixed, keys, np.arange(8)], [side], lambda x, k, s: np.searchsorted(x, k, name, s))
        case("SearchSorted", [mixed, keys, np.arange(9) + 1], [side], lambda x, k, s: np.searchsorted(x, k, name, s))
        case("SearchSorted", [np.sort(nan), nan], [side], lambda x, k: np.searchsorted(x, k, name))
        case("SearchSorted", [np.sort(many), many], [side], lambda x, k: np.searchsorted(x, k, name))
        case("SearchSorted", [np.zeros((2, 2)), nan], [side], lambda x, k: np.searchsorted(x, k, name))
        case("SearchSorted", [np.sort(nan)[::2], np.float64(1)], [side], lambda x, k: np.searchsorted(x, k, name))


def products():
    for s, t in ("??", "bb", "bH", "dd", "ff", "fd", "FF", "dF", "eb", "ii"):
        for x, y in (((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((2, 2, 3), (3, 2)), ((2, 3), (2, 3, 2)), ((), (3,)),
                     ((2, 3), ()), ((), ()), ((2, 3), (2, 3)), ((0, 3), (3, 2)), ((2, 0), (0, 2))):
            a, b = some(x, s), some(y, t)
            case("MatrixProduct", [a, b], [], lambda a, b: np.dot(a, b))
            case("InnerProduct", [a, b], [], lambda a, b: np.inner(a, b))
        a, b = some((6, 8), s)[::2, ::-2], some((3, 4), t).T
        case("MatrixProduct", [a, b], [], lambda a, b: np.dot(a, b))
    for t in "b f D".split():
        for n, k in ((5, 3), (3, 5), (4, 4), (6, 1), (1, 1), (2, 6), (0, 2)):
            for mode, name in enumerate(("valid", "same", "full")):
                case("Correlate2", [some(n, t), some(k, t)], [mode], lambda x, y: np.correlate(x, y, name))


def arithmetic():
    for name, f in (("Add", np.add), ("Subtract", np.subtract), ("Multiply", np.multiply), ("TrueDivide", np.true_divide)):
        for s, t in ("bb", "bB", "fd", "FF", "dF", "??", "bf", "ee"):
            a, b = some((2, 3), s), some(3, t, 1)
            if name != "TrueDivide" or (np.result_type(s, t).kind == "f" and np.result_type(s, t).char != "e"):
                case(name, [a, b], [], lambda a, b: f(a, b))
            if name != "TrueDivide":
                case("InPlace" + name, [a, b], [], lambda a, b: f(a, b, out=a.copy()))
        case("InPlace" + name, [some(3, "d"), some((2, 3), "d", 1)], [], lambda a, b: f(a, b, out=a.copy()))
        case(name, [some(3, "d"), some(2, "d", 1)], [], lambda a, b: f(a, b))


def shapes():
    for t in "b h i l B e f d D".split():
        for start, stop, step in ((0, 7, 1), (3, -4, -2), (0, 1, 0.1), (1, 0, 1), (0.5, 9, 1.25), (-3, 3.0001, 0.75)):
            if np.dtype(t).kind in "iu" and (step != int(step) or stop < 0 and t == "B"):
                continue
            case("Arange", [np.array([start, stop, step], "d")], [number(t)], lambda x: np.arange(x[0], x[1], x[2], dtype=t))
    a = some((2, 3, 4), "d", 0, 99)
    for x in (a, a.T, a.transpose(1, 0, 2), some((4, 6, 4), "d", 0, 99)[::2, ::2], a[:, :1], a[:, ::-1], a[:0]):
        n = x.size
        for shape in ([n], [-1], [2, -1], [1, n, 1], [-1, 3, 4], [4, 6], [6, 4], [5, -1], [0, -1], []):
            for order, name in enumerate("CF"):
                case("Newshape", [x, np.array(shape, "l")], [order], lambda x, shape: x.reshape(shape, order=name))
    for x in (some((2, 3), "d"), some(5, "b"), some((2, 3), "F"), np.float32(3)):
        for shape in ([4], [2, 2], [3, 4], [0], []):
            if x.ndim or shape:
                case("Resize", [np.array(x), np.array(shape, "l")], [], resized)


def resized(x, shape):
    x = x.copy()
    x.resize(tuple(shape), refcheck=False)
    return x


def iterators():
    for x in (some((2, 3), "d"), some((3, 2), "d").T, some((4, 6), "d")[::-2, ::2], some((2, 1, 3), "d").transpose(2, 1, 0), np.float64(4)):
        for order, name in ((0, "C"), (1, "F"), (2, "K")):
            it = lambda x: np.nditer(x, ["multi_index"], order=name)
            visited = lambda x: np.array([[*i.multi_index, i.value] for i in [it(x)] for _ in i], "d")
            case("MultiIndex", [x], [order], visited)
    for x in (some((2, 3), "d"), some((3, 2), "d").T, some((4, 6), "d")[::-2, ::2]):
        for axis in (0, 1):
            for loop in (0, 1):
                case("Reduction", [x], [axis, loop], lambda x: x.sum(axis))


for make in (along_an_axis, picks, orders, products, arithmetic, shapes, iterators):
    make()
head = "/* Made by compat_numpy.py with NumPy %s. */\n" % np.__version__
text = head + "".join(f"static const double v{i}[] = {{{t}}};\n" for t, i in pools.items())
text += "static const numpy_case numpy_cases[] = {\n%s\n};\n" % "\n".join(cases)
(pathlib.Path(__file__).parent / "compat_numpy.inc").write_text(text)
print(len(cases), "cases")
