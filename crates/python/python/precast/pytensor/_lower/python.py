"""What Python computes, between graphs: draws from generators, LAPACK's decompositions, functions of SciPy's without C.

The rules say what is asked for, by the names of ``precast._calls``; they are followed where `freeze` is told ``python=True``.
"""

from __future__ import annotations

from typing import Any

from ..._calls import DRAWN, DRAWN_BY_SCIPY, SPECIAL
from ..._variable import Variable
from .lowering import HINT, Lowering, Refused, array_type, rule

#: By the class of the op what is asked for, and the attributes of the op that are its settings.
_CALLS: dict[str, tuple[str, tuple[str, ...]]] = {
    "BlockDiagonal": ("block_diag", ()),
    "Eig": ("eig", ()),
    "Eigh": ("eigh", ("lower", "driver")),
    "Eigvalsh": ("eigvalsh", ("lower",)),
    "Expm": ("expm", ()),
    "LU": ("lu", ("permute_l", "p_indices")),
    "LUFactor": ("lu_factor", ()),
    "Lstsq": ("lstsq", ()),
    "MatrixPinv": ("pinv", ("hermitian",)),
    "PivotToPermutations": ("pivot_to_permutation", ("inverse",)),
    "QR": ("qr", ("mode", "pivoting")),
    "SVD": ("svd", ("full_matrices", "compute_uv")),
    "TensorInv": ("tensorinv", ("ind",)),
    "TensorSolve": ("tensorsolve", ("axes",)),
}

_DRAWS = (
    "BernoulliRV BetaBinomialRV BetaRV BinomialRV CauchyRV ExponentialRV GammaRV GeometricRV GumbelRV HalfCauchyRV HalfNormalRV "
    "HyperGeometricRV IntegersRV InvGammaRV LaplaceRV LogNormalRV LogisticRV NegBinomialRV NormalRV ParetoRV PoissonRV StudentTRV "
    "TriangularRV TruncExponentialRV UniformRV VonMisesRV WaldRV WeibullRV"
).split()


@rule(*_CALLS, of_python=True)
def called(lower: Lowering, node: Any, inputs: list[Any]) -> list[Any]:
    name, attributes = _CALLS[type(node.op).__name__]
    try:
        settings = {attribute: getattr(node.op, attribute) for attribute in attributes}
    except AttributeError as missing:
        raise Refused(f"it is not as in the versions that precast knows: {missing}") from None
    return lower.ask(name, inputs, [output.type for output in node.outputs], **settings)


@rule(*_DRAWS, of_python=True)
def drawn(lower: Lowering, node: Any, inputs: list[Any]) -> list[Any]:
    if node.op.name not in {*DRAWN, *DRAWN_BY_SCIPY, "invgamma"}:
        raise Refused(f"precast knows no draws that are called `{node.op.name}`")
    return lower.ask("draw", inputs, [output.type for output in node.outputs], of=node.op.name)


def special(lower: Lowering, op: Any, arguments: list[Variable], dtype: str, why: Refused) -> Variable:
    """A function of numbers of SciPy's; refused for the reason that is given, where it is none."""
    module, _, name = (getattr(op, "nfunc_spec", None) or ("",))[0].rpartition(".")
    is_pytensors = type(op).__module__.split(".")[0] == "pytensor"
    if module != "scipy.special" or name not in SPECIAL or not is_pytensors:
        raise why
    if not lower.python:
        raise Refused(f"{why}\n    {HINT}")
    ndim = max(argument.type.ndim for argument in arguments)
    (made,) = lower.ask("special", arguments, [array_type(dtype, ndim)], of=name)
    return made
