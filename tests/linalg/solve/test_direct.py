"""Direct against dense solves, densities and really leaving points out."""

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal

from gnomon.core import BudgetError, InputError, NotFiniteError
from gnomon.linalg.solve import DirectSolver, direct
from gnomon.linalg.solve.direct import _skew
from tests.linalg.solve.points import Counted


@pytest.mark.parametrize("form", ["array", "tensor", "tiles"])
def test_the_coefficients_are_those_of_a_dense_solve(form):
    kernel = Counted()
    K, y = kernel.matrix, kernel.targets()
    gram = {"array": K, "tensor": torch.from_numpy(K), "tiles": kernel}[form]
    before = K.copy()
    found = DirectSolver().solve(gram, y, ridge=0.1)
    A = K + 0.1 * np.eye(40)
    assert_allclose(found.coefficients, np.linalg.solve(A, y), atol=1e-11)
    assert found.jitter == 0 and found.residual < 1e-13
    assert np.array_equal(K, before)  # the caller's matrix is left as found
    # LAPACK's estimate is a lower bound of the condition number in the 1-norm, in practice within a factor 3
    exact = np.linalg.cond(A, 1)
    assert exact / 3 < found.condition < 1.001 * exact


def test_log_evidence_is_the_density_of_the_targets():
    kernel = Counted(n=12)
    y, A = kernel.targets(), kernel.matrix + 0.3 * np.eye(12)
    found = DirectSolver().solve(kernel, y, ridge=0.3).scores.log_evidence
    assert_allclose(found, sum(multivariate_normal.logpdf(column, cov=A) for column in y.T), rtol=1e-11)


def test_leave_one_out_residuals_are_those_of_leaving_out():
    kernel = Counted(n=12)
    y, A = kernel.targets(), kernel.matrix + 0.3 * np.eye(12)
    found = DirectSolver(leave_one_out=True).solve(kernel, y, ridge=0.3)
    assert_allclose(found.coefficients, np.linalg.solve(A, y), atol=1e-11)  # (3) does not disturb (1)
    for i in range(12):
        rest = np.delete(np.arange(12), i)
        guess = A[i, rest] @ np.linalg.solve(A[np.ix_(rest, rest)], y[rest])
        assert_allclose(found.scores.leave_one_out[i], y[i] - guess, atol=1e-11)


def test_jitter_is_climbed_to_and_said():
    kernel = Counted(n=30, d=1, width=3.0)  # numerically of low rank
    found = DirectSolver().solve(kernel, np.ones(30))
    assert 0 < found.jitter < 1e-11 and "jitter" in found.verdict
    A = kernel.matrix + found.jitter * np.eye(30)
    assert_allclose(A @ found.coefficients.numpy(), 1.0, atol=1e-6)
    assert_allclose(DirectSolver(jitter=0.5).solve(kernel, np.ones(30)).coefficients,
                    np.linalg.solve(kernel.matrix + 0.5 * np.eye(30), np.ones(30)), atol=1e-11)  # fmt: skip


def test_one_point_and_flat_targets():
    found = DirectSolver(leave_one_out=True).solve(np.array([[2.0]]), np.array([3.0]))
    assert_allclose(found.coefficients, [1.5])
    assert_allclose(found.scores.leave_one_out, [3.0])  # without the point the function is zero


@pytest.mark.parametrize(
    "kernel, y, options, error, message",
    [
        (-np.eye(3), np.ones(3), {}, InputError, "the Cholesky factorization fails even after adding"),
        (np.eye(3), np.ones(2), {}, InputError, "the kernel has 3 points and y has 2"),
        (np.eye(2), np.array([1.0, np.nan]), {}, NotFiniteError, "y holds numbers that are not finite"),
        (
            np.eye(2),
            np.ones(2),
            {"ridge": -1.0},
            InputError,
            "ridge must be a finite number of at least 0, but it is -1.0",
        ),
        (np.array([[1.0, 0.5], [0.0, 1.0]]), np.ones(2), {}, InputError, "a symmetric kernel"),
        (lambda r, c: torch.ones(1, 1), np.ones(2), {}, InputError, "one entry for each pair"),
        (lambda r, c: torch.full((len(r), len(c)), np.nan), np.ones(2), {}, NotFiniteError, "kernel of point 0"),
    ],
)
def test_bad_input_is_a_lesson(kernel, y, options, error, message):
    with pytest.raises(error, match=message):
        DirectSolver().solve(kernel, y, **options)


def test_a_kernel_that_does_not_fit_is_refused_before_it_is_computed():
    kernel = Counted()
    with pytest.raises(BudgetError, match="40 points need 12.5 KiB"):
        DirectSolver(memory=10_000).solve(kernel, kernel.targets())
    assert not kernel.asked


def test_a_tile_of_the_wrong_points_is_refused():
    found = DirectSolver().solve(np.eye(3), np.ones(3))
    with pytest.raises(InputError, match="the solution has 3 support points"):
        found.predict(np.ones((1, 2)))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_a_matrix_that_may_be_overwritten_gives_the_same_numbers(dtype):
    g = torch.Generator().manual_seed(0)
    a = torch.randn(30, 40, generator=g, dtype=torch.float64)
    K, y = (a @ a.T).to(dtype), torch.randn(30, 2, generator=g, dtype=torch.float64)
    K = (K + K.T) / 2
    expected = DirectSolver(leave_one_out=True).solve(K, y, ridge=0.1)
    kept = K.clone()
    assert torch.equal(K, kept)
    found = DirectSolver(leave_one_out=True, overwrite=True).solve(K, y, ridge=0.1)
    assert torch.equal(found.coefficients, expected.coefficients)
    assert torch.equal(found.scores.leave_one_out, expected.scores.leave_one_out)
    assert torch.equal(K, kept) == (dtype == torch.float32)  # only float64 can be the buffer


def test_the_condition_is_that_of_the_matrix_with_its_jitter():
    K = torch.diag(torch.tensor([1.0, 3.0, 5.0], dtype=torch.float64))
    found = DirectSolver(jitter=4.0).solve(K, torch.ones(3, dtype=torch.float64), ridge=1.0)
    assert found.condition == pytest.approx((5 + 5) / (1 + 5))  # exact for diagonal matrices


@pytest.mark.parametrize("size", [5.0, 0.02])
def test_the_jitter_is_a_power_of_ten_of_the_mean_diagonal(size):
    found = DirectSolver().solve(size * torch.ones(50, 50, dtype=torch.float64), torch.ones(50, dtype=torch.float64))
    power = np.log10(found.jitter / size)
    assert found.jitter > 0 and abs(power - round(power)) < 1e-9


@pytest.mark.parametrize("y", [torch.ones(2, dtype=torch.complex64), np.ones(2) * 1j])
def test_complex_targets_are_refused(y):
    with pytest.raises(InputError, match=r"DirectSolver\(\).solve\(kernel, y\): y holds torch.complex.* Pass y.real"):
        DirectSolver().solve(torch.eye(2), y)


def test_the_largest_entry_and_asymmetry_are_found_in_any_tile(monkeypatch):
    monkeypatch.setattr(direct, "CACHE_TILE_BYTES", 9 * 8)  # tiles of 3 x 3
    rng = np.random.default_rng(0)
    for place in ((0, 0), (2, 1), (5, 1), (7, 7), (4, 3)):
        for size in (9.0, -9.0):
            K = rng.normal(size=(8, 8))
            K = K + K.T
            K[place] = K[place[::-1]] = size
            K[6, 2] += 0.125
            skew, largest = _skew(K)
            assert skew == pytest.approx(0.125) and largest == pytest.approx(np.abs(K).max())
            assert _skew(K.T.copy())[0] == pytest.approx(0.125)


@pytest.mark.parametrize(("share", "refused"), [(3e-4, False), (4e-4, True)])
def test_asymmetry_up_to_half_of_the_digits_of_a_float32_is_accepted(share, refused):
    """sqrt(1.19e-7) = 3.45e-4 of the largest entry."""
    K = np.diag([2.0, 3.0, 4.0])
    K[0, 1] = 4 * share
    if refused:
        with pytest.raises(InputError, match="differ by up to"):
            DirectSolver().solve(K, np.ones(3))
    else:
        DirectSolver().solve(K, np.ones(3))
