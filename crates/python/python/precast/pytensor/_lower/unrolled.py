"""Scan: the steps of a scan that cannot be a loop, one after another. Their number must be known.

A scan keeps its state in buffers. Step `i` reads and writes elements at positions that depend only on `i`. A buffer that is shorter
than the scan is a ring buffer. Here a buffer is a list of elements whose values are known.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from ..._variable import Variable, call
from .elementwise import index
from .lowering import Lowering, Refused, constant
from .shapes import extents_of

#: The maximum number of unrolled steps, and of Applies in all steps.
_STEPS, _APPLIES = 200, 5000


class Buffer:
    """The elements of a buffer along its first axis."""

    def __init__(self, outer: Variable | None, extents: list[Any], oldest: int) -> None:
        length, *self.extents = extents
        if not isinstance(length, int):
            raise Refused("the number of results to keep is known only at run time")
        self.outer, self.length = outer, length
        self.made: dict[int, Variable] = {}
        self.at = -oldest % length

    def get(self, tap: int) -> Variable:
        """Returns the element at a distance from the position that this step writes."""
        return self._element((self.at + tap) % self.length)

    def put(self, tap: int, value: Variable) -> None:
        self.made[(self.at + tap) % self.length] = value

    def _element(self, at: int) -> Variable:
        if at not in self.made:
            if self.outer is None:
                # Elements that were not computed are zeros.
                some = next(iter(self.made.values()))
                return call("switch", constant(True, "bool"), constant(0, some.type.dtype), some)
            return index(self.outer, at)
        return self.made[at]

    def joined(self, steps: int, oldest: int | None) -> Variable:
        """Returns all elements, with the newest last if older ones were overwritten. Elements after the last step are zeros."""
        order = list(range(self.length))
        if oldest is not None and self.length < steps - oldest:
            order = order[self.at :] + order[: self.at]
        elif oldest is not None and self.length > steps - oldest:
            last = self._element(order[steps - oldest - 1])
            zeros = call("switch", constant(True, "bool"), constant(0, last.type.dtype), last)
            self.made.update(dict.fromkeys(order[steps - oldest :], zeros))
        parts = [index(self._element(at), (None,)) for at in order]
        return parts[0] if len(parts) == 1 else call("join", *parts, axis=0)


def untraced_of(info: Any) -> int:
    """Returns the number of states that are not collected. Older versions have another name."""
    return info.n_untraced_sit_sot if hasattr(info, "n_untraced_sit_sot") else info.n_shared_outs


def unrolled(lower: Lowering, node: Any, inputs: list[Any], key: Variable | None) -> list[Any]:
    """Lowers a scan to its steps. `key` is the key of its draws."""
    op, info = node.op, node.op.info
    if info.as_while:
        raise Refused("the number of steps of a while loop is known only at run time")
    steps = length_of(lower, node.inputs[0])
    if steps > _STEPS or steps * len(op.fgraph.apply_nodes) > _APPLIES:
        raise Refused(f"its {steps} steps of {len(op.fgraph.apply_nodes)} ops are too many to unroll")
    rest: Iterator[tuple[Any, Any]] = iter(zip(node.inputs[1:], inputs[1:], strict=True))
    known = lambda pairs: [(value, lower.extents.of(variable)) for variable, value in pairs]  # noqa: E731
    take = lambda count: [next(rest) for _ in range(count)]  # noqa: E731
    taps = [*info.mit_mot_in_slices, *info.mit_sot_in_slices, *info.sit_sot_in_slices]
    seqs, states, carried = known(take(info.n_seqs)), take(len(taps)), known(take(untraced_of(info)))
    lengths = [length_of(lower, variable) for variable, _ in take(info.n_nit_sot)]
    others = known(rest)
    if steps == 0:
        return [*(value for _, value in states), *unstepped(lower, node, [*seqs, *known(states)], carried + others, key), *(value for value, _ in carried)]
    oldest = [min(each) for each in taps] + [0] * len(lengths)
    buffers = [
        Buffer(value, extents, first) for (value, extents), first in zip(known(states), oldest, strict=False)
    ] + [Buffer(None, [length], 0) for length in lengths]
    for step in range(steps):
        given: list[tuple[Any, list[Any]]] = [(index(value, step), extents[1:]) for value, extents in seqs]
        for buffer, each in zip(buffers, taps, strict=False):
            given += [(buffer.get(tap), buffer.extents) for tap in each]
        given += carried + others
        results = iter(step_of(lower, op.fgraph, given, key, step))
        # A step does not read the elements that it writes.
        for buffer, each in zip(buffers, info.mit_mot_out_slices, strict=False):
            made = [(tap, next(results)) for tap in each]
            for tap, value in made:
                buffer.put(tap, value)
        for buffer in buffers[len(info.mit_mot_out_slices) :]:
            buffer.put(0, next(results))
        carried = [(next(results), extents) for _, extents in carried]
        for buffer in buffers:
            buffer.at = (buffer.at + 1) % buffer.length
    moved = len(info.mit_mot_out_slices)
    made = [buffer.joined(steps, None if at < moved else first) for at, (buffer, first) in enumerate(zip(buffers, oldest, strict=True))]
    for (outer, _), output in zip(states, node.outputs, strict=False):
        lower.extents.equate(output, outer)
    return [*made, *(value for value, _ in carried)]


def unstepped(lower: Lowering, node: Any, stepped: list[tuple[Variable, list[Any]]], others: list[Any], key: Any) -> list[Variable]:
    """Returns the collected results of a scan without steps: empty arrays with the shapes of a step."""
    info, inner = node.op.info, node.op.fgraph
    taps = [1] * info.n_seqs + [len(each) for each in (*info.mit_mot_in_slices, *info.mit_sot_in_slices, *info.sit_sot_in_slices)]
    given = [(zeros(value, extents_of(value)[1:]), extents[1:]) for (value, extents), count in zip(stepped, taps, strict=True) for _ in range(count)]
    first = sum(map(len, info.mit_mot_out_slices)) + len(info.mit_sot_in_slices) + len(info.sit_sot_in_slices)
    made = step_of(lower, inner, given + others, key, 0)[first : first + info.n_nit_sot]
    return [zeros(value, [constant(0, "int64"), *extents_of(value)]) for value in made]


def zeros(like: Variable, extents: list[Variable]) -> Variable:
    """Returns zeros with the dtype of another array."""
    value = constant(0, like.type.dtype)
    return call("alloc", value, *extents) if extents else value


def step_of(lower: Lowering, inner: Any, given: list[tuple[Any, list[Any]]], key: Variable | None, number: Any) -> list[Any]:
    """Returns the results of a step. `given` are values with their extents."""
    with lower.scope(), contextlib.nullcontext() if lower.keys is None else lower.keys.step(key, number):
        for variable, (_, extents) in zip(inner.inputs, given, strict=True):
            lower.extents.tell(variable, extents)
        return lower.graph(inner.inputs, inner.outputs, [value for value, _ in given])


def length_of(lower: Lowering, variable: Any) -> int:
    """Returns a known number of steps."""
    found = lower.number(variable)
    if not isinstance(found, int):
        raise Refused("the number of steps is known only at run time")
    return found
