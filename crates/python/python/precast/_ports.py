"""The inputs and outputs of functions."""

from typing import NamedTuple


class Port(NamedTuple):
    """An input or output of a function."""

    name: str
    #: The type text, as in a manifest: ``f64[?]``.
    type: str

    def __str__(self) -> str:
        return f"{self.name}: {self.type}"
