"""The primitives of JAX that `freeze` supports. The page lists them for the newest tested version."""

import gc
import importlib
import os
from collections import defaultdict
from pathlib import Path

import pytest

pytest.importorskip("jax")
import jax  # noqa: E402
import precast.jax  # noqa: E402
from jax.extend.core import Primitive  # noqa: E402
from precast.jax._lower import reasons  # noqa: E402
from precast.jax._lower.lowering import rules  # noqa: E402

PAGE = Path(__file__).parents[2] / "JAX.md"
BEGIN, END = "<!-- primitives: tests/with_jax/test_jax_survey.py -->\n", "<!-- end of primitives -->\n"
#: Modules that define primitives.
MODULES = (
    "jax.export jax.extend.core.primitives jax.lax.linalg jax.nn jax.numpy jax.random jax.scipy.linalg jax.scipy.special jax.scipy.stats "
    "jax.experimental.checkify jax.custom_derivatives jax.custom_batching"
).split()
#: Primitives without a rule and without a reason of their own.
WITHOUT = {"broadcast_to", "igamma_grad_a", "ragged_dot_general", "reduce", "reduce_window", "reduce_xor", "select_and_gather_add", "select_and_scatter"}


def primitives():
    """Returns the names of the primitives of the installed JAX."""
    for name in MODULES:
        importlib.import_module(name)
    found = {each.name for each in gc.get_objects() if isinstance(each, Primitive) and is_of_jax(each)}
    assert len(found) > 200
    return found


def is_of_jax(primitive):
    """Returns whether JAX defines a primitive, and not a package or a test that uses it."""
    module = getattr(primitive.impl, "__module__", "jax") or "jax"
    return module.partition(".")[0] in ("jax", "functools") and not primitive.name.startswith("pallas")


def table():
    rows = defaultdict(set)
    for name in primitives():
        rows["lowered" if name in rules() else f"refused: {reasons.of(name)}"].add(name)
    order = sorted(rows, key=lambda row: (row != "lowered", row))
    head = f"| primitives of JAX {jax.__version__} | |\n|---|---|\n"
    return head + "".join(f"| {row} | {', '.join(f'`{name}`' for name in sorted(rows[row]))} |\n" for row in order)


def test_every_primitive_has_a_rule_or_a_reason():
    without = primitives() - rules() - set(reasons.REASONS)
    assert without <= WITHOUT, f"add a rule, or a reason: {sorted(without - WITHOUT)}"


def test_no_primitive_has_a_rule_and_a_reason():
    assert not rules() & set(reasons.REASONS)
    assert not rules() & WITHOUT


def test_page_lists_primitives():
    if jax.__version__ != precast.jax.TESTED[-1]:
        pytest.skip(f"the page is about JAX {precast.jax.TESTED[-1]}")
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    said, after = rest.split(END)
    if os.environ.get("PRECAST_WRITE_PAGE"):
        PAGE.write_text(before + BEGIN + table() + END + after, encoding="utf-8")
        return
    assert said == table(), "PRECAST_WRITE_PAGE=1 updates the page"
