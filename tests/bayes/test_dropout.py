"""Dropout as an ensemble: against the mean over all masks."""

from itertools import product

import pytest
import torch
from numpy.testing import assert_allclose
from torch import nn

from gnomon.bayes import dropout_predictive
from gnomon.core import InputError


def test_masks_are_averaged():
    """dropout-as-ensemble: the mean over 2^4 masks, each unit kept with probability 1/2 and doubled."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Dropout(0.5), nn.Linear(4, 1)).double()
    x = torch.randn(3, 2).double()
    h = net[1](net[0](x))
    rows = torch.stack([net[3](h * 2 * torch.tensor(mask).double()) for mask in product((0, 1), repeat=4)]).detach()
    found = dropout_predictive(net, x, draws=2000)
    assert bool(((found.mean - rows.mean(0)).abs() < 4 * found.error).all())
    assert_allclose(found.variance, rows.var(0, correction=0), rtol=0.25)
    assert_allclose(found.plain, net.eval()(x).detach())
    with pytest.raises(InputError, match="no dropout"):
        dropout_predictive(nn.Linear(1, 1), torch.ones(1, 1))


@pytest.mark.parametrize("probabilities", [False, True])
def test_mean_variance_and_error_are_those_of_the_masks_drawn(probabilities):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(2, 5), nn.Dropout(0.3), nn.Linear(5, 3)).double()
    x = torch.randn(4, 2).double()
    found = dropout_predictive(net, x, draws=6, seed=9, probabilities=probabilities)
    torch.manual_seed(9)
    net.train()
    rows = torch.stack([net(x).softmax(1) if probabilities else net(x) for _ in range(6)]).detach()
    assert_allclose(found.mean, rows.mean(0), rtol=1e-9)
    assert_allclose(found.variance, rows.var(0), rtol=1e-9)
    assert_allclose(found.error, rows.std(0) / 6**0.5, rtol=1e-9)
    spread, apart = float(rows.var(0).mean().sqrt()), float((found.plain - rows.mean(0)).abs().mean())
    assert f"vary by {spread:.3g}" in found.verdict and f"by {apart:.3g}." in found.verdict


def test_equal_passes_have_no_variance_whatever_rounding_does():
    """Dropout with rate 1 leaves nothing: every pass gives the bias, and three times its mean square may round up."""
    net = nn.Sequential(nn.Dropout(1.0), nn.Linear(6, 50)).double()
    x = torch.randn(40, 6, generator=torch.Generator().manual_seed(0)).double()
    found = dropout_predictive(net, x, draws=3)
    assert float(found.variance.min()) >= 0.0 and float(found.variance.max()) < 1e-12
