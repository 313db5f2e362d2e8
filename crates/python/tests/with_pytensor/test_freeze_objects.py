"""Values that are not arrays and that `freeze` does not support: constants, state, and results of branches."""

import numpy as np
import precast
import pytest
from frozen import function

pytensor = pytest.importorskip("pytensor")
import precast.pytensor  # noqa: E402
import pytensor.tensor as pt  # noqa: E402
from pytensor.link.c.type import EnumList, Generic  # noqa: E402
from pytensor.tensor.type_other import NoneConst  # noqa: E402
from pytensor.typed_list import TypedListType  # noqa: E402
from pytensor.typed_list import basic as lists  # noqa: E402
from test_freeze_own_ops import Counted, Counts, Somebodys, X, both, v  # noqa: E402

try:
    from pytensor.conditional.op import ifelse
except ImportError:
    from pytensor.ifelse import ifelse


class Named(dict):
    """An object with a name that can be a key."""

    name = "v"
    __hash__ = object.__hash__


@pytest.mark.parametrize("given", [{"a": 1}, Named(a=1)])
def test_non_array_constants_are_rejected(given):
    shared = pytensor.shared(given, name="shared")
    assert isinstance(shared.type, Generic)
    listed = TypedListType(pt.dvector).make_constant([X])
    for made in (Counted()(shared), lists.length(listed), lists.length(lists.reverse(listed))):
        with pytest.raises(precast.FreezeError, match="`: an input is a constant that is not an array\n    hint: make it an input of the function$"):
            precast.pytensor.freeze(function([v], [v, made]), python=True)
    for made in (shared, listed, NoneConst):
        with pytest.raises(precast.FreezeError, match="an output is a constant that is not an array$"):
            precast.pytensor.freeze(function([v], [v, made]), python=True)


@pytest.mark.parametrize("python", [True, False])
def test_shared_state_must_be_arrays_or_generators(python):
    shared = pytensor.shared({"a": 1}, name="shared")
    updated = function([v], Counted()(shared), updates={shared: Counts()(v)})
    for fn, state in ((updated, []), (function([], Counted()(shared)), [shared])):
        with pytest.raises(precast.FreezeError, match="`shared` is a `Generic.*`; .* an array or a NumPy generator\nhint: make it an input and an"):
            precast.pytensor.freeze(fn, python=python, state=state)
    as_input = Generic()("shared")
    ours = precast.pytensor.freeze(function([as_input, v], [Counted()(as_input), Counts()(v)]), python=True).function(policy="jit")
    count, other = ours({"a": 1}, X)
    assert type(other) is dict and (count, other) == (1, {str(each): True for each in X})


def test_branches_reject_non_array_values():
    a, which = TypedListType(pt.dvector)("a"), pt.lscalar("which")
    with pytest.raises(precast.FreezeError, match="a result is not an array"):
        precast.pytensor.freeze(function([a, which], lists.length(ifelse(which, a, lists.reverse(a)))), python=True)


def test_results_are_copies_and_match_their_declaration():
    a = TypedListType(pt.dvector)("a")
    ours = precast.pytensor.freeze(function([a], lists.getitem(a, 0)), python=True).function(policy="jit")
    given = np.ones(3)
    made = ours([given])
    made[:] = 9
    assert given.tolist() == [1.0, 1.0, 1.0]
    with pytest.raises(precast.CallValueError, match=r"returned shape \(2, 2\) for .*declared as `f64"):
        ours([np.ones((2, 2))])
    with pytest.raises(precast.CallRuntimeError):
        ours([None])


def test_damaged_bundle_with_modules_is_reported(tmp_path):
    a, path = TypedListType(pt.dvector)("a"), tmp_path / "own.precast"
    precast.pytensor.freeze(function([a], lists.getitem(a, 0) * 2), path, name="own", python=True, isa="x86-64-v2")
    whole = path.read_bytes()
    found = {}
    for at in range(64, len(whole), len(whole) // 150):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
        try:
            assert precast.Steps.load(precast.load(path), "own")([np.ones(3)]).tolist() == [2, 2, 2]
        except (precast.BundleError, precast.EntryError) as error:
            found.setdefault(type(error), str(error))
            if "header hash mismatch" not in str(error):
                assert str(path) in str(error) and "is damaged" in str(error) and "\nhint: copy or download it again" in str(error)
    # The modules of graphs and the plan, and a module of host `cpython`.
    assert set(found) == {precast.BundleError, precast.MissError}


def test_invalid_bools_are_rejected():
    a = TypedListType(pt.dvector)("a")
    mask = pt.vector("mask", dtype="bool")
    ours = precast.pytensor.freeze(function([a, mask], [lists.length(a), ~mask]), python=True).function(policy="jit")
    assert ours([X], np.array([True, False]))[1].tolist() == [False, True]
    for wrong in (np.array([1, 2], "u1").view(bool), np.array([0, 7, 3, 0], "u1").view(bool)[::-2]):
        with pytest.raises(precast.CallValueError, match="`mask` has bools that are neither 0 nor 1\nhint: pass `x != 0`"):
            ours([X], wrong)


class Chosen(Somebodys):
    """An op whose only param is a C name."""

    __props__ = ("way",)
    params_type = EnumList("ALPHA", "BETA")

    def __init__(self, way):
        self.way = way

    def get_params(self, node):
        return self.way

    def perform(self, node, inputs, outputs, params=None):
        outputs[0][0] = inputs[0] * (2 if self.way else 1)

    def body(self, sub):
        return f"value * ({sub['params']} == ALPHA ? 1 : 2)"


@pytest.mark.parametrize("way", [0, 1])
def test_names_that_are_the_only_param_are_declared(way):
    both(function([v], Chosen(way)(v) + 0.0), [X])

