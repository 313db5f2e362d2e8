"""Functions with states and steps in bundles of before there was metadata, which are still read.

The graphs of a function in steps are the entries ``name.0``, ``name.1``, …; ``name.steps`` is a graph without inputs whose value is a
plan, a text of JSON, with the states of generators. The outputs of ``name.state``, a graph without inputs, are the other first values.
"""

from __future__ import annotations

import json
from typing import Any

import numpy

from ._native import Model
from .errors import BundleError, EntryError

_STATE = ".state"
_STEPS = ".steps"


def has_steps(model: Model, name: str) -> bool:
    """Whether a bundle has a function in steps of this name."""
    return name + _STEPS in model


def plan_and_graphs(model: Model, name: str) -> tuple[dict[str, Any], list[str]]:
    """The plan of a function of a bundle, and the names of its graphs."""
    value = model[name + _STEPS]()
    try:
        plan = json.loads(numpy.asarray(value).tobytes())
        count = sum("graph" in step for step in plan["steps"])
    except (KeyError, TypeError, ValueError) as error:
        raise BundleError(f"the plan of `{name}` cannot be read: {error}") from None
    return plan, [f"{name}.{at}" for at in range(count)]


def state(model: Model, name: str) -> dict[str, Any]:
    """The first values of a function of a bundle: arrays, and the states of generators."""
    generators = plan_and_graphs(model, name)[0].get("state", {}) if has_steps(model, name) else {}
    if name + _STATE not in model:
        if generators:
            return dict(generators)
        raise EntryError(f"the bundle states no state of `{name}`")
    first = model[name + _STATE]
    values = first()
    values = values if isinstance(values, tuple) else (values,)
    return generators | {port.name: numpy.asarray(value) for port, value in zip(first.outputs, values, strict=True)}
