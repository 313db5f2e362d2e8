"""Exports or samples a model of `models.py`, from the start of the process to the written draws: `sampling.py HOW MODEL OUT`.

HOW is `export`, `nutpie` (which samples what PyTensor compiles with numba) or `pymc` (PyMC's own sampler). Four chains of
1000 draws follow 1000 draws of tuning each, without a progress bar.
"""
import os
import sys

import numpy as np
import pymc as pm
from models import MODELS

SETTINGS = {"chains": 4, "draws": 1000, "tune": 1000, "cores": 2}


def export(model, out):
    import precast.pymc

    precast.pymc.export(model, out)


def nutpie(model, out):
    import nutpie

    os.mkdir(out)
    store = nutpie._lib.store.LocalStore(out)
    nutpie.sample(nutpie.compile_pymc_model(model), **SETTINGS, seed=1, progress_bar=False, zarr_store=store, return_raw_trace=True)


def pymc(model, out):
    with model:
        trace = pm.sample(**SETTINGS, random_seed=1, progressbar=False, compute_convergence_checks=False)
    trace.to_zarr(out)


def main():
    how, name, out = sys.argv[1:]
    with pm.Model() as model:
        MODELS[name](np.random.default_rng(1))
    {"export": export, "nutpie": nutpie, "pymc": pymc}[how](model, out)


if __name__ == "__main__":
    main()
