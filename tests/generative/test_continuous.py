"""Time networks, Runge-Kutta steps and flow matching, written out."""

import numpy as np
import pytest
import torch
from torch import nn

from gnomon.generative import ContinuousFlow, FlowMatching
from gnomon.generative.continuous import TimeConditionedNetwork, integrate_flow


def test_times_enter_a_network_as_themselves_and_as_waves_of_doubling_rates():
    net = TimeConditionedNetwork(2, hidden=5, layers=1, waves=3)
    seen = []
    net.body[0].register_forward_pre_hook(lambda _, args: seen.append(args[0]))
    x, t = torch.tensor([[1.0, -2.0], [0.5, 3.0]]), torch.tensor([0.3, 0.8])
    net(x, t)
    waves = np.pi * np.array([1, 2, 4]) * t.numpy()[:, None]
    expected = np.concatenate([x.numpy(), t.numpy()[:, None], np.sin(waves), np.cos(waves)], 1)
    np.testing.assert_allclose(seen[0].numpy(), expected, atol=1e-5)
    assert [tuple(p.shape) for p in TimeConditionedNetwork(2).body.parameters() if p.dim() == 2] == [
        (64, 11),
        (64, 64),
        (2, 64),
    ]


@pytest.mark.parametrize(("start", "end"), [(0.2, 1.1), (1.0, 0.0)])
def test_points_and_areas_are_those_of_the_classical_method(start, end):
    """dx/dt = t x - x^2 with divergence t - 2 x + 3 t^2, one step at a time by its tableau."""

    def moving(x, t):
        return t * x - x**2, (t - 2 * x + 3 * t**2)[:, 0]

    x0 = torch.tensor([[0.4], [1.3]]).double()
    x, a = integrate_flow(moving, x0, start, end, steps=3)
    h = (end - start) / 3
    u, area = x0.numpy(), np.zeros(2)
    for i in range(3):
        t = start + i * h
        k, slopes = [], []
        for c, weight in ((0.0, 0.0), (0.5, 0.5), (0.5, 0.5), (1.0, 1.0)):
            v, s = moving(u + h * weight * (k[-1] if k else 0), t + c * h)
            k.append(v)
            slopes.append(s)
        u = u + h * (k[0] / 6 + k[1] / 3 + k[2] / 3 + k[3] / 6)
        area = area + h * (slopes[0] / 6 + slopes[1] / 3 + slopes[2] / 3 + slopes[3] / 6)
    np.testing.assert_allclose(x, u, rtol=1e-12)
    np.testing.assert_allclose(a, area, rtol=1e-12)


class Field(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(0.5))

    def forward(self, x, t):
        return self.scale * x + t.reshape(-1, *[1] * (x.dim() - 1))


def test_flow_matching_compares_the_field_with_straight_lines():
    model, x = FlowMatching(Field(), shape=(2, 3)), torch.randn(4, 2, 3)
    torch.manual_seed(5)
    found = model.losses(x).detach()
    torch.manual_seed(5)
    noise, t = torch.randn(4, 2, 3), torch.rand(4)
    s = t[:, None, None]
    middle = (1 - s) * noise + s * x
    expected = (0.5 * middle + s - (x - noise)).square().sum((1, 2))
    torch.testing.assert_close(found, expected)
    assert ContinuousFlow(Field(), shape=(2,)).integration_steps == 20


def test_a_growing_field_spreads_noise_and_thins_its_density():
    """dx/dt = x / 2 + t: x(1) = e^(1/2) x(0) + 4 e^(1/2) - 6."""
    flow = ContinuousFlow(Field(), shape=(2,)).double()
    z = torch.randn(3, 2).double()
    x = np.exp(0.5) * z + 4 * np.exp(0.5) - 6
    torch.testing.assert_close(flow.forward(z).detach(), x, atol=1e-7, rtol=1e-7)
    torch.testing.assert_close(flow.inverse(x).detach(), z, atol=1e-7, rtol=1e-7)
    expected = torch.distributions.Normal(0.0, 1.0).log_prob(z).sum(1) - 2 * 0.5
    torch.testing.assert_close(flow.log_prob(x).detach(), expected, atol=1e-6, rtol=1e-6)
    torch.testing.assert_close(flow.losses(x).detach(), -expected, atol=1e-6, rtol=1e-6)
