"""What can go wrong. Each class is a `PrecastError`, and of Python's own kind too where there is one."""

try:
    from numpy.exceptions import AxisError
except ImportError:  # NumPy before 1.25
    from numpy import AxisError


class PrecastError(Exception):
    """The base of all."""


class BundleError(PrecastError):
    """A bundle is no bundle, damaged, of another version, or others can change it."""


class BundleReadError(BundleError, OSError):
    """A bundle cannot be read."""


class BundleNotFoundError(BundleReadError, FileNotFoundError):
    """There is no such file."""


class MissError(BundleError):
    """A bundle has nothing that serves a graph on this machine, or what it has is damaged."""


class EntryError(PrecastError, KeyError, AttributeError):
    """A bundle has no graph of this name."""

    # A `KeyError` shows its text in quotes.
    __str__ = Exception.__str__


class NativeError(PrecastError, AttributeError):
    """A function is no plain C function, or none that can be passed on as asked for."""


class CallError(PrecastError):
    """A call failed. The function can be called again."""


class CallTypeError(CallError, TypeError):
    """Other arguments than the function takes, or another dtype."""


class CallValueError(CallError, ValueError):
    """Another shape than the function takes, or a value that an op refuses."""


class CallIndexError(CallError, IndexError):
    """An index is out of range."""


class CallMemoryError(CallError, MemoryError):
    """There was no memory."""


class CallAssertionError(CallError, AssertionError):
    """An assertion of the graph does not hold."""


class CallRuntimeError(CallError, RuntimeError):
    """Anything else that an op reports."""


class GraphError(PrecastError):
    """A graph cannot be built this way."""


class GraphTypeError(GraphError, TypeError):
    """A function takes other arguments, or other dtypes or ranks."""


class GraphValueError(GraphError, ValueError):
    """A function refuses a value that is known when the graph is built, or a text is no expression."""


class GraphAxisError(GraphValueError, AxisError):
    """An axis is out of range. It is an `IndexError` and NumPy's `AxisError` too."""


class FreezeError(GraphError):
    """A function of PyTensor's cannot be frozen; the text names each op that cannot be lowered, and why."""


class CompileError(PrecastError, RuntimeError):
    """A graph cannot be compiled: there is no compiler, or it refused the code of an op."""
