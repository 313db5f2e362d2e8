"""The time of PyTensor's linker for a graph with compiled C: `linked.py stock | record | precast SIZE BUNDLE`. SIZE is a name or a number
of layers. Prints seconds. `stock` uses PyTensor's cache; `record` writes the bundle that `precast` loads.
"""
import contextlib
import gc
import sys
import time

which, size, bundle = sys.argv[1:]
if which != "stock":
    import precast.pytensor

import pytensor
import pytensor.tensor as pt
from pytensor.gradient import grad
from pytensor.link.vm import VMLinker

recorded = contextlib.nullcontext()
if which == "record":
    recorded = precast.pytensor.record(bundle)
elif which == "precast":
    precast.pytensor.install(bundle, policy="strict")

x, w = pt.dvector("x"), pt.dmatrix("w")
# A product is not fused with the next op, so each layer has several modules. Most of a round is PyTensor's rewriting, which grows faster.
layer = x
for k in range({"small": 1, "big": 20}.get(size) or int(size)):
    layer = pt.tanh(pt.dot(w, layer) + k)
taken, link = [], VMLinker.make_all


def timed(self, *arguments, **keywords):
    # Otherwise a full collection, as long as the step itself, could fall into one of the measurements.
    gc.collect()
    start = time.perf_counter()
    try:
        return link(self, *arguments, **keywords)
    finally:
        taken.append(time.perf_counter() - start)


VMLinker.make_all = timed
with recorded:
    pytensor.function([x, w], grad(layer.sum(), w), mode="CVM")
print(taken[-1], flush=True)
