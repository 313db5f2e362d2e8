"""Lowers PyTensor's graphs to the op library, for `freeze`.

```
FunctionGraph ─▶ graph: Apply by Apply ─▶ the rule of the op's class ─▶ variables of precast ─▶ precast.Graph
                                             └ no rule, or refused ─▶ noted with the reason; the walk continues
```
================== ===================================================================================
``lowering``       the walk, the interface of rules, and the collection of refusals
``classes``        the class whose computation an op has
``extents``        the extents that are known to be equal; PyTensor does not broadcast at run time
``scalars``        scalar functions
``own_c``          scalar functions that the library lacks, compiled from their own C
``own_ops``        other ops that the library lacks, compiled from their own C
``elementwise``    Elemwise, Composite, casts
``reductions``     sums, products, extremes, running sums, sorting
``shapes``         ops that change shapes or create arrays
``indexing``       indexing, and assignment to indexed parts
``positions``      conversions of positions, choices by position, diagonals
``linear``         matrix products
``systems``        Cholesky decompositions, systems of linear equations, inverses, determinants
``tridiagonal``    decompositions of tridiagonal matrices
``factors``        LU and QR decompositions, eigenvalues, singular values, pseudoinverses
``branches``       IfElse
``checks``         CheckAndRaise
``loops``          Scan, as a loop
``unrolled``       Scan, step by step
``draws``          random draws as functions of a key, with ``random="counter"``; also ``draws_of_arrays``, ``draws_of_pymc``
``batches``        the extents of independent draws
``keys``           the keys of draws
``python``         ops that Python computes between graphs, with ``python=True``
``reasons``        the reasons why other ops have no rule
================== ===================================================================================

A rule is found by the name of the op's class or of its nearest base class. If a class in between redefines the computation, there is
no rule, because the op has another meaning. Results have the dtypes of PyTensor's graph, and the values of PyTensor's `perform`.
"""

from . import (  # noqa: F401
    branches,
    checks,
    draws,
    draws_of_arrays,
    draws_of_pymc,
    elementwise,
    factors,
    indexing,
    linear,
    loops,
    own_ops,
    positions,
    python,
    reductions,
    shapes,
    systems,
    transforms,
    tridiagonal,
)
from .lowering import Lowering, Refusal

__all__ = ["Lowering", "Refusal"]
