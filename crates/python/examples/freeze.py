"""Freezes a PyTensor function with its gradient. The bundle needs neither PyTensor nor a compiler."""

import tempfile
from pathlib import Path

import numpy as np
import precast
import precast.pytensor
import pytensor
import pytensor.tensor as pt

x = pt.dvector("x")
density = -pt.sum(x**2) / 2
logp = pytensor.function([x], [density, pytensor.gradient.grad(density, x)])

with tempfile.TemporaryDirectory() as folder:
    bundle = Path(folder, "logp.bundle")
    precast.pytensor.freeze(logp, bundle, name="logp")
    value, gradient = precast.load(bundle).logp(np.array([1.0, -2.0]))
    print(value, gradient)
