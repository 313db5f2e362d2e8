"""Records what a program compiles through PyTensor into one bundle."""

import contextlib
import os
from collections.abc import Iterator

from .._native import Unit
from ..errors import PrecastError
from . import _hook


@contextlib.contextmanager
def record(path: str | os.PathLike[str]) -> Iterator[None]:
    """Writes a bundle of every module that PyTensor asks for meanwhile, when the block ends without an exception.

    It has the modules of PyTensor's own too (`cutils_ext`, `lazylinker_ext`), so that nothing is left to compile.
    """
    cache = _hook.current().cache
    units: dict[str, Unit] = {}
    cache.recorders.append(units)
    try:
        for unit in (cache.cutils(), cache.lazylinker()):
            cache.serve(unit)
        before = len(cache.aside)
        yield
    finally:
        cache.recorders.remove(units)
    left = [op for op, _ in cache.aside[before:]]
    if left:
        raise PrecastError(
            f"not recorded: PyTensor compiled {len(left)} of the modules itself, `{left[0]}` first; `stats()['aside']` says why"
        )
    cache.modules.collect(os.fspath(path), list(units.values()))
