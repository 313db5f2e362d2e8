"""Records the modules that a program uses through PyTensor in one bundle."""

import contextlib
import os
from collections.abc import Iterator

from .. import _recording
from . import _hook
from ._cache import log


@contextlib.contextmanager
def record(path: str | os.PathLike[str]) -> Iterator[None]:
    """Writes a bundle with every module that PyTensor requests inside the block, in this process and its children.

    The bundle also contains PyTensor's own modules (`cutils_ext`, `lazylinker_ext`). If the block raises, no bundle is written.
    """
    with _recording.opened() as recording:
        serve_own()
        yield
        for command in recording.read("unseen"):
            log.warning("not recorded: `%s` was started without the environment of the recording", command)
        _recording.write(os.fspath(path), recording, _hook.current().cache.modules)


def serve_own() -> None:
    """Loads PyTensor's own modules."""
    cache = _hook.current().cache
    for generated in (cache.cutils(), cache.lazylinker()):
        cache.serve(generated)
