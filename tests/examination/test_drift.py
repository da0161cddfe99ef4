"""What ranking and watching say of kernels, against their definitions."""

import pytest
import torch
from torch import nn

from gnomon.examination import rank, watch

X = torch.randn(12, 3, generator=torch.Generator().manual_seed(0))
Y = X[:, :1]


def test_the_spread_is_the_share_of_the_trace_that_centering_leaves():
    candidate = rank({"line": nn.Linear(3, 1, bias=False)}, (X, Y)).candidates[0]  # its kernel is x . x'
    x = X.double()
    centered = x - x.mean(0)
    assert candidate.spread == pytest.approx(float(centered.square().sum() / x.square().sum()), rel=1e-6)


class Product(nn.Module):
    """a b x: its kernel is (a^2 + b^2) x x'."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Parameter(torch.ones(())), nn.Parameter(torch.ones(()))

    def forward(self, x):
        return self.a * self.b * x


def test_the_drift_is_relative_to_the_first_kernel():
    net = Product()
    watching = watch(net, (X[:, :1], Y))
    assert watching.measure()["kernel drift"] == 0
    net.a.data.fill_(3.0)  # from 2 to 10
    assert watching.measure()["kernel drift"] == pytest.approx(4.0, rel=1e-5)
