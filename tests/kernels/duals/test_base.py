import torch

from gnomon.kernels.duals.base import determinant


def test_the_determinant_keeps_the_one_beside_large_variances():
    big = torch.tensor(1e9, dtype=torch.float64)
    assert float(determinant(big, big, big)) == 1 + 2e9  # (1 + a)^2 - a^2 would have lost the 1
