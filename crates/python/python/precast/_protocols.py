"""NumPy functions on variables whose arguments differ from the library functions of the same names."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from . import _native
from .errors import GraphTypeError, GraphValueError

#: The library functions for `ufunc.reduce` and `ufunc.accumulate`.
_REDUCTIONS = {
    "add": "sum",
    "multiply": "prod",
    "maximum": "max",
    "minimum": "min",
    "logical_and": "all",
    "logical_or": "any",
}
_ACCUMULATIONS = {"add": "cumsum", "multiply": "cumprod"}

#: Default values of ufunc settings, which are dropped.
_USUAL = {"casting": "same_kind", "order": "K", "subok": True, "signature": None, "where": True, "out": None, "dtype": None}

_MISSING = object()

#: The value of excluded elements in a reduction, and the function that combines `initial` with the result.
_IDENTITIES = {"sum": 0, "prod": 1, "any": False, "all": True, "max": None, "min": None}
_JOINS = {"sum": "add", "prod": "mul", "any": "logical_or", "all": "logical_and", "max": "maximum", "min": "minimum"}
_REDUCTION_NAMES = {"amax": "max", "amin": "min"}

#: Functions with named results, as in NumPy and the array API standard.
_RESULTS = {
    "eig": namedtuple("EigResult", "eigenvalues eigenvectors"),
    "eigh": namedtuple("EighResult", "eigenvalues eigenvectors"),
    "qr": namedtuple("QRResult", "Q R"),
    "svd": namedtuple("SVDResult", "U S Vh"),
    "slogdet": namedtuple("SlogdetResult", "sign logabsdet"),
    "unique_all": namedtuple("UniqueAllResult", "values indices inverse_indices counts"),
    "unique_counts": namedtuple("UniqueCountsResult", "values counts"),
    "unique_inverse": namedtuple("UniqueInverseResult", "values inverse_indices"),
}

#: Functions that graphs do not support, with the reasons.
_REFUSED = {
    **dict.fromkeys(
        ["eig", "eigvals", "tensorinv", "tensorsolve", "multi_dot"],
        "the library has no such function of matrices\nhint: write your own op, `precast.COp`",
    ),
    **dict.fromkeys(
        ["copyto", "put", "place", "putmask", "fill_diagonal", "put_along_axis"],
        "it modifies its argument, but values in a graph are immutable\nhint: `x[…].set(values)` returns a new array",
    ),
    **dict.fromkeys(
        ["apply_along_axis", "apply_over_axes", "piecewise"],
        "it calls a Python function with values, but a graph has no values before it runs",
    ),
}


def call(name: str, *args: Any, **keywords: Any) -> Any:
    """Calls a function of the library by its name."""
    return _native.call(name, args, keywords)


def invoke(name: str, args: Sequence[Any], keywords: dict[str, Any]) -> Any:
    """Calls a function of the library. Reductions also accept `where` and `initial`."""
    if "where" in keywords or "initial" in keywords:
        name = _REDUCTION_NAMES.get(name, name)
        if name in _IDENTITIES or name == "mean":
            return _reduced(name, *args, **keywords)
    result = _native.call(name, tuple(args), keywords)
    return _RESULTS[name](*result) if name in _RESULTS and isinstance(result, (list, tuple)) else result


def function(function: Any, args: Sequence[Any], keywords: dict[str, Any]) -> Any:
    """Calls a NumPy function with variables."""
    name = function.__name__
    if name in _REFUSED:
        raise GraphTypeError(f"`{name}` does not support variables: {_REFUSED[name]}")
    if keywords.get("out", ...) is None:
        del keywords["out"]
    of_module = _OF_LINALG if function.__module__ == "numpy.linalg" else _FUNCTIONS
    adapted = of_module.get(name)
    return adapted(*args, **keywords) if adapted else invoke(name, args, keywords)


def ufunc(ufunc: Any, method: str, args: Sequence[Any], keywords: dict[str, Any]) -> Any:
    """Calls a NumPy ufunc or one of its methods with variables."""
    name = ufunc.__name__
    if keywords.pop("out", None) is not None:
        raise GraphTypeError(f"`{name}` of variables takes no `out`: a graph returns new arrays")
    if method == "reduce" and name in _REDUCTIONS:
        keywords.setdefault("axis", 0)
        return invoke(_REDUCTIONS[name], args, _without_usual(keywords))
    if method == "accumulate" and name in _ACCUMULATIONS:
        keywords.setdefault("axis", 0)
        return call(_ACCUMULATIONS[name], *args, **_without_usual(keywords))
    if method not in ("__call__", "outer"):
        return NotImplemented
    keywords = _without_usual(keywords)
    if "where" in keywords:
        hint = "hint: `precast.where(condition, x, y)` defines the other elements"
        raise GraphTypeError(f"`{name}` of variables takes no `where`: the other elements have no value\n{hint}")
    if "dtype" in keywords:
        dtype = keywords.pop("dtype")
        args = [_cast(name, arg, dtype) for arg in args]
    if method == "outer":
        first, second = (_variable(arg) for arg in args)
        if second.ndim:
            first = first[(..., *(None,) * second.ndim)]
        args = [first, second]
    if name == "positive":
        return args[0]
    return call(name, *args, **keywords)


def _without_usual(keywords: dict[str, Any]) -> dict[str, Any]:
    def says_nothing(name: str, value: Any) -> bool:
        usual = _USUAL.get(name, _MISSING)
        return value is usual or isinstance(value, str) and value == usual

    return {name: value for name, value in keywords.items() if not says_nothing(name, value)}


def _variable(value: Any) -> Any:
    from ._variable import Variable

    return value if isinstance(value, Variable) else _native.constant(value)


def _cast(name: str, value: Any, dtype: Any) -> Any:
    """Casts an argument of a ufunc to a dtype, if NumPy allows the cast."""
    if isinstance(value, (bool, int, float, complex)):
        return value
    value = _variable(value)
    to = numpy.dtype(dtype)
    if not numpy.can_cast(value.dtype, to, "same_kind"):
        raise GraphTypeError(f"`{name}` cannot cast `{value.type}` to `{to}`, which is of another kind\nhint: use `x.astype(…)`")
    return value.astype(to)


def _reduced(name: str, x: Any, *args: Any, where: Any = True, initial: Any = None, **keywords: Any) -> Any:
    """Returns a reduction with `where` and `initial`."""
    if name == "mean":
        if initial is not None:
            raise GraphValueError("`mean` takes no `initial`")
        counted = {key: value for key, value in keywords.items() if key != "dtype"}
        count = call("sum", call("mul", where, call("ones_like", x, dtype="int64")), *args[:1], **counted)
        total = _reduced("sum", call("mul", x, 1.0), *args, where=where, **keywords)
        return call("div", total, count.astype(total.dtype))
    if where is not True:
        idle = _IDENTITIES[name] if _IDENTITIES[name] is not None else initial
        if idle is None:
            raise GraphValueError(f"`{name}` with `where` needs `initial`, because it has no value for zero elements")
        x = call("where", where, x, idle)
    result = call(name, x, *args, **keywords)
    return result if initial is None else call(_JOINS[name], result, initial)


def _split(x: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    return call("array_split", x, indices_or_sections, axis=axis, equal=True)


def _along(axis: int) -> Callable[[Any, Any], Any]:
    return lambda x, sections: _split(x, sections, axis)


def _hsplit(x: Any, sections: Any) -> Any:
    return _split(x, sections, 0 if x.ndim == 1 else 1)


def _nonzero(x: Any) -> tuple[Any, ...]:
    """Returns the rows of the library's matrix as a tuple, as NumPy does."""
    found = call("nonzero", x)
    return tuple(found[axis] for axis in range(x.ndim))


def _where(condition: Any, *choices: Any) -> Any:
    return call("where", condition, *choices) if choices else _nonzero(condition)


def _average(x: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: bool = False) -> Any:
    x = _variable(x)
    ones = call("ones_like", x, dtype="float64" if x.dtype.kind in "biu" else None)
    if weights is None:
        mean = call("mean", x, axis=axis, keepdims=keepdims)
        return (mean, call("sum", ones, axis=axis, keepdims=keepdims)) if returned else mean
    weights = _variable(weights)
    if weights.ndim != x.ndim:
        if weights.ndim != 1 or not isinstance(axis, int):
            raise GraphValueError(f"weights `{weights.type}` do not match `{x.type}`: expected the same number of dimensions, or a vector and an `axis`")
        place = range(x.ndim)[axis]
        weights = weights[tuple(slice(None) if at == place else None for at in range(x.ndim))]
    weights = call("mul", ones, weights)
    scale = call("sum", weights, axis=axis, keepdims=keepdims)
    mean = call("div", call("sum", call("mul", x, weights), axis=axis, keepdims=keepdims), scale)
    return (mean, scale) if returned else mean


def _block(arrays: Any) -> Any:
    """Joins the innermost lists along the last axis, the next level along the axis before it, and so on."""

    def depth(item: Any) -> int:
        return 1 + max(map(depth, item), default=0) if isinstance(item, list) else 0

    def rank(item: Any) -> int:
        return max(map(rank, item), default=0) if isinstance(item, list) else _variable(item).ndim

    deep = depth(arrays)
    ndim = max(deep, rank(arrays))

    def joined(item: Any, level: int) -> Any:
        if isinstance(item, list):
            return call("join", [joined(part, level - 1) for part in item], axis=-level)
        item = _variable(item)
        return item[(*(None,) * (ndim - item.ndim), ...)]

    return joined(arrays, deep)


#: Functions of NumPy with other arguments than the library function.
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "average": _average,
    "block": _block,
    "clip": lambda x, a_min=None, a_max=None, **keywords: call("clip", x, keywords.get("min", a_min), keywords.get("max", a_max)),
    "hsplit": _hsplit,
    "iscomplexobj": lambda x: x.dtype.kind == "c",
    "isrealobj": lambda x: x.dtype.kind != "c",
    "ndim": lambda x: x.ndim,
    "nonzero": _nonzero,
    "size": lambda x, axis=None: x.size if axis is None else x.shape[axis],
    "split": _split,
    "vsplit": _along(0),
    "dsplit": _along(2),
    "where": _where,
}
#: Functions of `numpy.linalg` with another name in the library, or that use the last two axes.
_OF_LINALG: dict[str, Callable[..., Any]] = {
    "cond": lambda x, p=None: call("condition_number", x, p=p),
    "diagonal": lambda x, *, offset=0: call("diagonal", x, offset, -2, -1),
    "trace": lambda x, *, offset=0, dtype=None: call("trace", x, offset, -2, -1, dtype=dtype),
}
