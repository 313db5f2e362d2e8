"""Executes a tutorial from the first to the last line.

| block | action |
|---|---|
| `python` | written to the file that the line before it names |
| `console` | run by `sh`, in order; `? code`, output, `...` for any lines |
| `sh` | not run: it installs what is tested here |
"""

import os
import re
import subprocess
import sys
from pathlib import Path

BOOK = Path(__file__).parents[2] / "precast" / "book"


def fits(promised: list[str], found: list[str]) -> bool:
    """Whether lines match the expected ones; `...` matches any number of lines."""
    if not promised:
        return not found
    if promised[0] == "...":
        return any(fits(promised[1:], found[skipped:]) for skipped in range(len(found) + 1))
    return bool(found) and promised[0] == found[0] and fits(promised[1:], found[1:])


def run(page: str, directory: Path, **variables: str) -> int:
    """Executes a page in a directory; returns the number of commands."""
    environment = os.environ | variables
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    text = (BOOK / page).read_text(encoding="utf-8")
    ran = 0
    for before, kind, block in re.findall(r"([^\n]*)\n```(\w+)\n(.*?)^```", text, re.M | re.S):
        if kind == "python":
            name = re.findall(r"`([\w.]+\.py)`", before)[-1]
            (directory / name).write_text(block, encoding="utf-8")
        elif kind == "console":
            for command in re.findall(r"^\$ .*?(?=^\$ |\Z)", block, re.M | re.S):
                line, *output = command.removeprefix("$ ").splitlines()
                status = int(output.pop(0).removeprefix("? ")) if output and output[0].startswith("? ") else 0
                ended = subprocess.run(["sh", "-c", line], cwd=directory, env=environment, capture_output=True, text=True)
                said = ended.stdout + ended.stderr
                assert ended.returncode == status and fits(output, said.splitlines()), f"$ {line}\n{said}"
                ran += 1
        else:
            assert kind == "sh", f"nothing executes a block of `{kind}`"
    return ran
