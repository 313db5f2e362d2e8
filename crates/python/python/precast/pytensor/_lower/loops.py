"""Scan: a graph that is applied repeatedly. It is lowered to the loop `scan`.

A scan keeps its state in buffers. Step `i` reads and writes elements at positions that depend only on `i`:

=========================  ====================================================  =============================================
buffers of                 in the loop                                           results
=========================  ====================================================  =============================================
sequences                  sequences
states (mit_sot, sit_sot)  carries: as many elements as the oldest tap reaches   the initial elements, and a row for each step
gradients (mit_mot)        a window: carries, and a sequence with its next       the elements that leave the window, the
                           element                                               window, and the elements after it
collected (nit_sot)                                                              a row for each step
=========================  ====================================================  =============================================

If Python or C++ computes a part of the steps, or the elements of a gradient are not visited in order, the scan is unrolled.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from ..._variable import Variable, call
from ...errors import GraphError
from .elementwise import index, with_extent
from .lowering import Lowering, Refused, cast, constant, placeholder, rule
from .shapes import extents_of
from .unrolled import step_of, unrolled, untraced_of


class Inputs(NamedTuple):
    """The inputs of a scan by purpose, as pairs of a variable of PyTensor and its value."""

    sequences: list[Any]
    gradients: list[Any]
    states: list[Any]
    untraced: list[Any]
    #: The numbers of collected results to keep.
    lengths: list[Any]
    others: list[Any]

    @classmethod
    def of(cls, node: Any, inputs: list[Any]) -> Inputs:
        info = node.op.info
        rest: Iterator[Any] = iter(zip(node.inputs[1:], inputs[1:], strict=True))
        states = len(info.mit_sot_in_slices) + len(info.sit_sot_in_slices)
        counts = (info.n_seqs, len(info.mit_mot_in_slices), states, untraced_of(info), info.n_nit_sot)
        return cls(*([next(rest) for _ in range(count)] for count in counts), list(rest))


@rule("Scan")
def scan(lower: Lowering, node: Any, inputs: list[Any]) -> list[Any]:
    asked, refused, cxx = len(lower.asked), len(lower.refusals), len(lower.cxx)
    reason, key = "", None if lower.keys is None else lower.keys.next()
    try:
        made = looped(lower, node, inputs, key)
    except (Refused, GraphError) as error:
        made, reason = [placeholder(output.type) for output in node.outputs], str(error)
    if len(lower.asked) > asked:
        reason = f"Python computes `{lower.asked[asked].call}` in its steps"
    elif len(lower.cxx) > cxx:
        reason = f"the C of `{lower.cxx[cxx]}` is C++, which loops cannot contain"
    if not reason and len(lower.refusals) == refused:
        return made
    refusals = lower.refusals[refused:]
    del lower.asked[asked:], lower.refusals[refused:], lower.cxx[cxx:]
    try:
        return unrolled(lower, node, inputs, key)
    except Refused as error:
        if not reason:
            lower.refusals += refusals
            return made
        raise Refused(f"{reason}, and {error}") from None


def looped(lower: Lowering, node: Any, inputs: list[Any], key: Variable | None) -> list[Any]:
    """Lowers a scan to a loop. `key` is the key of its draws."""
    info, given = node.op.info, Inputs.of(node, inputs)
    if key is None and not all(isinstance(value, Variable) for _, value in given.untraced):
        raise Refused("a state is not an array")
    steps, known = cast(inputs[0], "int64"), lower.number(node.inputs[0])
    count = known if isinstance(known, int) else steps
    windows = [
        Window(*pair, ins, outs, count)
        for pair, ins, outs in zip(given.gradients, info.mit_mot_in_slices, info.mit_mot_out_slices, strict=True)
    ]
    taps = [*info.mit_sot_in_slices, *info.sit_sot_in_slices]
    lengths = [lower.extents.of(variable)[0] for variable, _ in given.states]
    states = [State(pair[1], each, length, known) for pair, each, length in zip(given.states, taps, lengths, strict=True)]
    xs = [whole(lower, variable, value, known, steps) for variable, value in given.sequences]
    mark = len(lower.refusals)

    def step(carry: Any, rows: Any) -> Any:
        # precast calls the function again if the type of a carry changes.
        del lower.refusals[mark:]
        (done, shared, window_parts, state_parts), (row_parts, nexts) = carry, rows
        elements = [[*parts, last] for parts, last in zip(window_parts, nexts, strict=True)]
        values = [*row_parts]
        for window, parts in zip(windows, elements, strict=True):
            values += [parts[tap - window.oldest] for tap in window.ins]
        for state, parts in zip(states, state_parts, strict=True):
            values += [parts[len(parts) + tap] for tap in state.taps]
        values += [*with_generators(shared, given.untraced), *(value for _, value in given.others)]
        with lower.extents.inside():
            results = iter(step_of(lower, node.op.fgraph, list(zip(values, extents_in(lower, info, given), strict=True)), key, done))
            for window, parts in zip(windows, elements, strict=True):
                written = [(tap - window.oldest, next(results)) for tap in window.outs]
                for position, value in written:
                    parts[position] = same_extents(value, parts[position])
            made = [same_extents(next(results), parts[-1]) for parts in state_parts]
            collected = [next(results) for _ in given.lengths]
            shared = arrays(next(results) for _ in given.untraced)
        carry = (
            done + 1,
            shared,
            [parts[1:] for parts in elements],
            [[*parts[1:], value] for parts, value in zip(state_parts, made, strict=True)],
        )
        kept = [None if state.is_last else value for state, value in zip(states, made, strict=True)]
        rows = ([parts[0] for parts in elements], kept, collected)
        if not info.as_while:
            return carry, rows
        stop = next(results)
        return carry, rows, cast(call("ne", stop, constant(0, stop.type.dtype)), "bool")

    first = (constant(0, "int64"), arrays(value for _, value in given.untraced), [each.first for each in windows], [each.first for each in states])
    made, rows = call("scan", step, first, (xs, [each.rest for each in windows]), length=steps, until=info.as_while)
    (done, shared, window_parts, state_parts), (passed, kept, collected) = made, rows
    done = done if info.as_while else count
    results = [window.joined(*parts, done) for window, *parts in zip(windows, passed, window_parts, strict=True)]
    for (_, value), state, rows_, parts, length in zip(given.states, states, kept, state_parts, lengths, strict=True):
        if state.is_last:
            results.append(stacked(parts[-length:]))
            continue
        buffer = call("join", index(value, slice(None, state.depth)), rows_, axis=0)
        length = length if isinstance(length, int) else call("shape_i", value, i=0)
        results.append(fitted(buffer, done, state.depth, length, count if info.as_while else None))
    for (variable, value), rows_ in zip(given.lengths, collected, strict=True):
        length = lower.number(variable)
        is_whole = not info.as_while and (length is known or length == known)
        length = length if isinstance(length, int) else cast(value, "int64")
        made = rows_ if is_whole else fitted(rows_, done, 0, length, count if info.as_while else None)
        results.append(made if is_whole else none_if_no_steps(made, count, length))
    tell(lower, node, given)
    return [*results, *with_generators(shared, given.untraced)]


def arrays(values: Iterable[Any]) -> list[Any]:
    """Returns the values that are arrays. With a key, generators have no state."""
    return [value for value in values if isinstance(value, Variable)]


def with_generators(values: Sequence[Any], pairs: Sequence[Any]) -> list[Any]:
    """Inserts the generators of the states of a scan between arrays."""
    rest = iter(values)
    return [next(rest) if isinstance(value, Variable) else value for _, value in pairs]


class Window:
    """The elements of a gradient that a step reads and writes, and the one after them."""

    def __init__(self, variable: Any, value: Variable, ins: Sequence[int], outs: Sequence[int], steps: Any) -> None:
        self.ins, self.outs, self.oldest = ins, outs, min(ins)
        if self.oldest > 0 or min(outs, default=0) < self.oldest:
            raise Refused("a step of its gradient writes elements that precede those it reads")
        self.carried, self.value = max(*ins, *outs) - self.oldest, value
        #: The first elements, and those that follow them in each step.
        self.first = [index(value, position) for position in range(self.carried)]
        self.rest = index(value, slice(self.carried, steps + self.carried))

    def joined(self, passed: Variable, parts: list[Variable], done: Any) -> Variable:
        """Returns all elements."""
        return call("join", [passed, *(index(part, (None,)) for part in parts), index(self.value, slice(done + self.carried, None))], axis=0)


class State:
    """The carries of a state."""

    def __init__(self, value: Variable, taps: Sequence[int], length: Any, steps: Any) -> None:
        self.taps, self.depth = taps, -min(taps)
        if max(taps) >= 0:
            raise Refused("a step reads a state that is not computed yet")
        self.first = [index(value, position) for position in range(self.depth)]
        #: Whether only the last elements are kept, which are then carries.
        self.is_last = isinstance(length, int) and (length <= self.depth or length == self.depth + 1 and isinstance(steps, int) and steps > 0)
        if self.is_last and length > self.depth:
            # The first step drops this element.
            self.first.insert(0, self.first[0])


def whole(lower: Lowering, variable: Any, value: Variable, known: Any, steps: Variable) -> Variable:
    """Returns the rows of a sequence. PyTensor ignores rows after the last step."""
    extent = lower.extents.of(variable)[0]
    return value if extent is known or extent == known else index(value, slice(None, steps))


def extents_in(lower: Lowering, info: Any, given: Inputs) -> list[list[Any]]:
    """Returns the extents of the inputs of a step."""
    of = lambda pair: lower.extents.of(pair[0])  # noqa: E731
    taps = [*info.mit_mot_in_slices, *info.mit_sot_in_slices, *info.sit_sot_in_slices]
    buffers = zip([*given.gradients, *given.states], taps, strict=True)
    stepped = [of(pair)[1:] for pair in given.sequences] + [of(pair)[1:] for pair, each in buffers for _ in each]
    return stepped + [of(pair) for pair in [*given.untraced, *given.others]]


def same_extents(value: Variable, before: Variable) -> Variable:
    """Returns an element of a buffer, with checks that its extents are those of another element."""
    for axis, (own, other) in enumerate(zip(value.type.shape, before.type.shape, strict=True)):
        if own is None or own != other:
            value = with_extent(value, axis, call("shape_i", before, i=axis))
    return value


def stacked(parts: Sequence[Variable]) -> Variable:
    """Returns elements as one array."""
    return call("join", [index(part, (None,)) for part in parts], axis=0)


def fitted(elements: Variable, done: Any, depth: int, length: Any, steps: Any) -> Variable:
    """Returns the elements in a buffer of some length: the last ones, or all and zeros after them.

    `done` is the number of completed steps, and `depth` that of initial elements. `steps` is the number of steps of a scan that may end
    earlier, otherwise `None`. The buffer of such a scan is shortened by the missing steps.
    """
    if isinstance(done, int) and isinstance(length, int):
        missing = length - done - depth
        if missing < 0:
            return index(elements, slice(-missing, None))
        return elements if missing == 0 else padded(elements, constant(missing, "int64"))
    missing = call("sub", length, call("add", done, depth))
    elements = index(elements, slice(call("maximum", call("neg", missing), 0), None))
    if steps is None:
        return padded(elements, call("maximum", missing, 0))
    short = call("sub", steps, done)
    # A buffer for all steps needs no zeros.
    elements = padded(elements, call("maximum", call("sub", missing, short), 0))
    end = call("switch", call("gt", missing, 0), call("maximum", call("sub", length, short), 0), length)
    return index(elements, slice(None, end))


def none_if_no_steps(elements: Variable, steps: Any, length: Any) -> Variable:
    """Returns collected elements. A scan without steps collects none, whatever the length of its buffer."""
    if isinstance(steps, int):
        return elements if steps > 0 else index(elements, slice(None, 0))
    return index(elements, slice(None, call("switch", call("eq", steps, 0), 0, length)))


def padded(elements: Variable, count: Variable) -> Variable:
    """Returns elements and some zeros after them."""
    zero = call("alloc", constant(0, elements.type.dtype), count, *extents_of(elements)[1:])
    return call("join", [elements, zero], axis=0)


def tell(lower: Lowering, node: Any, given: Inputs) -> None:
    """Records the extents of results."""
    buffers = [*given.gradients, *given.states]
    for (outer, _), output in zip(buffers, node.outputs, strict=False):
        lower.extents.tell(output, [object() if node.op.info.as_while else lower.extents.of(outer)[0], *lower.extents.of(outer)[1:]])
    if not node.op.info.as_while:
        for (variable, _), output in zip(given.lengths, node.outputs[len(buffers) :], strict=False):
            lower.extents.tell(output, [lower.number(variable), *(object() for _ in range(output.type.ndim - 1))])
