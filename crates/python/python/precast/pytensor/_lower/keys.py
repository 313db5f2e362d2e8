"""The keys of random draws, with ``random="counter"``.

Each draw and each loop of a graph has a number, in the order of the graph. Its key is the key of the graph with this number folded in.
The key of a step of a loop is the key of the loop with the number of the step folded in. The draws of a step count from 0.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from ..._variable import Variable, call


class Keys:
    """The keys of a graph, or of a step of a loop."""

    def __init__(self, key: Variable) -> None:
        self._key, self._count = key, 0

    def next(self) -> Variable:
        """Returns the key of the next draw or loop."""
        key = call("random_fold_in", self._key, self._count)
        self._count += 1
        return key

    @contextlib.contextmanager
    def step(self, key: Variable, number: Any) -> Iterator[None]:
        """Enters a step of the loop that has a key."""
        kept = self._key, self._count
        self._key, self._count = call("random_fold_in", key, number), 0
        try:
            yield
        finally:
            self._key, self._count = kept
