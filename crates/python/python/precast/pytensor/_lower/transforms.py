"""Fourier transforms, and convolutions of matrices. PyTensor's real transforms hold complex numbers as a last axis of two parts, and transform all axes but the first."""

from __future__ import annotations

from typing import Any

from ..._variable import Variable, call
from .factors import by_python
from .lowering import Lowering, cast, constant, constant_value, rule


def _counts(lengths: Any, value: Variable, usual: int) -> list[Any]:
    """Returns the numbers of elements along the last axes. A number that is known stays a Python integer."""
    if hasattr(lengths, "data"):
        return [int(count) for count in lengths.data]
    known = lengths.type.shape[0]
    return [value[at] for at in range(usual if known is None else known)]


@rule("RFFTOp")
def rfft(lower: Lowering, node: Any, inputs: list[Variable]) -> list[Variable]:
    x, lengths = inputs
    counts = _counts(node.inputs[1], lengths, x.type.ndim - 1)
    made = call("rfftn", x, s=counts, axes=list(range(-len(counts), 0)))
    parts = call("stack", call("real", made), call("imag", made), axis=-1)
    return [cast(parts, node.outputs[0].type.dtype)]


@rule("IRFFTOp")
def irfft(lower: Lowering, node: Any, inputs: list[Variable]) -> list[Variable]:
    x, lengths = inputs
    counts = _counts(node.inputs[1], lengths, x.type.ndim - 2)
    whole = call("complex", x[..., 0], x[..., 1])
    # The sums are not divided by their number.
    made = call("irfftn", whole, s=counts, axes=list(range(-len(counts), 0)), norm="forward")
    return [cast(made, node.outputs[0].type.dtype)]


@rule("Fourier")
def fft(lower: Lowering, node: Any, inputs: list[Variable]) -> list[Variable]:
    count, axis = node.inputs[1:]
    known = int(count.data) if hasattr(count, "data") else inputs[1]
    return [cast(call("fft", inputs[0], known, axis=int(constant_value(axis, "axis"))), node.outputs[0].type.dtype)]


def _padded(x: Variable, axis: int, count: Variable) -> Variable:
    """Returns a matrix with zeros before and behind it."""
    extents = [call("shape_i", x, i=at) for at in range(2)]
    extents[axis] = count
    zeros = call("alloc", cast(constant(0, "int64"), x.type.dtype), *extents)
    return call("join", zeros, x, zeros, axis=axis)


@rule("Convolve2d")
@by_python
def convolve2d(lower: Lowering, node: Any, inputs: list[Variable]) -> list[Variable]:
    dtype = node.outputs[0].type.dtype
    x, kernel = (cast(value, dtype) for value in inputs[:2])
    extents = [[call("shape_i", value, i=axis) for axis in range(2)] for value in (x, kernel)]
    for axis, count in enumerate(extents[1]):
        x = _padded(x, axis, call("sub", count, 1))
    made = call("conv2d", x[None, None], call("flip", kernel)[None, None])[0, 0]
    # The valid part of a convolution is where the smaller matrix lies within the larger one.
    is_full = inputs[2]
    pairs = list(zip(*extents, strict=True))
    is_within = [call("all", call("stack", [call(compare, x, y) for x, y in pairs])) for compare in ("ge", "le")]
    is_valid = call("logical_or", is_full, call("logical_or", *is_within))
    made = call("assert", made, is_valid, message="one of the matrices must be the smaller one in each dimension", error="value")
    first = [call("where", is_full, 0, call("sub", call("minimum", x, y), 1)) for x, y in pairs]
    behind = [call("where", is_full, call("sub", call("add", x, y), 1), call("maximum", x, y)) for x, y in pairs]
    return [made[first[0] : behind[0], first[1] : behind[1]]]
