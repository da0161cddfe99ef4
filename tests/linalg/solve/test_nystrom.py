"""Nystrom: the minimizer on its centers, in tiles that fit, and right where all points are centers."""

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

from gnomon.core import BudgetError, InputError
from gnomon.linalg.solve import NystromSolver
from tests.linalg.solve.points import Counted


def test_the_function_minimizes_its_objective_on_the_centers():
    kernel = Counted(n=120)
    y, ridge = kernel.targets(), 0.2
    found = NystromSolver(15, seed=3).solve(kernel, y, ridge=ridge)
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
    found = NystromSolver(30).solve(kernel, kernel.targets(), ridge=0.1)
    exact = np.linalg.solve(kernel.matrix + 0.1 * np.eye(30), kernel.targets())
    assert found.support.tolist() == list(range(30))
    assert_allclose(found.coefficients, exact, atol=1e-8)


@pytest.mark.parametrize("memory", [30_000, 10_000_000])
def test_tiles_fit_the_memory_and_do_not_change_the_answer(memory):
    kernel = Counted(n=2000)
    found = NystromSolver(20, memory=memory).solve(kernel, kernel.targets(), ridge=0.1)
    assert max(8 * r * c for r, c in kernel.asked) <= memory
    assert max(c for _, c in kernel.asked) == 20 and sum(r for r, _ in kernel.asked) == 2000 + 20
    rows = (memory - 4 * 8 * 20**2) // (4 * 8 * 20)  # four matrices of 20 x 20, the rest is for four tiles
    assert len(kernel.asked) == 1 + -(-2000 // min(rows, 2000))
    whole = NystromSolver(20, memory=10**9).solve(kernel, kernel.targets(), ridge=0.1)
    assert_allclose(found.coefficients, whole.coefficients, rtol=1e-7)


def nested(kernel, y, ridge, count):
    """Fits on the points, and what the centers do not see, for growing sets of centers from one random order."""
    K = kernel.matrix
    order = np.random.default_rng(1).permutation(len(K))
    for m in count:
        Z = order[:m]
        found = NystromSolver(m, centers=tuple(Z.tolist())).solve(kernel, y, ridge=ridge)
        unseen = K - K[:, Z] @ np.linalg.lstsq(K[np.ix_(Z, Z)], K[Z], rcond=None)[0]
        yield K[:, Z] @ found.coefficients.numpy(), found, unseen


def test_the_fit_is_that_of_the_kernel_that_the_centers_see():
    """Oracle: ridge regression with Q = K_nm K_mm^{-1} K_mn in place of K, in n x n matrices."""
    kernel = Counted(n=60)
    y, ridge = kernel.targets(), 0.2
    for fit, _, unseen in nested(kernel, y, ridge, (5, 20)):
        Q = kernel.matrix - unseen
        assert_allclose(fit, Q @ np.linalg.solve(Q + ridge * np.eye(60), y), atol=1e-9)


def test_the_error_is_below_what_the_centers_do_not_see_and_the_objective_falls_with_every_center():
    """Theory, for nested centers.

    With S(K) = K (K + r)^{-1} = 1 - r (K + r)^{-1} and E = K - Q >= 0 the resolvent identity gives
    S(K) - S(Q) = r (Q + r)^{-1} E (K + r)^{-1}, of norm at most |E| / r <= tr E / r. A larger space of functions has a
    smaller minimum of |f - y|^2 + r |f|^2, tr E falls, and with all points as centers nothing is left.
    """
    kernel, n, ridge = Counted(n=80, d=2), 80, 1e-2
    y = kernel.targets(1)
    exact = kernel.matrix @ np.linalg.solve(kernel.matrix + ridge * np.eye(n), y)
    objectives, traces = [], []
    for fit, found, unseen in nested(kernel, y, ridge, (2, 5, 10, 20, 40)):
        Z, c = found.support.numpy(), found.coefficients.numpy()
        error, trace = np.linalg.norm(fit - exact), np.trace(unseen)
        assert error <= np.linalg.norm(unseen, 2) / ridge * np.linalg.norm(y) <= trace / ridge * np.linalg.norm(y)
        objectives.append(((fit - y) ** 2).sum() + ridge * (c.T @ kernel.matrix[np.ix_(Z, Z)] @ c).item())
        traces.append(trace)
    assert all(np.diff(objectives) < 0) and all(np.diff(traces) < 0)
    # the least value that any function of the full space reaches: r y^T (K + r)^{-1} y
    assert objectives[-1] >= ridge * (y.T @ np.linalg.solve(kernel.matrix + ridge * np.eye(n), y)).item()


def test_float32_tiles_answer_a_system_with_a_slightly_larger_ridge():
    """The error of rounding F^T F is a symmetric matrix E of norm at most about eps tr(F^T F), and |dw| <= |E| |w| / r."""
    kernel = Counted(n=2000)
    y, ridge = kernel.targets(), 0.5
    wide, short = (
        NystromSolver(30, dtype=dtype).solve(kernel, y, ridge=ridge) for dtype in (torch.float64, torch.float32)
    )
    Z = wide.support.numpy()
    K_nm, K_mm = kernel.matrix[:, Z], kernel.matrix[np.ix_(Z, Z)]
    L = np.linalg.cholesky(K_mm)
    F = np.linalg.solve(L, K_nm.T)
    eps = np.finfo(np.float32).eps
    # dF is eps cond(L) |F|; it enters F^T F twice and F^T y once
    E = eps * (1 + 2 * np.linalg.cond(L)) * np.trace(F @ F.T)
    w, dw = (L.T @ c.coefficients.numpy() for c in (wide, short))
    scale = np.linalg.norm(w) + np.linalg.norm(y)
    assert 0 < np.linalg.norm(dw - w) <= E / ridge * scale
    with pytest.raises(InputError, match="dtype must be .* but it is torch.float16"):
        NystromSolver(2, dtype=torch.float16)


@pytest.mark.parametrize("form", ["matrix", "function"])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_a_matrix_of_the_caller_is_left_as_found(dtype, form):
    K = torch.from_numpy(Counted(n=50).matrix).to(dtype)
    before = K.clone()
    view = K if form == "matrix" else lambda rows, columns: K[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    NystromSolver(50, dtype=dtype).solve(view, np.ones(50), ridge=0.1)
    assert torch.equal(K, before)


def test_centers_by_number():
    kernel = Counted(n=10)
    assert NystromSolver(2, centers=(7, 1)).solve(kernel, np.ones(10), ridge=1.0).support.tolist() == [7, 1]
    with pytest.raises(InputError, match="centers must be different row numbers from 0 to 9"):
        NystromSolver(2, centers=(7, 7)).solve(kernel, np.ones(10))
    with pytest.raises(InputError, match="m must be a whole number of at least 1, but it is 0"):
        NystromSolver(0)


def test_repeated_points_need_jitter_and_say_so():
    found = NystromSolver(4).solve(torch.ones(4, 4), torch.ones(4), ridge=1.0)
    assert found.jitter > 0
    assert_allclose(found.predict(np.ones((1, 4))), [4 / 5], rtol=1e-9)  # n / (n + ridge)


def test_too_many_centers_for_the_memory_are_refused():
    with pytest.raises(BudgetError, match="Use fewer centers"):
        NystromSolver(20, memory=5000).solve(Counted(), Counted().targets())
