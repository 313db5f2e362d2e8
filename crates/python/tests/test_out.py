"""`out=`: results in arrays from the caller."""

import numpy as np
import precast
import pytest


@pytest.fixture
def x():
    return np.arange(6.0)


def test_call_writes_to_out_and_returns_it(model, x):
    out = np.empty(6)
    assert model.scale(x, 2.0, out=out) is out
    assert np.array_equal(out, x * 2)


def test_out_tuple_receives_several_results(model):
    x = np.random.default_rng(1).normal(size=(4, 3))
    out = np.empty(3), np.empty(3)
    assert model.moments(x, out=out) is out
    assert np.allclose(out[0], x.mean(axis=0)) and np.allclose(out[1], x.std(axis=0))


def test_one_result_may_be_in_a_tuple(model, x):
    out = (np.empty(6),)
    assert model.scale(x, 3.0, out=out) is out and out[0][1] == 3.0


def test_out_may_be_zero_dimensional(model, x):
    out = np.empty(())
    assert model.score(x, x, x, out=out) is out
    assert out == model.score(x, x, x)


def test_out_may_have_strides(model, x):
    room = np.zeros(12)
    model.scale(x, 2.0, out=room[::-2])
    assert np.array_equal(room[::-2], x * 2) and not room[::2].any()


@pytest.mark.parametrize("view", [np.s_[:6], np.s_[1:7], np.s_[6:0:-1]])
def test_out_may_overlap_an_input(model, view):
    room = np.arange(8.0)
    x = room[:6]
    want = x * 2
    model.scale(x, 2.0, out=room[view])
    assert np.array_equal(room[view], want)


def test_overlapping_outs_are_rejected(model):
    x = np.random.default_rng(1).normal(size=(4, 3))
    room = np.zeros(12)
    for one, other in [(room[:3], room[:3]), (room[:3], room[2:5]), (room[:6:2], room[4::-2]), (room[:9:3], room[6:9])]:
        for kind in (np.asarray, lambda array: array.view(np.recarray)):
            with pytest.raises(precast.CallValueError, match="share memory\nhint: "):
                model.moments(x, out=(kind(one), kind(other)))
    assert not room.any()


def test_outs_may_interleave(model):
    x = np.random.default_rng(1).normal(size=(4, 3))
    room = np.zeros(6)
    model.moments(x, out=(room[::2], room[1::2]))
    assert np.allclose(room[::2], x.mean(axis=0)) and np.allclose(room[1::2], x.std(axis=0))


def test_hints_for_out_show_a_matching_array(model, x):
    with pytest.raises(precast.CallTypeError) as caught:
        model.scale(x, 2.0, out=np.empty(6, ">f8"))
    assert "astype" not in str(caught.value) and 'numpy.empty(shape, "float64")' in str(caught.value)


@pytest.mark.parametrize(
    "out, kind, text",
    [
        (np.empty(5), ValueError, "output `y` has type `f64\\[5\\]`, expected `f64\\[6\\]`"),
        (np.empty((2, 3)), ValueError, "output `y` has type"),
        (np.empty(6, np.float32), TypeError, "output `y` has type `f32"),
        (np.empty(6, ">f8"), TypeError, "output `y` is of dtype `>f8`, expected `f64\\[\\?\\]`\nhint: "),
        (np.broadcast_to(np.empty(1), (6,)), ValueError, "output `y`: .*read-only"),
        ((np.empty(6), np.empty(6)), TypeError, "expected 1 output array\\(s\\), found 2"),
        ((), TypeError, "expected 1 output array\\(s\\), found 0"),
        ([0.0] * 6, TypeError, "`out` for output `y` is not a NumPy array"),
    ],
)
def test_out_for_another_result_is_rejected(model, x, out, kind, text):
    with pytest.raises(kind, match=text) as caught:
        model.scale(x, 2.0, out=out)
    assert isinstance(caught.value, precast.CallError)


def test_out_with_zero_strides_is_rejected(model, x):
    shared = np.lib.stride_tricks.as_strided(np.empty(6), (6,), (0,))
    with pytest.raises(ValueError, match="output `y`: .*stride of 0"):
        model.scale(x, 2.0, out=shared)
