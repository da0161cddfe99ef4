"""Defines the pair of kernels (NNGP, NTK) that one computation returns."""

from dataclasses import dataclass

from torch import Tensor

from gnomon.core.results.record import Record


@dataclass(frozen=True, slots=True)
class Kernels(Record):
    """NNGP and NTK matrices (n1, n2); the error fields are standard errors of Monte Carlo estimates, None if exact.

    >>> import gnomon, torch
    >>> k = gnomon.limit(torch.nn.Linear(2, 1))(torch.eye(2))
    >>> k.ntk, k.ntk_error  # x.x' + 1: a linear map with bias
    (tensor([[2., 1.],
            [1., 2.]], dtype=torch.float64), None)
    """

    nngp: Tensor
    ntk: Tensor | None
    nngp_error: Tensor | None = None
    ntk_error: Tensor | None = None
