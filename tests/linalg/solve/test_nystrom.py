"""Nystrom: the minimizer on its centers, in tiles that fit, and right where all points are centers."""

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

from gnomon.core import BudgetError, InputError
from gnomon.linalg.solve import Nystrom
from tests.linalg.solve.points import Counted


def test_the_function_minimizes_its_objective_on_the_centers():
    kernel = Counted(n=120)
    y, ridge = kernel.targets(), 0.2
    found = Nystrom(15, seed=3).solve(kernel, y, ridge=ridge)
    Z = found.support.numpy()
    assert len(set(Z.tolist())) == 15
    K_nm, K_mm = kernel.matrix[:, Z], kernel.matrix[np.ix_(Z, Z)]
    # least squares of the stacked system: |K_nm c - y|^2 + ridge c^T K_mm c
    root = np.linalg.cholesky(K_mm).T
    exact = np.linalg.lstsq(np.vstack([K_nm, ridge**0.5 * root]), np.vstack([y, np.zeros((15, 2))]), rcond=None)[0]
    assert_allclose(found.coefficients, exact, rtol=1e-8, atol=1e-9)
    tile = kernel.pairs(np.ones((2, 3)), kernel.x[Z])
    assert_allclose(found.predict(tile), tile @ exact, rtol=1e-8)


def test_with_all_points_as_centers_it_is_the_full_solve():
    kernel = Counted(n=30)
    found = Nystrom(30).solve(kernel, kernel.targets(), ridge=0.1)
    exact = np.linalg.solve(kernel.matrix + 0.1 * np.eye(30), kernel.targets())
    assert found.support.tolist() == list(range(30))
    assert_allclose(found.coefficients, exact, atol=1e-8)


@pytest.mark.parametrize("memory", [30_000, 10_000_000])
def test_tiles_fit_the_memory_and_do_not_change_the_answer(memory):
    kernel = Counted(n=2000)
    found = Nystrom(20, memory=memory).solve(kernel, kernel.targets(), ridge=0.1)
    assert max(8 * r * c for r, c in kernel.asked) <= memory
    assert max(c for _, c in kernel.asked) == 20 and sum(r for r, _ in kernel.asked) == 2000 + 20
    assert (len(kernel.asked) > 20) == (memory == 30_000)
    whole = Nystrom(20, memory=10**9).solve(kernel, kernel.targets(), ridge=0.1)
    assert_allclose(found.coefficients, whole.coefficients, rtol=1e-7)


def test_the_error_falls_faster_than_a_power_of_the_centers():
    """The eigenvalues of a Gaussian kernel fall faster than any power: each doubling gains more than the last."""
    kernel = Counted(n=300, d=1)
    y = np.sin(3 * kernel.x[:, 0])
    exact = kernel.matrix @ np.linalg.solve(kernel.matrix + 1e-3 * np.eye(300), y)
    logs = []
    for m in (4, 8, 16, 32):
        runs = [Nystrom(m, seed=seed).solve(kernel, y, ridge=1e-3) for seed in range(8)]
        fits = [kernel.matrix[:, run.support.numpy()] @ run.coefficients.numpy() for run in runs]
        logs.append(np.mean([np.log(np.linalg.norm(fit - exact)) for fit in fits]))
    gains = -np.diff(logs)
    assert 0 < gains[0] < gains[1] < gains[2], gains


def test_centers_by_number():
    kernel = Counted(n=10)
    assert Nystrom(2, centers=(7, 1)).solve(kernel, np.ones(10), ridge=1.0).support.tolist() == [7, 1]
    with pytest.raises(InputError, match="different numbers from 0 to 9"):
        Nystrom(2, centers=(7, 7)).solve(kernel, np.ones(10))
    with pytest.raises(InputError, match="m is 0"):
        Nystrom(0)


def test_repeated_points_need_jitter_and_say_so():
    found = Nystrom(4).solve(torch.ones(4, 4), torch.ones(4), ridge=1.0)
    assert found.jitter > 0
    assert_allclose(found.predict(np.ones((1, 4))), [4 / 5], rtol=1e-9)  # n / (n + ridge)


def test_too_many_centers_for_the_memory_are_refused():
    with pytest.raises(BudgetError, match="Take fewer centers"):
        Nystrom(20, memory=5000).solve(Counted(), Counted().targets())
