"""Arrays are read and written in place: the peak memory of a process does not grow by the size of an input."""

import re
from pathlib import Path

import numpy as np
import precast
import pytest

STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")
N = 2**23
SIZE = 8 * N


def peak() -> int:
    """Returns the peak memory of the process since `reset`, in bytes."""
    return 1024 * int(re.search(r"VmHWM:\s+(\d+) kB", STATUS.read_text())[1])


def reset() -> None:
    RESET.write_text("5")


def growth(work) -> int:
    reset()
    before = peak()
    kept = work()
    after = peak()
    del kept
    return after - before


@pytest.fixture(scope="module")
def x():
    try:
        reset()
    except OSError as error:
        pytest.skip(f"cannot reset the peak memory of this process: {error}")
    x = np.arange(N, dtype="f8")
    # The measurement detects a copy.
    assert growth(x.copy) > 0.9 * SIZE
    return x


@pytest.fixture(scope="module")
def total():
    return precast.function("x: f64[?]", "out = sum(x)")


class Interface:
    """A foreign array with only NumPy's interface."""

    def __init__(self, array):
        self.__array_interface__, self._kept = array.__array_interface__, array


class Exchanged:
    """A foreign array with only DLPack."""

    def __init__(self, array):
        self._array = array

    def __dlpack__(self, **settings):
        return self._array.__dlpack__(**settings)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


@pytest.mark.parametrize("of", [lambda x: x, lambda x: x[::-1], memoryview, Interface, Exchanged], ids=range(5))
def test_no_input_is_copied(x, total, of):
    given, expected = of(x), total(x)
    total(of(x[:10]))
    assert growth(lambda: total(given)) < 0.1 * SIZE
    assert total(given) == pytest.approx(expected, rel=1e-12)


def test_strided_and_read_only_views_are_not_copied(x, total):
    view = x[::2]
    assert growth(lambda: total(view)) < 0.1 * SIZE
    frozen = x.view()
    frozen.flags.writeable = False
    assert growth(lambda: total(frozen)) < 0.1 * SIZE


def test_out_is_reused_and_results_allocate_once(x):
    twice = precast.function("x: f64[?]", "out = x*2")
    out = np.empty(N)
    out.fill(0)
    twice(x, out=out)
    address = out.ctypes.data
    assert growth(lambda: twice(x, out=out)) < 0.1 * SIZE
    assert out.ctypes.data == address and out[-1] == 2.0 * (N - 1)
    assert growth(lambda: twice(x)) < 1.1 * SIZE


def test_own_op_reads_the_memory_of_the_caller():
    """Returns the address of the input in the C of an op."""

    class Where(precast.COp):
        def make_node(self, x):
            return precast.Apply(self, [x], [precast.TensorType("int64", ())()])

        def c_headers(self):
            return ["<numpy/arrayobject.h>"]

        def c_code(self, node, name, inputs, outputs, sub):
            (x,), (out,) = inputs, outputs
            return f"""
            Py_XDECREF({out});
            {out} = (PyArrayObject *)PyArray_ZEROS(0, NULL, NPY_INT64, 0);
            if (!{out}) {{ {sub["fail"]} }}
            *(npy_int64 *)PyArray_DATA({out}) = (npy_int64)(size_t)PyArray_DATA({x});
            """

    x = precast.input("x", "f64[?]")
    where = precast.function([x], Where()(x), policy="jit")
    array = np.arange(10.0)
    for view in (array, array[2:], array[::-1]):
        assert where(view) == view.ctypes.data
