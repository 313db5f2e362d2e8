"""What a bundle states about its functions, between Python's values and what the native part writes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy

from .errors import GraphValueError

_KEYS = ("documentation", "inputs", "outputs", "json")


def stated(of: Mapping[str, Any]) -> dict[str, Any]:
    """Metadata as the native part takes it: of a user, or of a function with a state or a plan."""
    if unknown := sorted(of.keys() - {*_KEYS, "state", "plan"}):
        raise GraphValueError(f"`{unknown[0]}` is no metadata\nhint: there are {', '.join(_KEYS)}")
    return {
        "documentation": str(of.get("documentation", "")),
        "inputs": _ports(of.get("inputs", {})),
        "outputs": _ports(of.get("outputs", {})),
        "state": of.get("state", []),
        "plan": of.get("plan"),
        "json": {key: _text(value) for key, value in of.get("json", {}).items()},
    }


def _ports(ports: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, list[str], str]]:
    return [(name, [dim or "" for dim in port.get("dims", ())], port.get("documentation", "")) for name, port in ports.items()]


def states(values: Mapping[str, Any], updated: Iterable[str]) -> list[dict[str, Any]]:
    """The state of a function: arrays, and the states of generators. An output that updates an input has its name."""
    names = set(updated)
    return [
        {"input": name, "update": name if name in names else None, **_initial(value)} for name, value in values.items()
    ]


def _initial(value: Any) -> dict[str, Any]:
    is_array = isinstance(value, numpy.ndarray)
    return {"array": value if is_array else None, "json": None if is_array else _text(value)}


def plan_of(plan: Mapping[str, Any], graphs: Sequence[str]) -> dict[str, Any]:
    """The plan that `Steps` follows, as the native part takes it; `graphs` are the names of its graphs in the bundle."""
    return {
        "inputs": [tuple(port) for port in plan["inputs"]],
        "outputs": [tuple(port) for port in plan["outputs"]],
        "known": {name: _text(state) for name, state in plan["generators"].items()},
        "steps": [_step_of(step, graphs) for step in plan["steps"]],
        "results": plan["results"],
    }


def _step_of(step: Mapping[str, Any], graphs: Sequence[str]) -> dict[str, Any]:
    kind = next(kind for kind in _CALLEES if kind in step)
    callee = graphs[step["graph"]] if kind == "graph" else step[kind]
    settings = {key: value for key, value in step.items() if key not in (kind, "host", "takes", "gives")}
    return {
        "kind": _CALLEES[kind],
        "callee": callee,
        "host": step.get("host", ""),
        "takes": step["takes"],
        "gives": step["gives"],
        "settings": _text(settings) if settings else "",
    }


#: What a step of a plan of `Steps` calls, and what a bundle calls that.
_CALLEES = {"graph": "entry", "module": "module", "call": "function"}


def plan_and_graphs(plan: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The plan that `Steps` follows, of that of a bundle, and the names of its graphs."""
    graphs: list[str] = []
    steps = []
    for step in plan["steps"]:
        made = {**step["settings"], "takes": step["takes"], "gives": step["gives"]}
        if step["kind"] == "entry":
            made["graph"] = len(graphs)
            graphs.append(step["callee"])
        elif step["kind"] == "module":
            made |= {"module": step["callee"], "host": step["host"]}
        else:
            made["call"] = step["callee"]
        steps.append(made)
    read = {"inputs": plan["inputs"], "outputs": plan["outputs"], "generators": plan["known"], "results": plan["results"]}
    return read | {"steps": steps}, graphs


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=_plain)


def _plain(value: Any) -> Any:
    return value.tolist()
