"""Loops and branches with Python functions match the same loops in NumPy."""

import gc
import signal

import numpy as np
import precast
import pytest

V, M = np.array([0.5, -1.0, 2.0, 0.25]), np.arange(12.0).reshape(4, 3) / 8


def scalar(name="s"):
    return precast.input(name, "f64[]")


def vector(name="v"):
    return precast.input(name, "f64[?]")


def matrix(name="m"):
    return precast.input(name, "f64[?,?]")


def run(inputs, outputs, *arrays, policy="interpret"):
    return precast.function(inputs, outputs, policy=policy)(*arrays)


@pytest.mark.parametrize("policy", ["interpret", "jit"])
def test_scan_matches_a_loop(policy):
    v, s = vector(), scalar()
    total, rows = precast.scan(lambda carry, x: (carry * s + x, carry), 0, v)
    assert str(total.type) == "f64[]" and str(rows.type) == "f64[?]"
    carry, expected = 0.0, []
    for x in V:
        expected.append(carry)
        carry = carry * 0.5 + x
    for values, wanted in ((V, (carry, expected)), (V[:0], (0.0, []))):
        got = run([v, s], [total, rows], values, 0.5, policy=policy)
        np.testing.assert_array_equal(got[0], wanted[0])
        np.testing.assert_array_equal(got[1], wanted[1])


def test_scan_visits_rows_in_reverse():
    v = vector()
    _, rows = precast.scan(lambda carry, x: (carry + x, carry + x), 0.0, v, reverse=True)
    np.testing.assert_array_equal(run([v], rows, V), np.cumsum(V[::-1])[::-1])


def test_carries_and_rows_may_be_nested():
    v, m = vector(), matrix()

    def step(carry, xs):
        (a, [count, last]), (x, [row, k]) = carry, xs
        assert row.ndim == 1 and last.shape[0] is not None and count.dtype == np.int64
        return [a * x + row.sum(), (count + 1, last + row)], (a, [row * k, None])

    (a, (count, last)), (first, (rows, nothing)) = precast.scan(step, (1, (0, np.zeros(3))), (v, [m, np.arange(4)]))
    assert nothing is None
    got = run([v, m], [a, count, last, first, rows], V, M)
    wanted, firsts = 1.0, []
    for x, row in zip(V, M):
        firsts.append(wanted)
        wanted = wanted * x + row.sum()
    for one, other in zip(got, (wanted, 4, M.sum(axis=0), firsts, M * np.arange(4)[:, None])):
        np.testing.assert_allclose(one, other, rtol=1e-15)
    assert got[1].dtype == np.int64


def test_scan_without_sequences_needs_a_length():
    n = precast.input("n", "i64[]")
    _, powers = precast.scan(lambda carry, _: (carry * 2, carry), 1, length=n)
    assert run([n], powers, 5).tolist() == [1, 2, 4, 8, 16]
    assert run([], precast.scan(lambda carry, _: (carry * 2, carry), 1, None, 3)[0]) == 8
    with pytest.raises(ValueError, match="`scan`.*number of steps"):
        precast.scan(lambda carry, _: (carry, carry), 1)


def test_while_loop_matches_a_loop():
    s, v = scalar(), vector()
    count, value = precast.while_loop(lambda c: (c[1].sum() < s) & (c[0] < 50), lambda c: (c[0] + 1, c[1] * 2), (0, v))
    got = run([s, v], [count, value], 100.0, V)
    wanted, steps = V, 0
    while wanted.sum() < 100 and steps < 50:
        wanted, steps = wanted * 2, steps + 1
    assert got[0] == steps
    np.testing.assert_array_equal(got[1], wanted)
    assert run([s, v], count, -100.0, V) == 0


@pytest.mark.parametrize("policy", ["interpret", "jit"])
def test_nested_loops_capture_variables_of_each_other(policy):
    m, s = matrix(), scalar()
    scale = s * 2

    def outer(total, row):
        shift = row[0] + scale
        inner, _ = precast.scan(lambda c, x: (c + x * shift + total * 0.125, None), s, row)
        return inner, precast.fori_loop(0, row.size, lambda i, c: c + row[i] * i, 0.0)

    total, rows = precast.scan(outer, 0.0, m)
    got = run([m, s], [total, rows], M, 1.5, policy=policy)
    wanted, expected = 0.0, []
    for row in M:
        inner = 1.5
        for x in row:
            inner = inner + x * (row[0] + 3.0) + wanted * 0.125
        wanted = inner
        expected.append((row * np.arange(3)).sum())
    np.testing.assert_allclose(got[0], wanted, rtol=1e-14)
    np.testing.assert_allclose(got[1], expected, rtol=1e-14)


@pytest.mark.parametrize("policy", ["interpret", "jit"])
def test_branches_are_computed_only_if_selected(policy):
    m, s, n = matrix(), scalar(), precast.input("n", "i64[]")
    chosen = precast.cond(s > 0, lambda: np.linalg.cholesky(m), lambda: m * s)
    np.testing.assert_array_equal(run([m, s], chosen, -np.eye(2), -1.0, policy=policy), np.eye(2))
    with pytest.raises(precast.CallError):
        run([m, s], chosen, -np.eye(2), 1.0, policy=policy)
    several = precast.branch(n, [np.exp, precast.sin, lambda x: x + s], s)
    for position, expected in ((0, np.exp(0.5)), (1, np.sin(0.5)), (2, 1.0), (7, 1.0), (-1, np.exp(0.5))):
        assert run([n, s], several, position, 0.5, policy=policy) == pytest.approx(expected, rel=1e-15)


def test_operands_of_branches_may_be_numbers():
    s = scalar()
    both = precast.cond(s > 0, lambda x, pair: (x + pair[0], pair[1]), lambda x, pair: (x * 2.0, s), float("nan"), (s, 3.0))
    assert np.isnan(run([s], both[0], 1.0)) and run([s], both[1], 1.0) == 3.0 and run([s], both[1], -1.0) == -1.0


def test_function_is_called_again_if_the_carry_widens():
    v, seen = vector(), []

    def step(carry, x):
        seen.append(str(carry.type))
        return carry + x, None

    assert run([v], precast.scan(step, 0, v)[0], V) == V.sum()
    assert seen == ["i64[]", "f64[]"]
    grown, _ = precast.scan(lambda carry, x: (np.concatenate([carry, carry[-1:] + x]), None), np.zeros(1), v)
    assert str(grown.type) == "f64[?]"
    np.testing.assert_array_equal(run([v], grown, V), [0.0, *np.cumsum(V)])


def test_values_before_and_after_a_loop_are_shared():
    v = vector()
    before = np.exp(v)
    total, _ = precast.scan(lambda carry, x: (carry + (x * before).sum(), None), 0.0, v)
    text = str(precast.graph([v], [total + before.sum(), precast.scan(lambda c, x: (c + before[0], x), 0.0, v)[0]]))
    assert text.count("exp(") == 1, text


def test_gradients_pass_through_loops():
    v, s = vector(), scalar()
    cost, _ = precast.scan(lambda carry, x: (np.sin(carry) * x * s, None), s, v)
    text = precast.function("v: f64[?], s: f64[]", "c = scan(lambda c, x: (sin(c) * x * s, None), s, v)[0]\ngrad(c, s)", policy="interpret")
    assert run([v, s], precast.grad(cost, s), V, 0.7) == text(V, 0.7)
    # A derivative inside of a function.
    newton = precast.while_loop(lambda x: abs(x * x - s) > 1e-12, lambda x: x - (x * x - s) / precast.grad(x * x - s, x), 1.0)
    assert run([s], newton, 2.0) == pytest.approx(np.sqrt(2), rel=1e-12)
    slope = precast.grad(precast.cond(s > 0, lambda: s**3, lambda: s * 2), s)
    assert run([s], slope, 2.0) == 12.0 and run([s], slope, -2.0) == 2.0


def test_custom_gradients_replace_the_derivative():
    v, s = vector(), scalar()
    rounded = precast.custom_gradient(np.round(v), lambda g, x: g * 3, v)
    np.testing.assert_array_equal(run([v], rounded, V), np.round(V))
    np.testing.assert_array_equal(run([v], precast.grad((rounded * v).sum(), v), V), 3 * V + np.round(V))
    scaled = precast.custom_gradient(v * s, lambda g, x, y: (g * y, None), v, s)
    np.testing.assert_array_equal(run([v, s], precast.grad(scaled.sum(), v), V, 0.5), np.full_like(V, 0.5))
    total, _ = precast.scan(lambda c, x: (c + precast.custom_gradient(x, lambda g, x: g * 2, x), None), 0.0, v)
    np.testing.assert_array_equal(run([v], precast.grad(total, v), V), np.full_like(V, 2))
    for rule, match in [(lambda g, x: g.sum(), "by input 0 has type"), (lambda g, x: (g, g), "returns 2 results"), (lambda g, x: None, "returns no gradient")]:
        with pytest.raises(ValueError, match=f"`custom_gradient`.*{match}"):
            precast.custom_gradient(v, rule, v)


def test_scan_may_end_early():
    v = vector()
    last, rows = precast.scan(lambda carry, x: (carry + x, carry, carry + x < 0), 0.0, v, until=True)
    got = run([v], [last, rows], V)
    assert got[0] == -0.5
    np.testing.assert_array_equal(got[1], [0.0, 0.5])
    with pytest.raises(ValueError, match="`scan`.*expected three results"):
        precast.scan(lambda carry, x: (carry, x), 0.0, v, until=True)


def test_arguments_of_inner_functions_must_not_leak():
    v, leaked = vector(), []

    def inner(carry, x):
        leaked.append(x)
        return carry + x, None

    def outer(carry, x):
        return precast.scan(inner, carry, v)[0] + leaked[-1], None

    with pytest.raises(ValueError, match="an argument of a function of `scan` is used outside"):
        precast.scan(outer, 0.0, v)


def test_leaked_arguments_are_refused():
    v, leaked = vector(), []

    def step(carry, x):
        leaked.append(x * 2)
        return carry + x, carry

    total, _ = precast.scan(step, 0.0, v)
    match = "an argument of a function of `scan` is used outside"
    with pytest.raises(ValueError, match=match):
        precast.graph([v], leaked[0] + 1)
    with pytest.raises(ValueError, match=match):
        precast.graph([v], precast.scan(lambda carry, x: (carry + leaked[0], x), 0.0, v)[0])
    with pytest.raises(ValueError, match=match):
        precast.graph([v], precast.cond(v[0] > 0, lambda: leaked[0], lambda: v[0]))
    assert run([v], total, V) == V.sum()


@pytest.mark.parametrize(
    "wrong, kind, match",
    [
        (lambda v: precast.scan(lambda c, x: c, 0.0, v), ValueError, "`scan`.*expected a pair"),
        (lambda v: precast.scan(lambda c, x: ((c, c), x), 0.0, v), ValueError, "`scan`.*as carry"),
        (lambda v: precast.scan(lambda c, x: (v, x), 0.0, v), ValueError, "`scan`.*for carry 0"),
        (lambda v: precast.scan(lambda c, x: ({}, x), 0.0, v), TypeError, "`scan`: the result of the function: found a `dict`"),
        (lambda v: precast.scan(v, 0.0, v), TypeError, "`scan`.*a function"),
        (lambda v: precast.while_loop(lambda c: c, lambda c: c, v), ValueError, r"`while_loop`.*bool\[\]"),
        (lambda v: precast.cond(v[0] > 0, lambda: v, lambda: (v, v)), ValueError, "`cond`.*returns a tuple of 2"),
        (lambda v: precast.scan(lambda c: c, 0.0, v), TypeError, "positional argument"),
        (lambda v: precast.scan(lambda c, x: 1 // 0, 0.0, v), ZeroDivisionError, "by zero"),
        (lambda v: precast.sum(lambda x: x), TypeError, "`sum`"),
        (lambda v: v + (lambda x: x), TypeError, "`add`"),
        (lambda v: precast.cond(v[0] > 0, lambda f: v, lambda f: v, abs), TypeError, "a function cannot be"),
    ],
)
def test_mistakes_are_refused(wrong, kind, match):
    with pytest.raises(kind, match=match):
        wrong(vector())


@pytest.mark.parametrize("step", [lambda c, x: (c if c else x, x), lambda c, x: (c, list(x))])
def test_values_are_unknown_in_functions(step):
    with pytest.raises(precast.GraphTypeError, match="when the graph is built"):
        precast.scan(step, 0.0, matrix())


def test_loops_of_many_steps_and_nodes_are_freed():
    v = vector()

    def long(carry, x):
        for _ in range(3000):
            carry = carry + x
        return carry, None

    total = precast.scan(long, 0.0, v)[0]
    assert run([v], total, np.ones(2)) == 6000
    del total
    gc.collect()


def test_graphs_with_loops_are_saved(tmp_path):
    v, s = vector(), scalar()
    total, rows = precast.scan(lambda carry, x: (precast.cond(x > 0, lambda: carry + x, lambda: carry * s), carry), 0.0, v)
    graph = precast.graph([v, s], {"total": total, "rows": rows})
    assert '"scan"' in graph.json() and "<svg" in graph._repr_svg_()
    precast.save(tmp_path / "loops.precast", {"loops": graph}, isa="x86-64-v2", store=tmp_path / "store")
    got, wanted = precast.load(tmp_path / "loops.precast").loops(V, 0.5), run([v, s], [total, rows], V, 0.5)
    for one, other in zip(got, wanted):
        np.testing.assert_array_equal(one, other)


class Alarm(Exception):
    pass


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers that send signals")
@pytest.mark.parametrize("start", [1.0, np.ones(300)], ids=["numbers", "tensors"])
@pytest.mark.parametrize("policy", ["jit", "interpret"])
def test_signals_end_loops(start, policy):
    def ring(*_):
        raise Alarm

    x = precast.input("x", "f64[]" if np.ndim(start) == 0 else "f64[?]")
    endless = precast.while_loop(lambda c: precast.sum(c) > 0, lambda c: c * 1.0, x)
    function = precast.function([x], [endless], policy=policy)
    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, 1.0 if policy == "interpret" else 5.0)
        with pytest.raises(Alarm):
            function(start)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
