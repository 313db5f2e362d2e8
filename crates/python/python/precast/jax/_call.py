"""Calls functions of precast in JAX: custom calls of XLA on CPUs."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy
from jax import numpy as jnp

from .. import _native
from .._hosts import Gradient, Interface, Shapes
from ..errors import CallTypeError, GraphTypeError

#: The name of the custom call. The attribute `function` has the number of a function.
TARGET = "precast"


def call(
    function: Any, *, gradient: Any = None, argnums: int | Sequence[int] = 0, shapes: Shapes | None = None
) -> Callable[..., Any]:
    """Returns a JAX function that calls a function of precast in the buffers of XLA, without copies.

    It works under `jit`, `vmap`, `scan` and other transformations, on CPUs, and takes the arguments of `function`: a
    `precast.Function`, a `precast.Structured` or a `Frozen`.

    `gradient` is a function that returns the number that `function` returns, and its slopes: a graph of
    `Graph.value_and_grad`, whose results ``grad_x`` name the inputs, or a frozen `jax.value_and_grad(fn, argnums)`. With it, `jax.grad`
    and `jax.jvp` work.

    `shapes` returns the shape of the result from the shapes of the inputs. It is needed if the type of the result has
    extents that no input has.
    """
    interface = Interface(function, shapes)
    flat = custom_call(interface)
    if gradient is not None:
        flat = with_gradient(flat, interface, Gradient(interface, gradient, argnums))

    def called(*args: Any, **named: Any) -> Any:
        return interface.nested(flat(*interface.flat(args, named)))

    called.__name__ = called.__qualname__ = interface.name
    called.__doc__ = f"Calls `{interface.name}{interface.function.signature}`, compiled by precast."
    return jax.jit(called, inline=True)


def custom_call(interface: Interface) -> Callable[..., list[Any]]:
    """Returns a function of arrays that calls a function of precast."""
    register()
    number = numpy.uint64(_native.xla_function(interface.function))

    def flat(*values: Any) -> list[Any]:
        arrays = [array(value, name, type_) for value, (name, type_, _) in zip(values, interface.inputs, strict=True)]
        made = interface.shapes([each.shape for each in arrays])
        types = [jax.ShapeDtypeStruct(shape, dtype(type_)) for shape, (_, type_, _) in zip(made, interface.outputs, strict=True)]
        return list(jax.ffi.ffi_call(TARGET, types, vmap_method="expand_dims")(*arrays, function=number))

    return flat


@functools.cache
def register() -> None:
    """Registers the handler of precast's calls."""
    jax.ffi.register_ffi_target(TARGET, _native.xla_handler(), platform="cpu")


def dtype(type_: Any) -> numpy.dtype[Any]:
    """Returns the dtype of a type in JAX."""
    return numpy.dtype(jnp.dtype(type_.dtype))


def array(value: Any, name: str, type_: Any) -> Any:
    """Returns an argument as an array of the declared dtype. Only Python numbers are converted, as `precast.Function` does."""
    found, expected = jax.typeof(value), dtype(type_)
    kinds = "biufc".index
    is_number = found.weak_type and not found.shape and kinds(found.dtype.kind) <= kinds(numpy.dtype(type_.dtype).kind.replace("V", "f"))
    if found.dtype != expected and not is_number:
        is_wide = expected.itemsize // (1 + (expected.kind == "c")) == 8 and not jax.config.jax_enable_x64
        hint = '\nhint: `jax.config.update("jax_enable_x64", True)`' if is_wide else ""
        raise CallTypeError(f"input `{name}` is `{found.dtype}`, expected `{type_}`{hint}")
    return jnp.asarray(value, expected)


def with_gradient(flat: Callable[..., list[Any]], interface: Interface, gradient: Gradient) -> Callable[..., list[Any]]:
    """Returns a function of arrays whose derivatives come from another function."""
    slopes_of = custom_call(gradient.interface)
    for at in gradient.results:
        name, type_, _ = interface.inputs[at]
        if dtype(type_).kind == "c":
            raise GraphTypeError(f"input `{name}` is `{type_}`: gradients by complex numbers are not supported")

    @jax.custom_jvp
    def differentiable(*arrays: Any) -> list[Any]:
        return flat(*arrays)

    def rule(primals: Any, tangents: Any) -> Any:
        value, *slopes = slopes_of(*primals)
        change = jnp.zeros_like(value)
        for at, tangent in enumerate(tangents):
            if isinstance(tangent, jax.custom_derivatives.SymbolicZero):
                continue
            if at not in gradient.results:
                raise CallTypeError(f"`{gradient.interface.name}` returns no slopes by input `{interface.inputs[at][0]}` of `{interface.name}`")
            change += jnp.sum(slopes[gradient.results[at] - 1] * tangent).astype(value.dtype)
        return [value], [change]

    differentiable.defjvp(rule, symbolic_zeros=True)

    def converted(*values: Any) -> list[Any]:
        return differentiable(*(array(value, name, type_) for value, (name, type_, _) in zip(values, interface.inputs, strict=True)))

    return converted
