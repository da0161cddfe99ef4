"""Any other activation: its dual as a power series in the correlation, with one coefficient per point and power.

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

NODES = 256
MOST = 128  # powers beyond which the series costs more than it saves
TOLERANCE = 1e-12
AT_ONCE = 512  # points whose function values are held


def coefficients(
    function: Callable[[Tensor], Tensor], dual: AbstractDual, variance: Tensor, terms: int | None
) -> Tensor | None:
    """h_k for each point (terms, *points), as many as needed or as told; None without a certificate.

    Cost: NODES evaluations of the function per point.

    >>> from gnomon.kernels.duals import Sin
    >>> h = coefficients(torch.sin, Sin(), torch.ones(1, dtype=torch.float64), 3)
    >>> h is None, coefficients(torch.sin, Sin(), torch.ones(1, dtype=torch.float64), None)[1]  # exp(-1/2)
    (True, tensor([0.6065], dtype=torch.float64))
    """
    if bool((variance <= 0).any()):
        return None
    nodes, weighted = _rule()
    flat = variance.reshape(-1)
    power = torch.arange(MOST, dtype=flat.dtype)
    found, needed = [], 0
    for some in flat.split(AT_ONCE):
        values = function(some.sqrt()[:, None] * nodes)
        h = values @ weighted if values.shape == (len(some), NODES) else None
        if h is None or not bool(torch.isfinite(h).all()):
            return None
        square = (h * h * (1 + power)).cumsum(1)
        needed = max(needed, int((square < square[:, -1:] * (1 - 1e-15)).sum(1).max()) + 1)
        found.append(h)
    terms = needed if terms is None else terms
    h = torch.cat([part[:, :terms] for part in found])
    moment, slope = dual.variance(flat), dual.dual_derivative(flat, flat, flat)
    missing = (moment - (h * h).sum(1)).abs(), (slope - (h * h * power[:terms]).sum(1) / flat).abs()  # (4)
    if bool((missing[0] > TOLERANCE * moment).any()) or bool((missing[1] > TOLERANCE * slope).any()):
        return None
    return h.T.reshape(terms, *variance.shape).contiguous()


@cache
def _rule() -> tuple[Tensor, Tensor]:
    """Nodes of Gauss's rule for the normal density, and weights times Hermite polynomials (nodes, powers)."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
    polynomials = [np.ones(NODES), nodes]
    for k in range(1, MOST - 1):
        polynomials.append((nodes * polynomials[k] - np.sqrt(k) * polynomials[k - 1]) / np.sqrt(k + 1))
    weighted = np.stack(polynomials, 1) * (weights / weights.sum())[:, None]
    return torch.from_numpy(nodes), torch.from_numpy(weighted)
