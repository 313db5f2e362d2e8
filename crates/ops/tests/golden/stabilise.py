"""Writes stabilise.jsonl: formulas at arguments where they lose digits or overflow, with 60 digits, rounded once. Run manually:
`python3 stabilise.py`. Needs mpmath.

One line for each formula: {"text": formula, "x": arguments, "out": exact results}; both lists contain f64 in their shortest form.
"""

import json
import pathlib

import mpmath as mp

mp.mp.dps = 400
SMALL = [1e-20, -1e-12, 3e-9, 0.25, 2.0]
WIDE = [-800.0, -720.0, -40.0, -1.0, 0.0, 1e-3, 3.0, 40.0, 720.0]


def each(function):
    return lambda xs: [function(x) for x in xs]


def total(xs):
    return mp.fsum(mp.exp(x) for x in xs)


ELEMENTS = [
    (["log(1 + x)", "log(x + 1)"], SMALL, mp.log1p),
    (["log(1 - x)"], [1e-20, 2e-12, -5e-9, 0.25, 0.75], lambda x: mp.log1p(-x)),
    (["exp(x) - 1"], SMALL, mp.expm1),
    (["1 - exp(x)"], SMALL, lambda x: -mp.expm1(x)),
    (["log(1 + exp(x))", "log1p(exp(x))"], [*WIDE, 800.0], lambda x: mp.log1p(mp.exp(x))),
    (["log(1 - exp(x))", "log1p(-exp(x))"], [-1e-18, -1e-10, -0.5, -3.0, -50.0], lambda x: mp.log(-mp.expm1(x))),
    (["1/(1 + exp(-x))", "reciprocal(1 + exp(-x))"], WIDE, lambda x: 1 / (1 + mp.exp(-x))),
    (["1/(1 + exp(x))", "1 - sigmoid(x)"], WIDE, lambda x: 1 / (1 + mp.exp(x))),
    (["exp(x)/(1 + exp(x))"], WIDE, lambda x: 1 / (1 + mp.exp(-x))),
    (["log(sigmoid(x))", "log(1/(1 + exp(-x)))"], [*WIDE, -900.0], lambda x: -mp.log1p(mp.exp(-x))),
]
SUMS = [
    (["log(sum(exp(x)))"], lambda xs: [mp.log(total(xs))]),
    (["exp(x)/sum(exp(x))"], lambda xs: [mp.exp(x) / total(xs) for x in xs]),
    (["log(exp(x)/sum(exp(x)))", "log(softmax(x))"], lambda xs: [x - mp.log(total(xs)) for x in xs]),
]
CASES = [(texts, xs, each(function)) for texts, xs, function in ELEMENTS]
CASES += [(texts, xs, function) for texts, function in SUMS for xs in ([1000.0, 1001.5, 998.0], [-1e3, -1003.0, -2e3])]

lines = []
for texts, xs, function in CASES:
    out = [float(y) for y in function([mp.mpf(x) for x in xs])]
    lines += [json.dumps({"text": text, "x": xs, "out": out}) for text in texts]
pathlib.Path(__file__).with_name("stabilise.jsonl").write_text("\n".join(lines) + "\n")
