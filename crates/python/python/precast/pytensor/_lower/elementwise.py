"""Elementwise ops."""

from __future__ import annotations

from typing import Any

from ... import _native
from ..._variable import Variable, call
from . import own_c, scalars
from .lowering import Lowering, applies, cast, constant, is_array, name_of, rule

_MISMATCH = "extents differ; one that is 1 is broadcast only where its type says so"


@rule("Elemwise")
def elemwise(lower: Lowering, node: Any, inputs: list[Variable]) -> list[Variable]:
    inputs = matched(lower, node, inputs)
    results = scalar(lower, node.op.scalar_op, inputs, [output.type.dtype for output in node.outputs])
    return [covering(result, used, inputs, node) for result, used in results]


def matched(lower: Lowering, node: Any, inputs: list[Variable]) -> list[Variable]:
    """Returns the inputs, with checks of extents that are not known to be equal. Sets the extents of the outputs."""
    inputs = list(inputs)
    result: list[Any] = []
    for axis in range(max(value.type.ndim for value in inputs)):
        whole: int | None = None
        for position, variable in enumerate(node.inputs):
            extent = lower.extents.of(variable)[axis]
            if variable.type.shape[axis] == 1:
                continue
            if whole is None:
                whole = position
                continue
            first = lower.extents.of(node.inputs[whole])[axis]
            if first is extent or first == extent:
                continue
            inputs[position] = with_extent(inputs[position], axis, call("shape_i", inputs[whole], i=axis))
            lower.extents.unite(first, extent)
        result.append(1 if whole is None else lower.extents.of(node.inputs[whole])[axis])
    for output in node.outputs:
        lower.extents.tell(output, result)
    return inputs


def with_extent(value: Variable, axis: int, extent: Variable) -> Variable:
    """Returns a value with a check of its extent along an axis."""
    is_so = call("eq", call("shape_i", value, i=axis), extent)
    return call("assert", value, is_so, message=f"axis {axis}: {_MISMATCH}", error="value")


def scalar(
    lower: Lowering, op: Any, inputs: list[Variable], dtypes: list[str]
) -> list[tuple[Variable, set[int]]]:
    """Returns the results of a scalar op, each with the positions of the inputs that it depends on."""
    every = set(range(len(inputs)))
    if name_of(op) != "Composite" and scalars.is_own(op):
        lower.cxx.append(type(op).__name__)
    if name_of(op) == "ScalarLoop":
        return [(made, every) for made in own_c.apply(op, inputs, dtypes)]
    if name_of(op) != "Composite":
        (dtype,) = dtypes
        return [(scalars.compute(op, inputs, dtype), every)]
    inner = op.fgraph
    known = {variable: (value, {position}) for position, (variable, value) in enumerate(zip(inner.inputs, inputs, strict=True))}
    found = computed(lower, known, inner.outputs)
    return [(cast(result, dtype), used) for (result, used), dtype in zip(found, dtypes, strict=True)]


def computed(
    lower: Lowering, known: dict[Any, tuple[Variable, set[int]]], outputs: list[Any]
) -> list[tuple[Variable, set[int]]]:
    """Computes variables of a scalar op's inner graph, each with the positions of the inputs that it depends on."""

    def value(variable: Any) -> tuple[Variable, set[int]]:
        if variable not in known:
            known[variable] = (constant(variable.data, variable.type.dtype), set())
        return known[variable]

    for each in applies(outputs, set(known)):
        arguments = [value(variable) for variable in each.inputs]
        used = set().union(*(positions for _, positions in arguments))
        results = scalar(lower, each.op, [argument for argument, _ in arguments], [output.type.dtype for output in each.outputs])
        for output, (result, _) in zip(each.outputs, results, strict=True):
            known[output] = (result, used)
    return [value(output) for output in outputs]


def covering(result: Variable, used: set[int], inputs: list[Variable], node: Any) -> Variable:
    """Broadcasts a result to the shape of all inputs, including inputs that it does not depend on."""
    seen = {axis for position in used for axis, extent in enumerate(node.inputs[position].type.shape) if extent != 1}
    for position, (value, variable) in enumerate(zip(inputs, node.inputs, strict=True)):
        missing = {axis for axis, extent in enumerate(variable.type.shape) if extent != 1} - seen
        if position not in used and (missing or result.type.ndim < value.type.ndim):
            result = call("switch", constant(True, "bool"), result, cast(cast(value, "bool"), result.type.dtype))
            seen |= missing
    return result


@rule("Composite", "ScalarLoop", *sorted(scalars.NAMES))
def of_numbers(lower: Lowering, node: Any, inputs: list[Variable]) -> list[Variable]:
    """Lowers a scalar op on numbers."""
    results = scalar(lower, node.op, inputs, [output.type.dtype for output in node.outputs])
    if name_of(node.op) in ("Cast", "Identity") and is_integer(node):
        lower.extents.is_value(node.outputs[0], lower.extents.value(node.inputs[0]))
    return [result for result, _ in results]


@rule("DimShuffle")
def dim_shuffle(lower: Lowering, node: Any, inputs: list[Variable]) -> Variable:
    order = [-1 if axis in ("x", -1) else int(axis) for axis in node.op.new_order]
    extents = lower.extents.of(node.inputs[0])
    lower.extents.tell(node.outputs[0], [1 if axis == -1 else extents[axis] for axis in order])
    return call("dimshuffle", inputs[0], order=order)


@rule(
    "DeepCopyOp",
    "ViewOp",
    "OutputGuard",
    "CpuContiguous",
    "TensorFromScalar",
    "ScalarFromTensor",
    "Unbroadcast",
    "DisconnectedGrad",
    "ConsiderConstant",
    "ZeroGrad",
    "GradClip",
    "GradScale",
    "SpecifyAssumptions",
)
def same(lower: Lowering, node: Any, inputs: list[Variable]) -> Variable:
    """Returns the input. These ops only change its memory or its gradient."""
    if not is_array(node.inputs[0].type):
        return inputs[0]
    lower.extents.equate(node.outputs[0], node.inputs[0])
    if is_integer(node):
        lower.extents.is_value(node.outputs[0], lower.extents.value(node.inputs[0]))
    return inputs[0]


def is_integer(node: Any) -> bool:
    """Returns whether the first input is a single integer, and the result is an integer that can hold every extent."""
    (type_, result) = node.inputs[0].type, node.outputs[0].type
    is_one = getattr(type_, "ndim", 0) == 0 and scalars.kind(type_.dtype) in "iu"
    return is_one and result.dtype in ("int64", "uint64")


def index(value: Variable, item: Any) -> Variable:
    """Returns ``value[item]``."""
    return _native.index(value, item)
