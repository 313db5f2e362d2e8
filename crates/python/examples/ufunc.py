"""Turns compiled functions into a NumPy ufunc, which broadcasts and reduces."""

import numpy as np
import precast

single = precast.function("x: f32[?], y: f32[?]", "out = sqrt(x*x + y*y)", name="norm")
double = precast.function("x: f64[?], y: f64[?]", "out = sqrt(x*x + y*y)", name="norm")
norm = double.ufunc(single)

print(norm.types)
print(norm.outer([3.0, 5.0], [4.0, 12.0]))
print(norm.reduce(np.float32([2, 3, 6])))
