"""Calls of functions with columns of Arrow, read in place. Nulls never reach a function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy
import pyarrow

from ._hosts import Interface
from .errors import CallTypeError, CallValueError, GraphTypeError


class Columns:
    """A function of columns.

    An elementwise function computes the rows without nulls; a row with a null in any column is null. Other functions depend on the number
    of rows, so a null is an error.
    """

    def __init__(self, function: Any) -> None:
        self.interface = Interface(function)
        if self.interface.structure is not None:
            raise GraphTypeError(f"`{self.interface.name}` has nested arguments or results, expected arrays")
        if not self.interface.inputs:
            raise GraphTypeError(f"`{self.interface.name}` has no inputs, expected columns")
        self.inputs, self.outputs = (
            [(name, arrow_type(name, type_)) for name, type_, _ in ports] for ports in (self.interface.inputs, self.interface.outputs)
        )
        try:
            self._ufunc = self.interface.function.ufunc()
        except GraphTypeError:
            self._ufunc = None

    @property
    def is_elementwise(self) -> bool:
        """Whether each row of the result depends on the same row of the columns alone."""
        return self._ufunc is not None

    @property
    def is_reduction(self) -> bool:
        """Whether the results are numbers, for any number of rows."""
        return not self.is_elementwise and not any(extents for _, _, extents in self.interface.outputs)

    def call(self, columns: Sequence[Any]) -> Any:
        """Calls the function with arrays of Arrow, some of which may have one row. Returns an array, or a structure of several."""
        rows = {len(column) for column in columns} - {1}
        count = rows.pop() if rows else 1
        if rows:
            raise CallValueError(f"the columns have {count} and {rows.pop()} rows")
        pairs = [self._read(column, *port) for column, port in zip(columns, self.inputs, strict=True)]
        values = [value for value, _ in pairs]
        masks = [mask for _, mask in pairs if mask is not None]
        if self._ufunc is None:
            made, valid = self._whole(values, masks), None
        elif not masks:
            made, valid = self._ufunc(*values), None
        else:
            valid = numpy.logical_and.reduce(numpy.broadcast_arrays(numpy.ones(count, bool), *masks))
            made = self._ufunc(*(value if len(value) != count else value[valid] for value in values))
        results = list(made) if len(self.outputs) > 1 else [made]
        arrays = [written(result, valid, count, type_) for result, (_, type_) in zip(results, self.outputs, strict=True)]
        if len(arrays) == 1:
            return arrays[0]
        nulls = None if valid is None else pyarrow.array(~valid)
        return pyarrow.StructArray.from_arrays(arrays, names=[name for name, _ in self.outputs], mask=nulls)

    def _whole(self, values: Sequence[Any], masks: Sequence[Any]) -> Any:
        """Calls a function that is not elementwise. A column for an input without dimensions has one row."""
        name = self.interface.name
        if masks:
            raise CallValueError(f"`{name}` is not elementwise, and a column has nulls\nhint: drop or fill them first")
        given = []
        for value, (port, type_, extents) in zip(values, self.interface.inputs, strict=True):
            if len(extents) > 1 or not extents and len(value) != 1:
                raise CallValueError(f"input `{port}` of `{name}` is `{type_}`, found a column of {len(value)} row(s)")
            given.append(value if extents else value[0])
        return self.interface.function(*given)

    @staticmethod
    def _read(column: Any, name: str, expected: Any) -> tuple[Any, Any]:
        """Returns the values of a column, and which rows are not null; None if all are."""
        if pyarrow.types.is_null(column.type):
            column = column.cast(expected)
        if column.type != expected:
            raise CallTypeError(f"column for `{name}` is `{column.type}`, expected `{expected}`\nhint: cast it first")
        validity, data = column.buffers()
        valid = bits(validity, column) if validity is not None and column.null_count else None
        if pyarrow.types.is_boolean(expected):
            return bits(data, column), valid
        if data is None:
            return numpy.empty(0, expected.to_pandas_dtype()), valid
        values = numpy.frombuffer(data, expected.to_pandas_dtype(), column.offset + len(column))
        return values[column.offset :], valid


def arrow_type(name: str, type_: Any) -> Any:
    """Returns the type of a column."""
    try:
        return pyarrow.from_numpy_dtype(numpy.dtype(type_.dtype))
    except (pyarrow.ArrowNotImplementedError, TypeError):
        raise GraphTypeError(f"`{name}` is `{type_}`, which Arrow has no columns of") from None


def bits(buffer: Any, column: Any) -> Any:
    """Returns the bits of a column as bools."""
    if buffer is None:
        return numpy.empty(0, bool)
    found = numpy.unpackbits(numpy.frombuffer(buffer, "uint8"), count=column.offset + len(column), bitorder="little")
    return found[column.offset :].view(bool)


def written(result: Any, valid: Any, count: int, type_: Any) -> Any:
    """Returns results as an array of Arrow on their memory. `valid` are the rows that have one."""
    made = numpy.atleast_1d(result)
    if made.ndim != 1:
        raise CallValueError(f"a result has {made.ndim} dimensions, expected a column")
    mask = None
    if valid is not None:
        full = numpy.zeros(count, made.dtype)
        full[valid] = made
        made, mask = full, pyarrow.py_buffer(numpy.packbits(valid, bitorder="little"))
    data = numpy.packbits(made, bitorder="little") if made.dtype == bool else numpy.ascontiguousarray(made)
    return pyarrow.Array.from_buffers(type_, len(made), [mask, pyarrow.py_buffer(data)])
