"""Converts compiled PyTensor functions to graphs of precast, which run without PyTensor."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

import numpy

from .. import _cpython, _native
from .._build import _settings, function, graph, save
from .._draws import copied
from .._front import frozen, refusals
from .._front.names import identifier, unique
from .._metadata import plan_of, states
from .._stateful import Stateful
from .._steps import GENERATOR, OBJECT, Steps, state_of
from .._variable import Variable
from ..errors import FreezeError, GraphTypeError, GraphValueError
from ._lower import Lowering
from ._lower.lowering import HINT, Held, Hosted, is_array, is_generator, port_of, type_text
from ._plan import Planned

#: The attributes in which PyMC objects keep their PyTensor function.
_HOLDERS = ("f", "_pytensor_function")


def freeze(
    fn: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    name: str | None = None,
    state: Iterable[Any] = (),
    isa: str | Sequence[str] | None = None,
    python: bool = False,
    random: str | None = None,
) -> Frozen:
    """Lowers a compiled PyTensor function to precast's op library. With a path, writes it to a bundle.

    Shared variables that the function updates, and those in `state`, stay variables: their values are the last inputs of the graph,
    and the updated values are its last outputs. Other shared variables become constants. Raises a `FreezeError` that lists every op
    that cannot be lowered, with the reason.

    With `python`, NumPy and SciPy compute random draws, decompositions and functions that precast lacks, between graphs. An op whose C
    needs the API of Python or NumPy becomes an extension module. Such a function is a `Steps`, which only Python can call.

    With `random="counter"`, random draws are functions of a key, `key: u32[2]`, which is the first input (`precast.random.key`). They
    have the distributions of PyTensor's draws, but other numbers. Generators are neither inputs nor outputs nor state.
    """
    if random not in (None, "counter"):
        raise GraphValueError(f'`random` is {random!r}, expected `None` or `"counter"`')
    frozen = Frozen(_function(fn), set(state), name, python, random is not None)
    if path is not None:
        save(path, {frozen.name: frozen}, isa=isa)
    return frozen


class Frozen(frozen.Frozen):
    """A PyTensor function as a graph of precast."""

    def __init__(self, fn: Any, state: set[Any], name: str | None, python: bool = False, has_key: bool = False) -> None:
        self.name = name or _own_name(fn) or "function"
        keys = [_native.input("key", "u32[2]")] if has_key else []
        lower = Lowering(python, *keys)
        inputs, values = _inputs(fn, state, lower)
        outputs, updated = _outputs(fn, has_key)
        made = lower.graph(fn.maker.fgraph.inputs, [output for output, _ in outputs], values)
        if lower.refusals:
            raise refusals.error(self.name, "ops", lower.refusals)
        if not all(isinstance(value, (Variable, Held)) for value in made):
            raise FreezeError(f"cannot freeze `{self.name}`: an output is a constant that is not an array")
        held = {at: value for at, value in inputs.items() if _is_shared(fn, at)}
        #: The shared variables that stay variables, by name, with their current values.
        self.state: dict[str, Any] = {value.name: _copy(_value(fn, at)) for at, value in held.items()}
        own = [name for output, name in outputs]
        names = _names(own[: len(own) - len(updated)], set(self.state)) + [inputs[at].name for at in updated]
        free = [value for at, value in inputs.items() if at not in held]
        takes, gives = [*keys, *free, *held.values()], dict(zip(names, made, strict=True))
        is_one_graph = not lower.asked and all(isinstance(value, Variable) for value in (*takes, *made))
        if not is_one_graph and not python:
            raise FreezeError(f"cannot freeze `{self.name}`: an input or output is not an array\n{HINT}")
        self.graph = None
        if is_one_graph:
            given = zip(names, outputs, strict=True)
            self.graph = graph(takes, gives, types={name: type_text(output.type) for name, (output, _) in given if _has_extents(output)})
        self._planned = None if is_one_graph else Planned(lower, takes, list(gives.items()))

    def function(self, **settings: Any) -> Any:
        """Creates the function with the settings of `precast.function`. With state, it is a `Stateful`."""
        if self._planned is None:
            made = super().function(**settings)
        else:
            graphs = enumerate(self._planned.graphs)
            functions = [function(each, name=f"{self.name}.{at}", **settings) for at, each in graphs]
            modules = {key: _called(each, settings) for key, each in self._planned.hosted.items()}
            made = Steps(self.name, self._planned.plan, functions, modules)
        return Stateful(made, dict(self.state)) if self.state else made

    def saved(self, name: str, taken: Set[str]) -> tuple[dict[str, _native.Graph], dict[str, Any]]:
        """Returns the graphs to save in a bundle under a name, with names that are not in `taken`, and the metadata."""
        values = {key: value if isinstance(value, numpy.ndarray) else state_of(value) for key, value in self.state.items()}
        if self._planned is None:
            assert self.graph is not None
            graphs, metadata = super().saved(name, taken)
            return graphs, metadata | {"state": states(values, [port.name for port in self.graph.outputs])}
        plan, used = self._planned.plan, set(taken)
        made = {unique(f"{name}.{at}", used): each for at, each in enumerate(self._planned.graphs)}
        updated = [output for output, _ in plan["outputs"]]
        return made, {"state": states(values, updated), "plan": plan_of(plan, list(made))}

    @property
    def units(self) -> list[_native.Unit]:
        """The extension modules that the function calls."""
        return [] if self._planned is None else [each.unit for each in self._planned.hosted.values()]


def _called(hosted: Hosted, settings: Mapping[str, Any]) -> Any:
    """Returns an op that runs its own C, with the settings of `precast.function`."""
    if settings.get("policy") == "interpret":
        return hosted.reference
    chosen = (settings.get(name) for name in ("policy", "layers", "store", "record", "check", "keyring"))
    policy, layers, store, record, check, keyring = chosen
    return _cpython.function(hosted.graph, _settings(policy, layers or (), store, record, check, keyring), hosted.host)


def _copy(value: Any) -> Any:
    """Returns a private copy of a value."""
    return copied(value) if isinstance(value, numpy.random.Generator) else numpy.array(value)


def _function(fn: Any) -> Any:
    """Returns a PyTensor function, or the one that an object of PyMC holds."""
    for holder in (None, *_HOLDERS):
        held = fn if holder is None else getattr(fn, holder, None)
        if hasattr(getattr(held, "maker", None), "fgraph") and hasattr(held, "input_storage"):
            return held
    raise GraphTypeError(f"found a `{type(fn).__name__}`, expected a compiled PyTensor function")


def _inputs(fn: Any, state: set[Any], lower: Lowering) -> tuple[dict[int, Any], list[Any]]:
    """Returns the variables that stay inputs, by position, and a value for every input of PyTensor's graph."""
    fgraph, updated = fn.maker.fgraph, set(fn.maker.fgraph.update_mapping.values())
    kept: dict[int, Any] = {}
    values: list[Any] = []
    for at, variable in enumerate(fgraph.inputs):
        stays = not _is_shared(fn, at) or at in updated or _shared(fn, at) in state
        if not stays or lower.keys is not None and is_generator(variable.type):
            values.append(lower.known(variable.type, _value(fn, at)))
            continue
        name = unique(identifier(_name(fn, at) or f"x{at}"), lower.taken)
        kept[at] = _input(name, variable.type, lower.python, _is_shared(fn, at))
        values.append(kept[at])
    missing = state - {_shared(fn, at) for at in kept}
    if missing:
        names = ", ".join(sorted(f"`{variable}`" for variable in missing))
        raise GraphTypeError(f"the function has no shared variable {names}")
    return kept, values


def _outputs(fn: Any, has_key: bool) -> tuple[list[tuple[Any, str | None]], list[int]]:
    """Returns the outputs and their names, with updates last, and the inputs that the updates belong to. With a key, generators are
    dropped. The names are those of the outputs before PyTensor's rewrites."""
    fgraph = fn.maker.fgraph
    stays = [at for at, output in enumerate(fgraph.outputs) if not (has_key and is_generator(output.type))]
    updates = {at: given for at, given in fgraph.update_mapping.items() if at in stays}
    own = [at for at in stays if at not in updates]
    given = [each.variable.name for each in fn.maker.outputs]
    names = [given[at] if at < len(given) else None for at in range(len(fgraph.outputs))]
    return [(output, names[at] or output.name) for at, output in enumerate(fgraph.outputs) if at in own] + [
        (fgraph.outputs[at], None) for at in updates
    ], list(updates.values())


def _own_name(fn: Any) -> str | None:
    """Returns the name that a user gave a function. Some versions of PyTensor name other functions after their source file."""
    name = getattr(fn, "name", None)
    return name if isinstance(name, str) and name.isidentifier() else None


def _has_extents(output: Any) -> bool:
    """Returns whether PyTensor knows extents of an output, which calls then check."""
    return any(extent is not None for extent in output.type.shape)


def _names(own: list[str | None], taken: set[str]) -> list[str]:
    """Returns unused names for outputs."""
    return [unique(identifier(name or f"out{at}"), taken) for at, name in enumerate(own)]


def _is_shared(fn: Any, at: int) -> bool:
    return bool(fn.maker.inputs[at].shared) or at in fn.maker.fgraph.update_mapping.values()


def _shared(fn: Any, at: int) -> Any:
    return fn.maker.inputs[at].variable


def _name(fn: Any, at: int) -> str | None:
    own = fn.maker.inputs[at]
    return own.name or own.variable.name


def _value(fn: Any, at: int) -> Any:
    """Returns the current value of an input."""
    return fn.input_storage[at].storage[0]


def _input(name: str, type_: Any, python: bool, is_state: bool) -> Any:
    port = port_of(type_)
    if port == GENERATOR or port == OBJECT and python and not is_state:
        return Held(name, port)
    if is_state and not is_array(type_):
        hint = "hint: make it an input and an output of the function"
        raise FreezeError(f"shared variable `{name}` is a `{type_}`; state must be an array or a NumPy generator\n{hint}")
    if not is_array(type_):
        hint = f"\n{HINT}" if port == OBJECT else ""
        raise FreezeError(f"input `{name}` is a `{type_}`, expected an array{hint}")
    return _native.input(name, type_text(type_))
