"""Log densities of Stan's programs in `stan/`: compiled by g++, called by ctypes, as BridgeStan's client for Python does."""
import ctypes
import functools
import importlib.util
import json
import os
import subprocess

import numpy as np

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "stan")
FLAGS = ["-std=c++17", "-O3", "-w", "-fPIC", "-shared", "-D_REENTRANT", "-DBOOST_DISABLE_ASSERTS"]


@functools.cache
def library(program, place):
    """Compiles a program with the compiler and the headers of the package httpstan."""
    found = importlib.util.find_spec("httpstan")
    if found is None:
        raise ImportError("httpstan is not installed")
    package = os.path.dirname(found.origin)
    header, out = (os.path.join(place, program + end) for end in (".hpp", ".so"))
    stanc = os.path.join(package, "stanc")
    os.chmod(stanc, 0o755)
    subprocess.run([stanc, f"--name={program}", "--o", header, os.path.join(HERE, f"{program}.stan")], check=True)
    tbb = os.path.join(package, "lib")
    command = ["g++", *FLAGS, f'-DPROGRAM="{header}"', "-I", os.path.join(package, "include")]
    command += [os.path.join(HERE, "density.cpp"), "-o", out, "-L", tbb, "-ltbb", f"-Wl,-rpath,{tbb}"]
    subprocess.run(command, check=True)
    loaded = ctypes.CDLL(out)
    loaded.density_open.restype = ctypes.c_void_p
    for function in (loaded.density_whole, loaded.density_gradient):
        function.argtypes, function.restype = [ctypes.c_void_p] * 3, ctypes.c_double
    return loaded


def density(program, data, place):
    """Returns the function of a program with its data: a point to its log density and the gradient.

    Stan omits constants, as for samplers. The first call computes their sum, which is added."""
    stan = library(program, place)
    values = {name: np.asarray(value).tolist() for name, value in data.items()}
    model = stan.density_open(json.dumps({"n": len(data["y"]), **values}).encode())
    constants = None

    def call(point):
        nonlocal constants
        out = np.empty(len(point))
        at, to = point.ctypes.data, out.ctypes.data
        if constants is None:
            constants = stan.density_whole(model, at, to) - stan.density_gradient(model, at, to)
        return stan.density_gradient(model, at, to) + constants, out

    return call
