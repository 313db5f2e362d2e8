"""Functions with values of their own, which calls update: those of PyTensor's shared variables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy

from ._native import Function, Model

if TYPE_CHECKING:
    from ._steps import Steps

#: What stands behind the name of a graph of a bundle in that of the graph that gives its first state.
STATE = ".state"


class Stateful:
    """A function that takes some of its inputs from its state, and writes outputs of the same names back to it.

    >>> step = precast.Stateful.load(model, "step")      # doctest: +SKIP

    One thread at a time may call it.
    """

    def __init__(self, function: Function | Steps, state: Mapping[str, Any]) -> None:
        #: The function, which takes the state as its last inputs.
        self.function = function
        #: The values, by name; they may be set.
        self.state: dict[str, Any] = dict(state)
        self._updated = [at for at, port in enumerate(function.outputs) if port.name in self.state]

    @classmethod
    def load(cls, model: Model, name: str) -> Stateful:
        """A function of a bundle, with the state that it was saved with."""
        from ._steps import STEPS, Steps, generator_of, read

        state: dict[str, Any] = {}
        function: Function | Steps
        if name + STEPS in model:
            function = Steps.load(model, name)
            state = {key: generator_of(each) for key, each in read(model, name).get("state", {}).items()}
        else:
            function = model[name]
        if not state or name + STATE in model:
            first = model[name + STATE]
            values = first()
            values = values if isinstance(values, tuple) else (values,)
            state |= {port.name: numpy.asarray(value) for port, value in zip(first.outputs, values, strict=True)}
        return cls(function, state)

    def __call__(self, *args: Any, **named: Any) -> Any:
        """Calls the function; gives what is no state, and keeps what is."""
        given = self.function(*args, **named, **self.state)
        outputs = self.function.outputs
        given = given if len(outputs) != 1 else (given,)
        for at in self._updated:
            is_generator = isinstance(given[at], numpy.random.Generator)
            self.state[outputs[at].name] = given[at] if is_generator else numpy.asarray(given[at])
        rest = tuple(value for at, value in enumerate(given) if at not in self._updated)
        return rest[0] if len(rest) == 1 else rest or None

    def __repr__(self) -> str:
        return f"<precast.Stateful {self.function!r} with {', '.join(self.state)}>"
