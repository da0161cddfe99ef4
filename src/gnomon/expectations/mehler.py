"""Computes the Hermite coefficients of f and g that Mehler's series for E[f(u) g(v)] needs.

With he_k the Hermite polynomials orthonormal under N(0, 1), z ~ N(0, 1) and rho = c / sqrt(a b):

    alpha_k(a) = E[f(sqrt(a) z) he_k(z)]                                             (1)
    E[f(u) g(v)] = sum_k alpha_k(a) beta_k(b) rho^k                                  (2)
    | sum over k >= K of (2) | <= |rho|^K sqrt(tail_a tail_b)                        (3)
    tail_a = E[f(u)^2] - sum over k < K of alpha_k(a)^2                              (4)

(3) is the inequality of Cauchy and Schwarz and (4) Parseval's identity: a bound on the error, not an estimate.
Reference: [daniely2016toward], lemma 11.
Cost: 800 K multiplications per variance, 2 K per pair.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import pi, sqrt

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.expectations.arrays import hermite_sums, is_numpy_faster
from gnomon.expectations.line import Sampler, at_zero, grid, half_density

LEVELS = (16, 64, 256, 1024)
"""Numbers of terms to try."""

# Interval width by number of terms. The Hermite polynomial he_k oscillates about sqrt(k) times per unit, at most 16
# times per 20 nodes.
PANELS = {16: 1.0, 64: 1.0, 256: 1.0, 1024: 0.5}
TERMS_PER_BLOCK = 16
"""Number of terms after which the tail is known."""
SECONDS_PER_MOVED_COEFFICIENT = 3e-7
"""Approximate seconds that numpy takes for the nodes around the corners, per coefficient."""
MIN_INTERPOLATED = 128
"""Minimum number of standard deviations within a factor of sqrt(2) that are interpolated."""
INTERPOLATION_NODES = 32
"""Number of standard deviations between which others are interpolated."""
CHECKED_ORDERS = 3
"""Number of last Chebyshev coefficients that must be small."""
INTERPOLATION_TOLERANCE = 1e-13
"""Size relative to sqrt(E[f^2]) below which a Chebyshev coefficient is rounding noise."""
MAX_NUMBERS_HELD = 2**21
"""Maximum number of coefficients of one function that are kept for the next tile: 16 MiB."""
MIN_TAIL = 1e-15
"""Smallest tail, relative to E[f^2], that (4) can resolve."""


@dataclass(frozen=True, slots=True)
class Coefficients:
    """Hermite coefficients of a function for n variances, with truncation errors of the series and E[f^2]."""

    alpha: Float[np.ndarray, "n terms"]
    tail: Float[np.ndarray, "n blocks"]
    second: Float[np.ndarray, " n"]


def coefficients(sampler: Sampler, root: Float[Tensor, " n"], terms: int) -> Coefficients:
    """Returns the first Hermite coefficients of a function for each standard deviation in ``root``, and truncation
    errors.

    See equations (1) and (4) of the module docstring.
    Many standard deviations within a factor of sqrt(2) are interpolated by Chebyshev polynomials in the deviation, of
    which the coefficients are analytic functions, if the polynomials have converged.
    Tiles of one matrix share their points, so the last results are kept and must not be changed.
    Cost: see the module; for many variances, 32 integrals for each such factor and 32 multiplications per coefficient.

    >>> found = coefficients(Sampler(torch.square), torch.ones(1, dtype=torch.float64), 32)
    >>> [round(abs(x), 6) for x in found.alpha[0, :4].tolist()]         # x^2 = 1 + sqrt(2) he_2
    [1.0, 0.0, 1.414214, 0.0]
    """
    known, key = sampler.series, (root.numpy().tobytes(), terms)
    if key not in known:
        made = _integrated_or_interpolated(sampler, root, terms)
        while known and sum(one.alpha.size for one in known.values()) + made.alpha.size > MAX_NUMBERS_HELD:
            del known[next(iter(known))]
        if made.alpha.size <= MAX_NUMBERS_HELD:
            known[key] = made
        return made
    found: Coefficients = known[key]
    return found


def _integrated_or_interpolated(sampler: Sampler, root: Float[Tensor, " n"], terms: int) -> Coefficients:
    """Returns the first Hermite coefficients of a function, by interpolation if there are many deviations."""
    if len(root) < MIN_INTERPOLATED or terms > LEVELS[-2]:
        return _coefficients(sampler, root, terms)
    alpha, second = root.new_empty(len(root), terms), torch.empty_like(root)
    group = (2 * torch.where(root > 0, root, 1).log2()).floor()
    for k in group.unique().tolist():
        rows = ((group == k) & (root > 0)).nonzero()[:, 0]
        found = _interpolate(sampler, int(k), root[rows], terms)
        if found is None:
            made = _coefficients(sampler, root[rows], terms)
            found = torch.from_numpy(made.alpha), torch.from_numpy(made.second)
        alpha[rows], second[rows] = found
    return _with_tails(sampler, root, alpha, second)


def _interpolate(sampler: Sampler, k: int, root: Float[Tensor, " n"], terms: int) -> tuple[Tensor, Tensor] | None:
    """Returns Hermite coefficients of a function for standard deviations within a factor of sqrt(2), by interpolation.

    None if it has not converged, or if integrating directly is less work. Polynomials are remembered by the sampler.
    """
    most = next(level for level in LEVELS[1:] if terms <= level)
    if (k, most) not in sampler.fits:
        if len(root) < MIN_INTERPOLATED:
            return None
        sampler.fits[k, most] = _fit_polynomials(sampler, k, most)
    fitted = sampler.fits[k, most]
    if fitted is None:
        return None
    x = (2 * root - (1 + 2**0.5) * 2 ** (k / 2)) / ((2**0.5 - 1) * 2 ** (k / 2))
    chebyshev = x.new_ones(len(fitted), len(x))
    chebyshev[1] = x
    for order in range(2, len(fitted)):
        torch.mul(x, chebyshev[order - 1], out=chebyshev[order]).mul_(2).sub_(chebyshev[order - 2])
    return chebyshev.T @ fitted[:, :terms], chebyshev.T @ fitted[:, -1]


def _fit_polynomials(sampler: Sampler, k: int, terms: int) -> Tensor | None:
    """Returns polynomials in the standard deviation, by which Hermite coefficients of a function are interpolated."""
    orders = torch.arange(INTERPOLATION_NODES, dtype=torch.float64)
    turns = (orders + 0.5) * (pi / INTERPOLATION_NODES)
    root = 2 ** (k / 2) * ((1 + 2**0.5) + (2**0.5 - 1) * turns.cos()) / 2
    made = _coefficients(sampler, root, terms)
    basis = torch.cos(orders[:, None] * turns) * (2 / INTERPOLATION_NODES)
    basis[0] /= 2
    fitted = basis @ torch.cat([torch.from_numpy(made.alpha), torch.from_numpy(made.second)[:, None]], 1)
    size = torch.cat([fitted[:1, -1:].abs().sqrt().expand(1, terms), fitted[:1, -1:].abs()], 1)
    converged = fitted[-CHECKED_ORDERS:].abs() <= INTERPOLATION_TOLERANCE * size
    return fitted if bool(converged.all()) else None


def _coefficients(sampler: Sampler, root: Float[Tensor, " n"], terms: int) -> Coefficients:
    """Returns Hermite coefficients of a function for each standard deviation by integration."""
    add_sums = _hermite_sums(len(root) * terms)
    alpha, second = root.new_empty(len(root), terms), torch.empty_like(root)
    panel = PANELS.get(terms, 0.5)
    for part in sampler.samples(root, panel):
        rule = part.line
        found = (rule.weight * part.grid) @ _hermite(part.radius, panel, terms)
        if part.moved.shape[1]:
            extra = -part.moved.shape[1] % TERMS_PER_BLOCK
            z, weighted = (torch.nn.functional.pad(t, (0, extra)) for t in (rule.moved, rule.moved_weight * part.moved))
            add_sums(z.contiguous().numpy(), weighted.contiguous().numpy(), found.numpy())
        alpha[part.rows], second[part.rows] = found, part.second
    return _with_tails(sampler, root, alpha, second)


def _with_tails(sampler: Sampler, root: Tensor, alpha: Tensor, second: Tensor) -> Coefficients:
    """Adds truncation errors to Hermite coefficients; at zero variance the only coefficient is f(0)."""
    still = root == 0
    alpha[still], alpha[still, 0] = 0.0, at_zero(sampler)
    second[still] = at_zero(sampler) ** 2
    blocks = len(alpha), alpha.shape[1] // TERMS_PER_BLOCK, TERMS_PER_BLOCK
    energy = alpha.square().view(blocks).sum(2).cumsum(1)
    whole = second[:, None]
    left = torch.cat([whole, whole - energy], 1) / whole.clamp(min=1e-300)  # (4)
    return Coefficients(alpha.numpy(), left.clamp(min=MIN_TAIL).sqrt().numpy(), second.numpy())


def _hermite_sums(coefficients: int) -> Callable[[np.ndarray, np.ndarray, np.ndarray], None]:
    """Returns the function (numpy or compiled loops) that computes Hermite coefficients near a function's kinks and
    jumps.
    """
    if is_numpy_faster(coefficients * SECONDS_PER_MOVED_COEFFICIENT):
        return hermite_sums
    from gnomon.expectations import loops

    compiled: Callable[[np.ndarray, np.ndarray, np.ndarray], None] = loops.hermite_sums
    return compiled


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
