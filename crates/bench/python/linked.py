"""What PyTensor's linker takes for a graph whose C is compiled already: `linked.py stock | record | precast SIZE BUNDLE`, of a
size or so many layers; prints seconds. `stock` has it in its own cache; `record` writes the bundle that `precast` is served by.
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
# A product is not fused with what follows: each layer is some modules. Most of a round is PyTensor's rewriting, which grows faster.
layer = x
for k in range({"small": 1, "big": 20}.get(size) or int(size)):
    layer = pt.tanh(pt.dot(w, layer) + k)
taken, link = [], VMLinker.make_all


def timed(self, *arguments, **keywords):
    # Else a whole collection, as long as the step itself, falls into one's time and beside the other's.
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
