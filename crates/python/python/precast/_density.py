"""Statistical models of a package, called with NumPy alone."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy

from ._native import Function, Model, load
from .errors import GraphTypeError, GraphValueError

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
            function = self._model["data"]
            values = function() if len(function.outputs) > 1 else (function(),)
            named = dict(zip((port.name for port in function.outputs), values, strict=True))
            self._data = {each["name"]: numpy.asarray(named[each["port"]]) for each in known}
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
            self._data[name] = _converted(name, value, known[name]["dtype"])
        self._entries.clear()

    def __getstate__(self) -> dict[str, Any]:
        # Functions belong to the process.
        return {**self.__dict__, "_entries": {}}

    @property
    def dim(self) -> int:
        """The number of unconstrained values."""
        return int(self.description["unconstrained"])

    @property
    def data(self) -> dict[str, Any]:
        """Copies of the current data by name."""
        return {name: value.copy() for name, value in self._data.items()}

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
        return self._named("constrain", self.constrained(), q)

    def unconstrain(self, parameters: Mapping[str, Any]) -> numpy.ndarray:
        """Returns the unconstrained point of parameters by name. A value outside its support gives NaN or an infinity."""
        known = {each["name"]: each for each in self.description["parameters"]}
        unknown, missing = sorted(parameters.keys() - known.keys()), [name for name in known if name not in parameters]
        if unknown or missing:
            told = [f"`{name}` is no parameter of the model" for name in unknown] + [f"`{name}` is missing" for name in missing]
            raise GraphValueError(f"{'; '.join(told)}; the parameters are {', '.join(known)}")
        function, _ = self._entry("unconstrain")
        taken = {port.name for port in function.inputs}
        ports = {each["port"]: _converted(name, parameters[name], each["dtype"]) for name, each in known.items()}
        return self._call("unconstrain", **{port: value for port, value in ports.items() if port in taken})

    def log_likelihood(self, q: Any) -> dict[str, numpy.ndarray]:
        """Returns the log density of each observation, by the names of the observed variables."""
        return self._named("log_likelihood", self.description["observed"], q)

    def predict(self, key: Any, q: Any) -> dict[str, numpy.ndarray]:
        """Returns draws of the observed variables given `q`. A key is an integer, or two of `uint32`."""
        return self._named("predict", self.description["observed"], _key(key), q)

    def prior(self, key: Any) -> dict[str, numpy.ndarray]:
        """Returns draws from the prior: parameters, deterministics, observed variables."""
        return self._named("prior", [*self.constrained(), *self.description["observed"]], _key(key))

    def initial(self) -> numpy.ndarray:
        """Returns the model's initial point."""
        return self._call("initial")

    def uniform(self, key: Any) -> numpy.ndarray:
        """Returns a point that is uniform from -1 to 1."""
        return self._call("uniform", _key(key))

    def constrained(self) -> list[dict[str, Any]]:
        """Describes the results of `constrain`: the parameters, then the deterministics."""
        return [*self.description["parameters"], *self.description["deterministics"]]

    def _entry(self, name: str) -> tuple[Function, tuple[Any, ...]]:
        """Returns an entry, and the data that it takes after its own inputs."""
        if name not in self._entries:
            function = self._model[name]
            of = {each["port"]: self._data[each["name"]] for each in self.description["data"]}
            self._entries[name] = function, tuple(of[port.name] for port in function.inputs if port.name in of)
        return self._entries[name]

    def _call(self, name: str, *own: Any, **named: Any) -> Any:
        function, data = self._entry(name)
        if not named:
            return function(*own, *data)
        # The data are the last inputs.
        ports = function.inputs[len(function.inputs) - len(data) :]
        return function(**named, **{port.name: value for port, value in zip(ports, data, strict=True)})

    def _named(self, name: str, variables: Sequence[Mapping[str, Any]], *own: Any) -> dict[str, numpy.ndarray]:
        values = self._call(name, *own)
        values = values if isinstance(values, tuple) else (values,)
        return {each["name"]: numpy.asarray(value) for each, value in zip(variables, values, strict=True)}

    def nutpie(self) -> Any:
        """Returns the model for ``nutpie.sample``. The package `nutpie` must be installed. Points that the model rejects have density 0."""
        from ._nutpie import compiled

        return compiled(self)

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


def _converted(name: str, value: Any, dtype: str) -> numpy.ndarray:
    """Returns a copy of a value with a dtype that holds it."""
    if isinstance(value, numpy.ma.MaskedArray) and numpy.ma.is_masked(value):
        raise GraphValueError(f"`{name}` has masked elements")
    given = numpy.array(value)
    with numpy.errstate(all="ignore"):
        made = given.astype(dtype) if given.dtype.kind != "c" else given
    if made.dtype != dtype or made.dtype.kind in "iub" and not numpy.array_equal(made, given):
        raise GraphValueError(f"`{name}` has elements that {dtype} cannot hold")
    return made


def _key(key: Any) -> numpy.ndarray:
    """Returns the key of an integer, or a key as it is."""
    if isinstance(key, (int, numpy.integer)):
        if not 0 <= key < 1 << 64:
            raise GraphValueError(f"the key is {key}, expected an integer from 0 to 2**64 - 1")
        return numpy.array([int(key) >> 32 & 0xFFFFFFFF, int(key) & 0xFFFFFFFF], dtype="uint32")
    return key


def _shown(variable: Mapping[str, Any]) -> str:
    extents: Iterable[str] = map(str, variable["shape"])
    return f"{variable['name']}[{','.join(extents)}]" if variable["shape"] else str(variable["name"])
