"""Statistical models of a package, called with NumPy alone."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy

from ._native import Function, Model, load
from .errors import EntryError, GraphTypeError, GraphValueError

#: The key of the metadata that describes the model.
KEY = "precast.model"

#: The version of the description.
SCHEMA = 1


class Density:
    """A statistical model: its log density as a function of `q`, the vector of its unconstrained values.

    >>> density = precast.Density("model.precast")             # doctest: +SKIP
    >>> value, gradient = density.logp_and_grad(density.initial())   # doctest: +SKIP

    `package` is a model package that `precast.pymc.export` wrote, or its path. `data` replaces data of the model by name. Without
    `jacobian`, densities lack the log determinant of the transforms' Jacobian.
    """

    def __init__(
        self,
        package: Model | str | os.PathLike[str],
        *,
        data: Mapping[str, Any] | None = None,
        jacobian: bool = True,
        keyring: str | os.PathLike[str] | None = None,
    ) -> None:
        self._model = package if isinstance(package, Model) else load(package, keyring=keyring)
        #: What the package states about the model: names, shapes, dims, coords, transforms, versions.
        self.description: dict[str, Any] = _described(self._model)
        self._suffix = "" if jacobian else "_no_jacobian"
        self._data: dict[str, Any] = {}
        self._entries: dict[str, tuple[Function, tuple[Any, ...]]] = {}
        if known := self.description["data"]:
            values = self._model["data"]()
            values = values if isinstance(values, tuple) else (values,)
            self._data = {each["name"]: value for each, value in zip(known, values, strict=True)}
        self._replace(data or {})

    def with_data(self, **data: Any) -> Density:
        """Returns the model with other data, which may have other extents."""
        made = Density(self._model, data=self._data, jacobian=not self._suffix)
        made._replace(data)
        return made

    def _replace(self, data: Mapping[str, Any]) -> None:
        known = {each["name"]: each for each in self.description["data"]}
        for name, value in data.items():
            if name not in known:
                raise GraphValueError(f"the model has no data `{name}`; found {', '.join(known) or 'none'}")
            self._data[name] = numpy.asarray(value, dtype=known[name]["dtype"])
        self._entries.clear()

    @property
    def dim(self) -> int:
        """The number of unconstrained values."""
        return int(self.description["unconstrained"])

    @property
    def data(self) -> dict[str, Any]:
        """The current data by name."""
        return dict(self._data)

    def logp(self, q: Any) -> Any:
        """Returns the log density at `q`."""
        return self._call("log_density" + self._suffix, q)

    def logp_and_grad(self, q: Any) -> tuple[Any, numpy.ndarray]:
        """Returns the log density at `q` and its gradient."""
        return self._call("log_density_gradient" + self._suffix, q)

    def hessian_product(self, q: Any, vector: Any) -> tuple[Any, numpy.ndarray]:
        """Returns the log density at `q`, and the product of its Hessian and a vector."""
        return self._call("log_density_hessian_product" + self._suffix, q, vector)

    def hessian(self, q: Any) -> tuple[Any, numpy.ndarray, numpy.ndarray]:
        """Returns the log density at `q`, its gradient and its Hessian."""
        value, gradient = self.logp_and_grad(q)
        rows = [self.hessian_product(q, unit)[1] for unit in numpy.eye(self.dim)]
        return value, gradient, numpy.stack(rows) if rows else numpy.zeros((0, 0))

    def constrain(self, q: Any) -> dict[str, numpy.ndarray]:
        """Returns the parameters and deterministics at `q` by name."""
        return self._named("constrain", self._constrained(), q)

    def unconstrain(self, parameters: Mapping[str, Any]) -> numpy.ndarray:
        """Returns the unconstrained point of parameters by name. A value outside its support gives NaN or an infinity."""
        known = {each["name"]: each for each in self.description["parameters"]}
        for name in parameters.keys() ^ known.keys():
            what = "is missing" if name in known else "is no parameter of the model"
            raise GraphValueError(f"`{name}` {what}; the parameters are {', '.join(known)}")
        function, _ = self._entry("unconstrain")
        taken = {port.name for port in function.inputs}
        ports = {each["port"]: numpy.asarray(parameters[name], dtype=each["dtype"]) for name, each in known.items()}
        return self._call("unconstrain", **{port: value for port, value in ports.items() if port in taken})

    def log_likelihood(self, q: Any) -> dict[str, numpy.ndarray]:
        """Returns the log density of each observation, by the names of the observed variables."""
        return self._named("log_likelihood", self.description["observed"], q)

    def predict(self, key: Any, q: Any) -> dict[str, numpy.ndarray]:
        """Returns draws of the observed variables given `q`. A key is an integer, or two of `uint32`."""
        return self._named("predict", self.description["observed"], _key(key), q)

    def prior(self, key: Any) -> dict[str, numpy.ndarray]:
        """Returns draws from the prior: parameters, deterministics, observed variables."""
        return self._named("prior", [*self._constrained(), *self.description["observed"]], _key(key))

    def initial(self) -> numpy.ndarray:
        """Returns the model's initial point."""
        return self._call("initial")

    def uniform(self, key: Any) -> numpy.ndarray:
        """Returns a point that is uniform from -1 to 1."""
        return self._call("uniform", _key(key))

    def _constrained(self) -> list[dict[str, Any]]:
        return [*self.description["parameters"], *self.description["deterministics"]]

    def _entry(self, name: str) -> tuple[Function, tuple[Any, ...]]:
        """Returns an entry, and the data that it takes after its own inputs."""
        if name not in self._entries:
            if name not in self._model:
                raise EntryError(f"the model has no `{name}`")
            function = self._model[name]
            of = {each["port"]: self._data[each["name"]] for each in self.description["data"]}
            self._entries[name] = function, tuple(of[port.name] for port in function.inputs if port.name in of)
        return self._entries[name]

    def _call(self, name: str, *own: Any, **named: Any) -> Any:
        function, data = self._entry(name)
        if not named:
            return function(*own, *data)
        of = {each["port"]: self._data[each["name"]] for each in self.description["data"]}
        return function(**named, **{port.name: of[port.name] for port in function.inputs if port.name in of})

    def _named(self, name: str, variables: Sequence[Mapping[str, Any]], *own: Any) -> dict[str, numpy.ndarray]:
        values = self._call(name, *own)
        values = values if isinstance(values, tuple) else (values,)
        return {each["name"]: numpy.asarray(value) for each, value in zip(variables, values, strict=True)}

    def nutpie(self) -> Any:
        """Returns the model for ``nutpie.sample``. The package `nutpie` must be installed."""
        from nutpie.compiled_pyfunc import from_pyfunc

        variables = self._constrained()
        return from_pyfunc(
            self.dim,
            lambda: self.logp_and_grad,
            lambda *_: self.constrain,
            [numpy.dtype(each["dtype"]) for each in variables],
            [tuple(each["shape"]) for each in variables],
            [each["name"] for each in variables],
            dims={each["name"]: _dims(each) for each in variables if each["shape"]},
            coords=self.description["coords"],
            make_initial_point_fn=lambda seed: self.initial() + self.uniform(0 if seed is None else int(seed)),
        )

    def __repr__(self) -> str:
        names = ", ".join(_shown(each) for each in self.description["parameters"])
        return f"<precast.Density {self.description['name']}: {names}>"


def _described(model: Model) -> dict[str, Any]:
    """Returns the description of the model of a package."""
    found = model.metadata("")["json"].get(KEY)
    if found is None:
        raise GraphTypeError("the bundle is not a model package\nhint: `precast.pymc.export` writes one")
    if found["schema"] != SCHEMA:
        raise GraphTypeError(
            f"the description of the model has version {found['schema']}, expected {SCHEMA}\nhint: export the model again"
        )
    return found


def _key(key: Any) -> numpy.ndarray:
    """Returns the key of an integer, or a key as it is."""
    if isinstance(key, (int, numpy.integer)):
        return numpy.array([int(key) >> 32 & 0xFFFFFFFF, int(key) & 0xFFFFFFFF], dtype="uint32")
    return key


def _dims(variable: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns the names of a variable's dimensions: those of the model, or ArviZ's default."""
    dims = variable["dims"] or [""] * len(variable["shape"])
    return tuple(dim or f"{variable['name']}_dim_{axis}" for axis, dim in enumerate(dims))


def _shown(variable: Mapping[str, Any]) -> str:
    extents: Iterable[str] = map(str, variable["shape"])
    return f"{variable['name']}[{','.join(extents)}]" if variable["shape"] else str(variable["name"])
