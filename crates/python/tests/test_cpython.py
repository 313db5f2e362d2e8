"""Host `cpython`: the C of ops and types on Python objects, with the same source as in host `native`."""

import gc
import shutil
import sys
import sysconfig
from pathlib import Path

import numpy as np
import precast
import pytest
from precast import Apply, COp, Generic, TensorType
from test_own import Limited, VectorTimesScalar, VectorTimesVector, VectorTimesVectorExternal
from test_own_types import Double, Times

pytestmark = pytest.mark.skipif(
    not Path(sysconfig.get_path("include"), "Python.h").is_file() or not shutil.which("cc"),
    reason="no headers of this Python, or no C compiler",
)

PAIRS = [(a, b) for a in ("i32", "i64", "f32", "f64") for b in ("i64", "f64")]


def made(inputs, outputs, **settings):
    return precast.function(inputs, outputs, host="cpython", **settings)


class GenericDouble(Generic):
    """The type `double` of Aesara's documentation of CType, with the same methods derived from Generic."""

    name = "generic_double"

    def c_declare(self, name, sub, check_input=True):
        return """
        double %(name)s;
        """ % dict(name=name)

    def c_init(self, name, sub):
        return """
    %(name)s = 0.0;
    """ % dict(name=name)

    def c_extract(self, name, sub, check_input=True, **kwargs):
        return """
    if (!PyFloat_Check(py_%(name)s)) {
        PyErr_SetString(PyExc_TypeError, "expected a float");
        %(fail)s
    }
    %(name)s = PyFloat_AsDouble(py_%(name)s);
    """ % dict(name=name, fail=sub["fail"])

    def c_sync(self, name, sub):
        return """
    Py_XDECREF(py_%(name)s);
    py_%(name)s = PyFloat_FromDouble(%(name)s);
    if (!py_%(name)s) {
        printf("PyFloat_FromDouble failed on: %%f\\n", %(name)s);
        Py_XINCREF(Py_None);
        py_%(name)s = Py_None;
    }
    """ % dict(name=name)

    def c_cleanup(self, name, sub):
        return ""


@pytest.mark.parametrize("double", [Double(), GenericDouble()], ids=["Double", "Generic"])
def test_double_type_of_the_document_is_float(double):
    class Product(COp):
        def make_node(self, x, y):
            return Apply(self, [x, y], [double()])

        def perform(self, node, inputs, output_storage):
            output_storage[0][0] = inputs[0] * inputs[1]

        c_code = Times.c_code

    x, y, z = double("x"), double("y"), double("z")
    graph = precast.graph([x, y, z], Product()(Product()(x, y), z))
    native, python = precast.function(graph, policy="jit"), made(graph, None)
    assert native(2.0, 3.5, 2.0) == python(2.0, 3.5, 2.0) == 14.0
    assert type(python(1.0, 2.0, 3.0)) is float
    for wrong in (2, "a", None, np.ones(2), np.float32(1)):
        with pytest.raises(TypeError, match="expected a float"):
            python(1.0, wrong, 1.0)
    with pytest.raises(TypeError, match="takes 3 argument"):
        python(1.0)
    assert python(2.0, 2.0, 2.0) == 8.0


@pytest.mark.parametrize("op", [VectorTimesScalar, VectorTimesVector, VectorTimesVectorExternal])
def test_tutorial_ops_match_in_both_hosts(op):
    inputs, outputs, arrays = [], [], []
    for at, (a, b) in enumerate(PAIRS):
        inputs += [precast.input(f"x{at}", f"{a}[?]"), precast.input(f"y{at}", f"{b}[]" if op is VectorTimesScalar else f"{b}[?]")]
        outputs.append(op()(*inputs[-2:]))
        x = np.arange(1, 6).astype(inputs[-2].dtype)
        arrays += [x, np.array(3, inputs[-1].dtype) if op is VectorTimesScalar else (x * 2).astype(inputs[-1].dtype)]
    graph = precast.graph(inputs, outputs)
    native, python = precast.function(graph, policy="jit"), made(graph, None)
    views = [each.repeat(2)[::2][::-1] if each.ndim else each for each in arrays]
    for given in (arrays, views):
        for one, other in zip(native(*given), python(*given), strict=True):
            assert one.dtype == other.dtype and np.array_equal(one, other)


def test_call_raises_the_exception_of_the_c():
    x, y = precast.input("x", "f64[?]"), precast.input("y", "f32[?]")
    function = made([x, y], VectorTimesVector()(x, y))
    for _ in range(20):
        with pytest.raises(ValueError, match="hape mismatch"):
            function(np.ones(3), np.ones(2, "f4"))
    assert np.array_equal(function(np.ones(3), np.ones(3, "f4")), np.ones(3))


@pytest.mark.parametrize(
    "wrong, kind",
    [
        (np.ones(3, "f4"), TypeError),
        (np.ones((3, 3)), ValueError),
        (np.ones(3, ">f8"), TypeError),
        (np.frombuffer(bytearray(33), np.uint8)[1:].view("f8"), TypeError),
        ([1.0, 2.0], TypeError),
        (None, TypeError),
        (1.0, TypeError),
    ],
)
def test_arrays_of_other_types_are_rejected(wrong, kind):
    x, y = precast.input("x", "f64[?]"), precast.input("y", "f64[?]")
    function = made([x, y], VectorTimesVector()(x, y))
    for given in ((wrong, np.ones(3)), (np.ones(3), wrong)):
        with pytest.raises(kind):
            function(*given)


class Pair(COp):
    """Returns an object and its reference count."""

    def make_node(self, x):
        return Apply(self, [x], [Generic()(), TensorType("i64", [])()])

    def c_code(self, node, name, inputs, outputs, sub):
        (x,), (z, n) = inputs, outputs
        return f"""
        Py_INCREF({x});
        Py_XDECREF({z});
        {z} = {x};
        Py_XDECREF({n});
        {n} = (PyArrayObject *)PyArray_EMPTY(0, NULL, NPY_INT64, 0);
        if ({n} == NULL) {{ {sub["fail"]} }}
        *(npy_int64 *)PyArray_DATA({n}) = Py_REFCNT({x});
        """


def test_generic_passes_any_object():
    x = Generic()("x")
    function = made([x], list(Pair()(x)))
    for value in (object(), "a text", [1, 2], np.arange(3), Pair):
        before = sys.getrefcount(value)
        same, count = function(value)
        # The count includes the references of the call and of the C code.
        assert same is value and count >= before
        del same
        assert sys.getrefcount(value) == before


def test_bundle_modules_are_found_by_graph(tmp_path):
    x, y = precast.input("x", "f64[?]"), precast.input("y", "f64[?]")
    product, pair = precast.graph([x, y], VectorTimesVector()(x, y)), precast.graph([y], Pair()(y)[0])
    path = tmp_path / "own.precast"
    precast.save(path, {"product": product, "pair": pair}, host="cpython")
    for graph, given in ((product, [np.arange(3.0), np.ones(3)]), (pair, [np.arange(3.0)])):
        served = made(graph, None, policy="strict", layers=[path])
        assert (served(*given) == given[0]).all()
    with pytest.raises(precast.MissError, match="vector_times_vector|VectorTimesVector"):
        made([y, x], VectorTimesVector()(x, y), policy="strict", layers=[path], store=tmp_path / "nothing")
    with pytest.raises(precast.GraphError, match="unknown host `pypy`"):
        precast.save(path, {"pair": pair}, host="pypy")


class Sum(COp):
    """A C number, from NumPy or Python numbers."""

    def make_node(self, x, y):
        return Apply(self, [x, y], [precast.Type(x.type)()])

    def c_code(self, node, name, inputs, outputs, sub):
        return f"{outputs[0]} = {inputs[0]} + {inputs[1]};"


@pytest.mark.parametrize("dtype, values", [("f64", (2.5, np.float64(2.5), np.array(2.5))), ("f32", (np.float32(2.5),)), ("i64", (2, np.int64(2))), ("u8", (np.uint8(2),))])
def test_scalars_are_numpy_scalars(dtype, values):
    x, y = precast.input("x", dtype), precast.input("y", dtype)
    function = made([x, y], Sum()(x, y))
    for one in values:
        for other in values:
            result = function(one, other)
            assert result == one + other and type(result) is np.dtype(x.dtype).type
    for wrong in ("a", None, np.complex128(1), np.ones(1), 2**70):
        with pytest.raises((TypeError, OverflowError)):
            function(values[0], wrong)


class Counted(COp):
    """An op with every kind of code: at load, for each instance, and around a call."""

    def make_node(self, x):
        return Apply(self, [x], [TensorType("i64", [])()])

    def c_headers(self):
        return ["<math.h>", "numpy/arrayobject.h"]

    def c_init_code(self):
        return ["import_array();"]

    def c_support_code(self):
        return "static int precast_test_loaded = 0;"

    def c_init_code_apply(self, node, name):
        return "precast_test_loaded += 10;"

    def c_support_code_struct(self, node, name):
        return "int calls;"

    def c_init_code_struct(self, node, name, sub):
        return "self->calls = 0;"

    def c_cleanup_code_struct(self, node, name):
        return "self->calls = -1;"

    def c_code(self, node, name, inputs, outputs, sub):
        (x,), (z,) = inputs, outputs
        return f"""
        Py_XDECREF({z});
        {z} = (PyArrayObject *)PyArray_EMPTY(0, NULL, NPY_INT64, 0);
        if ({z} == NULL) {{ {sub["fail"]} }}
        self->calls++;
        *(npy_int64 *)PyArray_DATA({z}) = precast_test_loaded + self->calls;
        if (PyArray_DIMS({x})[0] == 0) {{ {sub["fail"]} }}
        """

    def c_code_cleanup(self, node, name, inputs, outputs, sub):
        return "precast_test_loaded |= 1;"


def test_init_code_runs_and_silent_failures_are_reported():
    x = precast.input("x", "f64[?]")
    function, other = made([x], Counted()(x)), made([x], Counted()(x))
    assert [function(np.ones(1)) for _ in range(3)] == [11, 13, 14]
    assert other(np.ones(1)) in (11, 12)
    with pytest.raises(RuntimeError, match="failed without setting an exception"):
        function(np.ones(0))
    assert function(np.ones(1)) == 16


def test_constants_and_temporaries_are_released():
    x = precast.input("x", "f64[?]")
    constant = np.arange(3.0)
    graph = precast.graph([x], VectorTimesVector()(VectorTimesVector()(x, constant), np.full(3, 2.0)))
    function = made(graph, None)
    assert np.array_equal(function(np.ones(3)), [0.0, 2.0, 4.0])
    other = made(precast.graph([x], VectorTimesVector()(VectorTimesVector()(x, constant + 1), np.full(3, 3.0))), None)
    assert np.array_equal(other(np.ones(3)), [3.0, 6.0, 9.0])
    assert np.array_equal(function(np.ones(3)), [0.0, 2.0, 4.0])


def test_references_are_counted_exactly():
    x, y = precast.input("x", "f64[?]"), precast.input("y", "f64[?]")
    function = made([x, y], VectorTimesVector()(VectorTimesVector()(x, y), y))
    a, b, wrong = np.ones(4), np.ones(4), np.ones(3)
    results = [function(a, b) for _ in range(10)]
    assert all(sys.getrefcount(result) == 2 or sys.getrefcount(result) == 3 for result in results)
    # Collect the garbage of other tests before the measurement.
    gc.collect()
    held = [sys.getrefcount(each) for each in (a, b, wrong, None, ValueError)]
    for _ in range(20_000):
        function(a, b)
        try:
            function(a, wrong)
        except ValueError:
            pass
    del results
    gc.collect()
    now = [sys.getrefcount(each) for each in (a, b, wrong, None, ValueError)]
    assert all(abs(one - other) < 50 for one, other in zip(held, now)), (held, now)


def test_cpython_host_rejects_native_ops():
    x = precast.input("x", "f64[?]")
    with pytest.raises(precast.GraphValueError, match="the library's ops are of host `native`"):
        made([x], VectorTimesVector()(x, x) + 1)
    with pytest.raises(precast.GraphValueError, match="params that are given at run time are of host `native`"):
        made([x], Limited()(x))
    with pytest.raises(precast.GraphValueError, match="needs `policy` "):
        made([x], VectorTimesVector()(x, x), policy="interpret")
    with pytest.raises(precast.GraphValueError, match="unknown host `java`"):
        precast.function([x], VectorTimesVector()(x, x), host="java")


def test_module_is_found_in_its_store(tmp_path):
    x = precast.input("x", "f64[?]")
    graph = precast.graph([x], VectorTimesVector()(x, x))
    with pytest.raises(precast.MissError, match="miss: `VectorTimesVector"):
        made(graph, None, policy="strict", store=tmp_path / "store")
    made(graph, None, policy="jit", store=tmp_path / "store")
    assert np.array_equal(made(graph, None, policy="strict", store=tmp_path / "store")(np.arange(3.0)), [0.0, 1.0, 4.0])
