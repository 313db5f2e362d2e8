"""The batch of a random variable: the extents of its independent draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..._variable import Variable, call
from .elementwise import index
from .extents import Extent
from .lowering import Lowering, name_of


class Batch(NamedTuple):
    """The extents of a batch: those of `size`, or else the common ones of the params."""

    extents: list[Any]
    #: What is known about each extent.
    known: list[Extent]
    #: The axes along which params may not fit `size`.
    unsure: list[int]

    @classmethod
    def of(cls, lower: Lowering, node: Any, inputs: Sequence[Any]) -> Batch:
        count = node.op.batch_ndim(node)
        known = [1] * count if inputs[1] is None else of_size(lower, node, count)
        extents: list[Any] = list(known) if inputs[1] is None else [
            extent if isinstance(extent, int) else index(inputs[1], axis) for axis, extent in enumerate(known)
        ]
        unsure: set[int] = set()
        for axis, own, extent in of_params(lower, node, inputs, count):
            if own == 1 or own is known[axis] or own == known[axis]:
                continue
            if inputs[1] is not None:
                unsure.add(axis)
            elif known[axis] == 1 or isinstance(own, int):
                known[axis], extents[axis] = own, extent
            elif not isinstance(known[axis], int):
                extents[axis] = call("where", call("eq", extents[axis], 1), extent, extents[axis])
                known[axis] = object()
        return cls(extents, known, sorted(unsure))

    def checked(self, lower: Lowering, output: Any, draw: Variable) -> Variable:
        """Returns draws, with checks that the params fit `size`. Sets the extents of the output."""
        core = output.type.ndim - len(self.known)
        lower.extents.tell(output, [*self.known, *(object() for _ in range(core))])
        for axis in self.unsure:
            is_so = call("eq", call("shape_i", draw, i=axis), self.extents[axis])
            draw = call("assert", draw, is_so, message=f"axis {axis}: the params of a random variable do not fit its size", error="value")
        return draw


def of_size(lower: Lowering, node: Any, count: int) -> list[Extent]:
    """Returns what is known about each extent of `size`."""
    size, types = node.inputs[1], node.outputs[1].type.shape[:count]
    if hasattr(size, "data"):
        return [int(extent) for extent in size.data]
    is_vector = size.owner is not None and name_of(size.owner.op) == "MakeVector"
    known = [lower.number(extent) for extent in size.owner.inputs] if is_vector else [object() for _ in types]
    return [own if isinstance(own, int) else extent for own, extent in zip(types, known, strict=True)]


def of_params(lower: Lowering, node: Any, inputs: Sequence[Any], count: int) -> list[tuple[int, Extent, Any]]:
    """Returns the axes of the batch that params have: the axis, what is known about its extent, and the extent."""
    found = []
    for variable, param, core in zip(node.inputs[2:], inputs[2:], node.op.ndims_params, strict=True):
        ndim = param.type.ndim - core
        for axis, known in enumerate(lower.extents.of(variable)[:ndim]):
            extent = known if isinstance(known, int) else call("shape_i", param, i=axis)
            found.append((count - ndim + axis, known, extent))
    return found
