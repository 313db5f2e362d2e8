"""Array ops that the library lacks, compiled from their own C: in the graph if precast's headers suffice, otherwise with CPython's."""

import json
import pickle

import numpy as np
import precast
import pytest
from frozen import compare, function

pytensor = pytest.importorskip("pytensor")
import precast.pytensor  # noqa: E402
import pytensor.scalar as ps  # noqa: E402
import pytensor.tensor as pt  # noqa: E402
from precast import _metadata  # noqa: E402
from pytensor.graph.basic import Apply  # noqa: E402
from pytensor.link.c.op import COp  # noqa: E402
from pytensor.link.c.params_type import ParamsType  # noqa: E402
from pytensor.link.c.type import CDataType, EnumList, Generic  # noqa: E402
from pytensor.typed_list import TypedListType  # noqa: E402
from pytensor.typed_list import basic as lists  # noqa: E402

X = np.array([0.5, -1.5, 2.0, 0.25])
v, m = pt.dvector("v"), pt.dmatrix("m")


def both(fn, given, wanted=None, **settings):
    """Checks that the C and `perform` of a function match PyTensor."""
    frozen = precast.pytensor.freeze(fn, **settings)
    wanted = fn(*given) if wanted is None else wanted
    compare(frozen.function(policy="interpret")(*given), wanted)
    compare(frozen.function(policy="jit")(*given), wanted)
    return frozen


class Somebodys(COp):
    """The base of the user-defined ops: a vector in, a vector out."""

    __props__ = ()

    def make_node(self, x):
        return Apply(self, [x], [x.type()])

    def c_code_cache_version(self):
        return (1,)

    def body(self, sub):
        raise NotImplementedError

    def c_code(self, node, name, inputs, outputs, sub):
        (x,), (z,) = inputs, outputs
        return f"""
        Py_XDECREF({z});
        {z} = (PyArrayObject *)PyArray_EMPTY(1, PyArray_DIMS({x}), NPY_DOUBLE, 0);
        if (!{z}) {{ {sub["fail"]} }}
        for (npy_intp i = 0; i < PyArray_DIM({x}, 0); i++) {{
            const double value = *(double *)PyArray_GETPTR1({x}, i);
            *(double *)PyArray_GETPTR1({z}, i) = {self.body(sub)};
        }}
        """


class Scaled(Somebodys):
    """Params of several kinds, and support code."""

    __props__ = ("by", "offset", "way")
    params_type = ParamsType(by=ps.float64, offset=ps.int32, way=EnumList("PLUS", "MINUS"))

    def __init__(self, by, offset, way):
        self.by, self.offset, self.way = by, offset, way

    def perform(self, node, inputs, outputs, params=None):
        outputs[0][0] = inputs[0] * self.by + (self.offset if self.way == 0 else -self.offset)

    def c_support_code(self, **_):
        return "static double scaled(double x, double by) { return x * by; }"

    def body(self, sub):
        params = sub["params"]
        return f"scaled(value, {params}->by) + ({params}->way == PLUS ? {params}->offset : -{params}->offset)"


@pytest.mark.parametrize("by", [2.5, np.inf])
@pytest.mark.parametrize("way", [0, 1])
def test_array_op_becomes_part_of_the_graph(by, way, tmp_path):
    fn = function([v], pt.exp(Scaled(by, 7, way)(v) * 0.5).sum())
    frozen = both(fn, [np.abs(X)])
    assert frozen.graph is not None
    precast.pytensor.freeze(fn, tmp_path / "own.precast", name="own", isa="x86-64-v2")
    compare(precast.load(tmp_path / "own.precast").own(np.abs(X)), fn(np.abs(X)))


class ByHalf(Somebodys):
    """A param of half precision, which NumPy's C represents by its bits."""

    __props__ = ("by",)
    params_type = ParamsType(by=ps.float16)

    def __init__(self, by):
        self.by = by

    def perform(self, node, inputs, outputs, params=None):
        outputs[0][0] = inputs[0] * float(np.float16(self.by))

    def c_support_code(self, **_):
        return "#include <numpy/halffloat.h>"

    def body(self, sub):
        return f"value * npy_half_to_double({sub['params']}->by)"


@pytest.mark.parametrize("by", [-0.1, np.inf])
def test_half_precision_param_keeps_its_value(by):
    assert both(function([v], ByHalf(by)(v)), [X]).graph is not None


class Destroying(Somebodys):
    """Doubles its input in place."""

    destroy_map = {0: [0]}

    def perform(self, node, inputs, outputs):
        inputs[0] *= 2
        outputs[0][0] = inputs[0]

    def c_code(self, node, name, inputs, outputs, sub):
        (x,), (z,) = inputs, outputs
        return f"""
        for (npy_intp i = 0; i < PyArray_DIM({x}, 0); i++) *(double *)PyArray_GETPTR1({x}, i) *= 2;
        Py_INCREF({x});
        Py_XDECREF({z});
        {z} = {x};
        """


class DestroyingByPython(Destroying):
    """The same with an API that only CPython has."""

    def c_code(self, node, name, inputs, outputs, sub):
        return "PyErr_Clear(); PyGC_Collect();" + super().c_code(node, name, inputs, outputs, sub)


@pytest.mark.parametrize("op, settings", [(Destroying, {}), (DestroyingByPython, {"python": True})])
def test_in_place_op_writes_to_a_copy(op, settings):
    w = v + 1
    frozen = precast.pytensor.freeze(function([v], [op()(w), w * 3], accept_inplace=True), **settings)
    assert (frozen.graph is None) == bool(settings)
    for policy in ("jit", "interpret"):
        compare(frozen.function(policy=policy)(X), (2 * (X + 1), 3 * (X + 1)))
    direct = precast.pytensor.freeze(function([pytensor.In(v, mutable=True)], op()(v), accept_inplace=True), **settings)
    given = X.copy()
    compare(direct.function(policy="jit")(given), 2 * X)
    assert (given == X).all()


class ByPython(Somebodys):
    """Returns the length of the result of a Python method."""

    def perform(self, node, inputs, outputs):
        outputs[0][0] = np.array([float(len(x.hex())) for x in inputs[0].tolist()])

    def c_support_code(self, **_):
        return """
        static double length(double x) {
          PyObject *number = PyFloat_FromDouble(x), *text = number ? PyObject_CallMethod(number, "hex", NULL) : NULL;
          const double found = text ? (double)PyUnicode_GetLength(text) : -1.0;
          Py_XDECREF(number); Py_XDECREF(text);
          return found;
        }"""

    def body(self, sub):
        return "length(value)"


class ByPrivate(ByPython):
    """The same with a function outside the stable ABI."""

    def c_support_code(self, **_):
        return """
        static double length(double x) {
          PyObject *number = PyFloat_FromDouble(x), *method = PyUnicode_FromString("hex");
          PyObject *text = number && method ? PyObject_CallMethodNoArgs(number, method) : NULL;
          const double found = text ? (double)PyUnicode_GET_LENGTH(text) : -1.0;
          Py_XDECREF(number); Py_XDECREF(method); Py_XDECREF(text);
          return found;
        }"""


WITHOUT = (
    "import sys; sys.modules.update(dict.fromkeys(('pytensor', 'scipy', 'numba')))\n"
    "import json, precast, numpy as np\n"
    "model = precast.load(sys.argv[1])\n"
    "made = precast.Steps.load(model, 'own')\n"
    "given = [np.array(each) for each in json.loads(sys.argv[2])]\n"
    "print(json.dumps([np.asarray(each).tolist() for each in [made(*given) for _ in range(3)]]))"
)


@pytest.mark.parametrize("op, is_stable", [(ByPython, True), (ByPrivate, False)])
def test_op_needing_python_becomes_a_bundle_module(op, is_stable, tmp_path, world):
    fn = function([v], pt.exp(op()(v * 2)).sum() + op()(v))
    with pytest.raises(precast.FreezeError, match=rf"`{op.__name__}\(float64.*its C needs more than precast's headers: .*\n    hint: .*python=True"):
        precast.pytensor.freeze(fn)
    frozen = both(fn, [X], python=True)
    (hosted,) = frozen._planned.hosted.values()
    assert hosted.host.startswith("cpython-abi3") == is_stable
    path = tmp_path / "own.precast"
    precast.pytensor.freeze(fn, path, name="own", python=True, isa="x86-64,x86-64-v2")
    printed = world.run("-c", WITHOUT, str(path), json.dumps([X.tolist()]), compiler=False)
    assert json.loads(printed) == [fn(X).tolist()] * 3


def test_module_requires_its_python_version(tmp_path):
    path = tmp_path / "own.precast"
    plan = precast.pytensor.freeze(function([v], ByPrivate()(v)), path, name="own", python=True, isa="x86-64-v2")._planned.plan
    model = precast.load(path)
    (key,) = [step["module"] for step in plan["steps"] if "module" in step]
    from precast import _cpython

    with pytest.raises(precast.BundleError, match="is for `cpython-39-x86_64-linux-gnu`, but this is `.*\nhint: freeze it with this Python"):
        _cpython.of_bundle(model, key, "cpython-39-x86_64-linux-gnu")
    for wrong in (key[:-1], key[::-1]):
        with pytest.raises(precast.BundleError, match="invalid module key|has no module"):
            _cpython.of_bundle(model, wrong, _cpython.STABLE)


@pytest.mark.parametrize("numpy, loads", [("1.26.4", "12"), ("2.4.0", "2")])
def test_module_requires_its_numpy_major_version(numpy, loads, tmp_path, monkeypatch):
    from precast import _cpython

    path = tmp_path / "own.precast"
    precast.pytensor.freeze(function([v], ByPython()(v)), path, name="own", python=True, isa="x86-64-v2")
    model = precast.load(path)
    (step,) = [step for step in _metadata.plan_and_graphs(model.metadata("own")["plan"])[0]["steps"] if "module" in step]
    python, headers = step["host"].split()
    assert headers == f"numpy-headers-{np.__version__[0]}"
    monkeypatch.setattr(_cpython.numpy, "__version__", numpy)
    for major in "12":
        told = f"{python} numpy-headers-{major}"
        if major in loads:
            assert callable(_cpython.of_bundle(model, step["module"], told))
        else:
            with pytest.raises(precast.BundleError, match=f"for NumPy {major}, but this is {numpy}\nhint: freeze it with NumPy 2"):
                _cpython.of_bundle(model, step["module"], told)


@pytest.mark.parametrize(
    "setting, said", [({"policy": "tiered"}, '`policy` .* found "tiered"'), ({"check": True}, "support `check`"), ({"record": "r"}, "support `record`")]
)
def test_unsupported_module_settings_are_named(setting, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frozen = precast.pytensor.freeze(function([v], ByPython()(v)), python=True)
    with pytest.raises(precast.GraphValueError, match=f"a function of host `cpython` .*{said}$"):
        frozen.function(**setting)


@pytest.mark.parametrize("mode", ["full", "valid"])
def test_convolutions_match_pytensor(mode):
    from pytensor.tensor.signal import convolve1d

    kernel = pt.dvector("kernel")
    fn = function([v, kernel], convolve1d(v, kernel, mode=mode), "fast_run")
    assert both(fn, [np.arange(7.0) ** 2, np.array([1.0, -2.0, 0.5])]).graph is not None


def test_sparse_products_match_pytensor():
    sparse, scipy_sparse = pytest.importorskip("pytensor.sparse.rewriting"), pytest.importorskip("scipy.sparse")
    matrix = scipy_sparse.csc_matrix(np.array([[1.0, 0, 2], [0, 0, 3], [4, 5, 0], [0, 6, 0]]))
    data, indices, starts, rows = pt.dvector("data"), pt.ivector("indices"), pt.ivector("starts"), pt.iscalar("rows")
    other = np.arange(6.0).reshape(3, 2)
    made = sparse.StructuredDotCSC()(data, indices, starts, rows, m)
    fn = function([data, indices, starts, rows, m], made)
    frozen = precast.pytensor.freeze(fn)
    compare(frozen.function(policy="jit")(matrix.data, matrix.indices, matrix.indptr, np.int32(4), other), matrix @ other)


def test_lists_pass_through_inputs_ops_and_results(tmp_path):
    a, b = TypedListType(pt.dvector)("a"), TypedListType(pt.dvector)("b")
    i = pt.lscalar("i")
    fn = function([a, b, i, v], [lists.length(a), lists.getitem(lists.reverse(a), 0) * lists.getitem(b, i) * v, lists.reverse(a)])
    given = [[np.ones(3), np.arange(3.0)], [np.full(3, 7.0)], 0, np.arange(3.0)]
    frozen = precast.pytensor.freeze(fn, tmp_path / "own.precast", name="own", python=True, isa="x86-64-v2")
    made = precast.Steps.load(precast.load(tmp_path / "own.precast"), "own")
    assert [port.type for port in made.inputs] == ["object", "object", "i64[]", "f64[?]"]
    for ours in (frozen.function(policy="interpret"), frozen.function(policy="jit"), made):
        length, product, turned = ours(*given)
        wanted = fn(*given)
        compare((length, product, *turned), [wanted[0], wanted[1], *wanted[2]])
        turned[0][:] = 99
        assert (given[0][1] == np.arange(3.0)).all() and len(given[0]) == 2
    with pytest.raises(precast.CallError, match="expected a list"):
        made((1, 2), [], 0, X)
    with pytest.raises(TypeError, match="cannot pickle a `precast.Steps`.*\nhint: "):
        pickle.dumps(made)
    with pytest.raises(precast.CallError, match="`GetItem`: list index out of range"):
        made([X], [X], 1, X)
    with pytest.raises(precast.FreezeError, match="expected an array\nhint: .*python=True"):
        precast.pytensor.freeze(fn)
    with pytest.raises(precast.FreezeError, match="`Extend.*the op has no C for these types"):
        precast.pytensor.freeze(function([a, b], lists.extend(a, b)), python=True)


class Counts(Somebodys):
    """Uses any objects: creates a dictionary of words and passes it on."""

    def make_node(self, x):
        return Apply(self, [x], [Generic()()])

    def perform(self, node, inputs, outputs):
        outputs[0][0] = {str(each): True for each in inputs[0].tolist()}

    def c_code(self, node, name, inputs, outputs, sub):
        (x,), (z,) = inputs, outputs
        return f"""
        Py_XDECREF({z});
        {z} = PyDict_New();
        PyObject *listed = PyArray_ToList({x});
        for (Py_ssize_t i = 0; listed && i < PyList_Size(listed); i++) {{
            PyObject *text = PyObject_Str(PyList_GetItem(listed, i));
            PyDict_SetItem({z}, text, Py_True);
            Py_DECREF(text);
        }}
        Py_XDECREF(listed);
        if (PyErr_Occurred()) {{ {sub["fail"]} }}
        """


class Counted(Somebodys):
    def make_node(self, x):
        return Apply(self, [x], [pt.lscalar()])

    def perform(self, node, inputs, outputs):
        outputs[0][0] = np.array(len(inputs[0]), "int64")

    def c_code(self, node, name, inputs, outputs, sub):
        (x,), (z,) = inputs, outputs
        return f"""
        Py_XDECREF({z});
        {z} = (PyArrayObject *)PyArray_EMPTY(0, NULL, NPY_INT64, 0);
        *(npy_int64 *)PyArray_DATA({z}) = PyDict_Size({x});
        """


def test_any_objects_pass_between_ops():
    fn = function([v], Counted()(Counts()(v)) + 1)
    both(fn, [np.array([1.0, 2.0, 1.0])], python=True)
    given = function([v], Counts()(v))
    assert precast.pytensor.freeze(given, python=True).function(policy="jit")(X) == given(X)


class Wrong(Somebodys):
    def perform(self, node, inputs, outputs):
        outputs[0][0] = inputs[0]

    def body(self, sub):
        return "what_nobody_has(value)"


class WithObject(Scaled):
    params_type = ParamsType(by=Generic(), offset=ps.int32, way=EnumList("PLUS", "MINUS"))


def test_failed_compile_quotes_the_compiler():
    fn = function([v], Wrong()(v))
    with pytest.raises(precast.FreezeError, match="precast's headers: .*what_nobody_has.*\n    hint: "):
        precast.pytensor.freeze(fn)
    with pytest.raises(precast.FreezeError, match=r"`Wrong\(float64.*with the headers of Python and NumPy: .*what_nobody_has"):
        precast.pytensor.freeze(fn, python=True)
    with pytest.raises(precast.FreezeError, match="a param of its C is a `Generic.*`, but constants must be numbers"):
        precast.pytensor.freeze(function([v], WithObject("x", 1, 0)(v)), python=True)


class Raises(Somebodys):
    """Rejects negative numbers with a Python exception."""

    def perform(self, node, inputs, outputs):
        outputs[0][0] = inputs[0]

    def c_code(self, node, name, inputs, outputs, sub):
        (x,) = inputs
        return f"""
        if (*(double *)PyArray_GETPTR1({x}, 0) < 0) {{
            PyErr_SetObject(PyExc_LookupError, PyObject_CallMethod(PyUnicode_FromString("negative"), "upper", NULL));
            {sub["fail"]}
        }}""" + super().c_code(node, name, inputs, outputs, sub)

    def body(self, sub):
        return "value"


def test_c_exception_is_a_call_error_without_leaks():
    ours = precast.pytensor.freeze(function([v], Raises()(v)), python=True).function(policy="jit")
    for _ in range(3):
        with pytest.raises(precast.CallError, match="`Raises`: .*NEGATIVE"):
            ours(-X - 5)
        compare(ours(np.abs(X)), np.abs(X))
