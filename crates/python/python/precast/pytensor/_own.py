"""PyTensor's modules that do too much when they are imported, as modules of ours.

`cutils` and `lazylinker_c` compile C, and write to `compiledir`: here they have it from the layers. `exceptions` imports
setuptools, which takes longer than all else that is between a graph and a function: here it does so when its class is used.
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
    """Finds them before PyTensor's own files are found."""

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
            # PyTensor then does without: its virtual machine in Python.
            raise ImportError(f"`{module.__name__}`: {why}") from why

    def _lazylinker(self, module: ModuleType) -> None:
        _, version = self.cache.host.lazylinker
        compiled = self.cache.serve(self.cache.lazylinker())
        if compiled.get_version() != version:
            raise Unexpected(f"its version is {compiled.get_version()}, and PyTensor wants {version}")
        module.lazylinker_ext = compiled
        module.version = version
        module.get_version = compiled.get_version
        module.CLazyLinker = compiled.CLazyLinker


def _exceptions(module: ModuleType, text: str, early: str) -> None:
    """Makes the module of one class, and of the others as soon as one is asked for."""
    exec(early, module.__dict__)
    ours = dict(module.__dict__)

    def __getattr__(name: str) -> Any:
        if name.startswith("__"):  # Imports ask for `__path__`.
            raise AttributeError(f"module `{EXCEPTIONS}` has no attribute `{name}`")
        del module.__dict__["__getattr__"]
        exec(text, module.__dict__)
        # Who has the class already goes on with it.
        module.__dict__.update(ours)
        return getattr(module, name)

    module.__getattr__ = __getattr__
