"""Calls functions of precast in PyTorch: registered operators on CPUs.

>>> import precast.torch                                                     # doctest: +SKIP
>>> loss = precast.torch.op(model.loss, gradient=model.loss_grad)            # doctest: +SKIP
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy
import torch

from ._front.names import unique
from ._hosts import Gradient, Interface, Shapes
from .errors import CallTypeError

__all__ = ["op"]

#: The namespace of the operators, `torch.ops.precast`.
NAMESPACE = "precast"

#: Keeps the registrations, which end with this object.
_LIBRARY = torch.library.Library(NAMESPACE, "FRAGMENT")

_TAKEN: set[str] = set()


def op(
    function: Any, *, gradient: Any = None, argnums: int | Sequence[int] = 0, shapes: Shapes | None = None, name: str | None = None
) -> Callable[..., Any]:
    """Returns a function of tensors that calls a function of precast, registered as the operator ``torch.ops.precast.<name>``.

    Tensors on CPUs are read in place, and results are not copied. `torch.compile` and `torch.export` keep the operator in their graphs.

    `function`, `gradient`, `argnums` and `shapes` are those of `precast.jax.call`. With a gradient, autograd works; it computes the number
    and the slopes in one call.
    """
    interface = Interface(function, shapes)
    plain = _registered(interface, name or interface.name)
    derived = f"{name or interface.name}_gradient"
    if gradient is None:
        tracked = _registered(interface, derived)
        _differentiable(tracked, _without_gradient(interface), None)
    else:
        found = Gradient(interface, gradient, argnums)
        slopes = _Slopes(interface, found)
        tracked = _registered(found.interface, derived)
        _differentiable(tracked, slopes.backward, slopes.setup)
    count = len(interface.inputs)
    is_flat, is_one = interface.structure is None, len(interface.outputs) == 1

    def called(*args: Any, **named: Any) -> Any:
        values = args if is_flat and not named and len(args) == count else interface.flat(args, named)
        tensors, is_tracked = [], False
        for value, (name, type_, _) in zip(values, interface.inputs):
            tensor = value if isinstance(value, torch.Tensor) else _tensor(value, name, type_)
            is_tracked |= tensor.requires_grad
            tensors.append(tensor)
        if is_tracked and torch.is_grad_enabled():
            made = tracked(*tensors)
            made = made if gradient is None else made[0]
        else:
            made = plain(*tensors)
        return made if is_flat else interface.nested([made] if is_one else made)

    called.__name__ = called.__qualname__ = interface.name
    called.__doc__ = f"Calls `{interface.name}{interface.function.signature}`, compiled by precast."
    return called


def _registered(interface: Interface, name: str) -> Any:
    """Registers a function as an operator, and returns the operator."""
    name = unique(re.sub(r"\W", "_", name, flags=re.ASCII), _TAKEN)
    inputs = ", ".join(f"Tensor x{at}" for at in range(len(interface.inputs)))
    results = ", ".join(["Tensor"] * len(interface.outputs))
    _LIBRARY.define(f"{name}({inputs}) -> {results if len(interface.outputs) == 1 else f'({results})'}")
    function = interface.function
    is_one = len(interface.outputs) == 1

    def run(*tensors: Any) -> Any:
        made = function(*map(_array, tensors))
        return _tensor_of(made) if is_one else tuple(map(_tensor_of, made))

    def fake(*tensors: Any) -> Any:
        shapes = interface.shapes([tensor.shape for tensor in tensors])
        made = [torch.empty(shape, dtype=_dtype(type_)) for shape, (_, type_, _) in zip(shapes, interface.outputs, strict=True)]
        return made[0] if is_one else tuple(made)

    _LIBRARY.impl(name, run, "CPU")
    torch.library.register_fake(f"{NAMESPACE}::{name}", fake, lib=_LIBRARY)
    return getattr(getattr(torch.ops, NAMESPACE), name).default


def _differentiable(tracked: Any, backward: Callable[..., Any], setup: Callable[..., Any] | None) -> None:
    """Registers the derivative of an operator. Each call of such an operator costs some microseconds more."""
    name = str(tracked).removesuffix(".default").replace(".", "::")
    torch.library.register_autograd(name, backward, setup_context=setup, lib=_LIBRARY)


def _without_gradient(interface: Interface) -> Callable[..., Any]:
    """Returns the derivative of an operator that has none."""

    def backward(ctx: Any, *changes: Any) -> Any:
        raise CallTypeError(f"`{interface.name}` has no gradient\nhint: `precast.torch.op(function, gradient=…)`")

    return backward


class _Constant(torch.autograd.Function):
    """The slopes in a backward pass that is differentiated again."""

    @staticmethod
    def forward(ctx: Any, slopes: Any, *inputs: Any) -> Any:
        return slopes.view_as(slopes)

    @staticmethod
    def backward(ctx: Any, *changes: Any) -> Any:
        raise CallTypeError("a gradient of precast cannot be differentiated again")


class _Slopes:
    """The derivative of an operator that returns a number and its slopes."""

    def __init__(self, interface: Interface, gradient: Gradient) -> None:
        self._interface, self._gradient = interface, gradient
        self._kept = sorted(gradient.results.items())

    def setup(self, ctx: Any, inputs: Any, output: Any) -> None:
        ctx.mark_non_differentiable(*output[1:])
        ctx.save_for_backward(*inputs, *(output[result] for _, result in self._kept))

    def backward(self, ctx: Any, change: Any, *_: Any) -> Any:
        count = len(self._interface.inputs)
        inputs, kept = ctx.saved_tensors[:count], ctx.saved_tensors[count:]
        slopes = {at: each for (at, _), each in zip(self._kept, kept, strict=True) if ctx.needs_input_grad[at]}
        missing = [name for at, (name, _, _) in enumerate(self._interface.inputs) if ctx.needs_input_grad[at] and at not in slopes]
        if missing:
            raise CallTypeError(f"`{self._gradient.interface.name}` returns no slopes by input `{missing[0]}` of `{self._interface.name}`")
        if torch.is_grad_enabled():
            slopes = {at: _Constant.apply(each, *inputs) for at, each in slopes.items()}
        return tuple((change * slopes[at]).to(slopes[at].dtype) if at in slopes else None for at in range(count))


def _tensor(value: Any, name: str, type_: Any) -> Any:
    """Returns an argument that is not a tensor as one. Only Python numbers are converted, as `precast.Function` does."""
    kinds = {bool: "b", int: "i", float: "f", complex: "c"}
    kind = kinds.get(type(value))
    if kind is None or "biufc".index(kind) > "biufc".index(numpy.dtype(type_.dtype).kind if type_.name != "bf16" else "f"):
        raise CallTypeError(f"input `{name}` is a `{type(value).__name__}`, expected a tensor `{type_}`")
    return torch.tensor(value, dtype=_dtype(type_))


def _dtype(type_: Any) -> Any:
    """Returns the dtype of a type in PyTorch."""
    return getattr(torch, type_.dtype)


def _array(tensor: Any) -> Any:
    """Returns an array on the memory of a tensor."""
    try:
        return tensor.numpy()
    except (RuntimeError, TypeError):
        tensor = tensor.detach().resolve_conj().resolve_neg()
    if tensor.dtype is torch.bfloat16:
        from ._foreign import bfloat16

        return tensor.view(torch.int16).numpy().view(bfloat16())
    return tensor.numpy()


def _tensor_of(made: Any) -> Any:
    """Returns a tensor on the memory of a result."""
    array = numpy.asarray(made)
    # NumPy has no kind for bfloat16; names of dtypes are slow.
    if array.dtype.kind == "V":
        return torch.from_numpy(array.view("int16")).view(torch.bfloat16)
    return torch.from_numpy(array)
