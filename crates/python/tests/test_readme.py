"""The examples of the pages print the documented results."""

import doctest
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np
import precast
import pytest

PAGES = Path(__file__).parent.parent
ROOT = PAGES.parents[1]
COMPILER = shutil.which("cc") or shutil.which("gcc")


#: The pages and their minimum numbers of examples. The first one is the front page of the project.
EXAMPLES = {"../../README.md": 5, "README.md": 15, "WRITING_OPS.md": 15}


@pytest.mark.parametrize("page", EXAMPLES)
def test_the_examples_of_a_page_run(page, bundle, tmp_path, monkeypatch):
    pytest.importorskip("scipy")
    if page == "WRITING_OPS.md" and not Path(sysconfig.get_path("include"), "Python.h").is_file():
        pytest.skip("no headers of this Python")
    for name in ("model.precast", "score.bundle"):
        shutil.copy(bundle, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    # A code fence ends an example, like an empty line.
    text = (PAGES / page).read_text(encoding="utf-8").replace("```", "\n")
    test = doctest.DocTestParser().get_doctest(text, {}, page, page, 0)
    said = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    runner.run(test, out=said.append)
    assert runner.tries > EXAMPLES[page] and runner.failures == 0, "".join(said)


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```", (PAGES / "README.md").read_text(encoding="utf-8"), re.M | re.S)


@pytest.mark.skipif(COMPILER is None, reason="no C compiler")
def test_the_manifest_of_the_page_builds_the_model(tmp_path):
    (manifest,) = blocks("toml")
    (tmp_path / "precast.toml").write_text(manifest)
    command = re.match(r"# precast (.*)\n", manifest)[1].split()
    ended = run([sys.executable, "-m", "precast", *command, "--store", "store"], tmp_path)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    x, y, z = np.linspace(0, 1, 12).reshape(3, 4)
    score = precast.load(tmp_path / "model.precast").score(x, y, z)
    assert score == pytest.approx((np.exp(-x * x) * y + z).sum(), rel=1e-14)


def test_packages_of_the_page_install(tmp_path):
    installed = [line.split("#")[0].split() for block in blocks("sh") for line in block.splitlines()]
    assert all(words[:2] == ["pip", "install"] for words in installed)
    paths = [words[2].removeprefix("./") for words in installed]
    # The first package is already installed by `cargo xtask python`.
    assert paths == ["crates/python", "crates/python/nativecall"] and Path(ROOT, paths[0], "pyproject.toml").is_file()
    pytest.importorskip("setuptools", minversion="77", reason="setuptools is missing or too old, and this test does not download packages")
    if COMPILER is None or not Path(sysconfig.get_path("include"), "Python.h").is_file():
        pytest.skip("no C compiler, or no headers of this Python")
    # Build a copy, because setuptools writes to the source directory.
    for folder in (paths[1], "crates/abi/include", "crates/abi/cpython"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-deps", "--target", "there"]
    ended = run([*pip, f"./{paths[1]}"], tmp_path)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    code = "import sys; sys.path.insert(0, 'there'); import precast_nativecall as n; print(n.__file__, n.each)"
    ended = run([sys.executable, "-c", code], tmp_path)
    assert str(tmp_path) in ended.stdout, ended.stdout + ended.stderr


def run(command: list[str], directory: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=directory, capture_output=True, text=True, timeout=600)


def test_table_of_methods_is_complete():
    page = (PAGES / "WRITING_OPS.md").read_text(encoding="utf-8")
    told = set(re.findall(r"\w+", page[page.index("## Reference") :]))
    for each in (precast.COp, precast.ExternalCOp, precast.CType):
        own = {name for base in each.__mro__[:-1] for name in vars(base) if not name.startswith("__")}
        public = {name for name in own if not name.startswith("_")} - {"make_variable", "c_sources"}
        assert public <= told, public - told


def test_stubs_cover_the_native_module():
    stubs = (Path(precast.__file__).parent / "_native.pyi").read_text(encoding="utf-8")
    for name in dir(precast._native):
        assert name.startswith("__") or re.search(rf"^(def|class) {name}\b", stubs, re.M), name
