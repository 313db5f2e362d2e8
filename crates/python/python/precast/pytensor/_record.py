"""Records what a program compiles through PyTensor into one bundle."""

import contextlib
import os
from collections.abc import Iterator

from .. import _recording
from . import _hook
from ._cache import log


@contextlib.contextmanager
def record(path: str | os.PathLike[str]) -> Iterator[None]:
    """Writes a bundle of every module that PyTensor asks for meanwhile, here and in children, when the block ends without an exception.

    It has the modules of PyTensor's own too (`cutils_ext`, `lazylinker_ext`), so that nothing is left to compile.
    """
    with _recording.opened() as recording:
        serve_own()
        yield
        for command in recording.read("unseen"):
            log.warning("not recorded: `%s`, started without the environment of the recording", command)
        _recording.write(os.fspath(path), recording, _hook.current().cache.modules)


def serve_own() -> None:
    """Asks for the modules that are PyTensor's own."""
    cache = _hook.current().cache
    for generated in (cache.cutils(), cache.lazylinker()):
        cache.serve(generated)
