"""Functions of host `cpython`: graphs of authors' ops as extension modules, over the objects of CPython and NumPy themselves.

The C of ops and types is what host `native` compiles, with CPython's own headers at the floor of its stable ABI. So values may be
any objects, and no array changes hands but by its reference. A module is found by its key in the layers as any other, compiled
where there is none, and loaded from bytes that nobody can change. What is called is a function of CPython's own kind: its
interpreter finds the C by vectorcall.
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

#: What modules of the stable ABI are for: every CPython from 3.10 on.
STABLE = "cpython-abi3-0x030a0000"
#: The argument that gives C all of the API of this CPython. Its module is for this one alone.
WHOLE_API = "-DPRECAST_WHOLE_API"


def function(graph: Graph, settings: dict[str, Any], host: str = STABLE) -> Callable[..., Any]:
    """The function of a graph of authors' ops; `settings` are those of `precast.function`."""
    policy = settings["policy"]
    if policy not in (None, "strict", "jit"):
        raise GraphValueError(f"a function of host `cpython` is compiled or found: `policy` is \"strict\", \"jit\" or none, not \"{policy}\"")
    for name in ("record", "check"):
        if settings[name]:
            raise GraphValueError(f"a function of host `cpython` has no `{name}`")
    unit = unit_of(graph, host)
    modules = Modules(bundles=settings["layers"], store=settings["store"], keyring=settings["keyring"])
    found = modules.find(unit)
    if found is None:
        if policy == "strict":
            raise MissError(f"miss: `{unit.signature}`; {modules.explain(unit)}")
        found = modules.compile(unit)
    return load(unit.name, found.path).new(*graph.slots())


def save(path: str, graphs: list[Graph], levels: list[str], store: str | os.PathLike[str] | None) -> None:
    """Compiles graphs of authors' ops, and writes their modules into a bundle."""
    units = [unit_of(graph) for graph in graphs]
    modules = Modules(store=store, levels=levels)
    for unit in units:
        if modules.find(unit, fresh=True) is None:
            modules.compile(unit)
    modules.collect(path, units)


def unit_of(graph: Graph, host: str = STABLE) -> Unit:
    """The module of a graph."""
    return Unit.of_graph(graph, versions(host), header_dirs())


def versions(host: str = STABLE) -> list[str]:
    """What the machine code depends on: the host's ABI, and which of NumPy's headers it was compiled with.

    What was compiled with those of NumPy 2 runs beside NumPy 1 too, and not the other way round.
    """
    return [host, f"numpy-headers-{numpy.__version__.split('.')[0]}"]


def whole() -> str:
    """What modules are for that have all of the API: this CPython."""
    return str(sysconfig.get_config_var("SOABI"))


def of_bundle(model: Model, key: str, host: str) -> Callable[..., Any]:
    """The function of a module of a bundle, which has no constants; `host` is what the plan says of its `versions`."""
    python, _, headers = host.partition(" ")
    if python not in (STABLE, whole()):
        raise BundleError(f"a module of the bundle is for `{python}`, and this is `{whole()}`\nhint: freeze it with this Python")
    if headers == "numpy-headers-1" and not numpy.__version__.startswith("1."):
        raise BundleError(f"a module of the bundle is for NumPy 1, and this is {numpy.__version__}\nhint: freeze it with NumPy 2")
    name, found = module_of(model, key)
    try:
        return load(name, found.path).new()
    except ImportError as error:
        raise BundleError(f"a module of the bundle cannot be loaded: {error}") from error


def header_dirs() -> list[str]:
    """Where the headers of CPython and NumPy are."""
    paths = [sysconfig.get_path("include"), sysconfig.get_path("platinclude"), numpy.get_include()]
    return list(dict.fromkeys(os.path.realpath(path) for path in paths if path))


def load(name: str, path: str) -> ModuleType:
    """Loads an extension module from a file that nobody can change."""
    loader = importlib.machinery.ExtensionFileLoader(name, path)
    spec = importlib.machinery.ModuleSpec(name, loader, origin=path)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module
