"""All parts of PyTensor that precast uses, looked up in one place. A difference from the expected API raises `Unexpected`."""

import ast
import errno
import functools
import importlib.abc
import importlib.machinery
import inspect
import os
import shutil
import sys
import sysconfig
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy

from .._cpython import header_dirs

# The versions that the tests run with. Other versions also work if they have everything that is looked up here. A warning is logged
# unless a release of the same series was tested, because these lookups find the changes that a patch release could make.
TESTED = ("2.38.3", "3.0.7", "3.3.7", "3.3.8")


def is_of_tested_series(version: str) -> bool:
    """Returns whether a release that differs only in the last number was tested."""
    return series(version) in [series(tested) for tested in TESTED]


def series(version: str) -> list[str]:
    """Returns the first two numbers of a version."""
    return version.split(".")[:2]


class Unexpected(Exception):
    """PyTensor lacks a part that precast uses."""


def _take(owner: Any, name: str, *parameters: str) -> Any:
    """Returns an attribute, and checks that a function has these parameters."""
    where = getattr(owner, "__name__", type(owner).__name__)
    try:
        found = inspect.getattr_static(owner, name)
    except AttributeError:
        raise Unexpected(f"`{where}` has no `{name}`") from None
    found = getattr(owner, name) if isinstance(found, (staticmethod, classmethod)) else found
    if parameters:
        try:
            has = inspect.signature(found).parameters
        except (TypeError, ValueError):
            raise Unexpected(f"`{where}.{name}` is not a function") from None
        missing = [parameter for parameter in parameters if parameter not in has]
        if missing:
            raise Unexpected(f"`{where}.{name}` has no parameter `{missing[0]}`")
    return found


class _Early(importlib.abc.MetaPathFinder):
    """Sets the compiler as soon as PyTensor has a configuration. PyTensor would start one to check it, and disable C if that fails."""

    # Whether the compiler was set while PyTensor was imported, so that its linkers support C.
    named = False

    def __init__(self) -> None:
        self.undo: Callable[[], None] = lambda: None

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if fullname != "pytensor.configparser":
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.loader is None:
            return None
        stock = spec.loader.exec_module

        def exec_module(module: Any) -> None:
            stock(module)
            parser = getattr(module, "PyTensorConfigParser", None)
            if hasattr(parser, "add"):
                self._watch(parser)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec

    def _watch(self, parser: Any) -> None:
        """Waits for the parameter `cxx`, because other parameters depend on it."""
        stock = parser.add

        def add(config: Any, name: str, doc: str, parameter: Any, *rest: Any, **named: Any) -> None:
            if name == "linker" and _Early.named and isinstance(getattr(parameter, "all", None), set):
                # PyTensor 2 omits the linkers with C if it finds no compiler.
                parameter.all.update(("c", "cvm", "cvm_nogc", "c|py", "c|py_nogc"))
            stock(config, name, doc, parameter, *rest, **named)
            if name == "cxx":
                _Early.named = _name_compiler(config)

        parser.add = add
        self.undo = lambda: setattr(parser, "add", stock)


def _name_compiler(config: Any) -> bool:
    """Sets the compiler, which need not exist. Returns `False` if the user set it."""
    if is_said(config, "cxx"):
        return False
    config.cxx = shutil.which("g++") or "g++"
    return True


def is_said(config: Any, name: str) -> bool:
    """Returns whether the user set a parameter, without computing its default."""
    parameter = config._config_var_dict[name]
    if "val" in parameter.__dict__:
        return not parameter.is_default
    try:
        config.fetch_val_for_key(name)
    except KeyError:
        return False
    return True


class Host:
    """The installed PyTensor."""

    def __init__(self) -> None:
        if sys.implementation.name != "cpython":
            raise Unexpected(f"this is {sys.implementation.name}, not CPython")
        early = _Early()
        sys.meta_path.insert(0, early)
        try:
            import pytensor
            import pytensor.link.c.basic as basic
            import pytensor.link.c.cmodule as cmodule
        finally:
            sys.meta_path.remove(early)
            early.undo()

        self.version: str = pytensor.__version__
        self.config = _take(pytensor, "config")
        self.named_compiler = _Early.named
        if _Early.named:
            _name_compiler(self.config)
        elif self.config.cxx == "":
            if is_said(self.config, "cxx"):
                raise Unexpected("`config.cxx` is empty, which disables C")
            # Its linkers already exist, without C.
            raise Unexpected("it was imported before and found no compiler: import precast.pytensor first")
        self.basic = basic
        self.CLinker = _take(basic, "CLinker")
        _take(basic, "get_module_cache", "init_args")
        _take(self.CLinker, "cthunk_factory", "error_storage", "in_storage", "out_storage", "storage_map", "cache")
        for name in ("cmodule_key", "get_dynamic_module", "compile_args", "libraries", "header_dirs", "lib_dirs", "c_compiler"):
            _take(self.CLinker, name, "self")
        self.Compiler = _take(cmodule, "GCC_compiler")
        _take(self.Compiler, "compile_args", "march_flags")
        _take(self.Compiler, "march_flags")
        self.placeholder: str = _take(_take(cmodule, "DynamicModule")(), "hash_placeholder")
        for name in ("cxx", "linker", "blas__ldflags", "compiledir", "cmodule__remove_gxx_opt"):
            if name not in _take(self.config, "_config_var_dict"):
                raise Unexpected(f"its configuration has no `{name}`")
        self.folder = os.path.dirname(basic.__file__)
        # PyTensor's `std_include_dirs` would import setuptools to find these directories and those of the host.
        self.own_dir = os.path.realpath(os.path.join(self.folder, "c_code"))
        if not os.path.isfile(os.path.join(self.own_dir, "pytensor_mod_helper.h")):
            raise Unexpected("its `link/c/c_code` has no `pytensor_mod_helper.h`")
        self.versions = [_soabi(), f"numpy-c-abi-{_numpy_abi():#x}"]
        self.host_dirs = header_dirs()

    @functools.cached_property
    def cutils(self) -> str:
        """The text of `cutils_ext`, which PyTensor's own function would compile."""
        tree = ast.parse(self._read("cutils.py"))
        functions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "compile_cutils"]
        said: list[tuple[str, str]] = []

        class Compiler:
            compile_args = staticmethod(lambda **_: [])
            compile_str = staticmethod(lambda name, code, **_: said.append((name, code)))

        names = {"errno": errno, "config": SimpleNamespace(compiledir=_Nowhere()), "cmodule": SimpleNamespace(GCC_compiler=Compiler)}
        try:
            exec(compile(ast.Module(functions, []), "cutils.py", "exec"), names)
            names["compile_cutils"]()
        except Exception as error:
            raise Unexpected(f"cannot get the text of `compile_cutils`: {error!r}") from None
        if [name for name, _ in said] != ["cutils_ext"]:
            raise Unexpected("`compile_cutils` does not compile `cutils_ext`")
        return said[0][1]

    @functools.cached_property
    def lazylinker(self) -> tuple[str, float]:
        """The text of `lazylinker_ext`, and its version."""
        tree = ast.parse(self._read("lazylinker_c.py"))
        for node in tree.body:
            match node:
                case ast.Assign(targets=[ast.Name(id="version")], value=ast.Constant(value=float(version))):
                    return self._read("c_code/lazylinker_c.c"), version
        raise Unexpected("`lazylinker_c` has no version")

    @functools.cached_property
    def exceptions(self) -> tuple[str, str]:
        """The text of `exceptions`, and its part that does not import setuptools."""
        text = self._read("exceptions.py")
        for node in ast.parse(text).body:
            match node:
                case ast.ClassDef(name="MissingGXX", bases=[ast.Name(id="Exception")]):
                    return text, ast.unparse(node)
        raise Unexpected("`exceptions` has no `MissingGXX`")

    def _read(self, name: str) -> str:
        try:
            with open(os.path.join(self.folder, name), encoding="utf-8") as file:
                return file.read()
        except OSError as error:
            raise Unexpected(f"cannot read `{name}`: {error}") from None


class _Nowhere:
    """A directory in which every path exists."""

    def __truediv__(self, _: str) -> "_Nowhere":
        return self

    def exists(self) -> bool:
        return True


def _soabi() -> str:
    soabi = sysconfig.get_config_var("SOABI")
    if not soabi:
        raise Unexpected("this Python has no ABI tag (`SOABI`)")
    return soabi


def _numpy_abi() -> int:
    core = getattr(numpy, "_core", None) or numpy.core
    return _take(core.multiarray, "_get_ndarray_c_version")()
