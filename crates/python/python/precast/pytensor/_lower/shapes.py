"""Extents, and ops that change them or create arrays."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy

from ..._variable import Variable, call
from .elementwise import index, with_extent
from .lowering import Lowering, Refused, cast, constant, constant_value, rule


@rule("Shape")
def shape(lower: Lowering, node: Any, inputs: list[Variable]) -> Variable:
    return call("shape", inputs[0])


@rule("Shape_i")
def shape_i(lower: Lowering, node: Any, inputs: list[Variable]) -> Variable:
    return extent_of(lower, node, node.inputs[0], inputs[0], int(node.op.i))


def extent_of(lower: Lowering, node: Any, variable: Any, x: Variable, axis: int) -> Variable:
    """Returns the extent that an Apply computes. It is a constant if the extent is known."""
    extent = lower.extents.of(variable)[axis]
    lower.extents.is_value(node.outputs[0], extent)
    return constant(extent, "int64") if isinstance(extent, int) else call("shape_i", x, i=axis)


@rule("SpecifyShape")
def specify_shape(lower: Lowering, node: Any, inputs: list[Any]) -> Variable:
    x, *extents = inputs
    known = lower.extents.of(node.inputs[0])
    told: list[Any] = list(known)
    for axis, (variable, extent) in enumerate(zip(node.inputs[1:], extents, strict=True)):
        if extent is None or not isinstance(extent, Variable):
            continue
        wanted = lower.extents.value(variable)
        if wanted is not known[axis] and wanted != known[axis]:
            is_so = call("eq", call("shape_i", x, i=axis), extent)
            x = call("assert", x, is_so, message=f"SpecifyShape: axis {axis} has another extent")
        told[axis] = wanted
    lower.extents.tell(node.outputs[0], told)
    return x


@rule("Reshape")
def reshape(lower: Lowering, node: Any, inputs: list[Variable]) -> Variable:
    return call("reshape", inputs[0], inputs[1], ndim=int(node.op.ndim))


@rule("JoinDims")
def join_dims(lower: Lowering, node: Any, inputs: list[Variable]) -> Variable:
    (x,), start, count = inputs, int(node.op.start_axis), int(node.op.n_axes)
    extents, known = extents_of(x), lower.extents.of(node.inputs[0])
    joined = reduce(lambda a, b: call("mul", a, b), extents[start : start + count], constant(1, "int64"))
    own = known[start] if count == 1 else 1 if count == 0 else object()
    lower.extents.tell(node.outputs[0], [*known[:start], own, *known[start + count :]])
    return call("reshape", x, *extents[:start], joined, *extents[start + count :])


@rule("SplitDims")
def split_dims(lower: Lowering, node: Any, inputs: list[Variable]) -> Variable:
    (x, shape), axis = inputs, int(node.op.axis)
    extents, known = extents_of(x), lower.extents.of(node.inputs[0])
    count = node.outputs[0].type.ndim - x.type.ndim + 1
    lower.extents.tell(node.outputs[0], [*known[:axis], *(object() for _ in range(count)), *known[axis + 1 :]])
    parts = [index(shape, position) for position in range(count)]
    return call("reshape", x, *extents[:axis], *parts, *extents[axis + 1 :])


def extents_of(x: Variable) -> list[Variable]:
    """Returns the extents of an array."""
    return [call("shape_i", x, i=axis) for axis in range(x.type.ndim)]


@rule("Alloc")
def alloc(lower: Lowering, node: Any, inputs: list[Variable]) -> Variable:
    value, *extents = inputs
    told = [lower.number(variable) for variable in node.inputs[1:]]
    own = lower.extents.of(node.inputs[0])
    for axis, known in enumerate(own):
        wanted = told[len(told) - len(own) + axis]
        if node.inputs[0].type.shape[axis] == 1 or known is wanted or known == wanted:
            continue
        value = with_extent(value, axis, extents[len(extents) - len(own) + axis])
        lower.extents.unite(known, wanted)
    lower.extents.tell(node.outputs[0], told)
    return call("alloc", value, *extents) if extents else value


@rule("AllocEmpty")
def alloc_empty(lower: Lowering, node: Any, inputs: list[Variable]) -> Variable:
    """The content is unspecified; precast uses zeros."""
    lower.extents.tell(node.outputs[0], [lower.number(variable) for variable in node.inputs])
    value = constant(0, node.op.dtype)
    return call("alloc", value, *inputs) if inputs else value


@rule("MakeVector")
def make_vector(lower: Lowering, node: Any, inputs: list[Variable]) -> Variable:
    dtype = node.outputs[0].type.dtype
    if not inputs:
        return constant(numpy.zeros(0), dtype)
    return call("make_vector", *(cast(value, dtype) for value in inputs), dtype=numpy.dtype(dtype))


@rule("Join")
def join(lower: Lowering, node: Any, inputs: list[Variable]) -> Variable:
    # Older versions have the axis as the first input.
    axis, parts, variables = getattr(node.op, "axis", None), inputs, node.inputs
    if axis is None:
        axis, parts, variables = constant_value(node.inputs[0], "axis"), inputs[1:], node.inputs[1:]
    axis, dtype = int(axis), node.outputs[0].type.dtype
    axis += parts[0].type.ndim if axis < 0 else 0
    told: list[Any] = list(lower.extents.of(variables[0]))
    for variable in variables[1:]:
        for each, extent in enumerate(lower.extents.of(variable)):
            if each != axis and told[each] is not extent and told[each] != extent:
                # It fails if the extents differ.
                lower.extents.unite(told[each], extent)
    told = list(lower.extents.of(variables[0]))
    told[axis] = told[axis] if len(parts) == 1 else object()
    lower.extents.tell(node.outputs[0], told)
    return call("join", [cast(part, dtype) for part in parts], axis=axis)


@rule("Split")
def split(lower: Lowering, node: Any, inputs: list[Variable]) -> list[Variable]:
    axis = getattr(node.op, "axis", None)
    x, sizes = inputs[0], inputs[-1]
    axis = int(constant_value(node.inputs[1], "axis") if axis is None else axis)
    axis += x.type.ndim if axis < 0 else 0
    extents = lower.extents.of(node.inputs[0])
    for output in node.outputs:
        lower.extents.tell(output, [object() if each == axis else extent for each, extent in enumerate(extents)])
    count = len(node.outputs)
    return [call("split", x, sizes, axis=axis, piece=piece, pieces=count) for piece in range(count)]


@rule("ARange")
def arange(lower: Lowering, node: Any, inputs: list[Variable]) -> Variable:
    dtype = numpy.dtype(node.outputs[0].type.dtype)
    given = [numpy.dtype(variable.type.dtype) for variable in node.inputs]
    if dtype.kind == "f" and all(own.kind in "iub" for own in given):
        # Every integer is exact in the widest dtype.
        return cast(call("arange", *(cast(value, "int64") for value in inputs), dtype=numpy.dtype("int64")), dtype.name)
    if any(numpy.result_type(own, dtype) != dtype for own in given):
        raise Refused(f"an argument has a wider dtype than the elements, `{dtype}`")
    return call("arange", *(cast(value, dtype.name) for value in inputs), dtype=dtype)


@rule("Eye")
def eye(lower: Lowering, node: Any, inputs: list[Variable]) -> Variable:
    lower.extents.tell(node.outputs[0], [lower.extents.value(variable) for variable in node.inputs[:2]])
    return call("eye", *inputs, dtype=numpy.dtype(node.outputs[0].type.dtype))


@rule("Tri")
def tri(lower: Lowering, node: Any, inputs: list[Variable]) -> Variable:
    lower.extents.tell(node.outputs[0], [lower.extents.value(variable) for variable in node.inputs[:2]])
    return call("tri", *inputs, dtype=numpy.dtype(node.outputs[0].type.dtype))


@rule("Repeat")
def repeat(lower: Lowering, node: Any, inputs: list[Variable]) -> Variable:
    axis = node.op.axis
    return call("repeat", inputs[0], inputs[1], **({} if axis is None else {"axis": int(axis)}))


@rule("ExtractDiag")
def extract_diag(lower: Lowering, node: Any, inputs: list[Variable]) -> Variable:
    op = node.op
    return call("diagonal", inputs[0], offset=int(op.offset), axis1=int(op.axis1), axis2=int(op.axis2))


@rule("BlockDiagonal")
def block_diagonal(lower: Lowering, node: Any, inputs: list[Variable]) -> Variable:
    dtype = node.outputs[0].type.dtype
    sizes = [sizes_of(lower, variable, x) for variable, x in zip(node.inputs, inputs, strict=True)]
    made = call("alloc", constant(0, dtype), *(total([size[axis] for size in sizes]) for axis in (0, 1)))
    for at, (x, size) in enumerate(zip(inputs, sizes, strict=True)):
        begins = [total([before[axis] for before in sizes[:at]]) for axis in (0, 1)]
        part = tuple(slice(begin, begin + extent) for begin, extent in zip(begins, size, strict=True))
        made = index(made, part).set(cast(x, dtype))
    return made


def sizes_of(lower: Lowering, variable: Any, x: Variable) -> list[Any]:
    """Returns the extents of an array: numbers if they are known."""
    known = enumerate(lower.extents.of(variable))
    return [extent if isinstance(extent, int) else call("shape_i", x, i=axis) for axis, extent in known]


def total(extents: list[Any]) -> Any:
    return reduce(lambda a, b: a + b, extents, 0)
