"""Each scalar op that `freeze` lowers matches PyTensor's reference: all pairs of dtypes, NaN, infinities, zeros."""

import itertools

import numpy as np
import precast
import pytest
from frozen import compare, frozen, function

pytensor = pytest.importorskip("pytensor")
import pytensor.scalar as ps  # noqa: E402
import pytensor.tensor as pt  # noqa: E402
from precast.pytensor._lower import scalars  # noqa: E402
from pytensor.tensor.elemwise import Elemwise  # noqa: E402

DTYPES = ("bool", "int8", "int32", "int64", "uint8", "uint64", "float32", "float64", "complex128")

#: Ops with the bits of NumPy. Other ops have the accuracy of mathematical functions.
EXACT = set(
    "Add Sub Mul TrueDiv IntDiv Mod Neg Abs Sqr Reciprocal OR XOR AND Invert Ceil Floor Trunc RoundHalfToEven "
    "LT GT LE GE EQ NEQ IsNan IsInf Real Imag Conj Complex Identity Cast Clip Switch Second Sign".split()
)


def between(x, low, high):
    return (x >= low) & (x <= high)


#: Arguments for which PyTensor's Python and C differ, so no result is expected: a floor of -inf, and half precision in SciPy and
#: NumPy.
OPEN = {
    # SciPy is wrong for large arguments, and NaN for tiny shapes and at infinity.
    "BetaIncInv": lambda a, b, p: between(a, 1e-3, 1e3) & between(b, 1e-3, 1e3),
    "GammaIncCInv": lambda a, q: between(a, 1e-3, 1e3),
    "GammaIncInv": lambda a, p: between(a, 1e-3, 1e3),
    # PyTensor's C and SciPy lose digits of large arguments, and have NaN at infinity.
    "J0": lambda x: between(x, -1e3, 1e3),
    "J1": lambda x: between(x, -1e3, 1e3),
    "Jv": lambda v, x: between(v, -20, 20) & between(x, -1e3, 1e3),
    "Ive": lambda v, x: between(v, -100, 100) & between(x, -1e6, 1e6) & (x != 0),
    "Kve": lambda v, x: between(v, -100, 100) & between(x, -1e6, 1e6),
    "PolyGamma": lambda n, x: between(n, 0, 20) & between(x, 1e-3, 1e6),
    "GammaLn": lambda x: x != -np.inf,
    # The imaginary part is 0, as in the array API standard; NumPy gives NaN.
    "Expm1": lambda x: ~(np.iscomplexobj(x) & np.isinf(x)),
    # inf, which SciPy computes as NaN.
    "I0": np.isfinite,
    "I1": np.isfinite,
    "Softplus": lambda x: np.full(x.shape, x.dtype not in (bool, np.int8, np.uint8)),
}


def ops():
    """Returns the scalar ops of PyTensor with rules, by class. Some are missing in some versions."""
    found = {}
    for module in (ps.basic, ps.math, pytensor.tensor.xlogx):
        for op in vars(module).values():
            if isinstance(op, ps.ScalarOp) and type(op).__name__ in scalars.NAMES:
                found.setdefault(type(op).__name__, op)
    found["Cast"] = None
    # A function of four operands, which `test_freeze_own_c.py` compares.
    found.pop("Hyp2F1", None)
    return found


OPS = ops()


def values(dtype):
    kind = np.dtype(dtype).kind
    if kind == "b":
        return np.array([False, True, True, False, True, False, True])
    if kind in "iu":
        info = np.iinfo(dtype)
        return np.array([0, 1, 2, 3, 7, info.max, info.min], dtype)
    x = np.array([0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.7, np.nan, np.inf, -np.inf, 40.0, -40.0, 1e-9], dtype)
    return x if kind == "f" else np.concatenate([x[:7] + 1j * x[6::-1], [2j, -1.5, np.inf, complex(0, np.inf), complex(np.nan, 1), complex(-np.inf, -0.0)]]).astype(dtype)


def arguments(dtypes):
    """Returns all combinations of the values of some dtypes."""
    grid = np.meshgrid(*(values(dtype) for dtype in dtypes), indexing="ij")
    return [np.ascontiguousarray(each.ravel()).astype(dtype) for each, dtype in zip(grid, dtypes)]


# PyTensor's own C, or SciPy, loses digits in the tails of these functions. Tests in `crates/ops` compare precast's with mpmath.
ROUGH = {"BetaInc": 1e-11, "GammaInc": 1e-11, "GammaIncC": 1e-11, "Owens_t": 1e-7, "TriGamma": 1e-11}
ROUGH |= {"BetaIncInv": 1e-9, "GammaIncCInv": 1e-9, "GammaIncInv": 1e-9, "Ive": 1e-12, "Kve": 1e-12, "PolyGamma": 1e-12}
ROUGH |= {"J0": 1e-11, "J1": 1e-11, "Jv": 1e-9}


def arity(op):
    return {"BetaIncInv": 3, "Clip": 3, "Switch": 3}.get(type(op).__name__) or (op.nin if op.nin > 0 else 2)


def test_most_pytensor_scalar_ops_have_a_rule():
    assert len(OPS) > 60, sorted(OPS)


def cases(name):
    """Returns the results and arguments of an op for all its dtypes."""
    if name == "Cast":
        for given, wanted in itertools.product(DTYPES, DTYPES):
            if np.dtype(given).kind == "c" and np.dtype(wanted).kind != "c":
                continue
            x = values(given)
            if np.dtype(given).kind == "f" and np.dtype(wanted).kind in "iu":
                x = np.array([0.0, 1.0, 2.5, 100.9, -0.0], given)
            variable = pt.vector("x", dtype=given)
            yield [variable], [x], Elemwise(ps.Cast(ps.ScalarType(wanted)))(variable)
        return
    op = OPS[name]
    count = arity(op)
    pairs = itertools.product(DTYPES, repeat=count) if count < 3 else triples()
    for dtypes in pairs:
        variables = [pt.vector(f"x{at}", dtype=dtype) for at, dtype in enumerate(dtypes)]
        try:
            result = Elemwise(op)(*variables)
        except (TypeError, NotImplementedError):
            continue
        yield variables, arguments(dtypes), result


def triples():
    yield from itertools.product(("bool", "int8", "float64"), ("int32", "float32", "float64"), ("uint8", "float64"))


@pytest.mark.parametrize("name", sorted(OPS))
def test_scalar_ops_match_pytensor(name):
    refused, done = [], 0
    for variables, given, result in cases(name):
        with np.errstate(all="ignore"):
            if name in OPEN:
                kept = OPEN[name](*given)
                given = [x[kept] for x in given]
            fn = function(variables, result)
            try:
                wanted = fn(*given)
            except (TypeError, ValueError, NotImplementedError, OverflowError) as error:
                refused.append(str(error))
                continue
        try:
            ours = frozen(fn)
        except precast.FreezeError as error:
            # Functions that the library lacks for complex numbers.
            assert "complex" in str(error), error
            continue
        compare(ours(*given), wanted, given, is_exact=name in EXACT, near=ROUGH.get(name, 4e-15))
        done += 1
    assert done, refused
