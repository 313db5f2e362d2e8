"""The methods shared by ops and types. They generate C once, with markers for names that are chosen later."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from ..errors import GraphTypeError

NAME = "PRECAST_NAME_"
#: The markers in C texts. The code generator replaces them when it generates a module.
SUB = {
    "fail": "PRECAST_FAIL_",
    "id": "PRECAST_ID_",
    "failure_var": "PRECAST_FAILURE_VAR_",
    "params": "PRECAST_PARAMS_",
    "context": "PRECAST_PARAMS_",
    "struct_id": NAME,
}
_LISTS = (
    "c_headers",
    "c_header_dirs",
    "c_libraries",
    "c_lib_dirs",
    "c_compile_args",
    "c_no_compile_args",
    "c_init_code",
    "c_support_code",
)

#: Compiler options that take the next argument.
_TAKES_NEXT = ("-D", "-U", "-I", "-include", "-imacros", "-isystem", "-Xpreprocessor", "-Xlinker", "-Xassembler")


class CLinkerObject:
    """The methods shared by ops and types: headers, libraries, flags and support code."""

    def c_headers(self) -> Sequence[str]:
        """Returns the headers to include."""
        return []

    def c_header_dirs(self) -> Sequence[str]:
        """Returns the directories to search for headers."""
        return []

    def c_libraries(self) -> Sequence[str]:
        """Returns the libraries to link, without `lib` and suffix."""
        return []

    def c_lib_dirs(self) -> Sequence[str]:
        """Returns the directories to search for libraries."""
        return []

    def c_compile_args(self) -> Sequence[str]:
        """Returns additional compiler arguments."""
        return []

    def c_no_compile_args(self) -> Sequence[str]:
        """Returns compiler arguments to remove."""
        return []

    def c_init_code(self) -> Sequence[str]:
        """Returns statements that run once when the module is loaded."""
        return []

    def c_support_code(self) -> str | Sequence[str]:
        """Returns C code at file scope."""
        return []

    def c_compiler(self) -> str | None:
        """Returns ``"c++"`` if the code is C++."""
        return None

    def c_code_cache_version(self) -> tuple[Any, ...] | None:
        """Returns the author's version, or `None`: keys contain the code itself. Code with the version `()` is never cached."""
        return None


def lists(of: CLinkerObject) -> dict[str, list[str]]:
    made = {method: getattr(of, method)() for method in _LISTS}
    for method, texts in made.items():
        for text in [texts] if isinstance(texts, str) else texts:
            check(type(of).__name__, method, text)
    found = {method: [text] if isinstance(text, str) else _ordered(text) for method, text in made.items() if text}
    if "c_compile_args" in found:
        found["c_compile_args"] = with_macros_last(found["c_compile_args"])
    return found


def _ordered(texts: Iterable[str]) -> list[str]:
    """Returns texts in their order; the texts of a set are sorted."""
    return sorted(texts) if isinstance(texts, (set, frozenset)) else list(texts)


def with_macros_last(flags: Sequence[str]) -> list[str]:
    """Moves flags that define macros to the end and sorts them by macro name, so that keys do not depend on their order.

    Flags of one macro keep their order, because the last one wins.
    """
    if any(flag in _TAKES_NEXT for flag in flags):
        return list(flags)
    others = [flag for flag in flags if not flag.startswith(("-D", "-U"))]
    return others + sorted((flag for flag in flags if flag.startswith(("-D", "-U"))), key=lambda flag: re.split(r"[=(]", flag[2:])[0])


def check(name: str, method: str, text: Any) -> None:
    if not isinstance(text, str):
        raise GraphTypeError(f"`{method}` of `{name}` returned a `{type(text).__name__}`, expected a string")
