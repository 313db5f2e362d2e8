"""Plain C functions of graphs of numbers, for those who call by address: numba, ctypes, cffi, SciPy.

Their signatures are those of CEP 1000: the arguments, `)`, the result, and `~`, since none needs the GIL.
"""

import ctypes
from typing import TYPE_CHECKING, Any

from .errors import NativeError

if TYPE_CHECKING:
    from ._native import Function

#: The types of C by their codes in a signature.
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
    """The plain C function of a graph of numbers, `double f(double, double)`. Any thread may call it, without the GIL."""

    __slots__ = ("_function", "address", "signature")

    #: Where the function is, as long as this object or one made of it lives.
    address: int
    #: What it takes and gives: ``dd)d~``.
    signature: str

    def __init__(self, address: int, signature: str, function: "Function") -> None:
        self.address = address
        self.signature = signature
        # Keeps the library.
        self._function = function

    def ctypes(self) -> Any:
        """The function for ctypes, which numba and SciPy call natively too."""
        arguments, end = self.signature.split(")", 1)
        if end[:-1] not in _TYPES or end[-1] != "~" or any(code not in _TYPES for code in arguments):
            raise NativeError(
                f"`{self._function.__name__}` is `{self.signature}` in C, and ctypes passes numbers that are not complex, "
                "and one result of a function that cannot fail"
            )
        prototype = ctypes.CFUNCTYPE(_TYPES[end[:-1]], *(_TYPES[code] for code in arguments))
        made = prototype(self.address)
        made.native = self
        return made

    def callable(self) -> Any:
        """The function as an object that has it in its type's slot, as CEP 1000 says, and is called as any other from Python.

        Needs the package `precast-nativecall`, which is compiled for each version of CPython.
        """
        try:
            from precast_nativecall import Callable
        except ImportError:
            raise NativeError(
                "there is no package `precast-nativecall` for this Python\nhint: `pip install ./crates/python/nativecall`"
            ) from None
        return Callable(self._function, self.address, self.signature)

    def __repr__(self) -> str:
        return f"<precast.NativeFunction {self._function.__name__} {self.signature!r} at {self.address:#x}>"
