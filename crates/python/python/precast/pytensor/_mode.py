"""A mode for functions that are only frozen."""

from __future__ import annotations

from typing import Any

from pytensor.compile.mode import Mode
from pytensor.graph.rewriting.db import RewriteDatabaseQuery
from pytensor.link.basic import Container, PerformLinker
from pytensor.link.utils import map_storage

from ..errors import GraphTypeError


class _NoCode(PerformLinker):
    """A linker without code: no op is compiled, and no function can be called."""

    def make_all(self, input_storage: Any = None, output_storage: Any = None, storage_map: Any = None) -> Any:
        fgraph: Any = self.fgraph
        order = self.schedule(fgraph)
        inputs, outputs, storage = map_storage(fgraph, order, input_storage, output_storage, storage_map)

        def refuse() -> None:
            raise GraphTypeError("a function of mode `FREEZE` cannot be called\nhint: call `freeze(fn).function()`")

        refuse.allow_gc, refuse.storage_map = self.allow_gc, storage  # type: ignore[attr-defined]
        held = [Container(*pair) for pair in zip(fgraph.inputs, inputs, strict=True)]
        given = [Container(*pair, readonly=True) for pair in zip(fgraph.outputs, outputs, strict=True)]
        return refuse, held, given, [], order


#: A mode for functions that are only frozen. PyTensor rewrites the graph and compiles nothing; precast fuses and reuses memory itself.
FREEZE = Mode(
    linker=_NoCode(),
    optimizer=RewriteDatabaseQuery(include=["fast_run"], exclude=["cxx_only", "BlasOpt", "fusion", "inplace"]),
)
