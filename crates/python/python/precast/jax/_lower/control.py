"""Calls of jaxprs, loops and branches. Their jaxprs are lowered in the functions of precast's loops and branches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.scipy.special
import numpy

from ..._variable import Variable, call
from .lowering import Lowering, Refused, rule, variable

#: The parameters that hold the jaxpr of a call.
_JAXPRS = ("jaxpr", "call_jaxpr", "fun_jaxpr")


@rule(
    *"jit pjit closed_call core_call call remat remat2 checkpoint custom_jvp_call custom_vjp_call custom_vjp_call_jaxpr".split(),
    *"custom_jvp_call_jaxpr custom_vmap_call composite eval_jaxpr program_order".split(),
    of="call",
)
def inlined(lower: Lowering, eqn: Any, *values: Any) -> list[Any]:
    jaxpr = next((eqn.params[name] for name in _JAXPRS if name in eqn.params), None)
    if jaxpr is None:
        jaxpr = eqn.params.get("call")
    if jaxpr is None:
        raise Refused("it has no jaxpr")
    return lower.closed(jaxpr, values) if hasattr(jaxpr, "jaxpr") else lower.graph(jaxpr, (), values)


@rule("linear_call", of="call")
def linear_call(lower: Lowering, eqn: Any, *values: Any) -> list[Any]:
    return lower.closed(eqn.params["callee"], values)


@rule("custom_linear_solve", of="call")
def linear_solve(lower: Lowering, eqn: Any, *values: Any) -> list[Any]:
    """Lowers the function that solves the system."""
    lengths, jaxprs = eqn.params["const_lengths"], eqn.params["jaxprs"]
    first = lengths.matvec + lengths.vecmat
    right = values[first + lengths.solve + lengths.transpose_solve :]
    return lower.closed(jaxprs.solve, [*values[first : first + lengths.solve], *right])


@rule("call_hi_primitive", of="call")
def expanded(lower: Lowering, eqn: Any, *values: Any) -> list[Any]:
    """Lowers the function that JAX expands a primitive with own rules to."""
    primitive = eqn.params["_prim"]
    types = [jax.ShapeDtypeStruct(atom.aval.shape, atom.aval.dtype) for atom in eqn.invars]
    expand = lambda *given: primitive.expand(*jax.tree.unflatten(primitive.in_tree, given))  # noqa: E731
    return lower.closed(jax.make_jaxpr(expand)(*types), values)


@rule("igamma_grad_a", of="call")
def gradient_of_igamma(lower: Lowering, eqn: Any, *values: Any) -> list[Any]:
    """Lowers the derivative of a gamma draw, which is that of `igamma` by `a`, divided by the negated density."""

    def derivative(a: Any, x: Any) -> Any:
        density = jax.numpy.exp(jax.scipy.special.xlogy(a - 1, x) - x - jax.lax.lgamma(a))
        return jax.numpy.where(x > 0, -jax.lax.random_gamma_grad(a, x) * density, x * 0)

    types = [jax.ShapeDtypeStruct(atom.aval.shape, atom.aval.dtype) for atom in eqn.invars]
    return lower.closed(jax.make_jaxpr(derivative)(*types), values)


@rule("platform_index", of="call")
def platform(lower: Lowering, eqn: Any) -> Any:
    """Returns the position of the branch for CPUs."""
    names = eqn.params["platforms"]
    for at, each in enumerate(names):
        if each is None or "cpu" in each:
            return numpy.asarray(at, "int32")
    raise Refused("it has no branch for CPUs")


def loop_parts(eqn: Any) -> tuple[int, int]:
    """Returns the numbers of constants and of carries of a scan."""
    params = eqn.params
    if "ft_in" in params:
        constants, carries, *_ = (len(list(part)) for part in params["ft_in"].unpack())
        return constants, carries
    return params["num_consts"], params["num_carry"]


@rule("scan", of="call")
def scan(lower: Lowering, eqn: Any, *values: Any) -> list[Any]:
    constants, carries = loop_parts(eqn)
    fixed, rest = values[:constants], [lower.variable(value) for value in values[constants:]]
    init, rows = tuple(rest[:carries]), tuple(rest[carries:])

    def step(carry: Sequence[Variable], row: Sequence[Variable] | None) -> tuple[Any, Any]:
        made = [lower.variable(each) for each in lower.closed(eqn.params["jaxpr"], [*fixed, *carry, *(row or ())])]
        return tuple(made[:carries]), tuple(made[carries:])

    length, is_reversed = lower.extent(eqn.params["length"]), eqn.params["reverse"]
    last, made = call("scan", step, init, rows or None, length, reverse=is_reversed)
    return [*last, *made]


@rule("while", of="call")
def while_loop(lower: Lowering, eqn: Any, *values: Any) -> list[Any]:
    params = eqn.params
    first, second = params["cond_nconsts"], params["body_nconsts"]
    of_condition, of_body = values[:first], values[first : first + second]
    init = tuple(lower.variable(value) for value in values[first + second :])

    batch = len(params["cond_jaxpr"].out_avals[0].shape)

    def holds(carry: Sequence[Variable]) -> Variable:
        return lower.variable(lower.closed(params["cond_jaxpr"], [*of_condition, *carry])[0])

    def condition(carry: Sequence[Variable]) -> Variable:
        return call("any", holds(carry)) if batch else holds(carry)

    def body(carry: Sequence[Variable]) -> tuple[Variable, ...]:
        made = [lower.variable(each) for each in lower.closed(params["body_jaxpr"], [*of_body, *carry])]
        if not batch:
            return tuple(made)
        # Loops of a batch run until all of them end. Those that have ended keep their carries.
        is_running = holds(carry)
        pairs = zip(made, carry, strict=True)
        return tuple(call("switch", is_running[(...,) + (None,) * (new.type.ndim - batch)], new, old) for new, old in pairs)

    return list(call("while_loop", condition, body, init))


@rule("cond", of="call")
def branch(lower: Lowering, eqn: Any, which: Any, *values: Any) -> list[Any]:
    branches = eqn.params["branches"]
    if not isinstance(which, Variable):
        at = min(max(int(lower.whole(which)), 0), len(branches) - 1)
        return lower.closed(branches[at], values)

    def function(jaxpr: Any) -> Any:
        return lambda: tuple(lower.variable(each) for each in lower.closed(jaxpr, values))

    if not eqn.outvars:
        return []
    which = call("cast", variable(which), dtype="int64")
    return list(call("branch", which, [function(each) for each in branches]))
