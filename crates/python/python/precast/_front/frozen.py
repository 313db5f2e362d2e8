"""The base class of frozen functions."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

from .. import _native
from .._build import function


class Frozen:
    """A function of another package as a graph of precast. `precast.save` accepts it."""

    #: The name of the function in a bundle.
    name: str
    #: The graph; `None` for several graphs with Python calls between them.
    graph: _native.Graph | None

    def function(self, **settings: Any) -> Any:
        """Creates the function with the settings of `precast.function`."""
        return function(self.graph, name=self.name, **settings)

    def saved(self, name: str, taken: Set[str]) -> tuple[dict[str, _native.Graph], dict[str, Any]]:
        """Returns the graphs to save in a bundle under a name, with names that are not in `taken`, and the metadata."""
        assert self.graph is not None
        return {name: self.graph}, {}

    @property
    def units(self) -> list[_native.Unit]:
        """The extension modules that the function calls."""
        return []

    def __repr__(self) -> str:
        package = type(self).__module__.rpartition(".")[0]
        return f"<{package}.Frozen {self.name}: {self.graph or self.function(policy='interpret')!r}>"
