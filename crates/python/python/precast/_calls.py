"""The Python functions that `Steps` call: random draws, decompositions, transforms and special functions of NumPy and SciPy.

A bundle names a function and its settings, and can name only functions from this table. Each function takes arrays and returns a
tuple. SciPy is imported at its first use.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy

from . import _lapack
from ._draws import draw

_OF_LAPACK = (_lapack.lu_factor, _lapack.lu_factor_tridiagonal, _lapack.qz, _lapack.schur, _lapack.solve_lu_factor_tridiagonal, _lapack.trsyl)
#: The functions by name.
CALLS: dict[str, Callable[..., tuple[Any, ...]]] = {made.__name__: made for made in (draw, *_OF_LAPACK)}

#: Functions of `scipy.special` that bundles call which were written before their ops were lowered.
SPECIAL = frozenset(
    "betaincinv erfcinv erfinv gammainccinv gammaincinv hyp2f1 i0 i0e i1 i1e ive jv kve ndtri_exp owens_t polygamma".split()
)


def _call(made: Callable[..., Any]) -> Callable[..., Any]:
    CALLS[made.__name__.strip("_")] = made
    return made


def _scipy(module: str) -> Any:
    return import_module(f"scipy.{module}")


@_call
def special(*arrays: Any, of: str) -> tuple[Any, ...]:
    """Returns a function of `scipy.special`, element by element."""
    if of not in SPECIAL:
        raise ValueError(f"unknown function `{of}`")
    function = getattr(_scipy("special"), of)
    # A ufunc would write to an additional argument. Functions that are not ufuncs have two arguments.
    if len(arrays) != (count := getattr(function, "nin", 2)):
        raise ValueError(f"expected {count} arrays, found {len(arrays)}")
    return (function(*arrays),)


@_call
def svd(a: Any, full_matrices: bool, compute_uv: bool) -> tuple[Any, ...]:
    made = numpy.linalg.svd(a, full_matrices, compute_uv)
    return tuple(made) if compute_uv else (made,)


@_call
def eig(a: Any) -> tuple[Any, ...]:
    return tuple(numpy.linalg.eig(a))


@_call
def eigh(a: Any, b: Any = None, *, lower: bool, driver: str | None) -> tuple[Any, ...]:
    # SciPy does not accept a driver for two matrices.
    chosen = {"driver": driver} if b is None else {}
    return tuple(_scipy("linalg").eigh(a, b, lower=lower, **chosen))


@_call
def eigvalsh(a: Any, b: Any = None, *, lower: bool) -> tuple[Any, ...]:
    return (_scipy("linalg").eigvalsh(a, b, lower=lower),)


@_call
def qr(a: Any, mode: str, pivoting: bool) -> tuple[Any, ...]:
    made = _scipy("linalg").qr(a, mode=mode, pivoting=pivoting, check_finite=False)
    made = made if isinstance(made, tuple) else (made,)
    # With `raw`, the first element is a pair.
    return (*made[0], *made[1:]) if mode == "raw" else made


@_call
def lu(a: Any, permute_l: bool, p_indices: bool) -> tuple[Any, ...]:
    return tuple(_scipy("linalg").lu(a, permute_l=permute_l, p_indices=p_indices))


@_call
def pivot_to_permutation(pivots: Any, inverse: bool) -> tuple[Any, ...]:
    order = numpy.arange(len(pivots))
    for at, other in enumerate(pivots):
        order[[at, other]] = order[[other, at]]
    return (order if inverse else numpy.argsort(order),)


@_call
def solve(a: Any, b: Any, lower: bool, assume_a: str) -> tuple[Any, ...]:
    try:
        return (_scipy("linalg").solve(a, b, lower=lower, check_finite=False, assume_a=assume_a),)
    except numpy.linalg.LinAlgError:
        return (numpy.full(b.shape, numpy.nan),)


@_call
def pinv(a: Any, hermitian: bool) -> tuple[Any, ...]:
    return (numpy.linalg.pinv(a, hermitian=hermitian),)


@_call
def lstsq(a: Any, b: Any, rcond: Any) -> tuple[Any, ...]:
    return tuple(numpy.linalg.lstsq(a, b, rcond))


@_call
def expm(a: Any) -> tuple[Any, ...]:
    return (_scipy("linalg").expm(a),)


@_call
def tensorinv(a: Any, ind: int) -> tuple[Any, ...]:
    return (numpy.linalg.tensorinv(a, ind),)


@_call
def tensorsolve(a: Any, b: Any, axes: Any) -> tuple[Any, ...]:
    return (numpy.linalg.tensorsolve(a, b, axes),)


# Older bundles call it.
@_call
def block_diag(*matrices: Any) -> tuple[Any, ...]:
    return (_scipy("linalg").block_diag(*matrices),)


@_call
def convolve(a: Any, b: Any, is_full: Any, method: str) -> tuple[Any, ...]:
    return (_scipy("signal").convolve(a, b, "full" if is_full else "valid", method),)


# Older bundles call it.
@_call
def unravel_index(indices: Any, shape: Any, order: str) -> tuple[Any, ...]:
    return tuple(numpy.unravel_index(indices, tuple(shape), order))


# Older bundles call it.
@_call
def ravel_multi_index(*indices_and_shape: Any, mode: str, order: str) -> tuple[Any, ...]:
    *indices, shape = indices_and_shape
    return (numpy.ravel_multi_index(tuple(indices), tuple(shape), mode, order),)


# Older bundles call it.
@_call
def choose(which: Any, choices: Any, mode: str) -> tuple[Any, ...]:
    return (numpy.choose(which, choices, mode=mode),)


# Older bundles call it.
@_call
def fill_diagonal(a: Any, value: Any) -> tuple[Any, ...]:
    made = numpy.array(a)
    numpy.fill_diagonal(made, value)
    return (made,)
