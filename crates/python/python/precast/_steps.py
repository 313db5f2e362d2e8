"""Functions in steps: graphs of precast with Python calls between them.

```
inputs ─▶ graph 0 ─▶ svd, normal, … ─▶ graph 1 ─▶ … ─▶ outputs
```
`freeze` with ``python=True`` creates one if a PyTensor function draws from NumPy generators or needs an op that precast lacks. A call
is a function of NumPy or SciPy, or an extension module of host `cpython` with the C of an op on Python objects. In a bundle the graphs
are entries, modules are found by their keys, and the plan is metadata of the function's name.
"""

from __future__ import annotations

import copy
import functools
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy

from . import _cpython, _metadata, _native, _suffixes
from ._calls import CALLS
from ._function import NotPickled
from ._native import Function, Model
from ._ports import Port
from ._types import Type, dtype_name
from .errors import BundleError, CallError, CallMemoryError, CallRuntimeError, CallTypeError, CallValueError

#: The port type of a NumPy generator.
GENERATOR = "generator"
#: The port type of a list or another object that the C of an op accepts.
OBJECT = "object"

_BITS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")


class Steps(NotPickled):
    """A function that runs several graphs, with Python calls between them.

    >>> draw = precast.Steps.load(model, "draw")         # doctest: +SKIP
    """

    def __init__(
        self,
        name: str,
        plan: Mapping[str, Any],
        functions: Sequence[Function],
        modules: Mapping[str, Callable[..., Any]] | None = None,
    ) -> None:
        try:
            #: The names and types of the inputs.
            self.inputs: tuple[Port, ...] = tuple(Port(*port) for port in plan["inputs"])
            #: The names and types of the outputs.
            self.outputs: tuple[Port, ...] = tuple(Port(*port) for port in plan["outputs"])
            self._known = {key: generator_of(state) for key, state in plan["generators"].items()}
            self._steps = [(_computes(step, functions, modules or {}), step["takes"], step["gives"]) for step in plan["steps"]]
            self._results: list[str] = list(plan["results"])
            _check_names(plan)
            # The results of C code of ops. Their shapes are not checked yet.
            self._hosted = {name for step in plan["steps"] if "module" in step for name in step["gives"]}
            if len(self._results) != len(self.outputs):
                raise ValueError(f"{len(self._results)} results for {len(self.outputs)} outputs")
        except (ArithmeticError, AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            raise BundleError(f"invalid plan of `{name}`: {error}") from None
        self.__name__ = name

    @classmethod
    def load(cls, model: Model, name: str) -> Steps:
        """Loads a function in steps from a bundle."""
        stated = model.metadata(name)["plan"]
        plan, graphs = _suffixes.plan_and_graphs(model, name) if stated is None else _metadata.plan_and_graphs(stated)
        hosts = {str(step["module"]): str(step.get("host")) for step in plan["steps"] if "module" in step}
        modules = {key: _cpython.of_bundle(model, key, host) for key, host in hosts.items()}
        return cls(name, plan, [model[graph] for graph in graphs], modules)

    def __call__(self, *args: Any, **named: Any) -> Any:
        """Calls the function. Returns a result, or a tuple if there are several."""
        values: dict[str | None, Any] = {None: None, **self._known, **self._bound(args, named)}
        for compute, takes, gives in self._steps:
            made = compute(*(values[name] for name in takes))
            values.update(zip(gives, made, strict=True))
        results: list[Any] = []
        shared = [*self._known.values(), *args, *named.values()]
        for name, port in zip(self._results, self.outputs, strict=True):
            made = values[name]
            if name in self._hosted and port.type not in (OBJECT, GENERATOR) and not _fits(Type(port.type), made):
                shape = numpy.shape(made)
                raise CallValueError(f"`{self.__name__}` returned shape {shape} for `{port.name}`, which is declared as `{port.type}`")
            results.append(_own(made, [*shared, *results]))
        return results[0] if len(results) == 1 else tuple(results) or None

    def _bound(self, args: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
        names = [port.name for port in self.inputs]
        given = dict(zip(names, args)) | dict(named)
        if len(args) + len(named) != len(names) or set(given) != set(names):
            raise CallTypeError(f"`{self.__name__}` takes ({', '.join(names)}), found {len(args)} positional argument(s) and ({', '.join(named)})")
        return {port.name: _taken(port, given[port.name]) for port in self.inputs}

    def __repr__(self) -> str:
        takes, gives = (", ".join(map(str, ports)) for ports in (self.inputs, self.outputs))
        return f"<precast.Steps {self.__name__}({takes}) -> ({gives})>"


def _taken(port: Port, value: Any) -> Any:
    """Converts an argument to the type of a port: an array of its dtype and shape, a generator, or another object."""
    if port.type == OBJECT:
        return value
    if port.type == GENERATOR:
        if isinstance(value, numpy.random.Generator):
            return value
        raise CallTypeError(f"`{port.name}` is a `{type(value).__name__}`, expected a NumPy generator")
    if isinstance(value, list | tuple):
        value = numpy.asarray(value)
    wanted = Type(port.type)
    try:
        number = _native.number(value, wanted.name)
    except OverflowError as error:
        raise CallValueError(f"`{port.name}`: {error}") from None
    except TypeError as error:
        raise CallTypeError(f"`{port.name}`: {error}") from None
    array = numpy.asarray(value) if number is None else number
    try:
        found = dtype_name(array.dtype)
    except TypeError:
        found = str(array.dtype)
    if found != wanted.name:
        raise CallTypeError(f"`{port.name}` is {found}, expected `{port.type}`")
    if not _fits(wanted, array):
        raise CallValueError(f"`{port.name}` has shape {array.shape}, expected `{port.type}`")
    if array.dtype == bool and array.size and array.view(numpy.uint8).max() > 1:
        raise CallValueError(f"`{port.name}` has bools that are neither 0 nor 1\nhint: pass `x != 0`")
    return array


def _fits(type_: Type, array: Any) -> bool:
    """Returns whether an array has the rank and the extents of a type."""
    extents, found = type_.shape, numpy.shape(array)
    return len(found) == len(extents) and all(e in (None, n) for e, n in zip(extents, found))


def _own(value: Any, others: Sequence[Any]) -> Any:
    """Returns a result that shares no memory with other results, inputs or saved generators. Copies it if necessary.

    The elements of a list or another object may be shared, so results are copied if such objects exist.
    """
    if isinstance(value, list):
        return copy.deepcopy(value)
    if isinstance(value, numpy.random.Generator):
        return copy.deepcopy(value) if any(value is other for other in others) else value
    if not isinstance(value, numpy.ndarray):
        return value
    plain = (numpy.ndarray, numpy.generic, numpy.random.Generator, bool, int, float, complex)
    if any(not isinstance(other, plain) for other in others):
        return numpy.array(value)
    arrays = (other for other in others if isinstance(other, numpy.ndarray))
    return numpy.array(value) if any(numpy.may_share_memory(value, other) for other in arrays) else value


def _computes(step: Mapping[str, Any], functions: Sequence[Function], modules: Mapping[str, Callable[..., Any]]) -> Any:
    """Returns a function that computes the values of a step."""
    if "graph" in step:
        function, is_one = functions[step["graph"]], len(step["gives"]) == 1
        return lambda *given: (function(*given),) if is_one else function(*given)
    if "module" in step:
        call, what = _of_module(step, modules[step["module"]]), step["of"]
    else:
        name, settings = step["call"], step["settings"]
        call, what = functools.partial(CALLS[name], **settings), settings.get("of", name)
    dtypes, takes = step["dtypes"], len(step["takes"])
    # Draws are converted to the requested dtype. Other results must not lose precision.
    casting = "unsafe" if step.get("call") == "draw" else "same_kind"

    def compute(*given: Any) -> list[Any]:
        try:
            made = call(*given)
            return [_made(value, dtype, casting) for value, dtype in zip(made, dtypes, strict=True)]
        except CallError:
            raise
        except ValueError as error:
            raise CallValueError(f"`{what}`: {_said(error, takes)}") from error
        except MemoryError as error:
            raise CallMemoryError(f"`{what}`: {_said(error, takes)}") from error
        except Exception as error:
            raise CallRuntimeError(f"`{what}`: {_said(error, takes)}") from error

    return compute


def _said(error: Exception, takes: int) -> str:
    """Returns the message of an error. A module names its variables V0, V1, …: the `takes` inputs of the op, then its outputs."""
    name, behind, rest = str(error).partition(": ")
    if not re.fullmatch(r"V\d+", name):
        return str(error)
    at = int(name[1:])
    return (f"input {at}" if at < takes else f"output {at - takes}") + behind + rest


def _made(value: Any, dtype: str | None, casting: Any) -> Any:
    """Returns a value of a step, converted to an array if it has a dtype."""
    if dtype is not None and value is None:
        raise TypeError(f"the call returned None, expected {dtype}")
    return value if dtype is None else numpy.asarray(value).astype(dtype, casting=casting, copy=False)


def _check_names(plan: Mapping[str, Any]) -> None:
    """Checks that each step uses known values, and that each value of a step has a name and a dtype or `None`."""
    known = {None, *plan["generators"], *(name for name, *_ in plan["inputs"])}
    for step in plan["steps"]:
        _check_there(step["takes"], known)
        dtypes = step.get("dtypes", step["gives"])
        if len(dtypes) != len(step["gives"]) or not all(isinstance(name, str) for name in step["gives"]):
            raise ValueError(f"{len(step['gives'])} values with {len(dtypes)} dtypes")
        if "graph" not in step and any(dtype is not None and numpy.dtype(dtype).hasobject for dtype in dtypes):
            raise ValueError("arrays of Python objects are not supported")
        known.update(step["gives"])
    _check_there(plan["results"], known)


def _check_there(wanted: Sequence[Any], known: set[Any]) -> None:
    if missing := set(wanted) - known:
        raise ValueError(f"unknown value {', '.join(sorted(map(repr, missing)))}")


def _of_module(step: Mapping[str, Any], function: Callable[..., Any]) -> Callable[..., Sequence[Any]]:
    """Returns a function that checks the inputs of an op, copies those that it overwrites, and calls its C."""
    ports = [Port(f"input {at}", type_) for at, type_ in enumerate(step["types"])]
    destroys, is_one = frozenset(step["destroys"]), len(step["gives"]) == 1

    def call(*given: Any) -> Sequence[Any]:
        taken = [_taken(port, value) for port, value in zip(ports, given, strict=True)]
        made = function(*(copy.deepcopy(value) if at in destroys else value for at, value in enumerate(taken)))
        return (made,) if is_one else made

    return call


def state_of(generator: numpy.random.Generator) -> Any:
    """Returns the state of a generator as JSON values."""
    return json.loads(json.dumps(generator.bit_generator.state, default=_plain))


def generator_of(state: Mapping[str, Any]) -> numpy.random.Generator:
    """Returns a generator with a state."""
    if state["bit_generator"] not in _BITS:
        raise ValueError(f"unknown bit generator `{state['bit_generator']}`")
    # NumPy does not check the position of the next number.
    places = {"MT19937": (state["state"].get("pos"), 624), "Philox": (state.get("buffer_pos"), 4)}
    place, most = places.get(state["bit_generator"], (0, 0))
    if not isinstance(place, int) or not 0 <= place <= most:
        raise ValueError(f"invalid position {place} of a `{state['bit_generator']}`")
    made = getattr(numpy.random, state["bit_generator"])(0)
    made.state = _arrays(state)
    return numpy.random.Generator(made)


def _plain(value: Any) -> Any:
    return value.tolist()


def _arrays(state: Any) -> Any:
    """Converts the lists in a JSON state to arrays of words."""
    if isinstance(state, dict):
        return {key: _arrays(value) for key, value in state.items()}
    return numpy.asarray(state, numpy.uint64) if isinstance(state, list) else state
