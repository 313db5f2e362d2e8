"""Ops that Python computes between graphs: random draws and decompositions.

The rules name functions of ``precast._calls``. They apply only if `freeze` is called with ``python=True``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..._draws import names
from .lowering import Lowering, Refused, name_of, rule

#: The function for each class of ops, and the attributes of the op that become settings.
_CALLS: dict[str, tuple[str, tuple[str, ...]]] = {
    "Convolve2d": ("convolve", ("method",)),
    "Eig": ("eig", ()),
    "Eigh": ("eigh", ("lower", "driver")),
    "Eigvalsh": ("eigvalsh", ("lower",)),
    "Expm": ("expm", ()),
    "LU": ("lu", ("permute_l", "p_indices")),
    "LUFactor": ("lu_factor", ()),
    "LUFactorTridiagonal": ("lu_factor_tridiagonal", ()),
    "Lstsq": ("lstsq", ()),
    "MatrixPinv": ("pinv", ("hermitian",)),
    "PivotToPermutations": ("pivot_to_permutation", ("inverse",)),
    "QR": ("qr", ("mode", "pivoting")),
    "QZ": ("qz", ("complex_output", "sort", "return_eigenvalues")),
    "SVD": ("svd", ("full_matrices", "compute_uv")),
    "Schur": ("schur", ("output", "sort")),
    "SolveLUFactorTridiagonal": ("solve_lu_factor_tridiagonal", ("transposed",)),
    "TRSYL": ("trsyl", ()),
    "TensorInv": ("tensorinv", ("ind",)),
    "TensorSolve": ("tensorsolve", ("axes",)),
}

_DRAWS = (
    "BernoulliRV BetaBinomialRV BetaRV BinomialRV CategoricalRV CauchyRV ChoiceWithoutReplacement DirichletRV ExponentialRV GammaRV "
    "GenGammaRV GeometricRV GumbelRV HalfCauchyRV HalfNormalRV HyperGeometricRV IntegersRV InvGammaRV LaplaceRV LogNormalRV "
    "LogisticRV MultinomialRV MvNormalRV NegBinomialRV NormalRV ParetoRV PermutationRV PoissonRV StudentTRV TriangularRV "
    "TruncExponentialRV UniformRV VonMisesRV WaldRV WeibullRV"
).split()

#: The distributions of PyMC.
_DRAWS_OF_PYMC = (
    "pymc.DiscreteUniformRV pymc.MatrixNormalRV pymc.MoyalRV pymc.RiceRV pymc.SkewNormalRV pymc.SkewStudentTRV "
    "pymc.StickBreakingWeightsRV pymc.TruncatedNormalRV pymc.WaldRV"
).split()

#: Additional settings of an op.
_SETTINGS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "ChoiceWithoutReplacement": lambda op: {"core": op.ndims_params[0]},
    "MvNormalRV": lambda op: {"method": op.method},
    "PermutationRV": lambda op: {"core": op.ndims_params[0]},
}


@rule(*_CALLS, of="python")
def called(lower: Lowering, node: Any, inputs: list[Any]) -> list[Any]:
    name, attributes = _CALLS[name_of(node.op)]
    if name == "lu_factor" and node.inputs[0].type.dtype not in ("float32", "float64", "complex64", "complex128"):
        raise Refused(f"its factors are declared as {node.inputs[0].type.dtype}, but they are floats\n    hint: cast the matrix to float64")
    settings = _known(lambda op: {attribute: getattr(op, attribute) for attribute in attributes}, node.op)
    return lower.ask(name, inputs, [output.type for output in node.outputs], **settings)


@rule(*_DRAWS, *_DRAWS_OF_PYMC, of="python")
def drawn(lower: Lowering, node: Any, inputs: list[Any]) -> list[Any]:
    package, dot, _ = name_of(node.op).rpartition(".")
    name = f"{package}{dot}{node.op.name}"
    if name not in names():
        raise Refused(f"precast has no distribution `{name}`")
    settings = _known(_SETTINGS.get(name_of(node.op), lambda op: {}), node.op)
    return lower.ask("draw", inputs, [output.type for output in node.outputs], of=name, **settings)


def _known(settings: Callable[[Any], dict[str, Any]], op: Any) -> dict[str, Any]:
    """Returns the settings of an op."""
    try:
        return settings(op)
    except AttributeError as missing:
        raise Refused(f"it differs from the supported versions: {missing}") from None
