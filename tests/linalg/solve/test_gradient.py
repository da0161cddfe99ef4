"""Conjugate gradients: the stated residual, many outputs, and what preconditioning buys."""

import pickle

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

from gnomon.core import InputError, NotConvergedError
from gnomon.linalg.solve import ConjugateGradient, LandmarkPreconditioner, PivotedCholeskyPreconditioner
from gnomon.linalg.solve.base import kernel_system
from gnomon.linalg.solve.precondition import columns, inverse
from tests.linalg.solve.points import Counted


@pytest.mark.parametrize("preconditioner", [PivotedCholeskyPreconditioner(10), LandmarkPreconditioner(10)])
@pytest.mark.parametrize("tolerance", [1e-4, 1e-10])
def test_the_true_residual_is_the_stated_one(preconditioner, tolerance):
    kernel = Counted(n=80)
    y = np.concatenate([kernel.targets(2), np.zeros((80, 1))], 1)  # an output without error must not divide by zero
    found = ConjugateGradient(tolerance=tolerance, preconditioner=preconditioner).solve(kernel, y, ridge=0.05)
    A, c = kernel.matrix + 0.05 * np.eye(80), found.coefficients.numpy()
    true = np.linalg.norm(A @ c - y, axis=0)[:2] / np.linalg.norm(y, axis=0)[:2]
    assert_allclose(found.residual, true.max(), rtol=1e-3)
    assert true.max() <= 1.01 * tolerance and np.abs(c[:, 2]).max() == 0
    # |c - A^{-1} y| <= |residual| / smallest eigenvalue
    exact = np.linalg.solve(A, y)
    assert np.linalg.norm(c - exact, axis=0).max() <= 1.01 * tolerance * np.linalg.norm(y, axis=0).max() / 0.05


@pytest.mark.parametrize("preconditioner", [PivotedCholeskyPreconditioner(10), LandmarkPreconditioner(20)])
def test_a_kernel_of_low_rank_with_its_ridge_is_its_own_preconditioner(preconditioner):
    """P = F F^T + ridge is then A itself, and one step arrives."""
    F = torch.randn(40, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    solver = ConjugateGradient(tolerance=1e-6, preconditioner=preconditioner)
    assert solver.solve(F @ F.T, torch.ones(40, dtype=torch.float64), ridge=0.5).iterations == 1


def test_iterations_fall_with_the_rank_of_the_preconditioner():
    kernel = Counted(n=150, d=2)
    counts = [
        ConjugateGradient(preconditioner=PivotedCholeskyPreconditioner(rank))
        .solve(kernel, kernel.targets(), ridge=1e-3)
        .iterations
        for rank in (1, 20, 60)
    ]
    assert counts[0] > 2 * counts[1] > 4 * counts[2] > 0


def test_the_pivoted_factor_is_nearly_as_good_as_the_best_of_its_rank():
    kernel = Counted(n=60, d=2)
    F = PivotedCholeskyPreconditioner(15).factor(kernel_system(kernel, kernel.targets(), 0.0), None).numpy()
    left = np.linalg.eigvalsh(kernel.matrix)[:-15].sum()  # the least trace that rank 15 can leave
    rest = kernel.matrix - F @ F.T
    assert np.linalg.eigvalsh(rest)[0] > -1e-12
    assert left <= np.trace(rest) < 10 * left


def test_a_full_factor_of_a_deficient_kernel_ends_by_itself():
    x = np.random.default_rng(0).normal(size=(20, 3))
    F = PivotedCholeskyPreconditioner(20).factor(kernel_system(x @ x.T, np.ones(20), 0.0), None).numpy()
    assert F.shape == (20, 3)
    assert_allclose(F @ F.T, x @ x.T, atol=1e-13)


def test_the_inverse_is_one():
    F = torch.randn(9, 3, dtype=torch.float64)
    trace = float(F.square().sum()) + 9 * 0.2  # the factor leaves 0.2 on the mean of the diagonal
    P = (F @ F.T).numpy() + (0.5 + 0.2) * np.eye(9)
    r = torch.randn(9, 2, dtype=torch.float64)
    assert_allclose(inverse(F, trace, 0.5)(r), np.linalg.solve(P, r.numpy()), rtol=1e-11)


def test_without_room_the_kernel_is_asked_for_in_strips_and_the_answer_is_the_same():
    kernel = Counted(n=60)
    whole = ConjugateGradient(tolerance=1e-11).solve(kernel, kernel.targets(), ridge=0.1)
    kernel.asked.clear()
    strips = ConjugateGradient(tolerance=1e-11, memory=8 * (8 * 60 * 7)).solve(kernel, kernel.targets(), ridge=0.1)
    assert max(r * c for r, c in kernel.asked) <= 64 * 64 and (7, 60) in kernel.asked
    assert max(r for r, c in kernel.asked if c == 60 and r != c) <= 7
    assert_allclose(strips.coefficients, whole.coefficients, atol=1e-9)


def test_not_arriving_is_an_error_that_carries_what_was_reached():
    kernel = Counted(n=80)
    y = kernel.targets()
    with pytest.raises(NotConvergedError, match=r"after 2 iterations, more than 1e-08 .*Raise the ridge") as caught:
        ConjugateGradient(limit=2, preconditioner=PivotedCholeskyPreconditioner(1)).solve(kernel, y, ridge=1e-3)
    reached = pickle.loads(pickle.dumps(caught.value)).reached
    left = y - (kernel.matrix + 1e-3 * np.eye(80)) @ reached.coefficients.numpy()
    true = (np.linalg.norm(left, axis=0) / np.linalg.norm(y, axis=0)).max()
    assert reached.iterations == 2 and 1e-8 < true < 1
    assert_allclose(reached.residual, true, rtol=1e-9)


def test_a_tolerance_below_rounding_is_refused_and_not_claimed():
    """With condition 1e12, |y - A c| / |y| cannot be made smaller than about eps |A| |c| / |y| ~ 1e-5."""
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(40, 40)))[0]
    A = (Q * np.logspace(0, -12, 40)) @ Q.T
    with pytest.raises(NotConvergedError, match="relative residual") as caught:
        ConjugateGradient(tolerance=1e-14, limit=5000).solve((A + A.T) / 2, Q[:, -1])
    assert 1e-14 < caught.value.reached.residual and caught.value.reached.iterations < 5000


def test_not_positive_definite_is_refused():
    with pytest.raises(InputError, match="a positive"):
        ConjugateGradient(preconditioner=PivotedCholeskyPreconditioner(1)).solve(np.diag([1.0, 0.0, -1.0]), np.ones(3))
    with pytest.raises(InputError, match="p\\^T A p"):
        ConjugateGradient(preconditioner=PivotedCholeskyPreconditioner(1)).solve(
            np.array([[1.0, 2.0], [2.0, 1.0]]), np.array([1.0, -1.0])
        )


def test_the_columns_of_a_factor_take_at_most_a_quarter_of_the_memory():
    """A column of 50 float64 numbers takes 400 bytes; a quarter of 16,000 bytes holds 10 of them."""
    assert [columns(100, 50, memory) for memory in (16_000, 15_999, 1)] == [10, 9, 1]
    assert columns(7, 50, 16_000) == 7 and columns(100, 50, 10**6) == 50


def test_the_default_limit_is_a_thousand_iterations():
    K = torch.diag(torch.logspace(0, -13, 300, dtype=torch.float64))
    solver = ConjugateGradient(tolerance=1e-14, preconditioner=PivotedCholeskyPreconditioner(1))
    with pytest.raises(NotConvergedError, match="after 1000 iterations"):
        solver.solve(K, torch.ones(300, dtype=torch.float64))
