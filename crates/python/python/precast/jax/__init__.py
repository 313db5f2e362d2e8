"""Converts JAX functions to graphs of precast, which run without JAX: from Python with NumPy alone, from Rust and from C.

>>> import precast.jax                                                       # doctest: +SKIP
>>> frozen = precast.jax.freeze(loss, params, x)                             # doctest: +SKIP
>>> precast.save("model.precast", {"loss": frozen})                          # doctest: +SKIP

`call` is the way back: a JAX function that calls a function of precast. `freeze` traces a function with `jax.make_jaxpr` and lowers its primitives to the op library. The page JAX.md lists them.
"""

from ._versions import TESTED, check

check()

from ._call import call  # noqa: E402
from ._freeze import Frozen, freeze  # noqa: E402

__all__ = ["TESTED", "Frozen", "call", "freeze"]
