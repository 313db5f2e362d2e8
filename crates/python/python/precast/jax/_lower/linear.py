"""Products of arrays, decompositions of matrices, systems of linear equations, Fourier transforms."""

from __future__ import annotations

from typing import Any

from ..._front.values import cast
from ..._variable import Variable, call
from .lowering import Extent, Lowering, Refused, dtype_of, numbers, rule, variable
from .shapes import permuted


def product(extents: Any) -> Extent:
    """Returns the product of extents."""
    known, made = 1, None
    for extent in extents:
        if isinstance(extent, Variable):
            made = extent if made is None else call("mul", made, extent)
        else:
            known *= extent
    return known if made is None else made if known == 1 else call("mul", made, known)


def shaped(x: Variable, before: Any, after: Any) -> Variable:
    """Returns elements in another shape."""
    return x if list(before) == list(after) else call("reshape", x, *after)


@rule("dot_general")
def dot_general(lower: Lowering, eqn: Any, x: Any, y: Any) -> Variable:
    """Sums products over the `inner` axes, for each index of the `batch` axes, as a product of matrices."""
    inner, batch = (tuple([int(axis) for axis in axes] for axes in pair) for pair in eqn.params["dimension_numbers"])
    dtype = dtype_of(eqn.outvars[0].aval)
    x, y = (cast(variable(each), dtype) for each in (x, y))
    ranks = [len(atom.aval.shape) for atom in eqn.invars]
    if not batch[0] and len(inner[0]) == 1 and max(ranks) <= 2:
        x = x if inner[0][0] == ranks[0] - 1 else permuted(x, [1, 0])
        y = y if inner[1][0] == 0 else permuted(y, [1, 0])
        return call("dot", x, y)
    free = [[axis for axis in range(rank) if axis not in own + more] for rank, own, more in zip(ranks, inner, batch, strict=True)]
    x, y = permuted(x, [*batch[0], *free[0], *inner[0]]), permuted(y, [*batch[1], *inner[1], *free[1]])
    extents = [lower.extents(atom.aval.shape) for atom in eqn.invars]
    stack = [extents[0][axis] for axis in batch[0]]
    rows, columns = ([own[axis] for axis in axes] for own, axes in zip(extents, free, strict=True))
    sums = [extents[0][axis] for axis in inner[0]]
    x = shaped(x, [*stack, *rows, *sums], [*stack, product(rows), product(sums)])
    y = shaped(y, [*stack, *sums, *columns], [*stack, product(sums), product(columns)])
    return shaped(call("matmul", x, y), [*stack, product(rows), product(columns)], [*stack, *rows, *columns])


def turned(x: Variable) -> Variable:
    """Returns matrices with their last two axes swapped."""
    return call("matrix_transpose", x)


@rule("cholesky")
def cholesky(lower: Lowering, eqn: Any, x: Any) -> Variable:
    return call("cholesky", variable(x), on_error="nan")


@rule("triangular_solve")
def triangular_solve(lower: Lowering, eqn: Any, a: Any, b: Any) -> Variable:
    params, a, b = eqn.params, variable(a), variable(b)
    is_lower = params["lower"]
    if params["conjugate_a"]:
        a = call("conj", a)
    if params["transpose_a"]:
        a, is_lower = turned(a), not is_lower
    settings = {"unit_diagonal": params["unit_diagonal"], "on_error": "nan"}
    if params["left_side"]:
        return call("solve_triangular", a, b, lower=is_lower, **settings)
    return turned(call("solve_triangular", turned(a), turned(b), lower=not is_lower, **settings))


@rule("tridiagonal_solve")
def tridiagonal_solve(lower: Lowering, eqn: Any, *operands: Any) -> Variable:
    return call("tridiagonal_solve", *map(variable, operands), on_error="nan")


@rule("lu")
def lu(lower: Lowering, eqn: Any, x: Any) -> list[Variable]:
    factors, pivots = call("lu_factor", variable(x))
    return [factors, pivots, order_of(pivots, eqn)]


def order_of(pivots: Variable, eqn: Any) -> Variable:
    return call("pivot_to_permutation", pivots)


@rule("lu_pivots_to_permutation")
def permutation(lower: Lowering, eqn: Any, pivots: Any) -> Variable:
    if eqn.params["permutation_size"] != eqn.invars[0].aval.shape[-1]:
        raise Refused("only square matrices are supported")
    return order_of(cast(variable(pivots), "int64"), eqn)


@rule("qr")
def qr(lower: Lowering, eqn: Any, x: Any) -> list[Variable]:
    mode = "complete" if eqn.params["full_matrices"] else "reduced"
    if not eqn.params.get("pivoting"):
        return list(call("qr", variable(x), mode=mode))
    q, r, columns = call("qr", variable(x), mode=mode, pivoting=True)
    return [q, r, cast(columns, "int32")]


def check_subset(eqn: Any) -> None:
    if eqn.params.get("subset_by_index") is not None:
        raise Refused("a subset of the values is not supported")


@rule("eigh")
def eigh(lower: Lowering, eqn: Any, x: Any) -> list[Variable]:
    check_subset(eqn)
    values, vectors = call("eigh", variable(x), UPLO="L" if eqn.params["lower"] else "U")
    return [vectors, values]


@rule("eig")
def eig(lower: Lowering, eqn: Any, x: Any) -> list[Variable]:
    if eqn.params["compute_left_eigenvectors"]:
        raise Refused("left eigenvectors are not supported")
    if not eqn.params["compute_right_eigenvectors"]:
        return [call("eigvals", variable(x))]
    return list(call("eig", variable(x)))


@rule("schur")
def schur(lower: Lowering, eqn: Any, x: Any) -> list[Variable]:
    if eqn.params["sort_eig_vals"]:
        raise Refused("sorted eigenvalues are not supported")
    return list(call("schur", variable(x)))[: 2 if eqn.params["compute_schur_vectors"] else 1]


@rule("svd")
def svd(lower: Lowering, eqn: Any, x: Any) -> list[Variable]:
    check_subset(eqn)
    if not eqn.params["compute_uv"]:
        return [call("svdvals", variable(x))]
    u, values, vh = call("svd", variable(x), full_matrices=eqn.params["full_matrices"])
    return [values, u, vh]


@rule("fft")
def fft(lower: Lowering, eqn: Any, x: Any) -> Variable:
    name = ("fftn", "ifftn", "rfftn", "irfftn")[int(eqn.params["fft_type"])]
    lengths = numbers(eqn.params["fft_lengths"])
    return call(name, variable(x), s=lengths, axes=list(range(-len(lengths), 0)))
