"""What a package states about its model: names, shapes, dims, coordinates, transforms and versions."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy
import pymc
import pytensor

from .._front.names import identifier, unique
from ..errors import GraphValueError
from ._graphs import Graphs, evaluated

#: Names of inputs that no data may have.
_RESERVED = ("q", "vector", "key")


def identifiers(model: Any, data: Iterable[Any]) -> dict[str, str]:
    """Returns the names of inputs and outputs for the model's variables."""
    made: dict[str, str] = {}
    taken = set(_RESERVED)
    # Frozen functions name inputs after shared variables themselves.
    for variable in data:
        short = identifier(variable.name)
        if short in taken:
            raise GraphValueError(
                f"cannot export: the data `{variable.name}` would be the input `{short}`, which exists\nhint: rename it in the model"
            )
        taken.add(short)
        made[variable.name] = short
    for variable in [*model.free_RVs, *model.deterministics, *model.observed_RVs]:
        made[variable.name] = unique(identifier(variable.name), taken)
    return made


def description(
    model: Any, graphs: Graphs, names: Mapping[str, str], shapes: Sequence[tuple[int, ...]], name: str
) -> dict[str, Any]:
    """Returns the description of a model. `shapes` are those of its parameters and deterministics."""
    free, deterministics = model.free_RVs, model.deterministics
    of = dict(zip([*free, *deterministics], shapes, strict=True))

    def port(variable: Any, shape: tuple[int, ...]) -> dict[str, Any]:
        dims = model.named_vars_to_dims.get(variable.name, ())
        dims = [dim or "" for dim in dims] if any(dims) else []
        return {"name": variable.name, "port": names[variable.name], "shape": list(shape), "dims": dims, "dtype": str(variable.dtype)}

    return {
        "schema": 1,
        "name": name,
        "unconstrained": graphs.size,
        "parameters": [port(rv, of[rv]) | {"unconstrained": _unconstrained(graphs, rv)} for rv in free],
        "deterministics": [port(each, of[each]) for each in deterministics],
        "observed": [port(rv, value.shape) | {"sha256": _digest(value)} for rv, value in _observed(model)],
        "data": [port(each, each.get_value(borrow=True).shape) for each in model.data_vars if each.name in names],
        "coords": {dim: [_plain(value) for value in values] for dim, values in model.coords.items() if values is not None},
        "versions": {"pymc": pymc.__version__, "pytensor": pytensor.__version__},
    }


def _unconstrained(graphs: Graphs, rv: Any) -> dict[str, Any]:
    """Describes the unconstrained value of a parameter."""
    value, transform = graphs.model.rvs_to_values[rv], graphs.model.rvs_to_transforms[rv]
    kind = None if transform is None else getattr(transform, "name", None) or type(transform).__name__
    return {"name": value.name, "shape": list(graphs.initial[value.name].shape), "transform": kind}


def _observed(model: Any) -> Iterable[tuple[Any, numpy.ndarray]]:
    for rv in model.observed_RVs:
        yield rv, evaluated(model.rvs_to_values[rv])


def _digest(array: numpy.ndarray) -> str:
    """Returns the SHA-256 of a dtype, a shape and the elements in C order."""
    content = f"{array.dtype.str} {list(array.shape)}\n".encode() + numpy.ascontiguousarray(array).tobytes()
    return hashlib.sha256(content).hexdigest()


def _plain(value: Any) -> Any:
    """Converts a coordinate to a JSON value."""
    value = value.item() if isinstance(value, (numpy.bool_, numpy.integer, numpy.floating)) else value
    is_json = isinstance(value, (bool, int, str)) or isinstance(value, float) and numpy.isfinite(value)
    return value if is_json else str(value)
