"""Random draws of PyMC's own distributions, with ``random="counter"``."""

from __future__ import annotations

import math

from ..._variable import Variable, call
from .draws import Draw, between, distribution, reals, scaled, wald, where


@distribution("pymc.DiscreteUniformRV")
def _integers(draw: Draw, lower: Variable, upper: Variable) -> Variable:
    return between(draw, lower, upper + 1)


@distribution("pymc.MoyalRV")
def _moyal(draw: Draw, location: Variable, scale: Variable) -> Variable:
    return scaled(-(draw.of("loggamma", 0.5) + math.log(2)), scale, location)


@distribution("pymc.RiceRV")
def _rice(draw: Draw, distance: Variable, scale: Variable) -> Variable:
    (distance,) = reals(distance)
    moved = where(distance >= 0, distance, math.nan) + draw.of("normal", number=0)
    return scaled(call("sqrt", moved**2 + draw.of("normal", number=1) ** 2), scale)


@distribution("pymc.SkewNormalRV")
def _skew_normal(draw: Draw, location: Variable, scale: Variable, skew: Variable) -> Variable:
    (skew,) = reals(skew)
    u, v, root = draw.of("normal", number=0), draw.of("normal", number=1), call("sqrt", 1 + skew**2)
    made = (skew * u + v) / root
    return scaled(call("where", u >= 0, made, -made), scale, location)


@distribution("pymc.SkewStudentTRV")
def _skew_student_t(draw: Draw, a: Variable, b: Variable, location: Variable, scale: Variable) -> Variable:
    a, b = reals(a, b)
    share = draw.of("beta", a, b)
    made = (2 * share - 1) * call("sqrt", a + b) / (2 * call("sqrt", share * (1 - share)))
    return scaled(made, scale, location)


@distribution("pymc.TruncatedNormalRV")
def _truncated_normal(draw: Draw, mean: Variable, deviation: Variable, lower: Variable, upper: Variable) -> Variable:
    mean, deviation, lower, upper = reals(mean, deviation, lower, upper)
    standard = draw.of("truncated_normal", (lower - mean) / deviation, (upper - mean) / deviation)
    return scaled(standard, deviation, mean)


@distribution("pymc.WaldRV")
def _shifted_wald(draw: Draw, mean: Variable, scale: Variable, shift: Variable) -> Variable:
    return wald(draw, mean, scale) + shift
