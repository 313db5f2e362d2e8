"""Freezes the log-densities and gradients of the PyMC models to a bundle. Prints their graphs, points and PyMC's results.

usage: freeze_models.py BUNDLE
"""

import json
import os
import runpy
import sys
from pathlib import Path

os.environ["PRECAST_PYTENSOR"] = "0"

import numpy as np
import precast
import precast.pytensor

bundle, sys.argv[1:] = sys.argv[1], ["none"]
models = runpy.run_path(str(Path(__file__).parent / "models.py"))
frozen, told = {}, {}
for name in ("eight_schools", "logistic", "varying_intercepts"):
    model = models[name]()
    logp_dlogp = model.logp_dlogp_function(ravel_inputs=True)
    logp_dlogp.set_extra_values({})
    point = 0.1 + np.concatenate([np.ravel(value) for value in model.initial_point().values()])
    frozen[name] = precast.pytensor.freeze(logp_dlogp)
    numbers = [point, *map(np.atleast_1d, logp_dlogp._pytensor_function(point))]
    told[name] = {"graph": frozen[name].graph.json(), "numbers": [row.tolist() for row in numbers]}
precast.save(bundle, frozen, isa=os.environ.get("PRECAST_ISA"))
print(json.dumps(told))
