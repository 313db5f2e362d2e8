"""Rejects subinterpreters before native code is loaded: NumPy and the extension module support only the main interpreter."""

import sys
from importlib import import_module


def _is_main() -> bool:
    try:
        interpreters = import_module("_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters")
        return bool(interpreters.get_current() == interpreters.get_main())
    except (ImportError, AttributeError):
        # Without this module, Python programs cannot create subinterpreters.
        return True


if not _is_main():
    raise ImportError(
        "precast cannot be imported in a subinterpreter: it supports only the main interpreter, like NumPy\n"
        "hint: import it in the main interpreter (mod_wsgi: `WSGIApplicationGroup %{GLOBAL}`) or in a separate process"
    )
