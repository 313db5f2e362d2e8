"""Ops and types that are written in Python, with the methods of ops and types in Aesara and PyTensor."""

from .ctype import CType, Generic
from .op import Apply, COp, ExternalCOp, as_variable
from .params import CEnumType, EnumList, EnumType, ParamsType

__all__ = ["Apply", "CEnumType", "COp", "CType", "EnumList", "EnumType", "ExternalCOp", "Generic", "ParamsType", "as_variable"]
