"""Indexing, and assignment to indexed parts."""

from __future__ import annotations

from functools import reduce
from typing import Any

from ..._variable import Variable, call
from .elementwise import index, with_extent
from .lowering import Lowering, Refused, cast, constant, name_of, rule
from .shapes import extent_of, extents_of


@rule("Subtensor")
def subtensor(lower: Lowering, node: Any, inputs: list[Variable]) -> Variable:
    x, *numbers = inputs
    items = items_of(node.op.idx_list, numbers)
    own = lower.extents.of(node.inputs[0])
    places = items_of(node.op.idx_list, node.inputs[1:])
    told = []
    for axis, extent in enumerate(own):
        place = places[axis] if axis < len(places) else slice(None)
        if isinstance(place, slice):
            told.append(extent if is_whole(place) else extent_of_part(lower, extent, place))
    lower.extents.tell(node.outputs[0], told)
    axis = axis_of_shape(node)
    if axis is not None:
        shaped = node.inputs[0].owner.inputs[0]
        return extent_of(lower, node, shaped, lower.value(shaped), axis)
    return index(x, tuple(items))


def has_position(node: Any, axis: int) -> bool:
    """Returns whether the position of a Subtensor along an axis is known to be in bounds."""
    extent, at = node.inputs[0].type.shape[axis], getattr(items_of(node.op.idx_list, node.inputs[1:])[axis], "data", None)
    return at is not None and extent is not None and -extent <= at < extent


def extent_of_part(lower: Lowering, extent: Any, place: slice) -> Any:
    """Returns the extent of a slice: a number if the bounds and the extent are numbers, otherwise a new extent."""
    bounds = [bound if bound is None else lower.number(bound) for bound in (place.start, place.stop, place.step)]
    if not isinstance(extent, int) or not all(bound is None or isinstance(bound, int) for bound in bounds) or bounds[2] == 0:
        return object()
    return len(range(extent)[slice(*bounds)])


def axis_of_shape(node: Any) -> int | None:
    """Returns the axis whose extent a Subtensor reads from a shape, if it does so."""
    owner = node.inputs[0].owner
    is_position = len(node.op.idx_list) == 1 and not isinstance(node.op.idx_list[0], slice)
    if owner is None or name_of(owner.op) != "Shape" or not is_position or not has_position(node, 0):
        return None
    return int(node.inputs[1].data) % node.inputs[0].type.shape[0]


def items_of(entries: Any, numbers: list[Any]) -> list[Any]:
    """Returns the items of an index. PyTensor stores their structure in the op, and the numbers as inputs."""
    rest = iter(numbers)

    def one(entry: Any) -> Any:
        if isinstance(entry, slice):
            return slice(*(None if part is None else next(rest) for part in (entry.start, entry.stop, entry.step)))
        return next(rest)

    return [one(entry) for entry in entries]


def is_whole(item: Any) -> bool:
    """Returns whether an item is `:`."""
    return isinstance(item, slice) and item.start is None and item.stop is None and item.step is None


def advanced_items(node: Any, indices: list[Any]) -> list[Any]:
    """Returns the indices of an advanced op. Older versions have slices and `None` as inputs; newer ones store them in the op."""
    entries = getattr(node.op, "idx_list", None)
    items = list(indices) if entries is None else items_of(entries, indices)
    for item in items:
        if not isinstance(item, (Variable, slice, type(None))):
            raise Refused(f"unsupported index `{item!r}`")
    return items


@rule("MakeSlice")
def make_slice(lower: Lowering, node: Any, inputs: list[Any]) -> slice:
    return slice(*inputs)


@rule("AdvancedSubtensor", "AdvancedSubtensor1")
def advanced_subtensor(lower: Lowering, node: Any, inputs: list[Any]) -> Variable:
    x, *indices = inputs
    items = advanced_items(node, indices)
    arrays = [item for item in items if isinstance(item, Variable)]
    if sum(item.type.ndim > 0 for item in arrays) < 2 or any(item.type.dtype == "bool" for item in arrays):
        return index(x, tuple(items))
    part = call_index(x, basic_items(items))
    places = places_of(items)
    order = neighbouring(places, part.type.ndim)
    axis = order.index(places[0])
    part = shuffled(part, order)
    return call("take", joined(part, axis, len(arrays)), joined_positions(part, arrays, axis), axis=axis)


def basic_items(items: list[Any]) -> list[Any]:
    """Returns the indices with `:` in place of arrays."""
    return [slice(None) if isinstance(item, Variable) else item for item in items]


def call_index(x: Variable, items: list[Any]) -> Variable:
    """Returns `x` indexed with basic indices, or `x` itself if all of them are `:`."""
    return x if all(is_whole(item) for item in items) else index(x, tuple(items))


def places_of(items: list[Any]) -> list[int]:
    """Returns the axes that are indexed by arrays."""
    return [at for at, item in enumerate(items) if isinstance(item, Variable)]


def neighbouring(places: list[int], ndim: int) -> list[int]:
    """Returns an order of axes in which `places` are adjacent: unchanged if they already are, otherwise in front, as in NumPy."""
    if places == list(range(places[0], places[0] + len(places))):
        return list(range(ndim))
    return [*places, *(axis for axis in range(ndim) if axis not in places)]


def shuffled(x: Variable, order: list[int]) -> Variable:
    """Returns an array with its axes in another order."""
    return x if order == sorted(order) else call("dimshuffle", x, order=order)


def joined_positions(x: Variable, arrays: list[Variable], axis: int) -> Variable:
    """Converts positions on adjacent axes to positions on the joined axis."""
    result: Variable | None = None
    for place, positions in enumerate(arrays, axis):
        extent = cast(call("shape_i", x, i=place), "int64")
        within = within_bounds(cast(positions, "int64"), extent, place)
        result = within if result is None else call("add", call("mul", result, extent), within)
    assert result is not None
    return result


def within_bounds(positions: Variable, extent: Variable, axis: int) -> Variable:
    """Returns positions without negative values, with a bounds check."""
    is_within = call("logical_and", call("ge", positions, call("neg", extent)), call("lt", positions, extent))
    positions = call("assert", positions, call("all", is_within), message=f"an index is out of bounds for axis {axis}", error="index")
    return call("switch", call("lt", positions, 0), call("add", positions, extent), positions)


def joined(x: Variable, axis: int, count: int) -> Variable:
    """Returns an array with adjacent axes joined."""
    if count == 1:
        return x
    extents = extents_of(x)
    return call("reshape", x, *extents[:axis], product(extents[axis : axis + count]), *extents[axis + count :])


def product(extents: list[Variable]) -> Variable:
    """Returns the product of extents."""
    return reduce(lambda a, b: call("mul", a, b), extents)


@rule("IncSubtensor")
def inc_subtensor(lower: Lowering, node: Any, inputs: list[Variable]) -> Variable:
    x, y, *numbers = inputs
    lower.extents.equate(node.outputs[0], node.inputs[0])
    return call(writer(node), index(x, tuple(items_of(node.op.idx_list, numbers))), cast(y, x.type.dtype))


@rule("AdvancedIncSubtensor", "AdvancedIncSubtensor1")
def advanced_inc_subtensor(lower: Lowering, node: Any, inputs: list[Any]) -> Variable:
    x, y, *indices = inputs
    items, y = advanced_items(node, indices), cast(y, x.type.dtype)
    lower.extents.equate(node.outputs[0], node.inputs[0])
    if getattr(node.op, "ignore_duplicates", False):
        raise Refused("the result for duplicate positions is unspecified")
    arrays = [item for item in items if isinstance(item, Variable)]
    is_mask = any(item.type.dtype == "bool" for item in arrays)
    if is_mask or len(arrays) == 1 and not all(isinstance(item, Variable) or is_whole(item) for item in items):
        return call(writer(node), index(x, tuple(items)), y)
    if len(arrays) > 1:
        return written_by_several(writer(node), x, y, items)
    (axis,), (positions,) = places_of(items), arrays
    if axis == 0 and positions.type.ndim == 1:
        y = unbroadcast(lower, node, x, y, positions)
    return written(writer(node), x, y, positions, axis)


def written_by_several(function: str, x: Variable, y: Variable, items: list[Any]) -> Variable:
    """Returns a tensor with values set or added at positions from several arrays."""
    if any(item is None for item in items):
        raise Refused("it assigns through several index arrays and new axes")
    places, basic = places_of(items), basic_items(items)
    order = neighbouring(places, x.type.ndim)
    axis, arrays = order.index(places[0]), [items[place] for place in places]
    part = shuffled(call_index(x, basic), order)
    made = written(function, joined(part, axis, len(arrays)), y, joined_positions(part, arrays, axis), axis)
    made = shuffled(call("reshape", made, *extents_of(part)), [order.index(each) for each in range(len(order))])
    return made if all(is_whole(item) for item in basic) else call("set_subtensor", index(x, tuple(basic)), made)


def unbroadcast(lower: Lowering, node: Any, x: Variable, y: Variable, positions: Variable) -> Variable:
    """Returns values for rows, with a check of their extents unless their type has the extent 1."""
    variable, rank = node.inputs[1], x.type.ndim
    expected = [lower.extents.of(node.inputs[2])[0], *lower.extents.of(node.inputs[0])[1:]]
    for axis, extent in enumerate(lower.extents.of(variable)):
        place = rank - y.type.ndim + axis
        wanted = expected[place]
        if variable.type.shape[axis] == 1 or extent is wanted or extent == wanted:
            continue
        other = call("shape_i", positions, i=0) if place == 0 else call("shape_i", x, i=place)
        y = with_extent(y, axis, other)
        lower.extents.unite(extent, wanted)
    return y


def written(function: str, x: Variable, y: Variable, positions: Variable, axis: int) -> Variable:
    """Returns a tensor with values set or added at positions along an axis."""
    if positions.type.ndim != 1:
        before, after, own = extents_of(x)[:axis], extents_of(x)[axis + 1 :], extents_of(positions)
        y = call("broadcast_to", y, *before, *own, *after) if before or own or after else y
        y = call("reshape", y, *before, product(own) if own else constant(1, "int64"), *after)
        positions = call("flatten", positions)
    if axis == 0:
        return call(function, index(x, positions), y)
    # The library assigns to positions along the first axis.
    order = [axis, *(each for each in range(x.type.ndim) if each != axis)]
    made = call(function, index(call("dimshuffle", x, order=order), positions), in_front(y, axis, x.type.ndim))
    return call("dimshuffle", made, order=[order.index(each) for each in range(x.type.ndim)])


def in_front(y: Variable, axis: int, ndim: int) -> Variable:
    """Returns values for a part of rank `ndim`, with one axis moved to the front."""
    if y.type.ndim == 0:
        return y
    missing = ndim - y.type.ndim
    places = [each - missing if each >= missing else -1 for each in range(ndim)]
    return call("dimshuffle", y, order=[places[axis], *(place for each, place in enumerate(places) if each != axis)])


def writer(node: Any) -> str:
    """Returns the library function that assigns."""
    return "set_subtensor" if node.op.set_instead_of_inc else "inc_subtensor"
