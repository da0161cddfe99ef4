"""Defines names for tensor shapes in type annotations, such as n for the number of examples.

    n, m  points of the first and second set      d  input features       c  channels
    k     outputs                                 p  parameters           s  positions (sites)

A covariance array has leading batch axes, (n,) for points with themselves or (n, m) for pairs, and then its
positions: once for covariances at equal positions ("diagonal"), twice for all pairs of positions ("full").
"""

from jaxtyping import Float
from torch import Tensor

__all__ = ["Covariance", "Points", "Variance"]

Gram = Float[Tensor, "n m"]
"""A kernel matrix between n and m points."""

Square = Float[Tensor, "n n"]
"""A kernel matrix of n points with themselves."""

Points = Float[Tensor, "n *d"]
"""A batch of n inputs of any shape."""

Variance = Float[Tensor, "*#batch"]
"""Variances that broadcast against the covariances of the same points."""

Covariance = Float[Tensor, "*#batch"]
"""Covariances of pairs of points."""
