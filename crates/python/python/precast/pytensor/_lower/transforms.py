"""Fourier transforms. PyTensor's real transforms hold complex numbers as a last axis of two parts, and transform all axes but the first."""

from __future__ import annotations

from typing import Any

from ..._variable import Variable, call
from .lowering import Lowering, cast, constant_value, rule


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
