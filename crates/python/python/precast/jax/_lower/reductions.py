"""Reductions, running results, sorts."""

from __future__ import annotations

import math
from typing import Any

import numpy

from ..._front.values import cast, constant
from ..._variable import Variable, call
from .lowering import Lowering, Refused, dtype_of, is_symbolic, rule, variable
from .shapes import ALL

_REDUCTIONS = {
    "reduce_and": "all",
    "reduce_max": "max",
    "reduce_min": "min",
    "reduce_or": "any",
    "reduce_prod": "prod",
    "reduce_sum": "sum",
}


def limit(dtype: numpy.dtype[Any], is_least: bool) -> Any:
    """Returns the smallest or the largest value of a dtype."""
    if dtype.kind == "b":
        return not is_least
    if dtype.kind in "iu":
        return numpy.iinfo(dtype).min if is_least else numpy.iinfo(dtype).max
    return -math.inf if is_least else math.inf


#: The elementwise functions of primitives that combine two values in reductions by a function, and the reductions by them.
COMBINATIONS = {
    "add": ("add", "sum"),
    "and": ("bitwise_and", "all"),
    "max": ("maximum", "max"),
    "min": ("minimum", "min"),
    "mul": ("mul", "prod"),
    "or": ("bitwise_or", "any"),
}


def combinations(jaxpr: Any) -> list[str]:
    """Returns the primitive by which a function combines each pair of its arguments."""
    made, count = {eqn.outvars[0]: eqn for eqn in jaxpr.eqns}, len(jaxpr.outvars)
    names = []
    for at, result in enumerate(jaxpr.outvars):
        eqn, pair = made.get(result), [jaxpr.invars[at], jaxpr.invars[at + count]]
        if eqn is None or list(eqn.invars) not in (pair, pair[::-1]) or eqn.primitive.name not in COMBINATIONS:
            raise Refused("functions that combine values are supported if each result is one operation of a pair of values")
        names.append(eqn.primitive.name)
    return names


@rule(*_REDUCTIONS)
def reduction(lower: Lowering, eqn: Any, x: Any) -> Variable:
    axes = tuple(int(axis) for axis in eqn.params["axes"])
    return reduced(lower, _REDUCTIONS[eqn.primitive.name], axes, variable(x), eqn.invars[0].aval, eqn.outvars[0].aval)


@rule("reduce")
def reduction_by_function(lower: Lowering, eqn: Any, *values: Any) -> list[Variable]:
    """Reduces arrays, and combines the results with the initial values."""
    axes, count, results = tuple(int(axis) for axis in eqn.params["dimensions"]), len(eqn.outvars), []
    for at, name in enumerate(combinations(eqn.params["jaxpr"].jaxpr)):
        join, name = COMBINATIONS[name]
        made = reduced(lower, name, axes, variable(values[at]), eqn.invars[at].aval, eqn.outvars[at].aval)
        results.append(call(join, made, variable(values[at + count])))
    return results


def reduced(lower: Lowering, name: str, axes: tuple[int, ...], x: Variable, before: Any, after: Any) -> Variable:
    dtype = dtype_of(before)
    if name in ("all", "any") and dtype.kind != "b":
        raise Refused("a reduction by bitwise operations is supported for bools only")
    if not axes:
        return x
    if name in ("max", "min") and any(not is_symbolic(before.shape[axis]) and before.shape[axis] == 0 for axis in axes):
        return call("broadcast_to", constant(limit(dtype, name == "max"), dtype), lower.extents(after.shape))
    if name in ("max", "min") and dtype.kind == "b":
        name = "any" if name == "max" else "all"
    return call(name, x, axis=axes)


@rule("argmax", "argmin")
def position(lower: Lowering, eqn: Any, x: Any) -> Variable:
    return call(eqn.primitive.name, variable(x), axis=int(eqn.params["axes"][0]))


def reversed_along(x: Variable, axis: int, is_reversed: bool) -> Variable:
    return x[(ALL,) * axis + (slice(None, None, -1),)] if is_reversed else x


@rule("cumsum", "cumprod")
def running(lower: Lowering, eqn: Any, x: Any) -> Variable:
    axis, is_reversed = int(eqn.params["axis"]), eqn.params["reverse"]
    made = call(eqn.primitive.name, reversed_along(variable(x), axis, is_reversed), axis=axis)
    return reversed_along(made, axis, is_reversed)


@rule("cummax", "cummin", "cumlogsumexp")
def running_extreme(lower: Lowering, eqn: Any, x: Any) -> Variable:
    """Computes running results in a loop over the axis."""
    name = {"cummax": "maximum", "cummin": "minimum", "cumlogsumexp": "logaddexp"}[eqn.primitive.name]
    axis, aval = int(eqn.params["axis"]), eqn.invars[0].aval
    first = constant(limit(dtype_of(aval), name != "minimum"), dtype_of(aval))
    rows = call("moveaxis", variable(x), axis, 0)
    shape = lower.extents([extent for at, extent in enumerate(aval.shape) if at != axis])
    first = call("broadcast_to", first, shape) if shape else first

    def step(last: Variable, row: Variable) -> tuple[Variable, Variable]:
        made = cast(call(name, last, row), row.type.dtype)
        return made, made

    _, made = call("scan", step, first, rows, reverse=eqn.params["reverse"])
    return call("moveaxis", made, 0, axis)


@rule("sort")
def sort(lower: Lowering, eqn: Any, *operands: Any) -> list[Variable]:
    """Sorts operands by the first `num_keys` of them. Sorts are stable, so the last key is sorted first."""
    axis, keys = int(eqn.params["dimension"]), eqn.params["num_keys"]
    operands = tuple(map(variable, operands))
    if len(operands) == 1:
        return [call("sort", operands[0], axis=axis)]
    order = call("argsort", operands[keys - 1], axis=axis)
    for key in reversed(operands[: keys - 1]):
        next_order = call("argsort", along(key, order, axis), axis=axis)
        order = along(order, next_order, axis)
    return [along(operand, order, axis) for operand in operands]


def along(x: Variable, positions: Variable, axis: int) -> Variable:
    return call("take_along_axis", x, positions, axis=axis)


@rule("top_k")
def top_k(lower: Lowering, eqn: Any, x: Any) -> list[Variable]:
    axis = int(eqn.params.get("axis", len(eqn.invars[0].aval.shape) - 1))
    return largest(lower, variable(x), eqn.params["k"], axis, True)


@rule("approx_top_k")
def approximate_top_k(lower: Lowering, eqn: Any, x: Any) -> list[Variable]:
    """Returns the exact result."""
    params = eqn.params
    if params.get("reduction_input_size_override", -1) != -1 or not params.get("aggregate_to_topk", True):
        raise Refused("only whole results are supported")
    return largest(lower, variable(x), params["k"], int(params["reduction_dimension"]), params["is_max_k"])


def largest(lower: Lowering, x: Variable, count: Any, axis: int, is_max: bool) -> list[Variable]:
    count = lower.extent(count)
    return [call(name, x, count, axis=axis, largest=is_max) for name in ("topk", "argtopk")]
