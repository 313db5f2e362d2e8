"""JAX is optional: `import precast` does not import it, and errors state the versions that are supported."""

import subprocess
import sys

import pytest

pytest.importorskip("jax")
import precast.jax  # noqa: E402

HEAD = "import sys, types\n"


def run(code, **variables):
    import os

    return subprocess.run([sys.executable, "-c", HEAD + code], env={**os.environ, **variables}, capture_output=True, text=True, timeout=120)


def test_precast_imports_no_jax():
    ended = run("import precast\nprecast.Structured, precast.input\nprint('jax' in sys.modules)")
    assert ended.stdout == "False\n", ended.stderr


def test_a_missing_jax_is_an_error_with_a_hint():
    ended = run("sys.modules['jax'] = None\nimport precast.jax")
    assert 'ImportError: `precast.jax` needs JAX\nhint: `pip install "precast[jax]"`' in ended.stderr


@pytest.mark.parametrize("version", ["0.4.38", "9.0.0"])
def test_untested_versions_are_an_error_that_lists_the_tested_ones(version):
    code = f"import jax\njax.__version__ = {version!r}\nimport precast.jax"
    ended = run(code)
    assert f"JAX {version} is not supported: `precast.jax` is tested with {', '.join(precast.jax.TESTED)}" in ended.stderr
    assert run(code, PRECAST_JAX="any").returncode == 0
    newer = ".".join(precast.jax.TESTED[-1].split(".")[:2]) + ".99"
    assert run(f"import jax\njax.__version__ = {newer!r}\nimport precast.jax").returncode == 0
