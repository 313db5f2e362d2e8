"""Makes PyTensor's C linkers use precast: modules are compiled once and deployed without a compiler.

>>> import precast.pytensor                                  # doctest: +SKIP
>>> f = pytensor.function([x, y], x + y)                     # doctest: +SKIP

Importing the module is enough. The code that PyTensor's linkers `c`, `cvm` and `c|py` generate is looked up by its text in the layers
of this process, and compiled on a miss. `record` writes the modules of a program to one bundle. With that bundle and the policy
`strict`, the program compiles nothing. `freeze` converts compiled functions to graphs of precast, which do not need PyTensor.

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

from .. import _recording
from ._freeze import Frozen, freeze
from ._hook import install, installed, stats, uninstall
from ._mode import FREEZE
from ._record import record

__all__ = ["FREEZE", "Frozen", "freeze", "install", "installed", "record", "stats", "uninstall"]

_recording.join()
if os.environ.get("PRECAST_PYTENSOR") != "0" and not installed():
    install()
