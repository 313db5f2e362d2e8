"""Builds graphs and functions from variables and texts."""

from __future__ import annotations

import functools
import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy

from . import _metadata, _native
from ._variable import Variable
from .errors import GraphTypeError, GraphValueError, MissError


def input(name: str, type: str) -> Variable:
    """Creates an input of a graph: ``precast.input("x", "f64[?]")``."""
    return _native.input(name, str(type))


def graph(inputs: Any, outputs: Any, *, types: Mapping[str, str] | None = None) -> _native.Graph:
    """Creates a graph from variables, or from texts: ``precast.graph("x: f64[?]", "out = sum(x)")``.

    `types` declares types of outputs by name: ``{"out": "f32[n]"}``. The dtype, the rank and the known extents of a variable must agree
    with its declared type; calls check the other extents. Texts declare types themselves: ``"out: f32[n] = x / 255"``.
    """
    if isinstance(inputs, _native.Graph):
        return inputs
    if _are_texts(outputs):
        if types:
            raise GraphTypeError("outputs that are texts declare their types themselves\nhint: `out: f64[n] = …`")
        return _native.parse(_split(inputs), [outputs] if isinstance(outputs, str) else list(outputs))
    inputs = [inputs] if isinstance(inputs, Variable) else list(inputs)
    named = _named(outputs)
    declared = {name: str(type_) for name, type_ in (types or {}).items()}
    if unknown := declared.keys() - {name for name, _ in named}:
        raise GraphValueError(f"type of unknown output `{min(unknown)}`; found {', '.join(str(name) for name, _ in named)}")
    return _native.graph(inputs, [(name, value, declared.get(name)) for name, value in named])


def graph_of(*outputs: Variable) -> _native.Graph:
    """Creates the graph of variables. Its inputs are all inputs that they depend on."""
    return _native.graph(_native.needed(list(outputs)), [(name, value, None) for name, value in _named(outputs)])


def function(
    inputs: Any,
    outputs: Any = None,
    *,
    name: str | None = None,
    policy: str | None = None,
    layers: Sequence[str | os.PathLike[str]] = (),
    store: str | os.PathLike[str] | None = None,
    record: str | os.PathLike[str] | None = None,
    check: bool | None = None,
    host: str = "native",
    keyring: str | os.PathLike[str] | None = None,
) -> Any:
    """Creates the function of a graph.

    `layers` are bundles and stores, searched in this order. `policy` decides what happens on a miss: ``"strict"`` raises a
    `MissError`, ``"interpret"`` computes with the reference implementation, and ``"jit"`` compiles. The default is ``"jit"`` if a
    compiler is installed, otherwise ``"strict"``. Compiled modules are kept in `store`, ``$PRECAST_STORE`` or the user's cache.
    Misses are added to the manifest `record`, for ``precast build``. With `check`, each op in C is checked against its contract in
    every call. If `keyring` or ``$PRECAST_KEYRING`` is set, enough of its keys must have signed the `layers`.

    With `host` ``"cpython"``, a graph of your own ops becomes an extension module on Python objects, and the function is a builtin.
    Values of your types may be any objects, and exceptions that the C code raises are not converted.
    """
    whole = graph(inputs, outputs)
    if _is_cpython(host):
        from . import _cpython

        return _cpython.function(whole, _settings(policy, layers, store, record, check, keyring))
    return _native.compile(whole, name or "function", _settings(policy, layers, store, record, check, keyring))


def save(
    path: str | os.PathLike[str],
    graphs: Mapping[str, Any],
    *,
    isa: str | Sequence[str] | None = None,
    store: str | os.PathLike[str] | None = None,
    host: str = "native",
    metadata: Mapping[str, Mapping[str, Any]] | None = None,
) -> None:
    """Compiles graphs and writes them to a bundle under their names: ``precast.save("model.precast", {"score": score})``.

    Each value is a `Graph`, a function that was built from one, or the result of `precast.pytensor.freeze` or `precast.jax.freeze`.
    `isa` lists the CPU levels to compile for, such as ``"x86-64-v2,x86-64-v3"``; the default is all known levels. `store` has the same
    meaning as in `function`.

    `metadata` describes graphs and functions by name, and the bundle by the empty name: ``{"score": {"documentation": …,
    "inputs": {"x": {"dims": ["day"], "documentation": …}}, "outputs": …, "json": {"mine.key": …}}}``. `Model.metadata` returns it.

    With `host` ``"cpython"``, the bundle contains the extension modules of graphs of your own ops. Pass it to `function` as one of
    `layers`, which finds the modules by their graphs. The default of `isa` is then the level of this CPU.
    """
    made, stated = _contents(graphs)
    for name, each in (metadata or {}).items():
        if name and name not in graphs:
            raise GraphValueError(f"metadata for unknown graph `{name}`; found {', '.join(graphs)}")
        own = stated.get(name, {})
        stated[name] = {**own, **each, "json": {**own.get("json", {}), **each.get("json", {})}}
    levels = isa.split(",") if isinstance(isa, str) else list(isa or ())
    named = store if store is not None else os.environ.get("PRECAST_STORE") or None
    store = named if named is not None else _native.user_store()
    if _is_cpython(host):
        from . import _cpython

        if stated:
            raise GraphValueError("a bundle for host `cpython` has no graphs that metadata could be about")
        return _cpython.save(os.path.abspath(path), list(made.values()), levels, store)
    units = [unit for each in graphs.values() for unit in getattr(each, "units", ())]
    told = {name: _metadata.stated(each) for name, each in stated.items()}
    kept = None if store is None else (store, named is not None)
    warned = _native.save(os.path.abspath(path), list(made.items()), units, told, levels, kept)
    for warning in warned:
        warnings.warn(warning, RuntimeWarning, stacklevel=2)


def _contents(graphs: Mapping[str, Any]) -> tuple[dict[str, _native.Graph], dict[str, dict[str, Any]]]:
    """Returns the graphs of a bundle, including those of functions in steps, and its metadata by name."""
    made: dict[str, _native.Graph] = {}
    metadata: dict[str, dict[str, Any]] = {}
    taken = set(graphs)
    for name, each in graphs.items():
        if hasattr(each, "saved"):
            parts, metadata[name] = each.saved(name, taken)
        else:
            parts = {name: _graph_of(name, each)}
        made.update(parts)
        taken.update(parts)
    return made, metadata


def ufunc(
    name: str,
    signature: str | None = None,
    *,
    layers: Sequence[str | os.PathLike[str]],
    keyring: str | os.PathLike[str] | None = None,
) -> numpy.ufunc:
    """Creates a ufunc from a library function, with a loop for each dtype that an ``[[op]]`` of a manifest declared in `layers`.

    With a `signature` such as ``"(n,m),(m,k)->(n,k)"``, it is a generalized ufunc. Functions that cannot be loops of NumPy are left
    out; the docstring of the ufunc states the reasons.
    """
    ranks = [1] if signature is None else sorted(_native.core_ranks(signature))
    if _native.described(name) is None:
        raise GraphValueError(f"the library has no function `{name}`\nhint: `dir(precast)` lists the functions")
    functions = _native.held(name, ranks, _settings("strict", layers, None, None, None, keyring))
    if not functions:
        told = ", ".join(map(str, ranks))
        raise MissError(
            f"miss: no layer has `{name}` as an op for arrays of {told} dimension(s)\n"
            f'hint: declare it: `[[op]]`, `name = "{name}"`, `dtypes = ["f64"]`, `ndim = [{told}]`'
        )
    return _native.ufunc(name, functions, signature, True)


def _is_cpython(host: str) -> bool:
    """Returns whether a host is `cpython`."""
    if host not in ("native", "cpython"):
        raise GraphValueError(f"unknown host `{host}`, expected \"native\" or \"cpython\"")
    return host == "cpython"


def _graph_of(name: str, each: Any) -> _native.Graph:
    found = each if isinstance(each, _native.Graph) else getattr(each, "graph", None)
    if found is None:
        raise GraphTypeError(f"`{name}` is a `{type(each).__name__}`, expected a graph or a function built from a graph")
    return found


class Explanation(str):
    """A text that explains how a graph would be served."""

    #: Whether the layers have all modules of the graph.
    is_hit: bool


def explain(
    inputs: Any,
    outputs: Any = None,
    *,
    layers: Sequence[str | os.PathLike[str]] = (),
    store: str | os.PathLike[str] | None = None,
    keyring: str | os.PathLike[str] | None = None,
) -> Explanation:
    """Explains how a graph would be served, with the nearest match for each miss. Does not load or compile code."""
    is_hit, text = _native.explain(graph(inputs, outputs), _settings("strict", layers, store, None, None, keyring))
    explanation = Explanation(text)
    explanation.is_hit = is_hit
    return explanation


def check(inputs: Any, outputs: Any = None, **settings: Any) -> bool:
    """Returns whether the layers serve a graph without a compiler."""
    return explain(inputs, outputs, **settings).is_hit


def _settings(policy: Any, layers: Any, store: Any, record: Any, check: Any, keyring: Any = None) -> dict[str, Any]:
    if isinstance(layers, (str, os.PathLike)):
        raise GraphTypeError("`layers` must be a list of paths\nhint: `layers=[path]`")
    store = store if store is not None else _store(policy)
    return {
        "layers": [os.path.abspath(layer) for layer in layers],
        "store": None if store is None else os.path.abspath(store),
        "policy": policy,
        "record": None if record is None else os.path.abspath(record),
        "check": check,
        # Keep an empty name, which is rejected later: `abspath` would turn it into the working directory.
        "keyring": os.path.abspath(keyring) if keyring else keyring,
    }


def _store(policy: str | None) -> str | None:
    """Returns the default store."""
    if named := os.environ.get("PRECAST_STORE"):
        return named
    if policy in ("strict", "interpret"):
        return None
    store = _native.user_store()
    return store if store is not None and _is_usable(store) else None


@functools.cache
def _is_usable(store: str | os.PathLike[str]) -> bool:
    """Returns whether a store exists or can be created. The result is cached. Services often have a read-only home or a full disk."""
    if os.path.isfile(os.path.join(store, "STORE")):
        return True
    import tempfile

    cache = os.path.dirname(store)
    try:
        os.makedirs(cache, exist_ok=True)
        with tempfile.TemporaryFile(dir=cache) as file:
            file.write(bytes(1 << 16))
    except OSError:
        return False
    return True


def _named(outputs: Any) -> list[tuple[str | None, Any]]:
    """Returns outputs with names: the keys of a mapping, or else the names of the variables."""
    if isinstance(outputs, Mapping):
        return list(outputs.items())
    if isinstance(outputs, (list, tuple)):
        names = [getattr(output, "name", None) for output in outputs]
        unique = [name if names.count(name) == 1 else None for name in names]
        return list(zip(unique, outputs))
    return [(getattr(outputs, "name", None) or "out", outputs)]


def _are_texts(outputs: Any) -> bool:
    return isinstance(outputs, str) or (
        isinstance(outputs, (list, tuple)) and bool(outputs) and all(isinstance(output, str) for output in outputs)
    )


def _split(inputs: Any) -> list[str]:
    """Returns the declarations of inputs. A text may contain several, such as ``x: f64[?,?], y: i64``."""
    if not isinstance(inputs, str):
        return [str(each) for each in inputs]
    parts, start, depth = [], 0, 0
    for at, letter in enumerate(inputs):
        depth += (letter in "[<") - (letter in "]>")
        if letter == "," and depth == 0:
            parts.append(inputs[start:at])
            start = at + 1
    parts.append(inputs[start:])
    return [part.strip() for part in parts if part.strip()]
