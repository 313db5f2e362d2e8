"""Why PyTensor's ops that have no rule are refused, by the class or the module that they are of."""

from __future__ import annotations

#: Where nothing more is known.
ELSE = "precast has no op for it"
_LAPACK = "precast has no LAPACK"

#: By the class, or one that it derives from.
CLASSES = {
    "RandomVariable": "it draws from a generator of NumPy's",
    "AbstractRNGConstructor": "it makes a generator of NumPy's",
    "DefaultGeneratorMakerOp": "it makes a generator of NumPy's",
    "RNGConsumerOp": "it draws from a generator of NumPy's",
    "ScipyWrapperOp": "it asks a graph for values until they are good enough, and precast has no such loop",
    "FromFunctionOp": "it is a function of Python's, which has no C",
    "LazyIfElse": "which of its graphs is computed is known when it runs",
    "PdbBreakpoint": "it stops in Python's debugger",
    "Print": "what is frozen prints nothing",
    "UndefinedGrad": "it is a gradient that does not exist",
}

#: By the beginning of the module, behind ``pytensor.``.
MODULES = {
    "sparse": "precast has no sparse matrices",
    "typed_list": "precast has no lists",
    "tensor.linalg": _LAPACK,
    "tensor.nlinalg": _LAPACK,
    "tensor.slinalg": _LAPACK,
    "tensor.fft": "precast has no Fourier transform",
    "tensor.fourier": "precast has no Fourier transform",
    "tensor.signal": "precast has no convolution",
    "tensor.conv": "precast has no convolution",
    "xtensor": "PyTensor's rewrites replace it, and were not run",
}


def of(own: type) -> str:
    """Why an op of a class has no rule."""
    root, _, module = own.__module__.partition(".")
    if root != "pytensor":
        return of_class(own) or ELSE
    of_modules = (reason for start, reason in MODULES.items() if f"{module}.".startswith(f"{start}."))
    return of_class(own) or next(of_modules, ELSE)


def of_class(own: type) -> str | None:
    """Why ops of a class of PyTensor's are refused, whatever C they have."""
    bases = (base.__name__ for base in own.__mro__ if base.__module__.split(".")[0] == "pytensor")
    return next((CLASSES[name] for name in bases if name in CLASSES), None)
