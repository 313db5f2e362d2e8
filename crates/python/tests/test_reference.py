"""The pages list all public names, and all methods that ops and types have in other projects. The stubs match the module."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import precast
import pytest

PYTHON = Path(__file__).parents[1]
PAGES = {page: (PYTHON / page).read_text(encoding="utf-8") for page in ("README.md", "WRITING_OPS.md", "PYTENSOR.md", "JAX.md", "HOSTS.md")}
NAMES = PYTHON.parents[1] / "tests/it/writing_ops/method_names.txt"


def first_cells(page: str) -> set[str]:
    """Returns the names in back-ticks in the first cells of a page's tables: `load` for `load(path)` and for `precast.load(path)`."""
    cells = [line.split(" | ")[0] for line in page.splitlines() if line.startswith("| `")]
    words = [word for cell in cells for word in re.findall(r"`([^`]+)`", cell)]
    return {match[1] for word in words if (match := re.match(r"(?:precast\.(?:\w+\.)?)?([A-Za-z_]\w*)", word))}


def test_every_public_name_is_in_a_table():
    told = set().union(*map(first_cells, PAGES.values()))
    assert set(precast.__all__) <= told, set(precast.__all__) - told
    modules = {"pytensor/__init__.py": "PYTENSOR.md", "jax/__init__.py": "JAX.md"}
    modules |= dict.fromkeys(("torch.py", "polars.py", "duckdb.py"), "HOSTS.md")
    for module, page in modules.items():
        # Read the source, because the module cannot be imported without the other package.
        source = ast.parse((Path(precast.__file__).parent / module).read_text(encoding="utf-8"))
        assigned = [node.value for node in source.body if isinstance(node, ast.Assign) and node.targets[0].id == "__all__"]
        public = set(ast.literal_eval(assigned[0]))
        assert public and public <= first_cells(PAGES[page]), public - first_cells(PAGES[page])


def test_every_name_of_the_reference_exists():
    reference = PAGES["README.md"].split("## Reference\n")[1].split("\n## ")[0]
    told = first_cells(reference)
    assert len(told) > 20 and told <= set(precast.__all__), told - set(precast.__all__)
    # Attributes too, such as `.entries` in the row of `Model`.
    for line in reference.splitlines():
        owner = re.match(r"\| `(Model|Function|NativeFunction)`", line)
        if owner:
            for name in re.findall(r"`\.(\w+)", line):
                assert hasattr(getattr(precast, owner[1]), name), f"{owner[1]}.{name}"
    for page, text in PAGES.items():
        for name in re.findall(r"(?<![\w./-])precast\.([A-Za-z_]\w*)(?!\w*\.(?:toml|lock))", text):
            if name not in ("toml", "lock", "keyring", "pytensor", "jax", "torch", "polars", "duckdb"):
                assert hasattr(precast, name), f"{page}: precast.{name}"


#: Methods and attributes of ops and types in Theano that have another form here.
OTHERWISE = {
    "c_literal": "constants are the values of slots, or literals of the graph",
    "c_contiguous": "a flag word, not a method",
    "c_thunks": "PyTensor's own list of thunks",
}


def test_classes_have_every_pytensor_method():
    names = [name for name in NAMES.read_text(encoding="utf-8").split("\n") if name and not name.startswith("#")]
    methods = {name for name in names if name.startswith("c_")}
    methods |= {"make_node", "perform", "view_map", "destroy_map", "check_input", "params_type", "get_params", "_f16_ok"}
    methods |= {"__props__", "filter", "values_eq_approx"}
    assert methods <= set(names) and len(methods) > 30
    missing = {
        name for name in methods if not any(hasattr(each, name) for each in (precast.COp, precast.ExternalCOp, precast.CType))
    }
    assert missing == {name for name in OTHERWISE if name in methods} - {"c_in_c_key"}, missing ^ set(OTHERWISE)
    # Classes for authors.
    for name in ("COp", "ExternalCOp", "CType", "Apply", "Generic", "EnumList", "EnumType"):
        assert name in names and hasattr(precast, name)


def test_type_checker_accepts_the_documented_calls(tmp_path):
    pytest.importorskip("mypy", reason="mypy is not installed")
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    command = [sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path / "cache"), "--follow-imports=silent", "--strict"]
    ended = subprocess.run([*command, str(program)], capture_output=True, text=True, timeout=600)
    told = [line.split(": ", 1)[1] for line in ended.stdout.splitlines() if ": error:" in line or ": note: Revealed" in line]
    assert len(told) == 4 and all(part in line for part, line in zip(TOLD, told, strict=True)), ended.stdout + ended.stderr


def test_stubs_match_the_module(tmp_path):
    pytest.importorskip("mypy", reason="mypy is not installed")
    # Python does not show the slot of the attributes.
    (tmp_path / "allowed").write_text("precast._native.Model.__getattr__\n")
    command = [sys.executable, "-m", "mypy.stubtest", "precast._native", "--ignore-missing-stub", "--ignore-positional-only"]
    command += ["--allowlist", "allowed"]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=600)
    assert ended.returncode == 0, ended.stdout + ended.stderr


PROGRAM = """
import numpy as np
import precast

model = precast.load("model.precast")
f = model["score"]
reveal_type(f)
ufuncs: list[np.ufunc] = [model.ufunc("clip"), precast.ufunc("hypot", layers=["model.precast"])]
address: int = f.native.address
x: precast.Variable = precast.input("x", "f64[?]")
y: precast.Variable = precast.exp(-x) * 2 + (1 - x) ** 2 @ x[0]
graph: precast.Graph = precast.graph([x], {"y": y, "z": (y > 0) | (x == y)})
precast.save("mine.precast", {"y": graph})
f.inputs[0].name
precast.load(3)
reveal_type(model.entries)
f.gone
"""
#: The expected output of the type checker: a function type, an invalid path, the names, and an invalid attribute; no false errors.
TOLD = ["Function", "arg-type", "tuple", "attr-defined"]
