"""Subclasses of classes with rules: the rule of a base class applies unless the subclass redefines the computation."""

import numpy as np
import precast
import pytest
from frozen import compare, frozen, function

pytensor = pytest.importorskip("pytensor")
import pytensor.scalar as ps  # noqa: E402
import pytensor.tensor as pt  # noqa: E402
from precast.pytensor._lower.classes import behaves_as  # noqa: E402
from precast.pytensor._lower.lowering import Lowering, Refused, _OF_PYTHON, _RULES  # noqa: E402
from pytensor.graph.op import Op  # noqa: E402
from pytensor.raise_op import CheckAndRaise  # noqa: E402
from pytensor.tensor.elemwise import Elemwise  # noqa: E402
from pytensor.tensor.special import Softmax  # noqa: E402

x = pt.dvector("x")


def classes():
    """Returns the classes with rules."""
    found, pending = {}, [Op]
    while pending:
        own = pending.pop()
        pending += own.__subclasses__()
        if own.__module__.startswith("pytensor.") and "sparse" not in own.__module__ and own.__name__ in {*_RULES, *_OF_PYTHON}:
            found[own.__name__] = own
    return found


def rule_of(own, **methods):
    made = type("Mine", (own,), {"__module__": "mine", **methods})
    try:
        # Rules read only the class.
        return Lowering(python=True).find(object.__new__(made))
    except Refused:
        return None


def test_rules_cover_subclasses_without_overrides():
    found = classes()
    assert len(found) > 150 and "CheckAndRaise" in found
    generic = {_RULES["Composite"], _RULES["CLinkerOp"]}
    for name, own in found.items():
        rule = _RULES.get(name) or _OF_PYTHON[name]
        assert rule_of(own) is rule, name
        for method in ("perform", "impl", "c_code", "rng_fn"):
            assert rule_of(own, **{method: lambda self, *given: None}) in {None, *generic}, (name, method)


class Named(CheckAndRaise):
    """Adds an attribute."""

    def __init__(self, message):
        super().__init__(ValueError, message)
        self.more = 1


class Scaled(Softmax):
    """A softmax under another name."""


class Doubled(ps.Exp):
    """An op whose `perform` differs from its C."""

    nfunc_spec = None

    def impl(self, x):
        return 2 * np.exp(x)


class DoubledInC(Doubled):
    def c_code(self, node, name, inputs, outputs, sub):
        return f"{outputs[0]} = 2 * exp({inputs[0]});"


class Renamed(ps.Exp):
    """An exponential under another name."""


def test_subclasses_compute_inherited_functions():
    outputs = [Named("sum")(x, pt.gt(x.sum(), 0)), Scaled(axis=None)(x), Elemwise(Renamed(ps.upgrade_to_float, name="renamed"))(x)]
    fn = function([x], outputs)
    compare(frozen(fn)(np.arange(1.0, 4)), fn(np.arange(1.0, 4)))


def test_subclass_needs_its_own_c():
    with pytest.raises(precast.errors.FreezeError):
        frozen(function([x], Elemwise(Doubled(ps.upgrade_to_float, name="doubled"))(x)))
    fn = function([x], Elemwise(DoubledInC(ps.upgrade_to_float, name="doubled"))(x))
    compare(frozen(fn, policy="jit")(np.arange(3.0)), fn(np.arange(3.0)))


def test_foreign_class_does_not_match_by_name():
    assert behaves_as(type("Softmax", (Op,), {"__module__": "mine"}), _RULES) is None


class OfValues(ValueError):
    pass


class OfOthers(Exception):
    pass


@pytest.mark.parametrize("policy", ["interpret", "jit"])
@pytest.mark.parametrize(
    "raised, expected",
    [
        (ValueError, precast.errors.CallValueError),
        (OfValues, precast.errors.CallValueError),
        (TypeError, precast.errors.CallTypeError),
        (IndexError, precast.errors.CallIndexError),
        (AssertionError, precast.errors.CallAssertionError),
        (OfOthers, precast.errors.CallRuntimeError),
    ],
)
def test_exceptions_keep_their_type(policy, raised, expected):
    message = 'a "b" \\ 100 % @M@ ä\n'
    ours = frozen(function([x], CheckAndRaise(raised, message)(x * 2, pt.gt(x.sum(), 0), pt.lt(x.sum(), 9))), policy=policy)
    assert ours(np.ones(2)).tolist() == [2, 2]
    for bad in (-np.ones(2), 9 * np.ones(2)):
        with pytest.raises(expected) as error:
            ours(bad)
        assert type(error.value) is expected and 'a "b" \\ 100 % @M@ ä' in str(error.value)
