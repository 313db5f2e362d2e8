"""Defines an op with C code and a reference implementation, and uses it in a graph."""

import numpy as np
import precast
from precast import Apply, COp


class Steps(COp):
    """The differences of neighbours: shape ``(n)`` to ``(n - 1)``."""

    __props__ = ()

    def make_node(self, x):
        return Apply(self, [x], [precast.TensorType(x.dtype, [None])])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = np.diff(inputs[0])

    def c_code(self, node, name, inputs, outputs, sub):
        (x,), (z,), fail = inputs, outputs, sub["fail"]
        return f"""
        npy_intp n = PyArray_DIMS({x})[0] > 0 ? PyArray_DIMS({x})[0] - 1 : 0, step = PyArray_STRIDES({x})[0];
        char *at = (char *)PyArray_DATA({x});
        Py_XDECREF({z});
        {z} = (PyArrayObject *)PyArray_EMPTY(1, &n, NPY_FLOAT64, 0);
        if (!{z}) {{ {fail} }}
        for (npy_intp i = 0; i < n; i++, at += step) {{
            ((double *)PyArray_DATA({z}))[i] = *(double *)(at + step) - *(double *)at;
        }}
        """


x = precast.input("x", "f64[?]")
compiled = precast.function([x], {"y": Steps()(x) * 2}, policy="jit")
reference = precast.function([x], {"y": Steps()(x) * 2}, policy="interpret")
values = np.array([1.0, 4.0, 9.0, 16.0])
print(compiled(values), reference(values))
