"""What PYTENSOR.md shows is run, and prints what it says."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "PYTENSOR.md"

#: Runs `frozen.py` where PyTensor cannot be imported.
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
    world.run("freeze.py", PRECAST_PYTENSOR="0", PYTENSOR_FLAGS=f"cxx=,linker=py,base_compiledir={world.path('compiledir')}")
    assert world.run("-c", WITHOUT_PYTENSOR, compiler=False) == frozen
    # What the Dockerfile runs is what the page shows, for more levels.
    dockerfile = next(text for kind, text in blocks if kind == "dockerfile")
    stages = [" ".join(record[:3]), " ".join(replay).replace(" ", '", "')]
    assert all(words in dockerfile for words in stages), stages
