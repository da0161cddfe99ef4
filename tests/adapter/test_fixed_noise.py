"""Modules that sample: instruments see one fixed draw of noise, the same for all examples."""

import pytest
import torch
from torch import nn

import gnomon
from gnomon.adapter.fixed_noise import FixedNoiseView, with_fixed_noise
from gnomon.bayes import laplace
from gnomon.core.errors import InputError
from gnomon.landscape import sharpness


class Sampler(nn.Module):
    """A variational autoencoder in small: its code is drawn from a normal distribution that it predicts."""

    def __init__(self):
        super().__init__()
        self.mean, self.spread, self.out = nn.Linear(3, 2), nn.Linear(3, 2), nn.Linear(2, 3)

    def forward(self, x):
        spread = self.spread(x).exp()
        return self.out(self.mean(x) + spread * torch.randn_like(spread))


class Dropping(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(3, 3)

    def forward(self, x):
        return self.out(nn.functional.dropout(x + torch.randn_like(x)))


class Outer(nn.Module):
    """A module with a layer of the name ``module``."""

    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, x):
        return self.module(x)


@pytest.fixture
def net():
    torch.manual_seed(1)
    return Sampler().double()


X = torch.randn(4, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))


def by_hand(net, x):
    """The same draw of noise as gnomon's, without gnomon."""
    noise = torch.randn(2, generator=torch.Generator().manual_seed(0)).double()
    return net.out(net.mean(x) + net.spread(x).exp() * noise)


def jacobian(net, x):
    rows = [torch.autograd.grad(f, list(net.parameters()), retain_graph=True) for f in by_hand(net, x).sum(1)]
    return torch.stack([torch.cat([g.flatten() for g in row]) for row in rows])


def test_the_draw_does_not_depend_on_the_batch(net):
    view = with_fixed_noise(net, X)
    assert isinstance(view, FixedNoiseView)
    with torch.no_grad():
        assert torch.allclose(view(X), by_hand(net, X))
        assert torch.allclose(view(X[1:2]), by_hand(net, X)[1:2])


@pytest.mark.parametrize("wrap", [lambda net: net, Outer])
def test_the_kernel_is_that_of_the_draw(net, wrap):
    rows = jacobian(net, X)
    assert torch.allclose(gnomon.ntk(wrap(net), X, outputs="pseudo"), rows @ rows.T)


def test_curvature_posterior_and_prediction_are_those_of_the_draw(net):
    y = torch.randn(4, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    loss = (by_hand(net, X) - y).square().sum(1).mean() / 2
    gradient = torch.cat([g.flatten() for g in torch.autograd.grad(loss, list(net.parameters()), create_graph=True)])
    rows = [
        torch.autograd.grad(g, list(net.parameters()), retain_graph=True, allow_unused=True) for g in gradient
    ]  # fmt: skip
    whole = torch.stack(
        [
            torch.cat(
                [
                    (torch.zeros_like(p) if g is None else g).flatten()
                    for g, p in zip(row, net.parameters(), strict=True)
                ]
            )
            for row in rows
        ]
    )
    assert sharpness(net, (X, y)).value == pytest.approx(float(torch.linalg.eigvalsh(whole)[-1]), rel=1e-6)
    slope = float(gradient.detach().square().sum())
    short = 1e-4 * float(loss.detach()) / slope
    run = gnomon.predict(net, (X, y), times=[0.0, short])
    assert float(run.loss[0] - run.loss[1]) / short == pytest.approx(slope, rel=1e-3)
    noise = torch.randn(2, generator=torch.Generator().manual_seed(0)).double()
    with torch.no_grad():
        features = net.mean(X) + net.spread(X).exp() * noise
    trace = 3 * float(features.square().sum() + 4)
    assert float(laplace(net, (X, y), parameters="out.*", prior_precision=1.0).eigenvalues.sum()) == pytest.approx(
        trace
    )


def test_noise_that_drops_units_is_still_refused():
    net = Dropping()
    assert with_fixed_noise(net, torch.zeros(2, 3)) is net
    with pytest.raises(InputError, match="two passes gave different outputs"):
        gnomon.ntk(net, torch.randn(4, 3))


def test_the_users_random_state_stays(net):
    state = torch.get_rng_state()
    gnomon.ntk(net, X)
    assert torch.equal(torch.get_rng_state(), state)
