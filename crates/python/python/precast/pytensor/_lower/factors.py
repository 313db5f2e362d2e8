"""LU and QR decompositions, eigenvalues, singular values, pseudoinverses and exponentials of matrices.

With ``python=True``, Python computes them, because LAPACK's eigenvectors and singular vectors may have other signs. A matrix with NaN or an
infinity has NaN as eigenvalues and singular values, where PyTensor's call fails. So have two matrices of which the second one is not positive
definite.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from ..._variable import Variable, call
from .indexing import product
from .linear import takes_stacks
from .lowering import HINT, Lowering, Refused, cast, constant_value, rule
from .python import called
from .systems import COMPLEX, from_triangle, matrices


def by_python(made: Callable[..., Any]) -> Callable[..., Any]:
    """Lets Python compute an op with ``python=True``, except for stacks of matrices."""

    @wraps(made)
    def lowered(lower: Lowering, node: Any, inputs: list[Variable]) -> Any:
        is_single = node.inputs[0].type.ndim <= 2 or not takes_stacks(node.op)
        if lower.python and is_single:
            return called(lower, node, inputs)
        try:
            results = made(lower, node, inputs)
            for value, output in zip(results, node.outputs, strict=True):
                if value.type.dtype.startswith("complex") and not output.type.dtype.startswith("complex"):
                    raise Refused("PyTensor declares a real result, but it is complex")
        except Refused as refused:
            raise Refused(f"{refused}\n    {HINT}" if is_single else str(refused)) from None
        return [cast(value, output.type.dtype) for value, output in zip(results, node.outputs, strict=True)]

    return lowered


@rule("QR")
@by_python
def qr(lower: Lowering, node: Any, inputs: list[Variable]) -> list[Variable]:
    mode, pivoting = node.op.mode, bool(node.op.pivoting)
    if mode == "raw":
        raise Refused('precast has no QR decomposition with `mode="raw"`')
    results = call("qr", *matrices(node, inputs), mode="reduced" if mode == "economic" else "complete", pivoting=pivoting)
    return list(results[mode == "r" :])


def _of_two(node: Any, a: Variable, b: Variable) -> tuple[Variable, Variable]:
    """Returns the Cholesky factor of b, and the matrix whose eigenvalues are those of a and b."""
    root = call("cholesky", b if node.op.lower else call("conj", call("matrix_transpose", b)), on_error="nan")
    half = call("solve_triangular", root, from_triangle(a, node.op.lower, conjugate=True), lower=True, on_error="nan")
    return root, call("solve_triangular", root, call("conj", call("matrix_transpose", half)), lower=True, on_error="nan")


@rule("Eigh")
@by_python
def eigh(lower: Lowering, node: Any, inputs: list[Variable]) -> list[Variable]:
    given = matrices(node, inputs)
    if len(given) == 1:
        return list(call("eigh", *given, UPLO="L" if node.op.lower else "U"))
    root, a = _of_two(node, *given)
    values, vectors = call("eigh", a)
    return [values, call("solve_triangular", root, vectors, trans=2, lower=True, on_error="nan")]


@rule("Eigvalsh")
@by_python
def eigvalsh(lower: Lowering, node: Any, inputs: list[Variable]) -> list[Variable]:
    given = matrices(node, inputs)
    if len(given) == 1:
        return [call("eigvalsh", *given, UPLO="L" if node.op.lower else "U")]
    return [call("eigvalsh", _of_two(node, *given)[1])]


@rule("Eig")
@by_python
def eig(lower: Lowering, node: Any, inputs: list[Variable]) -> list[Variable]:
    (a,) = inputs
    dtype = node.outputs[0].type.dtype
    if not node.inputs[0].type.dtype.startswith("complex"):
        dtype = {whole: part for part, whole in COMPLEX.items()}[dtype]
    return list(call("eig", cast(a, dtype)))


@rule("Schur")
@by_python
def schur(lower: Lowering, node: Any, inputs: list[Variable]) -> list[Variable]:
    return list(call("schur", *matrices(node, inputs), sort=node.op.sort))


@rule("QZ")
@by_python
def qz(lower: Lowering, node: Any, inputs: list[Variable]) -> list[Variable]:
    a, b = matrices(node, inputs)
    one, other = ([extent == 1 for extent in value.type.shape[:-2]] for value in node.inputs)
    if one != other:
        raise Refused("precast has no QZ decomposition of stacks that are broadcast")
    aa, bb, *values, q, z = call("ordqz", a, b, sort=node.op.sort)
    return [aa, bb, *(values if node.op.return_eigenvalues else ()), q, z]


@rule("SVD")
@by_python
def svd(lower: Lowering, node: Any, inputs: list[Variable]) -> list[Variable]:
    (a,) = matrices(node, inputs)
    if not node.op.compute_uv:
        return [call("svdvals", a)]
    return list(call("svd", a, full_matrices=node.op.full_matrices))


@rule("MatrixPinv")
@by_python
def pinv(lower: Lowering, node: Any, inputs: list[Variable]) -> list[Variable]:
    return [call("pinv", *matrices(node, inputs), hermitian=bool(node.op.hermitian))]


@rule("LU")
@by_python
def lu(lower: Lowering, node: Any, inputs: list[Variable]) -> list[Variable]:
    a = cast(inputs[0], node.outputs[-1].type.dtype)
    if node.outputs[-1].type.dtype not in (*COMPLEX, *COMPLEX.values()):
        raise Refused(f"precast does not support it for {node.outputs[-1].type.dtype}")
    return list(call("lu", a, permute_l=node.op.permute_l, p_indices=node.op.p_indices))


@rule("LUFactor")
@by_python
def lu_factor(lower: Lowering, node: Any, inputs: list[Variable]) -> list[Variable]:
    factors, pivots = call("lu_factor", *matrices(node, inputs))
    # PyTensor returns NaN for a singular matrix.
    pivot = call("diagonal", factors, axis1=-2, axis2=-1)
    is_singular = call("any", call("eq", pivot, 0.0), axis=-1)
    return [call("where", call("expand_dims", is_singular, axis=(-2, -1)), float("nan"), factors), pivots]


@rule("PivotToPermutations")
@by_python
def pivots_to_permutation(lower: Lowering, node: Any, inputs: list[Variable]) -> list[Variable]:
    order = call("pivot_to_permutation", cast(inputs[0], "int64"))
    return [order if node.op.inverse else call("argsort", order)]


@rule("Expm")
@by_python
def expm(lower: Lowering, node: Any, inputs: list[Variable]) -> list[Variable]:
    return [call("expm", *matrices(node, inputs))]


@rule("TRSYL")
@by_python
def triangular_sylvester(lower: Lowering, node: Any, inputs: list[Variable]) -> list[Variable]:
    return [call("solve_sylvester", *matrices(node, inputs))]


@rule("Lstsq")
@by_python
def lstsq(lower: Lowering, node: Any, inputs: list[Variable]) -> list[Variable]:
    if node.inputs[1].type.ndim != 2:
        raise Refused("PyTensor declares a matrix as its result, but it is a vector")
    dtype = node.outputs[0].type.dtype
    a, b = (cast(value, dtype) for value in inputs[:2])
    # LAPACK takes a negative number as the precision.
    rcond = float(constant_value(node.inputs[2], "rcond"))
    x, squares, rank, singular = call("lstsq", a, b, rcond=rcond if rcond >= 0 else 2.0**-52)
    rows, columns = (call("shape_i", a, i=axis) for axis in range(2))
    is_determined = call("logical_and", call("eq", rank, columns), call("gt", rows, columns))
    return [x, squares[: call("where", is_determined, call("shape_i", b, i=1), 0)], rank, singular]


@rule("TensorInv")
@by_python
def tensorinv(lower: Lowering, node: Any, inputs: list[Variable]) -> list[Variable]:
    a, ind = cast(inputs[0], node.outputs[0].type.dtype), node.op.ind
    extents = [call("shape_i", a, i=axis) for axis in range(node.inputs[0].type.ndim)]
    made = call("inv", call("reshape", a, product(extents[ind:]), -1))
    return [call("reshape", made, *extents[ind:], *extents[:ind])]


@rule("TensorSolve")
@by_python
def tensorsolve(lower: Lowering, node: Any, inputs: list[Variable]) -> list[Variable]:
    a, b = (cast(value, node.outputs[0].type.dtype) for value in inputs)
    rank, of_x = node.inputs[0].type.ndim, node.inputs[0].type.ndim - node.inputs[1].type.ndim
    if of_x != node.outputs[0].type.ndim:
        raise Refused("PyTensor declares a result of another rank")
    last = [axis % rank for axis in node.op.axes or ()]
    a = call("transpose", a, *(axis for axis in range(rank) if axis not in last), *last)
    extents = [call("shape_i", a, i=axis) for axis in range(rank - of_x, rank)]
    count = product(extents)
    return [call("reshape", call("solve", call("reshape", a, count, count), call("flatten", b)), *extents)]
