"""Why PyTensor's ops that have no rule are refused, by the class or the module that they are of."""

from __future__ import annotations

#: Where nothing more is known.
ELSE = "precast has no op for it"
_LAPACK = "precast has no LAPACK"
_OF_PYTHON = "it is a function of Python's, which has no C"
_OF_MODEL = "PyMC replaces it before it compiles a function"

#: By the class, or one that it derives from.
CLASSES = {
    "RandomVariable": "it draws from a generator of NumPy's",
    "AbstractRNGConstructor": "it makes a generator of NumPy's",
    "DefaultGeneratorMakerOp": "it makes a generator of NumPy's",
    "RNGConsumerOp": "it draws from a generator of NumPy's",
    "ScipyWrapperOp": "it asks a graph for values until they are good enough, and precast has no such loop",
    "FromFunctionOp": _OF_PYTHON,
    "LazyIfElse": "which of its graphs is computed is known when it runs",
    "PdbBreakpoint": "it stops in Python's debugger",
    "Print": "what is frozen prints nothing",
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

#: The same behind ``pymc.``.
MODULES_OF_PYMC = {
    "model": _OF_MODEL,
    "logprob": _OF_MODEL,
    "variational": _OF_MODEL,
    "initial_point": _OF_MODEL,
    "dims": "PyTensor's rewrites replace it, and were not run",
    "ode": _OF_PYTHON,
    "distributions.dist_math": _OF_PYTHON,
    "math": _OF_PYTHON,
    "distributions.continuous": _OF_PYTHON,
}


def of(own: type) -> str:
    """Why an op of a class has no rule."""
    root, _, module = own.__module__.partition(".")
    modules = {"pytensor": MODULES, "pymc": MODULES_OF_PYMC}.get(root, {})
    of_modules = (reason for start, reason in modules.items() if f"{module}.".startswith(f"{start}."))
    return of_class(own) or next(of_modules, ELSE)


def of_class(own: type) -> str | None:
    """Why ops of a class of PyTensor's are refused, whatever C they have."""
    bases = (base.__name__ for base in own.__mro__ if base.__module__.split(".")[0] == "pytensor")
    return next((CLASSES[name] for name in bases if name in CLASSES), None)
