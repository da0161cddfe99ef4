"""Instruments of the landscape in closed form, and their limits with a case on each side."""

import pytest
import torch
from torch import nn

from gnomon.landscape import gradient_noise
from gnomon.landscape.flat_directions import flat_directions
from gnomon.landscape.jvp import jvp_matches_vjp
from gnomon.landscape.smoothness import polyak_constant


@pytest.mark.parametrize(("square", "rank"), [(5.0, 1), (20.0, 2), (200.0, 2)])
def test_a_direction_counts_above_the_rounding_of_the_root_of_the_number_of_parameters(square, rank):
    """Of 100 parameters: eigenvalues 1 and s^2 of J J^T, of which the smaller one counts above 10 roundings."""
    x = torch.zeros(2, 100, dtype=torch.float64)
    x[0, 0], x[1, 1] = 1.0, (square * torch.finfo(torch.float64).eps) ** 0.5
    found = flat_directions(nn.Linear(100, 1, bias=False).double(), (x, torch.zeros(2, dtype=torch.float64)))
    assert found.rank == rank and found.parameters == 100


class TwoNumbers(nn.Module):
    """f(x) = a x_1 + b x_2, with two parameters of one size."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Parameter(torch.zeros(1).double()), nn.Parameter(torch.zeros(1).double())

    def forward(self, x):
        return self.a * x[:, :1] + self.b * x[:, 1:]


def test_gradients_of_parameters_of_one_size_are_joined_for_each_example():
    """The loss (f - y)^2 / 2 at f = 0 has the gradients -y x: total variance over squared mean, without its bias."""
    g = torch.Generator().manual_seed(0)
    x, y = torch.randn(30, 2, generator=g).double() + 1, torch.randn(30, 1, generator=g).double() + 2
    rows = -y * x
    variance = rows.var(0).sum()
    signal = rows.mean(0).square().sum() - variance / 30
    assert gradient_noise(TwoNumbers(), (x, y)).scale == pytest.approx(float(variance / signal), rel=1e-6)


@pytest.mark.parametrize("place", range(0, 100, 9))
def test_a_single_wrong_entry_of_many_is_noticed(place):
    """With u of entries near 0.1 + 0.1, an error of one tenth of the norm is far above a thousandth of it."""
    w = torch.ones(100, dtype=torch.float64, requires_grad=True)
    v = torch.ones(100, dtype=torch.float64)
    moved = 2 * torch.ones(100, dtype=torch.float64)
    assert jvp_matches_vjp(w**2, [w], [v], moved)
    moved[place] = 22.0
    assert not jvp_matches_vjp(w**2, [w], [v], moved)


def test_a_loss_without_curvature_is_descended_by_steps_of_a_trillion():
    """L = mean (3 - y w): its gradient is -mean y = -2, and 4 / (2 (3 - 0)) is the constant of the first step."""
    net = nn.Linear(1, 1, bias=False).double()
    nn.init.zeros_(net.weight)
    data = torch.ones(4, 1).double(), torch.full((4, 1), 2.0).double()
    found = polyak_constant(net, data, steps=1, loss=lambda f, y: (3 - f * y).mean())
    assert found.value == pytest.approx(2 / 3)
