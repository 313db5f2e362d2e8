"""Sums, products, extremes, running sums, and sorting."""

from __future__ import annotations

from typing import Any

import numpy

from ..._variable import Variable, call
from . import scalars
from .elementwise import computed, index
from .lowering import Lowering, Refused, applies, cast, constant, constant_value, name_of, rule

#: The reductions by scalar op.
_OF = {"Add": "sum", "Mul": "prod", "Maximum": "max", "Minimum": "min", "AND": "all", "OR": "any"}


@rule("CAReduce", "FixedOpCAReduce", "Sum", "Prod", "Max", "Min", "All", "Any", "ProdWithoutZeros")
def reduce(lower: Lowering, node: Any, inputs: list[Variable]) -> Variable:
    op, (x,), (output,) = node.op, inputs, node.outputs
    axes = axes_of(op.axis, x.type.ndim)
    kept_extents(lower, node, axes)
    name, x = parted(lower, op.scalar_op, x)
    if name == "MulWithoutZeros":
        one = constant(1, x.type.dtype)
        x, name = scalars.select(call("eq", x, constant(0, x.type.dtype)), one, x), "Mul"
    if name not in _OF:
        raise Refused(f"precast has no reduction by `{name}`")
    dtype = output.type.dtype
    if name in ("AND", "OR") and dtype != "bool":
        raise Refused(f"precast has no reduction of integers by `{name}`")
    if name in ("Add", "Mul"):
        accumulator = getattr(op, "acc_dtype", None) or dtype
        if accumulator == "bool":
            raise Refused("a sum of bools is a bool in PyTensor, but not in precast")
        x = cast(x, accumulator)
    if not axes:
        return x
    if getattr(op, "initial", False):
        x = with_initial(x, axes, op.initial_value(dtype))
    return call(_OF[name], x, axis=axes)


def parted(lower: Lowering, op: Any, x: Variable) -> tuple[str, Variable]:
    """Returns the reducing scalar op and its operand. PyTensor fuses a reduction with its operand to one op, `total + f(x)`."""
    if name_of(op) != "Composite":
        return name_of(op), x
    inner = op.fgraph
    (total, element), (output,) = inner.inputs, inner.outputs
    last = output.owner
    if name_of(last.op) == "Cast":
        last = last.inputs[0].owner
    others = [variable for variable in last.inputs if variable is not total]
    before = applies(others, set(inner.inputs))
    if len(others) != 1 or len(last.inputs) != 2 or any(total in each.inputs for each in before):
        raise Refused(f"precast has no reduction by `{op}`")
    ((mapped, _),) = computed(lower, {element: (x, {0})}, others)
    return name_of(last.op), mapped


def axes_of(axis: Any, ndim: int) -> list[int]:
    """Returns the reduced axes."""
    return list(range(ndim)) if axis is None else [int(each) for each in numpy.atleast_1d(axis)]


def kept_extents(lower: Lowering, node: Any, axes: list[int]) -> None:
    """Sets the extents of a result without the reduced axes."""
    extents = lower.extents.of(node.inputs[0])
    lower.extents.tell(node.outputs[0], [extent for axis, extent in enumerate(extents) if axis not in axes])


def with_initial(x: Variable, axes: list[int], value: Any) -> Variable:
    """Appends one element along a reduced axis, so that the reduction is not empty."""
    axis = axes[0]
    shape = [constant(1, "int64") if each == axis else call("shape_i", x, i=each) for each in range(x.type.ndim)]
    more = call("alloc", constant(value, x.type.dtype), *shape)
    # The other reduced axes may also be empty.
    for each in axes[1:]:
        x, more = (call("join", part, index_zero(part, each, value), axis=each) for part in (x, more))
    return call("join", x, more, axis=axis)


def index_zero(x: Variable, axis: int, value: Any) -> Variable:
    """Returns an array with extent 1 along an axis, filled with a value."""
    shape = [constant(1, "int64") if each == axis else call("shape_i", x, i=each) for each in range(x.type.ndim)]
    return call("alloc", constant(value, x.type.dtype), *shape)


@rule("Argmax")
def argmax(lower: Lowering, node: Any, inputs: list[Variable]) -> Variable:
    (x,) = inputs
    axes = axes_of(node.op.axis, x.type.ndim)
    kept_extents(lower, node, axes)
    if len(axes) == x.type.ndim:
        return call("argmax", x)
    if len(axes) == 1:
        return call("argmax", x, axis=axes[0])
    # Move the kept axes to the front, and join the reduced axes.
    kept = [axis for axis in range(x.type.ndim) if axis not in axes]
    x = call("dimshuffle", x, order=kept + axes)
    extents = [call("shape_i", x, i=axis) for axis in range(x.type.ndim)]
    rest = extents[len(kept)]
    for extent in extents[len(kept) + 1 :]:
        rest = call("mul", rest, extent)
    return call("argmax", call("reshape", x, *extents[: len(kept)], rest), axis=len(kept))


@rule("Softmax", "LogSoftmax")
def softmax(lower: Lowering, node: Any, inputs: list[Variable]) -> Variable:
    lower.extents.equate(node.outputs[0], node.inputs[0])
    function = "softmax" if name_of(node.op) == "Softmax" else "log_softmax"
    return call(function, cast(inputs[0], node.outputs[0].type.dtype), **({} if node.op.axis is None else {"axis": node.op.axis}))


@rule("CumOp")
def cumulative(lower: Lowering, node: Any, inputs: list[Variable]) -> Variable:
    function = {"add": "cumsum", "mul": "cumprod"}[node.op.mode]
    if node.op.axis is not None:
        lower.extents.equate(node.outputs[0], node.inputs[0])
        return call(function, inputs[0], axis=int(node.op.axis))
    return call(function, inputs[0])


@rule("SortOp")
def sort(lower: Lowering, node: Any, inputs: list[Any]) -> Variable:
    return _sorted(lower, node, inputs, "sort")


@rule("ArgSortOp")
def argsort(lower: Lowering, node: Any, inputs: list[Any]) -> Variable:
    # precast sorts stably. Sort kinds other than `stable` leave the order of equal elements open.
    return _sorted(lower, node, inputs, "argsort")


def _sorted(lower: Lowering, node: Any, inputs: list[Any], function: str) -> Variable:
    x = inputs[0]
    # Older versions have the axis as an input.
    axis = node.op.axis if hasattr(node.op, "axis") else constant_value(node.inputs[1], "axis")
    if getattr(node.op, "order", None):
        raise Refused("precast cannot sort by field")
    if axis is None or numpy.ndim(axis) == 0 and isinstance(axis, numpy.ndarray) and axis.dtype == object:
        return call(function, call("flatten", x), axis=0)
    lower.extents.equate(node.outputs[0], node.inputs[0])
    return call(function, x, axis=int(axis))


@rule("SearchsortedOp")
def searchsorted(lower: Lowering, node: Any, inputs: list[Variable]) -> Variable:
    if len(inputs) != 2:
        raise Refused("precast has no `searchsorted` with a sorter")
    lower.extents.equate(node.outputs[0], node.inputs[1])
    return call("searchsorted", *inputs, side=node.op.side)


@rule("Unique")
def unique(lower: Lowering, node: Any, inputs: list[Variable]) -> Variable:
    if len(node.outputs) != 1 or node.op.axis is not None and node.inputs[0].type.ndim != 1:
        raise Refused("precast's `unique` returns only elements, not indices or counts")
    return call("unique", inputs[0])


@rule("Nonzero")
def nonzero(lower: Lowering, node: Any, inputs: list[Variable]) -> list[Variable]:
    found = call("nonzero", inputs[0])
    count = object()
    for output in node.outputs:
        lower.extents.tell(output, [count])
    return [index(found, row) for row in range(len(node.outputs))]
