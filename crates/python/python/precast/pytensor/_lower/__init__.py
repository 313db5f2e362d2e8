"""PyTensor's graphs in the op library: what `freeze` makes of a compiled function.

```
FunctionGraph ─▶ graph: Apply by Apply ─▶ the rule of the op's class ─▶ variables of precast ─▶ precast.Graph
                                             └ none, or it refuses ─▶ noted with its reason; the walk goes on
```
================== ===================================================================================
``lowering``       the walk, what the rules see, and how refusals are gathered
``extents``        which extents are known to be equal: PyTensor refuses to broadcast at run time
``scalars``        functions of numbers
``own_c``          functions of numbers that the library lacks, by their own C
``own_ops``        other ops that the library lacks, by their own C
``elementwise``    Elemwise, Composite, casts
``reductions``     sums, products, extremes, running sums, orders
``shapes``         what changes shapes or makes arrays
``indexing``       parts of arrays, and what writes to them
``linear``         products of matrices
``decompositions`` Cholesky's, and systems with triangular matrices
``systems``        systems of linear equations, inverses, determinants
``branches``       IfElse
``checks``         CheckAndRaise
``loops``          Scan
``python``         what Python computes, between graphs, where that is asked for
``reasons``        why there is no rule for other ops
================== ===================================================================================

A rule is found by the name of the op's class, or of the nearest one that it derives from. A class in between that says itself what it
computes has no rule: it means something else. Results have the dtypes of PyTensor's graph. What PyTensor computes is what its reference, `perform`, computes.
"""

from . import branches, checks, decompositions, elementwise, indexing, linear, loops, own_ops, python, reductions, shapes, systems  # noqa: F401
from .lowering import Lowering, Refusal

__all__ = ["Lowering", "Refusal"]
