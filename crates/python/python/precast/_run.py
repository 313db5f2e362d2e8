"""Runs a script with precast beneath PyTensor: what `record` starts, and what `replay` does in its own process."""

import os
import runpy
import sys
from collections.abc import Sequence

from .errors import PrecastError


def run(script: str, arguments: Sequence[str]) -> int:
    """Runs a script as `python SCRIPT.py` does; returns the exit status."""
    from . import pytensor  # noqa: F401

    sys.argv = [script, *arguments]
    if not (sys.flags.isolated or getattr(sys.flags, "safe_path", False)):
        sys.path[0] = os.path.dirname(os.path.abspath(script))
    try:
        runpy.run_path(script, run_name="__main__")
    except PrecastError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def main(script: str, arguments: Sequence[str]) -> int:
    """Runs a script whose modules are recorded, and PyTensor's own with them."""
    from .pytensor import _record

    try:
        _record.serve_own()
    except PrecastError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return run(script, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
