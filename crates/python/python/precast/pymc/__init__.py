"""Exports PyMC models to bundles that Rust, C and Python sample and query without PyMC.

>>> import precast.pymc                                   # doctest: +SKIP
>>> precast.pymc.export(model, "model.precast")           # doctest: +SKIP

`export` writes the entries of a *model package*. `precast.Density` (Python), `precast::density::Density` (Rust), `precast.h` (C) and
BridgeStan's clients (`precast bridgestan`) use it.
"""

from ._export import Exported, export

__all__ = ["Exported", "export"]
