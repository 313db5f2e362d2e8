"""Scalar functions: maps PyTensor's scalar ops to functions of the library.

A rule gets the arguments of an op with the dtypes of PyTensor's types, and the NumPy name of the result's dtype.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from ..._variable import Variable, call
from . import own_c
from .classes import behaves_as
from .lowering import Refused, cast, constant

#: Functions that cast their arguments to the dtype of the result.
_IN_RESULT = {
    "Sub": "sub",
    "Pow": "pow",
    "Maximum": "maximum",
    "Minimum": "minimum",
    "Neg": "neg",
    "Sign": "sign",
    "Reciprocal": "reciprocal",
    "Sqr": "square",
    "Sqrt": "sqrt",
    "OR": "bitwise_or",
    "XOR": "bitwise_xor",
    "AND": "bitwise_and",
    "Invert": "invert",
    "Ceil": "ceil",
    "Floor": "floor",
    "Trunc": "trunc",
    "RoundHalfToEven": "round",
    "RoundHalfAwayFromZero": "round_half_away",
    "Deg2Rad": "deg2rad",
    "Rad2Deg": "rad2deg",
    "Exp": "exp",
    "Exp2": "exp2",
    "Expm1": "expm1",
    "Log": "log",
    "Log2": "log2",
    "Log10": "log10",
    "Log1p": "log1p",
    "Sin": "sin",
    "Cos": "cos",
    "Tan": "tan",
    "ArcSin": "asin",
    "ArcCos": "acos",
    "ArcTan": "atan",
    "ArcTan2": "atan2",
    "Sinh": "sinh",
    "Cosh": "cosh",
    "Tanh": "tanh",
    "ArcSinh": "asinh",
    "ArcCosh": "acosh",
    "ArcTanh": "atanh",
    "Erf": "erf",
    "Erfc": "erfc",
    "Erfcx": "erfcx",
    "Erfinv": "erfinv",
    "Erfcinv": "erfcinv",
    "NdtriExp": "ndtri_exp",
    "Gamma": "gamma",
    "Owens_t": "owens_t",
    "I0": "i0",
    "I1": "i1",
    "J0": "j0",
    "J1": "j1",
    "Jv": "jv",
    "Hyp2F1": "hyp2f1",
    "PolyGamma": "polygamma",
    "Ive": "ive",
    "Kve": "kve",
    "pymc.I0e": "i0e",
    "pymc.I1e": "i1e",
    "GammaLn": "gammaln",
    "Psi": "digamma",
    "TriGamma": "trigamma",
    "GammaInc": "gammainc",
    "GammaIncC": "gammaincc",
    "BetaInc": "betainc",
    "GammaIncInv": "gammaincinv",
    "GammaIncCInv": "gammainccinv",
    "BetaIncInv": "betaincinv",
    "Sigmoid": "sigmoid",
    "Softplus": "softplus",
    "Log1mexp": "log1mexp",
    "Conj": "conj",
    "Identity": "identity",
}

#: Functions that do not cast their arguments, so that integers stay exact.
_OF_ARGUMENTS = {
    "LT": "lt",
    "GT": "gt",
    "LE": "le",
    "GE": "ge",
    "EQ": "eq",
    "NEQ": "ne",
    "IsNan": "isnan",
    "IsInf": "isinf",
    "Abs": "abs",
    "Real": "real",
    "Imag": "imag",
}

#: Functions whose complex results differ from NumPy in infinities and NaN.
_NOT_COMPLEX = {"Pow"}

_RULES: dict[str, Callable[[list[Variable], str], Any]] = {}


def _rule(*names: str) -> Callable[[Any], Any]:
    def declare(made: Any) -> Any:
        _RULES.update(dict.fromkeys(names, made))
        return made

    return declare


def compute(op: Any, arguments: list[Variable], dtype: str) -> Variable:
    """Applies a PyTensor scalar op to arrays or numbers. The result has the given dtype."""
    name = behaves_as(type(op), NAMES)
    if name in _NOT_COMPLEX and kind(dtype) == "c":
        raise Refused(f"`{name}` of complex numbers differs from NumPy in infinities")
    if name in _IN_RESULT:
        made = call(_IN_RESULT[name], *(cast(argument, dtype) for argument in arguments))
    elif name in _OF_ARGUMENTS:
        made = call(_OF_ARGUMENTS[name], *arguments)
    elif name in _RULES:
        made = _RULES[name](arguments, dtype)
    else:
        (made,) = own_c.apply(op, arguments, [dtype])
    return cast(made, dtype)


def is_own(op: Any) -> bool:
    """Returns whether a scalar op is computed by its own C."""
    name = behaves_as(type(op), NAMES)
    return name not in _IN_RESULT and name not in _OF_ARGUMENTS and name not in _RULES


def kind(dtype: str) -> str:
    """Returns NumPy's letter for the kind of a dtype."""
    return numpy.dtype(dtype).kind


def select(condition: Variable, yes: Variable, no: Variable) -> Variable:
    """Selects `yes` where a condition is true, otherwise `no`."""
    return call("switch", cast(condition, "bool"), yes, no)


def _fold(function: str) -> Callable[[list[Variable], str], Variable]:
    def made(arguments: list[Variable], dtype: str) -> Variable:
        """Folds from the left. Floats have the promoted dtype of the arguments so far, as in PyTensor's Python and C."""
        if kind(dtype) in "fc":
            arguments = [a if kind(a.type.dtype) in "fc" else cast(a, dtype) for a in arguments]
        else:
            arguments = [cast(a, dtype) for a in arguments]
        result = arguments[0]
        for argument in arguments[1:]:
            result = call(function, result, argument)
        return result

    return made


_RULES["Add"], _RULES["Mul"] = _fold("add"), _fold("mul")


@_rule("TrueDiv")
def _true_div(arguments: list[Variable], dtype: str) -> Variable:
    # The quotient of integers is computed in f64, independent of `floatX`.
    is_discrete = all(kind(argument.type.dtype) in "biu" for argument in arguments)
    return call("div", *(cast(argument, "float64" if is_discrete else dtype) for argument in arguments))


@_rule("IntDiv")
def _int_div(arguments: list[Variable], dtype: str) -> Variable:
    return call("floor_div", *(cast(argument, "int8" if dtype == "bool" else dtype) for argument in arguments))


@_rule("Mod")
def _mod(arguments: list[Variable], dtype: str) -> Variable:
    return call("mod", *(cast(argument, "int8" if dtype == "bool" else dtype) for argument in arguments))


@_rule("Clip")
def _clip(arguments: list[Variable], dtype: str) -> Variable:
    # The lower bound takes precedence, and NaN is preserved.
    x, low, high = arguments
    above = select(call("gt", x, high), cast(high, dtype), cast(x, dtype))
    return select(call("lt", x, low), cast(low, dtype), above)


@_rule("Switch")
def _switch(arguments: list[Variable], dtype: str) -> Variable:
    condition, yes, no = arguments
    return select(condition, cast(yes, dtype), cast(no, dtype))


@_rule("Second")
def _second(arguments: list[Variable], dtype: str) -> Variable:
    # Only the shape of the first argument matters.
    return select(constant(True, "bool"), cast(arguments[1], dtype), cast(cast(arguments[0], "bool"), dtype))


@_rule("Cast")
def _cast(arguments: list[Variable], dtype: str) -> Variable:
    return cast(arguments[0], dtype)


@_rule("Complex")
def _complex(arguments: list[Variable], dtype: str) -> Variable:
    part = "float32" if dtype == "complex64" else "float64"
    return call("complex", *(cast(argument, part) for argument in arguments))


@_rule("XLogX")
def _x_log_x(arguments: list[Variable], dtype: str) -> Variable:
    x = cast(arguments[0], dtype)
    zero = constant(0, dtype)
    return select(call("eq", x, zero), zero, call("mul", x, call("log", x)))


@_rule("XLogY0")
def _x_log_y(arguments: list[Variable], dtype: str) -> Variable:
    x, y = (cast(argument, dtype) for argument in arguments)
    zero = constant(0, dtype)
    return select(call("eq", x, zero), zero, call("mul", x, call("log", y)))


@_rule("Angle")
def _angle(arguments: list[Variable], dtype: str) -> Variable:
    (z,) = arguments
    if kind(z.type.dtype) != "c":
        raise Refused("the angle of a number that is not complex differs between versions of PyTensor")
    return call("atan2", call("imag", z), call("real", z))


#: The classes of scalar ops with rules.
NAMES = frozenset({*_IN_RESULT, *_OF_ARGUMENTS, *_RULES})
