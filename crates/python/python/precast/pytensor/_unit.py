"""Units of the code that PyTensor generates: the text, the content of the headers that it includes, and the arguments."""

import os
import posixpath
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from .._native import Unit
from .._own.code import with_macros_last
from ._host import Host

# The directories of system headers, which belong neither to ops nor to the host.
_SYSTEM = ("/usr/include", "/usr/local/include")
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.MULTILINE)
# Flags that PyTensor adds and that precast uses by default.
_GIVEN = ("-fPIC", "-m64")
# Default flags of precast that PyTensor's ops may remove.
_DEFAULT = ("-O3", "-fno-math-errno")


class Refused(Exception):
    """The reason why precast cannot compile generated code."""


class Generated:
    """The arguments of a unit for generated code, and the unit."""

    def __init__(self, **arguments: Any) -> None:
        self.arguments = arguments
        self.unit = Unit(**arguments)


def of_linker(host: Host, linker: Any) -> Generated:
    """Returns the unit of a `CLinker` with a graph."""
    if linker.c_compiler() is not host.Compiler:
        raise Refused("an op requests another compiler")
    module = linker.get_dynamic_module()
    text = module.code()
    name = module.code_hash
    if not isinstance(name, str) or name not in text:
        raise Refused("the generated text does not contain its own name")
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
    """Returns the unit of one of PyTensor's own modules."""
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
    """Returns the names and contents of the files in these directories that a text includes, directly or indirectly."""
    found: dict[str, str] = {}
    waiting = [("", _INCLUDE.findall(text))]
    while waiting:
        folder, included = waiting.pop()
        for bracket, name in included:
            # A name in quotes is first looked up in the directory of the including file.
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
    """Returns the includes of a header. Most texts include the same few headers."""
    return _INCLUDE.findall(header)


def _read(dirs: Sequence[str], name: str) -> str | None:
    """Reads the first file with this name in the directories."""
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
    """Returns a readable text of an Apply without addresses: `Add(f64[?], f64[?]) -> f64[?]`."""
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
