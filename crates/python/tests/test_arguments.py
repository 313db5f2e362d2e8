"""Arguments whose conversion runs Python code, which may change other arguments or interrupt the call."""

import subprocess
import sys
import textwrap

import numpy as np
import precast
import pytest

#: The number of elements of an array whose memory is returned to the system when it is freed.
N = 2**20


class Interface:
    """An array by its interface. Reading the interface runs `work`."""

    def __init__(self, array, work):
        self._array, self._work = array, work

    @property
    def __array_interface__(self):
        self._work()
        return self._array.__array_interface__


class Exchanged:
    """An array by DLPack."""

    def __init__(self, array, work):
        self._array, self._work = array, work

    def __dlpack__(self, **settings):
        self._work()
        return self._array.__dlpack__(**settings)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


class _Sub(np.ndarray):
    work = staticmethod(lambda: None)

    def __getattr__(self, name):
        self.work()
        raise AttributeError(name)


def subclass(array, work):
    made = array.view(_Sub)
    made.work = work
    return made


CONVERSIONS = [Interface, Exchanged, subclass]


def shrink(array):
    """Frees the memory of an array and leaves three elements."""
    return lambda: array.resize(3, refcheck=False)


def replace(array):
    """Frees the memory of an array with the method that `pickle` calls."""
    state = np.arange(3.0).__reduce__()[2]
    return lambda: array.__setstate__(state)


@pytest.fixture(scope="module")
def add():
    return precast.function("x: f64[?], y: f64[?]", "out = x - y*2", name="add", policy="jit")


@pytest.mark.parametrize("frees", [shrink, replace])
@pytest.mark.parametrize("convert", CONVERSIONS)
def test_conversion_may_free_an_earlier_argument(add, convert, frees):
    for call in (lambda a, b: add(a, b), lambda a, b: add(x=a, y=b), lambda a, b: add(y=b, x=a)):
        first = np.arange(float(N))
        given = convert(np.ones(3), frees(first))
        assert np.array_equal(call(first, given), np.arange(3.0) - 2.0)


@pytest.mark.parametrize("frees", [shrink, replace])
@pytest.mark.parametrize("convert", CONVERSIONS)
def test_conversion_may_free_out(add, convert, frees):
    out = np.zeros(N)
    assert add(np.arange(3.0), convert(np.ones(3), frees(out)), out=out) is out
    assert np.array_equal(out, np.arange(3.0) - 2.0)


@pytest.mark.parametrize("convert", CONVERSIONS)
def test_conversion_may_change_types_of_earlier_arguments(add, convert):
    def reshape(array):
        array.shape = (1, 3)

    def retype(array):
        array.dtype = np.int64

    for change, kind in [(reshape, ValueError), (retype, TypeError)]:
        first = np.arange(3.0)
        with pytest.raises(kind) as caught:
            add(first, convert(np.ones(3), lambda: change(first)))
        assert isinstance(caught.value, precast.CallError)


def test_ufunc_conversion_may_free_its_arguments():
    ufunc = precast.function("x: f64[?], y: f64[?]", "out = x - y*2", policy="jit").ufunc()
    first = np.arange(float(N))
    assert np.array_equal(ufunc(first, Interface(np.ones(3), shrink(first))), np.arange(3.0) - 2.0)


@pytest.mark.parametrize("convert", CONVERSIONS)
def test_callback_conversion_may_free_its_values(convert):
    integrate = pytest.importorskip("scipy.integrate")
    function = precast.function("x: f64, a: f64[?], b: f64[?]", "out = x*sum(a) + sum(b)", policy="jit")
    a = np.ones(N)
    callback = function.low_level_callable(a=a, b=convert(np.ones(3), shrink(a)))
    assert integrate.quad(callback, 0, 1)[0] == pytest.approx(N / 2 + 3)


class Performs(precast.COp):
    """An op whose reference runs a function of the test."""

    __props__ = ()
    work = staticmethod(lambda: None)

    def make_node(self, x):
        return precast.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        Performs.work()
        output_storage[0][0] = inputs[0] * 2


@pytest.mark.parametrize("frees", [shrink, replace])
def test_perform_may_free_arguments_of_its_call(monkeypatch, frees):
    x, y = precast.input("x", "f64[?]"), precast.input("y", "f64[?]")
    function = precast.function([x, y], {"out": Performs()(x) + y}, policy="interpret")
    first, second, out = np.ones(N), np.ones(N), np.zeros(N)
    for array in (first, second):
        monkeypatch.setattr(Performs, "work", staticmethod(frees(array)))
        assert function(first, second).sum() == 3 * N
        first, second = np.ones(N), np.ones(N)
    monkeypatch.setattr(Performs, "work", staticmethod(frees(out)))
    with pytest.raises(precast.CallValueError):
        function(first, second, out=out)
    assert function(np.ones(3), np.ones(3), out=out) is out and out.tolist() == [3.0] * 3


class Filters(precast.CType):
    """A type whose filter runs a function of the test."""

    work = staticmethod(lambda: None)

    def filter(self, x, strict=False, allow_downcast=None):
        Filters.work()
        return float(x)

    def __eq__(self, other):
        return type(self) is type(other)

    def __hash__(self):
        return hash(type(self))

    def c_declare(self, name, sub, check_input=True):
        return f"double {name};"

    def c_init(self, name, sub):
        return f"{name} = 0.0;"

    def c_extract(self, name, sub, check_input=True):
        return f"{name} = PyFloat_AsDouble(py_{name});"

    def c_sync(self, name, sub):
        return f"Py_XDECREF(py_{name}); py_{name} = PyFloat_FromDouble({name});"

    def c_cleanup(self, name, sub):
        return ""


class Times(precast.COp):
    """A vector times a value of the type."""

    __props__ = ()

    def make_node(self, x, factor):
        return precast.Apply(self, [x, factor], [x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0] * inputs[1]


def test_filter_may_free_arguments_of_its_call(monkeypatch):
    x, factor = precast.input("x", "f64[?]"), Filters()("factor")
    function = precast.function([x, factor], {"out": Times()(x, factor)}, policy="interpret")
    first = np.ones(N)
    monkeypatch.setattr(Filters, "work", staticmethod(shrink(first)))
    assert function(first, 2.0).sum() == 2 * N


class Raises:
    """An argument whose conversion raises an exception."""

    def __init__(self, raised):
        self._raised = raised

    @property
    def __array_interface__(self):
        raise self._raised


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_base_exceptions_propagate_unchanged(add, monkeypatch, kind):
    raised = kind("stop")
    with pytest.raises(kind) as caught:
        add(np.ones(3), Raises(raised))
    assert caught.value is raised

    def stop():
        raise raised

    monkeypatch.setattr(Performs, "work", staticmethod(stop))
    x = precast.input("x", "f64[?]")
    with pytest.raises(kind):
        precast.function([x], Performs()(x), policy="interpret")(np.ones(3))
    # The next call is not affected.
    assert np.array_equal(add(np.ones(3), np.ones(3)), [-1.0] * 3)


def test_failed_allocation_in_conversion_is_a_memory_error(add):
    with pytest.raises(precast.CallMemoryError):
        add(np.ones(3), Raises(MemoryError()))


class Unspeakable(Exception):
    def __str__(self):
        raise RuntimeError("no text")


def test_unprintable_values_are_rejected_without_output(capfd):
    number = precast.function("n: i64", "out = n + 1", policy="interpret")
    for value in (10**5000, -(10**5000)):
        with pytest.raises(precast.CallValueError, match="out of bounds for"):
            number(value)
    with pytest.raises(precast.CallTypeError, match="Unspeakable"):
        precast.function("x: f64[?]", "out = sum(x)", policy="interpret")(Raises(Unspeakable()))
    assert capfd.readouterr() == ("", "")


def test_first_call_runs_no_numpy_code(bundle):
    """An interrupt during the lookup of NumPy's function tables would cause a panic."""
    code = """
    import sys
    import numpy as np, precast

    model = precast.load(sys.argv[1])
    def interrupted(*_):
        raise KeyboardInterrupt
    # The lookup of the tables calls this.
    sys.modules["numpy.lib"].NumpyVersion = interrupted
    print(model.scale(np.arange(3.0), 2.0), model.ufunc("gauss")(0.0))
    """
    ran = subprocess.run([sys.executable, "-c", textwrap.dedent(code), str(bundle)], capture_output=True, text=True)
    assert (ran.stdout, ran.stderr) == ("[0. 2. 4.] 0.5\n", "")
