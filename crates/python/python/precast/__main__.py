"""`python -m precast`: the command line, and what runs a script."""

import sys

# Commands that are Python's: they run a script in this process.
_SCRIPTS = ("record", "replay")


def is_of_script(arguments: list[str]) -> bool:
    """Whether a command runs a script here. `record -- PROGRAM` starts a program instead: that is the command line's own."""
    if not arguments or arguments[0] not in _SCRIPTS:
        return False
    before = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return before is arguments or any(argument.endswith(".py") for argument in before)


def main(arguments: list[str]) -> int:
    if is_of_script(arguments):
        from . import _script

        return _script.main(arguments)
    from . import _native

    command_line = getattr(_native, "command_line", None)
    if command_line is None:
        print("error: this build of precast has no command line\n  hint: build it with its feature `command-line`", file=sys.stderr)
        return 1
    return int(command_line(["precast", *arguments]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
