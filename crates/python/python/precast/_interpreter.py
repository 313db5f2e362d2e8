"""Refuses sub-interpreters, before anything native is loaded: NumPy and the native part belong to the first one that has them."""

import sys
from importlib import import_module


def _is_main() -> bool:
    try:
        interpreters = import_module("_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters")
        return bool(interpreters.get_current() == interpreters.get_main())
    except (ImportError, AttributeError):
        # A Python whose programs make none.
        return True


if not _is_main():
    raise ImportError(
        "precast cannot be imported in a sub-interpreter: NumPy and its native part belong to one interpreter of a process\n"
        "hint: call it in the main interpreter, or in a process of its own"
    )
