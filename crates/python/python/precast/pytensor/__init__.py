"""PyTensor's C linkers on precast's store: compiled once, deployed with no compiler.

>>> import precast.pytensor                                  # doctest: +SKIP
>>> f = pytensor.function([x, y], x + y)                     # doctest: +SKIP

The import is all there is to do: what PyTensor's linkers `c`, `cvm` and `c|py` generate is looked up by its text in the layers
of this process, and compiled on a miss. `record` puts what a program used into one bundle; with the policy `strict` that
program then compiles nothing, wherever it runs. `freeze` makes graphs of precast of compiled functions, which need no PyTensor
at all.

==================== =========================================================================================
``PRECAST_BUNDLE``   bundles to look into, separated by ``:``; a path in double quotes may have a colon
``PRECAST_STORE``    the store for what is compiled here; else that of the user, under ``~/.cache/precast``
``PRECAST_POLICY``   ``strict``: a miss is an error; ``jit``: it is compiled; ``interpret``: PyTensor computes it in Python
``PRECAST_ISA``      levels to compile for, separated by ``,``; else that of this CPU
``PRECAST_PYTENSOR`` ``0``: the import does nothing; call `install`
==================== =========================================================================================
"""

import os

from .. import _recording
from ._freeze import Frozen, freeze
from ._hook import install, installed, stats, uninstall
from ._record import record

__all__ = ["Frozen", "freeze", "install", "installed", "record", "stats", "uninstall"]

_recording.join()
if os.environ.get("PRECAST_PYTENSOR") != "0" and not installed():
    install()
