"""The Python array API standard on precast, for the test suite of the standard. Each call builds a graph and runs it at once.

Arrays contain NumPy arrays, which implement operations on values (conversion, printing, `__setitem__`). Functions are library functions
with the reference implementation. Names that the library lacks are missing here too.
"""

from __future__ import annotations

import builtins
import inspect
import operator
import types

import numpy as np
import precast
from precast import _protocols

__array_api_version__ = "2024.12"
_INFO = np.__array_namespace_info__()

bool = np.dtype("bool")
int8, int16, int32, int64 = (np.dtype(f"i{size}") for size in (1, 2, 4, 8))
uint8, uint16, uint32, uint64 = (np.dtype(f"u{size}") for size in (1, 2, 4, 8))
float32, float64 = np.dtype("f4"), np.dtype("f8")
complex64, complex128 = np.dtype("c8"), np.dtype("c16")
e, pi, inf, nan, newaxis = np.e, np.pi, np.inf, np.nan, None

_SHORT = {"b": "bool", "i": "i", "u": "u", "f": "f", "c": "c"}


def __array_namespace_info__():
    return _INFO


def _type(value):
    short = "bool" if value.dtype.kind == "b" else f"{value.dtype.kind}{8 * value.dtype.itemsize}"
    return f"{short}[{','.join(map(str, value.shape))}]"


def _run(make, args, keywords):
    """Calls `make` with variables in place of arrays, and runs the resulting graph."""
    inputs, values = [], []

    def variable(item):
        if isinstance(item, Array):
            values.append(item._value)
            inputs.append(precast.input(f"x{len(inputs)}", _type(item._value)))
            return inputs[-1]
        if isinstance(item, slice):
            return slice(*(variable(each) for each in (item.start, item.stop, item.step)))
        if isinstance(item, (list, tuple)):
            return type(item)(variable(each) for each in item)
        return item

    result = make(*(variable(arg) for arg in args), **{name: variable(value) for name, value in keywords.items()})
    return _value(result, inputs, values)


def _value(result, inputs, values):
    if isinstance(result, (list, tuple)):
        arrays = [_value(each, inputs, values) for each in result]
        return type(result)(*arrays) if hasattr(result, "_fields") else type(result)(arrays)
    if not isinstance(result, precast.Variable):
        return Array(np.asarray(result))
    return Array(np.asarray(precast.function(inputs, result, policy="interpret")(*values)))


class Array:
    """An array of the standard."""

    __array_priority__ = 100.0

    def __init__(self, value):
        self._value = np.asarray(value)

    dtype = property(lambda self: self._value.dtype)
    shape = property(lambda self: self._value.shape)
    ndim = property(lambda self: self._value.ndim)
    size = property(lambda self: self._value.size)
    device = property(lambda self: "cpu")
    T = property(lambda self: _run(lambda x: x.T, (self,), {}))
    mT = property(lambda self: _run(lambda x: x.mT, (self,), {}))

    def __array_namespace__(self, *, api_version=None):
        import sys

        return sys.modules[__name__]

    def __getitem__(self, key):
        return _run(lambda x, item: x[item], (self, key), {})

    def __setitem__(self, key, value):
        bare = lambda item: item._value if isinstance(item, Array) else item  # noqa: E731
        key = tuple(map(bare, key)) if isinstance(key, tuple) else bare(key)
        self._value = self._value.copy()
        self._value[key] = bare(value)

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self._value, dtype)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        return self._value.__dlpack__(stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)

    def __dlpack_device__(self):
        return self._value.__dlpack_device__()

    def to_device(self, device, *, stream=None):
        if device != "cpu":
            raise ValueError(device)
        return self

    def __repr__(self):
        return f"Array({self._value!r})"

    __hash__ = None
    __bool__ = lambda self: builtins.bool(self._value)  # noqa: E731
    __int__ = lambda self: int(self._value)  # noqa: E731
    __float__ = lambda self: float(self._value)  # noqa: E731
    __complex__ = lambda self: complex(self._value)  # noqa: E731
    __index__ = lambda self: operator.index(self._value)  # noqa: E731


def _operators():
    def forward(function):
        return lambda self, other: _run(function, (self, other), {}) if _is_operand(other) else NotImplemented

    def backward(function):
        return lambda self, other: _run(function, (other, self), {}) if _is_operand(other) else NotImplemented

    def in_place(function):
        def apply(self, other):
            result = _run(function, (self, other), {})
            self._value = result._value.astype(self.dtype, casting="same_kind")
            return self

        return apply

    both = "add sub mul truediv floordiv mod pow matmul and_ or_ xor lshift rshift"
    for name in both.split():
        function, bare = getattr(operator, name), name.rstrip("_")
        setattr(Array, f"__{bare}__", forward(function))
        setattr(Array, f"__r{bare}__", backward(function))
        setattr(Array, f"__i{bare}__", in_place(function))
    for name in ("lt", "le", "gt", "ge", "eq", "ne"):
        setattr(Array, f"__{name}__", forward(getattr(operator, name)))
    for name in ("neg", "pos", "abs", "invert"):
        function = getattr(operator, name)
        setattr(Array, f"__{name}__", lambda self, function=function: _run(function, (self,), {}))


def _is_operand(value):
    return isinstance(value, (Array, builtins.bool, int, float, complex))


_operators()

#: Names of the standard for which the library has another function or another form.
_OTHER = {
    "concat": lambda arrays, /, *, axis=0: precast.concatenate(arrays, axis),
    "stack": lambda arrays, /, *, axis=0: precast.stack(arrays, axis),
    "squeeze": lambda x, /, axis: precast.squeeze(x, axis),
    "broadcast_to": lambda x, /, shape: precast.broadcast_to(x, *shape),
    "broadcast_arrays": lambda *arrays: [precast.broadcast_to(x, *np.broadcast_shapes(*(tuple(y.type.shape) for y in arrays))) for x in arrays],
    "meshgrid": lambda *arrays, indexing="xy": list(precast.meshgrid(*arrays, indexing=indexing)),
    "matrix_transpose": lambda x, /: x.mT,
    "nonzero": _protocols._nonzero,
    "permute_dims": lambda x, /, axes: precast.transpose(x, axes),
    "reshape": lambda x, /, shape, *, copy=None: precast.reshape(x, shape),
    "tile": lambda x, repetitions, /: precast.tile(x, repetitions),
    "sort": lambda x, /, *, axis=-1, descending=False, stable=True: _descending(x, precast.sort, axis, descending),
    "argsort": lambda x, /, *, axis=-1, descending=False, stable=True: _descending(x, precast.argsort, axis, descending),
    "var": lambda x, /, *, axis=None, correction=0, keepdims=False: precast.var(x, axis, ddof=correction, keepdims=keepdims),
    "std": lambda x, /, *, axis=None, correction=0, keepdims=False: precast.std(x, axis, ddof=correction, keepdims=keepdims),
}
_SAME = """
abs acos acosh add all any argmax argmin asin asinh atan atan2 atanh bitwise_and bitwise_invert bitwise_left_shift bitwise_or
bitwise_right_shift bitwise_xor ceil clip conj copysign cos cosh count_nonzero cumulative_prod cumulative_sum diff divide equal exp
expand_dims expm1 flip floor floor_divide greater greater_equal hypot imag isfinite isinf isnan less less_equal log log10 log1p log2
logaddexp logical_and logical_not logical_or logical_xor matmul max maximum mean min minimum moveaxis multiply negative
nextafter not_equal pow prod real reciprocal remainder repeat roll round searchsorted sign signbit sin sinh sqrt square subtract
sum take take_along_axis tan tanh tensordot tril triu trunc unique_all unique_counts unique_inverse unique_values unstack vecdot where
"""


def _descending(x, function, axis, descending):
    if not descending:
        return function(x, axis)
    if function is precast.sort:
        return precast.flip(precast.sort(x, axis), axis)
    turned = precast.flip(precast.argsort(precast.flip(x, axis), axis), axis)
    return x.shape[axis] - 1 - turned


def _public(name, make):
    def function(*args, **keywords):
        return _run(make, args, keywords)

    function.__name__ = function.__qualname__ = name
    function.__signature__ = inspect.signature(make)
    return function


def _positive(x):
    return +x


for _name in _SAME.split():
    if _name in dir(precast):
        globals()[_name] = _public(_name, getattr(precast, _name))
for _name, _make in _OTHER.items():
    globals()[_name] = _public(_name, _make)
positive = _public("positive", _positive)
_LINALG = """
cholesky cross det diagonal eigh eigvalsh inv matmul matrix_norm matrix_power matrix_rank matrix_transpose outer pinv qr slogdet solve svd svdvals
tensordot trace vecdot vector_norm
"""
linalg = types.SimpleNamespace(**{name: _public(name, getattr(np.linalg, name)) for name in _LINALG.split()})
_FFT = "fft ifft fftn ifftn rfft irfft rfftn irfftn hfft ihfft fftshift ifftshift"
fft = types.SimpleNamespace(**{name: _public(name, getattr(np.fft, name)) for name in _FFT.split()})


# Creation functions and functions of dtypes use NumPy, because they need no graph.
def _created(name):
    function = getattr(np, name)

    def create(*args, **keywords):
        bare = [arg._value if isinstance(arg, Array) else arg for arg in args]
        keywords = {key: value._value if isinstance(value, Array) else value for key, value in keywords.items() if key != "device"}
        return Array(function(*bare, **keywords))

    create.__name__ = name
    try:
        create.__signature__ = inspect.signature(function)
    except ValueError:
        pass
    return create


for _name in "arange asarray empty empty_like eye from_dlpack full full_like linspace ones ones_like zeros zeros_like".split():
    globals()[_name] = _created(_name)


def _frequencies(make):
    def create(n, /, *, d=1.0, dtype=None, device=None):
        made = _run(make, (n,), {"d": d})
        return made if dtype is None else astype(made, dtype)

    return create


fft.fftfreq, fft.rfftfreq = _frequencies(precast.fftfreq), _frequencies(precast.rfftfreq)


def astype(x, dtype, /, *, copy=True, device=None):
    return _run(lambda y: y.astype(dtype), (x,), {}) if copy or x.dtype != dtype else x


def can_cast(from_, to, /):
    return np.can_cast(from_.dtype if isinstance(from_, Array) else from_, to)


def finfo(type, /):
    return np.finfo(type.dtype if isinstance(type, Array) else type)


def iinfo(type, /):
    return np.iinfo(type.dtype if isinstance(type, Array) else type)


def isdtype(dtype, kind):
    return np.isdtype(dtype, kind)


def result_type(*items):
    return np.result_type(*(item.dtype if isinstance(item, Array) else item for item in items))
