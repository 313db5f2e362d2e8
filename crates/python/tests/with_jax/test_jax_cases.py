"""Whole functions of JAX programs, frozen, have the results of JAX."""

import pytest

pytest.importorskip("jax")
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax_cases import CASES, MATRIX, NEAR  # noqa: E402
from jax_frozen import check, frozen, singles  # noqa: E402


@pytest.mark.parametrize("name", CASES)
def test_frozen_functions_match_jax(name):
    fn, args = CASES[name]
    check(fn, *args, near=NEAR.get(name, 1.0))


@pytest.mark.parametrize("name", CASES)
def test_frozen_functions_match_jax_in_single_precision(name):
    fn, args = CASES[name]
    # JAX's functions of single precision are less accurate than precast's.
    check(fn, *singles(args), near=40 * NEAR.get(name, 1.0))


@pytest.mark.parametrize("name", ["mlp_grad", "attention", "cnn_grad", "kalman_scan", "eight_schools", "indexing", "switch", "newton"])
def test_compiled_functions_have_the_bits_of_interpreted_ones(name):
    fn, args = CASES[name]
    args = jax.tree.map(np.asarray, args)
    got, wanted = (jax.tree.leaves(frozen(fn, *args, policy=policy)(*args)) for policy in ("jit", "interpret"))
    for one, other in zip(got, wanted, strict=True):
        assert np.asarray(one).tobytes() == np.asarray(other).tobytes()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_decompositions_restore_the_matrix(dtype):
    """Vectors may have other signs than JAX's."""
    matrix, near = MATRIX.astype(dtype), 1e-5 if dtype == "float32" else 1e-13
    values, vectors = frozen(jnp.linalg.eigh, matrix)(matrix)
    np.testing.assert_allclose(vectors * values @ vectors.T, matrix, rtol=near, atol=near)
    u, values, vh = frozen(lambda x: tuple(jnp.linalg.svd(x[:3], full_matrices=False)), matrix)(matrix)
    np.testing.assert_allclose(u * values @ vh, matrix[:3], rtol=near, atol=near)
    assert values.dtype == dtype


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128", "complex64"])
def test_eigenvectors_and_schur_forms_restore_the_matrix(dtype):
    matrix = (MATRIX + np.triu(MATRIX) * (1j if "complex" in dtype else 1)).astype(dtype)
    near = 1e-5 if dtype in ("float32", "complex64") else 1e-13
    values, vectors = frozen(lambda x: tuple(jnp.linalg.eig(x)), matrix)(matrix)
    wanted = jax.jit(jnp.linalg.eig)(matrix)
    assert values.dtype == wanted[0].dtype and vectors.dtype == wanted[1].dtype
    np.testing.assert_allclose(vectors * values, matrix @ vectors, rtol=near, atol=near * 10)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=0), 1, rtol=near)
    for output in ("real", "complex"):
        form, unitary = frozen(lambda x, output=output: jax.scipy.linalg.schur(x, output), matrix)(matrix)
        wanted = jax.jit(lambda x, output=output: jax.scipy.linalg.schur(x, output))(matrix)
        assert form.dtype == wanted[0].dtype
        np.testing.assert_allclose(unitary @ form @ unitary.conj().T, matrix, rtol=near, atol=near * 10)
