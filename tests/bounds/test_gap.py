"""Gaps, noise and conditioning: against hand computations."""

import numpy as np
import torch
from numpy.testing import assert_allclose
from torch import nn

from gnomon.bounds import generalization_gap, label_noise_fit
from gnomon.checks import gradient_check, input_conditioning


def test_the_gap_and_its_interval_cover_the_truth():
    """expected-vs-empirical-risk: test mean less training mean; about 95 % of intervals hold the true difference."""
    net = nn.Linear(1, 1, bias=False).double()
    nn.init.zeros_(net.weight)
    g, hits = torch.Generator().manual_seed(0), 0
    for _ in range(100):
        a, b = (torch.randn(80, generator=g).double() * s for s in (1.0, 2.0))
        told = generalization_gap(net, (torch.ones(80, 1).double(), a), (torch.ones(80, 1).double(), b))
        hits += 1.5 in told.interval  # (4 - 1) / 2
        assert_allclose(told.gap, float(b.square().mean() - a.square().mean()) / 2, rtol=1e-9)
    assert 86 <= hits <= 100  # binomial with 0.95, and squares of 80 normals
    x, y = torch.randn(40, 2), torch.arange(40) % 2
    classes = generalization_gap(nn.Linear(2, 2), (x, y), (x, y))
    assert classes.error_gap == 0
    assert_allclose(classes.certain, np.sqrt(np.log(2 / 0.05) / (2 * 40)), rtol=1e-12)  # Hoeffding's interval


def test_clean_labels_are_fitted_before_wrong_ones():
    """signal-before-noise: shares fitted among clean and wrong labels, counted at the end."""
    torch.manual_seed(0)
    x = torch.randn(80, 20)
    true = (x[:, 0] > 0).long()
    wrong = torch.zeros(80, dtype=torch.bool)
    wrong[::5] = True
    y = torch.where(wrong, 1 - true, true)
    net = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 2))
    found = label_noise_fit(net, (x, y), clean=~wrong, steps=150, optimizer="adam")
    i = found.steps.index(found.best)
    assert found.clean[i] - found.noise[i] > 0.3 and found.noise[-1] >= found.noise[i]


def test_standardizing_takes_scales_out_of_the_condition_number():
    """data-normalisation-conditioning: kappa of [x, 1], by a dense solve; columns that never change are left out."""
    x = torch.randn(50, 3, generator=torch.Generator().manual_seed(0)).double() * torch.tensor([1.0, 10.0, 100.0]) + 5
    found = input_conditioning(torch.cat([x, torch.ones(50, 1)], 1))
    full = torch.cat([x, torch.ones(50, 1).double()], 1)
    assert_allclose(found.before, float(torch.linalg.cond(full)) ** 2, rtol=1e-6)
    assert found.constant == 1 and found.after < 3 and found.speedup > 1000 and "Standardize" in found.verdict


def test_gradients_that_are_wrong_are_found():
    """backpropagation: g.v against (L(w + h v) - L(w - h v)) / 2h, and a custom backward with a sign mistake."""

    class Bad(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return -2 * g

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(2, 3), nn.Linear(3, 1)

        def forward(self, x):
            return self.b(Bad.apply(self.a(x)))

    x = torch.randn(10, 2)
    found = gradient_check(Net(), (x, x[:, 0]))
    assert (
        found.findings[0].kind == "wrong-gradient"
        and found.errors["b.weight"] < 1e-6 < 1 < found.errors["a.weight"] + 0.5
    )
    good = gradient_check(nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1)), (x, x[:, 0]))
    assert good.worst < 1e-6 and not good.findings
