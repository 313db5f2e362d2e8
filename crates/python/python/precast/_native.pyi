from collections.abc import Iterator
from os import PathLike
from typing import Any, final

from numpy import ndarray

from ._callback import NativeFunction
from ._ports import Port

@final
class Function:
    """A compiled graph, called with NumPy arrays and Python's numbers."""

    @property
    def __name__(self) -> str:
        """Its name in the bundle."""
    @property
    def inputs(self) -> tuple[Port, ...]:
        """What it takes: names and types."""
    @property
    def outputs(self) -> tuple[Port, ...]:
        """What it gives: names and types."""
    @property
    def signature(self) -> str:
        """What it takes and gives in one line, ``(x: f64[?]) -> (out: f64[])``."""
    @property
    def native(self) -> NativeFunction:
        """The plain C function that computes a graph of numbers."""
    def __call__(self, *args: Any, out: ndarray | tuple[ndarray, ...] | None = None, **named: Any) -> Any:
        """Calls the function; gives a result, or a tuple of several."""

@final
class Model:
    """An open bundle: its graphs by name, ``model["score"]`` or ``model.score``."""

    @property
    def entries(self) -> tuple[str, ...]:
        """The names of the graphs, sorted."""
    def __getitem__(self, name: str, /) -> Function: ...
    def __getattr__(self, name: str, /) -> Function: ...
    def __contains__(self, name: object, /) -> bool: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[str]: ...

def load(path: str | PathLike[str], /) -> Model:
    """Opens a bundle file; its functions are verified and loaded when they are asked for."""
