"""Calls leak no memory, objects or references."""

import gc
import itertools
import re
import sys
from pathlib import Path

import numpy as np
import precast
import pytest


STATUS = Path("/proc/self/status")


def rss() -> int:
    """Returns the current memory of the process in KiB. The peak memory could belong to another test."""
    return int(re.search(r"VmRSS:\s+(\d+) kB", STATUS.read_text())[1])


@pytest.mark.skipif(not STATUS.is_file(), reason="this system does not report the memory of a process")
@pytest.mark.parametrize("times", [20_000, pytest.param(1_000_000, marks=pytest.mark.long)])
def test_many_calls_leak_no_memory(model, times):
    """A million calls of each kind: `cargo xtask python --long`."""
    x, out, wrong = np.arange(4.0), np.empty(4), np.zeros(4, "f4")
    add = precast.function("x: f64[?], y: f64[?]", "out = x - y*2", policy="jit")
    score, ufunc, native = model.score, model.ufunc("gauss"), model.gauss.native.ctypes()

    def refused():
        try:
            add(x, wrong)
        except precast.CallTypeError:
            return True

    kinds = [
        (lambda: add(x, x, out=out), 1),
        (lambda: add(x, x), 1),
        (lambda: add(x, y=x), 1),
        (lambda: score(x, x, x), 1),
        (lambda: ufunc(x, out), 1),
        (lambda: native(0.5), 1),
        (lambda: model.gauss(0.5), 20),
        (refused, 20),
    ]
    held = (x, out, wrong, add, score, ufunc, native, model, type(add), np.float64, x.dtype, np.ndarray)

    def state():
        gc.collect()
        return rss(), len(gc.get_objects()), [sys.getrefcount(each) for each in held]

    def all_kinds(count):
        for call, share in kinds:
            for _ in itertools.repeat(None, count // share):
                call()

    all_kinds(2_000)
    rss_kib, objects, counts = state()
    # The measurement detects leaks. An array of this size has its own pages, which are released with it.
    kept = np.ones(2**23)
    assert rss() - rss_kib > 60_000
    del kept
    all_kinds(times)
    now_kib, now_objects, now = state()
    assert now_kib - rss_kib < 2048, (rss_kib, now_kib)
    assert abs(now_objects - objects) < 20, (objects, now_objects)
    # The interpreter may hold one reference more or less. A call that leaks one in a million calls still fails.
    assert all(abs(a - b) < 10 for a, b in zip(counts, now)), (counts, now)
