"""Loops and branches of JAX are loops and branches of precast: any number of steps, and only the selected branch."""

import pytest

pytest.importorskip("jax")
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax import lax  # noqa: E402
from jax_frozen import check, frozen  # noqa: E402

X = np.linspace(-1.0, 1.0, 12).reshape(4, 3)


def test_scans_match_jax():
    def step(carry, row):
        total, count = carry
        return (total + row[0], count + 1), {"total": total, "rows": [row[1] * 2, None]}

    for reverse in (False, True):
        check(lambda x: lax.scan(step, (jnp.zeros(3), 0), (x, x[:, :2]), reverse=reverse), X)
    check(lambda x: lax.scan(lambda c, _: (c * 2, c), x, None, length=5), X)
    check(lambda x: lax.map(lambda row: row.sum(), x), X)
    check(lambda x: lax.scan(lambda c, row: (c + row, c), jnp.zeros(3), x[:0]), X)


def test_a_scan_of_many_steps_is_a_loop():
    fn = frozen(lambda x: lax.fori_loop(0, 100_000, lambda i, v: v * 0.5 + 1.0, x), np.float64(0.0), policy="jit")
    assert fn(0.0) == 2.0


def test_nested_loops_match_jax():
    def outer(carry, row):
        inner = lax.fori_loop(0, 3, lambda i, v: v + row[i] * carry, jnp.zeros(()))
        return lax.cond(inner > 0, lambda: carry + inner, lambda: carry - 1.0), inner

    check(lambda x: lax.scan(outer, 1.0, x), X)
    check(jax.grad(lambda x: lax.scan(outer, 1.0, x)[0]), X)


def test_while_loops_match_jax():
    check(lambda x: lax.while_loop(lambda c: c[0] < 10, lambda c: (c[0] + 1, c[1] * x, c[2]), (0, x, jnp.arange(2))), X[0, 0])
    collatz = lambda n: lax.while_loop(lambda c: c[0] != 1, lambda c: (jnp.where(c[0] % 2 == 0, c[0] // 2, 3 * c[0] + 1), c[1] + 1), (n, 0))  # noqa: E731
    check(collatz, np.int64(27))
    # A batch of loops of different lengths.
    check(jax.vmap(collatz), np.array([1, 6, 27, 97]))
    check(jax.vmap(jax.vmap(collatz)), np.array([[1, 6], [27, 97]]))


def test_positions_of_branches_are_clamped():
    branches = [lambda x: x, lambda x: x * 2, lambda x: -x]
    for at in (-5, 0, 1, 2, 9):
        check(lambda i, x: lax.switch(i, branches, x), np.int32(at), X)
        check(lambda x: lax.switch(at, branches, x), X)
    check(jax.vmap(lambda i, x: lax.switch(i, branches, x)), np.array([0, 2, 1, 7]), X)


def test_functions_with_own_derivatives_match_jax():
    @jax.custom_jvp
    def first(x):
        return jnp.sin(x)

    first.defjvp(lambda primals, tangents: (first(*primals), 2 * tangents[0]))

    @jax.custom_vjp
    def second(x):
        return jnp.cos(x)

    second.defvjp(lambda x: (second(x), x), lambda x, g: (3 * g,))
    for fn in (first, second, jax.checkpoint(jnp.tanh), jax.jit(jnp.exp)):
        check(fn, X)
        check(jax.grad(lambda x: fn(x).sum()), X)


def test_systems_with_own_solvers_match_jax():
    matrix = np.diag([2.0, 3.0, 4.0])
    check(lambda b: lax.custom_linear_solve(lambda x: matrix @ x, b, lambda _, b: b / jnp.diagonal(matrix), symmetric=True), X[0])
    check(lambda b: jax.scipy.sparse.linalg.cg(lambda x: matrix @ x, b)[0], X[0], near=100)


def test_roots_with_own_solvers_match_jax():
    def solve(f, guess):
        return lax.while_loop(lambda x: jnp.abs(f(x)) > 1e-10, lambda x: x - f(x) / (2 * x), guess)

    def root(square):
        return lax.custom_root(lambda x: x**2 - square, square, solve, lambda g, y: y / g(jnp.ones(())))

    check(root, np.float64(2.0))
    check(jax.grad(root), np.float64(2.0))


def test_constants_of_closures_are_constants_of_the_graph():
    weights = np.arange(3.0)
    fn = frozen(lambda x: x @ weights, "f64[n,3]")
    assert [port.name for port in fn.inputs] == ["x"]
    np.testing.assert_array_equal(fn(X), X @ weights)
    weights[:] = 7.0
    np.testing.assert_array_equal(fn(X), X @ np.arange(3.0))
