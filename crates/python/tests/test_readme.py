"""The examples of the README give what it shows."""

import doctest
import shutil
from pathlib import Path

import pytest

README = Path(__file__).parent.parent / "README.md"


def test_the_examples_of_the_readme_run(bundle, tmp_path, monkeypatch):
    pytest.importorskip("scipy")
    shutil.copy(bundle, tmp_path / "model.precast")
    monkeypatch.chdir(tmp_path)
    # A fence ends an example, as an empty line does.
    text = README.read_text(encoding="utf-8").replace("```", "\n")
    test = doctest.DocTestParser().get_doctest(text, {}, README.name, str(README), 0)
    said = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    runner.run(test, out=said.append)
    assert runner.tries > 15 and runner.failures == 0, "".join(said)
