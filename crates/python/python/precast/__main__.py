"""`python -m precast`."""

import sys

# Commands that are Python's: they run a script.
_SCRIPTS = ("record", "replay")


def main(arguments: list[str]) -> int:
    if arguments and arguments[0] in _SCRIPTS and any(argument.endswith(".py") for argument in arguments):
        from .pytensor import _script

        return _script.main(arguments)
    print("usage: python -m precast record -o MODEL.BUNDLE SCRIPT.py [ARGUMENTS]", file=sys.stderr)
    print("       python -m precast replay MODEL.BUNDLE SCRIPT.py [ARGUMENTS]", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
