"""Losses and steps of a diffusion model with the same draws, and networks that know the data."""

import numpy as np
import pytest
import torch
from torch import nn

from gnomon.core.errors import InputError
from gnomon.data import gaussian_mixture
from gnomon.generative import Diffusion
from gnomon.generative.diffusion import ExactDenoiser, NoiseSchedule, cosine_schedule, linear_schedule

PLAN = NoiseSchedule(torch.tensor([0.1, 0.3, 0.2, 0.45]).double())


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.factor = nn.Parameter(torch.tensor(0.3))

    def forward(self, x, t):
        return self.factor * x + t.reshape(-1, *[1] * (x.dim() - 1))


@pytest.mark.parametrize("target", ["noise", "data", "velocity"])
def test_losses_are_squared_errors_of_the_target_at_random_steps(target):
    model = Diffusion(Network(), PLAN, shape=(2, 3), target=target).double()
    x = torch.randn(6, 2, 3).double()
    torch.manual_seed(3)
    found = model.losses(x).detach()
    torch.manual_seed(3)
    k = torch.randint(1, 5, (6,))
    noise = torch.randn_like(x)
    a = PLAN.kept[k][:, None, None]
    xk = a**0.5 * x + (1 - a) ** 0.5 * noise
    wanted = {"noise": noise, "data": x, "velocity": a**0.5 * noise - (1 - a) ** 0.5 * x}[target]
    made = 0.3 * xk + (k / 4)[:, None, None]
    np.testing.assert_allclose(found, (wanted - made).square().sum((1, 2)), rtol=1e-6)


@pytest.mark.parametrize(("steps", "eta"), [(None, 1.0), (2, 1.0), (2, 0.4), (3, 0.0), (9, 0.5)])
@pytest.mark.parametrize("target", ["noise", "velocity"])
def test_samples_take_the_steps_of_their_equation(steps, eta, target):
    """From x_k to x_j with variance eta^2 (1 - a_j) / (1 - a_k) (1 - a_k / a_j), the rest along the noise that is seen."""
    model = Diffusion(Network(), PLAN, shape=(2,), target=target).double()
    found = model.sample(3, seed=5, steps=steps, eta=eta)
    generator = torch.Generator().manual_seed(5)
    x = torch.randn(3, 2, generator=generator, dtype=torch.float64).numpy()
    places = {None: [4, 3, 2, 1, 0], 2: [4, 2, 0], 3: [4, 3, 1, 0], 9: [4, 3, 2, 1, 0]}[steps]
    kept = PLAN.kept.numpy()
    for k, j in zip(places, places[1:], strict=False):
        a, b = kept[k], kept[j]
        output = 0.3 * x + k / 4
        if target == "noise":
            e, x0 = output, (x - np.sqrt(1 - a) * output) / np.sqrt(a)
        else:
            x0, e = np.sqrt(a) * x - np.sqrt(1 - a) * output, np.sqrt(1 - a) * x + np.sqrt(a) * output
        variance = eta**2 * (1 - b) / (1 - a) * (1 - a / b)
        x = np.sqrt(b) * x0 + np.sqrt(max(1 - b - variance, 0)) * e
        if variance > 0:
            x = x + np.sqrt(variance) * torch.randn(3, 2, generator=generator, dtype=torch.float64).numpy()
    np.testing.assert_allclose(found, x, rtol=1e-6, atol=1e-9)
    with pytest.raises(InputError, match="eta"):
        model.sample(3, eta=1.1)


def test_the_score_is_minus_the_noise_over_its_deviation():
    model = Diffusion(Network(), PLAN, shape=(2,), target="noise").double()
    x, t = torch.randn(2, 2).double(), torch.tensor([0.5, 1.0]).double()
    a = PLAN.kept[[2, 4]][:, None]
    np.testing.assert_allclose(model.score(x, t).detach(), (-(0.3 * x + t[:, None]) / (1 - a) ** 0.5), rtol=1e-6)
    x0, e = model.predict_example_and_noise(x, t)
    torch.testing.assert_close(a**0.5 * x0 + (1 - a) ** 0.5 * e, x)
    data = Diffusion(Network(), PLAN, shape=(2,), target="data").double()
    x0, e = data.predict_example_and_noise(x, t)
    torch.testing.assert_close(a**0.5 * x0 + (1 - a) ** 0.5 * e, x)
    assert len(Diffusion(Network(), shape=(2,)).schedule) == 100


def test_variances_of_reverse_steps_repeat_the_second_for_the_first():
    posterior, forward = (
        Diffusion(Network(), PLAN, shape=(2,), variance=v).variances for v in ("posterior", "forward")
    )
    kept, betas = PLAN.kept.numpy(), PLAN.betas.numpy()
    b = betas[1:] * (1 - kept[1:4]) / (1 - kept[2:5])
    np.testing.assert_allclose(posterior, [b[0], *b], rtol=1e-12)
    np.testing.assert_allclose(forward, betas)
    one = Diffusion(Network(), NoiseSchedule(torch.tensor([0.4]).double()), shape=(2,)).variances
    assert one.tolist() == pytest.approx([0.4])


@pytest.mark.parametrize("target", ["noise", "data", "velocity"])
def test_an_exact_network_is_the_mean_given_the_noised_example(target):
    """One Gaussian N(m, s^2): noised it is N(sqrt(a) m, a s^2 + 1 - a), and means are regressions on x."""
    p, m, s = gaussian_mixture([[2.0, -1.0]], std=0.5), np.array([2.0, -1.0]), 0.5
    network = ExactDenoiser(p, PLAN, target)
    x, t = torch.randn(3, 2).double(), torch.tensor([0.5, 1.0, 0.5]).double()
    a = PLAN.kept[[2, 4, 2]].numpy()[:, None]
    variance = a * s**2 + 1 - a
    rest = x.numpy() - np.sqrt(a) * m
    data, noise = m + np.sqrt(a) * s**2 / variance * rest, np.sqrt(1 - a) / variance * rest
    wanted = {"data": data, "noise": noise, "velocity": np.sqrt(a) * noise - np.sqrt(1 - a) * data}[target]
    np.testing.assert_allclose(network(x, t), wanted, rtol=1e-9)
    np.testing.assert_allclose(network(x[:1], t[:1]), wanted[:1], rtol=1e-9)
    np.testing.assert_allclose(network.score(x[[0, 2]], t[[0, 2]]), (-rest / variance)[[0, 2]], rtol=1e-9)


def test_schedules_reach_their_limits():
    assert linear_schedule(10).betas[-1] == pytest.approx(0.999) and linear_schedule(10).betas[0] == pytest.approx(0.01)
    assert len(linear_schedule()) == len(cosine_schedule()) == 1000
    np.testing.assert_allclose(PLAN.kept_at([-1.0, 2.0, 0.25]), [1.0, PLAN.kept[4], PLAN.kept[1]], rtol=1e-12)
    np.testing.assert_allclose(PLAN.time_at(PLAN.kept[[0, 1, 4]]), [0.0, 0.25, 1.0], atol=1e-12)
    for bad in ([0.5, 1.0], [0.0, 0.5], []):
        with pytest.raises(InputError, match="between 0 and 1"):
            NoiseSchedule(torch.tensor(bad).double())
