"""Converts JAX functions to graphs of precast, which run without JAX."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Sequence, Set
from typing import Any

import jax

from .. import _native
from .._build import graph, save
from .._front import frozen, refusals
from .._front.refusals import Refused
from .._structured import ARRAY, KEY, Structured
from .._variable import Variable, call
from ..errors import FreezeError, GraphTypeError
from ._lower import Lowering
from ._lower.lowering import check_dtype
from ._specs import Inputs, argument_names, read
from ._trees import names_of, names_of_results, structure_of


def freeze(
    fn: Callable[..., Any],
    *specs: Any,
    path: str | os.PathLike[str] | None = None,
    name: str | None = None,
    isa: str | Sequence[str] | None = None,
) -> Frozen:
    """Lowers a JAX function to precast's op library. With a path, writes it to a bundle.

    `specs` stand for the arguments: arrays, `jax.ShapeDtypeStruct`, or type texts such as ``"f64[n,3]"``, also nested in dictionaries,
    lists, tuples and other pytrees. Only their shapes and dtypes are used. Each array becomes an input, such as ``params.w``, and each
    array of the result an output. Extents of `jax.export.symbolic_shape` stay free. Arrays that the function refers to become constants.

    Raises a `FreezeError` that lists every primitive that cannot be lowered, with the source line and the reason.
    """
    if not callable(fn):
        raise GraphTypeError(f"found a `{type(fn).__name__}`, expected a function")
    made = Frozen(fn, specs, name)
    if path is not None:
        save(path, {made.name: made}, isa=isa)
    return made


class Frozen(frozen.Frozen):
    """A JAX function as a graph of precast."""

    def __init__(self, fn: Callable[..., Any], specs: Sequence[Any], name: str | None) -> None:
        own = getattr(fn, "__name__", "")
        self.name = name or (own if own.isidentifier() else "function")
        specs = read(specs)
        closed, shapes = jax.make_jaxpr(fn, return_shape=True)(*specs)
        avals, arguments = closed.in_avals, argument_names(fn, len(specs))
        taken: set[str] = set()
        names = [each for argument, spec in zip(arguments, specs, strict=True) for each in names_of(spec, argument, taken)]
        self._check(avals, names)
        inputs = Inputs(avals, names)
        lower = Lowering(inputs.symbols)
        made = [lower.variable(each) for each in lower.closed(closed, self._checked(inputs, avals, lower))]
        if lower.refusals:
            raise refusals.error(self.name, "primitives", lower.refusals)
        if not made:
            raise FreezeError(f"cannot freeze `{self.name}`: it returns no array")
        results = names_of_results(shapes, set())
        types = {name: inputs.type_of(aval) for name, aval in zip(results, closed.out_avals, strict=True)}
        made = copied(made, inputs.variables)
        self.graph: _native.Graph = graph(inputs.variables, dict(zip(results, made, strict=True)), types=types)
        #: The nesting of arguments and results, for `Structured`.
        self.structure: dict[str, Any] = {
            "names": arguments,
            "arguments": [structure_of(spec, argument) for argument, spec in zip(arguments, specs, strict=True)],
            "result": structure_of(shapes, "the result"),
        }
        self._result = jax.tree.structure(shapes)
        self._documentation = inspect.getdoc(fn) or ""

    def _check(self, avals: Sequence[Any], names: Sequence[str]) -> None:
        for aval, name in zip(avals, names, strict=True):
            try:
                check_dtype(aval)
            except Refused as refused:
                raise FreezeError(f"cannot freeze `{self.name}`: input `{name}`: {refused}") from None

    def _checked(self, inputs: Inputs, avals: Sequence[Any], lower: Lowering) -> list[Variable]:
        try:
            return inputs.checked(avals, lower.extent)
        except Refused as refused:
            raise FreezeError(f"cannot freeze `{self.name}`: {refused}") from None

    @property
    def is_flat(self) -> bool:
        """Whether all arguments are arrays, and the result is an array or a tuple of several arrays."""
        result = self.structure["result"]
        is_several = isinstance(result, dict) and len(result.get("tuple", ())) > 1 and all(each == ARRAY for each in result["tuple"])
        return all(each == ARRAY for each in self.structure["arguments"]) and (result == ARRAY or is_several)

    def function(self, **settings: Any) -> Any:
        """Creates the function with the settings of `precast.function`. With nested arguments or results, it is a `Structured`."""
        made = super().function(**settings)
        return made if self.is_flat else Structured(made, self.structure, lambda parts: jax.tree.unflatten(self._result, parts))

    def saved(self, name: str, taken: Set[str]) -> tuple[dict[str, _native.Graph], dict[str, Any]]:
        """Returns the graph to save in a bundle under a name, and the metadata."""
        graphs, metadata = super().saved(name, taken)
        return graphs, metadata | {"documentation": self._documentation, "json": {KEY: self.structure}}


def copied(results: Sequence[Variable], inputs: Sequence[Variable]) -> list[Variable]:
    """Returns results as different variables, none of which is an input."""
    made: list[Variable] = []
    for each in results:
        made.append(call("copy", each) if any(each is other for other in [*inputs, *made]) else each)
    return made
