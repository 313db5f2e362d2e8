"""Ops and types that are written in Python, with the methods of Aesara's and PyTensor's."""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy

from . import _native
from ._types import Output, Type
from ._variable import Variable
from .errors import GraphTypeError, GraphValueError

_NAME = "PRECAST_NAME_"
#: What stands in C texts for what is chosen when a module is generated.
_SUB = {
    "fail": "PRECAST_FAIL_",
    "id": "PRECAST_ID_",
    "failure_var": "PRECAST_FAILURE_VAR_",
    "params": "PRECAST_PARAMS_",
    "context": "PRECAST_PARAMS_",
    "struct_id": _NAME,
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


class Apply:
    """One use of an op: what `make_node` gives, and what the other methods are given as `node`."""

    def __init__(self, op: Any, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        self.op = op
        self.inputs = [as_variable(each) for each in inputs]
        self.outputs = [each() if isinstance(each, Type) else each for each in outputs]

    def __repr__(self) -> str:
        return f"Apply({self.op!r}, {self.inputs}, {self.outputs})"


def as_variable(value: Any) -> Variable:
    """A variable: itself, or the constant of an array or a number."""
    if isinstance(value, (Variable, Output)):
        return value
    return _native.constant(value)


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


class Op:
    """What all ops have: `make_node` and `perform`."""

    #: The attributes that tell ops of the class apart.
    __props__: Sequence[str] = ()
    #: Which outputs are views of which inputs: ``{output: [input]}``.
    view_map: Mapping[int, Sequence[int]] = {}
    #: Which outputs overwrite which inputs: ``{output: [input]}``.
    destroy_map: Mapping[int, Sequence[int]] = {}

    @property
    def name(self) -> str:
        """Its name in signatures and messages."""
        return type(self).__name__

    def make_node(self, *inputs: Variable) -> Apply:
        """Checks the inputs, and says what comes out: ``Apply(self, [x], [x.type()])``."""
        raise NotImplementedError(f"`{type(self).__name__}` has no `make_node`")

    def perform(self, node: Apply, inputs: Sequence[numpy.ndarray], output_storage: Sequence[list[Any]]) -> None:
        """Computes the outputs in Python, ``output_storage[0][0] = …``: the reference of the C."""
        raise NotImplementedError(f"`{type(self).__name__}` has no `perform`")

    def _props(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__props__}

    def __eq__(self, other: Any) -> bool:
        return self is other or (type(self) is type(other) and bool(self.__props__) and self._props() == other._props())

    def __hash__(self) -> int:
        return hash((type(self), *map(repr, self._props().values()))) if self.__props__ else id(self)

    def __call__(self, *inputs: Any) -> Any:
        """Applies the op: a variable, or a tuple of several."""
        node = self.make_node(*(as_variable(each) for each in inputs))
        if not isinstance(node, Apply):
            raise GraphTypeError(f"`make_node` of `{self.name}` gives a `{type(node).__name__}`, expected an `Apply`")
        outputs = _native.apply(
            self._told(node),
            node.inputs,
            list(self._props().items()) + self._params(),
            self._param_types(),
            self._files(),
            self._reference(node),
        )
        return outputs[0] if len(outputs) == 1 else outputs

    def _reference(self, node: Apply) -> Any:
        """`perform` as a function of arrays."""
        if type(self).perform is Op.perform:
            return None

        def run(inputs: list[Any]) -> list[Any]:
            storage: list[list[Any]] = [[None] for _ in node.outputs]
            self.perform(node, inputs, storage)
            for cell, output in zip(storage, node.outputs):
                if cell[0] is None:
                    raise GraphValueError(f"`perform` of `{self.name}` left an output empty")
                cell[0] = numpy.asarray(cell[0], output.dtype)
            return [cell[0] for cell in storage]

        return run


class COp(Op, CLinkerObject):
    """An op whose methods return C. See "Writing ops in Python" in the package's documents."""

    #: The types of run-time params: ``ParamsType(low="f64")``.
    params_type: Any = None
    #: Whether the types of inputs and outputs check their values.
    check_input = True
    _f16_ok = False

    def c_code(self, node: Apply, name: str, inputs: Sequence[str], outputs: Sequence[str], sub: Mapping[str, str]) -> str:
        """The C that computes the outputs from the inputs, which are names of C variables."""
        raise NotImplementedError(f"`{type(self).__name__}` has no `c_code`")

    def c_code_cleanup(
        self, node: Apply, name: str, inputs: Sequence[str], outputs: Sequence[str], sub: Mapping[str, str]
    ) -> str:
        """Runs after `c_code`, also when it failed."""
        return ""

    def c_support_code_apply(self, node: Apply, name: str) -> str:
        """Helpers at file scope for one use; names carry `name`."""
        return ""

    def c_init_code_apply(self, node: Apply, name: str) -> str:
        """Statements that run once when the module is loaded, for one use."""
        return ""

    def c_support_code_struct(self, node: Apply, name: str) -> str:
        """Members of the instance."""
        return ""

    def c_init_code_struct(self, node: Apply, name: str, sub: Mapping[str, str]) -> str:
        """Gives the members their first values."""
        return ""

    def c_cleanup_code_struct(self, node: Apply, name: str) -> str:
        """Gives back what the members hold."""
        return ""

    def c_code_cache_version_apply(self, node: Apply) -> tuple[Any, ...] | None:
        """The version of the code of one use."""
        return self.c_code_cache_version()

    def get_params(self, node: Apply) -> Mapping[str, Any]:
        """The values of the params: the attributes of their names."""
        return {name: getattr(self, name) for name in self.params_type or ()}

    def _params(self) -> list[tuple[str, Any]]:
        values = self.get_params(None) if self.params_type else {}
        own = set(self.__props__)
        return [(name, value) for name, value in values.items() if name not in own]

    def _param_types(self) -> list[tuple[str, Any]]:
        return [(name, told.told if isinstance(told, EnumType) else str(told)) for name, told in (self.params_type or {}).items()]

    def _files(self) -> Any:
        return None

    def _texts(self, node: Apply) -> dict[str, str]:
        inputs = [f"PRECAST_INPUT_{at}_" for at in range(len(node.inputs))]
        outputs = [f"PRECAST_OUTPUT_{at}_" for at in range(len(node.outputs))]
        sub = dict(_SUB)
        if not self.params_type:
            del sub["params"], sub["context"]
        texts = {
            "c_code_cleanup": self.c_code_cleanup(node, _NAME, inputs, outputs, sub),
            "c_support_code_apply": self.c_support_code_apply(node, _NAME),
            "c_init_code_apply": self.c_init_code_apply(node, _NAME),
            "c_support_code_struct": self.c_support_code_struct(node, _NAME),
            "c_init_code_struct": self.c_init_code_struct(node, _NAME, sub),
            "c_cleanup_code_struct": self.c_cleanup_code_struct(node, _NAME),
        }
        if type(self).c_code is not COp.c_code:
            texts["c_code"] = self.c_code(node, _NAME, inputs, outputs, sub)
        for method, text in texts.items():
            _check(self.name, method, text)
        return {method: text for method, text in texts.items() if text}

    def _told(self, node: Apply) -> dict[str, Any]:
        compiler = self.c_compiler()
        if compiler not in (None, "c", "c++"):
            raise GraphValueError(f"`c_compiler` of `{self.name}` gives {compiler!r}, expected None, \"c\" or \"c++\"")
        return {
            "name": self.name,
            "class": f"{type(self).__module__}.{type(self).__qualname__}:{id(type(self)) if self.__props__ else id(self):x}",
            "inputs": [str(each.type) for each in node.inputs],
            "outputs": [str(each.type) for each in node.outputs],
            "texts": self._texts(node),
            "lists": _lists(self),
            "version": _version(self.c_code_cache_version_apply(node)),
            "cxx": None if compiler is None else compiler == "c++",
            "view_map": _pairs(self.view_map),
            "destroy_map": _pairs(self.destroy_map),
            "check_input": bool(self.check_input),
            "f16_ok": bool(self._f16_ok),
        }


class ExternalCOp(COp):
    """An op whose C stands in files with ``#section`` tags, beside the file of its class."""

    #: The most inputs and outputs that the function takes, if that is more than a use has.
    _cop_num_inputs: int | None = None
    _cop_num_outputs: int | None = None

    def __init__(self, func_files: str | Sequence[str], func_name: str | None = None) -> None:
        files = [func_files] if isinstance(func_files, str) else list(func_files)
        folder = os.path.dirname(inspect.getfile(type(self)))
        self.func_files = [os.path.join(folder, each) for each in files]
        self.func_name = func_name
        self._code = [(os.path.basename(each), _read(each)) for each in self.func_files]

    def _texts(self, node: Apply) -> dict[str, str]:
        return {}

    def c_sources(self) -> Mapping[str, str]:
        """Own headers that the files include: names and texts."""
        return {}

    def _files(self) -> Any:
        return {
            "files": self._code,
            "sources": dict(self.c_sources()),
            "func": self.func_name,
            "max_inputs": self._cop_num_inputs,
            "max_outputs": self._cop_num_outputs,
        }


class ParamsType(dict):
    """The types of an op's run-time params by name: ``ParamsType(low="f64", mode=EnumList("CLAMP", "WRAP"))``."""


class EnumType:
    """Constants of C that a param may be, in the order given."""

    def __init__(self, ctype: str = "int", headers: Sequence[str] | None = None, **constants: int) -> None:
        self.told = (ctype, [(name, [], int(value)) for name, value in constants.items()], None if headers is None else list(headers))


class EnumList(EnumType):
    """Constants 0, 1, 2, …: names, or pairs of a name and an alias."""

    def __init__(self, *names: Any, ctype: str = "int", headers: Sequence[str] | None = None) -> None:
        pairs = [(name, []) if isinstance(name, str) else (name[0], list(name[1:])) for name in names]
        self.told = (
            ctype,
            [(name, aliases, value) for value, (name, aliases) in enumerate(pairs)],
            None if headers is None else list(headers),
        )


class CEnumType(EnumList):
    """Constants that headers of C define."""

    def __init__(self, *names: Any, ctype: str = "int", headers: Sequence[str] = ()) -> None:
        super().__init__(*names, ctype=ctype, headers=headers)


class CType(CLinkerObject):
    """A type whose methods return C: how a value is held in C, and which values it has."""

    #: Its name in the text of types, ``double<f64[]>``; without it that of the class.
    name: str | None = None
    #: The dtype and extents of the arrays that values travel as.
    carrier = "f64[]"

    def filter(self, x: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        """A value of the type made of `x`, or an exception."""
        return x

    def values_eq_approx(self, a: Any, b: Any) -> bool:
        """Whether two values are the same up to rounding."""
        return bool(numpy.allclose(a, b, equal_nan=True))

    def c_declare(self, name: str, sub: Mapping[str, str], check_input: bool = True) -> str:
        """Declares the C variables of `name`."""
        raise NotImplementedError(f"`{type(self).__name__}` has no `c_declare`")

    def c_init(self, name: str, sub: Mapping[str, str]) -> str:
        """Gives them a valid first value."""
        raise NotImplementedError(f"`{type(self).__name__}` has no `c_init`")

    def c_extract(self, name: str, sub: Mapping[str, str], check_input: bool = True) -> str:
        """Fills them from the object ``py_<name>``."""
        raise NotImplementedError(f"`{type(self).__name__}` has no `c_extract`")

    def c_extract_out(self, name: str, sub: Mapping[str, str], check_input: bool = True) -> str:
        """As `c_extract` if there is an object to use again, else as `c_init`."""
        extract, init = self.c_extract(name, sub, check_input), self.c_init(name, sub)
        return f"if (py_{name} != NULL) {{\n{extract}\n}} else {{\n{init}\n}}\n"

    def c_sync(self, name: str, sub: Mapping[str, str]) -> str:
        """Puts the value into ``py_<name>``."""
        raise NotImplementedError(f"`{type(self).__name__}` has no `c_sync`")

    def c_cleanup(self, name: str, sub: Mapping[str, str]) -> str:
        """Frees what the C variables hold."""
        return ""

    def c_is_simple(self) -> bool:
        """Whether the value lives in the C variable alone."""
        return False

    def c_is_number(self) -> bool:
        """Whether the C variable `name` is a number of the carrier's dtype, and every number a value."""
        return False

    def c_element_type(self) -> str | None:
        """The C type of the elements."""
        return None

    def __str__(self) -> str:
        name = self.name or type(self).__name__.lower()
        self._register(f"{name}<{self.carrier}>")
        return f"{name}<{self.carrier}>"

    def __call__(self, name: str | None = None) -> Any:
        """An input of this type if it has a name; else an output, for `make_node`."""
        if name is None:
            return Output(Type(str(self)))
        return _native.input(name, str(self))

    make_variable = __call__

    def _register(self, text: str) -> None:
        sub = {**_SUB, "py_ptr": "PRECAST_PY_PTR_", "stor_ptr": "PRECAST_STOR_PTR_"}
        texts = {"c_init": self.c_init(_NAME, sub), "c_sync": self.c_sync(_NAME, sub), "c_cleanup": self.c_cleanup(_NAME, sub)}
        for method in (self.c_declare, self.c_extract, self.c_extract_out):
            texts[method.__name__] = method(_NAME, sub, True)
            texts[f"{method.__name__}_unchecked"] = method(_NAME, sub, False)
        told = {
            "ty": text,
            "texts": texts,
            "lists": _lists(self),
            "is_simple": bool(self.c_is_simple()),
            "is_number": bool(self.c_is_number()),
            "element_type": self.c_element_type(),
        }
        own = type(self)
        _native.register_type(
            told,
            None if own.filter is CType.filter else self.filter,
            None if own.values_eq_approx is CType.values_eq_approx else self.values_eq_approx,
        )


def _lists(of: CLinkerObject) -> dict[str, list[str]]:
    made = {method: getattr(of, method)() for method in _LISTS}
    for method, texts in made.items():
        for text in [texts] if isinstance(texts, str) else texts:
            _check(type(of).__name__, method, text)
    return {method: [text] if isinstance(text, str) else list(text) for method, text in made.items() if text}


def _read(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


def _check(name: str, method: str, text: Any) -> None:
    if not isinstance(text, str):
        raise GraphTypeError(f"`{method}` of `{name}` gives a `{type(text).__name__}`, expected a text")


def _version(version: Any) -> list[int] | None:
    """The version as a flat list; `None` where none is given."""
    if version is None:
        return None
    flat: list[int] = []
    for part in version:
        flat.extend(_version(part) or [] if isinstance(part, (tuple, list)) else [int(part)])
    return flat


def _pairs(of: Mapping[int, Sequence[int]]) -> list[tuple[int, int]]:
    return [(output, each) for output, inputs in of.items() for each in inputs]
