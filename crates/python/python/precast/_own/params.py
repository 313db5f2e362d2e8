"""The types of params that C code receives at run time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class ParamsType(dict):
    """The types of an op's run-time params by name: ``ParamsType(low="f64", mode=EnumList("CLAMP", "WRAP"))``."""


class EnumType:
    """An enumeration of C constants with explicit values."""

    def __init__(self, ctype: str = "int", headers: Sequence[str] | None = None, **constants: int) -> None:
        self.told = (ctype, [(name, [], int(value)) for name, value in constants.items()], None if headers is None else list(headers))


class EnumList(EnumType):
    """An enumeration with the values 0, 1, 2, …. Each constant is a name, or a pair of a name and an alias."""

    def __init__(self, *names: Any, ctype: str = "int", headers: Sequence[str] | None = None) -> None:
        pairs = [(name, []) if isinstance(name, str) else (name[0], list(name[1:])) for name in names]
        self.told = (
            ctype,
            [(name, aliases, value) for value, (name, aliases) in enumerate(pairs)],
            None if headers is None else list(headers),
        )


class CEnumType(EnumList):
    """An enumeration of constants that C headers define."""

    def __init__(self, *names: Any, ctype: str = "int", headers: Sequence[str] = ()) -> None:
        super().__init__(*names, ctype=ctype, headers=headers)
