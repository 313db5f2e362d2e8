"""A recording: a folder in which every process of a program notes the modules that it loads for PyTensor.

```
process ─ a module is loaded ─▶ notes `unit.KEY` ─┐
child   ─ a module is loaded ─▶ notes `unit.KEY` ─┴▶ write(): finds each in the layers, or compiles it ─▶ the bundle
```
A note is one file, written atomically. A process that is killed or calls `os._exit` loses no notes, and no lock is needed. A child
process gets the folder from `PRECAST_RECORDING` or by `fork`. `PYTHONPATH` makes it import PyTensor with precast; see `_site`.

================ =====================================================================
``unit.KEY``     the arguments of a `Unit`
``aside.HASH``   an op that PyTensor compiled itself, and the reason
``unseen.HASH``  a command that was started without the environment of the recording
``process.PID``  a process that noted a unit
================ =====================================================================
"""

import contextlib
import hashlib
import json
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ._native import Modules, Unit
from .errors import PrecastError

VARIABLE = "PRECAST_RECORDING"

_SITE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_site")

# The positions of the command and the environment in the arguments of audit events.
_STARTS = {"subprocess.Popen": (1, 3), "os.posix_spawn": (1, 2), "os.exec": (1, 2)}


class Recording:
    """The folder of a recording."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._noted: set[str] = set()

    def unit(self, key: str, arguments: Mapping[str, Any]) -> None:
        """Notes a module that this process has loaded."""
        self._note(f"process.{os.getpid()}", None)
        self._note(f"unit.{key}", arguments)

    def aside(self, op: str, why: str) -> None:
        """Notes an op that PyTensor compiled itself."""
        self._note_hashed("aside", [op, why])

    def unseen(self, command: str) -> None:
        """Notes a command whose modules are not recorded."""
        self._note_hashed("unseen", command)

    def read(self, kind: str) -> list[Any]:
        """Returns the notes of a kind, in the order of their names."""
        names = sorted(name for name in os.listdir(self.folder) if name.startswith(f"{kind}."))
        return [self._read(name) for name in names]

    def merge(self, other: "Recording") -> None:
        """Adds the notes of another recording."""
        for name in os.listdir(other.folder):
            if not name.startswith("."):
                self._note(name, other._read(name))

    def _read(self, name: str) -> Any:
        with open(os.path.join(self.folder, name), encoding="utf-8") as file:
            return json.load(file)

    def _note_hashed(self, kind: str, content: Any) -> None:
        digest = hashlib.sha256(json.dumps(content).encode()).hexdigest()
        self._note(f"{kind}.{digest}", content)

    def _note(self, name: str, content: Any) -> None:
        if name in self._noted:
            return
        self._noted.add(name)
        # The folder no longer exists if a process outlives the recording.
        with contextlib.suppress(FileNotFoundError):
            number, path = tempfile.mkstemp(prefix=".", dir=self.folder)
            with open(number, "w", encoding="utf-8") as file:
                json.dump(content, file)
            os.replace(path, os.path.join(self.folder, name))


#: The recordings that this process writes notes to.
active: list[Recording] = []


def join() -> None:
    """Joins the recording that the environment names, if any."""
    folder = os.environ.get(VARIABLE)
    if folder and os.path.isdir(folder) and all(each.folder != folder for each in active):
        active.append(Recording(folder))
        _watch()


@contextlib.contextmanager
def of_children() -> Iterator[Recording]:
    """Records the processes that are started inside the block."""
    recording = Recording(tempfile.mkdtemp(prefix="precast-recording-"))
    try:
        with _environment(python_path() | {VARIABLE: recording.folder}):
            yield recording
    finally:
        shutil.rmtree(recording.folder, ignore_errors=True)


@contextlib.contextmanager
def opened() -> Iterator[Recording]:
    """Records this process and its children inside the block."""
    with of_children() as recording:
        active.append(recording)
        _watch()
        try:
            yield recording
        finally:
            active.remove(recording)
            for outer in active:
                outer.merge(recording)


def python_path() -> dict[str, str]:
    """Returns the variable that makes child processes import PyTensor with precast."""
    others = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path and path != _SITE]
    return {"PYTHONPATH": os.pathsep.join([_SITE, *others])}


@contextlib.contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
    """Sets environment variables of this process and its children inside the block."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def write(path: str, recording: Recording, modules: Modules, is_partial: bool = False) -> int:
    """Writes the recorded modules to a bundle and returns their number.

    Fails if PyTensor compiled some modules itself, unless `is_partial`.
    """
    asides = recording.read("aside")
    if asides and not is_partial:
        op, why = asides[0]
        raise PrecastError(f"not recorded: PyTensor compiled {len(asides)} module(s) itself; the first is `{op}`: {why}")
    units = [Unit(**arguments) for arguments in recording.read("unit")]
    for unit in units:
        # A child may have used no store, or a different one.
        if modules.find(unit) is None:
            modules.compile(unit)
    return modules.collect(path, units)


_is_watching = False


def _watch() -> None:
    """Notes programs that are started without the environment of the recording."""
    global _is_watching
    if not _is_watching:
        sys.addaudithook(_audit)
        _is_watching = True


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if event not in _STARTS or not active:
        return
    words, variables = (arguments[at] for at in _STARTS[event])
    words = [words] if isinstance(words, (str, bytes, os.PathLike)) else list(words)
    texts = [os.fsdecode(word) for word in words]
    if texts and os.path.basename(texts[0]).startswith("python") and not _is_seen(texts, os.environ if variables is None else variables):
        for recording in list(active):
            recording.unseen(shlex.join(texts))


def _is_seen(words: Sequence[str], variables: Mapping[Any, Any]) -> bool:
    """Returns whether a Python process with this command and environment joins the recording."""
    known = {os.fsdecode(name): os.fsdecode(value) for name, value in variables.items()}
    return VARIABLE in known and _SITE in known.get("PYTHONPATH", "").split(os.pathsep) and not _is_isolated(words)


def _is_isolated(words: Sequence[str]) -> bool:
    """Returns whether the options of an interpreter disable environment variables or `site`."""
    for word in words[1:]:
        if not word.startswith("-") or word in ("-c", "-m"):
            return False
        if not word.startswith("--") and set("IES") & set(word):
            return True
    return False
