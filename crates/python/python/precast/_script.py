"""`python -m precast record` and `replay`: a script that does not know precast, run with it.

The arguments are put into the environment, so that the processes that the script starts find them there too. `record` runs the script
in a process of its own: whatever way that ends, there is one left to write the bundle, or to report why there is none.
"""

import argparse
import os
import signal
import subprocess
import sys
from collections.abc import Iterable

from . import _environment, _recording, _run
from .errors import PrecastError

_HINT = "hint: `--keep-going` writes the modules that were recorded until then"


def main(arguments: list[str]) -> int:
    """Runs a command; returns the exit status."""
    given = _parser().parse_args(arguments)
    os.environ.pop("PRECAST_PYTENSOR", None)
    try:
        return _replay(given) if given.command == "replay" else _record(given)
    except PrecastError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m precast")
    commands = parser.add_subparsers(dest="command", required=True)
    other = "`record -- PROGRAM` starts a program, and writes the graphs that it misses into a manifest, as `precast record` does."
    record = commands.add_parser(
        "record", help="run a script, and write all that PyTensor compiled into a bundle", epilog=other
    )
    record.add_argument("-o", "--output", required=True, metavar="MODEL.BUNDLE", help="the bundle")
    record.add_argument("--isa", help="levels to compile for, such as x86-64-v2,x86-64-v3")
    record.add_argument(
        "--keep-going", action="store_true", help="write the bundle even if the script fails, or not all can be recorded"
    )
    replay = commands.add_parser("replay", help="run a script with what a bundle has, and compile nothing")
    replay.add_argument("bundle", metavar="MODEL.BUNDLE", help="the bundle")
    for command in (record, replay):
        command.add_argument("script", metavar="SCRIPT.py", help="the program")
        command.add_argument("arguments", nargs=argparse.REMAINDER, metavar="ARGUMENTS", help="the program's arguments")
    return parser


def _record(given: argparse.Namespace) -> int:
    os.environ["PRECAST_POLICY"] = "jit"
    if given.isa:
        os.environ["PRECAST_ISA"] = given.isa
    modules = _environment.modules("jit")
    with _recording.of_children() as recording:
        flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
        ended = _ended([sys.executable, *flags, "-m", "precast._run", given.script, *given.arguments])
        _warn(f"not recorded: `{command}`, started without the environment of the recording" for command in recording.read("unseen"))
        if ended and not given.keep_going:
            status = f"status {ended}" if ended > 0 else f"signal {-ended}"
            print(f"error: no bundle was written: `{given.script}` ended with {status}\n{_HINT}", file=sys.stderr)
        else:
            count = _recording.write(given.output, recording, modules, given.keep_going)
            _warn(f"not recorded: `{op}`: {why}" for op, why in recording.read("aside"))
            processes = len(recording.read("process"))
            print(f"recorded `{given.output}`: {count} modules of {processes} process{'es' * (processes != 1)}", file=sys.stderr)
    return ended if ended >= 0 else 128 - ended


def _warn(problems: Iterable[str]) -> None:
    for problem in problems:
        print(f"warning: {problem}", file=sys.stderr)


def _ended(command: list[str]) -> int:
    """Runs a program; returns its exit status, or the negative number of the signal that ended it."""
    with subprocess.Popen(command) as child:
        # A terminal interrupts both. Signals to this process alone are passed on.
        before = {number: signal.signal(number, lambda got, _: child.send_signal(got)) for number in (signal.SIGTERM, signal.SIGHUP)}
        before[signal.SIGINT] = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            return child.wait()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _replay(given: argparse.Namespace) -> int:
    os.environ["PRECAST_BUNDLE"] = _environment.of_paths([os.path.abspath(given.bundle)])
    os.environ["PRECAST_POLICY"] = "strict"
    os.environ.update(_recording.python_path())
    return _run.run(given.script, given.arguments)
