"""The peers written in Python, in one process that reads commands as lines of JSON from `src/peers/process.rs`.

    {"prepare": "numpy", "case": "score", "inputs": [["f64", [1000]], …]}  ->  {"id": 0, "shape": […], "probe": ["…", …]}
    {"time": 0}                                                            ->  {"ns": …}   of one call
    {"forget": 0}                                                          ->  {}          frees its arrays
    {"versions": 1}                                                        ->  {"Python": "3.…", "NumPy": "2.…", …}

If a peer does not support a case, the answer is {"skip": "reason"}.
"""
import functools
import importlib.metadata
import importlib.util
import json
import os
import sys
import timeit
import types

import named
import numpy as np
import texts
from expressions import EXPRESSIONS
from inputs import arrays

# The minimum time of a round, so that the resolution of the clock does not matter.
ROUND_SECONDS = 0.002
# The time of calls before a round, which other peers' data in the CPU caches would slow down. The Rust side does the same.
WARM_SECONDS = 0.02


def numpy(case, inputs):
    if hasattr(EXPRESSIONS[case], "by"):
        raise NotImplementedError("NumPy has no gradients")
    return EXPRESSIONS[case].numpy, inputs


def numpy_out(case, inputs):
    """The same, with the result written to an existing array."""
    expression = EXPRESSIONS[case]
    return getattr(expression, "numpy_out", expression.numpy), [*inputs, np.empty_like(inputs[0])]


def numba(case, inputs):
    return jitted(case), inputs


@functools.cache
def jitted(case):
    from numba import njit

    # Threads share operations on whole arrays. Explicit loops stay sequential.
    return njit(EXPRESSIONS[case].numba, parallel=int(os.environ["NUMBA_NUM_THREADS"]) > 1)


def jax(case, inputs):
    """Waits for the result. The arguments are JAX arrays, created before the measurement."""
    import jax.numpy

    compiled, values = traced(case), [jax.numpy.asarray(value) for value in inputs]
    return lambda *values: jax.block_until_ready(compiled(*values)), values


@functools.cache
def traced(case):
    """Compiles the NumPy expression with JAX's functions."""
    import jax
    import jax.numpy
    import jax.scipy.special

    jax.config.update("jax_enable_x64", True)
    expression = EXPRESSIONS[case]
    function = getattr(expression, "jax", None) or expression.numpy
    if isinstance(function, types.FunctionType):
        names = {"np": jax.numpy, "special": jax.scipy.special, "jax": jax}
        function = types.FunctionType(function.__code__, names, function.__name__)
        by = getattr(expression, "by", None)
        return jax.jit(jax.value_and_grad(function, argnums=by) if by else function)
    return jax.jit(getattr(jax.numpy, function.__name__))


def pytensor(mode, trust_input=False):
    def prepare(case, inputs):
        kinds = tuple((str(value.dtype), value.ndim) for value in inputs)
        return compiled(case, kinds, mode, trust_input), inputs

    return prepare


@functools.cache
def compiled(case, kinds, mode, trust_input):
    import pytensor
    import pytensor.tensor as pt
    from pytensor.compile.mode import get_default_mode, get_mode

    names = ["x", "y", "z"][: len(kinds)]
    variables = [pt.tensor(name, dtype=dtype, shape=(None,) * ndim) for name, (dtype, ndim) in zip(names, kinds)]
    chosen = get_mode("NUMBA") if mode == "numba" else get_mode("CVM")
    expression = EXPRESSIONS[case]
    result = expression.pytensor(pt, *variables)
    if by := getattr(expression, "by", None):
        result = [result, *pytensor.grad(result, [variables[k] for k in by])]
    function = pytensor.function(variables, result, mode=chosen)
    function.trust_input = trust_input
    return function


def thunk(case, inputs):
    """PyTensor's `run_cthunk`: runs the C of each op in order, with filled storage and without the overhead of a function."""
    from pytensor.link.c.cutils import run_cthunk

    kinds = tuple((str(value.dtype), value.ndim) for value in inputs)
    function = compiled(case, kinds, "c", True)
    result = np.array(function(*inputs))
    for container, value in zip(function.input_storage, inputs):
        container.storage[0] = value
    thunks = [thunk.cthunk for thunk in function.vm.thunks]

    def run():
        if any([run_cthunk(thunk) for thunk in thunks]):
            raise RuntimeError("a thunk failed")
        return function.vm.thunks[-1].outputs[0][0]

    assert np.array_equal(run(), result)
    return run_cthunk, thunks, {"result": run(), "each": True}


PEERS = {
    "numpy": numpy,
    "numpy-out": numpy_out,
    "numba": numba,
    "jax": jax,
    "pytensor-c": pytensor("c"),
    "pytensor-c-trusted": pytensor("c", trust_input=True),
    "pytensor-cthunk": thunk,
    "pytensor-numba": pytensor("numba"),
    "pytensor-numba-trusted": pytensor("numba", trust_input=True),
    "numpy-function": named.numpy,
    "scipy-function": named.scipy,
    "jax-function": named.jax,
    "numpy-text": texts.numpy,
    "scipy-text": texts.scipy,
    "numba-compiling": texts.compiling_numba,
    "jax-compiling": texts.compiling_jax,
}


def probe(result):
    """Returns the shape of the first result, and at most 16 of its elements."""
    if isinstance(result, (tuple, list)):
        result = result[0]
    result = np.asarray(result)
    result = result.real if np.iscomplexobj(result) else result
    flat, count = result.reshape(-1), min(result.size, 16)
    chosen = [k * (result.size - 1) // max(count - 1, 1) for k in range(count)]
    return {"shape": list(result.shape), "probe": [repr(float(flat[k])) for k in chosen]}


def prepare(request, timers):
    peer = request["prepare"]
    function, inputs, *known = PEERS[peer](request["case"], arrays(request["inputs"]))
    known = dict(known[0]) if known else {}
    answer = probe(known.pop("result") if "result" in known else function(*inputs))
    names = [f"a{k}" for k in range(len(inputs))]
    # Thunks are called one after the other.
    statement = "; ".join(f"f({name})" for name in names) if known.pop("each", False) else f"f({', '.join(names)})"
    timer = timeit.Timer(statement, globals=dict(zip(names, inputs), f=function))
    number = 1
    is_compiling = peer.endswith("-compiling")
    while not is_compiling and timer.timeit(number) < ROUND_SECONDS:
        number *= 2
    timers.append((timer, number, 0 if is_compiling else WARM_SECONDS))
    return {"id": len(timers) - 1, **answer, **known}


def versions():
    import jax
    import numba
    import pytensor
    import scipy

    has_pymc = importlib.util.find_spec("pymc") is not None
    return {
        "Python": sys.version.split()[0],
        "NumPy": np.__version__,
        "SciPy": scipy.__version__,
        "numba": numba.__version__,
        "PyTensor": pytensor.__version__,
        "JAX": jax.__version__,
        **({"PyMC": importlib.metadata.version("pymc")} if has_pymc else {}),
        "its compiler": os.path.basename(pytensor.config.cxx) or "none",
    }


def main():
    # Compilers and libraries may print to standard output, so answers use a copy of the descriptor.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    timers = []
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if "prepare" in request:
                answer = prepare(request, timers)
            elif "time" in request:
                timer, number, warm = timers[request["time"]]
                begun = timeit.default_timer()
                while timeit.default_timer() - begun < warm:
                    timer.timeit(1)
                answer = {"ns": timer.timeit(number) / number * 1e9}
            elif "forget" in request:
                timers[request["forget"]] = None
                answer = {}
            else:
                answer = versions()
        except Exception as error:
            answer = {"skip": f"{type(error).__name__}: {error}".split("\n")[0][:200]}
        print(json.dumps(answer), file=answers)


main()
