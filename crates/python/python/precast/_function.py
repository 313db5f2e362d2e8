"""What functions can do that needs no native code: the class that the type `Function` derives from."""


class FunctionMethods:
    """Methods of functions."""

    __slots__ = ()
