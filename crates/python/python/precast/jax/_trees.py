"""The nesting of arguments and results: names of their arrays, and the trees of `precast.Structured`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from jax import tree_util

from .._front.names import unique
from .._structured import ARRAY
from ..errors import FreezeError


def structure_of(value: Any, name: str) -> Any:
    """Returns the tree of a value, whose leaves may be anything that JAX does not take apart. `name` is its name in errors."""
    if value is None:
        return None
    parts = tree_util.tree_flatten_with_path(value, is_leaf=lambda each: each is not value)[0]
    if len(parts) == 1 and not parts[0][0]:
        return ARRAY
    keys, values = [key_of(path[0]) for path, _ in parts], [part for _, part in parts]
    trees = [structure_of(part, f"{name}.{key}") for key, part in zip(keys, values, strict=True)]
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return {"named": [type(value).__name__, list(value._fields), trees]}
    if isinstance(value, (tuple, list)):
        return {"list" if isinstance(value, list) else "tuple": trees}
    if not all(isinstance(key, (str, int)) for key in keys):
        raise FreezeError(f"the keys of `{name}` must be strings or integers, so that a bundle can state them")
    pairs = [[key, tree] for key, tree in zip(keys, trees, strict=True)]
    return {"dict": pairs} if isinstance(value, Mapping) else {"object": [type(value).__name__, pairs]}


def key_of(entry: Any) -> Any:
    """Returns the key, position or attribute of an entry of a path."""
    found = (getattr(entry, name) for name in ("key", "idx", "name") if hasattr(entry, name))
    return next(found, str(entry))


def names_of(value: Any, name: str, taken: set[str]) -> list[str]:
    """Returns unused names for the leaves of a value, such as ``params.w``."""
    return [unique(joined(name, path), taken) for path, _ in tree_util.tree_flatten_with_path(value)[0]]


def names_of_results(value: Any, taken: set[str]) -> list[str]:
    """Returns names for the leaves of a result: `out`, or `out0` and so on of a sequence, or keys."""
    made = []
    for path, _ in tree_util.tree_flatten_with_path(value)[0]:
        first, rest = (key_of(path[0]), path[1:]) if path else ("", ())
        is_key = isinstance(first, str) and first
        made.append(unique(joined(first if is_key else f"out{first}", rest), taken))
    return made


def joined(name: str, path: Iterable[Any]) -> str:
    """Returns a name with the keys of a path. Bundles allow letters, digits, underscores and dots."""
    parts = [re.sub(r"[^\w]", "_", str(key), flags=re.ASCII) or "_" for key in (name, *map(key_of, path))]
    return ".".join(parts)
