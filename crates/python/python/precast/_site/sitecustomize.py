"""Makes PyTensor use precast in the child processes of a program that is recorded or replayed.

`precast._recording.python_path` puts this folder in front of `PYTHONPATH`, so Python imports this module at startup. It then runs the
`sitecustomize` that it hides, if any. It imports nothing else until a program imports PyTensor.
"""

import importlib.machinery
import importlib.util
import os
import sys


class _Loader:
    """Imports `precast.pytensor` first, and returns the module `pytensor` that this imports."""

    def create_module(self, spec):
        try:
            import precast.pytensor  # noqa: F401
        except ImportError:
            # A different Python without precast.
            _note(f"{sys.executable}, which has no precast")
        import pytensor

        self.spec = pytensor.__spec__
        return pytensor

    def exec_module(self, module):
        module.__spec__ = self.spec


class _Finder:
    def find_spec(self, name, path=None, target=None):
        if name != "pytensor":
            return None
        sys.meta_path.remove(self)
        return importlib.machinery.ModuleSpec(name, _Loader())


def _note(program):
    folder = os.environ.get("PRECAST_RECORDING", "")
    if os.path.isdir(folder):
        import json

        with open(os.path.join(folder, f"unseen.{os.getpid()}"), "w", encoding="utf-8") as file:
            json.dump(program, file)


def _run_hidden():
    """Runs the `sitecustomize` module that this one hides."""
    own = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [path for path in sys.path if os.path.abspath(path) != own]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", sys.path)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


sys.meta_path.insert(0, _Finder())
_run_hidden()
