"""The interfaces of functions for packages that trace calls without values: shapes of results, and gradients."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ._native import Function
from ._structured import Structured, count
from ._types import Type
from .errors import CallTypeError, CallValueError, GraphTypeError, GraphValueError

#: Returns the shape of the result, or the shapes of several, from the shapes of the inputs.
Shapes = Callable[..., Any]


class Interface:
    """The inputs and outputs of a function, and the nesting of its arguments and results."""

    def __init__(self, function: Any, shapes: Shapes | None = None) -> None:
        made = function.function() if hasattr(function, "graph") and not isinstance(function, Function) else function
        self.structure = made if isinstance(made, Structured) else None
        self.function: Function = made.function if self.structure else made
        if not isinstance(self.function, Function):
            raise GraphTypeError(f"found a `{type(function).__name__}`, expected a `precast.Function`")
        self.name: str = self.function.__name__
        self.inputs, self.outputs = (
            [(port.name, Type(port.type), extents(port.type)) for port in ports] for ports in (self.function.inputs, self.function.outputs)
        )
        self._shapes = shapes

    def flat(self, args: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
        """Returns the arrays of arguments, in the order of the inputs."""
        if self.structure is not None:
            return self.structure.flat(*args, **named)
        names = [name for name, _, _ in self.inputs]
        values = dict(zip(names, args)) | dict(named)
        if len(args) + len(named) != len(names) or set(values) != set(names):
            found = f"{len(args)} positional argument(s) and ({', '.join(named)})"
            raise CallTypeError(f"`{self.name}` takes ({', '.join(names)}), found {found}")
        return [values[name] for name in names]

    def nested(self, arrays: Sequence[Any]) -> Any:
        """Returns the result that consists of these arrays."""
        if self.structure is not None:
            return self.structure.nested(arrays)
        return arrays[0] if len(arrays) == 1 else tuple(arrays)

    def shapes(self, given: Sequence[Sequence[Any]]) -> list[tuple[Any, ...]]:
        """Returns the shapes of the results for the shapes of the inputs, whose extents may be symbols of the host."""
        known: dict[str, Any] = {}
        for (name, type_, expected), shape in zip(self.inputs, given, strict=True):
            if len(shape) != len(expected):
                raise CallValueError(f"input `{name}` has {len(shape)} dimension(s), expected `{type_}`")
            for axis, (extent, text) in enumerate(zip(shape, expected)):
                wanted = int(text) if text.isdecimal() else extent if text == "?" else known.setdefault(text, extent)
                # Symbols are compared by the call itself.
                if isinstance(wanted, int) and isinstance(extent, int) and wanted != extent:
                    raise CallValueError(f"input `{name}` has extent {extent} on axis {axis}, expected `{type_}`, where it is {wanted}")
        if self._shapes is not None:
            made = self._shapes(*map(tuple, given))
            made = [made] if len(self.outputs) == 1 and not any(isinstance(each, Sequence) for each in made) else made
            if [len(shape) for shape in made] != [len(texts) for _, _, texts in self.outputs]:
                raise CallValueError(f"`shapes` returned {made}, expected the shapes of {', '.join(name for name, _, _ in self.outputs)}")
            return [tuple(shape) for shape in made]
        return [self._shape(output, known) for output in self.outputs]

    def _shape(self, output: tuple[str, Type, list[str]], known: Mapping[str, Any]) -> tuple[Any, ...]:
        name, type_, texts = output
        unknown = [text for text in texts if not text.isdecimal() and text not in known]
        if unknown:
            hint = "declare its extents, such as `out: f64[n]`, or pass `shapes=lambda x: x`"
            raise CallValueError(f"the shape of the result `{name}: {type_}` is unknown before the call\nhint: {hint}")
        return tuple(int(text) if text.isdecimal() else known[text] for text in texts)


class Gradient:
    """A function that returns a number and its slopes by inputs of another function."""

    def __init__(self, of: Interface, function: Any, argnums: int | Sequence[int]) -> None:
        self.interface = Interface(function)
        if [(name, type_) for name, type_, _ in of.inputs] != [(name, type_) for name, type_, _ in self.interface.inputs]:
            raise GraphTypeError(f"`{self.interface.name}` has other inputs than `{of.name}`")
        if len(of.outputs) != 1 or of.outputs[0][1] != self.interface.outputs[0][1] or of.outputs[0][2]:
            raise GraphTypeError(f"`{of.name}` and `{self.interface.name}` must return the same number as the first result")
        names = [name for name, _, _ in self.interface.outputs[1:]]
        positions = {f"grad_{name}": at for at, (name, _, _) in enumerate(of.inputs)}
        if all(name in positions for name in names):
            found = [positions[name] for name in names]
        else:
            found = of_arguments(self.interface, [argnums] if isinstance(argnums, int) else argnums)
        types = [type_.name for _, type_, _ in self.interface.outputs[1:]]
        if [of.inputs[at][1].name for at in found] != types:
            told = ", ".join(of.inputs[at][0] for at in found)
            raise GraphValueError(f"the results of `{self.interface.name}` are not the gradient by {told}\nhint: pass `argnums`")
        #: The position of the result with the slopes by an input, for each input that has one.
        self.results = {at: 1 + place for place, at in enumerate(found)}


def of_arguments(interface: Interface, argnums: Sequence[int]) -> list[int]:
    """Returns the positions of the inputs in these arguments."""
    counts = [1] * len(interface.inputs) if interface.structure is None else [count(tree) for tree in interface.structure.arguments]
    starts = [sum(counts[:at]) for at in range(len(counts))]
    if any(not -len(counts) <= at < len(counts) for at in argnums):
        raise GraphValueError(f"`argnums` is {list(argnums)}, but `{interface.name}` has {len(counts)} argument(s)")
    return [position for at in argnums for position in range(starts[at], starts[at] + counts[at])]


def extents(type_: str) -> list[str]:
    """Returns the extents in the text of a type."""
    inner = type_.partition("[")[2].rstrip("]")
    return [text.strip() for text in inner.split(",")] if inner.strip() else []
