"""Lowers jaxprs to the op library, for `freeze`.

```
jaxpr ─▶ graph: equation by equation ─▶ the rule of the primitive ─▶ variables of precast ─▶ precast.Graph
                                         └ no rule, or refused ─▶ noted with the source line; the walk continues
```
===============  =======================================================================
``lowering``     the walk, the interface of rules, extents with names
``elementwise``  elementwise functions
``bits``         the bits of floats as integers
``shapes``       primitives that change shapes, join or create arrays
``indexing``     dynamic slices, gathers, scatters
``reductions``   reductions, running results, sorts
``linear``       products, decompositions, systems of equations, Fourier transforms
``windows``      convolutions, reductions of windows
``control``      calls, loops, branches
``random``       draws with keys
``reasons``      the reasons why other primitives have no rule
===============  =======================================================================

Values that JAX broadcasts stay small until an op needs all of their elements, because precast broadcasts when it computes. Integers
that follow from constants are known when the graph is built, so that most indices are slices.
"""

from . import bits, control, elementwise, indexing, linear, random, reductions, shapes, windows  # noqa: F401
from .lowering import Lowering

__all__ = ["Lowering"]
