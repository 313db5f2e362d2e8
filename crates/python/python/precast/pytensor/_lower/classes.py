"""Classes of ops: the class whose computation an op has, and whether its C is current."""

from __future__ import annotations

from collections.abc import Container

from . import reasons

#: The methods and attributes that define the computation of an op.
_COMPUTES = frozenset(("c_code", "impl", "make_thunk", "nfunc_spec", "perform", "rng_fn", "rng_fn_scipy"))

#: PyTensor classes whose methods are placeholders.
_BASES = ("Op", "COp", "CLinkerOp", "ScalarOp")


def key_of(own: type, name: str) -> str:
    """Returns a name of an op or its class, prefixed with its package unless that is PyTensor."""
    package = own.__module__.split(".")[0]
    return name if package == "pytensor" else f"{package}.{name}"


def behaves_as(own: type, names: Container[str]) -> str | None:
    """Returns the class name, among `names`, whose computation a class of ops has; `None` if it has another one."""
    for base in own.__mro__:
        name = key_of(base, base.__name__)
        if name in names:
            return name
        if not _COMPUTES.isdisjoint(base.__dict__):
            return None
    return None


def has_c(own: type) -> bool:
    """Returns whether a class of ops has C that matches its computation."""
    declares = declaring(own, "c_code")
    is_there = declares is not None and declares.__name__ not in ("CLinkerOp", "COp", "HideC")
    return is_there and reasons.of_class(own) is None and c_is_of(own)


def c_is_of(own: type) -> bool:
    """Returns whether the C of a class is current. A class that redefines the computation of a base class must define its own C."""
    declares = declaring(own, "c_code")
    for method in ("perform", "impl"):
        replaced = None if declares is None else declaring(declares, method)
        is_real = replaced is not None and replaced.__name__ not in _BASES and not replaced.__name__.startswith("_NoPython")
        if is_real and declaring(own, method) is not replaced:
            return False
    return True


def declaring(own: type, method: str) -> type | None:
    """Returns the class in the hierarchy that defines a method."""
    return next((base for base in own.__mro__ if method in base.__dict__), None)


def derives(own: type, *names: str) -> bool:
    """Returns whether a class derives from one of some PyTensor classes."""
    return any(base.__name__ in names for base in own.__mro__)
