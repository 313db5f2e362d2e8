"""The names of the Python array API standard, and the standard's own test suite through the eager shim `array_api`.

The suite is not in a package registry. Set ``PRECAST_ARRAY_API_TESTS`` to a checkout of https://github.com/data-apis/array-api-tests
with its submodule, and install `hypothesis` and `ndindex`. Otherwise the test is skipped.
"""

import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import precast
import pytest

FOLDER = pathlib.Path(__file__).parent / "array_api"

# The functions of 2024.12 that compute with arrays, outside its extensions.
STANDARD = """
abs acos acosh add all any argmax argmin argsort asin asinh astype atan atan2 atanh bitwise_and bitwise_invert bitwise_left_shift
bitwise_or bitwise_right_shift bitwise_xor broadcast_arrays broadcast_to ceil clip concat conj copysign cos cosh count_nonzero
cumulative_prod cumulative_sum diff divide equal exp expand_dims expm1 flip floor floor_divide greater greater_equal hypot imag
isfinite isinf isnan less less_equal log log10 log1p log2 logaddexp logical_and logical_not logical_or logical_xor matmul
matrix_transpose max maximum mean meshgrid min minimum moveaxis multiply negative nextafter nonzero not_equal permute_dims positive
pow prod real reciprocal remainder repeat reshape roll round searchsorted sign signbit sin sinh sort sqrt square squeeze stack std
subtract sum take take_along_axis tan tanh tensordot tile tril triu trunc unique_all unique_counts unique_inverse unique_values
unstack var vecdot where
""".split()


@pytest.fixture(scope="module")
def shim():
    if np.lib.NumpyVersion(np.__version__) < "2.1.0":
        pytest.skip("the shim needs NumPy 2.1")
    sys.path.insert(0, str(FOLDER))
    try:
        import precast_array_api

        yield precast_array_api
    finally:
        sys.path.remove(str(FOLDER))


def test_shim_has_every_function_of_the_standard(shim):
    assert [name for name in STANDARD if not hasattr(shim, name)] == []


#: Names that NumPy also has, called with the arguments of the standard.
CALLS = {
    "copysign": lambda xp, x, y, n: xp.copysign(x, y),
    "nextafter": lambda xp, x, y, n: xp.nextafter(x, y),
    "signbit": lambda xp, x, y, n: xp.signbit(x),
    "unique_all": lambda xp, x, y, n: xp.unique_all(n),
    "unique_counts": lambda xp, x, y, n: xp.unique_counts(n),
    "unique_inverse": lambda xp, x, y, n: xp.unique_inverse(n),
    "meshgrid": lambda xp, x, y, n: xp.meshgrid(x[0, :], y[:, 0], indexing="ij"),
    "take_along_axis": lambda xp, x, y, n: xp.take_along_axis(x, xp.argsort(x, axis=0, stable=True), axis=0),
    "vecdot": lambda xp, x, y, n: xp.vecdot(x, y, axis=0),
    "cumulative_sum": lambda xp, x, y, n: xp.cumulative_sum(x, axis=1, include_initial=True),
    "clip": lambda xp, x, y, n: xp.clip(x, max=0.5),
    "unstack": lambda xp, x, y, n: xp.unstack(x, axis=1),
    "operators": lambda xp, x, y, n: -x @ y.T + 2.0 * abs(x[:, :3] ** 2),
}


@pytest.mark.parametrize("name", CALLS)
def test_standard_functions_match_numpy(shim, name):
    rng = np.random.default_rng(3)
    arrays = (rng.normal(size=(3, 4)), rng.normal(size=(3, 4)), np.array([[3, -1, 3], [2, 2, 3]]))
    if name == "operators":
        arrays = (arrays[0][:, :3], arrays[1][:, :3], arrays[2])
    want = CALLS[name](np, *arrays)
    found = CALLS[name](shim, *map(shim.Array, arrays))
    several = isinstance(want, tuple)
    for one, expected in zip(found if several else [found], want if several else [want], strict=True):
        assert one.dtype == expected.dtype and one.shape == expected.shape
        np.testing.assert_allclose(np.asarray(one), expected, rtol=1e-12)


def test_isin_is_not_equal_to_nan():
    x, y = precast.input("x", "f64[?]"), precast.input("y", "f64[?]")
    isin = precast.function([x, y], precast.isin(x, y), policy="interpret")
    assert isin(np.array([1.0, np.nan, 0.0]), np.array([np.nan, 1.0, -0.0])).tolist() == [True, False, True]
    assert isin(np.array([1.0]), np.array([])).tolist() == [False]


def test_test_suite_has_only_known_failures():
    suite = os.environ.get("PRECAST_ARRAY_API_TESTS")
    if not suite:
        pytest.skip("PRECAST_ARRAY_API_TESTS names no checkout of array-api-tests")
    lines = (FOLDER / "known_failures.txt").read_text().splitlines()
    known = {line for line in lines if not line.startswith("#")}
    path = os.pathsep.join([str(FOLDER), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": path, "ARRAY_API_TESTS_MODULE": "precast_array_api", "ARRAY_API_TESTS_VERSION": "2024.12"}
    command = "-m pytest array_api_tests -q -rfE --tb=no -p no:cacheprovider --disable-warnings --max-examples=5 --derandomize --disable-deadline".split()
    done = subprocess.run([sys.executable, *command], cwd=suite, env=environment, capture_output=True, text=True)
    failed = set(re.findall(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", done.stdout, re.M))
    assert re.search(r"\d{3,} passed", done.stdout), done.stdout[-2000:] + done.stderr[-2000:]
    assert sorted(failed - known) == [], "new failures"
    assert sorted(known - failed) == [], "these pass: remove their lines"
