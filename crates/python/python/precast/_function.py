"""The base class of the type `Function`, with the methods that need no native code."""

from __future__ import annotations

from typing import Any


class NotPickled:
    """The base class of immutable objects that belong to this process. They cannot be pickled, and a copy is the object itself."""

    __slots__ = ()

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError(
            f"cannot pickle a `precast.{type(self).__name__}`: it belongs to this process\n"
            "hint: save it in a bundle and load it by name in each process"
        )

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self


class FunctionMethods(NotPickled):
    """The methods of functions."""

    __slots__ = ()

    def ufunc(self, *others: Any) -> Any:
        """Returns a NumPy ufunc of an elementwise function. `others` are the loops for other dtypes."""
        from . import _native

        return _native.ufunc(self.__name__, [self, *others])

    def gufunc(self, signature: str, *others: Any) -> Any:
        """Returns a generalized ufunc with a signature such as ``"(n),(n)->()"``. It calls the function for each leading index."""
        from . import _native

        return _native.ufunc(self.__name__, [self, *others], signature)

    def low_level_callable(self, /, **fixed: Any) -> Any:
        """Returns a `scipy.LowLevelCallable`. The types of the function select its form; `fixed` binds inputs to values.

        ======================= =======================================================
        ``f64, … -> f64``       `scipy.integrate.quad`, `dblquad`, `tplquad`, `nquad`
        ``f64[?] -> f64[]``     `scipy.ndimage.generic_filter`
        ``f64[?] -> f64[?]``    `scipy.ndimage.generic_filter1d`
        ``i64[?] -> f64[?]``    `scipy.ndimage.geometric_transform`
        ======================= =======================================================
        """
        from scipy import LowLevelCallable

        from . import _native

        return LowLevelCallable(_native.capsule(self, fixed))

    def _repr_svg_(self) -> str | None:
        return None if self.graph is None else self.graph._repr_svg_()

    def _repr_html_(self) -> str | None:
        return None if self.graph is None else self.graph._repr_html_()
