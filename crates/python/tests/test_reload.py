"""The program of the production page, which reloads a model while threads call it."""

import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).parents[2] / "xtask/src/hosts/reload.py"


def test_threads_call_a_model_while_it_is_reloaded(tmp_path):
    bundles = []
    for multiple in (1, 2):
        manifest, bundle = tmp_path / f"{multiple}.toml", tmp_path / f"{multiple}.precast"
        terms = " + ".join(["sum(x)"] * multiple)
        manifest.write_text(f'[[graph]]\nname = "score"\ninputs = ["x: f64[?]"]\noutputs = ["out = {terms}"]\n')
        build = [sys.executable, "-m", "precast", "build", manifest, "--store", tmp_path / "store", "--bundle", bundle]
        built = subprocess.run(build, capture_output=True, text=True)
        assert built.returncode == 0, built.stderr
        bundles.append(bundle)
    command = [sys.executable, PROGRAM, "4", "10", *bundles]
    ended = subprocess.run(command, input="\n\n", capture_output=True, text=True)
    assert (ended.returncode, ended.stdout) == (0, "done\ndone\n"), ended.stderr
