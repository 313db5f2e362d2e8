"""Names of inputs and outputs."""

from __future__ import annotations

import re


def identifier(name: str) -> str:
    """Returns a name with letters, digits and underscores only, which does not begin with a digit."""
    made = re.sub(r"\W", "_", name, flags=re.ASCII)
    return made if made and not made[0].isdigit() else f"x{made}"


def unique(name: str, taken: set[str]) -> str:
    """Returns the name, or the name with a number, so that it is not in `taken`, and adds it."""
    number, made = 1, name
    while made in taken:
        number += 1
        made = f"{name}_{number}"
    taken.add(made)
    return made
