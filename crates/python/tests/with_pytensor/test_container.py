"""The containers of PYTENSOR.md without Docker. The instructions of the Dockerfiles run one after the other. The last stage has a
read-only directory, another user without a home, no compiler, and no PyTensor if its Dockerfile does not install it."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "PYTENSOR.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
#: The output of the containers on the page.
PRINTED = [text for kind, text in BLOCKS if kind == "text" and not text.startswith("precast")]
NOBODY = 65534


class Container:
    """Runs the instructions of a Dockerfile, with a directory for each stage."""

    def __init__(self, world, root: Path, others: list[str]) -> None:
        self.world, self.root, self.others, self.stages = world, root, others, []
        self.user, self.printed = None, None

    def line(self, instruction: str, rest: str) -> None:
        getattr(self, instruction.lower())(rest)

    def from_(self, rest: str) -> None:
        image, *named = rest.split(" AS ")
        assert re.fullmatch(r"python:3\.\d+-slim", image)
        stage = self.root / (named[0] if named else "last")
        stage.mkdir(mode=0o755)
        self.stages.append(stage)
        self.user = None

    def run(self, command: str) -> None:
        command = re.sub(r"^--mount=from=wheel,\S+ ", "", command)
        stage, words = self.stages[-1], shlex.split(command)
        if words[0] == "python":
            self.world.root = stage
            self.world.run(*words[1:])
            return
        # Commands that install packages are skipped, because the packages are installed. The last stage gets a user but no compiler.
        installs = [shlex.split(part) for part in command.split("&&")]
        assert all(part[0] in ("apt-get", "pip", "rm", "useradd") for part in installs), command
        self.has_compiler = "g++" in words
        self.has_user = "useradd" in words

    def workdir(self, rest: str) -> None:
        assert rest == "/app"

    def copy(self, rest: str) -> None:
        source, words = Path(self.root, "context"), rest.split()
        if words[0].startswith("--from="):
            source = self.root / words.pop(0).removeprefix("--from=")
        for name in words[:-1]:
            shutil.copy(source / name.removeprefix("/app/"), self.stages[-1])

    def user_(self, rest: str) -> None:
        assert rest == "app" and self.has_user
        self.user = rest

    def entrypoint(self, rest: str) -> None:
        """Runs the entry point like `docker run --read-only --cap-drop ALL`, as far as possible without Docker."""
        stage = self.stages[-1]
        assert self.user and not self.has_compiler
        os.chmod(stage, 0o555)
        for file in stage.iterdir():
            file.chmod(0o444)
        before = sorted((file.name, file.read_bytes()) for file in stage.iterdir())
        program, *words = json.loads(rest)
        assert program == "python"
        environment = {"HOME": "/nonexistent", "PATH": "/nonexistent"}

        def start(*words: str) -> subprocess.CompletedProcess[str]:
            command = [*self.others, sys.executable, "-B", *words]
            return subprocess.run(command, cwd=stage, env=environment, capture_output=True, text=True, timeout=3600)

        # The user may not write to the directory.
        refused = start("-c", "open('model.py', 'a')")
        assert refused.returncode == 1 and "PermissionError" in refused.stderr, refused.stderr
        ended = start(*words)
        os.chmod(stage, 0o755)
        assert ended.returncode == 0, ended.stdout + ended.stderr
        assert sorted((file.name, file.read_bytes()) for file in stage.iterdir()) == before
        self.printed = ended.stdout


def instructions(dockerfile: str) -> list[tuple[str, str]]:
    """Returns the instructions after the stage that builds the wheel, which is installed already."""
    wheel, rest = dockerfile.split("\n\n", 1)
    assert wheel.startswith("FROM rust:") and "pip wheel" in wheel and "./crates/python" in wheel
    lines = [line for line in rest.splitlines() if line and not line.startswith("#")]
    return [tuple(line.split(" ", 1)) for line in lines]


@pytest.mark.parametrize("which", [0, 1], ids=["replayed", "frozen"])
def test_container_of_the_page_prints_documented_output(which, world, tmp_path):
    others = _others(tmp_path)
    dockerfile = [text for kind, text in BLOCKS if kind == "dockerfile"][which]
    context = tmp_path / "containers" / "context"
    context.mkdir(parents=True)
    for kind, text in BLOCKS:
        if kind == "python":
            (context / re.match(r"# (\S+)", text)[1]).write_text(text)
    container = Container(world, context.parent, others)
    known = {"FROM": "from_", "USER": "user_"}
    for instruction, rest in instructions(dockerfile):
        container.line(known.get(instruction, instruction), rest)
    assert container.printed == PRINTED[which]


def _others(path: Path) -> list[str]:
    """Returns a command that starts a program as a user who owns no files in `path`. If that user cannot run this Python, the program
    runs as root without capabilities. Returns an empty command for other users, whose files are read-only."""
    if os.getuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("root cannot drop its privileges: `setpriv` is not installed")
    temporary = Path(tempfile.gettempdir())
    for parent in (path, *path.parents):
        if temporary in parent.parents:
            parent.chmod(0o755)
    without = [shutil.which("setpriv"), "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"]
    other = [*without, f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    program = [*other, sys.executable, "-c", f"import os, numpy, precast; os.listdir({str(path)!r})"]
    return other if subprocess.run(program, capture_output=True, check=False).returncode == 0 else without
