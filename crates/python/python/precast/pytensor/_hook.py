"""Installs precast's cache in PyTensor, and removes it again.

==================================== ====================================================================================
``CLinker.cthunk_factory``           calls precast's cache, and skips PyTensor's key, which would start the compiler
``link.c.basic.get_module_cache``    returns precast's cache, so ``compiledir`` is never used
``link.c.cutils``, ``lazylinker_c``  loaded by precast's import finder, see `_own`
``GCC_compiler.march_flags``         empty: precast selects the ISA level without probing the CPU
``config.cxx``                       set before PyTensor searches for a compiler, see `_host`; the compiler is not started
``config.blas__ldflags``             empty unless the user sets it: PyTensor would test libraries with the compiler
``config.linker``                    ``cvm`` unless the user sets it
==================================== ====================================================================================
"""

import os
import sys
import threading
from collections.abc import Callable, Iterable
from typing import Any

from .. import _environment, errors
from .._native import Modules
from ._cache import Cache, log
from ._host import TESTED, Host, Unexpected, is_of_tested_series, is_said
from ._own import Finder

_lock = threading.RLock()
_installed: "Hook | None" = None

_Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


def installed() -> bool:
    """Returns whether PyTensor's linkers use precast."""
    return _installed is not None


def current() -> "Hook":
    """Returns the hook, and installs it if necessary."""
    if _installed is None and not install():
        raise errors.PrecastError("cannot install precast in PyTensor; the log states the reason")
    assert _installed is not None
    return _installed


def install(
    bundle: _Paths | None = None,
    *,
    policy: str | None = None,
    store: str | os.PathLike[str] | None = None,
    isa: str | Iterable[str] | None = None,
    keyring: str | os.PathLike[str] | None = None,
) -> bool:
    """Makes PyTensor's C linkers use precast. Unset arguments are read from the environment.

    A second call replaces the previous settings. Returns `False` and logs a warning if this version of PyTensor is not supported; it
    then runs without precast. With the policy `strict`, that is an error.
    """
    global _installed
    policy = _environment.policy_of(policy)
    with _lock:
        store = None if store is None else os.fspath(store)
        modules = _environment.modules(policy, _list(bundle), store, _list(isa), keyring)
        uninstall()
        try:
            host = Host()
            hook = Hook(host, modules, policy)
        except (Unexpected, ImportError) as why:
            reason = f"PyTensor runs without precast: {why}"
            if policy == "strict":
                raise errors.PrecastError(f"{reason}\nhint: tested with PyTensor {', '.join(TESTED)}") from None
            log.warning("%s", reason)
            return False
        if not is_of_tested_series(host.version):
            log.warning("precast is not tested with PyTensor %s, only with %s", host.version, ", ".join(TESTED))
        hook.enter()
        _installed = hook
        return True


def uninstall() -> None:
    """Removes precast from PyTensor. Compiled functions do not change."""
    global _installed
    with _lock:
        hook, _installed = _installed, None
        if hook is not None:
            hook.leave()


def stats() -> dict[str, Any]:
    """Returns the numbers of modules that were requested, served, missed and compiled in this process since `install`."""
    if _installed is None:
        return {"installed": False}
    cache, host = _installed.cache, _installed.cache.host
    counts = {name: cache.counts[name] for name in ("asked", "in_process", "served", "missed", "compiled")}
    return {
        "installed": True,
        "pytensor": host.version,
        "tested": host.version in TESTED,
        "policy": cache.policy,
        "layers": cache.modules.layers,
        **counts,
        "by_layer": dict(cache.layers),
        "aside": list(cache.aside),
        "events": cache.modules.events,
    }


class Hook:
    """The installed changes, with the original values."""

    def __init__(self, host: Host, modules: Modules, policy: str) -> None:
        self.cache = Cache(host, modules, policy, host.basic.get_module_cache)
        self.finder = Finder(self.cache)
        self.undo: list[Callable[[], None]] = []

    def enter(self) -> None:
        cache, host = self.cache, self.cache.host
        self._put(host.basic, "get_module_cache", lambda init_args=None: cache)
        self._put(host.CLinker, "cthunk_factory", _asking(cache, host.CLinker.cthunk_factory))
        self._put(host.Compiler, "march_flags", [])
        if host.named_compiler:
            self.undo.append(lambda: host.config._config_var_dict["cxx"].__dict__.pop("val", None))
        if not is_said(host.config, "blas__ldflags"):
            self._configure("blas__ldflags", "")
        if not is_said(host.config, "linker") and host.config.linker != "cvm":
            before = host.config.linker
            self._configure("linker", "cvm")
            log.warning("PyTensor's linker is set to `cvm`, because the default `%s` generates no C. hint: set `linker` yourself", before)
        sys.meta_path.insert(0, self.finder)
        # The import registers the mode `PRECAST`.
        from . import _linker as _linker

        self.undo.append(lambda: sys.meta_path.remove(self.finder))
        # If the module was imported before without its C part, import it again.
        if not hasattr(sys.modules.get("pytensor.link.c.cvm"), "CVM"):
            sys.modules.pop("pytensor.link.c.cvm", None)

    def leave(self) -> None:
        while self.undo:
            self.undo.pop()()

    def _put(self, owner: Any, name: str, value: Any) -> None:
        before = owner.__dict__[name]
        setattr(owner, name, value)
        self.undo.append(lambda: setattr(owner, name, before))

    def _configure(self, name: str, value: str) -> None:
        config = self.cache.host.config
        parameter = config._config_var_dict[name]
        before = parameter.__dict__.get("val")
        setattr(config, name, value)

        def undo() -> None:
            if before is None:
                del parameter.val
            else:
                setattr(config, name, before)

        self.undo.append(undo)


def _asking(cache: Cache, stock: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a `CLinker.cthunk_factory` that uses precast's cache."""

    def cthunk_factory(
        self: Any, error_storage: Any, in_storage: Any, out_storage: Any, storage_map: Any = None, cache: Any = cache
    ) -> Any:
        # Only for this linker, until it has its module.
        self.cmodule_key = lambda: ("precast",)
        try:
            return stock(self, error_storage, in_storage, out_storage, storage_map, cache)
        finally:
            self.__dict__.pop("cmodule_key", None)

    return cthunk_factory


def _list(given: Any) -> list[str] | None:
    if given is None:
        return None
    given = [given] if isinstance(given, (str, os.PathLike)) else list(given)
    return [os.fspath(item) for item in given]
