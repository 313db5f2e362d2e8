from collections.abc import Callable, Iterator, Sequence
from os import PathLike
from typing import Any, final, type_check_only

from numpy import ndarray, ufunc as _ufunc

from . import _variable
from ._callback import NativeFunction
from ._function import FunctionMethods
from ._ports import Port

@final
class Function(FunctionMethods):
    """A compiled graph. Call it with NumPy arrays and Python numbers."""

    @property
    def __name__(self) -> str:
        """The name of the function."""
    @property
    def graph(self) -> Graph | None:
        """The graph of a function built in this process; None for a function of a bundle."""
    @property
    def provenance(self) -> tuple[tuple[list[str], str], ...]:
        """Pairs of ops and a description of the module or implementation that computes them."""
    @property
    def inputs(self) -> tuple[Port, ...]:
        """The names and types of the inputs."""
    @property
    def outputs(self) -> tuple[Port, ...]:
        """The names and types of the outputs."""
    @property
    def signature(self) -> str:
        """The inputs and outputs in one line, ``(x: f64[?]) -> (out: f64[])``."""
    @property
    def native(self) -> NativeFunction:
        """The plain C function of a graph of C scalars."""
    def __call__(self, *args: Any, out: ndarray | tuple[ndarray, ...] | None = None, **named: Any) -> Any:
        """Calls the function. Returns a result, or a tuple if there are several."""

@final
class Model:
    """An open bundle. Look up graphs by name: ``model["score"]`` or ``model.score``."""

    @property
    def entries(self) -> tuple[str, ...]:
        """The names of the graphs, sorted."""
    def metadata(self, name: str = "", /) -> dict[str, Any]:
        """What the bundle states about a graph or a function, without a name about itself: `documentation`, `inputs`, `outputs`, `state`, `plan` and `json`."""
    def ufunc(self, name: str, signature: str | None = None, /) -> _ufunc:
        """Creates a NumPy ufunc with a loop for the graph `name` and for each graph ``name.…``; with a signature, a gufunc."""
    def __getitem__(self, name: str, /) -> Function: ...
    def __getattr__(self, name: str, /) -> Function: ...
    def __contains__(self, name: object, /) -> bool: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[str]: ...
    def __copy__(self) -> Model: ...
    def __deepcopy__(self, memo: Any, /) -> Model: ...

def number(value: Any, dtype: str, /) -> ndarray | None: ...
def get_num_threads() -> int:
    """Returns the number of threads that may share the work of a call. The default is 1."""

def set_num_threads(n: int, /) -> None:
    """Sets the number of threads, 1 to 256, that may share the work of a call. Overrides ``PRECAST_THREADS``."""

def set_profiling(directory: str | PathLike[str] | None, /) -> None:
    """Loads modules from files in `directory`, so that profilers show graphs and ops. Overrides ``PRECAST_PROFILING``; ``None`` disables it."""

def misread_threads() -> str | None: ...
def load(path: str | PathLike[str], /, *, keyring: str | PathLike[str] | None = None) -> Model:
    """Opens a bundle file. Functions are verified and loaded on first access. Enough keys of `keyring` or ``$PRECAST_KEYRING`` must have signed it."""

def reopen(path: str | PathLike[str], head_hash: bytes, keyring: str | PathLike[str] | None, /) -> Model: ...

@final
class Unit:
    """An extension module to look up or compile, identified by its sources."""

    def __new__(
        cls,
        *,
        ops: list[str],
        text: str,
        name: str,
        versions: list[str],
        sources: dict[str, str] = ...,
        flags: list[str] = ...,
        removed_flags: list[str] = ...,
        header_dirs: list[str] = ...,
        libraries: list[str] = ...,
        lib_dirs: list[str] = ...,
    ) -> Unit: ...
    @staticmethod
    def of_graph(graph: Graph, versions: list[str], header_dirs: list[str]) -> Unit:
        """Creates a unit from a graph of ops that are written in Python."""
    @property
    def key(self) -> str:
        """The key: a hash of everything that determines the module."""
    @property
    def name(self) -> str:
        """The name of the compiled module."""
    @property
    def signature(self) -> str:
        """The signatures of its ops, in one line."""

@final
@type_check_only
class Found:
    """A file to load a module from. It exists as long as this object, and other processes cannot change it."""

    @property
    def path(self) -> str: ...
    @property
    def layer(self) -> str: ...
    @property
    def isa(self) -> str: ...
    @property
    def digest(self) -> str: ...

@final
class Modules:
    """Layers with extension modules."""

    def __new__(
        cls,
        *,
        bundles: list[str] = ...,
        store: str | PathLike[str] | None = ...,
        levels: list[str] = ...,
        keyring: str | PathLike[str] | None = ...,
    ) -> Modules: ...
    @property
    def layers(self) -> list[str]: ...
    @property
    def events(self) -> list[str]: ...
    def find(self, unit: Unit, *, fresh: bool = False) -> Found | None: ...
    def compile(self, unit: Unit) -> Found: ...
    def explain(self, unit: Unit) -> str: ...
    def collect(self, path: str | PathLike[str], units: list[Unit]) -> int: ...
    @staticmethod
    def no_compiler() -> str | None: ...
    @staticmethod
    def native_level() -> str | None: ...
    @staticmethod
    def user_store() -> PathLike[str] | None: ...

@final
class Graph:
    """A graph with named inputs and outputs."""

    @property
    def inputs(self) -> tuple[Port, ...]:
        """The names and types of the inputs."""
    @property
    def outputs(self) -> tuple[Port, ...]:
        """The names and types of the outputs."""
    def slots(self) -> list[ndarray]:
        """Returns the values of the constants, in the order of a module's slots."""
    def json(self) -> str:
        """Returns the JSON form, which the command line reads."""
    def value_and_grad(self, inputs: Sequence[str]) -> Graph:
        """Returns the graph of the only output, a number, and its gradients by these inputs: ``grad_<input>``."""
    def __copy__(self) -> Graph: ...
    def __deepcopy__(self, memo: Any, /) -> Graph: ...
    def _repr_svg_(self) -> str: ...
    def _repr_html_(self) -> str: ...

@final
class Variable:
    """The native value in a `precast.Variable`."""

    @property
    def type(self) -> str: ...
    @property
    def ndim(self) -> int: ...
    @property
    def extents(self) -> list[int | None]: ...
    @property
    def name(self) -> str | None: ...

def input(name: str, ty: str) -> _variable.Variable: ...
def constant(value: Any) -> _variable.Variable: ...
def call(function: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any: ...
def attribute(name: str, of: Any) -> Any: ...
def index(of: Any, item: Any) -> Any: ...
def names() -> list[str]: ...
def described(name: str) -> tuple[str, str] | None: ...
def member(name: str) -> tuple[str | None, bool]: ...
def members() -> list[str]: ...
def needed(outputs: list[_variable.Variable]) -> list[_variable.Variable]: ...
def graph(inputs: list[Any], outputs: list[tuple[str | None, Any, str | None]]) -> Graph: ...
def parse(inputs: list[str], outputs: list[str]) -> Graph: ...
def compile(graph: Graph, name: str, settings: dict[str, Any]) -> Function: ...
def save(
    path: str | PathLike[str],
    graphs: list[tuple[str, Graph]],
    modules: list[Unit],
    metadata: dict[str, dict[str, Any]],
    levels: list[str],
    store: tuple[str | PathLike[str], bool] | None,
) -> list[str]: ...
def module_of(model: Model, key: str) -> tuple[str, Found]: ...
def explain(graph: Graph, settings: dict[str, Any]) -> tuple[bool, str]: ...
def apply(
    told: dict[str, Any],
    args: Sequence[Any],
    props: list[tuple[str, Any]],
    param_types: list[tuple[str, Any]],
    files: dict[str, Any] | None,
    perform: Callable[[list[ndarray]], list[Any]] | None,
) -> Any: ...
def register_type(
    told: dict[str, Any],
    filter: Callable[..., Any] | None,
    values_eq_approx: Callable[[Any, Any], Any] | None,
) -> None: ...
def ufunc(name: str, functions: list[Function], signature: str | None = None, leave: bool = False) -> _ufunc: ...
def core_ranks(signature: str) -> set[int]: ...
def capsule(function: Function, fixed: dict[str, Any]) -> Any: ...
def held(name: str, ranks: list[int], settings: dict[str, Any]) -> list[Function]: ...
def user_store() -> PathLike[str] | None: ...
def command_line(arguments: list[str]) -> int: ...
def xla_function(function: Function) -> int: ...
def xla_handler() -> Any: ...
