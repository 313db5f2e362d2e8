"""A linker that computes functions of PyTensor with graphs of precast."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy
from pytensor.compile.mode import Mode, predefined_modes, register_mode
from pytensor.configdefaults import config
from pytensor.graph.basic import Constant
from pytensor.graph.rewriting.db import RewriteDatabaseQuery
from pytensor.link.basic import Container, PerformLinker
from pytensor.link.utils import map_storage, raise_with_op

from .. import _environment, _native
from .._build import function, graph
from ..errors import GraphError, GraphTypeError
from ._lower import Lowering
from ._lower.lowering import Refused, is_array, type_text
from ._unit import signature

#: Rewrites that precast does itself, or that need C++.
_EXCLUDED = ("cxx_only", "BlasOpt", "fusion", "inplace", "scan_make_inplace")


class Part(NamedTuple):
    """Applies that one thunk computes: a graph of precast, or one Apply that PyTensor computes."""

    nodes: list[Any]
    #: Why PyTensor computes it; `None` for a graph of precast.
    reason: str | None


class PrecastLinker(PerformLinker):
    """Computes maximal parts of a function with graphs of precast, and each other Apply with PyTensor's own thunk.

    The settings are those of `precast.function`: `policy`, `layers`, `store`, `keyring`, `record` and `check`. Without settings, the
    environment names the policy and the layers, as for modules of PyTensor.
    """

    required_rewrites: tuple[str, ...] = ("minimum_compile",)
    incompatible_rewrites: tuple[str, ...] = _EXCLUDED

    def __init__(self, allow_gc: bool | None = None, schedule: Any = None, **settings: Any) -> None:
        super().__init__(allow_gc=allow_gc, schedule=schedule)
        self.settings = settings
        #: The parts of the function, in the order in which they run.
        self.parts: list[Part] = []

    def accept(self, fgraph: Any, no_recycling: Any = None, profile: Any = None) -> PrecastLinker:
        if self.fgraph is not None and self.fgraph is not fgraph:
            return type(self)(self.allow_gc, self._scheduler, **self.settings).accept(fgraph, no_recycling, profile)
        self.fgraph, self.no_recycling = fgraph, no_recycling or []
        return self

    def clone(self, allow_gc: bool | None = None) -> PrecastLinker:
        return type(self)(self.allow_gc if allow_gc is None else allow_gc, self._scheduler, **self.settings)

    def make_all(self, input_storage: Any = None, output_storage: Any = None, storage_map: Any = None) -> Any:
        fgraph: Any = self.fgraph
        order = self.schedule(fgraph)
        inputs, outputs, storage = map_storage(fgraph, order, input_storage, output_storage, storage_map)
        computed = {variable: [variable.owner is None] for variable in storage}
        kept = {id(cell) for cell in (*inputs, *outputs)}
        self.parts, thunks, last = [], [], []
        for part in _parts(order, fgraph.orderings()):
            made = None if part.reason else self._lowered(part.nodes, storage)
            if made is not None:
                self.parts.append(part)
                thunks.append(made)
                last.append(part.nodes[-1])
                continue
            for node in part.nodes:
                self.parts.append(Part([node], part.reason or "the graph around it cannot be lowered"))
                thunks.append(node.op.make_thunk(node, storage, computed, [], None if config.cxx else "py"))
                thunks[-1].inputs = [storage[variable] for variable in node.inputs]
                thunks[-1].outputs = [storage[variable] for variable in node.outputs]
                last.append(node)
        freed = [storage[output] for node in order for output in node.outputs if id(storage[output]) not in kept]
        run = _runner(fgraph, thunks, last, freed if self.allow_gc else [])
        run.allow_gc, run.storage_map, run.parts = self.allow_gc, storage, self.parts  # type: ignore[attr-defined]
        held = [Container(*pair) for pair in zip(fgraph.inputs, inputs, strict=True)]
        given = [Container(*pair, readonly=True) for pair in zip(fgraph.outputs, outputs, strict=True)]
        return run, held, given, thunks, last

    def _lowered(self, nodes: Sequence[Any], storage: Any) -> Any:
        """Returns the thunk of a part; `None` if it cannot be lowered as a whole."""
        fgraph: Any = self.fgraph
        inside = {output for node in nodes for output in node.outputs}
        takes = dict.fromkeys(variable for node in nodes for variable in node.inputs if not _is_known(variable, inside))
        users, chosen = fgraph.clients, set(nodes)
        gives = [
            output
            for node in nodes
            for output in node.outputs
            if any(user == "output" or user not in chosen for user in _users(users, output, fgraph))
        ]
        lower = Lowering()
        ports = [_native.input(f"x{at}", type_text(variable.type)) for at, variable in enumerate(takes)]
        made = lower.graph(list(takes), gives, ports)
        if lower.refusals or lower.asked or not gives:
            return None
        settings = self.settings or _of_environment()
        whole = function(graph(ports, {f"out{at}": value for at, value in enumerate(made)}), name="pytensor", **settings)
        are_numbers = [type(variable.type).__name__ == "ScalarType" for variable in gives]
        return _thunk(whole, [storage[variable] for variable in takes], [storage[variable] for variable in gives], are_numbers)


def _is_known(variable: Any, inside: set[Any]) -> bool:
    """Returns whether a part need not take a variable: it computes it, or it is a constant."""
    return variable in inside or isinstance(variable, Constant)


def _users(clients: Any, output: Any, fgraph: Any) -> Iterable[Any]:
    """Returns the Applies that use a variable, and ``"output"`` if it is a result of the function."""
    if output in fgraph.outputs:
        yield "output"
    yield from (client for client, _ in clients.get(output, ()) if client in fgraph.apply_nodes)


def _parts(order: Sequence[Any], required: Mapping[Any, Sequence[Any]]) -> list[Part]:
    """Divides Applies into maximal parts. A part depends only on parts before it. `required` are the Applies that must run before an
    Apply that overwrites their inputs."""
    stages: dict[Any, int] = {}
    parts: dict[tuple[int, bool], Part] = {}
    single: dict[int, list[Part]] = {}
    for node in order:
        reason = _refusal(node)
        before = [variable.owner for variable in node.inputs if variable.owner is not None] + list(required.get(node, ()))
        # Odd stages are graphs of precast, and even ones Applies of PyTensor.
        stage = max((stages[owner] for owner in before), default=0)
        stage += (stage % 2 == 0) if reason is None else (stage % 2 == 1)
        stages[node] = stage
        if reason is None:
            parts.setdefault((stage, True), Part([], None)).nodes.append(node)
        else:
            single.setdefault(stage, []).append(Part([node], reason))
    made: list[tuple[int, list[Part]]] = [(stage, [part]) for (stage, _), part in parts.items()]
    made += list(single.items())
    return [part for _, group in sorted(made, key=lambda pair: pair[0]) for part in group]


def _refusal(node: Any) -> str | None:
    """Returns why an Apply cannot be lowered."""
    if any(node.inputs[at].owner is None for taken in node.op.destroy_map.values() for at in taken):
        return "it overwrites an input of the function"
    lower = Lowering()
    try:
        for at, variable in enumerate(node.inputs):
            if not isinstance(variable, Constant):
                if not is_array(variable.type):
                    return f"`{variable.type}` is not an array"
                lower.bind(variable, _native.input(f"x{at}", type_text(variable.type)))
        lower.apply(node)
    except (Refused, GraphError, TypeError) as refused:
        return str(refused)
    if lower.refusals:
        return lower.refusals[0].reason
    return "Python computes it" if lower.asked or not all(is_array(output.type) for output in node.outputs) else None


def _thunk(whole: Any, takes: Sequence[list[Any]], gives: Sequence[list[Any]], are_numbers: Sequence[bool]) -> Any:
    """Returns a thunk that calls a function on values in cells."""
    # A function returns numbers of NumPy for arrays of rank 0, which scalars of PyTensor are too.
    is_plain_of = [not port.type.endswith("[]") or is_number for port, is_number in zip(whole.outputs, are_numbers, strict=True)]

    def one() -> None:
        value = whole(*[cell[0] for cell in takes])
        gives[0][0] = value if is_plain_of[0] else numpy.asarray(value)

    def several() -> None:
        values = whole(*[cell[0] for cell in takes])
        for cell, value, is_plain in zip(gives, values, is_plain_of):
            cell[0] = value if is_plain else numpy.asarray(value)

    made: Any = one if len(gives) == 1 else several
    made.inputs, made.outputs, made.lazy = list(takes), list(gives), False
    return made


def _runner(fgraph: Any, thunks: Sequence[Any], nodes: Sequence[Any], freed: Sequence[list[Any]]) -> Callable[[], None]:
    """Returns a function that runs all thunks."""
    pairs = list(zip(thunks, nodes, strict=True))

    def run() -> None:
        for thunk, node in pairs:
            try:
                thunk()
            except Exception:
                raise_with_op(fgraph, node, thunk)
        for cell in freed:
            cell[0] = None

    return run


def report(fn: Any) -> str:
    """Describes how a function of mode `PRECAST` is computed: its graphs, and the Applies that PyTensor computes, with the reasons."""
    parts: list[Part] | None = getattr(getattr(fn, "vm", None), "parts", None)
    if parts is None:
        raise GraphTypeError("the function has another linker\nhint: `pytensor.function(…, mode=\"PRECAST\")`")
    count = sum(len(part.nodes) for part in parts if part.reason is None)
    graphs = sum(part.reason is None for part in parts)
    lines = [f"{count} of {sum(len(part.nodes) for part in parts)} ops in {graphs} graph{'' if graphs == 1 else 's'} of precast"]
    for part in parts:
        if part.reason is not None:
            lines.append(f"  PyTensor computes `{signature(part.nodes[0])}`: {part.reason}")
    return "\n".join(lines)


def mode(**settings: Any) -> Mode:
    """Creates a mode with the settings of `precast.function`, such as ``mode(layers=["model.precast"], policy="strict")``."""
    query = RewriteDatabaseQuery(include=["fast_run"], exclude=list(_EXCLUDED))
    return Mode(linker=PrecastLinker(**settings), optimizer=query)


def _of_environment() -> dict[str, Any]:
    """Returns the settings of a linker without settings: the layers and the policy that the environment names."""
    policy = os.environ.get("PRECAST_POLICY")
    return {"layers": _environment.paths(os.environ.get("PRECAST_BUNDLE", "")), "policy": None if policy == "auto" else policy or None}


if "PRECAST" not in predefined_modes:
    register_mode("PRECAST", mode())
