"""A process up to its first result: `cold.py numpy | numba | pytensor-c | pytensor-numba`, or `cold.py precast BUNDLE`. Environment
variables set the cache directories."""
import sys

import numpy as np

which = sys.argv[1]
x, y, z = (np.arange(1000.0) * step for step in (0.001, 0.002, 0.003))

if which == "numpy":
    result = np.sum(np.exp(-x * x) * y + z)
elif which == "precast":
    import precast

    result = precast.load(sys.argv[2]).score(x, y, z)
elif which == "numba":
    from numba import njit

    @njit(cache=True)
    def score(x, y, z):
        total = 0.0
        for i in range(x.size):
            total += np.exp(-x[i] * x[i]) * y[i] + z[i]
        return total

    result = score(x, y, z)
else:
    import pytensor
    import pytensor.tensor as pt

    vectors = [pt.vector(name, dtype="float64") for name in "xyz"]
    a, b, c = vectors
    mode = {"pytensor-c": "CVM", "pytensor-numba": "NUMBA"}[which]
    function = pytensor.function(vectors, pt.sum(pt.exp(-a * a) * b + c), mode=mode)
    result = function(x, y, z)
print(float(result), flush=True)
