"""Modules are compiled once, run in every CPython from 3.10 on, and are called by vectorcall."""

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import precast
import pytest
from test_cpython import Double, Times, VectorTimesVectorExternal, made, pytestmark  # noqa: F401

#: The names that modules may refer to: the stable ABI of CPython 3.10 (`Doc/data/stable_abi.dat`).
STABLE = set(
    """
    PyArg_ParseTuple PyArg_UnpackTuple PyBool_FromLong PyBytes_AsString PyBytes_AsStringAndSize PyBytes_FromStringAndSize
    PyCallable_Check PyCapsule_GetPointer PyCapsule_Import PyCapsule_New PyCapsule_Type PyCMethod_New PyCFunction_NewEx
    PyComplex_FromDoubles PyComplex_ImagAsDouble PyComplex_RealAsDouble PyComplex_Type PyDict_GetItemString PyDict_New
    PyDict_SetItemString PyErr_Clear PyErr_ExceptionMatches PyErr_Fetch PyErr_Format PyErr_GivenExceptionMatches PyErr_NoMemory
    PyErr_NormalizeException PyErr_Occurred PyErr_Print PyErr_Restore PyErr_SetNone PyErr_SetObject PyErr_SetString PyErr_WarnEx
    PyErr_WriteUnraisable PyEval_RestoreThread PyEval_SaveThread PyExc_AssertionError PyExc_AttributeError PyExc_Exception
    PyExc_ImportError PyExc_ModuleNotFoundError PyExc_IndexError PyExc_KeyError PyExc_MemoryError PyExc_NotImplementedError PyExc_OverflowError
    PyExc_RuntimeError PyExc_SystemError PyExc_TypeError PyExc_ValueError PyExc_ZeroDivisionError PyFloat_AsDouble
    PyFloat_FromDouble PyFloat_Type PyGILState_Ensure PyGILState_Release PyImport_ImportModule PyList_New PyList_SetItem
    PyList_Type PyLong_AsLong PyLong_AsLongLong PyLong_AsSize_t PyLong_AsSsize_t PyLong_AsUnsignedLongLong PyLong_FromLong
    PyLong_FromLongLong PyLong_FromSize_t PyLong_FromSsize_t PyLong_FromUnsignedLongLong PyLong_Type PyMem_Free PyMem_Malloc
    PyModuleDef_Init PyModule_AddIntConstant PyModule_AddObject PyModule_AddObjectRef PyModule_Create2 PyModule_GetState
    PyNumber_Index PyNumber_Long PyObject_Call PyObject_CallFunction PyObject_CallFunctionObjArgs PyObject_CallMethod
    PyObject_CallObject PyObject_Free PyObject_GetAttrString PyObject_IsInstance PyObject_IsTrue PyObject_Malloc PyObject_Repr
    PyObject_RichCompareBool PyObject_SetAttrString PyObject_Str PySequence_GetItem PySequence_Size PySys_WriteStderr
    PyTuple_GetItem PyTuple_New PyTuple_Pack PyTuple_SetItem PyTuple_Size PyTuple_Type PyType_FromModuleAndSpec PyType_FromSpec
    PyType_GetFlags PyType_GetSlot PyType_IsSubtype PyUnicode_AsUTF8AndSize PyUnicode_AsUTF8String PyUnicode_FromFormat
    PyUnicode_FromString PyUnicode_FromStringAndSize Py_AddPendingCall Py_BuildValue Py_DecRef Py_IncRef Py_IsInitialized
    _Py_Dealloc _Py_FalseStruct _Py_NoneStruct _Py_TrueStruct
    """.split()
)


def graphs():
    """Returns graphs on arrays, on a type written in Python, and one that fails."""
    x, y = precast.input("x", "f64[?]"), precast.input("y", "f64[?]")
    a, b = Double()("a"), Double()("b")
    return {"arrays": precast.graph([x, y], VectorTimesVectorExternal()(x, y)), "numbers": precast.graph([a, b], Times()(a, b))}


def test_modules_use_only_the_stable_abi():
    from precast import _cpython
    from precast._native import Modules, Unit

    if not shutil.which("nm"):
        pytest.skip("`nm` is not installed")
    modules = Modules(store=Modules.user_store())
    for graph in graphs().values():
        unit = Unit.of_graph(graph, _cpython.versions(), _cpython.header_dirs())
        found = modules.find(unit) or modules.compile(unit)
        listed = subprocess.run(["nm", "-D", "--undefined-only", found.path], capture_output=True, text=True, check=True).stdout
        names = {line.split()[-1].split("@")[0] for line in listed.splitlines()}
        pythons = {name for name in names if name.startswith(("Py", "_Py"))}
        assert len(pythons) > 5 and pythons <= STABLE, pythons - STABLE


def is_vectorcall(function):
    """Returns whether CPython calls an object by vectorcall, with CPython's own check."""
    find = ctypes.pythonapi.PyVectorcall_Function
    find.argtypes, find.restype = [ctypes.py_object], ctypes.c_void_p
    return find(function) is not None


def test_functions_are_called_by_vectorcall():
    have_vectorcall = 1 << 11
    native = precast.function("x: f64[?]", "y = x + 1", policy="interpret")
    for function in [native, *(made(graph, None) for graph in graphs().values())]:
        assert type(function).__flags__ & have_vectorcall and is_vectorcall(function), function
    assert not is_vectorcall(precast.COp)


def test_module_runs_in_another_python_version(tmp_path):
    other = os.environ.get("PRECAST_TEST_OTHER_PYTHON")
    if other is None:
        pytest.skip("no second CPython")
    precast.save(tmp_path / "host.precast", graphs(), host="cpython")
    code = """
import sys
import numpy as np
from test_cpython import made
from test_stable_abi import graphs
arrays, numbers = (made(graph, None, policy="strict", layers=[sys.argv[1]]) for graph in graphs().values())
for _ in range(1000):
    assert np.array_equal(arrays(np.arange(4.0), np.full(4, 0.5)), np.arange(4.0) / 2)
    assert numbers(2.0, 3.5) == 7.0
for wrong in ((1.0, "a"), (1.0,)):
    try:
        numbers(*wrong)
    except TypeError:
        continue
    raise AssertionError(wrong)
print("%d.%d" % sys.version_info[:2])
"""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent), "PATH": "", "PRECAST_CACHE": str(tmp_path)}
    ran = subprocess.run([other, "-B", "-c", code, str(tmp_path / "host.precast")], capture_output=True, text=True, env=environment)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip() != "%d.%d" % sys.version_info[:2]
