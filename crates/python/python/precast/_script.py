"""`python -m precast record` and `replay`: a script that knows nothing of precast, run with it.

What they say stands in the environment, so that what the script starts finds it there too.
"""

import argparse
import os
import runpy
import sys

from .errors import PrecastError


def main(arguments: list[str]) -> int:
    """Runs a command; gives the exit status."""
    said = _parser().parse_args(arguments)
    os.environ.pop("PRECAST_PYTENSOR", None)
    try:
        return _replay(said) if said.command == "replay" else _record(said)
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
    replay = commands.add_parser("replay", help="run a script with what a bundle has, and compile nothing")
    replay.add_argument("bundle", metavar="MODEL.BUNDLE", help="the bundle")
    for command in (record, replay):
        command.add_argument("script", metavar="SCRIPT.py", help="the program")
        command.add_argument("arguments", nargs=argparse.REMAINDER, metavar="ARGUMENTS", help="the program's arguments")
    return parser


def _record(said: argparse.Namespace) -> int:
    os.environ["PRECAST_POLICY"] = "jit"
    if said.isa:
        os.environ["PRECAST_ISA"] = said.isa
    from . import pytensor

    with pytensor.record(said.output):
        _run(said)
    stats = pytensor.stats()
    print(f"recorded `{said.output}`: {stats['asked']} modules asked for, {stats['compiled']} compiled", file=sys.stderr)
    return 0


def _replay(said: argparse.Namespace) -> int:
    os.environ["PRECAST_BUNDLE"] = os.path.abspath(said.bundle)
    os.environ["PRECAST_POLICY"] = "strict"
    from . import pytensor  # noqa: F401

    _run(said)
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
