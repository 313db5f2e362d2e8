"""Types that are written in Python, with the type of Aesara's documentation of CType."""

import numpy as np
import precast
import pytest
from precast import Apply, COp, CType

POLICIES = ["jit", "interpret"]


class Double(CType):
    """The type `double` of Aesara's documentation of CType, unchanged."""

    def filter(self, x, strict=False, allow_downcast=None):
        if strict and not isinstance(x, float):
            raise TypeError("Expected a float")
        return float(x)

    def values_eq_approx(self, x, y, tolerance=1e-4):
        return abs(x - y) / (x + y) < tolerance

    def __eq__(self, other):
        return type(self) is type(other)

    def __hash__(self):
        return hash(type(self))

    def c_declare(self, name, sub, check_input=True):
        return """
        double %(name)s;
        """ % dict(name=name)

    def c_init(self, name, sub):
        return """
        %(name)s = 0.0;
        """ % dict(name=name)

    def c_extract(self, name, sub, check_input=True):
        if check_input:
            pre = """
            if (!PyFloat_Check(py_%(name)s)) {
                PyErr_SetString(PyExc_TypeError, "expected a float");
                %(fail)s
            }""" % dict(name=name, fail=sub["fail"])
        else:
            pre = ""
        return pre + """
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


double = Double()


class Times(COp):
    def make_node(self, x, y):
        return Apply(self, [x, y], [double()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0] * inputs[1]

    def c_code(self, node, name, input_names, output_names, sub):
        x_name, y_name = input_names[0], input_names[1]
        output_name = output_names[0]
        return """
        %(output_name)s = %(x_name)s * %(y_name)s;
        """ % locals()


@pytest.mark.parametrize("policy", POLICIES)
def test_type_of_the_ctype_document_works(policy):
    x, y, z = double("x"), double("y"), double("z")
    assert x.type == "double<f64[]>" and x.type.dtype == "float64" and x.type.ndim == 0
    function = precast.function([x, y, z], Times()(Times()(x, y), z), policy=policy)
    assert function(2.0, 3.5, 2.0) == 14.0 and function(2, np.float32(1), np.array(3.0)) == 6.0
    for _ in range(100):
        assert function(1.5, 2.0, 1.0) == 3.0
    with pytest.raises(precast.CallError):
        function(1.0, 2.0, np.ones(2))
    with pytest.raises(precast.CallTypeError):
        function(1.0, 2.0, "a")


def test_filter_decides_valid_values():
    class Percent(Double):
        name = "percent"

        def filter(self, x, strict=False, allow_downcast=None):
            if not 0 <= x <= 100:
                raise ValueError(f"{x} is not a percentage")
            return float(x)

    p = Percent()("p")
    function = precast.function([p], Times()(p, p), policy="jit")
    assert function(10.0) == 100.0
    with pytest.raises(precast.CallValueError, match="not a percentage") as caught:
        function(101.0)
    assert isinstance(caught.value.__cause__, ValueError)


def test_later_type_replaces_one_with_equal_c():
    class Limited(Double):
        name = "limited"

        def __init__(self, limit):
            self.limit = limit

        def __eq__(self, other):
            return type(self) is type(other) and self.limit == other.limit

        def __hash__(self):
            return hash(self.limit)

        def filter(self, x, strict=False, allow_downcast=None):
            if x > self.limit:
                raise ValueError(f"{x} is above {self.limit}")
            return float(x)

    def square(limited):
        p = limited("p")
        return precast.function([p], Times()(p, p), policy="interpret")

    assert square(Limited(10.0))(5.0) == 25.0
    with pytest.raises(precast.CallValueError, match="above 2.0"):
        square(Limited(2.0))(5.0)
    assert square(Limited(10.0))(5.0) == 25.0


@pytest.mark.parametrize(("tolerance", "agrees"), [(1e-4, True), (1e-8, False)])
def test_values_eq_approx_compares_code_with_perform(tolerance, agrees, tmp_path):
    # Checked functions run in a child process, so it writes its calls to a file.
    asked = tmp_path / "asked"

    class Near(Double):
        name = f"near_{'yes' if agrees else 'no'}"

        def values_eq_approx(self, x, y, tolerance=tolerance):
            with asked.open("a") as file:
                print(f"{x:.6f} {y:.6f}", file=file)
            return super().values_eq_approx(x, y, tolerance)

    near = Near()

    class Rough(COp):
        """A product whose C is off by 1e-6."""

        def make_node(self, x):
            return Apply(self, [x], [near()])

        def perform(self, node, inputs, output_storage):
            output_storage[0][0] = inputs[0] * 2.0

        def c_code(self, node, name, input_names, output_names, sub):
            return f"{output_names[0]} = {input_names[0]} * 2.000002;"

    x = near("x")
    function = precast.function([x], Rough()(x), policy="jit", check=True)
    if agrees:
        assert function(3.0) == 3.0 * 2.000002
    else:
        with pytest.raises(precast.CallError, match="Rough"):
            function(3.0)
    # It compares the results of the C code and of `perform`.
    assert "6.000006 6.000000\n" in asked.read_text()
