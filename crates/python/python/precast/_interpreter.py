"""Refuses sub-interpreters, before anything native is loaded: NumPy and the native part belong to one interpreter of a process,
and that is the main one."""

import sys
from importlib import import_module


def _is_main() -> bool:
    try:
        interpreters = import_module("_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters")
        return bool(interpreters.get_current() == interpreters.get_main())
    except (ImportError, AttributeError):
        # A Python that has no such module, and whose programs make no others by it.
        return True


if not _is_main():
    raise ImportError(
        "precast cannot be imported in a sub-interpreter: NumPy and its native part belong to one interpreter of a process\n"
        "hint: import it in the main interpreter (mod_wsgi: `WSGIApplicationGroup %{GLOBAL}`), or in a process of its own"
    )
