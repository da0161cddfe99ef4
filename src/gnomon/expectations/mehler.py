"""Computes the Hermite coefficients that Mehler's series needs for Gaussian expectations E[f(u) g(v)].

With he_k the Hermite polynomials orthonormal under N(0, 1), z ~ N(0, 1) and rho = c / sqrt(a b):

    alpha_k(a) = E[f(sqrt(a) z) he_k(z)]                                             (1)
    E[f(u) g(v)] = sum_k alpha_k(a) beta_k(b) rho^k                                  (2)
    | sum over k >= K of (2) | <= |rho|^K sqrt(tail_a tail_b)                        (3)
    tail_a = E[f(u)^2] - sum over k < K of alpha_k(a)^2                              (4)

(3) is the inequality of Cauchy and Schwarz and (4) Parseval's identity: a bound on the error, not an estimate.
Reference: [daniely2016toward], lemma 11.
Cost: 800 K multiplications per variance, 2 K per pair.
"""

from dataclasses import dataclass
from functools import cache
from math import sqrt

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.expectations.arrays import prefers_arrays
from gnomon.expectations.line import Sampler, at_zero, grid, half_density

LEVELS = (64, 256, 1024)
"""Numbers of terms to try."""

# interval widths by number of terms: he_k oscillates about sqrt(k) times per unit, at most 16 times per 20 nodes
PANELS = {64: 1.0, 256: 1.0, 1024: 0.5}
TERMS_PER_BLOCK = 16
"""Number of terms after which the tail is known."""
MIN_TAIL = 1e-15
"""Smallest tail, relative to E[f^2], that (4) can resolve."""


@dataclass(frozen=True, slots=True)
class Coefficients:
    """Hermite coefficients alpha_k of a function for n variances, the truncation error after each block of terms, and
    E[f^2].
    """

    alpha: Float[np.ndarray, "n terms"]
    tail: Float[np.ndarray, "n blocks"]
    second: Float[np.ndarray, " n"]


def coefficients(sampler: Sampler, root: Float[Tensor, " n"], terms: int) -> Coefficients:
    """Returns the first Hermite coefficients for each standard deviation in ``root``, and truncation errors.

    See equations (1) and (4) of the module docstring.
    Cost: see the module.

    >>> found = coefficients(Sampler(torch.square), torch.ones(1, dtype=torch.float64), 32)
    >>> [round(abs(x), 6) for x in found.alpha[0, :4].tolist()]         # x^2 = 1 + sqrt(2) he_2
    [1.0, 0.0, 1.414214, 0.0]
    """
    if prefers_arrays(len(root)):
        from gnomon.expectations.arrays import hermite_sums
    else:
        from gnomon.expectations.loops import hermite_sums

    alpha = root.new_empty(len(root), terms)
    tail, second = root.new_empty(len(root), terms // TERMS_PER_BLOCK + 1), torch.empty_like(root)
    panel = PANELS.get(terms, 0.5)
    for part in sampler.samples(root, panel):
        rule = part.line
        found = (rule.weight * part.grid) @ _hermite(part.radius, panel, terms)
        if part.moved.shape[1]:
            extra = -part.moved.shape[1] % TERMS_PER_BLOCK
            z, weighted = (torch.nn.functional.pad(t, (0, extra)) for t in (rule.moved, rule.moved_weight * part.moved))
            hermite_sums(z.contiguous().numpy(), weighted.contiguous().numpy(), found.numpy())
        alpha[part.rows], second[part.rows] = found, part.second
        energy = found.square().view(len(found), terms // TERMS_PER_BLOCK, TERMS_PER_BLOCK).sum(2).cumsum(1)
        whole = part.second[:, None]
        left = torch.cat([whole, whole - energy], 1) / whole.clamp(min=1e-300)  # (4)
        tail[part.rows] = left.clamp(min=MIN_TAIL).sqrt()
    still = root == 0
    alpha[still], alpha[still, 0] = 0.0, at_zero(sampler)
    second[still] = at_zero(sampler) ** 2
    return Coefficients(alpha.numpy(), tail.numpy(), second.numpy())


@cache
def _hermite(radius: int, panel: float, terms: int) -> Float[Tensor, "grid terms"]:
    """Returns sqrt(N) he_k at quadrature nodes, for the normal density N and normalized Hermite polynomials he_k."""
    z = grid(radius, panel)[0]
    table = z.new_empty(terms, len(z))
    table[0] = half_density(z)
    table[1] = z * table[0]
    for k in range(1, terms - 1):
        table[k + 1] = z * table[k] / sqrt(k + 1) - table[k - 1] * sqrt(k / (k + 1))
    return table.T
