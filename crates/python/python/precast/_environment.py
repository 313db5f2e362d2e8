"""The environment variables that select layers and the policy, and the format of lists of paths in them."""

import os
import re
from collections.abc import Iterable

from . import errors
from ._native import Modules

POLICIES = ("auto", "strict", "jit", "interpret")

# A quoted path, in which a quote is doubled, or a path without a colon.
_PATH = re.compile(r'"((?:[^"]|"")+)"(?=:|$)|([^:]+)')


def paths(text: str) -> list[str]:
    """Splits a list of paths at colons. A path in double quotes may contain colons."""
    return [quoted.replace('""', '"') if quoted else plain for quoted, plain in _PATH.findall(text)]


def of_paths(several: Iterable[str]) -> str:
    """Joins paths to a list that `paths` can split."""
    return ":".join(f'"{path.replace(chr(34), chr(34) * 2)}"' if ":" in path or path.startswith('"') else path for path in several)


def policy_of(given: str | None) -> str:
    """Returns the policy from the argument or the environment. The default is `jit` if a compiler exists, otherwise `strict`."""
    chosen = given or os.environ.get("PRECAST_POLICY")
    if not chosen or chosen == "auto":
        return "strict" if Modules.no_compiler() else "jit"
    if chosen not in POLICIES:
        raise errors.PrecastError(f"unknown policy `{chosen}`; known: {', '.join(POLICIES)}")
    return chosen


def modules(
    policy: str,
    bundles: list[str] | None = None,
    store: str | None = None,
    levels: list[str] | None = None,
    keyring: str | os.PathLike[str] | None = None,
) -> Modules:
    """Opens the layers named by the arguments or the environment. `Modules` reads the keyring variable itself."""
    store = store or os.environ.get("PRECAST_STORE") or (Modules.user_store() if policy == "jit" else None)
    if bundles is None:
        bundles = paths(os.environ.get("PRECAST_BUNDLE", ""))
    if levels is None:
        levels = [level for level in os.environ.get("PRECAST_ISA", "").split(",") if level]
    return Modules(bundles=bundles, store=store, levels=levels, keyring=keyring)
