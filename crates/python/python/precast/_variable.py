"""Variables of graphs, with NumPy's operators, methods and functions."""

from __future__ import annotations

import ast
import inspect
from typing import TYPE_CHECKING, Any

from . import _native, _protocols
from ._protocols import call
from ._types import Type
from .errors import GraphTypeError

#: Python's operators, and the library functions that they call.
_OPERATORS = {
    "add": "add",
    "sub": "sub",
    "mul": "mul",
    "truediv": "div",
    "floordiv": "floor_div",
    "mod": "mod",
    "pow": "pow",
    "matmul": "matmul",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "lshift": "left_shift",
    "rshift": "right_shift",
}
_COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
_UNARY = {"neg": "neg", "abs": "abs", "invert": "invert"}



class Variable:
    """An input of a graph, or a value that is computed from inputs."""

    __slots__ = ("__weakref__", "_name", "_node", "_rows")

    #: Makes NumPy arrays leave operators to this class.
    __array_priority__ = 1000.0

    def __init__(self, node: _native.Variable, name: str | None = None, rows: int | None = None) -> None:
        self._node = node
        self._name = name
        #: The number of rows, where the type does not state it.
        self._rows = rows

    @property
    def name(self) -> str | None:
        """The name that was set, or else the name of the input."""
        return self._name or self._node.name

    @name.setter
    def name(self, name: str | None) -> None:
        self._name = name

    @property
    def type(self) -> Type:
        """The type, such as ``f64[?]``."""
        return Type(self._node.type)

    def __getitem__(self, item: Any) -> Any:
        return _native.index(self, item)

    def set(self, values: Any) -> Variable:
        """Returns a copy of the indexed array, with this part set to `values`: ``x[1:].set(0)``."""
        return call("set_subtensor", self, values)

    def inc(self, values: Any) -> Variable:
        """Returns a copy of the indexed array, with `values` added to this part."""
        return call("inc_subtensor", self, values)

    def __len__(self) -> int:
        rows = self._count()
        if rows is None:
            raise GraphTypeError(f"the length of `{self.type}` is not known when the graph is built\nhint: use `x.shape[0]`")
        return rows

    def _count(self) -> int | None:
        extents = self._node.extents
        return self._rows if not extents or extents[0] is None else extents[0]

    def __iter__(self) -> Any:
        # A generator function, because NumPy hides an error of `iter` itself.
        rows = self._count()
        if rows is None:
            hint = "hint: `precast.concatenate(x)`, `stack`, `hstack` and `vstack` accept any number of rows"
            raise GraphTypeError(f"cannot iterate over `{self.type}`: the number of rows is not known when the graph is built\n{hint}")
        for row in range(rows):
            yield self[row]

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_"):
            method, is_attribute = _native.member(name)
            if method is not None:
                return _Function(method, self)
            if is_attribute:
                return _native.attribute(name, self)
        raise AttributeError(f"`{self.type}` has no attribute `{name}`")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *_native.members()]

    def __bool__(self) -> bool:
        raise GraphTypeError(
            f"the truth value of `{self.type}` is not known when the graph is built\nhint: use `precast.where(condition, x, y)`"
        )

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise GraphTypeError(f"`{self.type}` has no values when the graph is built\nhint: call a function, `precast.function(…)`")

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **keywords: Any) -> Any:
        return _protocols.ufunc(ufunc, method, args, keywords)

    def __array_function__(self, function: Any, _: Any, args: Any, keywords: Any) -> Any:
        return _protocols.function(function, args, dict(keywords))

    def __pos__(self) -> Variable:
        return self

    def __divmod__(self, other: Any) -> tuple[Any, Any]:
        return self // other, self % other

    def __hash__(self) -> int:
        return id(self)

    if TYPE_CHECKING:
        # Declarations of the generated operators, for type checkers.
        def __add__(self, other: Any) -> Variable: ...

        __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __floordiv__ = __add__
        __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __matmul__ = __rmatmul__ = __and__ = __add__
        __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __lshift__ = __rlshift__ = __rshift__ = __add__
        __rrshift__ = __add__
        __lt__ = __le__ = __gt__ = __ge__ = __add__

        def __eq__(self, other: Any) -> Variable: ...  # type: ignore[override]

        def __ne__(self, other: Any) -> Variable: ...  # type: ignore[override]

        def __neg__(self) -> Variable: ...

        __abs__ = __invert__ = __neg__

    def __repr__(self) -> str:
        return f"<precast.Variable {self.name}: {self.type}>" if self.name else f"<precast.Variable {self.type}>"

    def _repr_svg_(self) -> str:
        return self._graph()._repr_svg_()

    def _graph(self) -> _native.Graph:
        from ._build import graph_of

        return graph_of(self)


class _Function:
    """A function of the library, or a method of a variable."""

    def __init__(self, name: str, *first: Any) -> None:
        self.__name__ = self.__qualname__ = name
        self._first = first
        signature, help = _native.described(name) or (f"{name}(…)", "")
        self.__doc__ = f"{signature}\n\n{help}"

    @property
    def __signature__(self) -> inspect.Signature:
        signature = _signature(self.__doc__ or "")
        return signature.replace(parameters=[*signature.parameters.values()][len(self._first) :])

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return _protocols.invoke(self.__name__, self._first + args, keywords)

    def __repr__(self) -> str:
        return f"<precast function {self.__doc__.splitlines()[0]}>"


def _signature(shown: str) -> inspect.Signature:
    """Parses the signature in the first line of a help text."""
    head = shown.partition("\n")[0]
    try:
        arguments = ast.parse(f"def function{head[head.index('(') :]}: ...").body[0].args  # type: ignore[attr-defined]
    except (SyntaxError, ValueError):
        raise AttributeError("unknown signature") from None

    def default(node: Any) -> Any:
        try:
            return ast.literal_eval(node)
        except ValueError:
            return ast.unparse(node)

    plain = [inspect.Parameter(arg.arg, inspect.Parameter.POSITIONAL_OR_KEYWORD) for arg in arguments.args]
    for place, value in enumerate(reversed(arguments.defaults), 1):
        plain[-place] = plain[-place].replace(default=default(value))
    several = [inspect.Parameter(arguments.vararg.arg, inspect.Parameter.VAR_POSITIONAL)] if arguments.vararg else []
    named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    named = [inspect.Parameter(arg.arg, inspect.Parameter.KEYWORD_ONLY, default=default(value)) for arg, value in named]
    return inspect.Signature([*plain, *several, *named])


def _operator(function: str, name: str) -> None:
    def forward(self: Any, other: Any) -> Any:
        return call(function, self, other)

    def reflected(self: Any, other: Any) -> Any:
        return call(function, other, self)

    setattr(Variable, f"__{name}__", forward)
    if name not in _COMPARISONS:
        setattr(Variable, f"__r{name}__", reflected)


def _unary(function: str, name: str) -> None:
    setattr(Variable, f"__{name}__", lambda self: call(function, self))


for _name, _function in _OPERATORS.items():
    _operator(_function, _name)
for _name in _COMPARISONS:
    _operator(_name, _name)
for _name, _function in _UNARY.items():
    _unary(_function, _name)
