"""The examples of the pages give what they show."""

import doctest
import re
import shutil
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


def test_the_pages_name_all_that_is_public():
    pages = "".join((PAGES / page).read_text(encoding="utf-8") for page in ("README.md", "WRITING_OPS.md", "PYTENSOR.md"))
    missing = set(precast.__all__) - set(re.findall(r"\w+", pages))
    assert not missing, missing
