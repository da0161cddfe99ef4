"""Normalization over channels and positions, and dropout, against their definitions."""

import pytest
import torch
from torch import nn

import gnomon
from gnomon import InitializationLaw


@pytest.mark.parametrize("reference", [False, True])
@pytest.mark.parametrize("pooled", [True, False])
def test_statistics_are_pooled_over_the_normalized_positions(pooled, reference):
    """Convolutions with one tap mix no positions: K[p](x, x') = w^2 <x[:, p], x'[:, p]> / C, and Linear averages over p."""
    w, eps = 1.3, 0.1
    norm = nn.LayerNorm([8, 5], eps=eps) if pooled else nn.LayerNorm(8, eps=eps)
    parts = [norm] if pooled else [Swapped(), norm, Swapped()]
    net = nn.Sequential(nn.Conv1d(3, 8, 1, bias=False), *parts, nn.Flatten(), nn.Linear(40, 1, bias=False))
    x = torch.randn(4, 3, 5, dtype=torch.float64) * torch.tensor([0.1, 0.5, 1.0, 2.0, 5.0])  # far from equal
    k = w**2 * torch.einsum("icp,jcp->ijp", x, x) / 3
    v = k.diagonal().T
    v = v.mean(1, keepdim=True) if pooled else v
    wanted = w**2 * (k / ((v[:, None] + eps) * (v[None] + eps)).sqrt()).mean(2)
    found = gnomon.limit(net, init=InitializationLaw(w, 0.0)).nngp(x.requires_grad_() if reference else x)
    assert torch.allclose(found, wanted.detach(), rtol=1e-12)


class Swapped(nn.Module):
    def forward(self, x):
        return x.transpose(1, 2)


@pytest.mark.parametrize("reference", [False, True])
def test_a_mask_multiplies_the_variance_of_a_point_and_no_covariance(reference):
    """E[m^2] = 1 / keep for masks m in {0, 1 / keep}, and those of two points are independent."""
    net = nn.Sequential(nn.Linear(6, 8, bias=False), nn.Dropout(0.4), nn.Linear(8, 1, bias=False)).train()
    x = torch.randn(3, 6, dtype=torch.float64)
    gram = x @ x.T / 6
    wanted = 1.3**4 * torch.where(torch.eye(3) > 0, gram / 0.6, gram)
    found = gnomon.limit(net, init=InitializationLaw(1.3, 0.0)).nngp(x.requires_grad_() if reference else x)
    assert torch.allclose(found, wanted.detach(), rtol=1e-12)


@pytest.mark.parametrize("reference", [False, True])
def test_a_mask_multiplies_the_tangent_as_it_multiplies_the_covariance(reference):
    """A linear network: both layers' parts of the tangent kernel carry E[m^2] on the diagonal."""
    net = nn.Sequential(nn.Linear(6, 8, bias=False), nn.Dropout(0.4), nn.Linear(8, 1, bias=False))
    x = torch.randn(3, 6, dtype=torch.float64)
    plain = gnomon.limit(net.eval(), init=InitializationLaw(1.3, 0.0)).ntk(x)
    found = gnomon.limit(net.train(), init=InitializationLaw(1.3, 0.0)).ntk(x.requires_grad_() if reference else x)
    assert torch.allclose(found.detach(), torch.where(torch.eye(3) > 0, plain / 0.6, plain), rtol=1e-12)


def test_running_statistics_divide_by_their_root_with_eps():
    norm = nn.BatchNorm1d(8, eps=0.5, affine=False)
    norm.running_var.fill_(2.0)
    net = nn.Sequential(nn.Linear(6, 8, bias=False), norm, nn.Linear(8, 1, bias=False)).eval()
    x = torch.randn(3, 6, dtype=torch.float64)
    assert torch.allclose(
        gnomon.limit(net, init=InitializationLaw(1.3, 0.0)).nngp(x), 1.3**4 * (x @ x.T / 6) / 2.5, rtol=1e-12
    )
