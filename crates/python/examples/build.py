"""Builds a graph with NumPy's functions, saves it to a bundle, and calls it from there."""

import tempfile
from pathlib import Path

import numpy as np
import precast

x, y = precast.input("x", "f64[?]"), precast.input("y", "f64[?]")
graph = precast.graph([x, y], {"score": np.sum(np.exp(-x * x) * y)})

with tempfile.TemporaryDirectory() as folder:
    bundle = Path(folder, "score.bundle")
    precast.save(bundle, {"score": graph})
    score = precast.load(bundle).score
    print(f"{score(np.linspace(0, 1, 5), np.ones(5)):.6f}")
