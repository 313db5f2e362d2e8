"""Plans the steps of a function that Python computes in part: graphs, and calls between them.

Independent calls share one graph, which computes their arguments.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .. import _cpython, _native
from .._build import graph_of
from .._steps import state_of
from .._variable import Variable
from ._lower.lowering import Asked, Held, Hosted, Lowering


class Planned:
    """A plan for `Steps`, and its graphs."""

    def __init__(self, lower: Lowering, inputs: Sequence[Variable | Held], outputs: Sequence[tuple[str, Any]]) -> None:
        self.graphs: list[_native.Graph] = []
        #: The ops that run their own C, by the keys of their modules.
        self.hosted: dict[str, Hosted] = {}
        self._steps: list[dict[str, Any]] = []
        #: The names of available values: arrays that are inputs of graphs, generators and other objects.
        self._known = {value.name for value in inputs} | set(lower.generators)
        #: The names of results of graphs, by variable.
        self._given: dict[Variable, str] = {}
        waiting = lower.asked
        while waiting:
            ready = [asked for asked in waiting if self._is_ready(asked.takes)]
            waiting = [asked for asked in waiting if not self._is_ready(asked.takes)]
            self._compute(value for asked in ready for value in asked.takes)
            for asked in ready:
                self._call(asked)
        self._compute(value for _, value in outputs)
        self.plan: dict[str, Any] = {
            "inputs": [_port(value.name, value) for value in inputs],
            "outputs": [_port(name, value) for name, value in outputs],
            "generators": {name: state_of(value) for name, value in lower.generators.items()},
            "steps": self._steps,
            "results": [self._key(value) for _, value in outputs],
        }

    def _is_ready(self, takes: Sequence[Any]) -> bool:
        arrays = _native.needed([value for value in takes if isinstance(value, Variable)])
        held = [value for value in takes if isinstance(value, Held)]
        return all(value.name in self._known for value in [*arrays, *held])

    def _compute(self, values: Iterable[Any]) -> None:
        """Adds a graph that computes the values that are not available yet."""
        wanted = [value for value in dict.fromkeys(values) if isinstance(value, Variable) and self._key(value) is None]
        if wanted:
            graph = graph_of(*wanted)
            self._given.update({value: f"value.{len(self._given) + at}" for at, value in enumerate(wanted)})
            takes, gives = [port.name for port in graph.inputs], [self._given[value] for value in wanted]
            self._steps.append({"graph": len(self.graphs), "takes": takes, "gives": gives})
            self.graphs.append(graph)

    def _call(self, asked: Asked) -> None:
        gives = [value.name for value in asked.gives]
        self._known.update(gives)
        dtypes = [value.type.dtype if isinstance(value, Variable) else None for value in asked.gives]
        takes = [self._key(value) for value in asked.takes]
        if asked.hosted is None:
            step: dict[str, Any] = {"call": asked.call, "settings": asked.settings}
        else:
            own = asked.hosted
            self.hosted[own.unit.key] = own
            host = " ".join(_cpython.versions(own.host))
            step = {"module": own.unit.key, "host": host, "of": asked.call, "types": own.types, "destroys": own.destroys}
        self._steps.append({**step, "takes": takes, "gives": gives, "dtypes": dtypes})

    def _key(self, value: Any) -> str | None:
        """Returns the name of an available value; `None` for an unavailable value, and for the value `None`."""
        if value is None:
            return None
        return value.name if value.name in self._known else self._given.get(value)


def _port(name: str, value: Any) -> list[str]:
    return [name, value.port if isinstance(value, Held) else str(value.type)]
