"""Writes the kernel of an activation without a closed form as a power series in the correlation of two points.

With He_k the normalized Hermite polynomials, z ~ N(0, 1) and r = c / sqrt(a b):

    h_k(a) = E[phi(sqrt(a) z) He_k(z)]                                        (1)
    E[phi(u) phi(v)] = sum_k h_k(a) h_k(b) r^k                                (2)
    E[phi'(u) phi'(v)] = sum_k k h_k(a) h_k(b) r^(k-1) / sqrt(a b)            (3)

The series is used only with a certificate: by Parseval, what (2) and (3) leave out is bounded, for all pairs, by

    E[phi(u)^2] - sum_k h_k(a)^2        E[phi'(u)^2] - sum_k k h_k(a)^2 / a   (4)

which must vanish to the accuracy of float64; the left terms come from the dual itself. Functions with kinks have slow
series and no certificate. Hypotheses: positive variances.
Reference: [daniely2016toward], Hermite expansion of the dual.
Cost: three operations per power and entry.
"""

from collections.abc import Callable
from functools import cache

import numpy as np
import torch
from torch import Tensor

from gnomon.kernels.duals.base import AbstractDual

LEVELS = ((256, 128), (271, 256))  # pairs (nodes, powers) to try; longer series cost more than they save
MAX_DEVIATIONS = 13.5
"""Standard deviations that equidistant nodes cover, for powers that Gauss weights do not support."""
SERIES_TOLERANCE = 1e-12
"""Relative error at which a series is truncated."""
POINTS_PER_BLOCK = 512  # number of points whose function values are in memory at the same time


def coefficients(
    function: Callable[[Tensor], Tensor], dual: AbstractDual, variance: Tensor, terms: int | None
) -> Tensor | None:
    """Returns the power series coefficients of an activation's kernel for each variance; None if the error is not
    certified.

    Cost: from 256 evaluations of the function per point to 768, and as many for the dual.

    >>> from gnomon.kernels.duals import Sin
    >>> h = coefficients(torch.sin, Sin(), torch.ones(1, dtype=torch.float64), 3)
    >>> h is None, coefficients(torch.sin, Sin(), torch.ones(1, dtype=torch.float64), None)[1]  # exp(-1/2)
    (True, tensor([0.6065], dtype=torch.float64))
    """
    if bool((variance <= 0).any()):
        return None
    flat = variance.reshape(-1)
    moment = slope = None
    for nodes, most in LEVELS:
        if terms is not None and terms > most:
            continue
        h = _expand(function, flat, nodes, most, terms)
        if h is None:
            return None
        if moment is None or slope is None:
            moment, slope = dual.variance(flat), dual.dual_derivative(flat, flat, flat)
        square, power = h * h, torch.arange(h.shape[1], dtype=flat.dtype)
        missing = (moment - square.sum(1)).abs(), (slope - (square * power).sum(1) / flat).abs()  # (4)
        if bool((missing[0] <= SERIES_TOLERANCE * moment).all()) and bool(
            (missing[1] <= SERIES_TOLERANCE * slope).all()
        ):
            return h.T.reshape(-1, *variance.shape).contiguous()
    return None


def _expand(
    function: Callable[[Tensor], Tensor], variance: Tensor, nodes: int, most: int, terms: int | None
) -> Tensor | None:
    """Returns the Hermite coefficients of a function for each variance, as many as needed; None if one is not finite.

    See equation (1) of the module docstring.
    """
    places, weighted = _rule(nodes, most)
    power = torch.arange(most, dtype=variance.dtype)
    found, needed = [], 0
    for some in variance.split(POINTS_PER_BLOCK):
        values = function(some.sqrt()[:, None] * places)
        h = values @ weighted if values.shape == (len(some), nodes) else None
        if h is None or not bool(torch.isfinite(h).all()):
            return None
        square = (h * h * (1 + power)).cumsum(1)
        needed = max(needed, int((square < square[:, -1:] * (1 - 1e-15)).sum(1).max()) + 1)
        found.append(h)
    return torch.cat([h[:, : needed if terms is None else terms] for h in found])


@cache
def _rule(count: int, powers: int) -> tuple[Tensor, Tensor]:
    """Returns nodes for integration against the normal density, and their weights times Hermite polynomials.

    Up to half as many powers as nodes, the nodes of Gauss; for more, equidistant nodes, whose error for functions that
    are analytic within y of the real line is exp(-2 pi y / distance).
    """
    if 2 * powers <= count:
        nodes, weights = np.polynomial.hermite_e.hermegauss(count)
        share = weights / weights.sum()
    else:
        nodes = np.linspace(-MAX_DEVIATIONS, MAX_DEVIATIONS, count)
        share = np.exp(-(nodes**2) / 2) * ((nodes[1] - nodes[0]) / np.sqrt(2 * np.pi))
    polynomials = [np.ones(count), nodes]
    for k in range(1, powers - 1):
        polynomials.append((nodes * polynomials[k] - np.sqrt(k) * polynomials[k - 1]) / np.sqrt(k + 1))
    return torch.from_numpy(nodes), torch.from_numpy(np.stack(polynomials, 1) * share[:, None])
