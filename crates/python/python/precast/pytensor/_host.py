"""All of PyTensor that we hold on to, looked up in one place: what is not as expected is an `Unexpected`, never a guess."""

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

# Versions that the tests have run under. Others are used as well if they have all that is looked up here: without a word where a
# release of the same series was tested, since what is looked up is what a patch release could break.
TESTED = ("2.38.3", "3.0.7", "3.3.7", "3.3.8")


def is_of_tested_series(version: str) -> bool:
    """Whether a release of the same series was tested: one that differs in the last number alone."""
    return series(version) in [series(tested) for tested in TESTED]


def series(version: str) -> list[str]:
    """The first two numbers of a version."""
    return version.split(".")[:2]


class Unexpected(Exception):
    """PyTensor has not what we hold on to."""


def _take(owner: Any, name: str, *parameters: str) -> Any:
    """An attribute; if it is a function, one that has these parameters."""
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
            raise Unexpected(f"`{where}.{name}` is no function") from None
        missing = [parameter for parameter in parameters if parameter not in has]
        if missing:
            raise Unexpected(f"`{where}.{name}` has no parameter `{missing[0]}`")
    return found


class _Early(importlib.abc.MetaPathFinder):
    """Names the compiler as soon as PyTensor has a configuration: it would start one to find out, and do without C for good."""

    # Whether it was so when PyTensor was imported: its linkers then have C.
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
        """Waits for the parameter: what other parameters may be depends on it."""
        stock = parser.add

        def add(config: Any, name: str, doc: str, parameter: Any, *rest: Any, **named: Any) -> None:
            if name == "linker" and _Early.named and isinstance(getattr(parameter, "all", None), set):
                # PyTensor 2 leaves out those with C where it finds no compiler.
                parameter.all.update(("c", "cvm", "cvm_nogc", "c|py", "c|py_nogc"))
            stock(config, name, doc, parameter, *rest, **named)
            if name == "cxx":
                _Early.named = _name_compiler(config)

        parser.add = add
        self.undo = lambda: setattr(parser, "add", stock)


def _name_compiler(config: Any) -> bool:
    """Says which compiler there is, or would be; `False` if the user says it."""
    if is_said(config, "cxx"):
        return False
    config.cxx = shutil.which("g++") or "g++"
    return True


def is_said(config: Any, name: str) -> bool:
    """Whether the user says what a parameter is; nothing is computed for that."""
    parameter = config._config_var_dict[name]
    if "val" in parameter.__dict__:
        return not parameter.is_default
    try:
        config.fetch_val_for_key(name)
    except KeyError:
        return False
    return True


class Host:
    """PyTensor as it is installed here."""

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
                raise Unexpected("`config.cxx` is empty: its user wants no C")
            # Its linkers were made then, and are without C.
            raise Unexpected("it was imported before, and found no compiler: import precast.pytensor first")
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
        # PyTensor's `std_include_dirs` would import setuptools to find these and those of the host.
        self.own_dir = os.path.realpath(os.path.join(self.folder, "c_code"))
        if not os.path.isfile(os.path.join(self.own_dir, "pytensor_mod_helper.h")):
            raise Unexpected("its `link/c/c_code` has no `pytensor_mod_helper.h`")
        self.versions = [_soabi(), f"numpy-c-abi-{_numpy_abi():#x}"]
        self.host_dirs = header_dirs()

    @functools.cached_property
    def cutils(self) -> str:
        """The text of `cutils_ext`: what PyTensor's own function would have compiled."""
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
            raise Unexpected(f"`compile_cutils` cannot be asked for its text: {error!r}") from None
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
        raise Unexpected("`lazylinker_c` states no version")

    @functools.cached_property
    def exceptions(self) -> tuple[str, str]:
        """The text of `exceptions`, and the part of it that needs no compiler's library."""
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
    """A directory in which everything is there."""

    def __truediv__(self, _: str) -> "_Nowhere":
        return self

    def exists(self) -> bool:
        return True


def _soabi() -> str:
    soabi = sysconfig.get_config_var("SOABI")
    if not soabi:
        raise Unexpected("this Python does not name its ABI (`SOABI`)")
    return soabi


def _numpy_abi() -> int:
    core = getattr(numpy, "_core", None) or numpy.core
    return _take(core.multiarray, "_get_ndarray_c_version")()
