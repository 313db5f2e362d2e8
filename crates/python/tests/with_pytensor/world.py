"""Programs that use PyTensor with precast. Each runs in a separate process, because precast is installed for a whole process."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any


class World:
    """A separate user: a home, a cache, and an empty PATH."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for name in ("home", "cache", "bin"):
            (root / name).mkdir(parents=True)

    def path(self, name: str) -> Path:
        return self.root / name

    def run(self, *arguments: str, status: int = 0, compiler: bool = True, python: str = sys.executable, **variables: str) -> str:
        """Runs Python and returns its output, or its messages if it is expected to fail. Without a compiler it has no home either."""
        home = str(self.path("home")) if compiler else "/nonexistent"
        environment = {"HOME": home, "PATH": os.environ["PATH"] if compiler else str(self.path("bin"))}
        # A directory that cannot be created: PyTensor must not write to it.
        environment["PYTENSOR_FLAGS"] = "linker=cvm,base_compiledir=/proc/nowhere"
        if compiler:
            environment["PRECAST_CACHE"] = str(self.path("cache"))
        ended = subprocess.run(
            [python, "-B", *arguments],
            env=environment | variables,
            cwd=self.root,
            capture_output=True,
            text=True,
            timeout=3600,
        )
        assert ended.returncode == status, f"status {ended.returncode}\n{ended.stdout}\n{ended.stderr}"
        return ended.stdout if status == 0 else ended.stdout + ended.stderr

    def code(self, code: str, **named: Any) -> str:
        """Runs a program that uses PyTensor with precast."""
        return self.run("-c", PRELUDE + code, **named)


PRELUDE = """
import numpy as np, os, sys
import precast, precast.pytensor
import pytensor, pytensor.tensor as pt
from pytensor.compile.mode import Mode
x, y = pt.dvectors("x", "y")
stats = precast.pytensor.stats
"""


# A program without precast: reductions, a gradient, a subtensor, a shared variable with updates, a Python op.
SCRIPT = """
import sys
import numpy as np, pytensor, pytensor.tensor as pt
x, A = pt.dvector("x"), pt.dmatrix("A")
e = pt.exp(-(x**2)) * pt.tanh(x)
f = pytensor.function([A, x], [A @ e, e.sum(), pytensor.gradient.grad(e.sum(), x), A[1:, ::2], pt.sort(x)])
total = pytensor.shared(np.zeros(3))
step = pytensor.function([], total.sum(), updates={total: total + 1})
for value in [*f(np.arange(6.0).reshape(2, 3), [0.3, 0.2, 0.1]), step(), step()]:
    print(np.asarray(value).tolist())
print(sys.argv[1:])
"""


class Recorded:
    """Returns the script, its bundle, and its output while it was recorded."""

    def __init__(self, world: World) -> None:
        self.world, self.script, self.bundle = world, world.path("script.py"), world.path("model.bundle")
        self.script.write_text(SCRIPT)
        self.printed = world.run("-m", "precast", "record", "-o", str(self.bundle), str(self.script), "a", "-b")
