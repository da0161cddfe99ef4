"""Certificates and bounds against exact values: binomial intervals, closed forms, uniform draws."""

import pytest
import torch
from numpy.testing import assert_allclose
from scipy import stats
from torch import nn

from gnomon.geometry import lipschitz_bounds
from gnomon.geometry.certificates import output_bounds, smoothed_radius
from gnomon.geometry.regions.ball import _drawn


class Votes(nn.Module):
    """Ignores its inputs: chooses class 1 for the first 100 draws, then for ``count`` more, then class 0."""

    def __init__(self, count):
        super().__init__()
        self.count, self.seen = count, 0

    def forward(self, x):
        number = self.seen + torch.arange(len(x))
        self.seen += len(x)
        return nn.functional.one_hot((number < 100 + self.count).long(), 2).double()


@pytest.mark.parametrize("count", [0, 130, 181, 240, 300])
@pytest.mark.parametrize("confidence", [0.9, 0.999])
def test_smoothed_radius_uses_the_exact_binomial_bound(count, confidence):
    found = smoothed_radius(
        Votes(count), (torch.zeros(1, 2).double(), torch.tensor([1])), sigma=0.3, samples=300, confidence=confidence
    )
    exact = stats.binomtest(count, 300, alternative="greater").proportion_ci(confidence, method="exact").low
    assert_allclose(found.radii[0], 0.3 * stats.norm.ppf(exact) if exact > 0.5 else 0.0, rtol=1e-9)
    assert found.right.tolist() == [True]


def test_a_leaky_relu_has_the_line_between_its_ends():
    class Gap(nn.Module):
        def forward(self, x):
            return nn.functional.leaky_relu(x, 0.25) - x

    x = torch.tensor([[0.5]]).double()  # from -1 to 2: the difference is between 0 and (1 - 0.25) * 1
    found = output_bounds(Gap(), x, 1.5, bounds=(-9, 9))
    assert_allclose([found.low.item(), found.high.item()], [0.0, 0.75], atol=1e-12)


@pytest.mark.parametrize(
    ("pool", "shape", "exact"),
    [
        (nn.MaxPool1d(2, stride=1), (1, 3), 2**0.5),
        (nn.MaxPool1d(3, stride=2), (1, 5), 2**0.5),
        (nn.MaxPool2d(2, stride=1), (1, 3, 3), 2.0),
        (nn.MaxPool2d((2, 3), stride=(2, 1)), (1, 2, 5), 3**0.5),
        (nn.MaxPool2d(2), (1, 4, 4), 1.0),
    ],
)
def test_a_max_pool_stretches_by_the_root_of_its_overlapping_windows(pool, shape, exact):
    """One large entry that wins in every window that sees it moves as many outputs."""
    x = torch.zeros(1, *shape).double()
    x[(0, 0, *(n // 2 for n in shape[1:]))] = 5.0
    found = lipschitz_bounds(nn.Sequential(pool), x + 0.01 * torch.rand(1, *shape).double(), search=2)
    assert_allclose([found.lower, found.product], [exact, exact], rtol=1e-6)


@pytest.mark.parametrize(("norm", "shape"), [("2", (1, 4)), ("2", (1, 2, 3)), ("inf", (1, 3))])
def test_points_of_a_ball_are_drawn_uniformly(norm, shape):
    x = torch.zeros(shape).double()
    flat = _drawn(2000, x, norm, torch.Generator().manual_seed(3)).flatten(1)
    d = flat.shape[1]
    size = flat.abs().amax(1) if norm == "inf" else flat.norm(dim=1)
    assert stats.kstest(size**d, "uniform").pvalue > 1e-3  # the volume within a radius grows as its power d
    assert stats.kstest((flat[:, 0] > 0).double() + torch.rand(2000), "uniform", args=(0, 2)).pvalue > 1e-3
