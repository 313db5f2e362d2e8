"""Measures calls from Python, of precast and its peers in turn: `calls.py BUNDLE ROUNDS`. Prints a line of JSON for each case.

    {"what": "…", "samples": [["precast", [ns, …]], ["NumPy", [ns, …]], …], "skipped": ["…"]}
"""
import ctypes
import json
import sys
import timeit

import numpy as np

import precast

ROUND_SECONDS = 0.002
RANGE = 0.2, 3.0


def vector(results):
    """Returns a result, or several results as one vector."""
    return np.concatenate([np.ravel(result) for result in results]) if isinstance(results, tuple | list) else np.asarray(results)


def race(what, rounds, contenders):
    """Measures the installed contenders. Each is `(name, make)`; `make` returns a function and its arguments. A third item is
    the relative tolerance of its results, 1e-9 by default. Calls return what the function returns, such as a tuple of arrays."""
    timers, skipped, expected = [], [], None
    for name, make, *tolerance in contenders:
        try:
            function, arguments = make()
            result = vector(function(*arguments))
        except ImportError as error:
            skipped.append(f"{name} at {what}: {error}")
            continue
        expected = result if expected is None else expected
        rtol = tolerance[0] if tolerance else 1e-9
        np.testing.assert_allclose(result, expected, rtol=rtol, err_msg=f"{name} at {what}")
        names = [f"a{k}" for k in range(len(arguments))]
        timer = timeit.Timer(f"f({', '.join(names)})", globals=dict(zip(names, arguments), f=function))
        number = 1
        while timer.timeit(number) < ROUND_SECONDS:
            number *= 2
        timers.append((name, timer, number, []))
    for _ in range(rounds):
        for _, timer, number, samples in timers:
            samples.append(timer.timeit(number) / number * 1e9)
    samples = [[name, samples] for name, _, _, samples in timers]
    print(json.dumps({"what": what, "samples": samples, "skipped": skipped}), flush=True)


def with_out(function, out):
    return lambda x, y: function(x, y, out=out)


def njit(function):
    from numba import njit

    return njit(function)


def pytensor_function(mode, make):
    import pytensor
    import pytensor.tensor as pt

    function = pytensor.function(*make(pt), mode=mode)
    function.trust_input = True
    return function


def sums(model, rounds):
    x, y, out = np.arange(4.0), np.ones(4), np.empty(4)

    def add(pt):
        x, y = pt.dvector("x"), pt.dvector("y")
        return [x, y], x + y

    # The timed statement includes `out=`, as in a program.
    def into(x, y, out):
        for k in range(x.size):
            out[k] = x[k] + y[k]
        return out

    def with_numba():
        function = njit(into)
        return lambda x, y: function(x, y, out)

    # PyTensor's functions have no `out=`; one returns the array that it keeps for its result.
    def kept(mode):
        import pytensor

        def borrowed(pt):
            inputs, result = add(pt)
            return inputs, pytensor.Out(result, borrow=True)

        function = pytensor_function(mode, borrowed)
        return lambda x, y: function(x, y)

    race("x + y of 4 with out=", rounds, [
        ("precast", lambda: (with_out(model.add, out), [x, y])),
        ("NumPy", lambda: (with_out(np.add, out), [x, y])),
        ("numba", lambda: (with_numba(), [x, y])),
        ("PyTensor, C, trust_input, borrowed", lambda: (kept("CVM"), [x, y])),
        ("PyTensor, numba, trust_input, borrowed", lambda: (kept("NUMBA"), [x, y])),
    ])
    race("x + y of 4, new result", rounds, [
        ("precast", lambda: (model.add, [x, y])),
        ("NumPy", lambda: (np.add, [x, y])),
        ("numba", lambda: (njit(lambda x, y: x + y), [x, y])),
        ("PyTensor, C, trust_input", lambda: (pytensor_function("CVM", add), [x, y])),
        ("PyTensor, numba, trust_input", lambda: (pytensor_function("NUMBA", add), [x, y])),
    ])


def callbacks(model, rounds):
    from scipy import LowLevelCallable
    from scipy.integrate import quad

    def python(x):
        return np.exp(-x * x) * 0.5

    def compiled():
        from numba import cfunc

        return cfunc("f8(f8)")(python)

    def with_numba():
        return LowLevelCallable(compiled().ctypes)

    def with_ctypes():
        return ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(python)

    race("quad of exp(-x*x)/2 from 0.2 to 3", rounds, [
        ("precast", lambda: (lambda f: quad(f, *RANGE)[0], [model.gauss.low_level_callable()])),
        ("numba's cfunc", lambda: (lambda f: quad(f, *RANGE)[0], [with_numba()])),
        ("a function of Python", lambda: (lambda f: quad(f, *RANGE)[0], [python])),
        ("the same by ctypes", lambda: (lambda f: quad(f, *RANGE)[0], [with_ctypes()])),
    ])


def density(pt):
    """Log-density and gradient of a logistic regression, as in a sampler: one vector in, two results out."""
    import pytensor
    from pytensor.gradient import grad

    random = np.random.default_rng(0)
    data = pytensor.shared(random.normal(size=(200, 8)), name="data")
    seen = pytensor.shared((random.random(200) < 0.5).astype("f8"), name="seen")
    weights = pt.dvector("weights")
    logit = data @ weights
    logp = (seen * logit - pt.log1p(pt.exp(logit))).sum() - (weights**2).sum() / 2
    return [weights], [logp, grad(logp, weights)]


def frozen(rounds):
    import precast.pytensor

    weights = np.linspace(-0.5, 0.5, 8)

    def ours():
        made = pytensor_function("CVM", density)
        return precast.pytensor.freeze(made).function(), [weights]

    race("log-density and gradient of 200 rows, frozen", rounds, [
        ("precast", ours),
        ("PyTensor, C, trust_input", lambda: (pytensor_function("CVM", density), [weights])),
        ("PyTensor, numba, trust_input", lambda: (pytensor_function("NUMBA", density), [weights])),
    ])


def varying_intercepts():
    """A PyMC model: groups with separate intercepts and a common slope."""
    import pymc as pm

    group, x = np.repeat(np.arange(5), 6), np.tile(np.linspace(-1, 1, 6), 5)
    with pm.Model() as model:
        centre, spread = pm.Normal("centre", 0, 10), pm.HalfNormal("spread", 5)
        intercept = pm.Normal("intercept", centre, spread, shape=5)
        slope, noise = pm.Normal("slope", 0, 5), pm.HalfNormal("noise", 2)
        pm.Normal("y", intercept[group] + slope * x, noise, observed=np.sin(7.0 * np.arange(30)) + 0.5 * x + group)
    return model


def pymc(rounds):
    import precast.pytensor

    point = np.linspace(0.1, 0.9, 9)

    def compiled(mode):
        made = varying_intercepts().logp_dlogp_function(ravel_inputs=True, mode=mode)
        made.set_extra_values({})
        made._pytensor_function.trust_input = True
        return made._pytensor_function

    race("logp_dlogp of PyMC's varying intercepts, frozen", rounds, [
        ("precast", lambda: (precast.pytensor.freeze(compiled("CVM")).function(), [point])),
        ("PyMC, C, trust_input", lambda: (compiled("CVM"), [point])),
        ("PyMC, numba, trust_input", lambda: (compiled("NUMBA"), [point])),
    ])


def main():
    bundle, rounds = sys.argv[1], int(sys.argv[2])
    model = precast.load(bundle)
    sums(model, rounds)
    callbacks(model, rounds)
    frozen(rounds)
    pymc(rounds)


if __name__ == "__main__":
    main()
