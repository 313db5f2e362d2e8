"""JAX's own test cases of its primitives, frozen and compared with `jax.jit`.

A short run takes one case of each primitive. `cargo xtask python --long -k harnesses -s` takes all and prints the counts.
"""

from collections import Counter, defaultdict
from typing import Any

import numpy as np
import pytest
from jax_frozen import compare, frozen

pytest.importorskip("jax")
import jax  # noqa: E402
from precast.errors import FreezeError  # noqa: E402

harnesses = pytest.importorskip("jax._src.internal_test_util.test_harnesses")

#: The primitives of which some or all cases are refused. The list may only shrink.
REFUSED = set(
    "conv_general_dilated eig eigh lu nextafter qr reduce reduce_max reduce_min rng_bit_generator "
    "select_and_gather_add svd triangular_solve tridiagonal_solve".split()
)


def cases() -> dict[str, list[Any]]:
    """Returns the cases that JAX supports on CPUs, by primitive."""
    found = defaultdict(list)
    for harness in harnesses.all_harnesses:
        if harness.filter("cpu"):
            found[harness.group_name].append(harness)
    return found


CASES = cases()


def ordered(leaves: list[np.ndarray]) -> list[np.ndarray]:
    """Returns eigenvalues and the sizes of the elements of their vectors, in one order of the eigenvalues: they have any, and
    vectors any phase."""
    values = min(leaves, key=np.ndim)
    near = np.round(values / np.max(np.abs(values), initial=1e-30), 3)
    order = np.lexsort((near.imag, near.real))
    vectors = [np.take_along_axis(np.abs(each), order[..., None, :], -1) for each in leaves if each is not values]
    return [np.take_along_axis(values, order, -1), *vectors]


def determined(name: str, results: Any) -> Any:
    """Returns what JAX's documents determine of the results of a primitive."""
    if name == "cholesky":
        return jax.tree.map(np.tril, results)
    if name == "svd" and len(leaves := jax.tree.leaves(results)) == 3:
        # Vectors beyond the singular values span a space, and have no other meaning.
        values = min(leaves, key=np.ndim)
        u, vh = (each for each in leaves if each is not values)
        count = values.shape[-1]
        results = values, u[..., :count], vh[..., :count, :]
    if name == "approx_top_k":
        # The positions of equal elements have any order.
        return jax.tree.leaves(results)[0]
    if name == "eig":
        return ordered([np.asarray(each) for each in jax.tree.leaves(results)])
    if name in ("eigh", "svd"):
        # Vectors have any sign.
        leaves = jax.tree.leaves(results)
        most = max(map(np.ndim, leaves))
        return [np.abs(each) if np.ndim(each) == most else each for each in leaves]
    return results


def outcome(harness: Any) -> str:
    """Returns whether a frozen case is equal, or was refused."""
    args = [np.asarray(each) for each in harness.dyn_args_maker(np.random.RandomState(0))]
    wanted = jax.jit(harness.dyn_fun)(*args)
    try:
        function = frozen(harness.dyn_fun, *args)
    except FreezeError:
        return "refused"
    compare(*(determined(harness.group_name, each) for each in (function(*args), wanted)), near=16)
    return "equal"


def is_determined(harness: Any) -> bool:
    """Returns whether JAX's documents determine the result: not the order of NaN, nor that of equal elements in sorts that are not
    stable, nor what a broken promise does."""
    parts = [("top_k_sort_inf_nan", ""), ("sort_multiple_arrays", "isstable_False"), ("out_of_bounds", "PROMISE_IN_BOUNDS")]
    return not any(one in harness.fullname and other in harness.fullname for one, other in parts)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(CASES))
def test_one_case_of_each_primitive_equals_jax(name: str) -> None:
    *_, harness = filter(is_determined, CASES[name])
    assert outcome(harness) in ({"equal", "refused"} if name in REFUSED else {"equal"})


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
def test_all_cases_equal_jax() -> None:
    counts, different = {}, []
    for name in sorted(CASES):
        counts[name] = count = Counter()
        for harness in filter(is_determined, CASES[name]):
            try:
                count[outcome(harness)] += 1
            except AssertionError as error:
                different.append(f"{harness.fullname}: {error}")
        print(f"{name:30} {count['equal']:5} equal {count['refused']:5} refused", flush=True)
    total = sum(counts.values(), Counter())
    print(f"{'all':30} {total['equal']:5} equal {total['refused']:5} refused {len(different):5} different")
    assert not different, "\n".join(different)
    assert {name for name, count in counts.items() if count["refused"]} == REFUSED
