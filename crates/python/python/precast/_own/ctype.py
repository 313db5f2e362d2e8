"""Types that are written in Python, with the methods of types in Aesara and PyTensor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy

from .. import _native
from .._types import Output, Type
from .code import NAME, SUB, CLinkerObject, lists


class CType(CLinkerObject):
    """A type whose methods return C. It defines how C holds a value, and which values are valid."""

    #: The name in type texts such as ``double<f64[]>``. The default is the lower-case name of the class.
    name: str | None = None
    #: The array type in which values are passed to and from a function.
    carrier = "f64[]"

    def filter(self, x: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        """Converts `x` to a value of the type, or raises an exception."""
        return x

    def values_eq_approx(self, a: Any, b: Any) -> bool:
        """Returns whether two values are equal up to rounding."""
        return bool(numpy.allclose(a, b, equal_nan=True))

    def c_declare(self, name: str, sub: Mapping[str, str], check_input: bool = True) -> str:
        """Declares the C variables of `name`."""
        raise NotImplementedError(f"`{type(self).__name__}` has no `c_declare`")

    def c_init(self, name: str, sub: Mapping[str, str]) -> str:
        """Initializes the C variables to a valid value."""
        raise NotImplementedError(f"`{type(self).__name__}` has no `c_init`")

    def c_extract(self, name: str, sub: Mapping[str, str], check_input: bool = True) -> str:
        """Sets the C variables from the object ``py_<name>``."""
        raise NotImplementedError(f"`{type(self).__name__}` has no `c_extract`")

    def c_extract_out(self, name: str, sub: Mapping[str, str], check_input: bool = True) -> str:
        """Sets the C variables of an output: from the object of an earlier call if one exists, otherwise as `c_init` does."""
        extract, init = self.c_extract(name, sub, check_input), self.c_init(name, sub)
        return f"if (py_{name} != NULL) {{\n{extract}\n}} else {{\n{init}\n}}\n"

    def c_sync(self, name: str, sub: Mapping[str, str]) -> str:
        """Stores the value in ``py_<name>``."""
        raise NotImplementedError(f"`{type(self).__name__}` has no `c_sync`")

    def c_cleanup(self, name: str, sub: Mapping[str, str]) -> str:
        """Releases the resources of the C variables."""
        return ""

    def c_is_simple(self) -> bool:
        """Returns whether the C variable contains the whole value, without other resources."""
        return False

    def c_is_number(self) -> bool:
        """Returns whether the C variable `name` is a number of the carrier's dtype, and every number is a valid value."""
        return False

    def c_element_type(self) -> str | None:
        """Returns the C type of the elements."""
        return None

    def __str__(self) -> str:
        name = self.name or type(self).__name__.lower()
        self._register(f"{name}<{self.carrier}>")
        return f"{name}<{self.carrier}>"

    def __call__(self, name: str | None = None) -> Any:
        """Creates an input of this type if `name` is given, otherwise an output for `make_node`."""
        if name is None:
            return Output(Type(str(self)))
        return _native.input(name, str(self))

    make_variable = __call__

    def _register(self, text: str) -> None:
        sub = {**SUB, "py_ptr": "PRECAST_PY_PTR_", "stor_ptr": "PRECAST_STOR_PTR_"}
        texts = {"c_init": self.c_init(NAME, sub), "c_sync": self.c_sync(NAME, sub), "c_cleanup": self.c_cleanup(NAME, sub)}
        for method in (self.c_declare, self.c_extract, self.c_extract_out):
            texts[method.__name__] = method(NAME, sub, True)
            texts[f"{method.__name__}_unchecked"] = method(NAME, sub, False)
        told = {
            "ty": text,
            "texts": texts,
            "lists": lists(self),
            "is_simple": bool(self.c_is_simple()),
            "is_number": bool(self.c_is_number()),
            "element_type": self.c_element_type(),
        }
        own = type(self)
        _native.register_type(
            told,
            None if own.filter is CType.filter else self.filter,
            None if own.values_eq_approx is CType.values_eq_approx else self.values_eq_approx,
        )


class Generic(CType):
    """The type of any object. C owns a reference to it. In host `native` the object is an array of the carrier type."""

    def c_declare(self, name: str, sub: Mapping[str, str], check_input: bool = True) -> str:
        return f"PyObject *{name};"

    def c_init(self, name: str, sub: Mapping[str, str]) -> str:
        return f"{name} = NULL;"

    def c_extract(self, name: str, sub: Mapping[str, str], check_input: bool = True) -> str:
        return f"Py_INCREF(py_{name});\n{name} = py_{name};"

    def c_sync(self, name: str, sub: Mapping[str, str]) -> str:
        return f"Py_XDECREF(py_{name});\npy_{name} = {name} == NULL ? Py_None : {name};\nPy_INCREF(py_{name});"

    def c_cleanup(self, name: str, sub: Mapping[str, str]) -> str:
        return f"Py_XDECREF({name});"
