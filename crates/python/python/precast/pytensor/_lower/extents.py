"""Tracks the extents that are equal in every call.

PyTensor broadcasts an axis only if its type has the extent 1, and rejects extents that are 1 at run time. precast broadcasts like
NumPy. If two extents are not known to be equal, a check is added to the graph; after the check they are known to be equal.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

#: An extent: a number, or an object that identifies an unknown extent.
Extent = Any


class Extents:
    """The extents of PyTensor variables."""

    def __init__(self) -> None:
        self._of: dict[Any, list[Extent]] = {}
        self._same: dict[Any, Extent] = {}
        self._values: dict[Any, Extent] = {}

    @contextlib.contextmanager
    def scope(self) -> Iterator[None]:
        """Enters an inner graph, which may contain the same variables."""
        kept, self._of, self._values = (self._of, self._values), {}, {}
        try:
            yield
        finally:
            self._of, self._values = kept

    @contextlib.contextmanager
    def inside(self) -> Iterator[None]:
        """Enters a part that may not be computed: a branch, or the step of a loop. On exit, equalities that hold in it are forgotten."""
        kept = self._of, self._same, self._values
        self._of, self._same, self._values = dict(self._of), dict(self._same), dict(self._values)
        try:
            yield
        finally:
            self._of, self._same, self._values = kept

    def of(self, variable: Any) -> list[Extent]:
        """Returns the extents of a variable, one for each dimension."""
        known = self._of.get(variable)
        if known is None:
            known = self._of[variable] = [object() if extent is None else extent for extent in shape(variable)]
        return [self.find(extent) for extent in known]

    def find(self, extent: Extent) -> Extent:
        """Returns the representative of all extents that are equal to this one."""
        while not isinstance(extent, int) and extent in self._same:
            extent = self._same[extent]
        return extent

    def unite(self, a: Extent, b: Extent) -> None:
        """Records that two extents are equal."""
        a, b = self.find(a), self.find(b)
        if a is b or isinstance(a, int) and isinstance(b, int):
            return
        if isinstance(a, int):
            a, b = b, a
        self._same[a] = b

    def tell(self, variable: Any, extents: list[Extent]) -> None:
        """Sets the extents of a result. Extents in its type take precedence."""
        known = self.of(variable)
        for own, told in zip(known, extents, strict=True):
            if not isinstance(own, int):
                self.unite(own, told)

    def equate(self, variable: Any, other: Any) -> None:
        """Records that two variables have the same shape."""
        if len(shape(variable)) == len(shape(other)):
            self.tell(variable, self.of(other))

    def is_value(self, variable: Any, extent: Extent) -> None:
        """Records that an integer variable equals an extent."""
        self._values[variable] = extent

    def value(self, variable: Any) -> Extent:
        """Returns the extent that an integer variable equals: an extent of an array, a number, or a new extent."""
        if variable in self._values:
            return self.find(self._values[variable])
        data = getattr(variable, "data", None)
        if data is not None:
            return int(data)
        return self._values.setdefault(variable, object())


def shape(variable: Any) -> tuple[int | None, ...]:
    """Returns the extents in the type of a variable; a number has none."""
    return tuple(getattr(variable.type, "shape", ()))
