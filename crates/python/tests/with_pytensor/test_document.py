"""The examples of PYTENSOR.md run and print the documented output."""

import json
import re
import shlex
from pathlib import Path

PAGE = Path(__file__).parents[2] / "PYTENSOR.md"

#: Runs `frozen.py` without PyTensor.
WITHOUT_PYTENSOR = "import runpy, sys; sys.modules['pytensor'] = None; runpy.run_path('frozen.py')"


def test_the_examples_of_the_page_run(world):
    blocks = re.findall(r"^```(\w+)\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    for kind, text in blocks:
        if kind == "python":
            world.path(re.match(r"# (\S+)", text)[1]).write_text(text)
    commands = [text for kind, text in blocks if kind == "sh" and text.startswith("python -m precast")]
    shown, frozen = (text for kind, text in blocks if kind == "text" and not text.startswith("precast"))
    record, replay = (command.split()[1:] for command in commands)
    assert world.run(*record) == shown
    assert world.run(*replay, compiler=False) == shown
    assert world.run("serve.py") == "[0.] 0\n"
    world.run("freeze.py")
    world.run("sample.py")
    world.run("predict.py")
    assert "in 1 graph of precast" in world.run("mode.py")
    assert world.run("-c", WITHOUT_PYTENSOR, compiler=False) == frozen
    dockerfiles = [text for kind, text in blocks if kind == "dockerfile"]
    for dockerfile, printed in zip(dockerfiles, (shown, frozen), strict=True):
        for command in re.findall(r"^RUN python (.*)$", dockerfile, re.MULTILINE):
            world.run(*shlex.split(command))
        (entry,) = re.findall(r"^ENTRYPOINT (.*)$", dockerfile, re.MULTILINE)
        assert world.run(*json.loads(entry)[1:], compiler=False) == printed
