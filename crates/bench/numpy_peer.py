"""The peer of the case `throughput`: durations of two expressions in nanoseconds, a line for each expression."""
import time

import numpy as np

n = np.arange(10_000_000)
x, y, z = (np.sin(n * step) for step in (0.1, 0.2, 0.3))
out = np.empty_like(x)
expressions = [
    lambda: np.sum(np.exp(-x * x) * y + z),
    lambda: np.multiply(np.add(x, y, out=out), z, out=out),
]
for expression in expressions:
    durations = []
    for _ in range(10):
        start = time.perf_counter_ns()
        expression()
        durations.append(time.perf_counter_ns() - start)
    print(*durations[1:])
