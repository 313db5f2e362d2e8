"""Draws from NumPy generators. They return the same numbers as the ops of PyTensor and PyMC.

A bundle names a distribution by the name of its op, with the prefix ``pymc.`` for ops of PyMC, and can name only distributions from
these tables. SciPy is imported at its first use.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy

#: The distributions that are methods of NumPy generators.
_METHODS = frozenset(
    "beta binomial exponential gamma geometric hypergeometric integers laplace logistic lognormal normal poisson triangular uniform "
    "vonmises wald weibull".split()
)
#: The distributions of SciPy by op name: the name in SciPy, the number of positional params, and the names of keyword params.
_BY_SCIPY: dict[str, tuple[str, int, tuple[str, ...]]] = {
    "bernoulli": ("bernoulli", 1, ()),
    "beta_binomial": ("betabinom", 3, ()),
    "cauchy": ("cauchy", 0, ("loc", "scale")),
    "gumbel": ("gumbel_r", 0, ("loc", "scale")),
    "halfcauchy": ("halfcauchy", 0, ("loc", "scale")),
    "halfnormal": ("halfnorm", 0, ("loc", "scale")),
    "negative_binomial": ("nbinom", 2, ()),
    "pareto": ("pareto", 1, ("scale",)),
    "pymc.moyal": ("moyal", 0, ("loc", "scale")),
    "pymc.rice": ("rice", 0, ("b", "scale")),
    "pymc.skewnormal": ("skewnorm", 0, ("loc", "scale", "a")),
    "pymc.skewstudentt": ("jf_skew_t", 0, ("a", "b", "loc", "scale")),
    "t": ("t", 1, ("loc", "scale")),
    "truncexpon": ("truncexpon", 1, ("loc", "scale")),
}
#: The remaining distributions. The arguments are the generator, the size, the params, and settings of the op.
_OTHERS: dict[str, Callable[..., Any]] = {}

_Size = tuple[int, ...] | None


def names() -> frozenset[str]:
    """Returns the names of all distributions."""
    return _METHODS | _BY_SCIPY.keys() | _OTHERS.keys()


def copied(generator: numpy.random.Generator) -> numpy.random.Generator:
    """Returns a copy of a generator with the same state."""
    made = type(generator.bit_generator)(0)
    made.state = generator.bit_generator.state
    return numpy.random.Generator(made)


def draw(generator: numpy.random.Generator, size: Any, *params: Any, of: str, **settings: Any) -> tuple[Any, ...]:
    """Draws with a copy of a generator. Returns the copy and the draw; the original generator does not change."""
    generator, size = copied(generator), None if size is None else tuple(int(extent) for extent in size)
    if of in _METHODS:
        return generator, getattr(generator, of)(*params, size)
    if of in _OTHERS:
        return generator, _OTHERS[of](generator, size, *params, **settings)
    name, count, named = _BY_SCIPY[of]
    return generator, _by_scipy(name, generator, size, params[:count], dict(zip(named, params[count:], strict=True)))


def _by_scipy(name: str, generator: Any, size: _Size, params: Sequence[Any], named: dict[str, Any]) -> Any:
    made = getattr(import_module("scipy.stats"), name).rvs(*params, **named, size=size, random_state=generator)
    # SciPy drops dimensions of one element.
    shape = numpy.broadcast_shapes(*map(numpy.shape, [*params, *named.values()])) if size is None else size
    return numpy.reshape(made, shape)


def _other(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def declare(made: Callable[..., Any]) -> Callable[..., Any]:
        _OTHERS[name] = made
        return made

    return declare


def _size(size: _Size, *batches: tuple[int, ...]) -> tuple[int, ...]:
    """Returns the shape of the draws: the requested size, or else the shape of the params. The size must not be broadcast."""
    batch = numpy.broadcast_shapes(*batches)
    if size is not None and numpy.broadcast_shapes(size, batch) != size:
        raise ValueError(f"size {size} does not match distributions of shape {batch}")
    return batch if size is None else size


def _each(draw_one: Callable[..., Any], size: _Size, params: Sequence[Any], cores: Sequence[int], drawn: Any) -> Any:
    """Makes one draw for each element of `size`. The last dimensions of a param, as many as `cores` states, belong to one draw.

    `drawn` contains the shape of one draw, and the dtype.
    """
    own = [numpy.ndim(param) - core for param, core in zip(params, cores, strict=True)]
    size = _size(size, *(numpy.shape(param)[:at] for param, at in zip(params, own, strict=True)))
    spread = [numpy.broadcast_to(param, size + numpy.shape(param)[at:]) for param, at in zip(params, own, strict=True)]
    shape, dtype = drawn
    made = numpy.empty((*size, *shape), dtype)
    for index in numpy.ndindex(size):
        made[index] = draw_one(*(param[index] for param in spread))
    return made


@_other("categorical")
def _categorical(generator: Any, size: _Size, p: Any) -> Any:
    size = _size(size, p.shape[:-1])
    find = numpy.vectorize(numpy.searchsorted, otypes=[numpy.int64], signature="(n),()->()")
    return find(p.cumsum(axis=-1), generator.uniform(size=size))


@_other("choice_without_replacement")
def _choice_without_replacement(generator: Any, size: _Size, a: Any, *others: Any, core: int) -> Any:
    # The last param is the number of draws, which is the same for all.
    *p, count = others
    wanted = tuple(int(extent) for extent in count[(0,) * (count.ndim - 1)])
    if a.ndim == core:
        # NumPy rejects an empty size for arrays of several dimensions.
        return generator.choice(a, wanted or None, replace=False, p=p[0] if p else None)

    def one(a: Any, p: Any = None) -> Any:
        return generator.choice(a, wanted, replace=False, p=p)

    return _each(one, size, [a, *p], [core, 1][: 1 + len(p)], ((*wanted, *a.shape[a.ndim - core + 1 :]), a.dtype))


@_other("dirichlet")
def _dirichlet(generator: Any, size: _Size, alpha: Any) -> Any:
    if alpha.ndim == 1:
        return generator.dirichlet(alpha, size)
    return _each(generator.dirichlet, size, [alpha], [1], (alpha.shape[-1:], float))


@_other("gengamma")
def _gengamma(generator: Any, size: _Size, alpha: Any, p: Any, scale: Any) -> Any:
    return _by_scipy("gengamma", generator, size, [alpha / p, p], {"scale": scale})


@_other("invgamma")
def _invgamma(generator: Any, size: _Size, shape: Any, scale: Any) -> Any:
    return 1 / generator.gamma(shape, 1 / scale, size)


@_other("multinomial")
def _multinomial(generator: Any, size: _Size, n: Any, p: Any) -> Any:
    if n.ndim == 0 and p.ndim == 1:
        return generator.multinomial(n, p, size)
    return _each(generator.multinomial, size, [n, p], [0, 1], (p.shape[-1:], numpy.int64))


@_other("multivariate_normal")
def _multivariate_normal(generator: Any, size: _Size, mean: Any, cov: Any, *, method: str) -> Any:
    size = _size(size, mean.shape[:-1], cov.shape[:-2])
    if method == "cholesky":
        root = numpy.linalg.cholesky(cov)
    else:
        vectors, values = numpy.linalg.svd(cov)[:2] if method == "svd" else numpy.linalg.eigh(cov)[::-1]
        root = vectors * numpy.sqrt(values)[..., None, :]
    return numpy.einsum("...ij,...j->...i", root, generator.normal(size=(*size, mean.shape[-1]))) + mean


@_other("permutation")
def _permutation(generator: Any, size: _Size, x: Any, *, core: int) -> Any:
    if x.ndim == core:
        return generator.permutation(x if core else x.item())
    return _each(generator.permutation, size, [x], [core], (x.shape[x.ndim - core :], x.dtype))


@_other("pymc.discrete_uniform")
def _discrete_uniform(generator: Any, size: _Size, lower: Any, upper: Any) -> Any:
    return _by_scipy("randint", generator, size, [lower, upper + 1], {})


@_other("pymc.matrixnormal")
def _matrix_normal(generator: Any, size: _Size, mean: Any, rows: Any, columns: Any) -> Any:
    # `rows` and `columns` are the Cholesky factors of the covariances of rows and columns.
    size = _size(size, mean.shape[:-2], rows.shape[:-2], columns.shape[:-2])
    drawn = generator.standard_normal((*size, rows.shape[-2], columns.shape[-2]))
    return mean + rows @ (drawn @ columns.swapaxes(-1, -2))


@_other("pymc.stick_breaking_weights")
def _stick_breaking_weights(generator: Any, size: _Size, alpha: Any, count: Any) -> Any:
    size = alpha.shape if size is None else size
    broken = generator.beta(1, alpha[..., None], (*size, int(count.squeeze())))
    left = numpy.concatenate([numpy.ones((*size, 1)), numpy.cumprod(1 - broken[..., :-1], axis=-1)], axis=-1)
    made = left * broken
    return numpy.concatenate([made, 1 - made.sum(axis=-1, keepdims=True)], axis=-1)


@_other("pymc.truncated_normal")
def _truncated_normal(generator: Any, size: _Size, mean: Any, deviation: Any, lower: Any, upper: Any) -> Any:
    given = {"a": (lower - mean) / deviation, "b": (upper - mean) / deviation, "loc": mean, "scale": deviation}
    return _by_scipy("truncnorm", generator, size, [], {name: param.astype(float) for name, param in given.items()})


@_other("pymc.wald")
def _shifted_wald(generator: Any, size: _Size, mean: Any, scale: Any, shift: Any) -> Any:
    return generator.wald(mean, scale, size) + shift
