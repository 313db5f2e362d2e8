"""Elementwise primitives. Integer operations follow XLA: division by 0 is -1, and the remainder by 0 is the dividend."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy

from ..._front.values import cast, constant
from ..._variable import Variable, call
from .lowering import MAX_KNOWN, Lowering, Refused, dtype_of, is_key, is_known, rule, variable

#: The functions of primitives with the same meaning.
_SAME = {
    **{name: name for name in "abs acos acosh add asin asinh atan atan2 atanh cbrt ceil conj cos cosh eq erf erfc exp".split()},
    **{name: name for name in "expm1 floor ge gt imag le log log1p log2 log10 lt mul ne neg nextafter polygamma real sign".split()},
    **{name: name for name in "sin sinh sqrt square sub tan tanh zeta complex".split()},
    "add_any": "add",
    "and": "bitwise_and",
    "bessel_i0e": "i0e",
    "bessel_i1e": "i1e",
    "erf_inv": "erfinv",
    "igamma": "gammainc",
    "igammac": "gammaincc",
    "is_finite": "isfinite",
    "lgamma": "gammaln",
    "not": "invert",
    "or": "bitwise_or",
    "regularized_incomplete_beta": "betainc",
    "shift_left": "left_shift",
    "xor": "bitwise_xor",
}

#: NumPy's functions for integers and bools that are known when the graph is built.
_KNOWN: dict[str, Callable[..., Any]] = {
    "add": numpy.add,
    "and": numpy.bitwise_and,
    "eq": numpy.equal,
    "ge": numpy.greater_equal,
    "gt": numpy.greater,
    "le": numpy.less_equal,
    "lt": numpy.less,
    "max": numpy.maximum,
    "min": numpy.minimum,
    "mul": numpy.multiply,
    "ne": numpy.not_equal,
    "neg": numpy.negative,
    "not": numpy.invert,
    "or": numpy.bitwise_or,
    "select_n": lambda which, *cases: numpy.choose(numpy.clip(which, 0, len(cases) - 1).astype(int), cases),
    "sub": numpy.subtract,
    "xor": numpy.bitwise_xor,
}

#: Primitives that return their inputs.
_IDENTITIES = (
    "copy copy_p device_put layout_constraint name optimization_barrier pbroadcast pvary random_clone reduced_vary_cast "
    "reduced_vary_cast_p relayout reshard sharding_constraint stop_gradient vary_unreduced_cast vary_unreduced_cast_p "
    "with_memory_space_constraint preduced"
)


def elementwise(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declares the rule of elementwise primitives. Known integers are computed by NumPy."""

    def put(made: Callable[..., Any]) -> Callable[..., Any]:
        def computed(lower: Lowering, eqn: Any, *values: Any) -> Any:
            name = eqn.primitive.name
            if is_known(*values) and name in _KNOWN and is_small_integer(values):
                with numpy.errstate(all="ignore"):
                    return _KNOWN[name](*values)
            return made(lower, eqn, *map(variable, values))

        rule(*names, of="elementwise")(computed)
        return made

    return put


def is_small_integer(values: tuple[Any, ...]) -> bool:
    """Returns whether arrays of NumPy are integers or bools, and few."""
    return all(value.dtype.kind in "biu" and value.size <= MAX_KNOWN for value in values)


def same(lower: Lowering, eqn: Any, *values: Variable, name: str) -> Variable:
    return call(name, *values)


for _primitive, _name in _SAME.items():
    elementwise(_primitive)(partial(same, name=_name))


@elementwise("max", "min")
def extreme(lower: Lowering, eqn: Any, x: Variable, y: Variable) -> Variable:
    """Compares complex numbers by their real parts, and by the imaginary ones if these are equal."""
    name = eqn.primitive.name
    if kind(x) != "c":
        return call(f"{name}imum", x, y)
    order, reals, imags = ("gt" if name == "max" else "lt"), *([call(part, z) for z in (x, y)] for part in ("real", "imag"))
    return call("switch", call("switch", call("eq", *reals), call(order, *imags), call(order, *reals)), x, y)


@elementwise("exp2")
def exp2(lower: Lowering, eqn: Any, x: Variable) -> Variable:
    return call("exp", call("mul", x, scalar(math.log(2), x))) if kind(x) == "c" else call("exp2", x)


@rule(*_IDENTITIES.split(), of="call")
def identity(lower: Lowering, eqn: Any, *values: Any) -> list[Any]:
    return list(values)


def scalar(value: Any, like: Variable) -> Variable:
    """Returns a number of the dtype of a variable."""
    return constant(value, like.type.dtype)


def kind(value: Variable) -> str:
    return numpy.dtype(value.type.dtype).kind if value.type.dtype != "bfloat16" else "f"


@elementwise("convert_element_type")
def convert(lower: Lowering, eqn: Any, x: Variable) -> Variable:
    return cast(x, dtype_of(eqn.outvars[0].aval))


@elementwise("div")
def div(lower: Lowering, eqn: Any, x: Variable, y: Variable) -> Variable:
    if kind(x) in "fc":
        return call("div", x, y)
    if kind(x) == "u":
        quotient = call("floor_div", x, y)
    else:
        # The quotient is truncated. Absolute values are of the unsigned dtype, which also holds that of the smallest number.
        size = call("floor_div", unsigned(call("abs", x)), unsigned(call("abs", y)))
        is_negative = call("ne", call("lt", x, scalar(0, x)), call("lt", y, scalar(0, y)))
        quotient = cast(size, x.type.dtype)
        quotient = call("switch", is_negative, call("neg", quotient), quotient)
    return call("switch", call("eq", y, scalar(0, y)), call("invert", scalar(0, x)), quotient)


@elementwise("rem")
def rem(lower: Lowering, eqn: Any, x: Variable, y: Variable) -> Variable:
    made = call("fmod", x, y)
    return made if kind(x) == "f" else call("switch", call("eq", y, scalar(0, y)), x, made)


def unsigned(x: Variable) -> Variable:
    """Returns the bits of integers as an unsigned dtype."""
    return cast(x, x.type.dtype if kind(x) == "u" else f"u{x.type.dtype}")


@elementwise("shift_right_logical")
def shift_right_logical(lower: Lowering, eqn: Any, x: Variable, count: Variable) -> Variable:
    return cast(call("right_shift", unsigned(x), unsigned(count)), x.type.dtype)


@elementwise("shift_right_arithmetic")
def shift_right_arithmetic(lower: Lowering, eqn: Any, x: Variable, count: Variable) -> Variable:
    """Copies the first bit, also that of unsigned integers."""
    signed = x.type.dtype.removeprefix("u")
    return cast(call("right_shift", cast(x, signed), cast(count, signed)), x.type.dtype)


@elementwise("pow")
def power(lower: Lowering, eqn: Any, x: Variable, y: Variable) -> Variable:
    return call("pow", x, cast(y, x.type.dtype) if kind(x) in "fc" else y)


@elementwise("integer_pow")
def integer_power(lower: Lowering, eqn: Any, x: Variable) -> Variable:
    made = product_of(x, abs(eqn.params["y"]))
    return call("reciprocal", made) if eqn.params["y"] < 0 else made


def product_of(x: Variable, count: int) -> Variable:
    """Returns a power by repeated squaring."""
    made, square = None, x
    while count:
        if count & 1:
            made = square if made is None else call("mul", made, square)
        count >>= 1
        if count:
            square = call("mul", square, square)
    return call("ones_like", x) if made is None else made


@elementwise("rsqrt")
def reciprocal_root(lower: Lowering, eqn: Any, x: Variable) -> Variable:
    return call("reciprocal", call("sqrt", x))


@elementwise("one_minus_square")
def one_minus_square(lower: Lowering, eqn: Any, x: Variable) -> Variable:
    one = scalar(1, x)
    return call("mul", call("sub", one, x), call("add", one, x))


@elementwise("polynomial")
def polynomial(lower: Lowering, eqn: Any, x: Variable, *coefficients: Variable) -> Variable:
    made = coefficients[-1]
    for coefficient in coefficients[-2::-1]:
        made = call("add", call("mul", made, x), coefficient)
    return made


@elementwise("digamma")
def digamma(lower: Lowering, eqn: Any, x: Variable) -> Variable:
    return call("switch", call("eq", x, scalar(0, x)), scalar(-math.inf, x), call("digamma", x))


@elementwise("logistic")
def logistic(lower: Lowering, eqn: Any, x: Variable) -> Variable:
    if kind(x) == "f":
        return call("sigmoid", x)
    return call("reciprocal", call("add", scalar(1, x), call("exp", call("neg", x))))


@elementwise("round")
def rounded(lower: Lowering, eqn: Any, x: Variable) -> Variable:
    return call("round_half_away" if int(eqn.params["rounding_method"]) == 0 else "round", x)


@elementwise("clamp")
def clamp(lower: Lowering, eqn: Any, least: Variable, x: Variable, most: Variable) -> Variable:
    return call("minimum", call("maximum", x, least), most)


@elementwise("select_n")
def select(lower: Lowering, eqn: Any, which: Variable, *cases: Variable) -> Variable:
    if is_key(eqn.outvars[0].aval) and which.type.ndim:
        which = which[(..., None)]
    if which.type.dtype == "bool":
        return cases[0] if len(cases) == 1 else call("switch", which, cases[1], cases[0])
    made = cases[-1]
    for at in range(len(cases) - 2, -1, -1):
        made = call("switch", call("le", which, scalar(at, which)), cases[at], made)
    return made


@elementwise("eq_to", "lt_to", "le_to")
def ordered(lower: Lowering, eqn: Any, x: Variable, y: Variable) -> Variable:
    """Compares in the total order: -0.0 is less than 0.0, and NaN, of either sign, are greater than all numbers."""
    name = eqn.primitive.name.removesuffix("_to")
    if kind(x) != "f":
        return call(name, x, y)
    either = call("logical_or", call("isnan", x), call("isnan", y))
    is_equal = call("logical_and", call("eq", x, y), call("eq", call("signbit", x), call("signbit", y)))
    is_equal = call("switch", either, call("logical_and", call("isnan", x), call("isnan", y)), is_equal)
    if name == "eq":
        return is_equal
    is_zeros = call("logical_and", call("eq", x, scalar(0, x)), call("eq", y, scalar(0, y)))
    signs = call("logical_and", call("signbit", x), call("logical_not", call("signbit", y)))
    is_less = call("switch", is_zeros, signs, call("lt", x, y))
    is_less = call("switch", either, call("logical_and", call("logical_not", call("isnan", x)), call("isnan", y)), is_less)
    return is_less if name == "lt" else call("logical_or", is_less, is_equal)


@elementwise("reduce_precision")
def reduce_precision(lower: Lowering, eqn: Any, x: Variable) -> Variable:
    wanted = (eqn.params["exponent_bits"], eqn.params["mantissa_bits"])
    formats = {(11, 52): "float64", (8, 23): "float32", (5, 10): "float16", (8, 7): "bfloat16"}
    if wanted not in formats:
        raise Refused(f"no dtype has {wanted[0]} bits for exponents and {wanted[1]} for mantissas")
    if formats[wanted] == x.type.dtype:
        return x
    return cast(cast(x, formats[wanted]), x.type.dtype)


@elementwise("population_count")
def population_count(lower: Lowering, eqn: Any, x: Variable) -> Variable:
    """Adds bits in pairs, then in groups of 4, 8, …"""
    made, bits = cast(unsigned(x), "uint64"), 1
    while bits < 64:
        mask = constant(sum(((1 << bits) - 1) << at for at in range(0, 64, 2 * bits)), "uint64")
        made = call("add", call("bitwise_and", made, mask), call("bitwise_and", call("right_shift", made, constant(bits, "uint64")), mask))
        bits *= 2
    return cast(made, x.type.dtype)


@elementwise("clz")
def leading_zeros(lower: Lowering, eqn: Any, x: Variable) -> Variable:
    """Sets all bits below the first one, and counts them."""
    width, made, count = 8 * numpy.dtype(x.type.dtype).itemsize, cast(unsigned(x), "uint64"), 1
    while count < width:
        made = call("bitwise_or", made, call("right_shift", made, constant(count, "uint64")))
        count *= 2
    set_bits = cast(population_count(lower, eqn, made), x.type.dtype)
    return call("sub", scalar(width, set_bits), set_bits)


@elementwise("mulhi")
def high_product(lower: Lowering, eqn: Any, x: Variable, y: Variable) -> Variable:
    width = 8 * numpy.dtype(x.type.dtype).itemsize
    if width > 32:
        raise Refused("precast has no integers of 128 bits")
    wide = "uint64" if kind(x) == "u" else "int64"
    return cast(call("right_shift", call("mul", cast(x, wide), cast(y, wide)), constant(width, wide)), x.type.dtype)
