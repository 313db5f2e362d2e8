"""Passes a compiled function to SciPy, which calls it without running Python code."""

import math

import precast
from scipy import integrate

wave = precast.function("x: f64, a: f64", "y = exp(-a*x*x)")
area, error = integrate.quad(wave.low_level_callable(a=2.0), -math.inf, math.inf)
print(f"{area:.12f}")
print(f"{math.sqrt(math.pi / 2):.12f}")
