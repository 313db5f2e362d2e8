"""The ops of PyTensor and PyMC that `freeze` supports. The page lists them for the newest tested versions."""

import contextlib
import importlib
import inspect
import os
import pkgutil
import re
from collections import defaultdict
from pathlib import Path

import pytest

pytensor = pytest.importorskip("pytensor")
import precast.pytensor  # noqa: E402, F401
from precast.pytensor._lower import reasons  # noqa: E402
from precast.pytensor._lower.classes import behaves_as, has_c  # noqa: E402
from precast.pytensor._lower.lowering import Refused, rules  # noqa: E402
from precast.pytensor._lower.own_c import Loop  # noqa: E402
from pytensor.compile.builders import OpFromGraph  # noqa: E402
from pytensor.graph.op import Op  # noqa: E402
from pytensor.scalar.basic import ScalarOp  # noqa: E402

PAGE = Path(__file__).parents[2] / "PYTENSOR.md"
BEGIN, END = "<!-- ops of {}: tests/with_pytensor/test_survey.py -->\n", "<!-- end of ops -->\n"
#: The versions in the tables of the page.
VERSIONS = {"pytensor": "3.3.8", "pymc": "6.4.0"}
#: Classes that these versions no longer have.
OLD = set(
    "AddSD_ccode AdvancedIncSubtensor1 AdvancedSubtensor1 Angle CGer ComplexFromPolar Deg2Rad GammaL GammaU Ger IndexedElemwise "
    "Rad2Deg StructuredAddSVCSR".split()
)
#: Modules that are listed as a whole if all their ops have the same outcome.
WHOLE = ("pytensor.sparse", "pytensor.tensor.random.basic", "pytensor.typed_list")
#: Outcomes that need `python=True`.
BY_PYTHON = "with `python=True`, computed by NumPy and SciPy"
DRAWS = 'draws with a key with `random="counter"`, or by NumPy and SciPy with `python=True`'
BY_MODULE = "with `python=True`, compiled from its own C as an extension module, if it has C for its types"
#: Modules of other linkers and of the debugger.
OTHERS = ("link", "compile.debug", "breakpoint", "graph", "printing", "xtensor")


def installed(package):
    """Returns the version of a package. Skips the test if it is not installed."""
    return pytest.importorskip(package).__version__


def classes(package):
    """Yields the classes of ops that can occur in graphs."""
    for module in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
        if not any(part in module.name for part in (".link.", "jax", "numba", "mlx", "pytorch", "d3viz", "bin", "misc")):
            with contextlib.suppress(ImportError, DeprecationWarning, FutureWarning):
                importlib.import_module(module.name)
    found, pending = set(), [Op]
    while pending:
        for own in pending.pop().__subclasses__():
            if own not in found:
                found.add(own)
                pending.append(own)
    found = {own for own in found if own.__module__.startswith(f"{package}.")}
    for own in sorted(found, key=lambda own: own.__name__):
        part = own.__module__.removeprefix(f"{package}.")
        is_base = any(issubclass(other, own) for other in found - {own}) and own.__name__ not in rules()
        if not (is_base or inspect.isabstract(own) or own.__name__.startswith("_") or part.startswith(OTHERS)):
            yield own


def has_c_of_numbers(own):
    """Returns whether a scalar op has C for f64."""
    modules = (pytensor.scalar.basic, pytensor.scalar.math)
    made = next((op for module in modules for op in vars(module).values() if type(op) is own), None)
    if made is None:
        return has_c(own)
    try:
        Loop(made, ("float64",) * made.nin, ("float64",))
    except (Refused, TypeError):
        return False
    return True


def outcome(own):
    """Returns the outcome of `freeze` for a class of ops."""
    if behaves_as(own, rules()) and not own.__module__.startswith(("pytensor.sparse", "pytensor.xtensor")):
        return "lowered"
    if behaves_as(own, rules(of="counter")) and behaves_as(own, rules(of="python")):
        return DRAWS
    if behaves_as(own, rules(of="python")):
        return BY_PYTHON
    if issubclass(own, ScalarOp):
        return "compiled from its own C, in a loop" if has_c_of_numbers(own) else "refused: it has no C"
    if behaves_as(own, ("OpFromGraph",)):
        return "expanded to its inner graph"
    if has_c(own):
        # Graphs do not support lists.
        is_of_lists = own.__module__.startswith("pytensor.typed_list")
        return BY_MODULE if is_of_lists else "compiled from its own C, if all inputs and outputs are arrays"
    return f"refused: {reasons.of(own)}"


def part(own):
    """Returns the module of a class without C, if the page may list that module as a whole."""
    return None if has_c(own) else next((name for name in WHOLE if own.__module__.startswith(name)), None)


def table(package):
    rows, modules = defaultdict(set), defaultdict(set)
    for own in classes(package):
        rows[outcome(own)].add(own)
        modules[part(own)].add(own)
    order = sorted(rows, key=lambda row: (row.startswith("refused"), row != "lowered", row))

    def cell(row):
        whole = [name for name in WHOLE if modules[name] and modules[name] <= rows[row]]
        names = {own.__name__ for own in rows[row] if part(own) not in whole}
        return ", ".join([f"all of `{name}` without C" for name in whole] + [f"`{name}`" for name in sorted(names)])

    title = {"pytensor": "PyTensor", "pymc": "PyMC"}[package]
    head = f"| ops of {title} {installed(package)} | |\n|---|---|\n"
    return head + "".join(f"| {row} | {cell(row)} |\n" for row in order)


def rows_of(package):
    """Returns the table of a package on the page, with the texts before and after it."""
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN.format(package))
    rows, after = rest.split(END, 1)
    return before + BEGIN.format(package), rows, END + after


@pytest.mark.parametrize("package", VERSIONS)
def test_every_op_is_lowered_or_has_a_reason(package):
    installed(package)
    without = {own.__name__ for own in classes(package) if outcome(own) == f"refused: {reasons.ELSE}"}
    assert without <= {
        "AllocDiag", "Bartlett", "Choose", "FillDiagonal", "FillDiagonalOffset", "PermuteRowElements", "RavelMultiIndex", "UnravelIndex",
        # Ops of older versions.
        "CGer", "Ger", "BlockwiseWithCoreShape", "OpWithCoreShape", "Tri", "Hermitian",
    }, without


@pytest.mark.parametrize("package", VERSIONS)
def test_every_op_is_named_by_a_row(package):
    installed(package)
    said = rows_of(package)[1]
    named = set(re.findall(r"`(\w+)`", said)) | OLD
    whole = re.findall(r"all of `([\w.]+)`", said)
    without = {own.__name__ for own in classes(package) if own.__name__ not in named and part(own) not in whole}
    assert not without, sorted(without)


@pytest.mark.parametrize("package", VERSIONS)
def test_page_lists_frozen_ops(package):
    if installed(package) != VERSIONS[package]:
        pytest.skip(f"the page is about {package} {VERSIONS[package]}")
    before, said, after = rows_of(package)
    if os.environ.get("PRECAST_WRITE_PAGE"):
        PAGE.write_text(before + table(package) + after, encoding="utf-8")
        return
    assert said == table(package), "PRECAST_WRITE_PAGE=1 updates the page"
