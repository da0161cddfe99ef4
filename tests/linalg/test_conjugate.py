"""Conjugate gradients on an operator: against dense solves and residuals written out."""

import pytest
import torch

from gnomon.core.errors import NotConvergedError
from gnomon.linalg.conjugate import solve_operator
from gnomon.linalg.operator import DenseOperator


def system(n=9):
    generator = torch.Generator().manual_seed(2)
    root = torch.randn(n, n, generator=generator, dtype=torch.float64)
    return root @ root.T, torch.randn(n, generator=generator, dtype=torch.float64)


@pytest.mark.parametrize("tolerance", [1e-2, 1e-9])
def test_the_last_residual_is_the_true_one_and_just_below_the_tolerance(tolerance):
    a, b = system()
    found = solve_operator(DenseOperator(a), b, damping=0.7, tolerance=tolerance)
    damped = a + 0.7 * torch.eye(9).double()
    residual = float((damped @ found.x - b).norm() / b.norm())
    assert found.residuals[-1] == pytest.approx(residual, rel=1e-3)
    assert found.residuals[0] == 1.0 and residual <= tolerance < found.residuals[-2]
    assert (found.x - torch.linalg.solve(damped, b)).norm() <= 1.01 * tolerance * b.norm() / 0.7


def test_products_that_do_not_suffice_are_an_error_with_the_solution_in_the_krylov_space():
    """After k products x minimizes x^T A x / 2 - b^T x over the span of b, A b, ..., A^(k-1) b."""
    a, b = system()
    with pytest.raises(NotConvergedError, match="after 3 products") as caught:
        solve_operator(DenseOperator(a), b, tolerance=1e-12, products=3)
    space = torch.stack([b, a @ b, a @ a @ b], 1)
    best = space @ torch.linalg.solve(space.T @ a @ space, space.T @ b)
    assert torch.allclose(caught.value.reached.x, best, rtol=1e-8)
    assert len(caught.value.reached.residuals) == 4


def test_a_direction_without_curvature_is_named_with_its_curvature():
    a = torch.diag(torch.tensor([-3.0, 0.0]))
    with pytest.raises(NotConvergedError, match=r"curvature -0\.6 was found"):  # (-3 * 1 + 0 * 4) / (1 + 4)
        solve_operator(DenseOperator(a), torch.tensor([1.0, 2.0]))
    assert solve_operator(DenseOperator(a), torch.zeros(2)).x.tolist() == [0.0, 0.0]
