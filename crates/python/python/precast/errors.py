"""The exceptions. Each derives from `PrecastError`, and also from the matching built-in exception if one exists."""

from __future__ import annotations

from typing import TYPE_CHECKING

try:
    from numpy.exceptions import AxisError
except ImportError:  # NumPy before 1.25
    from numpy import AxisError

if TYPE_CHECKING:
    from ._front.refusals import Refusal


class PrecastError(Exception):
    """The base class of all exceptions."""


class BundleError(PrecastError):
    """A file is not a bundle, is damaged, has another version, or is writable by other users."""


class BundleReadError(BundleError, OSError):
    """A bundle cannot be read."""


class BundleNotFoundError(BundleReadError, FileNotFoundError):
    """A bundle does not exist."""


class MissError(BundleError):
    """No layer serves a graph on this machine, or its modules are damaged."""


class EntryError(PrecastError, KeyError, AttributeError):
    """A bundle has no graph with this name."""

    # `KeyError` would show the message in quotes.
    __str__ = Exception.__str__


class NativeError(PrecastError, AttributeError):
    """A function has no plain C function, or not in the requested form."""


class CallError(PrecastError):
    """A call failed. You can call the function again."""


class CallTypeError(CallError, TypeError):
    """Arguments are missing or unexpected, or have another type or dtype."""


class CallValueError(CallError, ValueError):
    """A shape does not match, or an op rejects a value."""


class CallIndexError(CallError, IndexError):
    """An index is out of range."""


class CallMemoryError(CallError, MemoryError):
    """Out of memory."""


class CallAssertionError(CallError, AssertionError):
    """An assertion in the graph failed."""


class CallRuntimeError(CallError, RuntimeError):
    """An op reports any other error."""


class GraphError(PrecastError):
    """A graph is invalid."""


class GraphTypeError(GraphError, TypeError):
    """A function does not accept these arguments, dtypes or ranks."""


class GraphValueError(GraphError, ValueError):
    """A function rejects a value while the graph is built, or a text is not a valid expression."""


class GraphAxisError(GraphValueError, AxisError):
    """An axis is out of range. Also an `IndexError` and NumPy's `AxisError`."""


class FreezeError(GraphError):
    """A function of PyTensor or JAX cannot be frozen. The message lists each operation that cannot be lowered, with the reason."""

    def __init__(self, message: str, refusals: tuple[Refusal, ...] = ()) -> None:
        super().__init__(message)
        #: The operations that cannot be lowered: tuples of `op`, `reason` and `where`, the line of the user's program.
        self.refusals = refusals


class CompileError(PrecastError, RuntimeError):
    """A graph cannot be compiled: no compiler is installed, or it rejects the code of an op."""
