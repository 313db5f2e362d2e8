"""Ops that are written in Python: the ops of the tutorials, and all possible mistakes."""

import gc
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import precast
import pytest
from precast import Apply, COp, EnumList, ExternalCOp, ParamsType, TensorType

# The C code of the tutorials of Theano, Aesara and PyTensor, unchanged.
TUTORIALS = Path(__file__).parents[3] / "tests/it/external/c"
POLICIES = ["jit", "interpret"]


def dtypes(node):
    x, y, z = (each.dtype for each in [*node.inputs, *node.outputs])
    return {
        **{f"dtype_{name}": dtype for name, dtype in zip("xyz", (x, y, z))},
        **{f"itemsize_{name}": np.dtype(dtype).itemsize for name, dtype in zip("xyz", (x, y, z))},
        "typenum_z": node.outputs[0].type.dtype_specs()[2],
    }


class VectorTimesScalar(COp):
    __props__ = ()

    def make_node(self, x, y):
        if x.type.ndim != 1:
            raise TypeError("x must be a 1-d vector")
        if y.type.ndim != 0:
            raise TypeError("y must be a scalar")
        return Apply(self, [x, y], [x.type()])

    def perform(self, node, inputs, output_storage):
        x, y = inputs
        output_storage[0][0] = x * y

    def c_code_cache_version(self):
        return (1, 0)

    def c_code(self, node, name, inp, out, sub):
        x, y = inp
        (z,) = out
        return (TUTORIALS / "vector_times_scalar.code.in").read_text() % {**locals(), **dtypes(node), "fail": sub["fail"]}


class VectorTimesVector(COp):
    def make_node(self, x, y):
        return Apply(self, [x, y], [TensorType(precast.upcast(x.dtype, y.dtype), shape=[None])()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0] * inputs[1]

    def c_support_code(self):
        return (TUTORIALS / "vector_times_vector.support.in").read_text()

    def c_support_code_apply(self, node, name):
        return (TUTORIALS / "vector_times_vector.apply.in").read_text() % {"name": name, **dtypes(node)}

    def c_code(self, node, name, inp, out, sub):
        x, y = inp
        (z,) = out
        return (TUTORIALS / "vector_times_vector.code.in").read_text() % {**locals(), **dtypes(node), "fail": sub["fail"]}


class VectorTimesVectorExternal(ExternalCOp):
    def __init__(self):
        super().__init__([str(TUTORIALS / "vectorTimesVector.c")], "APPLY_SPECIFIC(vector_times_vector)")

    def make_node(self, x, y):
        return Apply(self, [x, y], [TensorType(precast.upcast(x.dtype, y.dtype), shape=[None])()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0] * inputs[1]


@pytest.mark.parametrize("policy", POLICIES)
def test_tutorial_ops_work_for_dtype_pairs(policy):
    inputs, arrays = [], []
    for dtype in ("i64", "f32") if policy == "jit" else ("i32", "i64", "f32", "f64"):
        inputs.append(precast.input(dtype, f"{dtype}[?]"))
        arrays.append(np.arange(5, dtype=inputs[-1].dtype) + 1)
    scalar, value = precast.input("s", "f64[]"), np.float64(3)
    outputs = [VectorTimesScalar()(x, scalar) for x in inputs]
    wants = [(a * value).astype(a.dtype) for a in arrays]
    for op in (VectorTimesVector(), VectorTimesVectorExternal()):
        for x, a in zip(inputs, arrays):
            for y, b in zip(inputs, arrays):
                outputs.append(op(x, y))
                wants.append(a * b)
    if policy == "interpret":
        # `perform` follows NumPy's rule, which differs from the rule of the C code.
        outputs, wants = outputs[len(inputs) :], wants[len(inputs) :]
    function = precast.function([*inputs, scalar], outputs, policy=policy)
    views = [a.repeat(2)[::2][::-1] for a in arrays]
    for given, flip in ((arrays, np.s_[:]), (views, np.s_[::-1])):
        for got, want in zip(function(*given, value), wants, strict=True):
            assert got.dtype == want.dtype and np.array_equal(got, want[flip])


@pytest.mark.parametrize("op", [VectorTimesVector, VectorTimesVectorExternal])
def test_error_keeps_the_message_of_the_tutorial(op):
    x, y = precast.input("x", "f64[?]"), precast.input("y", "f32[?]")
    function = precast.function([x, y], op()(x, y), policy="jit")
    for _ in range(20):
        with pytest.raises(precast.CallValueError, match="hape mismatch"):
            function(np.ones(3), np.ones(2, "f4"))
    assert np.array_equal(function(np.ones(3), np.ones(3, "f4")), np.ones(3))


def test_ops_are_parts_of_graphs():
    x = precast.input("x", "f64[?]")
    y = VectorTimesScalar()(precast.exp(x), 2.0)
    function = precast.function([x], {"sum": (y + 1).sum(), "y": y}, policy="jit")
    a = np.linspace(0, 1, 5)
    total, parts = function(a)
    assert np.allclose(parts, np.exp(a) * 2) and total == pytest.approx(np.sum(np.exp(a) * 2 + 1))


def test_ops_with_equal_props_are_equal():
    class Scaled(COp):
        __props__ = ("by",)

        def __init__(self, by):
            self.by = by

        def make_node(self, x):
            return Apply(self, [x], [x.type()])

        def c_code(self, node, name, inputs, outputs, sub):
            (x,), (z,) = inputs, outputs
            return f"""
            Py_XDECREF({z});
            {z} = (PyArrayObject *)PyArray_EMPTY(1, PyArray_DIMS({x}), NPY_FLOAT64, 0);
            if (!{z}) {{ {sub["fail"]} }}
            for (npy_intp i = 0; i < PyArray_DIMS({x})[0]; i++)
                ((double *)PyArray_DATA({z}))[i] = {self.by} * *(double *)PyArray_GETPTR1({x}, i);
            """.replace(f"PyArray_GETPTR1({x}, i)", f"((char *)PyArray_DATA({x}) + i * PyArray_STRIDES({x})[0])")

    assert Scaled(2) == Scaled(2) != Scaled(3) and hash(Scaled(2)) == hash(Scaled(2))
    assert VectorTimesVector() != VectorTimesVector()
    x = precast.input("x", "f64[?]")
    function = precast.function([x], [Scaled(2)(x), Scaled(3)(x), Scaled(2)(x)], policy="jit")
    assert [each[0] for each in function(np.ones(1))] == [2, 3, 2]
    assert "Scaled{by=2}" in str(function.graph)


class Limited(COp):
    __props__ = ("low", "high", "mode")
    params_type = ParamsType(low="f64", high="f64", mode=EnumList("CLAMP", ("WRAP", "modulo")))

    def __init__(self, low=0.0, high=1.0, mode="CLAMP"):
        self.low, self.high, self.mode = low, high, mode

    def make_node(self, x):
        return Apply(self, [x], [x.type()])

    def c_support_code_struct(self, node, name):
        return f"int64_t calls_{name};"

    def c_init_code_struct(self, node, name, sub):
        return f"self->calls_{name} = 0;"

    def c_cleanup_code_struct(self, node, name):
        return f"self->calls_{name} = -1;"

    def c_code(self, node, name, inputs, outputs, sub):
        (x,), (z,), params = inputs, outputs, sub["params"]
        return f"""
        self->calls_{name} += 1;
        pc_xdecref((pc_object *){z});
        {z} = ctx->host->tensor_new(ctx, PC_F64, 1, {x}->shape);
        if ({z} == NULL) {{ {sub["fail"]} }}
        for (int64_t i = 0; i < {x}->shape[0]; i++) {{
            double v = *(const double *)({x}->data + i * {x}->strides[0]);
            double low = {params}->low, high = {params}->high;
            if ({params}->mode == WRAP) v = v - (high - low) * (double)(int64_t)((v - low) / (high - low));
            else v = v < low ? low : v > high ? high : v;
            *(double *)({z}->data + i * {z}->strides[0]) = v;
        }}
        """


def test_params_are_passed_at_run_time():
    x = precast.input("x", "f64[?]")
    ops = [Limited(), Limited(high=2.0), Limited(mode="WRAP"), Limited(mode="modulo")]
    function = precast.function([x], [op(x) for op in ops], policy="jit")
    got = function(np.array([-1.0, 0.25, 2.5]))
    assert [list(each) for each in got[:3]] == [[0, 0.25, 1], [0, 0.25, 2], [-0.0, 0.25, 0.5]]
    assert np.array_equal(got[2], got[3])


class Raises(COp):
    def __init__(self, error, results=None):
        self.error, self.results = error, results

    def make_node(self, x):
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        if self.error is not None:
            raise self.error
        output_storage[0][0] = self.results


@pytest.mark.parametrize(
    "error, kind",
    [
        (ValueError("mine"), precast.CallValueError),
        (TypeError("mine"), precast.CallTypeError),
        (IndexError("mine"), precast.CallIndexError),
        (MemoryError("mine"), precast.CallMemoryError),
        (AssertionError("mine"), precast.CallAssertionError),
        (KeyError("mine"), precast.CallRuntimeError),
        (ZeroDivisionError("mine"), precast.CallRuntimeError),
        (UnicodeDecodeError("utf-8", b"", 0, 1, "mine"), precast.CallValueError),
    ],
)
def test_perform_exception_becomes_the_cause(error, kind):
    x = precast.input("x", "f64[?]")
    function = precast.function([x], Raises(error)(x), policy="interpret")
    with pytest.raises(kind, match="mine") as caught:
        function(np.ones(2))
    assert caught.value.__cause__ is error


@pytest.mark.parametrize("results", [None, np.ones((2, 2)), "a", object(), [np.ones(1), np.ones(2)]])
def test_perform_results_are_checked(results):
    x = precast.input("x", "f64[?]")
    function = precast.function([x], Raises(None, results)(x), policy="interpret")
    with pytest.raises(precast.CallError):
        function(np.ones(2))


def test_an_op_without_c_is_interpreted():
    x = precast.input("x", "f64[?]")
    y = Raises(None, np.ones(2))(x)
    with pytest.raises(precast.GraphValueError, match="the class has no `c_code`\nhint: "):
        precast.function([x], y, policy="jit")
    assert np.array_equal(precast.function([x], y + 1, policy="interpret")(np.ones(2)), [2, 2])


def test_perform_may_call_functions_from_threads():
    import threading

    x = precast.input("x", "f64[?]")
    inner = precast.function([x], x * 2, policy="interpret")

    class Calls(COp):
        def make_node(self, x):
            return Apply(self, [x], [x.type()])

        def perform(self, node, inputs, output_storage):
            output_storage[0][0] = inner(inputs[0])

    function = precast.function([x], Calls()(x), policy="interpret")
    failed = []

    def work():
        for n in range(50):
            if function(np.full(3, float(n)))[0] != 2 * n:
                failed.append(n)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


class Wrong(COp):
    def __init__(self, **methods):
        for name, value in methods.items():
            setattr(self, name, value if name == "params_type" else (lambda value: lambda *_: value)(value))

    def make_node(self, x):
        return Apply(self, [x], [x.type()])

    def c_code(self, node, name, inputs, outputs, sub):
        return "this is no C"


@pytest.mark.parametrize(
    "op, kind, text",
    [
        (Wrong(make_node=None), TypeError, "returned a `NoneType`, expected an `Apply`"),
        (Wrong(c_compiler="fortran"), ValueError, "c_compiler"),
        (Wrong(c_code=3), TypeError, "`c_code` of `Wrong` returned a `int`, expected a string"),
        (Wrong(c_headers=[3]), TypeError, "`c_headers` of `Wrong` returned a `int`"),
        (Wrong(c_code_cache_version=("a",)), ValueError, "a"),
        (Wrong(), precast.CompileError, "cannot compile"),
    ],
)
def test_mistakes_of_an_op_are_raised(op, kind, text):
    x = precast.input("x", "f64[?]")
    with pytest.raises(kind, match=text):
        precast.function([x], op(x), policy="jit")


def test_make_node_errors_propagate_unchanged():
    with pytest.raises(TypeError, match="x must be a 1-d vector"):
        VectorTimesScalar()(precast.input("x", "f64[?,?]"), 2.0)


def test_invalid_files_are_named(tmp_path):
    (tmp_path / "wrong.c").write_text("#section nothing\nint x;\n")

    class External(ExternalCOp):
        def make_node(self, x):
            return Apply(self, [x], [x.type()])

    with pytest.raises(precast.GraphValueError, match="wrong.c"):
        External(str(tmp_path / "wrong.c"))(precast.input("x", "f64[?]"))
    with pytest.raises(FileNotFoundError):
        External("not_there.c")


def test_perform_calls_leak_nothing():
    x = precast.input("x", "f64[?]")

    class Twice(COp):
        def make_node(self, x):
            return Apply(self, [x], [x.type()])

        def perform(self, node, inputs, output_storage):
            output_storage[0][0] = inputs[0] * 2

    function = precast.function([x], Twice()(x), policy="interpret")
    a = np.ones(1000)
    for _ in range(50):
        function(a)
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(500):
        function(a)
    gc.collect()
    assert len(gc.get_objects()) - before < 50


def test_support_code_may_end_without_a_line_break():
    class Half(COp):
        def make_node(self, x):
            return Apply(self, [x], [x.type()])

        def c_support_code(self):
            return "#include <math.h>"

        def c_code(self, node, name, inputs, outputs, sub):
            (x,), (z,), fail = inputs, outputs, sub["fail"]
            return f"""
            Py_XDECREF({z});
            {z} = (PyArrayObject *)PyArray_EMPTY(1, PyArray_DIMS({x}), NPY_FLOAT64, 0);
            if (!{z}) {{ {fail} }}
            for (npy_intp i = 0; i < PyArray_DIMS({x})[0]; i++) {{
                *(double *)PyArray_GETPTR1({z}, i) = ldexp(*(double *)PyArray_GETPTR1({x}, i), -1);
            }}
            """

    x = precast.input("x", "f64[?]")
    assert list(precast.function([x], {"y": Half()(x)}, policy="jit")(np.ones(2))) == [0.5, 0.5]


def test_macro_order_does_not_change_flags():
    from precast._own.code import with_macros_last

    expected = ["-O1", "-DA", "-DB=2", "-UB", "-DB=1"]
    assert with_macros_last(["-DB=2", "-O1", "-UB", "-DA", "-DB=1"]) == expected
    assert with_macros_last(["-DA", "-DB=2", "-UB", "-O1", "-DB=1"]) == expected
    assert with_macros_last(["-Xpreprocessor", "-DB", "-DA"]) == ["-Xpreprocessor", "-DB", "-DA"]


CRASH = """
import faulthandler
faulthandler.enable()
import numpy as np
import precast
from precast import Apply, COp

class Crash(COp):
    def make_node(self, x):
        return Apply(self, [x], [x.type()])

    def c_code(self, node, name, inputs, outputs, sub):
        return "*(volatile char *)(uintptr_t)8 = 1;"

    def c_headers(self):
        return ["<stdint.h>"]

x = precast.input("x", "f64[?]")
function = precast.function([x], Crash()(x), policy="jit")

def caller():
    function(np.ones(3))

caller()
"""


def test_crash_in_an_op_prints_the_python_stack():
    done = subprocess.run([sys.executable, "-c", CRASH], capture_output=True, text=True, timeout=120)
    assert done.returncode == -signal.SIGSEGV
    assert "Fatal Python error: Segmentation fault" in done.stderr
    assert "line 22 in caller" in done.stderr and "line 24 in <module>" in done.stderr
