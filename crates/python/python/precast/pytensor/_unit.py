"""What PyTensor generated, as a unit: its text with the headers that it reaches, by content, and its arguments."""

import os
import posixpath
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from .._native import Unit
from .._own.code import with_macros_last
from ._host import Host

# Where the system's headers are: no own ones, and no host's.
_SYSTEM = ("/usr/include", "/usr/local/include")
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.MULTILINE)
# What PyTensor asks for because its compiler would not do so by itself. Ours does.
_GIVEN = ("-fPIC", "-m64")
# What our compiler does by itself, and PyTensor's ops may take away.
_DEFAULT = ("-O3", "-fno-math-errno")


class Refused(Exception):
    """It cannot be compiled with our means: the reason."""


class Generated:
    """What PyTensor generated, as the arguments of a unit, and that unit."""

    def __init__(self, **arguments: Any) -> None:
        self.arguments = arguments
        self.unit = Unit(**arguments)


def of_linker(host: Host, linker: Any) -> Generated:
    """The text of a `CLinker` that has a graph."""
    if linker.c_compiler() is not host.Compiler:
        raise Refused("an op asks for a compiler of its own")
    module = linker.get_dynamic_module()
    text = module.code()
    name = module.code_hash
    if not isinstance(name, str) or name not in text:
        raise Refused("the generated text does not have its own name")
    return _unit(
        host,
        ops=[signature(node) for node in linker.node_order],
        text=text,
        name=name,
        arguments=linker.compile_args(),
        dirs=linker.header_dirs(),
        libraries=linker.libraries(),
        lib_dirs=linker.lib_dirs(),
    )


def of_text(host: Host, name: str, text: str) -> Generated:
    """The text of a module of PyTensor's own."""
    arguments = host.Compiler.compile_args(march_flags=False)
    return _unit(host, ops=[name], text=text, name=name, arguments=arguments, dirs=[])


def _unit(
    host: Host,
    *,
    ops: list[str],
    text: str,
    name: str,
    arguments: Iterable[str],
    dirs: Iterable[str],
    libraries: Iterable[str] = (),
    lib_dirs: Iterable[str] = (),
) -> Generated:
    arguments = [argument for argument in arguments if argument not in _GIVEN]
    if host.config.cmodule__remove_gxx_opt:
        arguments = [argument for argument in arguments if not argument.startswith("-O")]
    known = list(dict.fromkeys([*(os.path.realpath(path) for path in dirs if path), host.own_dir]))
    foreign = [path for path in known if path in host.host_dirs or _is_system(path)]
    try:
        return Generated(
            ops=ops,
            text=text,
            name=name,
            versions=host.versions,
            sources=own_headers(text, [path for path in known if path not in foreign]),
            flags=with_macros_last(arguments),
            removed_flags=[flag for flag in _DEFAULT if ops != [name] and flag not in arguments],
            header_dirs=list(dict.fromkeys(foreign + host.host_dirs)),
            libraries=list(libraries),
            lib_dirs=[os.path.realpath(path) for path in lib_dirs],
        )
    except ValueError as error:
        raise Refused(str(error)) from None


def _is_system(path: str) -> bool:
    return any(path == system or path.startswith(system + "/") for system in _SYSTEM)


def own_headers(text: str, dirs: Sequence[str]) -> dict[str, str]:
    """The files below these directories that a text reaches by `#include`, however deep: name -> content."""
    found: dict[str, str] = {}
    waiting = [("", _INCLUDE.findall(text))]
    while waiting:
        folder, included = waiting.pop()
        for bracket, name in included:
            # A name in quotes is looked for beside the file that has it, first.
            for start in (folder, "") if bracket == '"' else ("",):
                logical = posixpath.normpath(posixpath.join(start, name))
                content = found.get(logical) or _read(dirs, logical)
                if content is not None:
                    if logical not in found:
                        found[logical] = content
                        waiting.append((posixpath.dirname(logical), _included(content)))
                    break
    return found


@lru_cache(maxsize=256)
def _included(header: str) -> list[tuple[str, str]]:
    """What a header includes. The same few are reached by most texts."""
    return _INCLUDE.findall(header)


def _read(dirs: Sequence[str], name: str) -> str | None:
    """The first file of this name below the directories."""
    if name.startswith(("/", "../")):
        return None
    for folder in dirs:
        try:
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                return file.read()
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            continue
        except (OSError, UnicodeDecodeError) as error:
            raise Refused(f"cannot read the header `{name}`: {error}") from None
    return None


def signature(node: Any) -> str:
    """An Apply as people read it, with nothing of this process: `Add(f64[?], f64[?]) -> f64[?]`."""
    op = re.sub(r" at 0x[0-9a-f]+", "", str(node.op))
    inputs, outputs = (", ".join(_type(v.type) for v in list) for list in (node.inputs, node.outputs))
    return f"{op}({inputs}) -> {outputs}"


def _type(type_: Any) -> str:
    dtype, shape = getattr(type_, "dtype", None), getattr(type_, "shape", None)
    if not isinstance(dtype, str):
        return re.sub(r" at 0x[0-9a-f]+", "", str(type_))
    if not isinstance(shape, tuple):
        return dtype
    return f"{dtype}[{','.join('?' if extent is None else str(extent) for extent in shape)}]"
