"""`python -m precast record` and `replay`: run an unmodified script with precast.

The arguments become environment variables, which child processes of the script inherit. `record` runs the script in a separate
process, so that this process can write the bundle, or report the failure, however the script ends.
"""

import argparse
import os
import signal
import subprocess
import sys
from collections.abc import Iterable

from . import _environment, _recording, _run
from .errors import PrecastError

_HINT = "hint: `--keep-going` writes the modules recorded so far"


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
    other = "`record -- PROGRAM` runs a program and writes its cache misses to a manifest, like `precast record`."
    record = commands.add_parser(
        "record", help="run a script and write every module that PyTensor compiles to a bundle", epilog=other
    )
    record.add_argument("-o", "--output", required=True, metavar="MODEL.BUNDLE", help="the bundle to write")
    record.add_argument("--isa", help="CPU levels to compile for, such as x86-64-v2,x86-64-v3")
    record.add_argument(
        "--keep-going", action="store_true", help="write the bundle even if the script fails or some modules cannot be recorded"
    )
    replay = commands.add_parser("replay", help="run a script with the modules of a bundle, without compiling")
    replay.add_argument("bundle", metavar="MODEL.BUNDLE", help="the bundle to load from")
    for command in (record, replay):
        command.add_argument("script", metavar="SCRIPT.py", help="the script to run")
        command.add_argument("arguments", nargs=argparse.REMAINDER, metavar="ARGUMENTS", help="arguments of the script")
    return parser


def _record(given: argparse.Namespace) -> int:
    os.environ["PRECAST_POLICY"] = "jit"
    if given.isa:
        os.environ["PRECAST_ISA"] = given.isa
    modules = _environment.modules("jit")
    with _recording.of_children() as recording:
        flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
        ended = _ended([sys.executable, *flags, "-m", "precast._run", given.script, *given.arguments])
        _warn(f"not recorded: `{command}` was started without the environment of the recording" for command in recording.read("unseen"))
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
        # A terminal sends an interrupt to both processes. Other signals reach only this process and are forwarded.
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
