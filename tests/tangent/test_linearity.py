"""The linearization beside the network: numbers of a case worked out by hand."""

import pytest
import torch
from numpy.testing import assert_allclose
from torch import nn

from gnomon.tangent import linearization_error, step_linearity


class Square(nn.Module):
    """f = w^2 x, at w = 3: the slope is 6 x, and w = 5 gives 25 x where the tangent gives 21 x."""

    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.tensor(3.0).double())

    def forward(self, x):
        return self.w**2 * x


X = torch.tensor([[1.0], [-2.0]]).double()


def test_the_error_is_relative_to_what_training_changed():
    start, later = Square(), Square()
    later.w.data.fill_(5.0)
    found = linearization_error(start, [later, start], X)
    assert_allclose(found.errors, [4 / 16, 0.0], rtol=1e-12)
    assert_allclose(found.moved, [16 / 9, 0.0], rtol=1e-12)


def test_one_step_by_hand():
    """f = (9, -18), y = 0: the gradient of the mean of f^2 / 2 is 2 w^3 mean x^2 = 54 x 2.5 = 135; w' = 3 - 1.35."""
    net = Square()
    found = step_linearity(net, (X, torch.zeros(2).double()), lr=0.01)
    moved = -0.01 * 135
    assert_allclose(found.predicted, 6 * moved * X, rtol=1e-12)
    assert_allclose(found.observed, ((3 + moved) ** 2 - 9) * X, rtol=1e-12)
    assert found.error == pytest.approx(moved**2 / abs((3 + moved) ** 2 - 9), rel=1e-12)
    assert net.w.item() == 3.0
