"""The tutorial for PyMC works from the first to the last line."""

import pytest
import tutorial


def test_the_pymc_tutorial_works(world):
    pytest.importorskip("pymc")
    variables = {"HOME": str(world.path("home")), "PRECAST_CACHE": str(world.path("cache"))}
    # A directory that cannot be made: PyTensor's own cache is not used.
    flags = "linker=cvm,base_compiledir=/proc/nowhere"
    assert tutorial.run("pymc.md", world.root, PYTENSOR_FLAGS=flags, **variables) >= 6
