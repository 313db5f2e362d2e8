"""State space models of pymc-extras: frozen Kalman filters have PyTensor's log-density and gradient, in Python, C and Rust.

pymc-extras supports only some versions of PyMC, so it is installed into an environment of its own.
"""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import precast
import pytest

HERE = Path(__file__).parent
PACKAGES = ["pymc-extras==0.15.1", "pytensor==3.3.8"]


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """Returns an interpreter with pymc-extras, and a directory with this precast."""
    if sys.version_info < (3, 12):
        pytest.skip("pymc-extras needs Python 3.12")
    folder = tmp_path_factory.mktemp("statespace")
    subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
    made = folder / "venv/bin/python"
    install = [str(made), "-m", "pip", "--disable-pip-version-check", "install", "--quiet", *PACKAGES]
    ended = subprocess.run(install, capture_output=True, text=True)
    if ended.returncode != 0:
        pytest.skip(f"pip cannot install {' and '.join(PACKAGES)}: {ended.stderr.strip()[-300:]}")
    (folder / "path").mkdir()
    (folder / "path/precast").symlink_to(Path(precast.__file__).parent)
    return made, folder / "path"


@pytest.mark.long
def test_kalman_filters_match_pytensor_without_python(python, world, elsewhere):
    made, path = python
    bundle = str(world.path("statespace.precast"))
    flags = f"cxx=,linker=py,base_compiledir={world.path('compiledir')}"
    printed = world.run(str(HERE / "freeze_statespace.py"), bundle, python=str(made), PYTENSOR_FLAGS=flags, PYTHONPATH=str(path))
    told, model = json.loads(printed), precast.load(bundle)
    assert set(model.entries) == set(told) and len(told) >= 7
    for name, (point, *wanted) in told.items():
        ours = [np.atleast_1d(each).tolist() for each in model[name](np.array(point))]
        assert elsewhere.call(bundle, name, point) == [ours, ours]
        for got, expected in zip(ours, wanted, strict=True):
            np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-9)
