"""Fast calls give the same results as all other calls, and no Python argument breaks them."""

import gc
import itertools
import math
import subprocess
import sys
import threading
import time
import tracemalloc

import numpy as np
import precast
import pytest

LAYOUTS = {
    "plain": lambda x: x.copy(),
    "reversed": lambda x: x.copy()[::-1],
    "spread": lambda x: np.repeat(x, 3)[::3],
    "read-only": lambda x: _flagged(x.copy()),
    "subclass": lambda x: x.copy().view(_Sub),
    "long long": lambda x: x.astype(np.longlong) if x.dtype == np.int64 else x.copy(),
}


class _Sub(np.ndarray):
    pass


def _flagged(x):
    x.setflags(write=False)
    return x


@pytest.fixture(scope="module")
def add():
    return precast.function("x: f64[?], y: f64[?]", "out = x - y*2", name="add", policy="jit")


@pytest.mark.parametrize("n", [0, 1, 4, 499, 500, 501, 3000])
def test_every_way_of_calling_matches(add, n):
    generator = np.random.default_rng(n)
    x, y = generator.normal(size=(2, n))
    want = x - y * 2
    for (_, left), (_, right) in itertools.product(LAYOUTS.items(), repeat=2):
        a, b = left(x), right(y)
        out = np.empty(n)
        assert add(a, b, out=out) is out and np.array_equal(out, left(x) - right(y) * 2)
        assert np.array_equal(add(a, b), left(x) - right(y) * 2)
        assert np.array_equal(add(a, y=b), add(y=b, x=a))
        room = np.zeros(2 * n)[::2]
        assert np.array_equal(add(a, b, out=room), add(a, b, out=(np.empty(n),))[0])
    assert np.array_equal(add(x, y), want)


def test_out_may_overlap_an_input(add):
    for shift in range(-3, 4):
        room = np.arange(20.0)
        x, y, out = room[5:12], room[6:13], room[5 + shift : 12 + shift]
        want = x - y * 2
        add(x, y, out=out)
        assert np.array_equal(out, want)


def test_numbers_are_inputs_without_dimensions(model):
    x = np.arange(4.0)
    for number in (3, 3.0, True, np.float64(3), np.array(3.0), np.float64(np.nan), -0.0, 1e308, float("inf")):
        with np.errstate(all="ignore"):
            got, want = model.scale(x, number), x * float(number)
        assert got.tobytes() == want.tobytes() or np.isnan(want).any(), number
    assert model.pick(x, 2) == model.pick(x, np.int64(2)) == 2.0
    with pytest.raises(precast.CallIndexError):
        model.pick(x, 7)
    with pytest.raises(precast.CallValueError, match="out of bounds for"):
        model.pick(x, 2**70)


#: The largest numbers that are rounded to a dtype, and the smallest ones that are out of bounds.
ROOM = {
    "f16": (65519.0, 65520.0),
    "bf16": (3.395e38, 3.4e38),
    "f32": (3.4028235e38, 3.4028236e38),
    "f64": (1e308, 2**1024),
    "c64": (3.4e38j, 1e39j),
    "u8": (255, 256),
    "i8": (-128, -129),
    "u64": (2**64 - 1, 2**64),
}


@pytest.mark.parametrize("dtype", ROOM)
def test_number_too_large_for_dtype_is_rejected(dtype):
    number = precast.function(f"n: {dtype}[]", "out = n == n", policy="interpret")
    fits, wide = ROOM[dtype]
    assert number(fits)
    too_wide = [wide, 2**2000] if dtype[0] in "ui" else [wide, 2**2000, *([2**200, -(2**200)] if dtype != "f64" else [])]
    for value in too_wide:
        with pytest.raises(precast.CallValueError, match="out of bounds for"):
            number(value)
    if dtype[0] not in "ui":
        assert number(math.inf) and number(-math.inf) and not number(math.nan)


WRONG = {
    "none": None,
    "a text": "abc",
    "a list": [1.0, 2.0],
    "a generator": (x for x in (1.0, 2.0)),
    "an object": object(),
    "objects": np.array([1.0, None]),
    "texts": np.array(["a", "b"]),
    "another dtype": np.zeros(4, np.float32),
    "swapped": np.zeros(4, ">f8"),
    "another rank": np.zeros((2, 2)),
    "no dimension": np.float64(1.0),
    "a structure": np.zeros(4, [("a", "f8")]),
    "times": np.zeros(4, "M8[s]"),
    "misaligned": np.frombuffer(bytearray(33), np.uint8)[1:].view(np.float64),
    "a class": float,
    "a module": np,
    "half a stride": np.ndarray((3,), np.float64, bytearray(64), 0, (12,)),
}


@pytest.mark.parametrize("what", WRONG)
def test_invalid_inputs_raise_errors(add, what):
    x = np.zeros(4)
    for args, keywords in [((WRONG[what], x), {}), ((x, WRONG[what]), {}), ((x,), {"y": WRONG[what]})]:
        with pytest.raises((TypeError, ValueError)) as caught:
            add(*args, **keywords)
        assert isinstance(caught.value, precast.CallError)
    if what != "none":
        with pytest.raises((TypeError, ValueError)) as caught:
            add(x, x, out=WRONG[what])
        assert isinstance(caught.value, precast.CallError)


def test_masked_arrays_are_rejected(add):
    masked = np.ma.array([1.0, 2.0], mask=[True, False])
    with pytest.raises(precast.CallTypeError, match="input `x` is a masked array\nhint: pass `x.filled"):
        add(masked, np.zeros(2))


@pytest.mark.parametrize(
    "args, keywords",
    [
        ((), {}),
        ((1,), {}),
        ((1, 2, 3), {}),
        ((1, 2), {"x": 1}),
        ((1, 2), {"z": 1}),
        ((1, 2), {"out": 1, "x": 1}),
        ((), {"out": None}),
    ],
)
def test_wrong_arguments_raise_type_error(add, args, keywords):
    x = np.zeros(2)
    with pytest.raises(precast.CallTypeError):
        add(*(x for _ in args), **{name: None if value is None else x for name, value in keywords.items()})


def test_array_conversion_may_call_the_function(add):
    class Again:
        depth = 0

        @property
        def __array_interface__(self):
            self.depth += 1
            if self.depth < 20:
                return add(self, np.zeros(2)).__array_interface__
            return np.ones(2).__array_interface__

    assert np.array_equal(add(Again(), np.zeros(2)), [1.0, 1.0])

    class Endless:
        @property
        def __array_interface__(self):
            return add(self, np.zeros(2)).__array_interface__

    limit = sys.getrecursionlimit()
    try:
        # As PyTensor and other programs do.
        sys.setrecursionlimit(100_000)
        with pytest.raises((RecursionError, TypeError)):
            add(Endless(), np.zeros(2))
    finally:
        sys.setrecursionlimit(limit)


def test_functions_are_ordinary_objects(add):
    assert callable(add) and type(add) is precast.Function and hash(add) is not None
    assert add.__doc__ and add.__name__ == "add"
    with pytest.raises(TypeError):
        precast.Function()
    with pytest.raises(TypeError):
        type("Mine", (precast.Function,), {})
    with pytest.raises(AttributeError):
        add.anything = 1
    assert add.__call__(np.ones(1), np.ones(1))[0] == -1.0
    assert list(map(add, [np.ones(1)], [np.ones(1)]))[0][0] == -1.0
    names = {"x": np.ones(1), "y": np.ones(1)}
    assert add(**names)[0] == -1.0


def test_many_calls_leak_nothing(add, model):
    x, out = np.arange(4.0), np.empty(4)
    wrong = np.zeros(3)

    def all_kinds(times):
        for _ in itertools.repeat(None, times):
            add(x, x, out=out)
            add(x, x)
            add(x, y=x)
            model_scale(x, 2.0)
            model_score(x, x, x)
            try:
                add(x, wrong)
            except ValueError:
                pass

    model_scale, model_score = model.scale, model.score
    all_kinds(200)
    gc.collect()
    held = [sys.getrefcount(each) for each in (x, out, wrong, add, np.float64, x.dtype, None)]
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    all_kinds(2000)
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    now = [sys.getrefcount(each) for each in (x, out, wrong, add, np.float64, x.dtype, None)]
    assert all(abs(a - b) < 20 for a, b in zip(held, now)), (held, now)
    assert grown < 20_000


def test_functions_are_created_and_freed_repeatedly(model):
    for _ in range(300):
        assert model["scale"](np.ones(2), 2.0)[0] == 2.0


def test_threads_call_one_function_at_once(add):
    failed = []

    def work(seed):
        generator = np.random.default_rng(seed)
        for n in (3, 600, 50_000):
            x, y = generator.normal(size=(2, n))
            out = np.empty(n)
            for _ in range(20):
                if not np.array_equal(add(x, y, out=out), x - y * 2) or not np.array_equal(add(x, y), out):
                    failed.append(n)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def test_large_calls_release_the_gil():
    slow = precast.function("x: f64[?]", "out = sum(sin(cos(exp(-x*x))))", policy="jit")
    x = np.random.default_rng(1).normal(size=200_000)
    ticks, stop = [0], threading.Event()

    def tick():
        while not stop.is_set():
            ticks[0] += 1
            # Releases the GIL; nothing else does.
            time.sleep(0)

    slow(x[:1])
    interval = sys.getswitchinterval()
    thread = threading.Thread(target=tick)
    thread.start()
    while ticks[0] == 0:
        time.sleep(0.001)
    # A thread waits this long for the GIL, so the other thread runs only if a call releases it.
    sys.setswitchinterval(1000)
    try:
        before = after = ticks[0]
        for _ in range(500):
            slow(x)
            after = ticks[0]
            if after > before:
                break
    finally:
        stop.set()
        sys.setswitchinterval(interval)
        thread.join()
    assert after > before


def test_interpreter_exits_silently(bundle):
    code = """
import sys, numpy as np, precast

class Last:
    def __init__(self, *held):
        self.held = held

    def __del__(self):
        f, g, ufunc, x = self.held
        f(x, 2.0, out=x)
        for call in (lambda: f(x, 2.0), lambda: g(x), lambda: ufunc(x), lambda: f(x), lambda: f("a", 2.0)):
            try:
                call()
            except (RuntimeError, TypeError, ImportError, AttributeError, NameError):
                pass

class Own(precast.COp):
    def make_node(self, x):
        return precast.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0]

model = precast.load(sys.argv[1])
x = precast.input("x", "f64[?]")
g = precast.function([x], Own()(x), policy="interpret")
f, ufunc = model.scale, model.ufunc("gauss")
last = Last(f, g, ufunc, np.ones(3))
cycle = [last]
cycle.append(cycle)
sys.precast_last = Last(f, g, ufunc, np.ones(3))
del cycle
print("done")
"""
    ran = subprocess.run([sys.executable, "-c", code, str(bundle)], capture_output=True, text=True)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "done\n", "")


#: Graphs with several results: maps and whole reductions, which run without a frame, and other graphs.
SEVERAL = {
    "maps": ("x: f64[?], y: f64[?]", ["a = x + y", "b = x*y - 1", "c = exp(-x)"]),
    "a map and its sum": ("x: f64[?], y: f64[?]", ["s = sum(x*y)", "g = x*y"]),
    "sums": ("x: f64[?], y: f64[?]", ["s = sum(x)", "t = max(y)"]),
    "matrices": ("x: f64[?,?], y: f64[?,?]", ["s = sum(x*y)", "g = 2*x*y"]),
    "dtypes": ("x: f64[?], y: f64[?]", ["a = x < y", "b = astype(x, f32)", "n = sum(astype(y, i64))"]),
    "fixed extents": ("x: f64[6], y: f64[6]", ["s = sum(x*y)", "g = x*y"]),
    "parts": ("x: f64[?], y: f64[?]", ["a = x[1:]*y[:-1]", "b = flip(y)", "s = x[0]"]),
    "running sums": ("x: f64[?], y: f64[?]", ["a = cumsum(x)", "b = sum(cumsum(y))"]),
}


@pytest.mark.parametrize("policy", ["jit", "interpret"])
@pytest.mark.parametrize("what", SEVERAL)
def test_several_results_match_in_every_call(what, policy):
    inputs, outputs = SEVERAL[what]
    function = precast.function(inputs, outputs, policy=policy)
    reference = precast.function(inputs, outputs, policy="interpret")
    rank = len(function.inputs[0].type.split(",")) if "[?,?]" in inputs else 1
    for n in [6] if "fixed" in what else [1, 4, 6, 500, 501, 3000]:
        shape = (n, 2)[:rank]
        x, y = np.random.default_rng(n).normal(size=(2, *shape))
        want = reference(x=x, y=y)
        for a, b in itertools.product(*([x, x.copy()[::-1][::-1], np.repeat(x, 2, axis=0)[::2]] for x in (x, y))):
            got = function(a, b)
            assert type(got) is tuple and len(got) == len(want)
            rooms = tuple(np.empty_like(np.asarray(each)) for each in want)
            strided = tuple(np.empty((*each.shape[:-1], 2 * each.shape[-1]), each.dtype)[..., ::2] if each.ndim else each.copy() for each in rooms)
            assert function(a, b, out=rooms) is rooms and function(a, b, out=strided) is strided
            for results in (got, rooms, strided):
                for one, other in zip(results, want, strict=True):
                    assert np.asarray(one).dtype == np.asarray(other).dtype and type(one) in (type(other), np.ndarray)
                    np.testing.assert_array_equal(one, other)


def test_several_results_may_overlap_inputs():
    function = precast.function("x: f64[?], y: f64[?]", ["a = x + y", "b = x*y"], policy="jit")
    for shift, other in itertools.product(range(-3, 4), repeat=2):
        room = np.arange(30.0)
        x, y = room[10:16], room[12:18]
        a, b = room[10 + shift : 16 + shift], room[12 + other : 18 + other]
        want = np.arange(30.0)
        want[10 + shift : 16 + shift], product = x + y, x * y
        want[12 + other : 18 + other] = product
        if abs(2 + other - shift) < 6:
            with pytest.raises(precast.CallValueError, match="share memory"):
                function(x, y, out=(a, b))
            continue
        function(x, y, out=(a, b))
        assert np.array_equal(room, want), (shift, other)


def test_unsupported_outs_are_still_rejected():
    function = precast.function("x: f64[?], y: f64[?]", ["s = sum(x)", "g = x*y"], policy="jit")
    x, s, g = np.arange(4.0), np.empty(()), np.empty(4)
    shared = np.lib.stride_tricks.as_strided(np.empty(4), (4,), (0,))
    for out, kind in [
        (s, TypeError),
        ((s,), TypeError),
        ((s, g, g), TypeError),
        ((s, 1.0), TypeError),
        ((g, s), ValueError),
        ((s, g[:3]), ValueError),
        ((s, np.empty(4, "f4")), TypeError),
        ((s, _flagged(g.copy())), ValueError),
        ((s, shared), ValueError),
        ([s, g], TypeError),
    ]:
        with pytest.raises(kind) as caught:
            function(x, x, out=out)
        assert isinstance(caught.value, precast.CallError)
    assert function(x, x, out=None)[0] == 6.0
