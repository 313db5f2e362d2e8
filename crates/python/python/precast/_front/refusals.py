"""Operations that cannot be lowered, and the error that lists them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from ..errors import FreezeError


class Refused(Exception):
    """The reason why an operation cannot be lowered."""


class Refusal(NamedTuple):
    """An operation that cannot be lowered."""

    #: The operation, ``Eig(float64[?,?]) -> complex128[?], complex128[?,?]`` or ``schur``.
    op: str
    reason: str
    #: The line of the user's program, ``model.py:12:4 (loss)``; empty if it is unknown.
    where: str = ""

    def __str__(self) -> str:
        return f"`{self.op}`{f' at {self.where}' if self.where else ''}"


def error(name: str, what: str, refusals: Iterable[Refusal]) -> FreezeError:
    """Returns the error of a function with operations that cannot be lowered. `what` is the word for operations."""
    counts = Counter(refusals)
    lines = [
        f"  {refusal}{'' if count == 1 else f' ({count} times)'}: {refusal.reason}" for refusal, count in counts.items()
    ]
    return FreezeError(f"cannot freeze `{name}`: {what} that cannot be lowered\n" + "\n".join(lines), tuple(counts))
