"""Parts of arrays, and what writes to them."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy

from ..._variable import Variable, call
from .elementwise import index, with_extent
from .lowering import Lowering, Refused, cast, constant, rule
from .shapes import extents_of


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
            told.append(extent if is_whole(place) else extent_of_part(extent, place))
    lower.extents.tell(node.outputs[0], told)
    if len(own) == 1 and len(items) == 1 and node.outputs[0].type.ndim == 0:
        is_extent(lower, node)
    return index(x, tuple(items))


def extent_of_part(extent: Any, place: slice) -> Any:
    """The extent of a part: a number where the bounds and the extent are numbers, else one of its own."""
    bounds = [getattr(part, "data", part) for part in (place.start, place.stop, place.step)]
    is_known = isinstance(extent, int) and all(bound is None or isinstance(bound, (int, numpy.ndarray, numpy.integer)) for bound in bounds)
    if not is_known or bounds[2] is not None and int(bounds[2]) == 0:
        return object()
    return len(range(extent)[slice(*(None if bound is None else int(bound) for bound in bounds))])


def is_extent(lower: Lowering, node: Any) -> None:
    """Tells where a part of a shape is an extent."""
    owner = node.inputs[0].owner
    data = getattr(node.inputs[1], "data", None) if len(node.inputs) > 1 else None
    if owner is None or type(owner.op).__name__ != "Shape" or data is None:
        return
    lower.extents.is_value(node.outputs[0], lower.extents.of(owner.inputs[0])[int(data)])


def items_of(entries: Any, numbers: list[Any]) -> list[Any]:
    """What stands between the brackets: PyTensor says it once, and has the numbers as inputs."""
    rest = iter(numbers)

    def one(entry: Any) -> Any:
        if isinstance(entry, slice):
            return slice(*(None if part is None else next(rest) for part in (entry.start, entry.stop, entry.step)))
        return next(rest)

    return [one(entry) for entry in entries]


def is_whole(item: Any) -> bool:
    """Whether an item is `:`."""
    return isinstance(item, slice) and item.start is None and item.stop is None and item.step is None


def advanced_items(node: Any, indices: list[Any]) -> list[Any]:
    """The indices of an advanced op: the op says which are slices, or older ones have slices and `None` among the inputs."""
    entries = getattr(node.op, "idx_list", None)
    items = list(indices) if entries is None else items_of(entries, indices)
    for item in items:
        if not isinstance(item, (Variable, slice, type(None))):
            raise Refused(f"an index is `{item!r}`")
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
    positions, axis = joined_positions(x, items)
    return call("take", joined(x, axis, len(arrays)), positions, axis=axis)


def joined_positions(x: Variable, items: list[Any]) -> tuple[Variable, int]:
    """The positions that arrays name on neighbouring axes, as positions in these axes joined; and the first axis."""
    places = [at for at, item in enumerate(items) if isinstance(item, Variable)]
    axis = places[0]
    is_whole_beside = all(isinstance(item, Variable) or is_whole(item) for item in items)
    if places != list(range(axis, axis + len(places))) or not is_whole_beside:
        raise Refused("several arrays of positions, with slices between or beside them")
    result: Variable | None = None
    for place in places:
        extent = cast(call("shape_i", x, i=place), "int64")
        within = within_bounds(cast(items[place], "int64"), extent, place)
        result = within if result is None else call("add", call("mul", result, extent), within)
    assert result is not None
    return result, axis


def within_bounds(positions: Variable, extent: Variable, axis: int) -> Variable:
    """Positions from the front, checked."""
    is_within = call("logical_and", call("ge", positions, call("neg", extent)), call("lt", positions, extent))
    positions = call("assert", positions, call("all", is_within), message=f"an index is out of bounds for axis {axis}")
    return call("switch", call("lt", positions, 0), call("add", positions, extent), positions)


def joined(x: Variable, axis: int, count: int) -> Variable:
    """An array with some neighbouring axes as one."""
    if count == 1:
        return x
    extents = extents_of(x)
    return call("reshape", x, *extents[:axis], product(extents[axis : axis + count]), *extents[axis + count :])


def product(extents: list[Variable]) -> Variable:
    """The product of some extents."""
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
        raise Refused("which of the values for one place is added is left open")
    arrays = [item for item in items if isinstance(item, Variable)]
    is_mask = any(item.type.dtype == "bool" for item in arrays)
    if is_mask or len(arrays) == 1 and not all(isinstance(item, Variable) or is_whole(item) for item in items):
        return call(writer(node), index(x, tuple(items)), y)
    if len(arrays) == 1:
        axis, positions = place_of(items), arrays[0]
        if axis == 0 and positions.type.ndim == 1:
            y = unbroadcast(lower, node, x, y, positions)
    else:
        positions, axis = joined_positions(x, items)
    made = written(writer(node), joined(x, axis, len(arrays)), y, positions, axis)
    return made if len(arrays) == 1 else call("reshape", made, *extents_of(x))


def place_of(items: list[Any]) -> int:
    """The axis that the one array among the indices is of."""
    return next(at for at, item in enumerate(items) if isinstance(item, Variable))


def unbroadcast(lower: Lowering, node: Any, x: Variable, y: Variable, positions: Variable) -> Variable:
    """Values for rows, checked to have the extents of these, but where their type says 1."""
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
    """A tensor with values set or added at positions of an axis."""
    if positions.type.ndim != 1:
        before, after, own = extents_of(x)[:axis], extents_of(x)[axis + 1 :], extents_of(positions)
        y = call("broadcast_to", y, *before, *own, *after) if before or own or after else y
        y = call("reshape", y, *before, product(own) if own else constant(1, "int64"), *after)
        positions = call("flatten", positions)
    if axis == 0:
        return call(function, index(x, positions), y)
    # The library writes to positions of the first axis.
    order = [axis, *(each for each in range(x.type.ndim) if each != axis)]
    made = call(function, index(call("dimshuffle", x, order=order), positions), in_front(y, axis, x.type.ndim))
    return call("dimshuffle", made, order=[order.index(each) for each in range(x.type.ndim)])


def in_front(y: Variable, axis: int, ndim: int) -> Variable:
    """Values for a part of some rank, with one axis in front."""
    if y.type.ndim == 0:
        return y
    missing = ndim - y.type.ndim
    places = [each - missing if each >= missing else -1 for each in range(ndim)]
    return call("dimshuffle", y, order=[places[axis], *(place for each, place in enumerate(places) if each != axis)])


def writer(node: Any) -> str:
    """What writes."""
    return "set_subtensor" if node.op.set_instead_of_inc else "inc_subtensor"
