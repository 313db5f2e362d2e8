"""Runs a script that uses precast with PyTensor. `record` starts this module, and `replay` calls it in its own process."""

import os
import runpy
import sys
from collections.abc import Sequence

from .errors import PrecastError


def run(script: str, arguments: Sequence[str]) -> int:
    """Runs a script like `python SCRIPT.py` and returns the exit status."""
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
    """Runs a script while recording, and also records PyTensor's own modules."""
    from .pytensor import _record

    try:
        _record.serve_own()
    except PrecastError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return run(script, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
