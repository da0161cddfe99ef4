"""Separating planes, the perceptron's bound and the capacity of features against closed forms."""

import inspect
from itertools import combinations
from math import inf

import numpy as np
import pytest
import torch

from gnomon.core.errors import InputError
from gnomon.decisions.separation import LinearCapacity, linear_capacity, novikoff_bound, separability


def least_mean_slack(x, y):
    """Least mean of max(0, 1 - y (w x + b)) over lines: at the best one, two of its terms have just become zero."""
    lines = [(0.0, 1.0), (0.0, -1.0)]
    lines += [np.linalg.solve([[x[i], 1.0], [x[j], 1.0]], [y[i], y[j]]) for i, j in combinations(range(len(x)), 2)]
    return min(np.maximum(0, 1 - y * (w * x + b)).mean() for w, b in lines)


@pytest.mark.parametrize("scale", [1.0, 40.0, 0.02])
def test_the_least_slack_is_that_of_the_best_line(scale):
    x = scale * np.array([-3.0, -1.5, -1.0, 0.5, 1.0, 2.5, 2.0])
    y = np.array([-1.0, -1.0, 1.0, -1.0, 1.0, 1.0, -1.0])
    found = separability(torch.tensor(x)[:, None], torch.tensor(y > 0).long())
    assert not found.separable and found.slack == pytest.approx(least_mean_slack(x, y), rel=1e-9)
    assert np.maximum(0, 1 - y * (float(found.w[0]) * x + found.b)).mean() == pytest.approx(found.slack, rel=1e-9)


def test_a_plane_that_separates_has_a_margin_of_one_and_its_own_intercept():
    x = torch.tensor([[5.0, 0.0], [6.0, 1.0], [8.0, 0.0], [9.0, 3.0]]).double()
    found = separability(x, torch.tensor([0, 0, 1, 1]))
    sides = torch.tensor([-1.0, -1.0, 1.0, 1.0]).double() * (x @ found.w + found.b)
    assert found.separable and found.slack == pytest.approx(0, abs=1e-12) and bool((sides >= 1 - 1e-9).all())
    (plot,) = found.plots()
    assert plot.marks[0].y == tuple(found.w.tolist()) and plot.marks[0].x == (1.0, 2.0) and plot.x.label == "feature"
    assert found.b < -1


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_largest_margin_is_the_distance_of_the_hull_from_the_origin(sign):
    """Signed points (2, 0), (0, 1), (3, 3): the segment of the first two has distance 2 / sqrt 5; the radius is sqrt 18."""
    x = sign * torch.tensor([[2.0, 0.0], [0.0, -1.0], [-3.0, -3.0]]).double()
    found = novikoff_bound(x, torch.tensor([1, 0, 0]) if sign > 0 else torch.tensor([0, 1, 1]))
    assert (found.radius, found.margin) == pytest.approx((18**0.5, 2 / 5**0.5))
    assert (found.mistakes, found.examples) == (22.0, 3)  # 18 * 5 / 4 = 22.5


def test_a_perceptron_never_stops_without_a_margin():
    found = novikoff_bound(torch.tensor([[1.0, 0.0], [2.0, 0.0]]), torch.tensor([0, 1]))
    assert (found.margin, found.mistakes) == (0.0, inf)


@pytest.mark.parametrize(
    ("shares", "dimension"),
    [
        ((1.0, 0.75, 0.25, 0.0), 2.5),  # one half at 5 points
        ((1.0, 0.5, 0.0, 0.0), 2.0),
        ((0.9, 0.4, 0.2, 0.0), (2 + 0.4 / 0.5 * 2) / 2),
        ((1.0, 0.9, 0.8, 0.6), inf),
        ((1.0, 0.9, 0.8, 0.5), inf),
        ((0.4, 0.3, 0.2, 0.1), 1.0),
    ],
)
def test_the_dimension_is_half_the_points_of_which_half_the_labels_are_separated(shares, dimension):
    assert LinearCapacity((2, 4, 6, 9), shares, 3).dimension == pytest.approx(dimension)


def test_points_are_tried_around_twice_the_rank():
    x = torch.randn(11, 2, generator=torch.Generator().manual_seed(0)).double()
    found = linear_capacity(torch.cat([x, x.sum(1, keepdim=True)], 1), draws=3)
    assert (found.points, found.features) == ((2, 3, 4, 5, 6), 3)  # 0.5 to 3 times the rank 2
    assert found.shares[0] == 1.0  # two points in two dimensions: always
    found = linear_capacity(torch.randn(10, 4, generator=torch.Generator().manual_seed(1)).double(), draws=3)
    assert found.points == (2, 4, 6, 7, 8, 9, 10)
    assert inspect.signature(linear_capacity).parameters["draws"].default == 40


def test_too_few_points_and_more_than_two_classes_are_refused():
    with pytest.raises(InputError):
        linear_capacity(torch.eye(3))
    assert linear_capacity(torch.eye(4), draws=2).features == 4
    with pytest.raises(InputError):
        separability(torch.eye(3), torch.tensor([0, 1, 2]))
