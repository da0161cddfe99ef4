import math

import numpy as np
import pytest
import torch

from gnomon.attribution import mutual_information, variational_information
from gnomon.attribution.information import discrete_information
from gnomon.core import InputError


def gaussian(n, rho, d, seed=0):
    draw = torch.Generator().manual_seed(seed)
    a, z = torch.randn(n, d, generator=draw), torch.randn(n, d, generator=draw)
    return a, rho * a + (1 - rho**2) ** 0.5 * z, -d / 2 * math.log(1 - rho**2)


def test_a_trained_critic_bounds_the_information_of_gaussians_from_below():
    a, b, truth = gaussian(1500, 0.8, 1)
    found = variational_information(a, b, steps=120)
    assert found.method == "critic" and found.bound - 3.3 * found.error < truth  # fails by chance in 1 of 2000
    assert found.bound > 0.75 * truth


def test_a_classifier_bounds_the_information_about_classes():
    draw = torch.Generator().manual_seed(0)
    y = torch.randint(3, (1500,), generator=draw)
    a = 4.0 * torch.nn.functional.one_hot(y, 3) + torch.randn(1500, 3, generator=draw)
    found = variational_information(a, y, steps=200)
    assert found.method == "classifier" and 0.85 * math.log(3) < found.bound < math.log(3) + 3.3 * found.error


@pytest.mark.full
@pytest.mark.parametrize("seed", range(10))
def test_the_bound_is_below_the_truth_and_near_it(seed):
    a, b, truth = gaussian(3000, 0.7, 3, seed)
    found = variational_information(a, b, seed=seed)
    assert 0.7 * truth < found.bound < truth + 3.3 * found.error
    assert abs(mutual_information(a, b) - truth) < 0.1 * truth


def test_too_few_pairs_are_refused():
    with pytest.raises(InputError, match="8 and 8 samples"):
        variational_information(torch.rand(8), torch.rand(8))


@pytest.mark.parametrize(
    "table", [np.zeros((0, 3)), np.zeros((2, 2)), -np.ones((2, 2)), np.full((2, 2), np.inf), np.ones(3)]
)
def test_a_table_without_probabilities_is_refused(table):
    with pytest.raises(InputError, match="negative, non-finite or only zero"):
        discrete_information(table)
