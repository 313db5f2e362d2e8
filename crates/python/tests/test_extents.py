"""Tests of named extents and declared results: every way of calling a function checks them."""

import numpy as np
import precast
import pytest

FOUR, ONE, FIVE = np.ones(4), np.ones(1), np.ones(5)
MISMATCH = r"input `y` has extent {} on axis 0, but `n` is 4 \(axis 0 of input `x`\)"


@pytest.fixture(scope="module")
def add():
    return precast.function("x: f64[n], y: f64[n]", "out: f64[n] = x + y", name="add")


@pytest.mark.parametrize("y", [ONE, FIVE, np.ones(0), np.ones(8)[::8]])
def test_calls_with_other_extents_fail(add, y):
    message = MISMATCH.format(len(y))
    with pytest.raises(precast.CallValueError, match=message):
        add(FOUR, y)
    with pytest.raises(ValueError, match=message):
        add(x=FOUR, y=y, out=np.empty(4))


def test_equal_extents_work_on_every_path(add):
    assert (add(FOUR, FOUR) == 2).all()
    assert (add(np.ones(8)[::2], FOUR) == 2).all()
    assert add(np.ones(0), np.ones(0)).shape == (0,)
    assert add(ONE, ONE).shape == (1,)
    out = np.empty(4)
    assert add(FOUR, FOUR, out=out) is out
    assert (out == 2).all()


def test_names_are_shown(add):
    assert repr(add) == "<precast.Function add(x: f64[n], y: f64[n]) -> (out: f64[n])>"
    assert [str(port) for port in (*add.inputs, *add.outputs)] == ["x: f64[n]", "y: f64[n]", "out: f64[n]"]
    assert '"type":"f64[n]"' in add.graph.json()


def test_square_arrays_are_checked():
    double = precast.function("x: f64[n, n]", "x * 2")
    assert double(np.ones((3, 3))).shape == (3, 3)
    for shape in [(3, 4), (0, 4), (1, 4)]:
        with pytest.raises(precast.CallValueError, match="axis 1, but `n` is"):
            double(np.ones(shape))


def test_inputs_of_graphs_have_names():
    x, w, y = precast.input("x", "f64[n, k]"), precast.input("w", "f64[k]"), precast.input("y", "f64[n]")
    assert x.type.shape == (None, None)
    fit = precast.function([x, w, y], {"out": x @ w - y}, name="fit")
    assert fit.signature == "(x: f64[n,k], w: f64[k], y: f64[n]) -> (out: f64[?])"
    assert fit(np.ones((4, 2)), np.ones(2), FOUR).shape == (4,)
    with pytest.raises(precast.CallValueError, match=r"input `w` has extent 3 on axis 0, but `k` is 2 \(axis 1 of input `x`\)"):
        fit(np.ones((4, 2)), np.ones(3), FOUR)
    cost = precast.graph([x, w, y], {"cost": ((x @ w - y) ** 2).sum()}).value_and_grad(["w"])
    assert str(cost.outputs[1]) == "grad_w: f64[k]"


def test_declared_results_are_checked():
    with pytest.raises(precast.GraphValueError, match=r"`out` is `f64\[\?\]`, declared as `f32\[n\]`"):
        precast.function("x: f64[n]", "out: f32[n] = x / 255")
    tail = precast.function("x: f64[?], y: f64[n]", ["out: f64[n] = x[1:]", "sum(y)"])
    assert tail(FIVE, FOUR)[0].shape == (4,)
    with pytest.raises(precast.CallValueError, match="output `out` has extent 3 on axis 0, but `n` is 4"):
        tail(FOUR, FOUR)
    fixed = precast.function("x: f64[?]", "out: f64[3] = x[1:]")
    assert fixed(FOUR).shape == (3,)
    with pytest.raises(precast.CallValueError, match=r"output `out` is `f64\[4\]`, expected `f64\[3\]`"):
        fixed(FIVE)


def test_graphs_of_variables_declare_results():
    x = precast.input("x", "f64[n]")
    made = precast.function(precast.graph([x], {"out": x[1:], "same": x * 2}, types={"out": "f64[3]", "same": "f64[n]"}))
    assert "out: f64[3], same: f64[n]" in repr(made)
    assert made(FOUR)[0].shape == (3,)
    with pytest.raises(precast.CallValueError, match=r"output `out` is `f64\[4\]`, expected `f64\[3\]`"):
        made(FIVE)
    for types in ({"out": "f32[n]"}, {"out": "f64[2,n]"}, {"out": "f64["}, {"other": "f64[n]"}):
        with pytest.raises(precast.GraphValueError):
            precast.graph([x], {"out": x * 2}, types=types)
    with pytest.raises(precast.GraphTypeError, match="declare their types themselves"):
        precast.graph("x: f64[n]", "out = x", types={"out": "f64[n]"})


@pytest.mark.parametrize("extent", ["2n", "lambda", "a b", "a.b", "x", "-", "n" * (1 << 20)], ids=lambda text: text[:8])
def test_hostile_names_of_extents_are_rejected(extent):
    with pytest.raises(precast.GraphValueError):
        precast.function(f"x: f64[{extent}]", "x + 1")


def test_bundles_keep_names(tmp_path, add):
    path = tmp_path / "add.precast"
    precast.save(path, {"add": add, "plain": precast.graph("x: f64[?], y: f64[?]", "out = x + y")})
    model = precast.load(path)
    assert model.add.signature == add.signature
    assert (model.add(FOUR, FOUR) == 2).all()
    with pytest.raises(precast.CallValueError, match=MISMATCH.format(1)):
        model.add(FOUR, ONE)
    assert (model.plain(FOUR, ONE) == 2).all()
