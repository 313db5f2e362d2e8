"""Rejected calls, each with the matching built-in exception and a message about the function."""

import numpy as np
import precast
import pytest

X = np.arange(4.0)


@pytest.mark.parametrize(
    "args, named, text",
    [
        ((X, X), {}, "score\\(\\) missing required argument `z`"),
        ((X,), {"z": X}, "score\\(\\) missing required argument `y`"),
        ((X, X, X, X), {}, "takes 3 argument\\(s\\) but 4 were given"),
        ((X, X, X), {"w": X}, "unexpected keyword argument `w`"),
        ((X, X, X), {"x": X}, "multiple values for argument `x`"),
    ],
)
def test_wrong_arguments_raise_type_error_with_signature(model, args, named, text):
    with pytest.raises(precast.CallTypeError, match=text) as caught:
        model.score(*args, **named)
    assert isinstance(caught.value, TypeError) and model.score.signature in str(caught.value)


def test_another_dtype_is_a_type_error(model):
    with pytest.raises(TypeError, match="input `y` is `f32\\[4\\]`, expected `f64\\[\\?\\]`"):
        model.score(X, X.astype("f4"), X)


def test_another_rank_is_a_value_error(model):
    with pytest.raises(precast.CallValueError, match="input `y` is `f64\\[2,2\\]`, expected `f64\\[\\?\\]`"):
        model.score(X, X.reshape(2, 2), X)


def test_incompatible_extents_raise_value_error(model):
    with pytest.raises(ValueError, match="`x`: \\(4\\)"):
        model.score(X, X[:3], X)


def test_index_out_of_range_raises_index_error(model):
    assert model.pick(X, 3) == 3.0
    with pytest.raises(IndexError) as caught:
        model.pick(X, 4)
    assert isinstance(caught.value, precast.CallError)
    assert model.pick(X, 0) == 0.0


def test_another_byte_order_is_named_with_its_remedy(model):
    swapped = X.astype(X.dtype.newbyteorder("S"))
    with pytest.raises(TypeError, match="input `x` is of dtype `>f8`.*\nhint: pass `x.astype"):
        model.score(swapped, X, X)
    native = swapped.astype(swapped.dtype.newbyteorder("="))
    assert model.score(native, X, X) == model.score(X, X, X)


@pytest.mark.parametrize("dtype", ["longdouble", "clongdouble", "O", "U3", "S3", "M8[s]", "m8[s]", "f8,f8"])
def test_unsupported_dtype_is_named(model, dtype):
    with pytest.raises(precast.CallTypeError, match="input `x` is of dtype .*, expected `f64"):
        model.score(np.zeros(4, dtype), X, X)


def test_misaligned_elements_are_rejected_with_a_hint(model):
    room = np.zeros(4 * 8 + 1, np.uint8)
    with pytest.raises(ValueError, match="input `x`: .*multiple of 8 bytes.*\nhint: pass a copy"):
        model.score(room[1:].view("f8"), X, X)
    packed = np.zeros(4, [("a", "u1"), ("b", "f8")])
    with pytest.raises(ValueError, match="\nhint: pass a copy"):
        model.score(packed["b"], X, X)


def test_a_function_works_after_an_error(model):
    for _ in range(3):
        with pytest.raises(ValueError):
            model.score(X, X[:3], X)
        assert model.score(X, X, X) == pytest.approx(np.sum(np.exp(-X * X) * X + X))


def test_every_exception_derives_from_one_base():
    for name in precast.__all__:
        thing = getattr(precast, name)
        if isinstance(thing, type) and issubclass(thing, BaseException):
            assert issubclass(thing, precast.PrecastError)


@pytest.mark.parametrize("policy", ["jit", "interpret"])
@pytest.mark.parametrize(
    "inputs, output, given, kind",
    [
        ("x: f64[?], i: i64[]", "x[i]", (X, 7), precast.CallIndexError),
        ("x: f64[?], i: i64[?]", "x[i]", (X, np.array([1, -9])), precast.CallIndexError),
        ("x: f64[?], m: bool[?]", "x[m]", (X, np.array([True])), precast.CallIndexError),
        ("x: f64[?], i: i64[?]", "inc_subtensor(x[i], 1.0)", (X, np.array([4])), precast.CallIndexError),
        ("x: f64[?], c: bool[]", "assert(x, c, message='no')", (X, False), precast.CallAssertionError),
        ("x: f64[?], n: i64[]", "reshape(x, [n])", (X, 3), precast.CallValueError),
        ("x: i64[?]", "max(x)", (np.zeros(0, int),), precast.CallValueError),
    ],
)
def test_error_type_is_equal_under_every_policy(policy, inputs, output, given, kind):
    function = precast.function(inputs, f"out = {output}", policy=policy)
    with pytest.raises(precast.CallError) as caught:
        function(*given)
    assert type(caught.value) is kind
