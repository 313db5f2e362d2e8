"""The walk over a jaxpr, and the interface for the rules of its primitives."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy
from jax import dtypes
from jax.extend.core import Literal
from jax.extend.source_info_util import register_exclusion, summarize

from ... import _native
from ..._front.refusals import Refusal, Refused
from ..._front.rules import declare
from ..._front.values import cast, constant
from ..._types import TensorType, dtype_name
from ..._variable import Variable, call
from ...errors import GraphError
from . import reasons

# Source lines are those of the user, not of this package.
register_exclusion(str(Path(__file__).parents[2]))

#: An extent: a number, or a variable that computes it.
Extent = int | Variable

#: Converts an equation to variables of precast. The arguments are the walk, the equation and its inputs.
Rule = Callable[..., Any]

#: The rules of primitives whose inputs and outputs have one shape. Inputs may be spread.
_ELEMENTWISE: dict[str, Rule] = {}
#: The rules of primitives that pass values on, which may be spread.
_CALLS: dict[str, Rule] = {}
#: The rules of other primitives. All inputs are arrays or variables.
_RULES: dict[str, Rule] = {}

_TABLES = {"elementwise": _ELEMENTWISE, "call": _CALLS, "array": _RULES}

#: Primitives that move random keys, whose arrays have an additional axis. Calls pass them on.
_OF_KEYS = frozenset(
    (
        "concatenate dynamic_slice dynamic_update_slice expand_dims gather random_bits random_fold_in random_seed random_split reshape rev "
        "select_n slice split squeeze stack transpose unstack"
    ).split()
)

#: The largest number of elements that are computed when a graph is built.
MAX_KNOWN = 1 << 12


class Spread(NamedTuple):
    """A value that is broadcast to a shape. Elementwise functions use the base: it has no dimensions, or extents of 1."""

    base: Any
    shape: tuple[Any, ...]


def rule(*names: str, of: str = "array") -> Callable[[Rule], Rule]:
    """Declares the rule of primitives by name."""
    return declare(_TABLES[of], *names)


def rules() -> frozenset[str]:
    """Returns the names of the primitives with rules."""
    return frozenset().union(*_TABLES.values())


class Lowering:
    """Lowers jaxprs to variables of precast.

    A value is a variable, a `Spread`, or an array of NumPy, which is known when the graph is built.
    """

    def __init__(self, symbols: Mapping[str, Variable]) -> None:
        self.refusals: list[Refusal] = []
        #: The extents with names.
        self._symbols = dict(symbols)
        #: The source lines of the calls that contain the current equation. Jaxprs of JAX's own functions have no line of the user.
        self._lines: list[str] = []

    def closed(self, closed: Any, values: Sequence[Any]) -> list[Any]:
        """Returns the results of a closed jaxpr."""
        return self.graph(closed.jaxpr, closed.consts, values)

    def graph(self, jaxpr: Any, consts: Sequence[Any], values: Sequence[Any]) -> list[Any]:
        """Returns the results of a jaxpr with values for its constants and inputs."""
        known: dict[Any, Any] = {}
        given = [array(each) for each in consts]
        known.update(zip(jaxpr.constvars, given, strict=True))
        known.update(zip(jaxpr.invars, values, strict=True))

        def read(atom: Any) -> Any:
            return numpy.asarray(atom.val, atom.aval.dtype) if isinstance(atom, Literal) else known[atom]

        for eqn in jaxpr.eqns:
            known.update(zip(eqn.outvars, self.apply(eqn, [read(atom) for atom in eqn.invars]), strict=True))
        return [read(atom) for atom in jaxpr.outvars]

    def apply(self, eqn: Any, values: list[Any]) -> list[Any]:
        """Lowers an equation. If it cannot be lowered, notes the reason and returns placeholders."""
        self._lines.append(summarize(eqn.source_info))
        try:
            return self._noted(eqn, values)
        finally:
            self._lines.pop()

    def _noted(self, eqn: Any, values: list[Any]) -> list[Any]:
        try:
            for atom in [*eqn.invars, *eqn.outvars]:
                check_dtype(atom.aval)
            return self._apply(eqn, values)
        except (Refused, GraphError) as refused:
            reason = str(refused)
        except NotImplementedError as error:
            reason = f"JAX cannot trace it: {error}"
        refusal = Refusal(eqn.primitive.name, reason, next(filter(None, reversed(self._lines)), ""))
        # The functions of loops are lowered more than once.
        if refusal not in self.refusals:
            self.refusals.append(refusal)
        return [placeholder(each.aval) for each in eqn.outvars]

    def _apply(self, eqn: Any, values: list[Any]) -> list[Any]:
        name = eqn.primitive.name
        if name not in _CALLS and name not in _OF_KEYS and any(is_key(atom.aval) for atom in [*eqn.invars, *eqn.outvars]):
            raise Refused("it is not supported for random keys")
        if name in _CALLS:
            made = _CALLS[name](self, eqn, *values)
        elif name in _ELEMENTWISE:
            return [self._elementwise(eqn, values)]
        elif name in _RULES:
            made = _RULES[name](self, eqn, *(self.whole(value) for value in values))
        else:
            raise Refused(reasons.of(name))
        results = made if isinstance(made, (list, tuple)) and not isinstance(made, Spread) else [made]
        return [typed(each, outvar.aval) for each, outvar in zip(results, eqn.outvars, strict=True)]

    def _elementwise(self, eqn: Any, values: list[Any]) -> Any:
        """Applies an elementwise rule to the bases of spread values, and spreads the result if they all are."""
        aval = eqn.outvars[0].aval
        bases = [value.base if isinstance(value, Spread) else value for value in values]
        made = typed(_ELEMENTWISE[eqn.primitive.name](self, eqn, *bases), aval)
        is_full = not aval.shape or any(
            not isinstance(value, Spread) and atom.aval.shape == aval.shape for atom, value in zip(eqn.invars, values, strict=True)
        )
        return made if is_full else Spread(made, aval.shape)

    def whole(self, value: Any) -> Any:
        """Returns a value with all of its elements: a variable, or an array of NumPy."""
        if not isinstance(value, Spread):
            return value
        if isinstance(value.base, numpy.ndarray) and all(isinstance(extent, int) for extent in value.shape):
            if numpy.prod(value.shape, dtype=float) <= MAX_KNOWN:
                return numpy.broadcast_to(value.base, value.shape)
        return call("broadcast_to", variable(value.base), self.extents(value.shape))

    def variable(self, value: Any) -> Variable:
        """Returns a value as a variable with all of its elements."""
        return variable(self.whole(value))

    def extents(self, shape: Sequence[Any]) -> tuple[Extent, ...]:
        """Returns the extents of a shape, whose elements may be expressions of symbols."""
        return tuple(self.extent(each) for each in shape)

    def shape(self, aval: Any) -> tuple[Extent, ...]:
        """Returns the extents of arrays of a type. A key has two words in an additional last axis."""
        return self.extents(aval.shape) + ((2,) if is_key(aval) else ())

    def extent(self, of: Any) -> Extent:
        """Returns an extent: a number, or the value of an expression such as ``2*n + 1``."""
        if not is_symbolic(of):
            return int(of)
        return self._expression(ast.parse(str(of).replace("^", "**"), mode="eval").body)

    def _expression(self, node: ast.expr) -> Extent:
        """Returns the value of an expression of extents, in JAX's syntax."""
        if isinstance(node, ast.Constant):
            return int(node.value)
        if isinstance(node, ast.Name) and node.id in self._symbols:
            return self._symbols[node.id]
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -self._expression(node.operand)
        if isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
            return call(_ARITHMETIC[type(node.op)], self._expression(node.left), self._expression(node.right))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS:
            return call(_FUNCTIONS[node.func.id], *(self._expression(each) for each in node.args))
        raise Refused(f"the extent `{ast.unparse(node)}` is not an expression of the extents of inputs")


#: The functions of expressions of extents.
_ARITHMETIC = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Pow: "pow"}
_FUNCTIONS = {"floordiv": "floor_div", "mod": "mod", "max": "maximum", "min": "minimum"}


def is_symbolic(extent: Any) -> bool:
    """Returns whether an extent is an expression of symbols."""
    return not isinstance(extent, (int, numpy.integer))


def numbers(shape: Sequence[Any], what: str = "its shape") -> tuple[int, ...]:
    """Returns the extents of a shape that must be known."""
    if any(is_symbolic(extent) for extent in shape):
        raise Refused(f"{what} has extents that are known only when the graph runs")
    return tuple(int(extent) for extent in shape)


def is_key(aval: Any) -> bool:
    """Returns whether values of a type are random keys."""
    return dtypes.issubdtype(aval.dtype, dtypes.prng_key)


def dtype_of(aval: Any) -> numpy.dtype[Any]:
    """Returns the dtype of the arrays that stand for values of a type."""
    return numpy.dtype("uint32") if is_key(aval) else numpy.dtype(aval.dtype)


def check_dtype(aval: Any) -> None:
    """Raises `Refused` unless values of a type are arrays of a supported dtype."""
    if not hasattr(aval, "dtype") or not hasattr(aval, "shape"):
        raise Refused(f"values of `{aval}` are not arrays")
    if is_key(aval):
        if str(aval.dtype) != "key<fry>":
            raise Refused(f"precast draws with keys of the implementation `threefry2x32`, not with `{aval.dtype}`")
        return
    try:
        dtype_name(numpy.dtype(aval.dtype))
    except TypeError:
        raise Refused(f"unsupported dtype `{aval.dtype}`") from None


def type_text(aval: Any, extents: Sequence[str]) -> str:
    """Returns the type text of precast for arrays of a type."""
    return f"{dtype_name(dtype_of(aval))}[{','.join(extents)}]"


def array(value: Any) -> Any:
    """Returns a constant of a jaxpr as an array of NumPy. Keys become their words."""
    if hasattr(value, "dtype") and dtypes.issubdtype(value.dtype, dtypes.prng_key):
        from jax.random import key_data

        value = key_data(value)
    return numpy.asarray(value)


def variable(value: Any) -> Variable:
    """Returns a value that is not spread as a variable."""
    return value if isinstance(value, Variable) else constant(value, value.dtype)


def is_known(*values: Any) -> bool:
    """Returns whether values are arrays of NumPy."""
    return all(isinstance(value, numpy.ndarray) for value in values)


def typed(value: Any, aval: Any) -> Any:
    """Returns a value with the dtype of a type."""
    dtype = dtype_of(aval)
    if isinstance(value, Spread):
        return Spread(typed(value.base, aval), value.shape)
    return cast(value, dtype) if isinstance(value, Variable) else numpy.asarray(value).astype(dtype, copy=False)


def placeholder(aval: Any) -> Any:
    """Returns a placeholder for a value that cannot be lowered, so that the walk can continue."""
    if not hasattr(aval, "shape"):
        return None
    try:
        dtype, more = dtype_of(aval), [2] if is_key(aval) else []
        return _native.input("unknown", str(TensorType(dtype, [None if is_symbolic(n) else n for n in aval.shape] + more)))
    except TypeError:
        return None
