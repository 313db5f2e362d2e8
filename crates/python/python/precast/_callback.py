"""Plain C functions of graphs of C scalars, for callers that use an address: numba, ctypes, cffi, SciPy.

The signatures follow CEP 1000: the arguments, `)`, the result, and `~`, because the functions do not need the GIL.
"""

import ctypes
from typing import TYPE_CHECKING, Any

from .errors import NativeError

if TYPE_CHECKING:
    from ._native import Function

#: The ctypes types by their codes in a signature.
_TYPES: dict[str, Any] = {
    "?": ctypes.c_bool,
    "b": ctypes.c_int8,
    "h": ctypes.c_int16,
    "i": ctypes.c_int32,
    "q": ctypes.c_int64,
    "B": ctypes.c_uint8,
    "H": ctypes.c_uint16,
    "I": ctypes.c_uint32,
    "Q": ctypes.c_uint64,
    "f": ctypes.c_float,
    "d": ctypes.c_double,
}


class NativeFunction:
    """The plain C function of a graph of C scalars, such as `double f(double, double)`. Any thread may call it without the GIL."""

    __slots__ = ("_function", "address", "signature")

    #: The address, which is valid as long as this object, or an object created from it, exists.
    address: int
    #: The arguments and the result: ``dd)d~``.
    signature: str

    def __init__(self, address: int, signature: str, function: "Function") -> None:
        self.address = address
        self.signature = signature
        # Keeps the library loaded.
        self._function = function

    def ctypes(self) -> Any:
        """Returns the function for ctypes. numba and SciPy also call it natively."""
        arguments, end = self.signature.split(")", 1)
        if end[:-1] not in _TYPES or end[-1] != "~" or any(code not in _TYPES for code in arguments):
            raise NativeError(
                f"`{self._function.__name__}` is `{self.signature}` in C; ctypes needs real numbers, one result, "
                "and a function that cannot fail"
            )
        prototype = ctypes.CFUNCTYPE(_TYPES[end[:-1]], *(_TYPES[code] for code in arguments))
        made = prototype(self.address)
        made.native = self
        return made

    def callable(self) -> Any:
        """Returns a Python callable whose type has the slot of CEP 1000, so that native code finds the function by its signature.

        Needs the package `precast-nativecall`, which is compiled for each version of CPython.
        """
        try:
            from precast_nativecall import Callable
        except ImportError:
            raise NativeError(
                "the package `precast-nativecall` is not installed\nhint: `pip install ./crates/python/nativecall`"
            ) from None
        return Callable(self._function, self.address, self.signature)

    def __repr__(self) -> str:
        return f"<precast.NativeFunction {self._function.__name__} {self.signature!r} at {self.address:#x}>"
