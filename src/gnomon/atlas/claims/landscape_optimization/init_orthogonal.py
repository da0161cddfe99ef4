"""A deep linear network of orthogonal matrices has only singular values of one, at any depth.

|Q_L ... Q_1 x| = |x|, so for the product P

    sigma_i(P) = 1 for all i,    condition number 1                                                      (1)

Products of Gaussian matrices spread their singular values exponentially with depth.
Reference: [saxe2014exact], Section 3.
"""

from functools import partial

import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, equals


def predicted(width):
    """Returns 1, the predicted value of each singular value of the matrix product."""
    return [1.0] * width


def singular_values_of_product(fill, width, depth):
    """Returns the singular values of the product of a deep linear network's matrices."""
    p = torch.eye(width, dtype=torch.float64)
    for _ in range(depth):
        p = fill(torch.empty(width, width, dtype=torch.float64)) @ p
    return torch.linalg.svdvals(p)


observed = partial(singular_values_of_product, fill=nn.init.orthogonal_)  # torch's orthogonal_.


def control(width, depth):
    """Returns the singular values if the matrices are Gaussian with variance 1 / width."""
    return singular_values_of_product(lambda w: nn.init.normal_(w, std=width**-0.5), width, depth)


CLAIM = Claim(
    id="init-orthogonal",
    question="Why initialize with orthogonal matrices?",
    equation=r"\sigma_i(Q_L \cdots Q_1) = 1",
    axes=("singular value (sorted)", "singular value of the product"),
    source=Source("theorem", "saxe2014exact", "Section 3"),
    premises=(Premise("every layer's matrix is orthogonal"),),
    parameters={"width": 30, "depth": 50},
    full={"width": 200, "depth": 200},
    judge=equals(rounding=100_000),  # tolerance: a product of `depth` matrices; each entry sums `width` terms
    remark="The singular values are one; the eigenvalues are on the unit circle and need not be +-1.",
)
