"""Models of packages for the sampler nutpie."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy

from .errors import CallAssertionError, CallIndexError, CallRuntimeError, CallValueError

if TYPE_CHECKING:
    from ._density import Density

#: What a model raises at a point that it rejects.
_REJECTED = (CallAssertionError, CallIndexError, CallRuntimeError, CallValueError)


def compiled(density: Density) -> Any:
    """Returns the model for ``nutpie.sample``."""
    import pandas
    from nutpie.compiled_pyfunc import from_pyfunc

    described, values = density.constrained(), [_plain(value) for value in density.constrain(density.initial()).values()]
    dims = {each["name"]: _dims(each, value) for each, value in zip(described, values, strict=True) if value.ndim}
    # Data of other extents may have changed those of dimensions.
    extents = {dim: extent for each, value in zip(described, values) for dim, extent in zip(dims.get(each["name"], ()), value.shape)}
    known = density.description["coords"]
    coords = {dim: known[dim] if len(known.get(dim, ())) == extent else range(extent) for dim, extent in extents.items()}
    return from_pyfunc(
        density.dim,
        lambda: lambda q: _value(density, q),
        lambda *_: lambda q: {name: _plain(value) for name, value in density.constrain(q).items()},
        [value.dtype for value in values],
        [value.shape for value in values],
        [each["name"] for each in described],
        dims=dims,
        coords={dim: pandas.Index(_alike(each)) for dim, each in coords.items()},
        make_initial_point_fn=lambda seed: density.initial() + density.uniform(0 if seed is None else int(seed)),
    )


def _alike(values: Iterable[Any]) -> list[Any]:
    """Returns the values, or their texts if they are not all integers, numbers or texts."""
    values = list(values)
    kinds = {str if isinstance(value, str) else bool if isinstance(value, bool) else float for value in values}
    return values if len(kinds) < 2 else [str(value) for value in values]


def _value(density: Density, q: numpy.ndarray) -> tuple[float, numpy.ndarray]:
    """Returns the log density and its gradient. A point that the model rejects has density 0."""
    try:
        value, gradient = density.logp_and_grad(q)
    except _REJECTED:
        return -numpy.inf, numpy.zeros(density.dim)
    return float(value), gradient


def _plain(value: numpy.ndarray) -> numpy.ndarray:
    """Returns an array of a dtype that nutpie stores."""
    return value.astype("int64") if value.dtype.kind in "iu" else value


def _dims(variable: dict[str, Any], value: numpy.ndarray) -> tuple[str, ...]:
    """Returns the names of a variable's dimensions: those of the model, or ArviZ's default."""
    dims = variable["dims"] or [""] * value.ndim
    return tuple(dim or f"{variable['name']}_dim_{axis}" for axis, dim in enumerate(dims))
