"""Samples random rotations and orthogonal matrices from the uniform (Haar) distribution.

    Z = Q R with Gaussian Z and R_ii > 0:   Q is evenly distributed over O(n)                                    (1)

and over SO(n) if one column of each matrix with determinant -1 changes sign. E[(tr Q)^2] = 1 for O(n), n >= 2, and
SO(3).

Hypotheses: none.
Reference: [mezzadri2007generate].

>>> q = random_orthogonal(3, 5, special=True)
>>> torch.allclose(q @ q.mT, torch.eye(3, dtype=q.dtype).expand(5, 3, 3)), bool((torch.linalg.det(q) > 0).all())
(True, True)
"""

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.checks import check_integer, check_seed

__all__ = ["random_orthogonal"]


@add_call_to_errors
def random_orthogonal(n: int, count: int, *, special: bool = False, seed: int = 0) -> Float[Tensor, "m n n"]:
    """Draws orthogonal matrices (count, n, n) uniformly from O(n), or from the rotations SO(n).

    See equation (1) of the module docstring.
    Hypotheses: none.
    Reference: [mezzadri2007generate].
    Cost: a QR decomposition for each.

    >>> random_orthogonal(2, 4, special=True).shape
    torch.Size([4, 2, 2])
    """
    n, count = check_integer("n", n), check_integer("count", count)
    generator = torch.Generator().manual_seed(check_seed(seed))
    q, r = torch.linalg.qr(torch.randn(count, n, n, generator=generator, dtype=torch.float64))
    q = q * r.diagonal(dim1=1, dim2=2).sign()[:, None, :]  # (1)
    if special:
        q = torch.cat([q[:, :, :1] * torch.linalg.det(q).sign()[:, None, None], q[:, :, 1:]], 2)
    return q
