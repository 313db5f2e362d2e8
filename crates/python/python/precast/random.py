"""Random numbers as functions of a key, as in ``jax.random``.

``random.normal(key, shape)`` is the function ``precast.random_normal``. A key is an input of type ``u32[2]``, or ``random.key(seed)``.
"""

from __future__ import annotations

from typing import Any


def split(key: Any, num: Any = 2) -> Any:
    """Returns `num` keys derived from a key, or an array of keys of a shape: ``first, second = random.split(key)``."""
    from ._variable import Variable, call

    keys = call("random_split", key, num)
    return Variable(keys._node, rows=num) if isinstance(num, int) else keys


def __getattr__(name: str) -> Any:
    """Returns a function, such as ``random.normal``."""
    if not name.startswith("_"):
        from ._native import described
        from ._variable import _Function

        if described(f"random_{name}") is not None:
            return globals().setdefault(name, _Function(f"random_{name}"))
    raise AttributeError(f"module `precast.random` has no attribute `{name}`")


def __dir__() -> list[str]:
    from ._native import names

    return sorted(name.removeprefix("random_") for name in names() if name.startswith("random_"))
