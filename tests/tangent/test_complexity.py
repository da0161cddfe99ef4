"""Norms of targets and degrees of freedom on kernels that are known."""

import numpy
import pytest
import torch
from torch import nn

from gnomon.tangent import effective_parameters
from gnomon.tangent.complexity import KernelNorm, kernel_norm


def test_the_norm_is_the_sum_of_squares_over_eigenvalues():
    """y^T K^-1 y with two columns: (1 + 9) / 4 + (4 + 0) / 0.5."""
    kernel, y = torch.diag(torch.tensor([4.0, 0.5])).double(), torch.tensor([[1.0, 3.0], [2.0, 0.0]]).double()
    found = kernel_norm(kernel, y)
    assert found.square == pytest.approx(2.5 + 8) and found.examples == 2 and found.outside == 0
    assert found.bound == pytest.approx((10.5 / 2) ** 0.5)
    generic = torch.randn(4, 4, generator=torch.Generator().manual_seed(1)).double()
    generic, y = generic @ generic.T + 0.1 * torch.eye(4), torch.tensor([1.0, -2.0, 0.5, 3.0]).double()
    assert kernel_norm(generic, y).square == pytest.approx(float(y @ torch.linalg.inv(generic) @ y), rel=1e-9)


@pytest.mark.parametrize(("share", "outside"), [(3.0, 0.0), (1.0, 9 / 10)])
def test_directions_below_rounding_are_outside(share, outside):
    """An eigenvalue counts above eps x n x the largest: here 2 x 2 x 5 roundings; y has 1 of 10 along the large one."""
    smallest = share * torch.finfo(torch.float64).eps * 2 * 5 / 2
    kernel = torch.diag(torch.tensor([5.0, smallest]).double())
    found = kernel_norm(kernel, torch.tensor([1.0, 3.0]).double())
    assert found.outside == pytest.approx(outside)
    assert found.square == pytest.approx(1 / 5 + (0 if outside else 9 / smallest))


def test_a_target_of_zeros_has_norm_zero():
    found = kernel_norm(torch.eye(3), torch.zeros(3))
    assert (found.square, found.outside, found.bound) == (0.0, 0.0, 0.0)
    assert KernelNorm(18.0, 2, 0.0).bound == 3.0


def test_degrees_of_freedom_are_the_trace_of_the_hat_matrix():
    x = torch.diag(torch.tensor([2.0, 3.0, 0.0])).double()
    net = nn.Linear(3, 2, bias=False).double()
    net.weight.requires_grad_(True)
    found = effective_parameters(net, x, ridge=0.5)
    assert found.value == pytest.approx(4 / 4.5 + 9 / 9.5)
    assert found.examples == 3 and found.parameters == 6
    assert numpy.isclose(effective_parameters(net, x, ridge=1e-9).value, 2.0)
