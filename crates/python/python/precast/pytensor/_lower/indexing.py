"""Parts of arrays, and what writes to them."""

from __future__ import annotations

from typing import Any

from ..._variable import Variable, call
from .elementwise import equal, index
from .lowering import Lowering, Refused, cast, rule


@rule("Subtensor")
def subtensor(lower: Lowering, node: Any, inputs: list[Variable]) -> Variable:
    x, *numbers = inputs
    items = items_of(node.op.idx_list, numbers)
    own = lower.extents.of(node.inputs[0])
    told = []
    for axis, extent in enumerate(own):
        item = items[axis] if axis < len(items) else slice(None)
        if isinstance(item, slice):
            told.append(extent if is_whole(item) else object())
    lower.extents.tell(node.outputs[0], told)
    if len(own) == 1 and len(items) == 1 and node.outputs[0].type.ndim == 0:
        is_extent(lower, node)
    return index(x, tuple(items))


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
    if len(arrays) == 1 or not all(item.type.ndim == 1 and item.type.dtype != "bool" for item in arrays):
        return index(x, tuple(items))
    positions, axis = flat(lower, node, x, items)
    return call("take", joined(x, axis, len(arrays)), positions, axis=axis)


def flat(lower: Lowering, node: Any, x: Variable, items: list[Any]) -> tuple[Variable, int]:
    """Several vectors of positions, of neighbouring axes, as positions in these axes joined, and the first axis."""
    places = [at for at, item in enumerate(items) if isinstance(item, Variable)]
    axis = places[0]
    if places != list(range(axis, axis + len(places))) or not all(isinstance(item, Variable) or is_whole(item) for item in items):
        raise Refused("vectors of positions with slices between or beside them")
    vectors = [cast(items[place], "int64") for place in places]
    variables = [variable for variable in node.inputs if variable.type.ndim == 1][-len(vectors) :]
    result: Variable | None = None
    for place, vector in zip(places, vectors, strict=True):
        extent = cast(call("shape_i", x, i=place), "int64")
        within = call("logical_and", call("ge", vector, call("neg", extent)), call("lt", vector, extent))
        vector = call("assert", vector, call("all", within), message=f"an index is out of bounds for axis {place}")
        vector = call("switch", call("lt", vector, 0), call("add", vector, extent), vector)
        result = vector if result is None else call("add", call("mul", result, extent), equal_lengths(vector, result, variables))
    assert result is not None
    return result, axis


def equal_lengths(vector: Variable, other: Variable, variables: list[Any]) -> Variable:
    """A vector that is checked to be as long as another, unless one of the two has one element by its type."""
    if any(variable.type.shape == (1,) for variable in variables):
        return vector
    return equal(vector, other, 0)


def joined(x: Variable, axis: int, count: int) -> Variable:
    """An array with some neighbouring axes as one."""
    extents = [call("shape_i", x, i=each) for each in range(x.type.ndim)]
    whole = extents[axis]
    for extent in extents[axis + 1 : axis + count]:
        whole = call("mul", whole, extent)
    return call("reshape", x, *extents[:axis], whole, *extents[axis + count :])


@rule("IncSubtensor")
def inc_subtensor(lower: Lowering, node: Any, inputs: list[Variable]) -> Variable:
    x, y, *numbers = inputs
    return written(lower, node, x, y, items_of(node.op.idx_list, numbers))


@rule("AdvancedIncSubtensor", "AdvancedIncSubtensor1")
def advanced_inc_subtensor(lower: Lowering, node: Any, inputs: list[Any]) -> Variable:
    x, y, *indices = inputs
    items = advanced_items(node, indices)
    if getattr(node.op, "ignore_duplicates", False):
        raise Refused("which of the values for one place is added is left open")
    arrays = [item for item in items if isinstance(item, Variable)]
    if len(arrays) < 2:
        return written(lower, node, x, y, items)
    if not all(item.type.ndim == 1 and item.type.dtype != "bool" for item in arrays):
        raise Refused("precast writes to no part that several matrices of positions name")
    positions, axis = flat(lower, node, x, items)
    part = index(joined(x, axis, len(arrays)), (*([slice(None)] * axis), positions))
    made = call(write(node), part, cast(y, x.type.dtype))
    lower.extents.equate(node.outputs[0], node.inputs[0])
    return call("reshape", made, *(call("shape_i", x, i=each) for each in range(x.type.ndim)))


def written(lower: Lowering, node: Any, x: Variable, y: Variable, items: list[Any]) -> Variable:
    """A tensor with a part set to values, or with values added to it."""
    lower.extents.equate(node.outputs[0], node.inputs[0])
    y = cast(y, x.type.dtype)
    axis = next((at for at, item in enumerate(items) if isinstance(item, Variable) and item.type.ndim), 0)
    if axis == 0 or not all(is_whole(item) for item in items[:axis] + items[axis + 1 :]):
        return call(write(node), index(x, tuple(items)), y)
    # The library writes to positions of the first axis.
    order = [axis, *(each for each in range(x.type.ndim) if each != axis)]
    part = index(call("dimshuffle", x, order=order), items[axis])
    made = call(write(node), part, in_front(y, axis, x.type.ndim) if items[axis].type.ndim == 1 else wrong_rank())
    return call("dimshuffle", made, order=[order.index(each) for each in range(x.type.ndim)])


def in_front(y: Variable, axis: int, ndim: int) -> Variable:
    """Values for a part of some rank, with one axis in front."""
    if y.type.ndim == 0:
        return y
    missing = ndim - y.type.ndim
    places = [each - missing if each >= missing else -1 for each in range(ndim)]
    return call("dimshuffle", y, order=[places[axis], *(place for each, place in enumerate(places) if each != axis)])


def wrong_rank() -> Variable:
    raise Refused("precast writes to no part that a matrix of positions behind a slice names")


def write(node: Any) -> str:
    """What writes."""
    return "set_subtensor" if node.op.set_instead_of_inc else "inc_subtensor"
