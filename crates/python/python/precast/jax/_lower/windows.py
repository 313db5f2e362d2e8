"""Convolutions and reductions of windows: the elements of windows at each place of a kernel, and then a product or a reduction."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy

from ..._front.values import cast, constant
from ..._variable import Variable, call
from .lowering import Lowering, Refused, dtype_of, is_symbolic, numbers, rule, variable
from .reductions import limit
from .shapes import ALL, padded, permuted

#: The largest number of places of a kernel.
MAX_PLACES = 1024


class Places:
    """The places of a kernel that moves over an array along its spatial axes."""

    def __init__(self, kernel: Sequence[Any], strides: Sequence[int], dilation: Sequence[int], out: Sequence[Any]) -> None:
        self.kernel, self.strides, self.dilation, self.out = numbers(kernel, "its window"), strides, dilation, numbers(out)
        if numpy.prod(self.kernel) > MAX_PLACES:
            raise Refused(f"a window has more than {MAX_PLACES} elements")

    def __iter__(self) -> Iterator[tuple[slice, ...]]:
        """Yields the index of the elements at each place, for all windows."""
        for place in itertools.product(*map(range, self.kernel)):
            steps = zip(place, self.strides, self.dilation, self.out, strict=True)
            yield tuple(slice(at * far, at * far + (count - 1) * stride + 1, stride) for at, stride, far, count in steps)


@rule("conv_general_dilated")
def convolution(lower: Lowering, eqn: Any, x: Any, kernel: Any) -> Variable:
    """Joins the elements of each window in the last axis, and multiplies them by the kernel as a matrix."""
    params, out = eqn.params, eqn.outvars[0].aval
    if dtype_of(out).kind == "c":
        raise Refused("complex numbers are not supported")
    of_x, of_kernel, of_out = (list(map(int, axes)) for axes in params["dimension_numbers"])
    shape_x, shape_kernel, shape_out = (
        [aval.shape[axis] for axis in axes] for aval, axes in zip([each.aval for each in (*eqn.invars, eqn.outvars[0])], (of_x, of_kernel, of_out), strict=True)
    )
    dtype = dtype_of(out)
    # Batch and features last: `x[batch, …, feature]`, `kernel[…, in, out]`.
    x = permuted(cast(variable(x), dtype), [of_x[0], *of_x[2:], of_x[1]])
    kernel = permuted(cast(variable(kernel), dtype), [*of_kernel[2:], of_kernel[1], of_kernel[0]])
    config = [(low, high, inner - 1) for (low, high), inner in zip(params["padding"], params["lhs_dilation"], strict=True)]
    batch, spatial = shape_x[0], shape_x[2:]
    x = padded(lower, x, constant(0, dtype), [batch, *spatial, shape_x[1]], [(0, 0, 0), *config, (0, 0, 0)])
    features, groups = shape_x[1], params["feature_group_count"]
    if params["batch_group_count"] > 1:
        # Groups of the batch become groups of features.
        groups, batch, x = params["batch_group_count"], numbers([batch])[0] // params["batch_group_count"], grouped(x, params["batch_group_count"])
        features *= groups
    places = Places(shape_kernel[2:], params["window_strides"], params["rhs_dilation"], shape_out[2:])
    if 0 in (*places.out, *places.kernel) or not is_symbolic(batch) and batch == 0:
        return call("broadcast_to", constant(0, dtype), lower.extents(out.shape))
    parts = [x[(ALL, *place)] for place in places]
    made = multiplied(lower, parts, kernel, batch, places, features, groups, shape_kernel)
    # `made[batch, …, feature]`
    order = [0, len(of_out) - 1, *range(1, len(of_out) - 1)]
    inverse = sorted(range(len(of_out)), key=of_out.__getitem__)
    return permuted(made, [order[axis] for axis in inverse])


def grouped(x: Variable, groups: int) -> Variable:
    """Moves groups of the first axis to the last one."""
    extents = [call("shape_i", x, i=axis) for axis in range(x.type.ndim)]
    parts = call("reshape", x, groups, -1, *extents[1:])
    moved = call("moveaxis", parts, 0, -2)
    return call("reshape", moved, *(call("shape_i", moved, i=axis) for axis in range(x.type.ndim - 1)), -1)


def multiplied(
    lower: Lowering, parts: list[Variable], kernel: Variable, batch: Any, places: Places, features: int, groups: int, shape: Sequence[int]
) -> Variable:
    """Returns the products of windows and the kernel, for each group of features."""
    own, results, count = features // groups, shape[0] // groups, len(parts)
    extents = (lower.extent(batch), *places.out)
    matrix = call("reshape", kernel, count * own, groups, results)
    if groups == 1:
        joined = call("join", *parts, axis=-1) if count > 1 else parts[0]
        rows = call("reshape", joined, -1, count * own)
        return call("reshape", call("dot", rows, matrix[(ALL, 0)]), *extents, results)
    # `[place, window, group, feature]` to `[group, window, place and feature]`
    stacked = call("join", *(call("reshape", part, 1, -1, groups, own) for part in parts), axis=0)
    rows = call("reshape", permuted(stacked, [2, 1, 0, 3]), groups, -1, count * own)
    made = call("matmul", rows, permuted(matrix, [1, 0, 2]))
    return call("reshape", permuted(made, [1, 0, 2]), *extents, groups * results)


_REDUCED = {"reduce_window_sum": "add", "reduce_window_max": "maximum", "reduce_window_min": "minimum"}


@rule(*_REDUCED)
def reduced_windows(lower: Lowering, eqn: Any, x: Any) -> Variable:
    name, params, aval = _REDUCED[eqn.primitive.name], eqn.params, eqn.invars[0].aval
    idle = 0 if name == "add" else limit(dtype_of(aval), name == "maximum")
    config = [(low, high, inner - 1) for (low, high), inner in zip(params["padding"], params["base_dilation"], strict=True)]
    x = padded(lower, variable(x), constant(idle, dtype_of(aval)), aval.shape, config)
    return combined(lower, x, params, eqn.outvars[0].aval, lambda y, z: call(name, y, z))


def combined(lower: Lowering, x: Variable, params: Any, out: Any, join: Callable[[Variable, Variable], Variable]) -> Variable:
    """Combines the elements of windows, whose axes include all axes of the array."""
    shape = [1 if is_symbolic(extent) else extent for extent in out.shape]
    places = Places(params["window_dimensions"], params["window_strides"], params["window_dilation"], shape)
    made = None
    for index in places:
        part = x[tuple(ALL if is_symbolic(extent) else each for extent, each in zip(out.shape, index, strict=True))]
        made = part if made is None else join(made, part)
    assert made is not None
    return made


@rule("select_and_scatter_add")
def scattered_to_extremes(lower: Lowering, eqn: Any, source: Any, x: Any) -> Variable:
    """Adds the elements of `source` to the places of the extremes of windows, the first of equal ones."""
    params, aval = eqn.params, eqn.invars[1].aval
    numbers(aval.shape)
    name = {"ge": "maximum", "le": "minimum"}.get(params["select_prim"].name)
    if name is None:
        raise Refused(f"windows that `{params['select_prim'].name}` selects from are not supported")
    dtype, config = dtype_of(aval), [(low, high, 0) for low, high in params["padding"]]
    x = padded(lower, variable(x), constant(limit(dtype, name == "maximum"), dtype), aval.shape, config)
    source = variable(source)
    places = list(Places(params["window_dimensions"], params["window_strides"], [1] * len(aval.shape), eqn.invars[0].aval.shape))
    parts = call("join", *(x[place][None] for place in places), axis=0)
    chosen = call("argmax" if name == "maximum" else "argmin", parts, axis=0)
    made = call("zeros_like", x)
    for at, place in enumerate(places):
        made = made[place].inc(call("switch", call("eq", chosen, constant(at, "int64")), source, constant(0, dtype)))
    return made[tuple(slice(low, low + extent) for (low, _), extent in zip(params["padding"], aval.shape, strict=True))]
