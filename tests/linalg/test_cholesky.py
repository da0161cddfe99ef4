"""The factor is right, the jitter is said, and the ladder is the documented one."""

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

from gnomon.core import InputError, NotFiniteError
from gnomon.linalg import cholesky
from gnomon.linalg.cholesky import factor_with_least_jitter
from tests.linalg.spectra import planted, smooth_kernel

EPS = {torch.float32: 2.0**-23, torch.float64: 2.0**-52}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_definite_matrix_needs_no_jitter(dtype):
    K = torch.from_numpy(planted([0.5, 1.0, 2.0, 3.0])).to(dtype)
    found = cholesky(K)
    assert found.jitter == found.multiple == 0 and found.tried == 1
    assert found.lower.dtype == dtype
    # the residual of Cholesky is at most (n + 1) eps times |L| |L^T|, whose entries are at most the largest diagonal
    assert_allclose(found.lower @ found.lower.T, K, atol=5 * EPS[dtype] * float(K.max()))
    assert torch.equal(found.lower, found.lower.tril())
    assert_allclose(found.lower.double(), np.linalg.cholesky(K.double().numpy()), atol=20 * EPS[dtype])
    assert str(found) == "Cholesky of a 4 x 4 matrix without jitter."


def test_the_ladder_is_climbed_by_powers_of_ten_from_the_precision():
    K = planted([-3e-8, 1.0, 1.0, 2.0])
    found = cholesky(K)
    mean = np.trace(K) / 4
    assert found.multiple == 1e-7 and found.tried == 1 + 10  # zero, then 1e-16 to 1e-7
    assert_allclose(found.jitter, 1e-7 * mean, rtol=1e-15)
    # (n + 1) eps of the largest diagonal, as above
    assert_allclose(found.lower @ found.lower.T, K + found.jitter * np.eye(4), atol=5 * 2.0**-52 * 2)
    assert "after adding 1e-07 to the diagonal, 1e-07 of its scale; factorizations tried: 11." in str(found)


def test_float32_starts_its_ladder_at_its_own_precision():
    assert cholesky(smooth_kernel(12, np.float32)).multiple >= 1e-7
    assert cholesky(smooth_kernel(12, np.float64)).multiple <= 1e-15


@pytest.mark.parametrize("K, jitter", [(np.zeros((2, 2)), 1e-16), (np.array([[-2.0]]), 20.0)])
def test_matrices_without_a_positive_diagonal(K, jitter):
    assert_allclose(cholesky(K).jitter, jitter, rtol=1e-15)


def test_a_diagonal_that_says_nothing_is_not_the_scale():
    K = np.array([[1e-200, 1.0], [1.0, 1e-200]])  # eigenvalues +1 and -1
    found = cholesky(K)
    assert found.jitter == found.multiple == 10.0 and found.tried < 25


def test_the_ladder_reaches_the_lowest_eigenvalue_a_matrix_of_such_entries_can_have():
    K = -np.ones((200, 200))  # lowest eigenvalue -n max |K|, the bound of Gershgorin
    found = cholesky(K)
    assert found.jitter == 1000.0 and found.tried == 21  # zero, then 1e-16 to 1e3; 1e2 is not enough


def test_a_given_jitter_is_added_exactly_once():
    K = np.eye(3)
    found = cholesky(K, jitter=0.21)
    assert found.jitter == 0.21 and found.tried == 1 and found.multiple == 0.21
    assert_allclose(found.lower.diagonal(), 1.1, rtol=4 * 2.0**-52)


def test_a_given_jitter_that_is_too_small_is_an_error():
    with pytest.raises(
        InputError, match=r"K \+ 0.1 I is not positive definite in torch.float64 .* linalg.diagnose_matrix"
    ):
        cholesky(planted([-0.3, 1.0, 1.0]), jitter=0.1)


@pytest.mark.parametrize("jitter", [-1.0, float("nan"), float("inf")])
def test_a_jitter_that_is_no_amount_is_refused(jitter):
    with pytest.raises(InputError, match=f"jitter must be .*, but it is {jitter}"):
        cholesky(np.eye(2), jitter=jitter)


def test_asymmetry_beyond_rounding_is_refused_and_within_it_is_averaged():
    K = planted([1.0, 2.0, 4.0])
    K[0, 1] += 1e-3
    with pytest.raises(InputError, match=r"differ by .* of the largest entry.* \(K \+ K.T\) / 2"):
        cholesky(K)
    near = planted([1.0, 2.0, 4.0])
    near[0, 1] += 1e-10
    lower = cholesky(near).lower
    assert_allclose(lower @ lower.T, (near + near.T) / 2, atol=4 * 2.0**-52 * 4)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_short_floats_are_factorized_in_float32(dtype):
    found = cholesky(torch.diag(torch.tensor([4.0, 9.0])).to(dtype))
    assert found.lower.dtype == torch.float32 and found.lower.diagonal().tolist() == [2.0, 3.0]


@pytest.mark.parametrize("low", [0.5, -0.1])
def test_the_factor_carries_the_gradient_of_the_log_determinant(low):
    K = torch.from_numpy(planted([low, 1.0, 2.0])).requires_grad_()
    found = cholesky(K)
    (2 * found.lower.diagonal().log().sum()).backward()
    shifted = K.detach() + found.jitter * torch.eye(3, dtype=torch.float64)
    condition = float(torch.linalg.cond(shifted))
    assert_allclose(K.grad, torch.linalg.inv(shifted), atol=50 * 2.0**-52 * condition * float(K.grad.abs().max()))


def test_the_matrix_is_left_as_it_was():
    K = torch.ones(3, 3, dtype=torch.float64)
    assert cholesky(K).jitter > 0
    assert torch.equal(K, torch.ones(3, 3, dtype=torch.float64))


@pytest.mark.parametrize(
    "K, error, words",
    [
        (np.ones((2, 3)), InputError, r"cholesky\(K\): K has shape \(2, 3\)"),
        (np.ones((2, 2, 2)), InputError, "3 axes"),
        (np.full((1, 1), np.nan), NotFiniteError, r"K\[0, 0\] = nan"),
        (
            torch.tensor([[-3e38]]),
            NotFiniteError,
            "the factorization fails even after adding .* Divide K by its largest entry",
        ),
    ],
)
def test_what_is_not_a_matrix_is_refused(K, error, words):
    with pytest.raises(error, match=words):
        cholesky(K)


def test_jitter_grows_as_long_as_ten_times_of_it_is_a_float():
    """-1e306 in all of 20 x 20 entries has the eigenvalue -2e307, which only the next power, 1e308, lifts."""
    assert factor_with_least_jitter(-1e306 * torch.ones(20, 20, dtype=torch.float64)).jitter == 1e308
