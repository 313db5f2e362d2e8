"""Which extents are equal whatever the function is called with.

PyTensor broadcasts what its types say has the extent 1, and refuses an extent that is 1 by chance. precast broadcasts as NumPy does,
so where two extents are not known to be equal, a check goes into the graph; behind it they are.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

#: An extent: its number, or what tells it from others.
Extent = Any


class Extents:
    """The extents of variables of PyTensor."""

    def __init__(self) -> None:
        self._of: dict[Any, list[Extent]] = {}
        self._same: dict[Any, Extent] = {}
        self._values: dict[Any, Extent] = {}

    @contextlib.contextmanager
    def scope(self) -> Iterator[None]:
        """While other variables are looked at, which may be the same objects."""
        kept, self._of, self._values = (self._of, self._values), {}, {}
        try:
            yield
        finally:
            self._of, self._values = kept

    def of(self, variable: Any) -> list[Extent]:
        """The extents of a variable, one for each dimension."""
        known = self._of.get(variable)
        if known is None:
            known = self._of[variable] = [object() if extent is None else extent for extent in shape(variable)]
        return [self.find(extent) for extent in known]

    def find(self, extent: Extent) -> Extent:
        """What stands for all extents that are equal to this one."""
        while not isinstance(extent, int) and extent in self._same:
            extent = self._same[extent]
        return extent

    def unite(self, a: Extent, b: Extent) -> None:
        """Says that two extents are equal."""
        a, b = self.find(a), self.find(b)
        if a is b or isinstance(a, int) and isinstance(b, int):
            return
        if isinstance(a, int):
            a, b = b, a
        self._same[a] = b

    def tell(self, variable: Any, extents: list[Extent]) -> None:
        """Says what the extents of a result are; what its type says goes first."""
        known = self.of(variable)
        for own, told in zip(known, extents, strict=True):
            if not isinstance(own, int):
                self.unite(own, told)

    def equate(self, variable: Any, other: Any) -> None:
        """Says that two variables have one shape."""
        if len(shape(variable)) == len(shape(other)):
            self.tell(variable, self.of(other))

    def is_value(self, variable: Any, extent: Extent) -> None:
        """Says that an integer is an extent."""
        self._values[variable] = extent

    def value(self, variable: Any) -> Extent:
        """The extent that an integer is: that of a dimension, a number, or one of its own."""
        if variable in self._values:
            return self.find(self._values[variable])
        data = getattr(variable, "data", None)
        if data is not None:
            return int(data)
        return self._values.setdefault(variable, object())


def shape(variable: Any) -> tuple[int | None, ...]:
    """What the type of a variable says of its extents; a number has none."""
    return tuple(getattr(variable.type, "shape", ()))
