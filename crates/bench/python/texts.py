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
