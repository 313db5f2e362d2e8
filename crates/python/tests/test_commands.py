"""`python -m precast`: the command line, and the commands that run a script."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from precast import _native
from precast.__main__ import is_of_script, main


@pytest.mark.parametrize(
    "arguments, is_script",
    [
        ("record -o b s.py", True),
        ("record -o b s.py -- x", True),
        ("record --isa x86-64-v2 -o b s.py a -b", True),
        ("record", True),
        ("record --help", True),
        ("replay b s.py", True),
        ("record -- python s.py", False),
        ("record -o m.toml -- s.py", False),
        ("record -o m.toml --serve each -- python s.py a", False),
        ("ls --bundle s.py", False),
        ("", False),
    ],
)
def test_a_command_has_one_meaning(arguments, is_script):
    assert is_of_script(arguments.split()) is is_script


def test_recording_a_script_uses_the_command_line(tmp_path):
    script, manifest = tmp_path / "program.py", tmp_path / "precast.toml"
    script.write_text("import precast; precast.function('x: f64[?]', 'out = x*3', name='three', policy='interpret')")
    command = [sys.executable, "-m", "precast", "record", "-o", str(manifest), "--", sys.executable, str(script)]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert "mul(f64[?], f64[]) -> f64[?]" in manifest.read_text()


def test_build_without_command_line_has_a_hint(monkeypatch, capsys):
    monkeypatch.delattr(_native, "command_line", raising=False)
    assert main(["ls"]) == 1
    assert "hint:" in capsys.readouterr().err


def test_the_help_names_the_other_meaning():
    ran = subprocess.run([sys.executable, "-m", "precast", "record", "--help"], capture_output=True, text=True)
    assert ran.returncode == 0 and "`record -- PROGRAM`" in ran.stdout


def test_entries_with_own_ops_are_shown(tmp_path):
    bundle = tmp_path / "steps.bundle"
    script = tmp_path / "save.py"
    example = (Path(__file__).parent.parent / "examples/own_op.py").read_text(encoding="utf-8")
    script.write_text(example + f"\nprecast.save({str(bundle)!r}, {{'steps': precast.graph([x], {{'y': Steps()(x)}})}})\n")
    saved = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
    assert saved.returncode == 0, saved.stderr
    show = [sys.executable, "-m", "precast", "show", "steps", "--bundle", str(bundle)]
    shown = subprocess.run(show, capture_output=True, text=True)
    assert shown.returncode == 0 and "= Steps(x)" in shown.stdout, shown
    described = json.loads(subprocess.run([*show, "--json"], capture_output=True, text=True).stdout)
    assert described["native"] is None and described["declared"]["applies"][0]["op"] == "Steps"
