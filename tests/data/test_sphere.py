"""The sphere: radius exactly, uniformity at a stated confidence."""

import pytest
import torch

from gnomon.core import InputError
from gnomon.data import sphere_points


@pytest.mark.parametrize("n, d", [(1, 1), (5, 1), (7, 3), (2, 1000)])
def test_points_have_radius_root_d(n, d):
    x = sphere_points(n, d, seed=2)
    assert x.shape == (n, d) and x.dtype == torch.float64
    # the norm of d squares and one division: a few roundings each
    assert (x.norm(dim=1) / d**0.5 - 1).abs().max() <= 4 * torch.finfo(torch.float64).eps


def test_moments_are_those_of_the_uniform_law():
    n, d = 40_000, 4
    x = sphere_points(n, d, seed=5)
    # Coordinates have mean 0, variance 1, and E[x_i^2 x_j^2] = d / (d + 2) for i != j: each sample mean lies within
    # five standard errors, 6e-7 two-sided, of its value.
    for sample, value in (
        (x[:, 0], 0.0),
        (x[:, 1].square(), 1.0),
        (x[:, 0] * x[:, 1], 0.0),
        (x[:, 0].square() * x[:, 1].square(), d / (d + 2)),
        (x[:, 2] ** 4, 3 * d / (d + 2)),
    ):
        assert abs(sample.mean() - value) < 5 * sample.std() / n**0.5


def test_a_projection_in_three_dimensions_is_uniform():
    # Archimedes: a coordinate of the 2-sphere is uniform. Kolmogorov-Smirnov at level 1e-6.
    n = 20_000
    u = ((sphere_points(n, 3, seed=6)[:, 0] / 3**0.5 + 1) / 2).sort().values
    grid = torch.arange(n, dtype=torch.float64)
    distance = max((u - grid / n).max(), ((grid + 1) / n - u).max())
    assert distance < (torch.log(torch.tensor(2 / 1e-6)) / (2 * n)) ** 0.5


def test_seeds_and_the_global_generator():
    before = torch.get_rng_state()
    assert torch.equal(sphere_points(3, 4, seed=1), sphere_points(3, 4, seed=1))
    assert not torch.equal(sphere_points(3, 4, seed=1), sphere_points(3, 4, seed=2))
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("n, d", [(0, 3), (3, 0), (-1, 2)])
def test_empty_requests_are_refused(n, d):
    with pytest.raises(InputError, match=r"[nd] must be a whole number of at least 1, but it is (0|-1)\."):
        sphere_points(n, d)
