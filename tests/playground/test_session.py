"""Numbers that the served page shows of a user's network, computed a second time by hand."""

import math

import pytest
import torch
from torch import nn

from gnomon.playground.session import PlaygroundSession, PlaygroundSettings


def linear_session(labels=False):
    """A linear model, whose Jacobian rows are its inputs and a constant."""
    torch.manual_seed(3)
    x = torch.randn(6, 2)
    rows = torch.cat([x, torch.ones(6, 1)], 1).double()
    y = (x[:, 0] > 0).long() if labels else x[:, 0] - x[:, 1]
    return PlaygroundSession(nn.Linear(2, 2 if labels else 1), x, y), rows @ rows.T


@pytest.mark.parametrize("momentum", [0.0, 0.5])
def test_rates_and_the_largest_stable_rate_are_those_of_the_kernel(momentum):
    session, kernel = linear_session()
    setup = session.setup(PlaygroundSettings(rate=0.5, momentum=momentum, steps=5))["setup"]
    rates = torch.linalg.eigvalsh(kernel / 6).flip(0)
    assert setup["rates"] == pytest.approx(rates.clamp_min(0).tolist(), rel=1e-9, abs=1e-12)
    assert min(setup["rates"]) >= 0.0  # three of the six are rounding
    assert setup["largest"] == pytest.approx(2 * (1 + momentum) / float(rates[0]), rel=1e-9)
    assert setup["lr"] == pytest.approx(0.5 * setup["largest"], rel=1e-12)


def test_cross_entropy_allows_twice_the_rate_because_its_curvature_is_one_half():
    session, kernel = linear_session(labels=True)
    setup = session.setup(PlaygroundSettings(steps=5))["setup"]
    assert setup["largest"] == pytest.approx(2 / (0.5 * float(torch.linalg.eigvalsh(kernel / 6)[-1])), rel=1e-9)


def test_adam_starts_at_a_twentieth_of_the_slider():
    session, _ = linear_session()
    assert session.setup(PlaygroundSettings(rate=0.4, optimizer="adam", steps=5))["setup"]["lr"] == pytest.approx(0.02)


def test_drift_is_the_relative_change_of_the_kernel():
    class Product(nn.Module):
        """f(x) = a b x, with the kernel (a^2 + b^2) x x'."""

        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Parameter(torch.tensor(2.0)), nn.Parameter(torch.tensor(1.0))

        def forward(self, x):
            return self.a * self.b * x

    x = torch.tensor([[1.0], [2.0]])
    session = PlaygroundSession(Product(), x, torch.tensor([1.0, 2.0]))
    lr = session.setup(PlaygroundSettings(rate=0.1, steps=1))["setup"]["lr"]
    error, size = 2.0 - 1.0, 5.0  # f - y = (a b - 1) x, and the mean of x^2 is 2.5
    a, b = 2.0 - lr * error * 2.5 * 1.0, 1.0 - lr * error * 2.5 * 2.0
    frame = session.advance()
    session.stop()
    assert frame["step"] == 1
    assert frame["drift"] == pytest.approx(abs(a * a + b * b - size) / size, rel=1e-6)


def test_records_are_the_first_steps_then_evenly_spaced_in_the_logarithm():
    session, _ = linear_session()
    records = session.setup(PlaygroundSettings(steps=1000))["setup"]["records"]
    assert records[:4] == [0, 1, 2, 3] and records[-1] == 1000
    factors = [math.log((b + 1) / (a + 1)) for a, b in zip(records[-20:], records[-19:], strict=False)]
    assert max(factors) - min(factors) < 0.01
