"""Draws and roots of approximate posteriors in closed form."""

import torch
from torch import nn

from gnomon.adapter.losses import PositionCrossEntropy
from gnomon.bayes import gauss_newton
from gnomon.bayes.laplace import Laplace
from gnomon.bayes.posterior import module_posterior


def test_draws_are_normal_numbers_divided_by_the_root_of_the_precision():
    center, eigenvalues = torch.tensor([1.0, -2.0, 0.5]).double(), torch.tensor([8.0, 0.0, 3.0]).double()
    found = Laplace(center, eigenvalues, None, 1.0, 0.0, 10, 0.0).sample(4, seed=3)
    z = torch.randn(4, 3, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    assert torch.allclose(found.values[0], center + z / torch.tensor([3.0, 1.0, 2.0]))


def test_every_position_is_an_observation_of_a_posterior():
    """A mean over 4 x 3 labels, and the posterior of their sum: the root of the Hessian grows by sqrt(12 / 4)."""
    loss, net = PositionCrossEntropy(classes=2, positions=3), nn.Linear(5, 6).double()
    y, x = torch.arange(12).reshape(4, 3) % 2, torch.randn(4, 5, generator=torch.Generator().manual_seed(0)).double()
    posterior = module_posterior(net, (x, y), loss=loss)
    found = gauss_newton._roots(posterior, posterior.start, x, y)
    assert torch.allclose(found, loss.root(net(x).detach(), y) * 3**0.5)
