"""Graphs and functions of variables and of texts."""

from __future__ import annotations

import functools
import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy

from . import _native
from ._variable import Variable
from .errors import GraphTypeError, GraphValueError, MissError


def input(name: str, type: str) -> Variable:
    """An input of a graph: ``precast.input("x", "f64[?]")``."""
    return _native.input(name, str(type))


def graph(inputs: Any, outputs: Any) -> _native.Graph:
    """The graph of variables, or of texts: ``precast.graph("x: f64[?]", "out = sum(x)")``."""
    if isinstance(inputs, _native.Graph):
        return inputs
    if _are_texts(outputs):
        return _native.parse(_split(inputs), [outputs] if isinstance(outputs, str) else list(outputs))
    inputs = [inputs] if isinstance(inputs, Variable) else list(inputs)
    return _native.graph(inputs, _named(outputs))


def graph_of(*outputs: Variable) -> _native.Graph:
    """The graph of variables and of all the inputs that they need."""
    return _native.graph(_native.needed(list(outputs)), _named(outputs))


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
    """The function of a graph.

    `layers` are bundles and stores that are asked in this order. What none of them has is an error where `policy` is
    ``"strict"``, computed by the reference implementation where it is ``"interpret"``, and compiled where it is ``"jit"``, as it is
    without a policy where a compiler is there. What was compiled is kept in `store`: else in ``$PRECAST_STORE``, else in the
    user's cache. `record` is a manifest that misses are written down in, for ``precast build``. With `check`, each op in C is held
    against its contract in every call. Enough keys of `keyring`, else of ``$PRECAST_KEYRING``, must have signed the `layers`; without
    both, no signatures are checked.

    With `host` ``"cpython"``, a graph of ops of your own becomes an extension module over Python's own objects, whose function is a
    builtin: values of your types may be any objects, and an exception is that which the C raises.
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
) -> None:
    """Compiles graphs, and writes them into a bundle under their names: ``precast.save("model.precast", {"score": score})``.

    A graph is a `Graph`, a function that was made of one, or what `precast.pytensor.freeze` gives, with all that it calls. `isa` are the levels to compile
    for, ``"x86-64-v2,x86-64-v3"``; without it all that are known. `store` is as for `function`.

    With `host` ``"cpython"``, what is written are the extension modules of graphs of your own ops: the bundle is one of the `layers` of
    `function`, which finds them by the graphs, and is of the level of this CPU where `isa` says nothing.
    """
    made = _all_graphs(graphs)
    levels = isa.split(",") if isinstance(isa, str) else list(isa or ())
    named = store if store is not None else os.environ.get("PRECAST_STORE") or None
    store = named if named is not None else _native.user_store()
    if _is_cpython(host):
        from . import _cpython

        return _cpython.save(os.path.abspath(path), list(made.values()), levels, store)
    units = [unit for each in graphs.values() for unit in getattr(each, "units", ())]
    told = _native.save(os.path.abspath(path), list(made.items()), units, levels, store, named is not None)
    for warning in told:
        warnings.warn(warning, RuntimeWarning, stacklevel=2)


def _all_graphs(graphs: Mapping[str, Any]) -> dict[str, _native.Graph]:
    """The graphs of a bundle: one for each name, and those that states and steps are saved as."""
    made: dict[str, _native.Graph] = {}
    for name, each in graphs.items():
        added = each.graphs(name) if hasattr(each, "graphs") else {name: _graph_of(name, each)}
        if taken := sorted(added.keys() & (made.keys() | graphs.keys() - {name})):
            raise GraphValueError(f"`{taken[0]}` is the name of a graph that `{name}` is saved as\nhint: give the other graph another name")
        made.update(added)
    return made


def ufunc(
    name: str,
    signature: str | None = None,
    *,
    layers: Sequence[str | os.PathLike[str]],
    keyring: str | os.PathLike[str] | None = None,
) -> numpy.ufunc:
    """A ufunc of a function of the library, with a loop for each dtype that `layers` hold, as an ``[[op]]`` of a manifest declares them.

    With a `signature`, ``"(n,m),(m,k)->(n,k)"``, it is a generalised ufunc. What NumPy has no loop for is left out; the ufunc's
    documentation says why.
    """
    ranks = [1] if signature is None else sorted(_native.core_ranks(signature))
    if _native.described(name) is None:
        raise GraphValueError(f"the library has no function `{name}`\nhint: `dir(precast)` lists them")
    functions = _native.held(name, ranks, _settings("strict", layers, None, None, None, keyring))
    if not functions:
        told = ", ".join(map(str, ranks))
        raise MissError(
            f"miss: no layer has `{name}` by itself for arrays of {told} dimension(s)\n"
            f'hint: declare it: `[[op]]`, `name = "{name}"`, `dtypes = ["f64"]`, `ndim = [{told}]`'
        )
    return _native.ufunc(name, functions, signature, True)


def _is_cpython(host: str) -> bool:
    """Whether a host is `cpython`."""
    if host not in ("native", "cpython"):
        raise GraphValueError(f"`{host}` is no host\nhint: \"native\" or \"cpython\"")
    return host == "cpython"


def _graph_of(name: str, each: Any) -> _native.Graph:
    found = each if isinstance(each, _native.Graph) else getattr(each, "graph", None)
    if found is None:
        raise GraphTypeError(f"`{name}` is no graph, and no function that was made of one")
    return found


class Explanation(str):
    """How a graph would be served, in words."""

    #: Whether layers have all of it.
    is_hit: bool


def explain(
    inputs: Any,
    outputs: Any = None,
    *,
    layers: Sequence[str | os.PathLike[str]] = (),
    store: str | os.PathLike[str] | None = None,
    keyring: str | os.PathLike[str] | None = None,
) -> Explanation:
    """How a graph would be served, and for what is missing what comes nearest; nothing is loaded or compiled."""
    is_hit, text = _native.explain(graph(inputs, outputs), _settings("strict", layers, store, None, None, keyring))
    explanation = Explanation(text)
    explanation.is_hit = is_hit
    return explanation


def check(inputs: Any, outputs: Any = None, **settings: Any) -> bool:
    """Whether layers have all that a graph needs, so that it is served without a compiler."""
    return explain(inputs, outputs, **settings).is_hit


def _settings(policy: Any, layers: Any, store: Any, record: Any, check: Any, keyring: Any = None) -> dict[str, Any]:
    if isinstance(layers, (str, os.PathLike)):
        raise GraphTypeError("`layers` is a list of paths\nhint: `layers=[path]`")
    store = store if store is not None else _store(policy)
    return {
        "layers": [os.path.abspath(layer) for layer in layers],
        "store": None if store is None else os.path.abspath(store),
        "policy": policy,
        "record": None if record is None else os.path.abspath(record),
        "check": check,
        # An empty name is refused, and is no name of the working directory.
        "keyring": os.path.abspath(keyring) if keyring else keyring,
    }


def _store(policy: str | None) -> str | None:
    """The store where none is named."""
    if named := os.environ.get("PRECAST_STORE"):
        return named
    if policy in ("strict", "interpret"):
        return None
    store = _native.user_store()
    return store if store is not None and _is_usable(store) else None


@functools.cache
def _is_usable(store: str | os.PathLike[str]) -> bool:
    """Whether a store exists or can be created; each process probes a path once. Services often have a read-only home, or a full disk."""
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
    """Outputs with their names: of a mapping the keys, else those of the variables."""
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
    """The declarations of inputs: a text may have several, ``x: f64[?,?], y: i64``."""
    if not isinstance(inputs, str):
        return [str(each) for each in inputs]
    parts, depth = [""], 0
    for letter in inputs:
        depth += (letter in "[<") - (letter in "]>")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]
