"""Normalized margins of homogeneous networks against closed forms."""

from math import exp, log

import pytest
import torch
from scipy.optimize import nnls
from torch import nn

from gnomon.core.errors import InputError
from gnomon.decisions.homogeneous import homogeneity_degree, margin_growth, normalized_margin


def linear(*weights):
    net = nn.Linear(len(weights), 1, bias=False).double()
    net.weight.data = torch.tensor([weights]).double()
    return net


class Nearly(nn.Module):
    """w x + part w^2 x: homogeneous of degree one up to the second term."""

    def __init__(self, part):
        super().__init__()
        self.w, self.part = nn.Parameter(torch.ones(1).double()), part

    def forward(self, x):
        return self.w * x + self.part * self.w**2 * x


def test_margins_are_divided_by_the_size_of_the_weights_to_the_degree():
    """relu(2 x) * 3: degree 2, |w|^2 = 13; margins 6, 12 and, with the other sign, -3 on x = 1, 2, 1/2."""
    net = nn.Sequential(nn.Linear(1, 1, bias=False), nn.ReLU(), nn.Linear(1, 1, bias=False)).double()
    net[0].weight.data.fill_(2.0), net[2].weight.data.fill_(3.0)
    x = torch.tensor([[1.0], [2.0], [0.5]]).double()
    found = normalized_margin(net, (x, torch.tensor([1, 1, 0])))
    assert found.degree == 2 and found.margin == pytest.approx(-3 / 13)
    assert found.smooth == pytest.approx(-log(exp(-6) + exp(-12) + exp(3)) / 13)
    assert found.width == pytest.approx(log(3) / 13)
    path = margin_growth([linear(1.0), linear(4.0)], (x, torch.tensor([1, 1, 0])))
    assert path.margins == pytest.approx((-0.5, -0.5)) and path.degree == 1
    assert path.smooth[1] == pytest.approx(-log(exp(-4) + exp(-8) + exp(2)) / 4)


def test_stationarity_is_the_part_of_the_weights_that_examples_near_the_margin_do_not_explain():
    """Margins 1, 1.05 and 1.2 of the smallest: the third is too far away; of w / |w| the other two leave a part."""
    x = torch.tensor([[0.5, 0.0, 0.0], [0.0, 0.525, 0.0], [0.0, 0.0, 0.6]]).double()
    w = torch.tensor([2.0, 2.0, 2.0]).double()
    found = normalized_margin(linear(*w.tolist()), (x, torch.tensor([1, 1, 1])))
    near = (x[:2] / w.norm()).T.numpy()
    assert found.stationarity == pytest.approx(nnls(near, (w / w.norm()).numpy())[1])
    assert found.stationarity == pytest.approx(1 / 3**0.5)


def test_a_network_that_errs_is_compared_with_its_worst_example_alone():
    x = torch.tensor([[-1.0, 0.0], [0.0, 1.0]]).double()
    found = normalized_margin(linear(1.0, 2.0), (x, torch.tensor([1, 1])))
    assert found.margin == pytest.approx(-1 / 5**0.5) and found.stationarity == pytest.approx(1.0)


def test_at_most_64_examples_are_looked_at():
    x = torch.cat([torch.tensor([[1.0, 0.0]]).repeat(64, 1), torch.tensor([[0.0, 1.0]])]).double()
    net, y = linear(1.0, 1.0), torch.ones(65, dtype=torch.long)
    assert normalized_margin(net, (x, y)).stationarity == pytest.approx(0.5**0.5)
    assert normalized_margin(net, (x[1:], y[1:])).stationarity == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(("part", "found"), [(0.0009, 1), (0.0011, None)])
def test_a_network_is_homogeneous_up_to_a_thousandth(part, found):
    assert homogeneity_degree(Nearly(part), torch.tensor([[1.0], [2.0]]).double()) == found


def test_the_degree_is_the_number_of_layers():
    net = nn.Sequential(*[nn.Linear(3, 3, bias=False) for _ in range(4)]).double()
    assert homogeneity_degree(net, torch.eye(3).double()) == 4
    assert homogeneity_degree(nn.LayerNorm(3).double(), torch.eye(3).double()) == 1
    with pytest.raises(InputError):
        margin_growth([], (torch.ones(1, 1), torch.tensor([1])))


def test_a_network_whose_outputs_change_sign_or_vanish_has_no_degree():
    class Wave(nn.Module):
        def __init__(self, w):
            super().__init__()
            self.w = nn.Parameter(torch.tensor(w, dtype=torch.float64))

        def forward(self, x):
            return x * torch.cos(torch.pi * self.w)

    x = torch.ones(3, 1, dtype=torch.float64)
    assert homogeneity_degree(Wave(1.0), x) is None  # cos(pi) = -1, cos(2 pi) = 1
    assert homogeneity_degree(Wave(0.0), x) is None  # constant: degree zero
    zero = nn.Linear(1, 1, bias=False).double()
    nn.init.zeros_(zero.weight)
    assert homogeneity_degree(zero, x) is None
