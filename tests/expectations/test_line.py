"""How far a Gaussian integral reaches: to where f^2 times the density is negligible."""

import pytest
import torch

from gnomon.expectations.line import Sampler


@pytest.mark.parametrize(
    ("a", "radius"),
    [(0.0, 10), (0.4, 10), (0.6, 14), (2.2, 14), (2.8, 20), (5.0, 20), (6.0, 28), (9.2, 28), (9.8, 37), (13.0, 37)],
)
def test_an_exponential_is_integrated_to_nine_deviations_beyond_its_center(a, radius):
    """exp(2 a z) times the normal density is the density around 2 a, and 1e-18 of its mass is at 9.1 deviations."""
    assert Sampler(lambda u: torch.exp(a * u)).radius(1.0) == radius
