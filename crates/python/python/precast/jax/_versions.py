"""The versions of JAX that the front end supports."""

from __future__ import annotations

import os

#: The tested releases, oldest first. Other releases of their series are accepted too.
TESTED = ("0.10.2", "0.11.2", "0.12.0.1")
#: Disables the check if it is ``any``.
VARIABLE = "PRECAST_JAX"


def check() -> None:
    """Raises an `ImportError` if JAX is missing, or if its series is not tested."""
    try:
        from jax import __version__ as found
    except ModuleNotFoundError as error:
        if error.name != "jax":
            raise
        raise ImportError('`precast.jax` needs JAX\nhint: `pip install "precast[jax]"`', name="jax") from None
    if series(found) not in map(series, TESTED) and os.environ.get(VARIABLE) != "any":
        raise ImportError(
            f"JAX {found} is not supported: `precast.jax` is tested with {', '.join(TESTED)}\n"
            f"hint: install one of them, or set {VARIABLE}=any to try this version",
            name="jax",
        )


def series(version: str) -> tuple[str, ...]:
    """Returns the series of a release: ``0.10`` of ``0.10.2``."""
    return tuple(version.split(".")[:2])
