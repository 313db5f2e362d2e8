"""Random draws as functions of a key, with ``random="counter"``.

A draw has the distribution of PyTensor's op, not its numbers. Params that NumPy rejects give NaN, or -1 for counts; bounds of integers
that contain no integer raise an error. The generators of PyTensor are not used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ..._variable import Variable, call
from .batches import Batch
from .elementwise import index
from .lowering import Held, Lowering, cast, constant, name_of, rule

#: Computes draws. The arguments are the draw and its params.
Compute = Callable[..., Variable]

_COMPUTES: dict[str, Compute] = {}


class Draw:
    """The draws of an Apply: their key, the extents of their batch, and their op."""

    def __init__(self, lower: Lowering, node: Any, inputs: Sequence[Any]) -> None:
        assert lower.keys is not None
        self.node, self.op, self._key = node, node.op, lower.keys.next()
        self.batch = Batch.of(lower, node, inputs)

    def key(self, number: int | None = None) -> Variable:
        """Returns the key, or the key with this number of a draw that combines several ones."""
        return self._key if number is None else call("random_fold_in", self._key, number)

    def of(self, name: str, *params: Any, number: int | None = None, more: Sequence[Any] = (), **settings: Any) -> Variable:
        """Draws from a distribution of `precast.random`, for each element of the batch and of further axes."""
        return call(f"random_{name}", self.key(number), *params, (*self.batch.extents, *more), **settings)


def distribution(*names: str) -> Callable[[Compute], Compute]:
    """Declares the computation of the draws of ops by class name."""

    def declare(compute: Compute) -> Compute:
        _COMPUTES.update(dict.fromkeys(names, compute))
        rule(*names, of="counter")(drawn)
        return compute

    return declare


def drawn(lower: Lowering, node: Any, inputs: list[Any]) -> list[Any]:
    draw = Draw(lower, node, inputs)
    made = _COMPUTES[name_of(node.op)](draw, *inputs[2:])
    return [inputs[0], draw.batch.checked(lower, node.outputs[1], made)]


@rule("AbstractRNGConstructor", "DefaultGeneratorMakerOp", of="counter")
def generator(lower: Lowering, node: Any, inputs: list[Any]) -> Held:
    return Held("generator")


def reals(*params: Variable) -> list[Variable]:
    return [cast(param, "float64") for param in params]


def integers(*params: Variable) -> list[Variable]:
    return [cast(param, "int64") for param in params]


def where(condition: Variable, draw: Variable, otherwise: float) -> Variable:
    return call("where", condition, draw, otherwise)


def scaled(draw: Variable, scale: Variable, location: Variable | None = None) -> Variable:
    """Scales and moves draws; a negative scale gives NaN."""
    (scale,) = reals(scale)
    made = where(scale >= 0, scale, math.nan) * draw
    return made if location is None else made + cast(location, "float64")


def last(values: Variable) -> Variable:
    """Adds a last axis of extent 1."""
    return index(values, (..., None))


@distribution("NormalRV", "LaplaceRV", "LogisticRV", "GumbelRV", "CauchyRV")
def _moved(draw: Draw, location: Variable, scale: Variable) -> Variable:
    return scaled(draw.of(draw.op.name), scale, location)


@distribution("HalfNormalRV", "HalfCauchyRV")
def _half(draw: Draw, location: Variable, scale: Variable) -> Variable:
    return scaled(abs(draw.of(draw.op.name.removeprefix("half"))), scale, location)


@distribution("LogNormalRV")
def _lognormal(draw: Draw, mean: Variable, deviation: Variable) -> Variable:
    return call("exp", scaled(draw.of("normal"), deviation, mean))


@distribution("UniformRV")
def _uniform(draw: Draw, low: Variable, high: Variable) -> Variable:
    low, high = reals(low, high)
    return scaled(draw.of("uniform"), high - low, low)


@distribution("ExponentialRV")
def _exponential(draw: Draw, scale: Variable) -> Variable:
    return scaled(draw.of("exponential"), scale)


@distribution("GammaRV")
def _gamma(draw: Draw, shape: Variable, scale: Variable) -> Variable:
    return scaled(draw.of("gamma", shape), scale)


@distribution("InvGammaRV")
def _inverse_gamma(draw: Draw, shape: Variable, scale: Variable) -> Variable:
    return scaled(1 / draw.of("gamma", shape), scale)


@distribution("GenGammaRV")
def _general_gamma(draw: Draw, alpha: Variable, p: Variable, scale: Variable) -> Variable:
    alpha, p = reals(alpha, p)
    return scaled(call("exp", draw.of("loggamma", alpha / p) / p), scale)


@distribution("BetaRV")
def _beta(draw: Draw, alpha: Variable, beta: Variable) -> Variable:
    return draw.of("beta", alpha, beta)


@distribution("StudentTRV")
def _student_t(draw: Draw, freedom: Variable, location: Variable, scale: Variable) -> Variable:
    return scaled(draw.of("student_t", freedom), scale, location)


@distribution("ParetoRV")
def _pareto(draw: Draw, shape: Variable, scale: Variable) -> Variable:
    (shape,) = reals(shape)
    return scaled(call("exp", draw.of("exponential") / where(shape > 0, shape, math.nan)), scale)


@distribution("WeibullRV")
def _weibull(draw: Draw, shape: Variable) -> Variable:
    (shape,) = reals(shape)
    return draw.of("exponential") ** (1 / where(shape >= 0, shape, math.nan))


@distribution("TriangularRV")
def _triangular(draw: Draw, left: Variable, mode: Variable, right: Variable) -> Variable:
    left, mode, right = reals(left, mode, right)
    u, span = draw.of("uniform"), right - left
    rising = left + call("sqrt", u * span * (mode - left))
    falling = right - call("sqrt", (1 - u) * span * (right - mode))
    is_valid = call("logical_and", left <= mode, mode <= right)
    return where(call("logical_and", is_valid, left < right), call("where", u * span <= mode - left, rising, falling), math.nan)


@distribution("TruncExponentialRV")
def _truncated_exponential(draw: Draw, bound: Variable, location: Variable, scale: Variable) -> Variable:
    (bound,) = reals(bound)
    standard = -call("log1p", draw.of("uniform") * call("expm1", -where(bound > 0, bound, math.nan)))
    return scaled(standard, scale, location)


@distribution("VonMisesRV")
def _von_mises(draw: Draw, mean: Variable, concentration: Variable) -> Variable:
    return draw.of("von_mises", mean, concentration)


def wald(draw: Draw, mean: Variable, scale: Variable) -> Variable:
    """Draws from the inverse Gaussian distribution by the method of J. R. Michael, W. R. Schucany and R. W. Haas (1976)."""
    mean, scale = reals(mean, scale)
    mean, scale = where(mean > 0, mean, math.nan), where(scale > 0, scale, math.nan)
    y = mean * draw.of("normal", number=0) ** 2
    # The smaller root of a quadratic equation, without cancellation.
    root = 2 * mean * scale / (2 * scale + y + call("sqrt", y * (4 * scale + y)))
    return call("where", draw.of("uniform", number=1) * (mean + root) <= mean, root, mean * mean / root)


@distribution("WaldRV")
def _wald(draw: Draw, mean: Variable, scale: Variable) -> Variable:
    return wald(draw, mean, scale)


@distribution("BernoulliRV")
def _bernoulli(draw: Draw, p: Variable) -> Variable:
    (p,) = reals(p)
    return where(call("logical_and", p >= 0, p <= 1), cast(draw.of("uniform") < p, "float64"), -1)


@distribution("PoissonRV")
def _poisson(draw: Draw, mean: Variable) -> Variable:
    return draw.of("poisson", mean)


@distribution("BinomialRV")
def _binomial(draw: Draw, n: Variable, p: Variable) -> Variable:
    return draw.of("binomial", n, p)


@distribution("NegBinomialRV")
def _negative_binomial(draw: Draw, n: Variable, p: Variable) -> Variable:
    return draw.of("negative_binomial", n, p)


@distribution("BetaBinomialRV")
def _beta_binomial(draw: Draw, n: Variable, alpha: Variable, beta: Variable) -> Variable:
    return draw.of("binomial", n, draw.of("beta", alpha, beta, number=0), number=1)


@distribution("GeometricRV")
def _geometric(draw: Draw, p: Variable) -> Variable:
    (p,) = reals(p)
    count = call("ceil", draw.of("exponential") / -call("log1p", -p))
    # The greatest f64 that i64 can hold.
    count = call("clip", count, 1.0, 2.0**63 - 1024)
    return where(call("logical_and", p > 0, p <= 1), count, -1)


@distribution("HyperGeometricRV")
def _hypergeometric(draw: Draw, good: Variable, bad: Variable, count: Variable) -> Variable:
    """Takes the sample one by one, in a loop of as many steps as the largest sample has elements."""
    good, bad, count = reals(good, bad, count)
    steps = call("max", call("concatenate", [call("flatten", count), constant([0], "float64")]))
    zeros = call("zeros_like", draw.of("uniform", number=0))

    def step(carry: Any, _: Any) -> Any:
        number, left, taken = carry
        u = call("random_uniform", call("random_fold_in", draw.key(1), number), tuple(draw.batch.extents))
        is_good = u * left < good - taken
        is_taken = call("logical_and", is_good, cast(number, "float64") < count)
        return (number + 1, left - 1, taken + cast(is_taken, "float64")), None

    first = (constant(0, "int64"), good + bad + zeros, zeros)
    (_, _, taken), _ = call("scan", step, first, None, length=cast(steps, "int64"))
    is_valid = call("logical_and", call("logical_and", good >= 0, bad >= 0), call("logical_and", count >= 0, count <= good + bad))
    return where(is_valid, taken, -1)


def between(draw: Draw, low: Variable, high: Variable) -> Variable:
    """Draws integers from `low` to `high`, excluding `high`."""
    low, high = integers(low, high)
    low = call("assert", low, low < high, message="integers: low >= high", error="value")
    return call("random_randint", draw.key(), tuple(draw.batch.extents), low, high)


@distribution("IntegersRV")
def _integers(draw: Draw, low: Variable, high: Variable) -> Variable:
    return between(draw, low, high)
