"""The modules of this process. Each is found in layers or compiled, loaded once, and counted."""

import logging
import os
import threading
from collections import Counter
from types import ModuleType
from typing import Any

from .. import _recording, errors
from .._cpython import load
from .._native import Modules, Unit
from . import _state
from ._host import Host
from ._unit import Generated, Refused, of_linker, of_text

log = logging.getLogger("precast.pytensor")

# The maximum number of linker states in the cache.
_MOST = 1024


# Held while a module is loaded, but not while one is compiled.
_loading = threading.RLock()


def _forked() -> None:
    global _loading
    # The thread that held the lock does not exist in the child.
    _loading = threading.RLock()


os.register_at_fork(after_in_child=_forked)


class Uncompiled(NotImplementedError):
    """No module exists, so PyTensor must compute the op in Python."""


class Cache:
    """The replacement for PyTensor's `ModuleCache`, which its linkers call."""

    def __init__(self, host: Host, modules: Modules, policy: str, stock: Any) -> None:
        self.host, self.modules, self.policy, self.stock = host, modules, policy, stock
        self.loaded: dict[str, ModuleType] = {}
        # The keys of linkers' units, by the states that determine their texts.
        self.generated: dict[Any, str] = {}
        self.counts: Counter[str] = Counter()
        self.layers: Counter[str] = Counter()
        self.aside: list[tuple[str, str]] = []

    # Methods that PyTensor calls.

    def module_from_key(self, key: Any, lnk: Any) -> ModuleType:
        """Returns the module of a linker's graph. Ignores `key`, because different texts may have the same key."""
        state = _state.of_linker(self.host, lnk)
        module = self.loaded.get(self.generated.get(state, ""))
        if module is not None and not _recording.active:
            self.counts.update(("asked", "in_process"))
            return module
        try:
            generated = of_linker(self.host, lnk)
            if state is not None:
                if len(self.generated) >= _MOST:
                    self.generated.clear()
                self.generated[state] = generated.unit.key
            return self.serve(generated)
        except (Refused, errors.CompileError) as refused:
            why = str(refused)
        return self._step_aside(lnk, why)

    def refresh(self, *_: Any, **__: Any) -> list[str]:
        """Does nothing: a store needs no preparation."""
        return []

    # Methods that precast calls.

    def serve(self, generated: Generated) -> ModuleType:
        """Returns the loaded module of generated code."""
        module = self._serve(generated.unit)
        for recording in list(_recording.active):
            recording.unit(generated.unit.key, generated.arguments)
        return module

    def _serve(self, unit: Unit) -> ModuleType:
        self.counts["asked"] += 1
        module = self.loaded.get(unit.key)
        if module is not None:
            self.counts["in_process"] += 1
            return module
        found = self.modules.find(unit, fresh=self.policy == "jit")
        if found is None:
            self.counts["missed"] += 1
            found = self._missed(unit)
        else:
            self.counts["served"] += 1
        self.layers[found.layer] += 1
        with _loading:
            module = self.loaded.get(unit.key)
            if module is None:
                module = load(unit.name, found.path)
                self.loaded[unit.key] = module
        return module

    def _missed(self, unit: Unit) -> Any:
        if self.policy == "jit":
            found = self.modules.compile(unit)
            self.counts["compiled"] += 1
            return found
        reason = f"miss: `{unit.signature}`; {self.modules.explain(unit)}"
        if self.policy == "interpret":
            raise Uncompiled(reason)
        layers = ", ".join(self.modules.layers) or "none; name a bundle in `PRECAST_BUNDLE`"
        raise errors.MissError(
            f"{reason}\nlayers: {layers}\nhint: record the program again: `python -m precast record -o model.bundle script.py`"
        )

    def _step_aside(self, linker: Any, why: str) -> ModuleType:
        """Lets PyTensor compile a module itself."""
        op = ", ".join(str(node.op) for node in linker.node_order)
        if self.policy == "strict":
            raise errors.MissError(f"`{op}` cannot be served: {why}")
        if self.policy == "interpret":
            raise Uncompiled(why)
        log.warning("PyTensor compiles `%s` itself: %s", op, why)
        self.aside.append((op, why))
        for recording in list(_recording.active):
            recording.aside(op, why)
        linker.__dict__.pop("cmodule_key", None)
        try:
            key = linker.cmodule_key()
        except KeyError:
            key = None
        return linker.compile_cmodule() if key is None else self.stock().module_from_key(key=key, lnk=linker)

    def cutils(self) -> Generated:
        """Returns PyTensor's module that calls compiled ops."""
        return of_text(self.host, "cutils_ext", self.host.cutils)

    def lazylinker(self) -> Generated:
        """Returns PyTensor's virtual machine."""
        return of_text(self.host, "lazylinker_ext", self.host.lazylinker[0])
