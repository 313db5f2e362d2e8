"""The examples of the pages give what they show."""

import doctest
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import precast
import pytest

PAGES = Path(__file__).parent.parent


@pytest.mark.parametrize("page", ["README.md", "WRITING_OPS.md"])
def test_the_examples_of_a_page_run(page, bundle, tmp_path, monkeypatch):
    pytest.importorskip("scipy")
    if page == "WRITING_OPS.md" and not Path(sysconfig.get_path("include"), "Python.h").is_file():
        pytest.skip("there are no headers of this Python")
    shutil.copy(bundle, tmp_path / "model.precast")
    monkeypatch.chdir(tmp_path)
    # A fence ends an example, as an empty line does.
    text = (PAGES / page).read_text(encoding="utf-8").replace("```", "\n")
    test = doctest.DocTestParser().get_doctest(text, {}, page, page, 0)
    said = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    runner.run(test, out=said.append)
    assert runner.tries > 15 and runner.failures == 0, "".join(said)


def test_the_table_of_methods_is_whole():
    page = (PAGES / "WRITING_OPS.md").read_text(encoding="utf-8")
    told = set(re.findall(r"\w+", page[page.index("## What there is") :]))
    for each in (precast.COp, precast.ExternalCOp, precast.CType):
        own = {name for base in each.__mro__[:-1] for name in vars(base) if not name.startswith("__")}
        public = {name for name in own if not name.startswith("_")} - {"make_variable", "c_sources"}
        assert public <= told, public - told


def test_the_stubs_have_what_there_is():
    stubs = (Path(precast.__file__).parent / "_native.pyi").read_text(encoding="utf-8")
    for name in dir(precast._native):
        assert name.startswith("__") or re.search(rf"^(def|class) {name}\b", stubs, re.M), name


#: What is there at run time alone, or told otherwise by it.
UNTOLD = ["precast._native.__all__", "precast._native.Model.__getattr__"]

USE = """
import numpy as np
import precast

model: precast.Model = precast.load("model.precast")
function: precast.Function = model["score"]
ufuncs: list[np.ufunc] = [model.ufunc("clip"), precast.ufunc("hypot", layers=["model.precast"])]
native: precast.NativeFunction = function.native
address: int = native.address
x: precast.Variable = precast.input("x", "f64[?]")
y: precast.Variable = precast.exp(-x) * 2 + (1 - x) ** 2 @ x[0]
graph: precast.Graph = precast.graph([x], {"y": y, "z": (y > 0) | (x == y)})
precast.save("mine.precast", {"y": graph})
precast.load(3)
function.nothing
"""


def test_the_stubs_are_those_of_the_module_and_types_are_checked(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "untold").write_text("\n".join(UNTOLD))
    (tmp_path / "use.py").write_text(USE)

    def mypy(*args):
        command = [sys.executable, "-m", *args]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)

    ran = mypy("mypy.stubtest", "precast._native", "--concise", "--allowlist", "untold")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    ran = mypy("mypy", "--strict", "use.py")
    assert re.findall(r"^use\.py:(\d+): error: .*\[([\w-]+)\]$", ran.stdout, re.M) == [("14", "arg-type"), ("15", "attr-defined")], ran.stdout


def test_the_pages_name_all_that_is_public():
    pages = "".join((PAGES / page).read_text(encoding="utf-8") for page in ("README.md", "WRITING_OPS.md", "PYTENSOR.md"))
    missing = set(precast.__all__) - set(re.findall(r"\w+", pages))
    assert not missing, missing
