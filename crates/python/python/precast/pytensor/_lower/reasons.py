"""The reasons why PyTensor's ops without a rule are refused, by class or module."""

from __future__ import annotations

#: The default reason.
ELSE = "precast has no op for it"
_LAPACK = "precast has no LAPACK"
_OF_PYTHON = "it is a Python function without C"
_OF_MODEL = "PyMC replaces it before compiling a function"

#: The reasons by the names of classes and base classes.
CLASSES = {
    "RandomVariable": "it draws from a NumPy generator",
    "AbstractRNGConstructor": "it creates a NumPy generator",
    "DefaultGeneratorMakerOp": "it creates a NumPy generator",
    "RNGConsumerOp": "it draws from a NumPy generator",
    "ScipyWrapperOp": "it iterates a graph until convergence, and precast has no such loop",
    "FromFunctionOp": _OF_PYTHON,
    "LazyIfElse": "the branch to compute is known only at run time",
    "PdbBreakpoint": "it stops in the Python debugger",
    "Print": "frozen functions cannot print",
}

#: The reasons by module prefix, without ``pytensor.``.
MODULES = {
    "sparse": "precast has no sparse matrices",
    "typed_list": "precast has no list type",
    "tensor.linalg": _LAPACK,
    "tensor.nlinalg": _LAPACK,
    "tensor.slinalg": _LAPACK,
    "tensor.signal": "precast has no convolution",
    "tensor.conv": "precast has no convolution",
    "xtensor": "PyTensor's rewrites replace it, but they were not run",
}

#: The reasons by module prefix, without ``pymc.``.
MODULES_OF_PYMC = {
    "model": _OF_MODEL,
    "logprob": _OF_MODEL,
    "variational": _OF_MODEL,
    "initial_point": _OF_MODEL,
    "dims": "PyTensor's rewrites replace it, but they were not run",
    "ode": _OF_PYTHON,
    "distributions.dist_math": _OF_PYTHON,
    "math": _OF_PYTHON,
    "distributions.continuous": _OF_PYTHON,
}


def of(own: type) -> str:
    """Returns the reason why a class of ops has no rule."""
    root, _, module = own.__module__.partition(".")
    modules = {"pytensor": MODULES, "pymc": MODULES_OF_PYMC}.get(root, {})
    of_modules = (reason for start, reason in modules.items() if f"{module}.".startswith(f"{start}."))
    return of_class(own) or next(of_modules, ELSE)


def of_class(own: type) -> str | None:
    """Returns the reason why ops of a PyTensor class are refused even if they have C; `None` for other classes."""
    bases = (base.__name__ for base in own.__mro__ if base.__module__.split(".")[0] == "pytensor")
    return next((CLASSES[name] for name in bases if name in CLASSES), None)
