"""The types of run-time params."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class ParamsType(dict):
    """The types of an op's run-time params by name: ``ParamsType(low="f64", mode=EnumList("CLAMP", "WRAP"))``."""


class EnumType:
    """Constants of C that a param may be, in the order given."""

    def __init__(self, ctype: str = "int", headers: Sequence[str] | None = None, **constants: int) -> None:
        self.told = (ctype, [(name, [], int(value)) for name, value in constants.items()], None if headers is None else list(headers))


class EnumList(EnumType):
    """Constants 0, 1, 2, …: names, or pairs of a name and an alias."""

    def __init__(self, *names: Any, ctype: str = "int", headers: Sequence[str] | None = None) -> None:
        pairs = [(name, []) if isinstance(name, str) else (name[0], list(name[1:])) for name in names]
        self.told = (
            ctype,
            [(name, aliases, value) for value, (name, aliases) in enumerate(pairs)],
            None if headers is None else list(headers),
        )


class CEnumType(EnumList):
    """Constants that headers of C define."""

    def __init__(self, *names: Any, ctype: str = "int", headers: Sequence[str] = ()) -> None:
        super().__init__(*names, ctype=ctype, headers=headers)
