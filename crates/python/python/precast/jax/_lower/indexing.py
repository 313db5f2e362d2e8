"""Dynamic slices, gathers and scatters. Positions outside of an array are clamped, filled or dropped, as JAX defines it.

A gather or scatter moves windows of an operand. `Windows` computes the position of each moved element among all elements of the
operand, by arithmetic on the start of its window. One window with a start is a slice, and windows along one axis are a `take`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy
from jax.lax import GatherScatterMode

from ..._front.values import cast, constant
from ..._variable import Variable, call
from .lowering import Extent, Lowering, dtype_of, is_key, is_known, is_symbolic, rule, variable
from .shapes import ALL

#: A position or a condition: known, or computed when the graph runs.
Number = Any


def add(x: Number, y: Number) -> Number:
    """Returns a sum of integers, which is known if both are."""
    if isinstance(x, Variable) or isinstance(y, Variable):
        return x if is_number(y, 0) else y if is_number(x, 0) else call("add", x, y)
    return x + y


def mul(x: Number, y: Number) -> Number:
    if isinstance(x, Variable) or isinstance(y, Variable):
        return x if is_number(y, 1) else y if is_number(x, 1) else call("mul", x, y)
    return x * y


def clip(x: Number, most: Number) -> Number:
    """Limits positions to 0 and `most`."""
    if isinstance(x, Variable) or isinstance(most, Variable):
        # The result is `most` if it is below 0.
        return call("minimum", call("maximum", x, 0), most)
    return numpy.minimum(numpy.maximum(x, 0), most)


def within(x: Number, most: Number) -> Number:
    """Returns whether positions are between 0 and `most`."""
    if isinstance(x, Variable) or isinstance(most, Variable):
        return call("bitwise_and", call("ge", x, 0), call("le", x, most))
    return (x >= 0) & (x <= most)


def both(x: Number, y: Number) -> Number:
    if isinstance(x, Variable) or isinstance(y, Variable):
        known = next((each for each in (x, y) if not isinstance(each, Variable)), None)
        if known is not None and numpy.all(known):
            return y if known is x else x
        return call("bitwise_and", *(each if isinstance(each, Variable) else constant(each, "bool") for each in (x, y)))
    return x & y


def is_number(x: Number, value: int) -> bool:
    return not isinstance(x, Variable) and numpy.ndim(x) == 0 and x == value


def positions(value: Any) -> Number:
    """Returns integers of a jaxpr as positions of i64."""
    return value.astype("int64") if is_known(value) else cast(value, "int64")


def less(lower: Lowering, whole: Any, size: Any) -> Number:
    """Returns the last start of a window of a size."""
    return lower.extent(whole - size)


def window(lower: Lowering, starts: Sequence[Number], shape: Sequence[Any], sizes: Sequence[Any]) -> tuple[Any, ...]:
    """Returns the index of a window. An axis of extent 1 is an index and a new axis, because its extent is then known."""
    index: list[Any] = []
    for start, whole, size in zip(starts, shape, sizes, strict=True):
        if size == whole:
            index.append(ALL)
        elif not is_symbolic(size) and size == 1:
            index += [start if isinstance(start, Variable) else int(start), None]
        else:
            stop = add(start, lower.extent(size))
            index.append(slice(*(each if isinstance(each, Variable) else int(each) for each in (start, stop))))
    return tuple(index)


def starts_of(lower: Lowering, starts: Sequence[Any], shape: Sequence[Any], sizes: Sequence[Any]) -> list[Number]:
    """Returns the starts of a window, so that it lies inside of the array."""
    return [clip(positions(start), less(lower, whole, size)) for start, whole, size in zip(starts, shape, sizes, strict=True)]


@rule("dynamic_slice")
def dynamic_slice(lower: Lowering, eqn: Any, x: Any, *starts: Any) -> Any:
    shape, sizes = eqn.invars[0].aval.shape, eqn.params["slice_sizes"]
    return part(lower, x, window(lower, starts_of(lower, starts[: len(shape)], shape, sizes), shape, sizes))


def part(lower: Lowering, x: Any, index: tuple[Any, ...]) -> Any:
    """Returns a part of an array."""
    ends = [end for each in index for end in ((each.start, each.stop) if isinstance(each, slice) else (each,))]
    return x[index] if is_known(x) and not any(isinstance(end, Variable) for end in ends) else variable(x)[index]


@rule("dynamic_update_slice")
def dynamic_update_slice(lower: Lowering, eqn: Any, x: Any, update: Any, *starts: Any) -> Variable:
    shape, sizes = eqn.invars[0].aval.shape, eqn.invars[1].aval.shape
    return written(lower, variable(x), variable(update), starts_of(lower, starts, shape, sizes), shape, sizes, "set")


def written(lower: Lowering, x: Variable, update: Variable, starts: Any, shape: Any, sizes: Any, how: str) -> Variable:
    """Sets a window of an array to the values of an array of its rank, or adds them."""
    if any(not is_symbolic(size) and size == 0 for size in sizes):
        return x
    index = tuple(each for each in window(lower, starts, shape, sizes) if each is not None)
    dropped = tuple(0 if not isinstance(each, slice) else ALL for each in index)
    made = x[index]
    return (made.set if how == "set" else made.inc)(update[dropped] if dropped else update)


class Windows:
    """The windows of an operand that a gather reads or a scatter writes.

    `out` is the shape of the moved elements: `batch` axes for windows, and `offset` axes for the axes of the operand in `kept`.
    """

    def __init__(self, lower: Lowering, operand: Any, indices: Any, out: Any, sizes: Sequence[Any]) -> None:
        self.lower, self.shape, self.out, self.sizes = lower, operand.shape, out.shape, list(sizes)
        self.count = indices.shape[:-1]

    @classmethod
    def of_gather(cls, lower: Lowering, eqn: Any) -> Windows:
        names, (operand, indices), out = eqn.params["dimension_numbers"], (each.aval for each in eqn.invars), eqn.outvars[0].aval
        own = cls(lower, operand, indices, out, eqn.params["slice_sizes"])
        own._set(names.offset_dims, names.collapsed_slice_dims, names.start_index_map)
        own._set_batches(names.operand_batching_dims, names.start_indices_batching_dims)
        return own

    @classmethod
    def of_scatter(cls, lower: Lowering, eqn: Any) -> Windows:
        names, (operand, indices, updates) = eqn.params["dimension_numbers"], (each.aval for each in eqn.invars)
        own = cls(lower, operand, indices, updates, [1] * len(operand.shape))
        own._set(names.update_window_dims, names.inserted_window_dims, names.scatter_dims_to_operand_dims)
        own._set_batches(names.operand_batching_dims, names.scatter_indices_batching_dims)
        for axis, kept in zip(own.offset, own.kept, strict=True):
            own.sizes[kept] = own.out[axis]
        return own

    def _set(self, offset: Any, dropped: Any, starts: Any) -> None:
        self.offset, self.dropped, self.starts = ([int(axis) for axis in axes] for axes in (offset, dropped, starts))
        self.batch = [axis for axis in range(len(self.out)) if axis not in self.offset]

    def _set_batches(self, operand: Any, indices: Any) -> None:
        self.shared = [(int(axis), int(place)) for axis, place in zip(operand, indices, strict=True)]
        gone = {*self.dropped, *(axis for axis, _ in self.shared)}
        #: The axes of the operand that windows keep.
        self.kept = [axis for axis in range(len(self.shape)) if axis not in gone]

    def along(self, values: Number, axis: int) -> Number:
        """Returns a vector along an axis of the moved elements."""
        index = tuple(ALL if at == axis else None for at in range(len(self.out)))
        return values[index]

    def range(self, axis: int) -> Number:
        """Returns 0, 1, … along an axis of the moved elements."""
        extent = self.lower.extent(self.out[axis])
        return self.along(call("arange", extent) if isinstance(extent, Variable) else numpy.arange(extent), axis)

    def each_start(self, indices: Any) -> list[tuple[int, Number]]:
        """Returns the axes of the operand with starts, and the start of each window along them."""
        place = tuple(ALL if at in self.batch else None for at in range(len(self.out)))
        return [(axis, positions(indices)[(..., at)][place] if place else positions(indices)[(at,)]) for at, axis in enumerate(self.starts)]

    def only_starts(self, indices: Any) -> list[Number]:
        """Returns the starts of the only window along all axes of the operand, clamped."""
        made: list[Number] = [numpy.asarray(0)] * len(self.shape)
        for at, axis in enumerate(self.starts):
            made[axis] = clip(positions(indices)[(at,)], self.last(axis))
        return made

    def last(self, axis: int) -> Number:
        return less(self.lower, self.shape[axis], self.sizes[axis])

    def inside(self, indices: Any) -> Number:
        """Returns whether each window lies in the operand, to be broadcast to the shape of the moved elements."""
        made: Number = numpy.asarray(True)
        for axis, start in self.each_start(indices):
            made = both(made, within(start, self.last(axis)))
        return made

    def strides(self) -> list[Extent]:
        """Returns the distances of successive elements of the operand along each axis."""
        made: list[Any] = [1]
        for extent in reversed(self.lower.extents(self.shape[1:])):
            made.insert(0, mul(made[0], extent))
        return made

    def places(self, indices: Any) -> Number:
        """Returns the position of each moved element among all elements of the operand."""
        strides = self.strides()
        made: Number = numpy.zeros((1,) * len(self.out), "int64")
        for axis, start in self.each_start(indices):
            made = add(made, mul(clip(start, self.last(axis)), strides[axis]))
        moved = [*zip(self.offset, self.kept, strict=True), *((self.batch[place], axis) for axis, place in self.shared)]
        for own, axis in moved:
            made = add(made, mul(self.range(own), strides[axis]))
        return made

    def flat_places(self, indices: Any, made: Number | None = None) -> Variable:
        """Returns the positions of all moved elements as a vector."""
        made = self.places(indices) if made is None else made
        return call("flatten", call("broadcast_to", variable(made), self.lower.extents(self.out)))

    def taken_axis(self) -> int | None:
        """Returns the axis if windows are whole except for one element along this axis, and their axes are in its place."""
        if self.shared or len(self.starts) != 1 or self.dropped != self.starts or self.sizes[self.starts[0]] != 1:
            return None
        axis = self.starts[0]
        is_whole = all(self.sizes[each] == self.shape[each] for each in self.kept)
        return axis if is_whole and self.batch == list(range(axis, axis + len(self.batch))) else None


@rule("gather")
def gather(lower: Lowering, eqn: Any, x: Any, indices: Any) -> Any:
    if is_key(eqn.invars[0].aval):
        return gathered_keys(lower, eqn, x, indices)
    windows, out = Windows.of_gather(lower, eqn), eqn.outvars[0].aval
    if any(not is_symbolic(extent) and extent == 0 for extent in out.shape):
        return call("broadcast_to", filling(eqn), lower.extents(out.shape))
    made = moved(lower, eqn, windows, x, indices)
    if eqn.params["mode"] != GatherScatterMode.FILL_OR_DROP:
        return made
    inside = windows.inside(indices)
    if not isinstance(inside, Variable) and inside.all():
        return made
    return call("switch", variable(inside), variable(made), filling(eqn))


def moved(lower: Lowering, eqn: Any, windows: Windows, x: Any, indices: Any) -> Any:
    """Returns the elements of windows, whose starts are clamped."""
    if not windows.batch and not windows.shared:
        made = part(lower, x, window(lower, windows.only_starts(indices), windows.shape, windows.sizes))
        return made[tuple(0 if axis in windows.dropped else ALL for axis in range(len(windows.shape)))]
    axis = windows.taken_axis()
    if axis is not None:
        places = clip(positions(indices)[(..., 0)], windows.last(axis))
        if is_known(x) and not isinstance(places, Variable):
            return numpy.take(x, places, axis)
        return call("take", variable(x), variable(places), axis=axis)
    return call("take", call("flatten", variable(x)), call("broadcast_to", variable(windows.places(indices)), lower.extents(windows.out)))


def gathered_keys(lower: Lowering, eqn: Any, x: Any, indices: Any) -> Variable:
    """Gathers keys: the positions of keys, with both words of each."""
    windows = Windows.of_gather(lower, eqn)
    words = call("reshape", variable(x), -1, 2)
    made = call("take", words, windows.flat_places(indices), axis=0)
    return call("reshape", made, *lower.extents(windows.out), 2)


def filling(eqn: Any) -> Variable:
    """Returns the value of elements outside of the operand."""
    dtype, value = dtype_of(eqn.outvars[0].aval), eqn.params["fill_value"]
    if value is None:
        limits = {"i": lambda: numpy.iinfo(dtype).min, "u": lambda: numpy.iinfo(dtype).max, "b": lambda: True}
        value = limits.get(dtype.kind, lambda: math.nan)()
    return constant(value, dtype)


_ADDED = {"scatter-add": None, "scatter-sub": "neg"}
_COMBINED = {"scatter-mul": "mul", "scatter-min": "minimum", "scatter-max": "maximum"}


@rule("scatter", *_ADDED, *_COMBINED)
def scatter(lower: Lowering, eqn: Any, x: Any, indices: Any, updates: Any) -> Variable:
    name, windows = eqn.primitive.name, Windows.of_scatter(lower, eqn)
    x, updates = variable(x), variable(updates)
    if any(not is_symbolic(extent) and extent == 0 for extent in (*windows.out, *windows.shape)):
        return x
    updates = call("neg", updates) if name == "scatter-sub" else updates
    inside = windows.inside(indices) if eqn.params["mode"] == GatherScatterMode.FILL_OR_DROP else numpy.asarray(True)
    is_inside = not isinstance(inside, Variable) and bool(inside.all())
    if not windows.batch and not windows.shared and is_inside and name not in _COMBINED:
        starts = windows.only_starts(indices)
        whole = updates[tuple(None if axis in windows.dropped else ALL for axis in range(len(windows.shape)))]
        how = "set" if name == "scatter" else "inc"
        return written(lower, x, whole, starts, windows.shape, windows.sizes, how)
    places = windows.places(indices)
    if not is_inside:
        # Dropped elements go to an additional element.
        places = call("switch", variable(inside), variable(places), total(lower, windows.shape))
    return scattered(lower, eqn, windows, x, windows.flat_places(indices, places), updates)


def total(lower: Lowering, shape: Sequence[Any]) -> Variable:
    """Returns the number of elements of a shape."""
    made: Any = 1
    for extent in lower.extents(shape):
        made = mul(made, extent)
    return made if isinstance(made, Variable) else constant(made, "int64")


def scattered(lower: Lowering, eqn: Any, windows: Windows, x: Variable, places: Variable, updates: Variable) -> Variable:
    """Writes elements to positions of an array, which has an additional element for dropped ones."""
    name, shape = eqn.primitive.name, lower.extents(windows.shape)
    flat = call("join", call("flatten", x), constant([0], x.type.dtype), axis=0)
    updates = call("flatten", updates)
    if name not in _COMBINED:
        made = call("advanced_inc_subtensor1", flat, updates, places, set=name == "scatter")
    else:

        def step(flat: Variable, row: tuple[Variable, Variable]) -> tuple[Variable, None]:
            place, update = row
            return flat[place].set(call(_COMBINED[name], flat[place], update)), None

        made, _ = call("scan", step, flat, (places, updates))
    return call("reshape", made[:-1], *shape)
