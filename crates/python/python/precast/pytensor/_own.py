"""Replacements for PyTensor modules that do too much work when they are imported.

`cutils` and `lazylinker_c` compile C and write to `compiledir`. The replacements load it from the layers. `exceptions` imports
setuptools, which takes longer than everything else between a graph and a function. The replacement imports it only if needed.
"""

import importlib.abc
import importlib.machinery
from types import ModuleType
from typing import Any

from .. import errors
from ._cache import Cache, Uncompiled
from ._host import Unexpected

CUTILS = "pytensor.link.c.cutils"
LAZYLINKER = "pytensor.link.c.lazylinker_c"
EXCEPTIONS = "pytensor.link.c.exceptions"


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the replacements before PyTensor's own files."""

    def __init__(self, cache: Cache) -> None:
        self.cache = cache

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if fullname in (CUTILS, LAZYLINKER, EXCEPTIONS):
            return importlib.machinery.ModuleSpec(fullname, self, origin="precast")
        return None

    def exec_module(self, module: ModuleType) -> None:
        try:
            if module.__name__ == EXCEPTIONS:
                _exceptions(module, *self.cache.host.exceptions)
            elif module.__name__ == CUTILS:
                module.run_cthunk = self.cache.serve(self.cache.cutils()).run_cthunk
            else:
                self._lazylinker(module)
        except (Unexpected, Uncompiled, errors.CompileError) as why:
            # PyTensor then uses its virtual machine in Python.
            raise ImportError(f"`{module.__name__}`: {why}") from why

    def _lazylinker(self, module: ModuleType) -> None:
        _, version = self.cache.host.lazylinker
        compiled = self.cache.serve(self.cache.lazylinker())
        if compiled.get_version() != version:
            raise Unexpected(f"its version is {compiled.get_version()}, but PyTensor needs {version}")
        module.lazylinker_ext = compiled
        module.version = version
        module.get_version = compiled.get_version
        module.CLazyLinker = compiled.CLazyLinker


def _exceptions(module: ModuleType, text: str, early: str) -> None:
    """Fills the module with one class, and with the other classes on first access."""
    exec(early, module.__dict__)
    ours = dict(module.__dict__)

    def __getattr__(name: str) -> Any:
        if name.startswith("__"):  # Imports ask for `__path__`.
            raise AttributeError(f"module `{EXCEPTIONS}` has no attribute `{name}`")
        del module.__dict__["__getattr__"]
        exec(text, module.__dict__)
        # Keep the existing class, which other modules may have imported.
        module.__dict__.update(ours)
        return getattr(module, name)

    module.__getattr__ = __getattr__
