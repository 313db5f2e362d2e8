"""What functions can do that needs no native code: the class that the type `Function` derives from."""

from __future__ import annotations

from typing import Any


class NotPickled:
    """What belongs to this process: others load it for themselves. It never changes, so that a copy is itself."""

    __slots__ = ()

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError(
            f"cannot pickle a `precast.{type(self).__name__}`: it belongs to this process\n"
            "hint: save it in a bundle, and load it in each process by the path of the bundle and its name"
        )

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self


class FunctionMethods(NotPickled):
    """Methods of functions."""

    __slots__ = ()

    def ufunc(self, *others: Any) -> Any:
        """The function as a ufunc of NumPy, if it computes element by element; `others` are its loops for other dtypes."""
        from . import _native

        return _native.ufunc(self.__name__, [self, *others])

    def gufunc(self, signature: str, *others: Any) -> Any:
        """The function as a generalised ufunc, ``"(n),(n)->()"``: called for each index of the leading dimensions."""
        from . import _native

        return _native.ufunc(self.__name__, [self, *others], signature)

    def low_level_callable(self, /, **fixed: Any) -> Any:
        """The function as a `scipy.LowLevelCallable`, of the form that its types say; `fixed` are values of inputs beforehand.

        Numbers `x: f64, …` that give one are for `scipy.integrate.quad`, `dblquad`, `tplquad` and `nquad`; of `scipy.ndimage`,
        `f64[?]` that gives `f64[]` is for `generic_filter`, one that gives `f64[?]` for `generic_filter1d`, and `i64[?]` that gives
        `f64[?]` for `geometric_transform`.
        """
        from scipy import LowLevelCallable

        from . import _native

        return LowLevelCallable(_native.capsule(self, fixed))

    def _repr_svg_(self) -> str | None:
        return None if self.graph is None else self.graph._repr_svg_()

    def _repr_html_(self) -> str | None:
        return None if self.graph is None else self.graph._repr_html_()
