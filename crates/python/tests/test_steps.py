"""Functions in steps accept numbers like all other functions."""

import math

import numpy as np
import precast
import pytest


def identity(type_):
    plan = {"inputs": [["x", type_]], "outputs": [["y", type_]], "generators": {}, "steps": [], "results": ["x"]}
    return precast.Steps("identity", plan, [])


@pytest.mark.parametrize(
    "type_, fits, wide",
    [("f32[]", 1e38, 1e39), ("f32[]", 2, 2**200), ("i8[]", -128, 200), ("u8[]", 255, 256), ("i64[]", 2**63 - 1, 2**63), ("f64[]", 1e308, 10**400)],
)
def test_steps_reject_numbers_too_large_for_dtype(type_, fits, wide):
    assert identity(type_)(fits) == np.dtype(precast.Type(type_).dtype).type(fits)
    with pytest.raises(precast.CallValueError, match="`x`: .*out of bounds for"):
        identity(type_)(wide)


def test_steps_accept_only_numbers_of_their_kind():
    assert identity("f32[]")(math.inf) == math.inf and identity("f64[]")(True) == 1.0
    for type_, value in [("i64[]", 1.0), ("f64[]", 1j), ("bool[]", 1)]:
        with pytest.raises(precast.CallTypeError):
            identity(type_)(value)
