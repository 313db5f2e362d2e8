"""Writes a PyMC model as a bundle with an entry for each question that samplers ask."""

from __future__ import annotations

import logging
import os
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy

from .. import _native, random
from .._build import graph, save
from .._density import KEY
from ..errors import FreezeError, GraphTypeError, GraphValueError
from ._describe import description, identifiers
from ._graphs import Entry, Graphs

_LOG = logging.getLogger("precast")

#: The entries without which a package is not written.
_NEEDED = ("log_density", "log_density_gradient", "constrain")

#: What each entry computes, for `precast show` and generated documentation.
_DOCUMENTATION = {
    "log_density": "The log density at the unconstrained point `q`",
    "log_density_gradient": "The log density at the unconstrained point `q`, and its gradient",
    "log_density_hessian_product": "The log density at the unconstrained point `q`, and the product of its Hessian with `vector`",
    "log_likelihood": "The log density of each observation, given the unconstrained point `q`",
    "constrain": "The parameters and deterministics at the unconstrained point `q`",
    "unconstrain": "The unconstrained point of parameters",
    "predict": "Draws of the observed variables with a key, given the unconstrained point `q`",
    "prior": "Draws from the prior with a key: parameters, deterministics, observed variables",
    "initial": "The initial point, unconstrained",
    "uniform": "An unconstrained point that is uniform from -1 to 1, with a key",
    "data": "The default values of the data",
}

#: The suffix of entries without the log determinant of the transforms' Jacobian.
_PLAIN = "_no_jacobian"


@dataclass(frozen=True)
class Exported:
    """A written model package."""

    #: The file.
    path: str
    #: Its size, in bytes.
    size_bytes: int
    #: Its entries.
    entries: tuple[str, ...]
    #: The entries that the model cannot have, with the reasons.
    left_out: Mapping[str, str]


def export(
    model: Any,
    path: str | os.PathLike[str],
    *,
    name: str | None = None,
    data: Iterable[str] | None = None,
    entries: Iterable[str] | None = None,
    isa: str | Sequence[str] | None = None,
    store: str | os.PathLike[str] | None = None,
) -> Exported:
    """Writes a PyMC model to a bundle that is sampled and queried without PyMC: ``export(model, "model.precast")``.

    The entries are functions of `q: f64[n]`, the unconstrained values of all free variables: `log_density`, `log_density_gradient`,
    `log_density_hessian_product` (each also with the suffix ``_no_jacobian``), `log_likelihood` (pointwise), `constrain`,
    `unconstrain`, `predict` and `prior` (draws with a key), `initial`, `uniform` and `data`. The bundle's metadata names parameters,
    shapes, dims, coordinates and transforms.

    `data` names the `pm.Data` that stay inputs, with their current values as defaults; the default is all of them. Others become
    constants. `entries` selects entries. By default an entry that the model cannot have, such as draws of a `CustomDist` without
    `random`, is left out with a warning; an entry that was asked for, the density, its gradient and `constrain` raise a `FreezeError`
    instead. `isa` and `store` have the same meaning as in `precast.save`.
    """
    if not hasattr(model, "value_vars"):
        raise GraphTypeError(f"found a `{type(model).__name__}`, expected a model of PyMC")
    if not model.free_RVs:
        raise GraphValueError("cannot export: the model has no free variables")
    inputs = _data(model, data)
    names = identifiers(model, inputs)
    graphs = Graphs(model, names)
    made: dict[str, Any] = {}
    left_out: dict[str, str] = {}
    makers = _makers(graphs, inputs, made)
    asked = list(makers) if entries is None else _asked(entries, makers)
    for entry in asked:
        begin = time.monotonic()
        try:
            made[entry] = makers[entry]()
        except (FreezeError, NotImplementedError, ValueError, TypeError) as error:
            if entries is not None or entry.removesuffix(_PLAIN) in _NEEDED:
                raise
            left_out[entry] = str(error)
            warnings.warn(f"the package has no entry `{entry}`: {error}", RuntimeWarning, stacklevel=2)
            continue
        _LOG.info("%s: lowered in %.1f s", entry, time.monotonic() - begin)
    stated: dict[str, dict[str, Any]] = {
        entry: {"documentation": _DOCUMENTATION[entry.removesuffix(_PLAIN)], "state": []} for entry in made
    }
    about = description(model, graphs, names, _shapes(made, graphs), name or model.name or "model")
    stated[""] = {"documentation": f"The model `{about['name']}` of PyMC", "json": {KEY: about}}
    begin = time.monotonic()
    save(path, made, isa=isa, store=store, metadata=stated)
    size_bytes = os.path.getsize(path)
    _LOG.info("%s: compiled in %.1f s, %d bytes", path, time.monotonic() - begin, size_bytes)
    return Exported(os.path.abspath(path), size_bytes, tuple(made), left_out)


def _data(model: Any, names: Iterable[str] | None) -> list[Any]:
    """Returns the shared variables of the model that stay inputs."""
    known = {each.name: each for each in model.data_vars}
    if names is None:
        return list(known.values())
    chosen = {names} if isinstance(names, str) else set(names)
    if unknown := sorted(chosen - known.keys()):
        raise GraphValueError(f"the model has no data `{unknown[0]}`; found {', '.join(known) or 'none'}")
    return [each for name, each in known.items() if name in chosen]


def _asked(entries: Iterable[str], makers: Mapping[str, Any]) -> list[str]:
    """Returns the selected entries, and those that every package has, in the order of all."""
    asked = {entries} if isinstance(entries, str) else set(entries)
    for entry in asked:
        if entry not in makers:
            raise GraphValueError(f"the package of this model has no entry `{entry}`; found {', '.join(makers)}")
    needed = {*_NEEDED, "initial", "uniform", "data"}
    return [entry for entry in makers if entry in asked | needed]


def _makers(graphs: Graphs, data: Sequence[Any], made: Mapping[str, Any]) -> dict[str, Callable[[], Any]]:
    """Returns what makes each entry of a model. `unconstrain` needs the shapes that `constrain` gives."""

    def frozen(name: str, entry: Callable[[], Entry], random: bool = False) -> Callable[[], Any]:
        return lambda: graphs.freeze(name, entry(), data, random)

    makers: dict[str, Callable[[], Any]] = {}
    for suffix, jacobian in (("", True), (_PLAIN, False)):
        for name, of in (
            ("log_density", graphs.log_density),
            ("log_density_gradient", graphs.gradient),
            ("log_density_hessian_product", graphs.hessian_product),
        ):
            makers[name + suffix] = frozen(name + suffix, lambda of=of, jacobian=jacobian: of(jacobian))
    makers["constrain"] = frozen("constrain", graphs.constrain)
    makers["unconstrain"] = frozen(
        "unconstrain", lambda: graphs.unconstrain(_shapes(made, graphs)[: len(graphs.model.free_RVs)])
    )
    if graphs.model.observed_RVs:
        makers["log_likelihood"] = frozen("log_likelihood", graphs.log_likelihood)
        makers["predict"] = frozen("predict", graphs.predict, random=True)
    makers["prior"] = frozen("prior", graphs.prior, random=True)
    makers["initial"] = lambda: graph([], {"q": _native.constant(graphs.point())})
    makers["uniform"] = lambda: _uniform(graphs.size)
    if data:
        values = {graphs.ports[each.name]: _native.constant(numpy.asarray(each.get_value())) for each in data}
        makers["data"] = lambda: graph([], values)
    return makers


def _uniform(size: int) -> Any:
    key = _native.input("key", "u32[2]")
    return graph([key], {"q": random.uniform(key, (size,)) * 2.0 - 1.0})


def _shapes(made: Mapping[str, Any], graphs: Graphs) -> list[tuple[int, ...]]:
    """Returns the shapes of the parameters and deterministics at the initial point."""
    function = made["constrain"].function(policy="interpret")
    values = function(graphs.point())
    return [numpy.shape(value) for value in (values if isinstance(values, tuple) else (values,))]
