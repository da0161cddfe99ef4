"""Drift over widths and scales against training by hand, and the boundary between regimes."""

import copy
import math

import pytest
import torch
from numpy.testing import assert_allclose
from torch import nn

from gnomon.tangent import ntk, regime_map, scale_sweep
from gnomon.tangent.sweeps.regimes import RegimeMap

X = torch.randn(5, 2, generator=torch.Generator().manual_seed(0)).double()
Y = torch.tensor([1.0, -0.5, 0.3, 2.0, -1.0]).double()


def build(width, seed):
    torch.manual_seed(7 + width)
    return nn.Sequential(nn.Linear(2, width), nn.Tanh(), nn.Linear(width, 1)).double()


def trained(net, alpha, lr, steps):
    """Descent on the mean of (alpha (f - f0) - y)^2 / 2 with steps lr / alpha^2."""
    net, origin = copy.deepcopy(net), net(X).detach()
    for _ in range(steps):
        loss = ((alpha * (net(X) - origin)[:, 0] - Y) ** 2).mean() / 2
        for p, g in zip(net.parameters(), torch.autograd.grad(loss, list(net.parameters())), strict=True):
            p.data.sub_(lr / alpha**2 * g)
    return net


def drift(before, after):
    k0, k1 = ntk(before, X), ntk(after, X)
    return float((k1 - k0).norm() / k0.norm())


def test_the_drift_is_that_of_descent_on_the_scaled_outputs():
    found = regime_map(build, (X, Y), widths=(2, 3, 5), alphas=(0.5, 3.0), lr=0.2, steps=4, level=0.07)
    for width, row in zip((2, 3, 5), found.drift, strict=True):
        net = build(width, 0)
        assert_allclose(row, [drift(net, trained(net, alpha, 0.2, 4)) for alpha in (0.5, 3.0)], rtol=1e-7)
    assert found.level == 0.07 and found.widths == (2, 3, 5) and found.alphas == (0.5, 3.0)


def test_a_sweep_of_scales_measures_score_kernel_and_units():
    net = build(4, 0)
    found = scale_sweep(net, (X, Y), (X[:4], Y[:4]), alphas=(0.5, 3.0), lr=0.2, steps=4)
    for place, alpha in enumerate((0.5, 3.0)):
        end = trained(net, alpha, 0.2, 4)
        f = alpha * (end(X[:4]) - net(X[:4]))[:, 0].detach()
        share = 1 - float((f - Y[:4]).square().mean() / Y[:4].var(correction=0))
        flips = float(((net[0](X) > 0) != (end[0](X) > 0)).double().mean())
        assert found.scores[place] == pytest.approx(share, rel=1e-7)
        assert found.drift[place] == pytest.approx(drift(net, end), rel=1e-7)
        assert found.flips[place] == pytest.approx(flips)
    assert max(found.flips) > 0  # some unit turned


@pytest.mark.parametrize("wrap", [lambda out: (out, 0), lambda out: {"logits": out}])
def test_a_sweep_of_scales_of_models_that_return_tuples_or_dicts(wrap):
    net = build(4, 0)

    class Wrapped(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.net = net

        def forward(self, x):
            return wrap(self.net(x))

    plain, found = (scale_sweep(m, (X, Y), (X, Y), alphas=(0.5, 3.0), lr=0.2, steps=2) for m in (net, Wrapped()))
    assert found.scores == pytest.approx(plain.scores, rel=1e-7) and found.drift == pytest.approx(plain.drift, rel=1e-7)


def test_the_boundary_lies_between_two_scales_on_a_line_of_logarithms():
    """From drift 8 at alpha = 1 to drift 2 at alpha = 9: level 4 is halfway, at alpha = 3; then level 2 is not below."""
    rows = ((10.0, 8.0, 2.0), (4.0, 2.0, 1.0), (1.0, 1.0, 1.0))
    found = RegimeMap((4, 16, 64), (0.5, 1.0, 9.0), rows, 4.0)
    assert_allclose(found.boundary, [3.0, 0.5, math.nan], rtol=1e-12)
    assert found.exponent == pytest.approx(math.log(0.5 / 3) / math.log(4))  # of the two that are known
    assert math.isnan(RegimeMap((4, 16, 64), (1.0, 9.0), ((8.0, 2.0), (1.0, 1.0), (1.0, 1.0)), 4.0).exponent)
    skewed = RegimeMap((4, 16, 64), (1.0, 10.0), ((9.0, 1.0),) * 3, 3.0**0.5)
    assert_allclose(skewed.boundary, 10.0**0.75, rtol=1e-12)
