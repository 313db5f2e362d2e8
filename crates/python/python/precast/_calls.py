"""What functions in steps ask Python for: decompositions of NumPy and SciPy, SciPy's functions, and draws from generators.

A bundle says which of these it asks for, by its name and its settings; it cannot name anything else. Each takes arrays and gives a
tuple. SciPy is imported when it is asked for the first time.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy

#: By name.
CALLS: dict[str, Callable[..., tuple[Any, ...]]] = {}

#: Distributions that NumPy's generators have, by the name of the method.
DRAWN = frozenset(
    "beta binomial exponential gamma geometric hypergeometric integers laplace logistic lognormal normal poisson triangular uniform "
    "vonmises wald weibull".split()
)
#: Those of SciPy's: by the name of PyTensor's function SciPy's, how many params are given by position, and the names of the others.
DRAWN_BY_SCIPY: dict[str, tuple[str, int, tuple[str, ...]]] = {
    "bernoulli": ("bernoulli", 1, ()),
    "beta_binomial": ("betabinom", 3, ()),
    "cauchy": ("cauchy", 0, ("loc", "scale")),
    "gumbel": ("gumbel_r", 0, ("loc", "scale")),
    "halfcauchy": ("halfcauchy", 0, ("loc", "scale")),
    "halfnormal": ("halfnorm", 0, ("loc", "scale")),
    "negative_binomial": ("nbinom", 2, ()),
    "pareto": ("pareto", 1, ("scale",)),
    "t": ("t", 1, ("loc", "scale")),
    "truncexpon": ("truncexpon", 1, ("loc", "scale")),
}
#: Functions of `scipy.special` that PyTensor has no C of.
SPECIAL = frozenset(
    "betaincinv erfcinv erfinv gammainccinv gammaincinv hyp2f1 i0 i1 ive jv kve ndtri_exp owens_t polygamma".split()
)


def _call(made: Callable[..., Any]) -> Callable[..., Any]:
    CALLS[made.__name__.strip("_")] = made
    return made


def _scipy(module: str) -> Any:
    return import_module(f"scipy.{module}")


def _lapack(name: str, *arrays: Any) -> Any:
    return _scipy("linalg").get_lapack_funcs(name, arrays)


def copied(generator: numpy.random.Generator) -> numpy.random.Generator:
    """A generator that goes on as another one would."""
    made = type(generator.bit_generator)(0)
    made.state = generator.bit_generator.state
    return numpy.random.Generator(made)


@_call
def draw(generator: Any, size: Any, *params: Any, of: str) -> tuple[Any, ...]:
    """A draw, and the generator behind it; the one that is given stays as it is."""
    generator, size = copied(generator), None if size is None else tuple(int(extent) for extent in size)
    if of in DRAWN:
        return generator, getattr(generator, of)(*params, size)
    if of == "invgamma":
        shape, scale = params
        return generator, 1 / generator.gamma(shape, 1 / scale, size)
    name, count, named = DRAWN_BY_SCIPY[of]
    rvs = getattr(_scipy("stats"), name).rvs
    made = rvs(*params[:count], **dict(zip(named, params[count:], strict=True)), size=size, random_state=generator)
    # SciPy drops dimensions of one element.
    shape = numpy.broadcast_shapes(*map(numpy.shape, params)) if size is None else size
    return generator, numpy.broadcast_to(made, shape)


@_call
def special(*arrays: Any, of: str) -> tuple[Any, ...]:
    """A function of SciPy's, element by element."""
    if of not in SPECIAL:
        raise ValueError(f"`{of}` is none of the functions that may be asked for")
    return (getattr(_scipy("special"), of)(*arrays),)


@_call
def svd(a: Any, full_matrices: bool, compute_uv: bool) -> tuple[Any, ...]:
    made = numpy.linalg.svd(a, full_matrices, compute_uv)
    return tuple(made) if compute_uv else (made,)


@_call
def eig(a: Any) -> tuple[Any, ...]:
    return tuple(numpy.linalg.eig(a))


@_call
def eigh(a: Any, b: Any = None, *, lower: bool, driver: str | None) -> tuple[Any, ...]:
    # SciPy takes no driver for two matrices.
    chosen = {"driver": driver} if b is None else {}
    return tuple(_scipy("linalg").eigh(a, b, lower=lower, **chosen))


@_call
def eigvalsh(a: Any, b: Any = None, *, lower: bool) -> tuple[Any, ...]:
    return (_scipy("linalg").eigvalsh(a, b, lower=lower),)


@_call
def qr(a: Any, mode: str, pivoting: bool) -> tuple[Any, ...]:
    made = _scipy("linalg").qr(a, mode=mode, pivoting=pivoting)
    made = made if isinstance(made, tuple) else (made,)
    # The first of `raw` are two.
    return (*made[0], *made[1:]) if mode == "raw" else made


@_call
def lu(a: Any, permute_l: bool, p_indices: bool) -> tuple[Any, ...]:
    return tuple(_scipy("linalg").lu(a, permute_l=permute_l, p_indices=p_indices))


@_call
def lu_factor(a: Any) -> tuple[Any, ...]:
    if a.size == 0:
        return numpy.empty_like(a), numpy.empty(0, numpy.int32)
    made, pivots, info = _lapack("getrf", a)(a)
    return (made if info == 0 else numpy.full_like(a, numpy.nan)), pivots


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


@_call
def block_diag(*matrices: Any) -> tuple[Any, ...]:
    return (_scipy("linalg").block_diag(*matrices),)
