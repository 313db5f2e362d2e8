"""The PyTensor graphs of a model's entries, as functions of one vector of unconstrained values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy
import pytensor
import pytensor.tensor as pt
from pymc.logprob.utils import replace_rvs_by_values
from pytensor.gradient import DisconnectedType, grad
from pytensor.graph.replace import graph_replace

from .. import pytensor as frozen
from ..errors import GraphValueError

#: Inputs and outputs of an entry.
Entry = tuple[Sequence[Any], Sequence[Any]]


class Graphs:
    """The graphs of a model. Values are unconstrained, and joined to `q` in the order of `model.value_vars`."""

    def __init__(self, model: Any, ports: Mapping[str, str]) -> None:
        self.model = model
        #: The names of inputs and outputs for the variables of the model.
        self.ports = ports
        discrete = [value.name for value in model.value_vars if value.dtype not in ("float32", "float64")]
        if discrete:
            names = ", ".join(f"`{name}`" for name in discrete)
            raise GraphValueError(
                f"cannot export: {names} {'is' if len(discrete) == 1 else 'are'} discrete, and a density has a gradient by reals only\n"
                "hint: sum discrete variables out of the model (pymc-extras' `MarginalModel`)"
            )
        #: The initial point by name, as PyMC computes it.
        self.initial: dict[str, numpy.ndarray] = {
            name: numpy.asarray(value) for name, value in model.initial_point(random_seed=0).items()
        }
        #: The number of unconstrained values.
        self.size: int = sum(self.initial[value.name].size for value in model.value_vars)
        self.q = pt.tensor("q", shape=(self.size,), dtype="float64")
        self._pieces = dict(self._split())

    def point(self) -> numpy.ndarray:
        """Returns the initial point as one vector."""
        parts = [self.initial[value.name].astype("float64").ravel() for value in self.model.value_vars]
        return numpy.concatenate(parts) if parts else numpy.zeros(0)

    def _split(self) -> Iterable[tuple[Any, Any]]:
        at = 0
        for value in self.model.value_vars:
            start = self.initial[value.name]
            piece = self.q[at : at + start.size].reshape(start.shape).astype(value.dtype)
            yield value, value.type.filter_variable(piece, allow_convert=True)
            at += start.size

    def joined(self, outputs: Sequence[Any]) -> list[Any]:
        """Replaces the model's values by pieces of `q`."""
        return graph_replace(list(outputs), self._pieces, strict=False)

    def log_density(self, jacobian: bool) -> Entry:
        """Returns the log density at `q`."""
        return [self.q], self._logp(jacobian)

    def gradient(self, jacobian: bool) -> Entry:
        """Returns the log density at `q`, and its gradient."""
        (value,) = self._logp(jacobian)
        return [self.q], [value, _named(self._grad(value), "gradient")]

    def hessian_product(self, jacobian: bool) -> Entry:
        """Returns the log density at `q`, and the product of its Hessian and a vector."""
        (value,) = self._logp(jacobian)
        vector = pt.tensor("vector", shape=(self.size,), dtype="float64")
        return [self.q, vector], [value, _named(self._grad(pt.sum(self._grad(value) * vector)), "product")]

    def _logp(self, jacobian: bool) -> list[Any]:
        value = self.model.logp(jacobian=jacobian)
        return [_named(each.astype("float64"), "value") for each in self.joined([value])]

    def _grad(self, cost: Any) -> Any:
        found = grad(cost, self.q, disconnected_inputs="ignore", return_disconnected="zero")
        return pt.zeros_like(self.q) if isinstance(found.type, DisconnectedType) else found

    def log_likelihood(self) -> Entry:
        """Returns the log density of each observation."""
        observed = self.model.observed_RVs
        parts = self.joined(self.model.logp(vars=observed, sum=False)) if observed else []
        return [self.q], self._all_named(parts, observed)

    def constrain(self) -> Entry:
        """Returns the constrained parameters, then the deterministics."""
        made = [*self.model.free_RVs, *self.model.deterministics]
        return [self.q], self._all_named(self.joined(self.model.replace_rvs_by_values(made)), made)

    def unconstrain(self, shapes: Sequence[tuple[int, ...]]) -> Entry:
        """Returns `q` of constrained parameters with these shapes."""
        free = self.model.free_RVs
        given = {rv: pt.tensor(self.ports[rv.name], shape=shape, dtype=rv.dtype) for rv, shape in zip(free, shapes, strict=True)}
        parts = []
        for rv, value in given.items():
            transform = self.model.rvs_to_transforms[rv]
            moved = rv if transform is None else transform.forward(rv, *rv.owner.inputs)
            parts.append(moved.astype("float64").ravel())
        whole = pt.concatenate(parts) if parts else pt.zeros((0,))
        usable = {rv: rv.type.filter_variable(value, allow_convert=True) for rv, value in given.items()}
        (made,) = graph_replace([whole], usable, strict=False)
        return list(given.values()), [_named(made, "q")]

    def predict(self) -> Entry:
        """Returns draws of the observed variables, given `q`."""
        observed, free = self.model.observed_RVs, set(self.model.free_RVs)
        values = {rv: value for rv, value in self.model.rvs_to_values.items() if rv in free}
        transforms = {rv: self.model.rvs_to_transforms[rv] for rv in values}
        drawn = replace_rvs_by_values(list(observed), rvs_to_values=values, rvs_to_transforms=transforms)
        return [self.q], self._all_named(self.joined(drawn), observed)

    def prior(self) -> Entry:
        """Returns draws from the prior: parameters, deterministics, observed variables."""
        drawn = [*self.model.free_RVs, *self.model.deterministics, *self.model.observed_RVs]
        return [], self._all_named(drawn, drawn)

    def _all_named(self, outputs: Sequence[Any], like: Sequence[Any]) -> list[Any]:
        return [_named(made, self.ports[of.name]) for made, of in zip(outputs, like, strict=True)]

    def freeze(self, name: str, entry: Entry, data: Iterable[Any], random: bool = False) -> Any:
        """Lowers an entry; those of the data that it uses stay inputs."""
        inputs, outputs = entry
        made = pytensor.function(list(inputs), list(outputs), mode=frozen.FREEZE, on_unused_input="ignore")
        used = {each.variable for each in made.maker.inputs if each.shared}
        state = [each for each in data if each in used]
        return frozen.freeze(made, name=name, state=state, random="counter" if random else None)


def _named(variable: Any, name: str) -> Any:
    """Returns an equal variable with a name."""
    copied = pt.as_tensor_variable(variable).copy()
    copied.name = name
    return copied


def evaluated(variable: Any) -> numpy.ndarray:
    """Returns the value of a variable without inputs."""
    return numpy.asarray(frozen.freeze(pytensor.function([], variable, mode=frozen.FREEZE)).function(policy="interpret")())
