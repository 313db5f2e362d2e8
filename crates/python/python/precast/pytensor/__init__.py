"""Makes PyTensor's C linkers use precast: modules are compiled once and deployed without a compiler.

>>> import precast.pytensor                                  # doctest: +SKIP
>>> f = pytensor.function([x, y], x + y)                     # doctest: +SKIP

Importing the module is enough. The code that PyTensor's linkers `c`, `cvm` and `c|py` generate is looked up by its text in the layers
of this process, and compiled on a miss. `record` writes the modules of a program to one bundle. With that bundle and the policy
`strict`, the program compiles nothing. `freeze` converts compiled functions to graphs of precast, which do not need PyTensor. In the mode
``"PRECAST"``, PyTensor's functions are computed by such graphs.

==================== ============================================================================================
``PRECAST_BUNDLE``   bundles to search, separated by ``:``; a path in double quotes may contain a colon
``PRECAST_STORE``    the store for modules compiled here; default: the user's store under ``~/.cache/precast``
``PRECAST_POLICY``   on a miss, ``strict`` fails, ``jit`` compiles, and ``interpret`` lets PyTensor compute in Python
``PRECAST_ISA``      CPU levels to compile for, separated by ``,``; default: the level of this CPU
``PRECAST_KEYRING``  a keyring: enough of its keys must have signed each bundle
``PRECAST_PYTENSOR`` ``0``: the import has no effect until `install` is called
==================== ============================================================================================
"""

import os
from typing import TYPE_CHECKING, Any

from .. import _recording
from ._freeze import Frozen, freeze
from ._hook import install, installed, stats, uninstall
from ._record import record

if TYPE_CHECKING:
    from ._linker import PrecastLinker, mode, report
    from ._mode import FREEZE

__all__ = ["FREEZE", "Frozen", "PrecastLinker", "freeze", "install", "installed", "mode", "record", "report", "stats", "uninstall"]

#: Names of modules that import PyTensor, which `install` does first.
_LATER = {"FREEZE": "_mode", "PrecastLinker": "_linker", "mode": "_linker", "report": "_linker"}


def __getattr__(name: str) -> Any:
    """Returns a lazily imported name."""
    if name not in _LATER:
        raise AttributeError(f"module `precast.pytensor` has no attribute `{name}`")
    from importlib import import_module

    return globals().setdefault(name, getattr(import_module(f"precast.pytensor.{_LATER[name]}"), name))


_recording.join()
if os.environ.get("PRECAST_PYTENSOR") != "0" and not installed():
    install()
