"""Peers that run the text of a graph with their own functions. A line of the text is an output: `a = sum(x); a + y`."""
import numpy as np
from inputs import DTYPES


def function(case, count, *modules):
    """Returns the function of a text with `count` inputs, named x, y and z, that uses the functions of modules; the last has priority."""
    names = {}
    for module in modules:
        names.update(module if isinstance(module, dict) else vars(module))
    lines, outputs = [], []
    for position, output in enumerate(case.split("\n")):
        *before, last = output.split("; ")
        name, _, expression = last.rpartition(" = ")
        outputs.append(name or f"out{position}")
        lines += [*before, f"{outputs[-1]} = {expression}"]
    lines.append(f"return {', '.join(outputs)}")
    source = f"def text({', '.join('xyz'[:count])}):\n" + "".join(f"    {line}\n" for line in lines)
    names = {**names, **DTYPES}
    exec(compile(source, "text", "exec"), names)
    return names["text"]


def numpy(case, inputs):
    np.seterr(all="ignore")
    return function(case, len(inputs), np, np.linalg), inputs


def scipy(case, inputs):
    from scipy import linalg

    names = {"cholesky": lambda x: linalg.cholesky(x, lower=True)}
    return function(case, len(inputs), np, linalg, names), inputs


def compiling_numba(case, inputs):
    """Compiles and calls the function each time."""
    from numba import njit

    def compiled():
        return njit(function(case, len(inputs), np))

    made = compiled()
    result = made(*inputs)
    objects = [found.library._get_compiled_object() for found in made.overloads.values()]
    return lambda *inputs: compiled()(*inputs), inputs, {"result": result, "code_bytes": sum(map(len, objects))}


def compiling_jax(case, inputs):
    """Compiles and calls the function each time, without a cache."""
    import jax
    import jax.numpy

    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_enable_compilation_cache", False)

    def compiled():
        return jax.jit(function(case, len(inputs), jax.numpy))

    values = [jax.numpy.asarray(value) for value in inputs]
    made = compiled().lower(*values).compile()
    # XLA does not know it on every host, and returns 0 then.
    size = made.memory_analysis().generated_code_size_in_bytes
    known = {"result": made(*values), **({"code_bytes": size} if size else {})}
    return lambda *values: jax.block_until_ready(compiled()(*values)), values, known
