"""Functions whose arguments and results are nested: dictionaries, lists and tuples of arrays. They come from JAX.

A tree describes the nesting as JSON values, so that a bundle can state it and calls need only NumPy:

=================================  ==============================================================================
``"array"``                        an array: the next input or output
``None``                           `None`
``{"tuple": [tree, …]}``           a tuple; also ``list``
``{"dict": [[key, tree], …]}``     a dictionary
``{"named": [name, fields, trees]}``  a named tuple
``{"object": [name, [[key, tree], …]]}``  an object of another class: an argument may have attributes or keys, results are dictionaries
=================================  ==============================================================================
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ._native import Function, Model
from .errors import BundleError, CallTypeError

#: The key of the trees in the metadata of a bundle.
KEY = "precast.structure"

ARRAY = "array"


class Structured:
    """A function with nested arguments and results.

    >>> loss = precast.Structured.load(model, "loss")    # doctest: +SKIP
    """

    def __init__(self, function: Function, structure: Mapping[str, Any], restore: Callable[[Sequence[Any]], Any] | None = None) -> None:
        #: The function of arrays.
        self.function = function
        #: Returns a result with these arrays, if its classes exist in this process.
        self._restore = restore
        self._names: list[str] = list(structure["names"])
        #: The trees of the arguments.
        self.arguments: list[Any] = list(structure["arguments"])
        self._result: Any = structure["result"]
        if len(self._names) != len(self.arguments) or sum(map(count, self.arguments)) != len(function.inputs):
            raise BundleError(f"the structure of `{function.__name__}` does not match its inputs")
        if count(self._result) != len(function.outputs):
            raise BundleError(f"the structure of `{function.__name__}` does not match its outputs")

    @classmethod
    def load(cls, model: Model, name: str) -> Structured:
        """Loads a function with nested arguments from a bundle."""
        structure = model.metadata(name)["json"].get(KEY)
        if structure is None:
            raise BundleError(f"the bundle states no structure of `{name}`\nhint: `model[{name!r}]` takes and returns arrays")
        return cls(model[name], structure)

    def __call__(self, *args: Any, **named: Any) -> Any:
        """Calls the function. Returns a value with the structure of the results."""
        made = self.function(*self.flat(*args, **named))
        parts = made if len(self.function.outputs) != 1 else (made,)
        return self.nested(parts or ())

    def flat(self, *args: Any, **named: Any) -> list[Any]:
        """Returns the arrays of arguments, in the order of the function's inputs."""
        values = dict(zip(self._names, args)) | named
        if len(args) + len(named) != len(self._names) or set(values) != set(self._names):
            raise CallTypeError(
                f"`{self.function.__name__}` takes ({', '.join(self._names)}), "
                f"found {len(args)} positional argument(s) and ({', '.join(named)})"
            )
        given: list[Any] = []
        for name, tree in zip(self._names, self.arguments, strict=True):
            _flatten(tree, values[name], name, given)
        return given

    def nested(self, arrays: Sequence[Any]) -> Any:
        """Returns the result that consists of these arrays, in the order of the function's outputs."""
        return _restored(self._result, iter(arrays)) if self._restore is None else self._restore(arrays)

    def __repr__(self) -> str:
        return f"<precast.Structured {self.function!r}>"


def count(tree: Any) -> int:
    """Returns the number of arrays in a tree."""
    if tree is None:
        return 0
    return 1 if tree == ARRAY else sum(count(part) for _, part in _parts(tree))


def _parts(tree: Mapping[str, Any]) -> list[tuple[Any, Any]]:
    """Returns the keys and the trees of the parts of a tree."""
    ((kind, of),) = tree.items()
    if kind in ("tuple", "list"):
        return list(enumerate(of))
    if kind == "named":
        return list(zip(of[1], of[2], strict=True))
    return [(key, part) for key, part in (of if kind == "dict" else of[1])]


def _flatten(tree: Any, value: Any, name: str, given: list[Any]) -> None:
    """Appends the arrays of a value to `given`. `name` is the name of the value in errors."""
    if tree == ARRAY:
        given.append(value)
        return
    if tree is None:
        if value is not None:
            raise CallTypeError(f"`{name}` is a `{type(value).__name__}`, expected None")
        return
    (kind,) = tree
    parts = _parts(tree)
    found: Any
    if kind in ("tuple", "list") or kind == "named" and not hasattr(value, "_fields"):
        wanted = "tuple" if kind == "named" else kind
        if not isinstance(value, list if kind == "list" else tuple) or len(value) != len(parts):
            raise CallTypeError(f"`{name}` is a `{type(value).__name__}`, expected a {wanted} of {len(parts)} values")
        found = list(value)
    elif isinstance(value, Mapping):
        if set(value) != {key for key, _ in parts}:
            raise CallTypeError(f"`{name}` has the keys {sorted(map(str, value))}, expected {sorted(str(key) for key, _ in parts)}")
        found = [value[key] for key, _ in parts]
    elif kind == "dict":
        raise CallTypeError(f"`{name}` is a `{type(value).__name__}`, expected a dict")
    else:
        missing = [str(key) for key, _ in parts if not hasattr(value, str(key))]
        if missing:
            raise CallTypeError(f"`{name}` is a `{type(value).__name__}` without `{missing[0]}`")
        found = [getattr(value, str(key)) for key, _ in parts]
    for (key, part), each in zip(parts, found, strict=True):
        _flatten(part, each, f"{name}.{key}", given)


def _restored(tree: Any, arrays: Iterator[Any]) -> Any:
    """Returns a value with the structure of a tree."""
    if tree is None:
        return None
    if tree == ARRAY:
        return next(arrays)
    ((kind, of),) = tree.items()
    keys, values = [], []
    for key, part in _parts(tree):
        keys.append(key)
        values.append(_restored(part, arrays))
    if kind == "list":
        return values
    if kind == "tuple":
        return tuple(values)
    return _named(of[0], keys)(*values) if kind == "named" else dict(zip(keys, values, strict=True))


def _named(name: str, fields: Sequence[str]) -> Any:
    """Returns the class of a named tuple. Names that Python does not allow are replaced."""
    return namedtuple(name if name.isidentifier() else "Result", fields, rename=True)
