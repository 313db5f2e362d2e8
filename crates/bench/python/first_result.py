"""From a PyMC model to the first log density with its gradient: `first_result.py precast|NUMBA|CVM|JAX MODEL PLACE`. Prints
`first SECONDS SUM`. Environment variables set the cache directories; PLACE gets the exported model."""
import os
import sys
import timeit

import numpy as np
import pymc as pm
from models import MODELS, point_of

mode, name, place = sys.argv[1:]
if mode == "precast":
    import precast
    import precast.pymc
    from precast._native import Modules
elif mode == "JAX":
    import jax

    jax.config.update("jax_enable_x64", True)

with pm.Model() as model:
    MODELS[name](np.random.default_rng(1))
point = point_of(model)
begun = timeit.default_timer()
if mode == "precast":
    path = os.path.join(place, "model.precast")
    # Compiles for this CPU only, as the peers do.
    precast.pymc.export(model, path, entries=["log_density_gradient"], isa=Modules.native_level())
    function = precast.load(path).log_density_gradient
else:
    made = model.logp_dlogp_function(ravel_inputs=True, mode=mode)
    made.set_extra_values({})
    function = made._pytensor_function
value, gradient = function(point)
seconds = timeit.default_timer() - begun
print("first", seconds, float(value) + float(np.sum(gradient)), flush=True)
