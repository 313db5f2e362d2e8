"""The tutorial for Python works from the first to the last line."""

import shutil

import pytest
import tutorial


@pytest.mark.skipif(not (shutil.which("cc") or shutil.which("gcc")), reason="there is no C compiler")
def test_the_python_tutorial_works(tmp_path):
    assert tutorial.run("python.md", tmp_path) >= 7


def test_only_dots_match_any_lines():
    assert tutorial.fits(["..."], []) and tutorial.fits(["a", "...", "d"], ["a", "b", "c", "d"])
    assert not tutorial.fits([], ["a"]) and not tutorial.fits(["...", "d"], ["a"]) and not tutorial.fits(["a"], ["a", "b"])
