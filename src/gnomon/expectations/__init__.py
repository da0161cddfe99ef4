"""Computes expectations E[f(u)] and E[f(u) g(v)] for Gaussian u, v and elementwise functions such as activations.

Contains: E[f(u)] and E[f(u) g(v)] for one or two Gaussian variables with a certified error, and their gradients.
Does not contain: closed forms of single activations (`gnomon.kernels`).
May import: core.
"""

from gnomon.expectations.differentiable import expectation_of_product
from gnomon.expectations.moments import Moments

__all__ = [
    "Moments",
    "expectation_of_product",
]
