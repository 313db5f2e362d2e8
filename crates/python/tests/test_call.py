"""Calls: arguments and results, which are not copied."""

import array
import os
import subprocess
import sys
import threading

import numpy as np
import precast
import pytest


def expected(x, y, z):
    return np.sum(np.exp(-x * x) * y + z)


@pytest.fixture
def xyz():
    return tuple(np.random.default_rng(12).normal(size=(3, 1000)))


def test_arguments_pass_by_position_and_name(model, xyz):
    x, y, z = xyz
    for got in (
        model.score(x, y, z),
        model.score(x, z=z, y=y),
        model.score(z=z, y=y, x=x),
    ):
        assert got == pytest.approx(expected(x, y, z), rel=1e-13)


def test_scalar_result_is_a_numpy_scalar(model, xyz):
    assert type(model.score(*xyz)) is np.float64


@pytest.mark.parametrize(
    "view",
    [
        np.s_[:],
        np.s_[::2],
        np.s_[::-1],
        np.s_[-1::-3],
        np.s_[5:5],
        np.s_[3:4],
    ],
)
def test_views_are_read_without_copying(model, xyz, view):
    x, y, z = (each[view] for each in xyz)
    assert model.score(x, y, z) == pytest.approx(expected(x, y, z), rel=1e-13)
    assert np.array_equal(model.scale(x, 2.0), x * 2.0)


def test_orders_and_broadcasts_of_two_dimensions(model):
    x = np.random.default_rng(1).normal(size=(6, 5))
    for each in (x, x.T, np.asfortranarray(x), x[::-2, ::2], np.broadcast_to(x[:1], (4, 5))):
        mean, spread = model.moments(each)
        assert np.allclose(mean, each.mean(axis=0)) and np.allclose(spread, each.std(axis=0))


def test_read_only_inputs_are_read(model, xyz):
    for each in xyz:
        each.setflags(write=False)
    assert model.score(*xyz) == pytest.approx(expected(*xyz), rel=1e-13)


def test_several_results_are_a_tuple(model):
    results = model.moments(np.zeros((2, 3)))
    assert type(results) is tuple and [each.shape for each in results] == [(3,), (3,)]


def test_results_own_their_memory(model):
    results = [model.scale(np.full(1000, float(n)), 1.0) for n in range(100)]
    assert all((each == n).all() for n, each in enumerate(results))
    first = results[0]
    assert first.flags.writeable and first.flags.c_contiguous and first.flags.aligned
    first += 1
    assert (first == 1).all() and (results[1] == 1).all()
    kept = results.pop()[10:20]
    del results
    assert (kept == 99).all()


def test_results_of_no_elements(model):
    assert model.scale(np.empty(0), 1.0).shape == (0,)
    mean, _ = model.moments(np.ones((3, 0)))
    assert mean.shape == (0,)


NAMES = {
    "bool": "bool",
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "u8": "uint8",
    "u16": "uint16",
    "u32": "uint32",
    "u64": "uint64",
    "f16": "float16",
    "f32": "float32",
    "f64": "float64",
    "c64": "complex64",
    "c128": "complex128",
}


@pytest.mark.parametrize("ours", NAMES)
def test_every_dtype_round_trips(model, ours):
    dtype = np.dtype(NAMES[ours])
    data = np.random.default_rng(3).integers(0, 256, size=12 * dtype.itemsize, dtype=np.uint8)
    x = (data % 2).view(bool) if ours == "bool" else data.view(dtype)
    result = model[f"keep_{ours}"](x)
    assert result.dtype == dtype and result.tobytes() == x[::-1].tobytes()


def test_bfloat16_comes_from_ml_dtypes(model):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x = np.array([1.0, 2.5, -3.0], dtype=ml_dtypes.bfloat16)
    result = model.keep_bf16(x)
    assert result.dtype == x.dtype and result.tolist() == [-3.0, 2.5, 1.0]
    with pytest.raises(TypeError, match="expected `bf16"):
        model.keep_bf16(np.ones(3, np.float16))


def test_bf16_result_without_ml_dtypes_has_a_hint(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    from precast._foreign import bfloat16

    with pytest.raises(TypeError, match="hint: `pip install ml_dtypes`"):
        bfloat16()


@pytest.mark.parametrize("alias", ["long", "longlong", "intp", "uintp", "ulonglong"])
def test_integer_dtypes_match_by_size(model, alias):
    x = np.arange(4, dtype=alias)
    ours = "i64" if x.dtype.kind == "i" else "u64"
    assert x.dtype.itemsize != 8 or model[f"keep_{ours}"](x).tolist() == [3, 2, 1, 0]


@pytest.mark.parametrize(
    "ours, value",
    [
        ("bool", True),
        ("i8", -128),
        ("i8", True),
        ("u64", 2**64 - 1),
        ("f16", 0.1),
        ("f32", 0.1),
        ("f32", 7),
        ("c64", 1.5 + 2j),
        ("c128", 0.1 - 2j),
        ("c128", 3),
    ],
)
def test_python_numbers_use_the_input_dtype(model, ours, value):
    x = np.zeros(2, NAMES[ours])
    assert np.array_equal(model[f"fill_{ours}"](x, value), np.full(2, value, x.dtype))


@pytest.mark.parametrize(
    "ours, value, kind",
    [
        ("bool", 1, "int"),
        ("i8", 1.0, "float"),
        ("u64", 1j, "complex"),
        ("f32", 1j, "complex"),
    ],
)
def test_number_of_a_wider_kind_is_rejected(model, ours, value, kind):
    with pytest.raises(precast.CallTypeError, match=f"input `by`.* Python {kind}, expected .*`{ours}`"):
        model[f"fill_{ours}"](np.zeros(2, NAMES[ours]), value)


@pytest.mark.parametrize("ours, value", [("i8", 128), ("u64", -1), ("u64", 2**64)])
def test_number_out_of_range_is_rejected(model, ours, value):
    with pytest.raises(precast.CallValueError, match="input `by`"):
        model[f"fill_{ours}"](np.zeros(2, NAMES[ours]), value)


def test_numpy_scalars_keep_their_dtype(model):
    x = np.ones(2)
    assert model.scale(x, np.float64(3)).tolist() == [3.0, 3.0]
    assert model.scale(x, np.array(3.0)).tolist() == [3.0, 3.0]
    with pytest.raises(TypeError, match="input `by` is `f32\\[\\]`, expected `f64\\[\\]`"):
        model.scale(x, np.float32(3))


class Interface:
    """An array with only NumPy's interface."""

    def __init__(self, x):
        self.__array_interface__ = x.__array_interface__
        self.keeps = x


class DLPack:
    """An array with only DLPack."""

    def __init__(self, x):
        self.x = x

    def __dlpack__(self, **how):
        return self.x.__dlpack__(**how)

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()


@pytest.mark.parametrize("wrap", [Interface, DLPack, memoryview, lambda x: array.array("d", x)])
def test_arrays_of_other_libraries_are_borrowed(model, wrap):
    x = np.arange(5.0)
    assert model.scale(wrap(x), 2.0).tolist() == [0.0, 2.0, 4.0, 6.0, 8.0]


@pytest.mark.parametrize("other", [[1.0, 2.0], (1.0,), "12", None, object()])
def test_non_arrays_are_rejected(model, other):
    with pytest.raises(precast.CallTypeError, match="input `x`.*expected an array or a number\nhint: "):
        model.scale(other, 2.0)


def test_invalid_bool_bytes_are_rejected(model):
    x = np.array([0, 1, 2, 1], np.uint8).view(bool)
    assert model.keep_bool(x[:2]).tolist() == [True, False]
    assert model.keep_bool(x[1::2]).tolist() == [True, True]
    with pytest.raises(precast.CallValueError, match="neither 0 nor 1"):
        model.keep_bool(x[::-1])


def test_functions_release_the_gil(model):
    x = np.ones(2_000_000)
    done = threading.Event()
    count = 0

    def call():
        for _ in range(20):
            model.score(x, x, x)
        done.set()

    # Without thread switches, another thread runs only while this one releases the GIL.
    before = sys.getswitchinterval()
    sys.setswitchinterval(1000.0)
    try:
        thread = threading.Thread(target=call)
        thread.start()
        while not done.wait(0.0005):
            count += 1
        thread.join()
    finally:
        sys.setswitchinterval(before)
    assert count > 0


def test_threads_share_a_function(model, xyz):
    want = model.score(*xyz)
    got = []

    def call():
        got.extend(model.score(*xyz) == want for _ in range(200))

    threads = [threading.Thread(target=call) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(got) == 800 and all(got)


def test_calls_leak_no_references(model, xyz):
    x, y, z = xyz
    out = np.empty(1000)

    def call():
        model.score(x, y, z)
        model.score(x, y=y, z=z)
        model.scale(x, 2.0)
        model.scale(x, 2.0, out=out)
        with pytest.raises(ValueError):
            model.scale(x, y)

    call()
    counted = [sys.getrefcount(each) for each in (x, y, z, out, x.dtype, model.score)]
    for _ in range(1000):
        call()
    again = [sys.getrefcount(each) for each in (x, y, z, out, x.dtype, model.score)]
    # The dtype is shared: the references of other tests may come and go.
    assert max(abs(a - b) for a, b in zip(counted, again)) < 100


def test_thread_count_does_not_change_bits(model):
    a = np.linspace(-3, 3, 200_000)
    whole = [model.score(a, a + 1, a - 1)]
    try:
        for n in (2, 3):
            precast.set_num_threads(n)
            assert precast.get_num_threads() == n
            whole.append(model.score(a, a + 1, a - 1))
    finally:
        precast.set_num_threads(1)
    assert whole[0] == whole[1] == whole[2]
    for wrong, error in ((0, ValueError), (-1, OverflowError), ("2", TypeError)):
        with pytest.raises(error):
            precast.set_num_threads(wrong)
    assert precast.get_num_threads() == 1


@pytest.mark.parametrize("value, warns", [("many", True), ("0", True), ("2", False), ("all", False), ("", False)])
def test_invalid_thread_variable_is_a_warning(value, warns):
    program = "import precast; print(precast.get_num_threads() >= 1)"
    environment = {**os.environ, "PRECAST_THREADS": value}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    assert done.returncode == 0 and done.stdout == "True\n", done
    assert (f"RuntimeWarning: invalid `PRECAST_THREADS` `{value}`" in done.stderr) == warns, done.stderr
