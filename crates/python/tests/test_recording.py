"""The folder of a recording, the imports of child processes, and lists of paths in environment variables."""

import os
import subprocess
import sys
from pathlib import Path

import precast
import pytest
from precast import _environment, _recording

SITE = Path(precast.__file__).parent / "_site"


@pytest.mark.parametrize("paths", [[], ["a"], ["a", "b/c"], ["a:b", "c"], ['"', 'x"y', '"z":"'], ["\\:\\", " "]])
def test_paths_round_trip_through_a_variable(paths):
    assert _environment.paths(_environment.of_paths(paths)) == paths


def test_empty_path_list_parts_are_skipped():
    assert _environment.paths("::a::b:") == ["a", "b"]


def test_notes_are_read_once_each_and_merged():
    with _recording.opened() as outer:
        with _recording.opened() as inner:
            assert os.environ[_recording.VARIABLE] == inner.folder
            inner.unit("k", {"text": "\ud800\n"})
            inner.unit("k", {"text": "\ud800\n"})
            inner.aside("op", "why")
        assert os.environ[_recording.VARIABLE] == outer.folder and not os.path.exists(inner.folder)
        assert outer.read("unit") == [{"text": "\ud800\n"}] and outer.read("aside") == [["op", "why"]]
        inner.unit("late", {})
    assert not _recording.active


def test_incomplete_note_is_skipped():
    with _recording.opened() as recording:
        Path(recording.folder, ".unit.cut").write_text("{")
        assert recording.read("unit") == []


def start(code, folder, *flags, **variables):
    environment = {**os.environ, "PYTHONPATH": f"{SITE}{os.pathsep}{folder}", **variables}
    ran = subprocess.run([sys.executable, *flags, "-c", code], env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_child_loads_precast_and_its_own_sitecustomize(tmp_path):
    (tmp_path / "pytensor").mkdir()
    (tmp_path / "pytensor/__init__.py").write_text("print('run'); __version__ = '0'")
    (tmp_path / "sitecustomize.py").write_text("own = 1")
    code = "import sys, sitecustomize; print(sitecustomize.own, 'precast' in sys.modules)\n"
    code += "import pytensor; print('precast.pytensor' in sys.modules, pytensor.__spec__.origin == pytensor.__file__)\n"
    code += f"print({str(SITE)!r} in sys.path)"
    assert start(code, tmp_path, PRECAST_PYTENSOR="0") == "1 False\nrun\nTrue True\nFalse\n"


def test_child_without_precast_is_noted(tmp_path):
    (tmp_path / "pytensor.py").write_text("value = 1")
    with _recording.of_children() as recording:
        code = "import sys; sys.modules['precast'] = None; import pytensor; print(pytensor.value)"
        assert start(code, tmp_path) == "1\n"
        assert len(recording.read("unseen")) == 1


@pytest.mark.parametrize(
    "words, environment, is_seen",
    [
        (["python3", "x.py"], None, True),
        (["python3", "-m", "I"], None, True),
        (["python3", "-uE", "x.py"], None, False),
        (["python3", "-I"], None, False),
        (["python3", "x.py"], {}, False),
        (["other", "x.py"], {}, True),
    ],
)
def test_program_without_recording_environment_is_noted(words, environment, is_seen):
    with _recording.opened() as recording:
        sys.audit("subprocess.Popen", words[0], words, None, environment)
        assert (recording.read("unseen") == []) is is_seen
