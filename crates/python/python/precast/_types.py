"""The types of variables, and NumPy's names of their dtypes."""

from __future__ import annotations

from typing import Any

import numpy

_LETTERS = {"f": "f", "i": "i", "u": "u", "c": "c"}

#: The C names of type numbers in NumPy that are not ``NPY_`` and the name of the dtype.
_TYPENUM = {"bool": "NPY_BOOL"}


def dtype_name(dtype: Any) -> str:
    """Returns the short name of a dtype: ``f64`` for ``float64``."""
    if isinstance(dtype, str) and dtype in _NAMES:
        return dtype
    found = numpy.dtype(dtype)
    if found.kind == "b":
        return "bool"
    if found.name == "bfloat16":
        return "bf16"
    if found.kind not in _LETTERS or found.itemsize > 16:
        raise TypeError(f"unsupported dtype `{found}`")
    return f"{_LETTERS[found.kind]}{8 * found.itemsize}"


_NAMES = {
    "bool": "bool",
    **{f"{kind}{bits}": f"{long}{bits}" for kind, long in (("i", "int"), ("u", "uint")) for bits in (8, 16, 32, 64)},
    **{f"f{bits}": f"float{bits}" for bits in (16, 32, 64)},
    "bf16": "bfloat16",
    "c64": "complex64",
    "c128": "complex128",
}


class Type(str):
    """The text of a type, such as ``f64[?]``, with the attributes of types in Aesara and PyTensor."""

    __slots__ = ()

    @property
    def _parts(self) -> tuple[str, list[str] | None]:
        text = self[self.index("<") + 1 : -1] if self.endswith(">") else str(self)
        dtype, bracket, rest = text.partition("[")
        extents = rest[:-1].split(",") if bracket and rest != "]" else []
        return dtype, extents if bracket else None

    @property
    def name(self) -> str:
        """The short name of the dtype: ``f64``."""
        return self._parts[0]

    @property
    def dtype(self) -> str:
        """The name of the dtype in NumPy: ``float64``."""
        return _NAMES[self._parts[0]]

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self._parts[1] or [])

    @property
    def shape(self) -> tuple[int | None, ...]:
        """The extents; `None` for an unknown one, which may have a name."""
        return tuple(int(extent) if extent.strip().isdecimal() else None for extent in self._parts[1] or [])

    @property
    def broadcastable(self) -> tuple[bool, ...]:
        """Which extents are known to be 1."""
        return tuple(extent == 1 for extent in self.shape)

    def dtype_specs(self) -> tuple[type, str, str]:
        """Returns the Python number type, the C type of an element, and NumPy's type number: ``NPY_FLOAT64``."""
        name = self.dtype
        kind = {"f": float, "c": complex, "b": bool}.get(numpy.dtype(name).kind, int)
        return kind, f"npy_{name}", f"NPY_{name.upper()}"

    def __call__(self, name: str | None = None) -> Output:
        """Creates an output of this type, for `make_node`."""
        return Output(self, name)

    make_variable = __call__


def TensorType(dtype: Any, shape: Any = (), broadcastable: Any = None) -> Type:
    """Returns the type of arrays with a dtype and extents; `None` is an unknown extent."""
    if broadcastable is not None:
        shape = [1 if one else None for one in broadcastable]
    extents = ",".join("?" if extent is None else str(int(extent)) for extent in shape)
    return Type(f"{dtype_name(dtype)}[{extents}]")


def upcast(*dtypes: Any) -> str:
    """Returns the NumPy name of the dtype that all arguments promote to."""
    return numpy.result_type(*(_NAMES.get(dtype, dtype) if isinstance(dtype, str) else dtype for dtype in dtypes)).name


class Output:
    """An output that `make_node` declares."""

    __slots__ = ("name", "owner", "type")

    def __init__(self, type: Type, name: str | None = None) -> None:
        self.type = type
        self.name = name

    @property
    def dtype(self) -> str:
        return self.type.dtype

    @property
    def ndim(self) -> int:
        return self.type.ndim

    def __repr__(self) -> str:
        return f"<precast.Output {self.type}>"
