"""Functions in steps: graphs of precast, and between them what Python computes.

```
inputs ─▶ graph 0 ─▶ svd, normal, … ─▶ graph 1 ─▶ … ─▶ outputs
```
A function of PyTensor that is frozen with ``python=True`` is one, if it draws from generators of NumPy's or asks for what precast
lacks. In a bundle its graphs are the entries ``name.0``, ``name.1``, …, and ``name.steps`` has the plan: a graph without inputs whose
value is a text of JSON.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy

from ._calls import CALLS
from ._native import Function, Model
from ._ports import Port
from .errors import BundleError, CallError, CallRuntimeError, CallTypeError, CallValueError

#: What stands behind the name of a function in that of the graph that has its plan.
STEPS = ".steps"
#: The type of a port that takes a generator of NumPy's.
GENERATOR = "generator"

_BITS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")


class Steps:
    """A function that is graphs, and calls of Python between them.

    >>> draw = precast.Steps.load(model, "draw")         # doctest: +SKIP
    """

    def __init__(self, name: str, plan: Mapping[str, Any], functions: Sequence[Function]) -> None:
        try:
            #: What it takes.
            self.inputs: tuple[Port, ...] = tuple(Port(*port) for port in plan["inputs"])
            #: What it gives.
            self.outputs: tuple[Port, ...] = tuple(Port(*port) for port in plan["outputs"])
            self._known = {key: generator_of(state) for key, state in plan["generators"].items()}
            self._steps = [(_computes(step, functions), step["takes"], step["gives"]) for step in plan["steps"]]
            self._results: list[str] = list(plan["results"])
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            raise BundleError(f"the plan of `{name}` cannot be followed: {error}") from None
        self.__name__ = name

    @classmethod
    def load(cls, model: Model, name: str) -> Steps:
        """A function in steps of a bundle."""
        plan = read(model, name)
        count = sum("graph" in step for step in plan["steps"] if isinstance(step, dict))
        return cls(name, plan, [model[f"{name}.{at}"] for at in range(count)])

    def __call__(self, *args: Any, **named: Any) -> Any:
        """Calls the function; gives a result, or a tuple of several."""
        values: dict[str | None, Any] = {None: None, **self._known, **self._bound(args, named)}
        for compute, takes, gives in self._steps:
            made = compute(*(values[name] for name in takes))
            values.update(zip(gives, made, strict=True))
        results = tuple(values[name] for name in self._results)
        return results[0] if len(results) == 1 else results or None

    def _bound(self, args: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
        names = [port.name for port in self.inputs]
        given = dict(zip(names, args)) | dict(named)
        if len(args) + len(named) != len(names) or set(given) != set(names):
            raise CallTypeError(f"`{self.__name__}` takes {', '.join(names) or 'nothing'}, found {len(args)} and {', '.join(named)}")
        for port in self.inputs:
            if port.type == GENERATOR and not isinstance(given[port.name], numpy.random.Generator):
                raise CallTypeError(f"`{port.name}` is a `{type(given[port.name]).__name__}`, expected a generator of NumPy's")
        return given

    def __repr__(self) -> str:
        takes, gives = (", ".join(map(str, ports)) for ports in (self.inputs, self.outputs))
        return f"<precast.Steps {self.__name__}({takes}) -> ({gives})>"


def _computes(step: Mapping[str, Any], functions: Sequence[Function]) -> Any:
    """What computes the values of a step."""
    if "graph" in step:
        function, is_one = functions[step["graph"]], len(step["gives"]) == 1
        return lambda *given: (function(*given),) if is_one else function(*given)
    name, settings, dtypes = step["call"], step["settings"], step["dtypes"]
    call = CALLS[name]
    what = settings.get("of", name)

    def compute(*given: Any) -> list[Any]:
        try:
            made = call(*given, **settings)
            return [value if dtype is None else numpy.asarray(value, dtype) for value, dtype in zip(made, dtypes, strict=True)]
        except CallError:
            raise
        except ValueError as error:
            raise CallValueError(f"`{what}`: {error}") from error
        except (ArithmeticError, LookupError, TypeError, numpy.linalg.LinAlgError) as error:
            raise CallRuntimeError(f"`{what}`: {error}") from error

    return compute


def read(model: Model, name: str) -> dict[str, Any]:
    """The plan of a function of a bundle."""
    try:
        plan = json.loads(numpy.asarray(model[name + STEPS]()).tobytes())
        if isinstance(plan, dict) and isinstance(plan["steps"], list):
            return plan
        problem: Any = "it is no plan"
    except (KeyError, ValueError) as error:
        if name + STEPS not in model:
            raise
        problem = error
    raise BundleError(f"the plan of `{name}` cannot be read: {problem}")


def text(plan: Mapping[str, Any]) -> numpy.ndarray:
    """A plan as a bundle has it."""
    return numpy.frombuffer(json.dumps(plan, sort_keys=True, default=_plain).encode(), numpy.uint8)


def state_of(generator: numpy.random.Generator) -> Any:
    """The state of a generator, as JSON has it."""
    return json.loads(json.dumps(generator.bit_generator.state, default=_plain))


def generator_of(state: Mapping[str, Any]) -> numpy.random.Generator:
    """The generator that has a state."""
    if state["bit_generator"] not in _BITS:
        raise ValueError(f"`{state['bit_generator']}` is no generator of NumPy's")
    made = getattr(numpy.random, state["bit_generator"])(0)
    made.state = _arrays(state)
    return numpy.random.Generator(made)


def _plain(value: Any) -> Any:
    return value.tolist()


def _arrays(state: Any) -> Any:
    """What is a list in JSON is an array of words in the state."""
    if isinstance(state, dict):
        return {key: _arrays(value) for key, value in state.items()}
    return numpy.asarray(state, numpy.uint64) if isinstance(state, list) else state
