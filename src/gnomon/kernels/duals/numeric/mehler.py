"""Mehler's series: a Gaussian expectation of two variables from Hermite coefficients of each function alone.

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
from math import sqrt

import torch
from jaxtyping import Float, Int
from torch import Tensor

from gnomon.kernels.duals.numeric.line import Line, Sampler, half_density

LEVELS = (32, 128, 512, 2048)
"""Numbers of terms that are tried."""

PANEL = 0.5  # he_k turns sqrt(k) per unit: 2048 terms by 23 per panel of 20 nodes
BLOCK = 16  # terms of (2) summed at once
PRODUCTS = 2**18  # of coefficients, held at once: about what a core's cache takes
ROUNDING = 1e-15  # of E[f^2], the least tail that (4) can show


@dataclass(frozen=True, slots=True)
class Coefficients:
    """alpha_k for n variances, E[f^2], and the tails after all and after half of the coefficients."""

    alpha: Float[Tensor, "n terms"]
    second: Float[Tensor, " n"]
    tail: Float[Tensor, " n"]
    earlier: Float[Tensor, " n"]


def coefficients(sampler: Sampler, root: Float[Tensor, " n"], terms: int) -> Coefficients:
    """The first Hermite coefficients for standard deviations ``root``, and what they leave; equations (1) and (4).

    Cost: see the module.

    >>> found = coefficients(Sampler(torch.square, torch.device("cpu")), torch.ones(1, dtype=torch.float64), 32)
    >>> [round(abs(x), 6) for x in found.alpha[0, :4].tolist()]    # x^2 = 1 + sqrt(2) he_2
    [1.0, 0.0, 1.414214, 0.0]
    """
    alpha = root.new_empty(len(root), terms)
    second = torch.empty_like(root)
    tables: dict[int, Tensor] = {}
    for part in sampler.samples(root, PANEL):
        rule = part.line
        if part.radius not in tables:
            tables[part.radius] = _hermite(rule.z, terms)
        alpha[part.rows] = (rule.weight * part.grid) @ tables[part.radius] + _moved(rule, part.moved, terms)
        second[part.rows] = part.second
    left = second[:, None] - alpha.square().cumsum(1)[:, [terms // 2 - 1, terms - 1]]  # (4)
    left = torch.maximum(left, ROUNDING * second[:, None])
    return Coefficients(alpha, second, left[:, 1], left[:, 0])


def series(
    f: Coefficients, g: Coefficients, i: Int[Tensor, " p"], j: Int[Tensor, " p"], rho: Float[Tensor, " p"]
) -> Float[Tensor, " p"]:
    """The sum (2) for pairs of variances i and j.

    Cost: two multiplications per term and pair.

    >>> square = coefficients(Sampler(torch.square, torch.device("cpu")), torch.ones(1, dtype=torch.float64), 32)
    >>> zero = torch.zeros(1, dtype=torch.int64)
    >>> series(square, square, zero, zero, torch.full((1,), 0.5, dtype=torch.float64))      # 1 + 2 / 4
    tensor([1.5000], dtype=torch.float64)
    """
    result = torch.empty_like(rho)
    terms = f.alpha.shape[1]
    for part in torch.arange(len(rho), device=rho.device).split(PRODUCTS // terms):
        r = rho[part]
        powers = torch.cat([torch.ones_like(r)[:, None], r[:, None].expand(-1, BLOCK - 1).cumprod(1)], 1)
        product = f.alpha[i[part]] * g.alpha[j[part]]
        blocks = (product.view(len(part), terms // BLOCK, BLOCK) @ powers[:, :, None])[:, :, 0]
        step = powers[:, -1] * r
        total = blocks[:, -1]
        for k in reversed(range(blocks.shape[1] - 1)):
            total = total * step + blocks[:, k]
        result[part] = total
    return result


def _hermite(z: Float[Tensor, " grid"], terms: int) -> Float[Tensor, "grid terms"]:
    """sqrt(N) he_k at the nodes."""
    table = z.new_empty(terms, len(z))
    table[0] = half_density(z)
    table[1] = z * table[0]
    for k in range(1, terms - 1):
        table[k + 1] = z * table[k] / sqrt(k + 1) - table[k - 1] * sqrt(k / (k + 1))
    return table.T


def _moved(rule: Line, values: Tensor, terms: int) -> Float[Tensor, "n terms"] | float:
    """The part of (1) from the nodes that differ from variance to variance."""
    if not values.shape[1]:
        return 0.0
    weighted = rule.moved_weight * values
    before, here = torch.zeros_like(rule.moved), half_density(rule.moved)
    alpha = values.new_empty(terms, len(values))
    for k in range(terms):
        alpha[k] = (weighted * here).sum(1)
        before, here = here, rule.moved * here / sqrt(k + 1) - before * sqrt(k / (k + 1))
    return alpha.T
