"""`python -m precast record` and `replay`: a script that knows nothing of precast, run with it."""

import argparse
import os
import runpy
import sys

os.environ.setdefault("PRECAST_PYTENSOR", "0")  # It is installed below, with what the command says.

from .. import errors  # noqa: E402
from . import _hook  # noqa: E402
from ._record import record  # noqa: E402


def main(arguments: list[str]) -> int:
    """Runs a command; gives the exit status."""
    parser = argparse.ArgumentParser(prog="python -m precast")
    commands = parser.add_subparsers(dest="command", required=True)
    recorded = commands.add_parser("record", help="run a script, and write all that PyTensor compiled into a bundle")
    recorded.add_argument("-o", "--output", required=True, metavar="MODEL.BUNDLE", help="the bundle")
    recorded.add_argument("--isa", help="levels to compile for, such as x86-64-v2,x86-64-v3")
    replayed = commands.add_parser("replay", help="run a script with what a bundle has, and compile nothing")
    replayed.add_argument("bundle", metavar="MODEL.BUNDLE", help="the bundle")
    for command in (recorded, replayed):
        command.add_argument("script", metavar="SCRIPT.py", help="the program")
        command.add_argument("arguments", nargs=argparse.REMAINDER, metavar="ARGUMENTS", help="the program's arguments")
    said = parser.parse_args(arguments)
    try:
        if said.command == "replay":
            _hook.install(said.bundle, policy="strict")
            _run(said)
        else:
            _hook.install(policy="jit", isa=said.isa.split(",") if said.isa else None)
            with record(said.output):
                _run(said)
            print(f"recorded `{said.output}`: {_hook.stats()}", file=sys.stderr)
    except errors.PrecastError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def _run(said: argparse.Namespace) -> None:
    """Runs the script as `python SCRIPT.py` does. Its own `sys.exit(0)` is an end as any other."""
    sys.argv = [said.script, *said.arguments]
    sys.path[0] = os.path.dirname(os.path.abspath(said.script))
    try:
        runpy.run_path(said.script, run_name="__main__")
    except SystemExit as end:
        if end.code not in (None, 0):
            raise
