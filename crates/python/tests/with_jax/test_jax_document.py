"""The examples of JAX.md run and print the documented output, without JAX where the page says so."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("jax")

PAGE = Path(__file__).parents[2] / "JAX.md"
#: Runs a program that cannot import JAX.
WITHOUT_JAX = "import runpy, sys; sys.modules['jax'] = None; runpy.run_path(sys.argv[1])"


def test_the_examples_of_the_page_run(tmp_path):
    blocks = re.findall(r"^```(\w+)\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    programs = {re.match(r"# (\S+)", text)[1]: text for kind, text in blocks if kind == "python"}
    for name, text in programs.items():
        (tmp_path / name).write_text(text)
    shown = [text for kind, text in blocks if kind == "text"]

    def run(*command):
        environment = {**os.environ, "JAX_PLATFORMS": "cpu", "JAX_TRACEBACK_FILTERING": "off"}
        return subprocess.run([sys.executable, *command], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)

    frozen = run("freeze.py")
    assert frozen.returncode == 0, frozen.stderr
    called = run("-c", WITHOUT_JAX, "call.py")
    assert called.returncode == 0 and called.stdout == shown[0], called.stdout + called.stderr
    shapes = run("shapes.py")
    assert shapes.returncode == 0 and shapes.stdout == shown[1], shapes.stdout + shapes.stderr
    refused = run("refused.py")
    assert refused.returncode == 1 and refused.stderr.replace(f"{tmp_path}/", "").endswith(shown[2]), refused.stderr
