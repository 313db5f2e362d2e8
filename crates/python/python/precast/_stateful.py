"""Functions with state that calls update. The state comes from PyTensor's shared variables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy

from ._native import Function, Model

if TYPE_CHECKING:
    from ._steps import Steps


class Stateful:
    """A function with state. Some inputs are read from the state, and outputs of the same names are written back to it.

    >>> step = precast.Stateful.load(model, "step")      # doctest: +SKIP

    Only one thread at a time may call it.
    """

    def __init__(self, function: Function | Steps, state: Mapping[str, Any]) -> None:
        #: The function. Its last inputs are the state.
        self.function = function
        #: The values of the state by name. Programs may assign to them.
        self.state: dict[str, Any] = dict(state)
        self._updated = [at for at, port in enumerate(function.outputs) if port.name in self.state]

    @classmethod
    def load(cls, model: Model, name: str) -> Stateful:
        """Loads a function and its saved state from a bundle."""
        from . import _suffixes
        from ._steps import Steps, generator_of

        metadata = model.metadata(name)
        stated = {each["input"]: each["json"] if each["array"] is None else each["array"] for each in metadata["state"]}
        has_steps = metadata["plan"] is not None or not stated and _suffixes.has_steps(model, name)
        function: Function | Steps = Steps.load(model, name) if has_steps else model[name]
        state = stated or _suffixes.state(model, name)
        return cls(function, {key: generator_of(each) if isinstance(each, dict) else each for key, each in state.items()})

    def __call__(self, *args: Any, **named: Any) -> Any:
        """Calls the function and updates the state. Returns the outputs that are not state."""
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
