"""The arguments that a function is traced with: arrays, `jax.ShapeDtypeStruct` and type texts."""

from __future__ import annotations

import inspect
import keyword
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy
from jax import dtypes, export, tree_util

from .. import _native
from .._front.names import unique
from .._types import Type, dtype_name
from .._variable import Variable, call
from ..errors import FreezeError, GraphValueError
from ._lower.lowering import dtype_of, is_key, is_symbolic


def read(specs: Sequence[Any]) -> tuple[Any, ...]:
    """Returns specs with types in place of texts such as ``f64[n,3]``. Extents of one name are equal in all texts."""
    texts = [leaf for leaf in tree_util.tree_leaves(specs) if isinstance(leaf, str)]
    names = {extent: extent for text in texts for extent in extents_of(text) if extent.isidentifier()}
    count = sum(extents_of(text).count("?") for text in texts)
    free = [f"unnamed{at}" for at in range(count)]
    shape = export.symbolic_shape(",".join([*names, *free]), scope=scope_of(specs)) if names or free else ()
    symbols = dict(zip([*names, *free], shape, strict=True))
    rest = iter(free)

    def typed(leaf: Any) -> Any:
        if not isinstance(leaf, str):
            return leaf
        dtype = numpy.dtype(Type(leaf).dtype)
        if dtypes.canonicalize_dtype(dtype) != dtype:
            hint = 'hint: `jax.config.update("jax_enable_x64", True)`'
            raise GraphValueError(f"`{leaf}`: JAX has no `{dtype}` unless its 64-bit mode is on\n{hint}")
        shape = [int(extent) if extent.isdecimal() else symbols[next(rest) if extent == "?" else extent] for extent in extents_of(leaf)]
        return jax.ShapeDtypeStruct(tuple(shape), dtype)

    return tree_util.tree_map(typed, tuple(specs))


def scope_of(specs: Sequence[Any]) -> export.SymbolicScope:
    """Returns the scope of the extents with names, or a new one. Extents of different scopes are never equal."""
    shapes = (getattr(leaf, "shape", ()) for leaf in tree_util.tree_leaves(specs) if not isinstance(leaf, str))
    extents = (extent for shape in shapes for extent in shape if is_symbolic(extent))
    return next((extent.scope for extent in extents), None) or export.SymbolicScope()


def extents_of(text: str) -> list[str]:
    """Returns the extents of a type text."""
    rest = text.partition("[")[2]
    extents = [extent.strip() for extent in rest.rstrip("]").split(",")] if rest.strip("] ") else []
    try:
        _native.input("x", text)
    except GraphValueError as error:
        raise GraphValueError(f"a text as an argument is a type: {error}") from None
    return extents


def argument_names(fn: Callable[..., Any], count: int) -> list[str]:
    """Returns the names of the arguments of a function."""
    names: list[str] = []
    try:
        parameters = list(inspect.signature(fn).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    for parameter in parameters:
        if parameter.kind is parameter.VAR_POSITIONAL:
            names += [f"{parameter.name}{at}" for at in range(count - len(names))]
        elif parameter.kind is not parameter.KEYWORD_ONLY:
            names.append(parameter.name)
    return [*names, *(f"x{at}" for at in range(len(names), count))][:count]


class Inputs:
    """The inputs of a graph, and the variables of the extents that have names."""

    def __init__(self, avals: Sequence[Any], names: Sequence[str]) -> None:
        taken = set(names)
        #: The names of extents in types. An extent cannot have the name of an input.
        self._shown = shown = dict[str, str]()
        self.variables: list[Variable] = []
        self.symbols: dict[str, Variable] = {}
        for aval, name in zip(avals, names, strict=True):
            extents = [_text(extent, shown, taken) for extent in aval.shape] + ["2"] * is_key(aval)
            self.variables.append(_native.input(name, f"{dtype_name(dtype_of(aval))}[{','.join(extents)}]"))
        for aval, value in zip(avals, self.variables, strict=True):
            for axis, extent in enumerate(aval.shape):
                if is_symbolic(extent) and str(extent).isidentifier():
                    self.symbols.setdefault(str(extent), call("shape_i", value, i=axis))

    def type_of(self, aval: Any) -> str:
        """Returns the type of a result. Extents that are expressions of others are unknown in types."""
        extents = [self._shown.get(str(extent), "?") if is_symbolic(extent) else str(extent) for extent in aval.shape]
        return f"{dtype_name(dtype_of(aval))}[{','.join(extents + ['2'] * is_key(aval))}]"

    def checked(self, avals: Sequence[Any], extent: Callable[[Any], Any]) -> list[Variable]:
        """Returns the inputs, with checks of extents that are expressions of others, such as ``2*n``."""
        made = []
        for aval, value in zip(avals, self.variables, strict=True):
            name = value.name
            for axis, each in enumerate(aval.shape):
                if is_symbolic(each) and not str(each).isidentifier():
                    own = call("shape_i", value, i=axis)
                    value = call("assert", value, call("eq", own, extent(each)), message=f"axis {axis} of `{name}` must have extent {each}")
            made.append(value)
        return made


def _text(extent: Any, shown: dict[str, str], taken: set[str]) -> str:
    """Returns an extent in a type text."""
    text = str(extent)
    if not is_symbolic(extent):
        return text
    if not text.isidentifier() or text.startswith("unnamed"):
        return "?"
    if keyword.iskeyword(text):
        raise FreezeError(f"an extent cannot have the name `{text}`")
    if text not in shown:
        shown[text] = unique(text, taken)
    return shown[text]
