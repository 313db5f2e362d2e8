"""The bits of numbers as integers, by arithmetic: precast has no op that reads memory as another dtype. All NaN have the same bits."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy

from ..._front.values import cast, constant
from ..._variable import Variable, call
from .elementwise import unsigned
from .lowering import Lowering, Refused, dtype_of, rule, variable


class Format(NamedTuple):
    """A binary format of floats."""

    width: int
    #: The number of bits of a mantissa without the leading one.
    fraction: int
    #: The exponent of 1.0.
    bias: int


FORMATS = {
    "float64": Format(64, 52, 1023),
    "float32": Format(32, 23, 127),
    "float16": Format(16, 10, 15),
    "bfloat16": Format(16, 7, 127),
}


@rule("bitcast_convert_type")
def bitcast(lower: Lowering, eqn: Any, x: Any) -> Variable:
    before, after = dtype_of(eqn.invars[0].aval), dtype_of(eqn.outvars[0].aval)
    if before == after:
        return variable(x)
    if "c" in (before.kind, after.kind) or "b" in (before.kind, after.kind):
        raise Refused("the bits of bools and complex numbers are not supported")
    x = variable(x)
    words = bits_of(x) if str(before) in FORMATS else unsigned(x)
    if before.itemsize > after.itemsize:
        words = divided(words, 8 * after.itemsize)
    elif before.itemsize < after.itemsize:
        words = combined(words, after.itemsize // before.itemsize)
    return number_of(words, str(after)) if str(after) in FORMATS else cast(words, after)


def word(value: int, like: Variable) -> Variable:
    return constant(value, like.type.dtype)


def divided(words: Variable, width: int) -> Variable:
    """Returns the parts of words in a new last axis, lowest bits first."""
    count = 8 * numpy.dtype(words.type.dtype).itemsize // width
    shifts = constant([width * at for at in range(count)], words.type.dtype)
    return cast(call("right_shift", words[(..., None)], shifts), f"uint{width}")


def combined(words: Variable, count: int) -> Variable:
    """Returns the words whose parts are in the last axis."""
    width = 8 * numpy.dtype(words.type.dtype).itemsize
    wide = cast(words, f"uint{width * count}")
    parts = [call("left_shift", wide[(..., at)], word(width * at, wide)) for at in range(count)]
    made = parts[0]
    for part in parts[1:]:
        made = call("bitwise_or", made, part)
    return made


def number_of(words: Variable, dtype: str) -> Variable:
    """Returns the floats with these bits. They are computed in f64, which holds all of them."""
    width, fraction, bias = FORMATS[dtype]
    exponent = call("bitwise_and", call("right_shift", words, word(fraction, words)), word(2 * bias + 1, words))
    mantissa = call("bitwise_and", words, word((1 << fraction) - 1, words))
    is_subnormal = call("eq", exponent, word(0, words))
    leading = call("switch", is_subnormal, mantissa, call("bitwise_or", mantissa, word(1 << fraction, words)))
    power = call("sub", cast(call("maximum", exponent, word(1, words)), "float64"), constant(bias + fraction, "float64"))
    size = call("scalb", cast(leading, "float64"), power)
    special = call("switch", call("eq", mantissa, word(0, words)), constant(math.inf, "float64"), constant(math.nan, "float64"))
    size = call("switch", call("eq", exponent, word(2 * bias + 1, words)), special, size)
    is_negative = call("ne", call("right_shift", words, word(width - 1, words)), word(0, words))
    return cast(call("switch", is_negative, call("neg", size), size), dtype)


def bits_of(x: Variable) -> Variable:
    """Returns the bits of floats."""
    width, fraction, bias = FORMATS[x.type.dtype]
    size = cast(call("abs", x), "float64")
    is_finite = call("isfinite", size)
    mantissa, exponent = call("frexp", call("switch", is_finite, size, constant(0, "float64")))
    # The exponent of the format; subnormal numbers have those below 1, and fewer bits.
    exponent = call("add", cast(exponent, "float64"), constant(bias - 1, "float64"))
    one = constant(1, "float64")
    count = call("add", call("minimum", exponent, one), constant(fraction, "float64"))
    leading = cast(call("scalb", mantissa, count), "uint64")
    high = cast(call("maximum", call("sub", exponent, one), constant(0, "float64")), "uint64")
    # The leading bit of a normal number adds 1 to the exponent.
    made = call("add", call("left_shift", high, constant(fraction, "uint64")), leading)
    made = call("switch", call("eq", size, constant(0, "float64")), constant(0, "uint64"), made)
    infinite = (2 * bias + 1) << fraction
    special = call("switch", call("isnan", size), constant(infinite | 1 << (fraction - 1), "uint64"), constant(infinite, "uint64"))
    made = call("switch", is_finite, made, special)
    sign = call("left_shift", cast(call("signbit", x), "uint64"), constant(width - 1, "uint64"))
    return cast(call("bitwise_or", made, sign), f"uint{width}")
