"""`python -m precast`: the command line, and what runs a script."""

import sys

# Commands that are Python's: they run a script.
_SCRIPTS = ("record", "replay")


def main(arguments: list[str]) -> int:
    if arguments and arguments[0] in _SCRIPTS and any(argument.endswith(".py") for argument in arguments):
        from . import _script

        return _script.main(arguments)
    from ._native import command_line

    return command_line(["precast", *arguments])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
