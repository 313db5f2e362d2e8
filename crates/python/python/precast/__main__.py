"""`python -m precast`."""

import sys

# The commands that run a script.
_SCRIPTS = ("record", "replay")


def main(arguments: list[str]) -> int:
    if arguments and arguments[0] in _SCRIPTS:
        from . import _script

        return _script.main(arguments)
    print(f"usage: python -m precast {{{','.join(_SCRIPTS)}}} …", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
