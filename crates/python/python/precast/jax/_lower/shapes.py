"""Primitives that change shapes, join or create arrays. Keys keep their last axis, which JAX does not count."""

from __future__ import annotations

from typing import Any

import numpy

from ..._variable import Variable, call
from .lowering import MAX_KNOWN, Lowering, Refused, Spread, dtype_of, is_key, is_known, is_symbolic, numbers, rule, variable

ALL = slice(None)


@rule("reshape")
def reshape(lower: Lowering, eqn: Any, x: Any, *_: Any) -> Any:
    order = eqn.params.get("dimensions")
    if order is not None:
        x = permuted(x, [*map(int, order)])
    elif eqn.invars[0].aval.shape == eqn.outvars[0].aval.shape:
        return x
    shape = lower.shape(eqn.outvars[0].aval)
    return x.reshape(shape) if is_known(x) else call("reshape", x, *shape)


@rule("squeeze")
def squeeze(lower: Lowering, eqn: Any, x: Any) -> Any:
    dropped = {int(axis) for axis in eqn.params["dimensions"]}
    return x[tuple(0 if axis in dropped else ALL for axis in range(len(eqn.invars[0].aval.shape)))]


@rule("expand_dims")
def expand_dims(lower: Lowering, eqn: Any, x: Any) -> Any:
    new = {int(axis) for axis in eqn.params["dimensions"]}
    return x[tuple(None if axis in new else ALL for axis in range(len(eqn.outvars[0].aval.shape)))]


@rule("broadcast_in_dim", of="call")
def broadcast(lower: Lowering, eqn: Any, x: Any, *_: Any) -> Any:
    before, after = eqn.invars[0].aval, eqn.outvars[0].aval
    axes = {int(axis): position for position, axis in enumerate(eqn.params["broadcast_dimensions"])}
    base = x.base if isinstance(x, Spread) else x
    is_number = (base.ndim if is_known(base) else base.type.ndim) == 0
    if is_key(before):
        full = lower.extents((*after.shape, 2))
        return call("broadcast_to", variable(lower.whole(x))[tuple(ALL if axis in axes else None for axis in range(len(after.shape)))], full)
    if not is_number:
        base = base[tuple(ALL if axis in axes else None for axis in range(len(after.shape)))]
    is_whole = all((before.shape[axes[axis]] if axis in axes else 1) == extent for axis, extent in enumerate(after.shape))
    if is_whole and not isinstance(x, Spread):
        # The new axes have an extent of 1.
        return base[(None,) * len(after.shape)] if is_number else base
    return Spread(base, after.shape)


@rule("transpose")
def transpose(lower: Lowering, eqn: Any, x: Any) -> Any:
    order = [int(axis) for axis in eqn.params["permutation"]]
    return permuted(x, order + [len(order)] * is_key(eqn.invars[0].aval))


def permuted(x: Any, order: list[int]) -> Any:
    """Returns an array with its axes in another order."""
    if order == sorted(order):
        return x
    return numpy.transpose(x, order) if is_known(x) else call("transpose", x, *order)


@rule("rev")
def reverse(lower: Lowering, eqn: Any, x: Any) -> Any:
    axes = {int(axis) for axis in eqn.params["dimensions"]}
    return x[tuple(slice(None, None, -1) if axis in axes else ALL for axis in range(len(eqn.invars[0].aval.shape)))]


@rule("concatenate")
def concatenate(lower: Lowering, eqn: Any, *parts: Any) -> Any:
    return joined(parts, int(eqn.params["dimension"]))


def joined(parts: Any, axis: int) -> Any:
    """Returns arrays in a row along an axis."""
    if len(parts) == 1:
        return parts[0]
    if is_known(*parts) and sum(part.size for part in parts) <= MAX_KNOWN:
        return numpy.concatenate(parts, axis)
    return call("join", *map(variable, parts), axis=axis)


@rule("stack")
def stack(lower: Lowering, eqn: Any, *parts: Any) -> Any:
    axis = int(eqn.params["axis"])
    return joined([part[(ALL,) * axis + (None,)] for part in parts], axis)


@rule("unstack")
def unstack(lower: Lowering, eqn: Any, x: Any) -> list[Any]:
    axis = int(eqn.params["axis"])
    return [x[(ALL,) * axis + (at,)] for at in range(len(eqn.outvars))]


@rule("split")
def split(lower: Lowering, eqn: Any, x: Any) -> list[Any]:
    axis, parts, start = int(eqn.params["axis"]), [], 0
    for size in numbers(eqn.params["sizes"], "a part"):
        parts.append(x[(ALL,) * axis + (slice(start, start + size),)])
        start += size
    return parts


@rule("slice")
def sliced(lower: Lowering, eqn: Any, x: Any) -> Any:
    starts, limits = (lower.extents(eqn.params[name]) for name in ("start_indices", "limit_indices"))
    strides = eqn.params["strides"] or (1,) * len(starts)
    index = []
    for start, limit, stride, whole in zip(starts, limits, strides, eqn.invars[0].aval.shape, strict=True):
        is_whole = not isinstance(limit, Variable) and limit == whole and isinstance(start, int) and start == 0 and int(stride) == 1
        index.append(ALL if is_whole else slice(start, limit, int(stride)))
    return x[tuple(index)] if is_known(x) and not any(isinstance(each, Variable) for each in (*starts, *limits)) else variable(x)[tuple(index)]


@rule("tile")
def tile(lower: Lowering, eqn: Any, x: Any) -> Variable:
    return call("tile", variable(x), tuple(int(count) for count in eqn.params["reps"]))


@rule("iota", of="call")
def iota(lower: Lowering, eqn: Any, *_: Any) -> Any:
    shape, axis, dtype = eqn.params["shape"], int(eqn.params["dimension"]), dtype_of(eqn.outvars[0].aval)
    place = tuple(ALL if at == axis else None for at in range(len(shape)))
    if is_symbolic(shape[axis]) or shape[axis] > MAX_KNOWN:
        base = call("cast", call("arange", lower.extent(shape[axis])), dtype=dtype)[place]
    else:
        base = numpy.arange(int(shape[axis])).astype(dtype)[place]
    return base if all(at == axis or extent == 1 for at, extent in enumerate(shape)) else Spread(base, shape)


@rule("empty", "empty2", of="call")
def empty(lower: Lowering, eqn: Any, *_: Any) -> Spread:
    aval = eqn.outvars[0].aval
    return Spread(numpy.zeros((), dtype_of(aval)), aval.shape)


@rule("zeros_like", of="call")
def zeros_like(lower: Lowering, eqn: Any, x: Any) -> Spread:
    return empty(lower, eqn)


@rule("dim_as_value", of="call")
def extent_as_value(lower: Lowering, eqn: Any) -> Any:
    made = lower.extent(eqn.params["dim"])
    return numpy.asarray(made) if isinstance(made, int) else made


@rule("dimension_size", of="call")
def dimension_size(lower: Lowering, eqn: Any, x: Any) -> Any:
    made = lower.extent(eqn.invars[0].aval.shape[eqn.params["dimension"]])
    return numpy.asarray(made) if isinstance(made, int) else made


@rule("pad")
def pad(lower: Lowering, eqn: Any, x: Any, fill: Any) -> Variable:
    return padded(lower, variable(x), variable(fill), eqn.invars[0].aval.shape, eqn.params["padding_config"])


def padded(lower: Lowering, x: Variable, fill: Variable, shape: Any, config: Any) -> Variable:
    """Returns an array with elements around it and between its elements. Negative numbers of elements remove some."""
    config = [tuple(map(int, each)) for each in config]
    after = [
        extent + max(low, 0) + max(high, 0) + (max(extent - 1, 0) * inner if inner else 0)
        for extent, (low, high, inner) in zip(shape, config, strict=True)
    ]
    is_empty = any(not is_symbolic(extent) and extent == 0 for extent in shape)
    if any(low > 0 or high > 0 or inner for low, high, inner in config):
        whole = call("broadcast_to", fill, lower.extents(after))
        x = whole if is_empty else whole[tuple(inserted(lower, *each) for each in zip(shape, config, strict=True))].set(x)
    if any(low < 0 or high < 0 for low, high, _ in config):
        ends = (lower.extent(extent + min(high, 0)) for extent, (_, high, _) in zip(after, config, strict=True))
        x = x[tuple(slice(max(-low, 0), end) for end, (low, _, _) in zip(ends, config, strict=True))]
    return x


def inserted(lower: Lowering, extent: Any, config: tuple[int, int, int]) -> slice:
    """Returns the positions of the elements of an array along an axis of the padded one."""
    low, high, inner = config
    if config == (0, 0, 0):
        return ALL
    if is_symbolic(extent) and inner:
        raise Refused("it inserts elements along an axis whose extent is known only when the graph runs")
    start = max(low, 0)
    return slice(start, lower.extent(start + ((extent - 1) * (inner + 1) + 1 if inner else extent)), inner + 1)
