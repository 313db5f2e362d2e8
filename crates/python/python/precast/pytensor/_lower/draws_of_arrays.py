"""Random draws of arrays and of categories, with ``random="counter"``."""

from __future__ import annotations

from ..._variable import Variable, call
from .draws import Draw, distribution, integers, last, reals, where
from .elementwise import index
from .lowering import Refused
from .shapes import extents_of


@distribution("MvNormalRV")
def _normal_vectors(draw: Draw, mean: Variable, covariance: Variable) -> Variable:
    return draw.of("multivariate_normal", mean, covariance)


@distribution("DirichletRV")
def _dirichlet(draw: Draw, alpha: Variable) -> Variable:
    return draw.of("dirichlet", alpha)


@distribution("MultinomialRV")
def _multinomial(draw: Draw, n: Variable, p: Variable) -> Variable:
    return draw.of("multinomial", n, p)


@distribution("CategoricalRV")
def _categorical(draw: Draw, p: Variable) -> Variable:
    (p,) = reals(p)
    sums = call("cumsum", p, axis=-1)
    found = last(draw.of("uniform")) * index(sums, (..., slice(-1, None)))
    position = call("sum", index(sums, (..., slice(None, -1))) <= found, axis=-1)
    return where(call("all", p >= 0, axis=-1), position, -1)


@distribution("PermutationRV")
def _permutation(draw: Draw, x: Variable) -> Variable:
    core = draw.op.ndims_params[0]
    if not draw.batch.extents:
        return call("random_permutation", draw.key(), x)
    if core != 1:
        raise Refused("a batch of permutations must be of vectors")
    x = call("broadcast_to", x, (*draw.batch.extents, extents_of(x)[-1]))
    return call("random_permutation", draw.key(), x, axis=-1, independent=True)


@distribution("ChoiceWithoutReplacement")
def _choice(draw: Draw, a: Variable, *others: Variable) -> Variable:
    *p, shape = others
    if draw.batch.extents:
        raise Refused("a batch of choices without replacement is not supported")
    rest = max(draw.op.ndims_params[0] - 1, 0)
    wanted = [index(shape, at) for at in range(draw.node.outputs[1].type.ndim - rest)]
    return call("random_choice", draw.key(), a, tuple(wanted), replace=False, p=p[0] if p else None)


@distribution("pymc.MatrixNormalRV")
def _normal_matrices(draw: Draw, mean: Variable, rows: Variable, columns: Variable) -> Variable:
    mean, rows, columns = reals(mean, rows, columns)
    standard = draw.of("normal", more=extents_of(mean)[-2:])
    return mean + rows @ (standard @ call("swapaxes", columns, -1, -2))


@distribution("pymc.StickBreakingWeightsRV")
def _weights(draw: Draw, alpha: Variable, count: Variable) -> Variable:
    (alpha,), (count,) = reals(alpha), integers(count)
    # The numbers of all sticks are equal.
    count = index(call("flatten", count), 0)
    broken = draw.of("beta", 1.0, last(alpha), more=[count])
    left = call("cumprod", 1 - broken, axis=-1)
    before = call("concatenate", [call("ones_like", index(left, (..., slice(None, 1)))), index(left, (..., slice(None, -1)))], axis=-1)
    return call("concatenate", [before * broken, index(left, (..., slice(-1, None)))], axis=-1)
