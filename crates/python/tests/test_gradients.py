"""Gradients of models that are built in Python, compiled and compared with central differences."""

import numpy as np
import precast
import pytest


def differences(cost, arrays, position, step=1e-5):
    """Returns the derivative of a cost by each element of an array."""
    result = np.empty_like(arrays[position])
    for place in np.ndindex(result.shape):
        costs = []
        for sign in (1, -1):
            moved = [array.copy() for array in arrays]
            moved[position][place] += sign * step
            costs.append(float(cost(*moved)))
        result[place] = (costs[0] - costs[1]) / (2 * step)
    return result


def logistic(x, y, w, b):
    z = x @ w + b
    return np.mean(np.logaddexp(0, z) - y * z)


def network(x, y, w, v):
    hidden = np.tanh(x @ w)
    z = hidden @ v
    z = z - np.max(z, axis=1, keepdims=True)
    return -np.sum(y * (z - np.log(np.sum(np.exp(z), axis=1, keepdims=True))))


def process(x, y, scale):
    distance = np.sum((x[:, None, :] - x[None, :, :]) ** 2, axis=2)
    covariance = np.exp(-distance / scale**2) + 0.1 * np.eye(5)
    factor = np.linalg.cholesky(covariance)
    solved = np.linalg.solve(factor, y[:, None])
    return 0.5 * np.sum(solved**2) + np.sum(np.log(np.diagonal(factor)))


rng = np.random.default_rng(7)
MODELS = {
    "logistic regression": (logistic, ["f64[?,3]", "f64[?]", "f64[3]", "f64[]"], [(6, 3), 6, 3, ()]),
    "network": (network, ["f64[?,3]", "f64[?,?]", "f64[3,4]", "f64[4,2]"], [(6, 3), (6, 2), (3, 4), (4, 2)]),
    "Gaussian process": (process, ["f64[5,?]", "f64[5]", "f64[]"], [(5, 2), 5, ()]),
}


@pytest.mark.parametrize("name", MODELS)
def test_gradients_of_models_match_differences(name, tmp_path):
    cost, types, shapes = MODELS[name]
    arrays = [np.asarray(rng.uniform(0.2, 0.9, shape)) for shape in shapes]
    inputs = [precast.input(f"x{i}", ty) for i, ty in enumerate(types)]
    gradients = precast.grad(cost(*inputs), inputs)
    function = precast.function(inputs, [cost(*inputs), *gradients], policy="jit", store=tmp_path)
    value, *found = function(*arrays)
    np.testing.assert_allclose(value, cost(*arrays), rtol=1e-12)
    for position, gradient in enumerate(found):
        np.testing.assert_allclose(gradient, differences(cost, arrays, position), rtol=1e-5, atol=1e-8)
    names = [f"x{i}" for i in range(len(inputs))]
    whole = precast.function(precast.graph(inputs, cost(*inputs)).value_and_grad(names), policy="jit", store=tmp_path)
    for ours, theirs in zip(found, list(whole(*arrays))[1:], strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_gradients_that_do_not_exist_are_errors():
    x, k = precast.input("x", "f64[?]"), precast.input("k", "i64[?]")
    with pytest.raises(precast.GraphTypeError, match="a cost without dimensions"):
        precast.grad(np.exp(x), x).type
    with pytest.raises(precast.GraphTypeError, match="i64"):
        precast.grad(np.sum(x * k), k).type
    with pytest.raises(precast.GraphValueError, match="no input `y`"):
        precast.graph([x], np.sum(x)).value_and_grad(["y"])


def test_independent_variables_are_named():
    x, k = precast.input("x", "f64[?]"), precast.input("a_name_of_its_own", "f64[?]")
    with pytest.raises(precast.GraphValueError, match="does not depend on `a_name_of_its_own`"):
        precast.grad(np.sum(x), k).type
