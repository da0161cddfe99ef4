"""The two kernels of one pass, as a record."""

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True, slots=True)
class Kernels:
    """NNGP and NTK, (n1, n2) each; the errors are standard errors of Monte-Carlo estimates, None where exact."""

    nngp: Tensor
    ntk: Tensor | None
    nngp_error: Tensor | None = None
    ntk_error: Tensor | None = None
