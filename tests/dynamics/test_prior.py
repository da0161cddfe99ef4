"""Variances that rounding makes negative, and those that are an error."""

import pytest
import torch

from gnomon.core import InputError
from gnomon.dynamics.prior import positive

CALL = "kernel_ensemble(ntk, nngp, y)"
ROOT = torch.finfo(torch.float64).eps ** 0.5


@pytest.mark.parametrize(
    "own", [torch.tensor([4.0, 0.5]), torch.tensor([-4.0, 0.5]), torch.tensor([[4.0, -9.0], [-9.0, 0.5]])]
)
def test_negative_variances_below_rounding_of_the_largest_prior_variance_are_zero(own):
    variance = torch.tensor([0.25, -0.9 * 4 * ROOT]).double()
    assert positive(variance, own.double()).tolist() == [0.25, 0.0]
    with pytest.raises(InputError, match="a variance is -6.56e-08, with a prior of scale 4.00e"):
        positive(torch.tensor([0.25, -1.1 * 4 * ROOT]).double(), own.double())


def test_a_prior_of_zeros_counts_as_one():
    zeros = torch.zeros(2).double()
    assert positive(torch.tensor([0.0, -0.9 * ROOT]).double(), zeros).tolist() == [0.0, 0.0]
    with pytest.raises(InputError):
        positive(torch.tensor([0.0, -1.1 * ROOT]).double(), zeros)
