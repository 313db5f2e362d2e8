"""The examples of HOSTS.md run and print the documented output."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "HOSTS.md"
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
PROGRAMS = {re.match(r"# (\S+)", text)[1]: text for kind, text in BLOCKS if kind == "python"}
SHOWN = dict(zip([name for name in PROGRAMS if name != "build.py"], [text for kind, text in BLOCKS if kind == "text"], strict=True))
PACKAGES = {"with_jax.py": "jax", "with_torch.py": "torch", "with_polars.py": "polars", "with_duckdb.py": "duckdb"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("page")
    for name, text in PROGRAMS.items():
        (made / name).write_text(text)
    run(made, "build.py")
    return made


def run(folder, name):
    environment = {**os.environ, "JAX_PLATFORMS": "cpu"}
    ended = subprocess.run([sys.executable, name], cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.mark.parametrize("name", SHOWN)
def test_the_examples_of_the_page_run(folder, name):
    pytest.importorskip(PACKAGES[name])
    if name in ("with_polars.py", "with_duckdb.py"):
        pytest.importorskip("pyarrow")
    assert run(folder, name) == SHOWN[name]
