"""PyTensor's two modules that compile C when they are imported, as modules of ours that have it from the layers.

Stock writes to its `compiledir` when they are imported, and asks a compiler. Nothing of that happens here.
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


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the two before PyTensor's own files are found."""

    def __init__(self, cache: Cache) -> None:
        self.cache = cache

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if fullname in (CUTILS, LAZYLINKER):
            return importlib.machinery.ModuleSpec(fullname, self, origin="precast")
        return None

    def exec_module(self, module: ModuleType) -> None:
        try:
            if module.__name__ == CUTILS:
                module.run_cthunk = self.cache.serve(self.cache.cutils()).run_cthunk
            else:
                self._lazylinker(module)
        except (Unexpected, Uncompiled, errors.CompileError) as why:
            # PyTensor then does without: its virtual machine in Python.
            raise ImportError(f"`{module.__name__}`: {why}") from why

    def _lazylinker(self, module: ModuleType) -> None:
        _, version = self.cache.host.lazylinker()
        compiled = self.cache.serve(self.cache.lazylinker())
        if compiled.get_version() != version:
            raise Unexpected(f"its version is {compiled.get_version()}, and PyTensor wants {version}")
        module.lazylinker_ext = compiled
        module.version = version
        module.get_version = compiled.get_version
        module.CLazyLinker = compiled.CLazyLinker
