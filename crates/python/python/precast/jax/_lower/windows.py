"""Convolutions and reductions of windows: the elements of windows at each place of a kernel, and then a product or a reduction."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy

from ..._front.values import cast, constant
from ..._variable import Variable, call
from .lowering import Lowering, Refused, dtype_of, is_symbolic, numbers, rule, variable
from .reductions import COMBINATIONS, combinations, limit
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
    dtype, orders = dtype_of(out), [list(map(int, axes)) for axes in params["dimension_numbers"]]
    if dtype.kind == "c":
        raise Refused("complex numbers are not supported")
    shapes = [[aval.shape[axis] for axis in order] for aval, order in zip((*(each.aval for each in eqn.invars), out), orders, strict=True)]
    # Features last: `x[batch, …, feature]`, `kernel[…, in, out]`, and `made[batch, …, feature]`.
    x, kernel = (features_last(cast(variable(each), dtype), order) for each, order in zip((x, kernel), orders, strict=False))
    kernel = permuted(kernel, [*range(1, len(orders[1])), 0])
    batch, features, *spatial = shapes[0]
    config = [(low, high, inner - 1) for (low, high), inner in zip(params["padding"], params["lhs_dilation"], strict=True)]
    x = padded(lower, x, constant(0, dtype), [batch, *spatial, features], [(0, 0, 0), *config, (0, 0, 0)])
    groups, groups_of_batch = params["feature_group_count"], params["batch_group_count"]
    if groups_of_batch > 1:
        # Groups of the batch become groups of features.
        groups, batch, x = groups_of_batch, numbers([batch])[0] // groups_of_batch, grouped(x, groups_of_batch)
        features *= groups
    places = Places(shapes[1][2:], params["window_strides"], params["rhs_dilation"], shapes[2][2:])
    if 0 in (*places.out, *places.kernel) or not is_symbolic(batch) and batch == 0:
        return call("broadcast_to", constant(0, dtype), lower.extents(out.shape))
    made = multiplied(lower, [x[(ALL, *place)] for place in places], kernel, batch, places, features, groups, shapes[1][0])
    places_of = [0, len(out.shape) - 1, *range(1, len(out.shape) - 1)]
    return permuted(made, [places_of[orders[2].index(axis)] for axis in range(len(out.shape))])


def features_last(x: Variable, order: Sequence[int]) -> Variable:
    """Returns an array with its axes in an order, but its second axis last."""
    return permuted(x, [order[0], *order[2:], order[1]])


def grouped(x: Variable, groups: int) -> Variable:
    """Moves groups of the first axis to the last one."""
    extents = [call("shape_i", x, i=axis) for axis in range(x.type.ndim)]
    parts = call("reshape", x, groups, -1, *extents[1:])
    moved = call("moveaxis", parts, 0, -2)
    return call("reshape", moved, *(call("shape_i", moved, i=axis) for axis in range(x.type.ndim - 1)), -1)


def multiplied(
    lower: Lowering, parts: list[Variable], kernel: Variable, batch: Any, places: Places, features: int, groups: int, results: int
) -> Variable:
    """Returns the products of windows and the kernel, for each group of features."""
    own, results, count = features // groups, results // groups, len(parts)
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
    x = spaced(lower, variable(x), constant(idle, dtype_of(aval)), aval, params)
    return combined(lower, x, params, eqn.outvars[0].aval, lambda y, z: call(name, y, z))


@rule("reduce_window")
def windows_by_function(lower: Lowering, eqn: Any, *values: Any) -> list[Variable]:
    """Reduces windows, whose padding has the initial values, and combines the results with these."""
    params, count, results = eqn.params, len(eqn.outvars), []
    for at, name in enumerate(combinations(params["jaxpr"].jaxpr if hasattr(params["jaxpr"], "jaxpr") else params["jaxpr"])):
        join, first = partial(call, COMBINATIONS[name][0]), variable(values[at + count])
        x = spaced(lower, variable(values[at]), first, eqn.invars[at].aval, params)
        results.append(join(combined(lower, x, params, eqn.outvars[at].aval, join), first))
    return results


def spaced(lower: Lowering, x: Variable, filling: Variable, aval: Any, params: Any) -> Variable:
    """Puts filling around the elements of an array, and between them."""
    config = [(low, high, inner - 1) for (low, high), inner in zip(params["padding"], params["base_dilation"], strict=True)]
    return padded(lower, x, filling, aval.shape, config)


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
