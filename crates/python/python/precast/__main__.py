"""`python -m precast`: the command line, and the commands that run a Python script."""

import sys

# Commands that exist only in Python. They run a script in this process.
_SCRIPTS = ("record", "replay")


def is_of_script(arguments: list[str]) -> bool:
    """Returns whether a command runs a script. `record -- PROGRAM` starts a program and belongs to the command line."""
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
        print("error: this build of precast has no command line\n  hint: build it with the feature `command-line`", file=sys.stderr)
        return 1
    return int(command_line(["precast", *arguments]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
