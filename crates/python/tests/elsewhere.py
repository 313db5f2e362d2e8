"""Bundles written by `freeze`, called from C and Rust without Python."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
CRATES = HERE.parents[1]


class Elsewhere:
    """Returns programs that call an entry with a vector: in C with the library, and in Rust."""

    def __init__(self, folder: Path) -> None:
        # The directory of files built by `cargo xtask python`.
        built = os.environ.get("PRECAST_TEST_BUILT")
        if built is None or not shutil.which("cc"):
            pytest.skip("PRECAST_TEST_BUILT names no built libraries, or no C compiler is installed")
        package = (CRATES / "capi/precast.pc").read_text()
        (private,) = (line.split()[1:] for line in package.splitlines() if line.startswith("Libs.private: "))
        self.c = folder / "call"
        words = [str(HERE / "call.c"), "-I", str(CRATES / "capi/include"), "-I", str(CRATES / "abi/include")]
        subprocess.run(["cc", "-std=c11", "-Wall", "-Werror", *words, f"{built}/libprecast.a", *private, "-o", str(self.c)], check=True)
        self.programs = [str(self.c), f"{built}/examples/call"]

    def call(self, bundle: str, entry: str, point: list[float], seed: int | None = None) -> list[list[list[float]]]:
        """Returns the output of each program as rows of numbers. With a seed, its key is the first input."""
        told, key = [], [] if seed is None else [f"key={seed}"]
        for program in self.programs:
            # An empty environment: no Python, no package, no compiler.
            ended = subprocess.run([program, bundle, entry, *key, *map(repr, point)], env={}, capture_output=True, text=True, timeout=60)
            assert ended.returncode == 0, ended.stderr
            told.append([[float(number) for number in line.split()] for line in ended.stdout.splitlines()])
        return told
