"""Reloads bundles while threads call them: reload.py THREADS ROUNDS BUNDLE...

For each line of its input, every thread replaces the shared model ROUNDS times and calls it; then it prints "done".
Each bundle has an entry "score", which takes a vector and returns a multiple of its sum.
"""

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import precast

threads, rounds, bundles = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
x = np.array([1.0, 2.0])
model = precast.load(bundles[0])


def work(first):
    global model
    for round in range(rounds):
        model = precast.load(bundles[(first + round) % len(bundles)])
        multiple = model.score(x) / 3.0
        if multiple not in range(1, len(bundles) + 1):
            sys.exit(f"no bundle returns {multiple} times the sum")


with ThreadPoolExecutor(threads) as pool:
    for _ in sys.stdin:
        list(pool.map(work, range(threads)))
        print("done", flush=True)
