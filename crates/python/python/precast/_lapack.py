"""LAPACK functions from SciPy, where the functions of `scipy.linalg` differ from PyTensor. A missing result is NaN."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy


def _functions(names: str, *arrays: Any) -> Any:
    return import_module("scipy.linalg").get_lapack_funcs(names, arrays)


def lu_factor(a: Any) -> tuple[Any, ...]:
    if a.size == 0:
        return numpy.empty_like(a), numpy.empty(0, numpy.int32)
    made, pivots, info = _functions("getrf", a)(a)
    return (made if info == 0 else numpy.full_like(a, numpy.nan)), pivots


def lu_factor_tridiagonal(below: Any, diagonal: Any, above: Any) -> tuple[Any, ...]:
    return tuple(_functions("gttrf", below, diagonal, above)(below, diagonal, above)[:5])


def solve_lu_factor_tridiagonal(*factors_and_b: Any, transposed: bool) -> tuple[Any, ...]:
    *factors, pivots, b = factors_and_b
    # LAPACK does not validate the pivots, and does not support empty columns.
    rows = numpy.arange(1, len(factors[1]) + 1)
    if pivots.shape != rows.shape or not ((pivots == rows) | (pivots == rows + (rows < len(rows)))).all():
        raise ValueError("each pivot must be its row or the next one")
    if b.size == 0:
        return (numpy.empty_like(b),)
    solve = _functions("gttrs", *factors, b)
    return (solve(*factors, pivots, b, trans="T" if transposed else "N")[0],)


def trsyl(a: Any, b: Any, c: Any) -> tuple[Any, ...]:
    solve = _functions("trsyl", a, b, c)
    if a.size == 0 or b.size == 0:
        return (numpy.empty_like(c),)
    made, scale, info = solve(a, b, c)
    return (numpy.full_like(c, numpy.nan) if info < 0 else made * scale,)


#: The predicates of the eigenvalues that come first, by the value of `sort`.
_FIRST: dict[str, Callable[[Any], Any]] = {
    "lhp": lambda value: value.real < 0,
    "rhp": lambda value: value.real >= 0,
    "iuc": lambda value: abs(value) <= 1,
    "ouc": lambda value: abs(value) > 1,
}


def schur(a: Any, output: str, sort: str | None) -> tuple[Any, ...]:
    a = _complex(a) if output == "complex" else a
    gees = _functions("gees", a)
    if a.size == 0 or not numpy.isfinite(a).all():
        return (numpy.full(a.shape, numpy.nan, gees.dtype),) * 2

    def first(value: Any, imaginary: Any = None) -> Any:
        # For a real matrix, LAPACK passes the real and imaginary parts separately.
        return sort and _FIRST[sort](value if imaginary is None else value + imaginary * 1j)

    settings = {"sort_t": int(sort is not None)}
    room = gees(first, a, lwork=-1, **settings)[-2]
    made = gees(first, a, lwork=int(room[0].real), **settings)
    triangle, vectors, info = made[0], made[-3], made[-1]
    return (triangle, vectors) if info == 0 else (numpy.full(a.shape, numpy.nan, gees.dtype),) * 2


def qz(a: Any, b: Any, complex_output: bool, sort: str | None, return_eigenvalues: bool) -> tuple[Any, ...]:
    a, b = (_complex(a), _complex(b)) if complex_output else (a, b)
    gges = _functions("gges", a)

    def unsorted(*_: Any) -> None:
        return None

    room = gges(unsorted, a, b, lwork=-1, sort_t=0)[-2]
    s, t, _, *values, q, z, _, info = gges(unsorted, a, b, lwork=int(room[0].real), sort_t=0)
    if info == 0 and sort is not None:
        tgsen, length = _functions("tgsen", s, t), len(s)
        room = 4 * length + 16 if gges.typecode in "sd" else 1
        made = tgsen(_chosen(*_values(values), sort), s, t, q, z, ijob=0, lwork=room, liwork=1)
        s, t, *values, q, z = made[:-5]
        info = made[-1]
    made = [s, t, *(_values(values) if return_eigenvalues else ()), q, z]
    return tuple(made if info == 0 else (numpy.full_like(array, numpy.nan) for array in made))


def _complex(a: Any) -> Any:
    return a.astype(numpy.complex64 if a.dtype in (numpy.float32, numpy.complex64) else numpy.complex128, copy=False)


def _values(values: Any) -> tuple[Any, Any]:
    """Returns the numerators and denominators of eigenvalues. For real matrices, LAPACK returns numerators in two parts."""
    *alpha, beta = values
    return (alpha[0] if len(alpha) == 1 else alpha[0] + numpy.complex64(1j) * alpha[1]), beta


def _chosen(alpha: Any, beta: Any, sort: str) -> Any:
    """Returns which eigenvalues come first. The bounds are exclusive. An infinite eigenvalue only matches `ouc`."""
    is_finite = beta != 0
    chosen = ~is_finite & (alpha != 0) & (sort == "ouc")
    values = alpha[is_finite] / beta[is_finite]
    strictly = {"rhp": values.real > 0, "iuc": abs(values) < 1}
    chosen[is_finite] = strictly[sort] if sort in strictly else _FIRST[sort](values)
    return chosen
