"""Functions of host `cpython`: graphs of user-defined ops as extension modules that work on the objects of CPython and NumPy.

The ops and types generate the same C as for host `native`, but it is compiled with CPython's headers for the lowest supported stable
ABI. Values may be any objects, and arrays are passed by reference. A module is looked up in the layers by its key, compiled on a miss,
and loaded from a file that other processes cannot change. The function is a CPython builtin, called through vectorcall.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sysconfig
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy

from ._native import Graph, Model, Modules, Unit, module_of
from .errors import BundleError, GraphValueError, MissError

#: The host of modules for the stable ABI, which every CPython from 3.10 on can load.
STABLE = "cpython-abi3-0x030a0000"
#: The compiler argument that enables the full API of this CPython. The module then works only with this CPython version.
WHOLE_API = "-DPRECAST_WHOLE_API"


def function(graph: Graph, settings: dict[str, Any], host: str = STABLE) -> Callable[..., Any]:
    """Returns the function of a graph of user-defined ops. `settings` are the settings of `precast.function`."""
    policy = settings["policy"]
    if policy not in (None, "auto", "strict", "jit"):
        raise GraphValueError(f"a function of host `cpython` needs `policy` \"auto\", \"strict\" or \"jit\", found \"{policy}\"")
    for name in ("record", "check"):
        if settings[name]:
            raise GraphValueError(f"a function of host `cpython` does not support `{name}`")
    unit = unit_of(graph, host)
    modules = Modules(bundles=settings["layers"], store=settings["store"], keyring=settings["keyring"])
    found = modules.find(unit)
    if found is None:
        if policy == "strict":
            raise MissError(f"miss: `{unit.signature}`; {modules.explain(unit)}")
        found = modules.compile(unit)
    return load(unit.name, found.path).new(*graph.slots())


def save(path: str, graphs: list[Graph], levels: list[str], store: str | os.PathLike[str] | None) -> None:
    """Compiles graphs of user-defined ops and writes their modules to a bundle."""
    units = [unit_of(graph) for graph in graphs]
    modules = Modules(store=store, levels=levels)
    for unit in units:
        if modules.find(unit, fresh=True) is None:
            modules.compile(unit)
    modules.collect(path, units)


def unit_of(graph: Graph, host: str = STABLE) -> Unit:
    """Returns the module of a graph."""
    return Unit.of_graph(graph, versions(host), header_dirs())


def versions(host: str = STABLE) -> list[str]:
    """Returns the versions that the machine code depends on: the ABI of the host, and the major version of NumPy's headers.

    A module compiled with the headers of NumPy 2 also works with NumPy 1, but not the other way round.
    """
    return [host, f"numpy-headers-{numpy.__version__.split('.')[0]}"]


def whole() -> str:
    """Returns the host of modules that use the full API: the ABI tag of this CPython."""
    return str(sysconfig.get_config_var("SOABI"))


def of_bundle(model: Model, key: str, host: str) -> Callable[..., Any]:
    """Returns the function of a module in a bundle. The module has no constants; `host` contains its `versions` in the plan."""
    python, _, headers = host.partition(" ")
    if python not in (STABLE, whole()):
        raise BundleError(f"a module of the bundle is for `{python}`, but this is `{whole()}`\nhint: freeze it with this Python")
    if headers == "numpy-headers-1" and not numpy.__version__.startswith("1."):
        raise BundleError(f"a module of the bundle is for NumPy 1, but this is {numpy.__version__}\nhint: freeze it with NumPy 2")
    name, found = module_of(model, key)
    try:
        return load(name, found.path).new()
    except ImportError as error:
        raise BundleError(f"cannot load a module of the bundle: {error}") from error


def header_dirs() -> list[str]:
    """Returns the directories of the headers of CPython and NumPy."""
    paths = [sysconfig.get_path("include"), sysconfig.get_path("platinclude"), numpy.get_include()]
    return list(dict.fromkeys(os.path.realpath(path) for path in paths if path))


def load(name: str, path: str) -> ModuleType:
    """Loads an extension module from a file."""
    loader = importlib.machinery.ExtensionFileLoader(name, path)
    spec = importlib.machinery.ModuleSpec(name, loader, origin=path)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module
