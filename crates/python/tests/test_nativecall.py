"""The package `precast-nativecall`: callables with the type slot of CEP 1000, compiled for this Python if possible."""

import gc
import importlib.metadata
import importlib.util
import re
import shutil
import subprocess
import sys
import sysconfig
import threading
import time
from pathlib import Path

import numpy as np
import precast
import pytest

HERE = Path(__file__).parents[1] / "nativecall"
ABI = HERE.parents[1] / "abi"
HEADERS = Path(sysconfig.get_paths()["include"])
COMPILER = shutil.which("cc") or shutil.which("gcc")


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    if not (HEADERS / "Python.h").is_file() or COMPILER is None:
        pytest.skip("no C compiler, or no headers of this Python")
    path = tmp_path_factory.mktemp("nativecall") / "precast_nativecall.so"
    include = [f"-I{folder}" for folder in (HEADERS, ABI / "include", ABI / "cpython")]
    flags = ["-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    subprocess.run([COMPILER, *flags, *include, str(HERE / "precast_nativecall.c"), "-o", str(path)], check=True)
    spec = importlib.util.spec_from_file_location("precast_nativecall", path)
    module = sys.modules["precast_nativecall"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    del sys.modules["precast_nativecall"]


def never(*_):
    raise AssertionError("called by Python")


def test_native_callable_works_from_python(model, package):
    f = model.gauss.native.callable()
    assert f(0.0) == 0.5 and f.signature == "d)d~"
    assert "'d)d~' of <precast.Function gauss" in repr(f)
    with pytest.raises(precast.CallError):
        f("a")


def test_matching_signature_is_called_natively(model, package):
    native = model.gauss.native
    x, out = np.linspace(-2, 2, 1000), np.empty(1000)
    assert package.each(package.Callable(never, native.address, native.signature), x, out) is out
    assert np.array_equal(out, [model.gauss(each) for each in x])


def test_unmatched_signatures_fall_back_to_python(model, package):
    x, out = np.arange(3.0), np.empty(3)
    package.each(lambda x: -x, x, out)
    assert out.tolist() == [0, -1, -2]
    # Other signatures, short and long.
    native = model.gauss.native
    for signature in ("dd)d~", "d)d", "dddddddddddd)d~"):
        package.each(package.Callable(lambda x: x + 1, native.address, signature), x, out)
        assert out.tolist() == [1, 2, 3]
    for wrong in (never, lambda x: "a", lambda x: None):
        with pytest.raises((AssertionError, TypeError)):
            package.each(wrong, x, out)


def test_native_calls_release_the_gil(model, package):
    f, x, counted, stop = model.gauss.native.callable(), np.zeros(5_000_000), [0], threading.Event()

    def count():
        while not stop.is_set():
            counted[0] += 1
            time.sleep(0)

    interval = sys.getswitchinterval()
    # Threads are not interrupted: the other thread runs only when this one releases the GIL.
    sys.setswitchinterval(1000)
    thread = threading.Thread(target=count)
    try:
        thread.start()
        before = counted[0]
        package.each(f, x, x)
        after = counted[0]
    finally:
        sys.setswitchinterval(interval)
        stop.set()
        thread.join()
    assert after > before + 1


def test_invalid_callables_are_rejected(model, package):
    native = model.gauss.native
    for args, kind in (
        ((never, 0, "d)d~"), ValueError),
        ((never, native.address, "hello)world"), ValueError),
        ((never, native.address, ""), ValueError),
        ((3, native.address, "d)d~"), TypeError),
        ((never, "a", "d)d~"), TypeError),
    ):
        with pytest.raises(kind):
            package.Callable(*args)
    f, x = native.callable(), np.arange(4.0)
    for other in (np.arange(4, dtype="f4"), np.arange(3.0), x[::-1]):
        with pytest.raises((ValueError, BufferError)):
            package.each(f, x, other)
    with pytest.raises((ValueError, BufferError)):
        package.each(f, x, memoryview(x.tobytes()))
    with pytest.raises(TypeError):
        type("Derived", (package.Callable,), {})


def test_native_calls_leak_nothing(model, package):
    native, function = model.gauss.native, lambda x: x
    before = sys.getrefcount(function)
    for _ in range(1000):
        f = package.Callable(function, native.address, native.signature)
        function.cycle = f
        with pytest.raises(ValueError):
            package.Callable(function, native.address, "x")
    del function.cycle, f
    gc.collect()
    assert sys.getrefcount(function) == before


def test_the_example_of_the_page_runs(model, package):
    page = (HERE.parent / "README.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"^```python\n(from precast_nativecall .*?)^```", page, re.MULTILINE | re.DOTALL)
    x, out = np.linspace(-1, 1, 5), np.empty(5)
    exec(example, {"model": model, "x": x, "out": out})
    assert np.array_equal(out, [model.gauss(each) for each in x])


def test_pip_installs_the_nativecall_package(bundle):
    """Tests the result of `pip install ./crates/python/nativecall` in this Python."""
    try:
        found = importlib.metadata.version("precast-nativecall")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("pip did not install `./crates/python/nativecall`")
    code = """
import sys
import numpy as np, precast, precast_nativecall

def never(*_):
    raise AssertionError("called by Python")

native = precast.load(sys.argv[1]).gauss.native
x, out = np.linspace(-2, 2, 100), np.empty(100)
precast_nativecall.each(precast_nativecall.Callable(never, native.address, native.signature), x, out)
assert np.allclose(out, 0.5 * np.exp(-x * x), rtol=1e-14)
assert type(native.callable()) is precast_nativecall.Callable and native.callable()(0.0) == 0.5
print(precast_nativecall.__file__)
"""
    ran = subprocess.run([sys.executable, "-c", code, str(bundle)], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    (told,) = re.findall(r'^version = "(.*)"', (HERE / "pyproject.toml").read_text(), re.MULTILINE)
    assert found == told and "site-packages" in ran.stdout


def test_the_package_is_not_needed(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "precast_nativecall", None)
    with pytest.raises(precast.NativeError, match="pip install"):
        model.gauss.native.callable()
