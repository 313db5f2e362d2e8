"""The programs in ``examples`` run and print the expected lines."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"

#: The example, the packages that it needs beside NumPy, and its output.
TABLE = {
    "build": ([], "3.655876\n"),
    "ufunc": ([], "['ff->f', 'dd->d']\n[[ 5.         12.36931688]\n [ 6.40312424 13.        ]]\n7.0\n"),
    "integrate": (["scipy"], "1.253314137316\n1.253314137316\n"),
    "own_op": ([], "[ 6. 10. 14.] [ 6. 10. 14.]\n"),
    "freeze": (["pytensor"], "-2.5 [-1.  2.]\n"),
}


def test_the_table_has_every_example():
    assert sorted(path.stem for path in EXAMPLES.glob("*.py")) == sorted(TABLE)


@pytest.mark.parametrize("name", TABLE)
def test_an_example_prints_its_results(name, tmp_path):
    packages, expected = TABLE[name]
    for package in packages:
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"no {package}")
    program = [sys.executable, str(EXAMPLES / f"{name}.py")]
    ran = subprocess.run(program, capture_output=True, text=True, cwd=tmp_path)
    assert (ran.returncode, ran.stdout) == (0, expected), ran.stderr
