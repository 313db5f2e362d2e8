"""Random draws with JAX's default generator, Threefry-2x32. A key is an array of two u32, in an additional last axis.

Bits are those of JAX with `jax_threefry_partitionable`, its default: the word of an element is a function of the key and its position.
"""

from __future__ import annotations

import math
from typing import Any

import jax
import numpy

from ..._front.values import cast, constant
from ..._variable import Variable, call
from .elementwise import unsigned
from .lowering import Lowering, Refused, dtype_of, rule, variable
from .shapes import ALL


def joined(high: Variable, low: Variable) -> Variable:
    """Returns words of 64 bits with two halves."""
    high, low = (cast(each, "uint64") for each in (high, low))
    return call("bitwise_or", call("left_shift", high, constant(32, "uint64")), low)


def halves(words: Variable) -> list[Variable]:
    """Returns the high and the low half of words."""
    return [cast(call("right_shift", words, constant(32, "uint64")), "uint32"), cast(words, "uint32")]


def key_of(words: Variable) -> Variable:
    """Returns words as keys."""
    return call("join", *(half[(..., None)] for half in halves(words)), axis=-1)


def words_of(key: Any) -> Variable:
    """Returns keys as words."""
    key = variable(key)
    return joined(key[(..., 0)], key[(..., 1)])


def words_at(lower: Lowering, key: Any, ndim: int, shape: Any) -> Variable:
    """Returns a random word for each position of a shape and each of the keys, whose array has `ndim` axes."""
    if not jax.config.jax_threefry_partitionable:
        raise Refused("precast has the bits of `jax_threefry_partitionable=True` only")
    extents, count = lower.extents(shape), constant(1, "int64")
    for extent in extents:
        count = call("mul", count, extent)
    places = call("cast", call("arange", count), dtype="uint64")
    places = call("reshape", places, *extents) if extents else places[(0,)]
    return call("threefry", words_of(key)[(ALL,) * ndim + (None,) * len(extents)], places)


@rule("random_wrap", "random_unwrap", of="call")
def same(lower: Lowering, eqn: Any, key: Any) -> Any:
    return key


@rule("random_seed")
def seed(lower: Lowering, eqn: Any, number: Any) -> Variable:
    word = cast(unsigned(variable(number)), "uint64")
    return key_of(word)


@rule("random_split")
def split(lower: Lowering, eqn: Any, key: Any) -> Variable:
    return key_of(words_at(lower, key, len(eqn.invars[0].aval.shape), eqn.params["shape"]))


@rule("random_fold_in")
def fold_in(lower: Lowering, eqn: Any, key: Any, data: Any) -> Variable:
    return key_of(call("threefry", words_of(key), cast(cast(unsigned(variable(data)), "uint32"), "uint64")))


@rule("random_bits")
def bits(lower: Lowering, eqn: Any, key: Any) -> Variable:
    words, width = words_at(lower, key, len(eqn.invars[0].aval.shape), eqn.params["shape"]), eqn.params["bit_width"]
    if width == 64:
        return words
    high, low = halves(words)
    return cast(call("bitwise_xor", high, low), dtype_of(eqn.outvars[0].aval))


@rule("threefry2x32")
def threefry(lower: Lowering, eqn: Any, *words: Any) -> list[Variable]:
    first, second, high, low = map(variable, words)
    return halves(call("threefry", joined(first, second), joined(high, low)))


@rule("random_gamma", of="call")
def gamma(lower: Lowering, eqn: Any, key: Any, shape: Any) -> list[Any]:
    """Lowers JAX's own loop, which is the implementation of the primitive."""
    types = [jax.ShapeDtypeStruct(atom.aval.shape, atom.aval.dtype) for atom in eqn.invars]
    traced = jax.make_jaxpr(lambda *values: eqn.primitive.impl(*values, **eqn.params))(*types)
    return lower.closed(traced, [key, shape])


@rule("iota_2x32_shape", of="call")
def counters(lower: Lowering, eqn: Any) -> list[Any]:
    shape = eqn.params["shape"]
    if any(not isinstance(extent, int) for extent in shape) or math.prod(shape) >= 1 << 32:
        raise Refused("the number of positions must be known, and below 2^32")
    places = numpy.arange(math.prod(shape), dtype="uint32").reshape(shape)
    return [numpy.zeros_like(places), places]
