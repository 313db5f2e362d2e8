"""A JAX program up to its first result, or its calls: `jax_program.py WHO PLACE [ROUNDS]`.

    write      writes the frozen and the exported function to the directory PLACE
    precast    calls the frozen function, without JAX
    called     calls it from JAX
    jit        traces and compiles the function
    exported   loads the exported function
    calls      prints measurements of calls as `calls.py` does
"""
import functools
import os
import sys

import numpy as np

who, place = sys.argv[1:3]
BUNDLE, EXPORTED = os.path.join(place, "model.precast"), os.path.join(place, "model.export")
rng = np.random.default_rng(0)
DATA, SEEN = rng.normal(size=(200, 8)), (rng.random(200) < 0.5).astype("f8")
WEIGHTS = np.linspace(-0.5, 0.5, 8)


def with_jax():
    """Returns JAX and the function: the log density of a logistic regression and its gradient."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)

    def density(weights):
        logit = DATA @ weights
        return (SEEN * logit - jax.nn.softplus(logit)).sum() - (weights**2).sum() / 2

    return jax, jnp, jax.value_and_grad(density)


def write():
    import precast.jax

    jax, _, function = with_jax()
    precast.jax.freeze(function, "f64[8]", path=BUNDLE, name="density")
    with open(EXPORTED, "wb") as file:
        file.write(jax.export.export(jax.jit(function))(jax.ShapeDtypeStruct((8,), "float64")).serialize())


def frozen():
    import precast

    return precast.load(BUNDLE).density


def called():
    import precast
    import precast.jax

    with_jax()
    return precast.jax.call(precast.load(BUNDLE).density)


def jitted():
    jax, _, function = with_jax()
    return jax.jit(function)


def exported():
    jax, _, _ = with_jax()
    import jax.export

    with open(EXPORTED, "rb") as file:
        return jax.jit(jax.export.deserialize(bytearray(file.read())).call)


def calls(rounds):
    from calls import race

    jax, jnp, _ = with_jax()

    # The results as one array, which the contenders must agree on.
    def joined(function, *arguments):
        return lambda: (lambda *given: np.append(*jax.block_until_ready(function(*given))[::-1]), list(arguments))

    weights = jnp.asarray(WEIGHTS)
    race("log-density and gradient of 200 rows in JAX", rounds, [
        ("precast, from NumPy", joined(frozen(), WEIGHTS)),
        ("precast, from JAX", joined(called(), weights)),
        ("jax.jit", joined(jitted(), weights)),
        ("jax.export", joined(exported(), weights)),
    ])

    # 10 000 calls in one computation: the cost of a call without that of JAX's dispatch.
    def loop(function):
        return jax.jit(lambda x: jax.lax.fori_loop(0, 10_000, lambda _, x: function(x), x))

    import precast
    import precast.jax

    plain = precast.jax.call(precast.function("x: f64[n]", "out: f64[n] = x*0.5 + 1"))
    eight = jnp.arange(8.0)
    race("10⁴ calls of x*0.5 + 1 of 8 in a loop of JAX", rounds, [
        ("precast, from JAX", lambda: (functools.partial(lambda f, x: f(x).block_until_ready(), loop(plain)), [eight])),
        ("JAX's own ops", lambda: (functools.partial(lambda f, x: f(x).block_until_ready(), loop(lambda x: x * 0.5 + 1)), [eight])),
    ])


if who == "write":
    write()
elif who == "calls":
    calls(int(sys.argv[3]))
else:
    value, slopes = {"precast": frozen, "called": called, "jit": jitted, "exported": exported}[who]()(WEIGHTS)
    print(float(value) + float(np.asarray(slopes).sum()), flush=True)
