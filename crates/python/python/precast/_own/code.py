"""What ops and types have in common: the C that they are asked for once, with marks for what is chosen later."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from ..errors import GraphTypeError

NAME = "PRECAST_NAME_"
#: What stands in C texts for what is chosen when a module is generated.
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

#: Options of a compiler that take the next word.
_TAKES_NEXT = ("-D", "-U", "-I", "-include", "-imacros", "-isystem", "-Xpreprocessor", "-Xlinker", "-Xassembler")


class CLinkerObject:
    """What ops and types have in common: headers, libraries, flags, support code. Each method gives a list."""

    def c_headers(self) -> Sequence[str]:
        """Headers to include."""
        return []

    def c_header_dirs(self) -> Sequence[str]:
        """Directories with headers."""
        return []

    def c_libraries(self) -> Sequence[str]:
        """Libraries to link, without `lib` and suffix."""
        return []

    def c_lib_dirs(self) -> Sequence[str]:
        """Directories with libraries."""
        return []

    def c_compile_args(self) -> Sequence[str]:
        """Arguments to add to the compiler's."""
        return []

    def c_no_compile_args(self) -> Sequence[str]:
        """Arguments to take away."""
        return []

    def c_init_code(self) -> Sequence[str]:
        """Statements that run once when the module is loaded."""
        return []

    def c_support_code(self) -> str | Sequence[str]:
        """Helpers at file scope."""
        return []

    def c_compiler(self) -> str | None:
        """``"c++"`` for code that is no C."""
        return None

    def c_code_cache_version(self) -> tuple[Any, ...] | None:
        """The author's version; keys are made of the code itself, so that `None` is fine. An empty one: never kept."""
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
    """Texts in the order that they are given in; those of a set have none."""
    return sorted(texts) if isinstance(texts, (set, frozenset)) else list(texts)


def with_macros_last(flags: Sequence[str]) -> list[str]:
    """Flags with those that define macros last, by the names of these, so that their order does not matter to the key.

    Those of one macro keep their order, in which the last one counts.
    """
    if any(flag in _TAKES_NEXT for flag in flags):
        return list(flags)
    others = [flag for flag in flags if not flag.startswith(("-D", "-U"))]
    return others + sorted((flag for flag in flags if flag.startswith(("-D", "-U"))), key=lambda flag: re.split(r"[=(]", flag[2:])[0])


def check(name: str, method: str, text: Any) -> None:
    if not isinstance(text, str):
        raise GraphTypeError(f"`{method}` of `{name}` gives a `{type(text).__name__}`, expected a text")
