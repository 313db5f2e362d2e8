"""Tables of rules by the names of operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Rule = TypeVar("Rule", bound=Callable[..., object])


def declare(table: dict[str, Rule], *names: str) -> Callable[[Rule], Rule]:
    """Declares a rule under names that the table does not have yet."""

    def put(rule: Rule) -> Rule:
        for name in names:
            assert name not in table, name
            table[name] = rule
        return rule

    return put
