"""Compiled functions of PyTensor as graphs of precast, which run without PyTensor."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy

from .. import _cpython, _native
from .._build import _settings, function, graph, save
from .._draws import copied
from .._stateful import STATE, Stateful
from .._steps import GENERATOR, OBJECT, STEPS, Steps, state_of, text
from .._variable import Variable
from ..errors import FreezeError, GraphTypeError
from ._lower import Lowering
from ._lower.lowering import HINT, Held, Hosted, constant, is_array, port_of, type_text
from ._plan import Planned

#: What functions of PyMC's keep theirs in.
_HOLDERS = ("f", "_pytensor_function")


def freeze(
    fn: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    name: str | None = None,
    state: Iterable[Any] = (),
    isa: str | Sequence[str] | None = None,
    python: bool = False,
) -> Frozen:
    """Lowers a compiled function of PyTensor to precast's op library; with a path, writes it into a bundle.

    Shared variables that the function updates, and those in `state`, stay variables: the graph takes their values as its last
    inputs, and gives the updated ones as its last outputs. The others become constants. What cannot be lowered is a `FreezeError`,
    which names every such op with the reason. With `python`, draws of random numbers, decompositions and functions that precast lacks
    are asked of NumPy and SciPy between graphs, and an op whose C needs Python's or NumPy's own API is called through it, as an
    extension module; such a function is a `Steps`, which Python alone can call.
    """
    frozen = Frozen(_function(fn), set(state), name, python)
    if path is not None:
        save(path, {frozen.name: frozen}, isa=isa)
    return frozen


class Frozen:
    """A function of PyTensor's as a graph of precast."""

    def __init__(self, fn: Any, state: set[Any], name: str | None, python: bool = False) -> None:
        #: What the function is called in a bundle.
        self.name: str = name or _own_name(fn) or "function"
        lower = Lowering(python)
        inputs, values = _inputs(fn, state, lower)
        outputs, updated = _outputs(fn)
        made = lower.graph(fn.maker.fgraph.inputs, outputs, values)
        if lower.refusals:
            raise FreezeError(_refusal(self.name, lower))
        if not all(isinstance(value, (Variable, Held)) for value in made):
            raise FreezeError(f"cannot freeze `{self.name}`: it gives a constant that is no array")
        held = {at: value for at, value in inputs.items() if _is_shared(fn, at)}
        #: The shared variables that stay variables, by their names, with the values that they have now.
        self.state: dict[str, Any] = {value.name: _copy(_value(fn, at)) for at, value in held.items()}
        names = _names(outputs[: len(outputs) - len(updated)], set(self.state)) + [inputs[at].name for at in updated]
        free = [value for at, value in inputs.items() if at not in held]
        takes, gives = [*free, *held.values()], dict(zip(names, made, strict=True))
        is_one_graph = not lower.asked and all(isinstance(value, Variable) for value in (*takes, *made))
        if not is_one_graph and not python:
            raise FreezeError(f"cannot freeze `{self.name}`: it takes or gives what is no array\n{HINT}")
        #: The graph; `None` where it is several, with calls of Python between them.
        self.graph: _native.Graph | None = graph(takes, gives) if is_one_graph else None
        self._planned = None if is_one_graph else Planned(lower, takes, list(gives.items()))

    def function(self, **settings: Any) -> Any:
        """The function, with the settings of `precast.function`; one with a state keeps it."""
        if self._planned is None:
            made = function(self.graph, name=self.name, **settings)
        else:
            graphs = enumerate(self._planned.graphs)
            functions = [function(each, name=f"{self.name}.{at}", **settings) for at, each in graphs]
            modules = {key: _called(each, settings) for key, each in self._planned.hosted.items()}
            made = Steps(self.name, self._planned.plan, functions, modules)
        return Stateful(made, dict(self.state)) if self.state else made

    def graphs(self, name: str) -> dict[str, _native.Graph]:
        """What goes into a bundle under a name."""
        arrays = {key: value for key, value in self.state.items() if isinstance(value, numpy.ndarray)}
        if self._planned is None:
            assert self.graph is not None
            made = {name: self.graph}
        else:
            generators = {key: state_of(value) for key, value in self.state.items() if key not in arrays}
            made = {f"{name}.{at}": each for at, each in enumerate(self._planned.graphs)}
            made[name + STEPS] = _constants({"plan": text(self._planned.plan | {"state": generators})})
        return made | ({name + STATE: _constants(arrays)} if arrays else {})

    @property
    def units(self) -> list[_native.Unit]:
        """The extension modules that it calls."""
        return [] if self._planned is None else [each.unit for each in self._planned.hosted.values()]

    def __repr__(self) -> str:
        return f"<precast.pytensor.Frozen {self.name}: {self.graph or self.function(policy='interpret')!r}>"


def _called(hosted: Hosted, settings: Mapping[str, Any]) -> Any:
    """An op through its own C, with the settings of `precast.function`."""
    if settings.get("policy") == "interpret":
        return hosted.reference
    chosen = (settings.get(name) for name in ("policy", "layers", "store", "record", "check", "keyring"))
    policy, layers, store, record, check, keyring = chosen
    return _cpython.function(hosted.graph, _settings(policy, layers or (), store, record, check, keyring), hosted.host)


def _constants(values: dict[str, numpy.ndarray]) -> _native.Graph:
    """A graph without inputs that gives values."""
    return graph([], {key: constant(value, value.dtype.name) for key, value in values.items()})


def _copy(value: Any) -> Any:
    """A value that nobody else changes."""
    return copied(value) if isinstance(value, numpy.random.Generator) else numpy.array(value)


def _function(fn: Any) -> Any:
    """The function of PyTensor that something is or holds."""
    for holder in (None, *_HOLDERS):
        held = fn if holder is None else getattr(fn, holder, None)
        if hasattr(getattr(held, "maker", None), "fgraph") and hasattr(held, "input_storage"):
            return held
    raise GraphTypeError(f"found a `{type(fn).__name__}`, expected a compiled function of PyTensor's")


def _inputs(fn: Any, state: set[Any], lower: Lowering) -> tuple[dict[int, Any], list[Any]]:
    """The variables that stay inputs, by their places, and what every input of PyTensor's graph is."""
    fgraph, updated = fn.maker.fgraph, set(fn.maker.fgraph.update_mapping.values())
    kept: dict[int, Any] = {}
    values: list[Any] = []
    for at, variable in enumerate(fgraph.inputs):
        stays = not _is_shared(fn, at) or at in updated or _shared(fn, at) in state
        if not stays:
            values.append(lower.known(variable.type, _value(fn, at)))
            continue
        name = _unique(_identifier(_name(fn, at) or f"x{at}"), lower.taken)
        kept[at] = _input(name, variable.type, lower.python, _is_shared(fn, at))
        values.append(kept[at])
    missing = state - {_shared(fn, at) for at in kept}
    if missing:
        names = ", ".join(sorted(f"`{variable}`" for variable in missing))
        raise GraphTypeError(f"the function has no shared variable {names}")
    return kept, values


def _outputs(fn: Any) -> tuple[list[Any], list[int]]:
    """The outputs, updates last, and which inputs these are for."""
    fgraph = fn.maker.fgraph
    mapping = fgraph.update_mapping
    own = [at for at in range(len(fgraph.outputs)) if at not in mapping]
    return [fgraph.outputs[at] for at in [*own, *mapping]], list(mapping.values())


def _own_name(fn: Any) -> str | None:
    """The name that somebody gave a function; some versions name the others after the file that makes them."""
    name = getattr(fn, "name", None)
    return name if isinstance(name, str) and name.isidentifier() else None


def _names(outputs: list[Any], taken: set[str]) -> list[str]:
    """Names for outputs, none of them taken."""
    return [_unique(_identifier(output.name or f"out{at}"), taken) for at, output in enumerate(outputs)]


def _is_shared(fn: Any, at: int) -> bool:
    return bool(fn.maker.inputs[at].shared) or at in fn.maker.fgraph.update_mapping.values()


def _shared(fn: Any, at: int) -> Any:
    return fn.maker.inputs[at].variable


def _name(fn: Any, at: int) -> str | None:
    own = fn.maker.inputs[at]
    return own.name or own.variable.name


def _value(fn: Any, at: int) -> Any:
    """The value that an input has now."""
    return fn.input_storage[at].storage[0]


def _input(name: str, type_: Any, python: bool, is_state: bool) -> Any:
    port = port_of(type_)
    if port == GENERATOR or port == OBJECT and python and not is_state:
        return Held(name, port)
    if is_state and not is_array(type_):
        hint = "hint: make it an input and an output of the function"
        raise FreezeError(f"shared variable `{name}` is a `{type_}`; one that stays is an array or a generator of NumPy's\n{hint}")
    if not is_array(type_):
        hint = f"\n{HINT}" if port == OBJECT else ""
        raise FreezeError(f"input `{name}` is a `{type_}`, expected an array{hint}")
    return _native.input(name, type_text(type_))


def _identifier(name: str) -> str:
    made = re.sub(r"\W", "_", name, flags=re.ASCII)
    return made if made and not made[0].isdigit() else f"x{made}"


def _unique(name: str, taken: set[str]) -> str:
    number, made = 1, name
    while made in taken:
        number += 1
        made = f"{name}_{number}"
    taken.add(made)
    return made


def _refusal(name: str, lower: Lowering) -> str:
    reasons: dict[tuple[str, str], int] = {}
    for refusal in lower.refusals:
        reasons[refusal] = reasons.get(refusal, 0) + 1
    lines = [
        f"  `{apply}`{'' if count == 1 else f' ({count} times)'}: {reason}" for (apply, reason), count in reasons.items()
    ]
    return f"cannot freeze `{name}`: ops that cannot be lowered\n" + "\n".join(lines)
