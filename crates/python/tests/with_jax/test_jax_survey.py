"""The primitives of JAX that `freeze` supports. The page lists them for the newest tested version."""

import functools
import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

pytest.importorskip("jax")
import jax  # noqa: E402
import precast.jax  # noqa: E402
from precast.jax._lower import reasons  # noqa: E402
from precast.jax._lower.lowering import rules  # noqa: E402

PAGE = Path(__file__).parents[2] / "JAX.md"
BEGIN, END = "<!-- primitives: tests/with_jax/test_jax_survey.py -->\n", "<!-- end of primitives -->\n"
#: Prints the names of the primitives that JAX defines when its modules are imported. Functions that are traced may add some.
NAMES = """
import gc, importlib, json
for name in (
    "jax.export jax.extend.core.primitives jax.lax.linalg jax.nn jax.numpy jax.random jax.scipy.linalg jax.scipy.special jax.scipy.stats "
    "jax.experimental.checkify jax.custom_derivatives jax.custom_batching"
).split():
    importlib.import_module(name)
from jax.extend.core import Primitive
print(json.dumps(sorted({each.name for each in gc.get_objects() if isinstance(each, Primitive)})))
"""
#: Primitives without a rule and without a reason of their own.
WITHOUT = {"broadcast_to", "ragged_dot_general", "reduce_xor", "select_and_gather_add", "select_and_scatter"}


@functools.cache
def primitives():
    """Returns the names of the primitives of the installed JAX."""
    ended = subprocess.run([sys.executable, "-c", NAMES], capture_output=True, text=True, timeout=120, check=True)
    found = frozenset(json.loads(ended.stdout))
    assert len(found) > 200
    return found


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
