"""E[f(u) g(v)] for elementwise f and g, by the cheapest road that is accurate.

For pairs that coincide up to scale, rho = c / sqrt(a b) = +-1, one integral; for others Mehler's series, as soon as its
certificate promises an error below 1e-10 sqrt(E[f(u)^2] E[g(v)^2]); where 2048 terms cannot promise it, the double
integral. What belongs to one variance alone is computed once per distinct variance.

Cost: some 30 ms, and 50 microseconds per distinct variance; per pair, 0.1 to 6 microseconds for the series and 150
for the double integral (or 1, where there are so many pairs that a table pays).
"""

from dataclasses import dataclass
from math import log2

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from gnomon.core.errors import NotFiniteError, lesson
from gnomon.kernels.duals.base import cosine
from gnomon.kernels.duals.numeric.line import Sampler, second_moment
from gnomon.kernels.duals.numeric.mehler import LEVELS, Coefficients, coefficients, series
from gnomon.kernels.duals.numeric.table import double_integrals

CERTIFIED = 1e-10  # of sqrt(E[f^2] E[g^2])


def expectation(f: Sampler, g: Sampler, a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    """E[f(u) g(v)] for (u, v) ~ N(0, [[a, c], [c, b]]), of the shape that a, b and c broadcast to; no gradient.

    Hypotheses: f and g piecewise analytic, with finite second moments; float64; c^2 <= a b up to rounding.
    Cost: see the module.

    >>> one = torch.ones((), dtype=torch.float64)
    >>> expectation(Sampler(torch.sin, one.device), Sampler(torch.sin, one.device), one, one, one / 2)
    tensor(0.1917, dtype=torch.float64)
    """
    shape = torch.broadcast_shapes(a.shape, b.shape, c.shape)
    if not all(bool(torch.isfinite(t).all()) for t in (a, b, c)):
        raise _not_finite("an argument is not finite", "Look for the first layer whose covariance is not")
    root_a, i = _distinct(a, shape)
    root_b, j = _distinct(b, shape)
    pairs = _Pairs(root_a, root_b, i, j, cosine(a, b, c).expand(shape).flatten())
    result = torch.empty_like(pairs.rho)
    rows = _along(f, g, pairs, result)
    rest, scale = _by_series(f, g, pairs, rows, result)
    if len(rest):
        deviations = pairs.root_a[pairs.i[rest]], pairs.root_b[pairs.j[rest]]
        result[rest] = double_integrals(f, g, *deviations, pairs.rho[rest], scale)
    if not bool(torch.isfinite(result).all()):
        raise _not_finite("an expectation is not finite", "Use a function that is finite on the whole line")
    return result.view(shape)


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Distinct standard deviations, and for each pair the two it has and its correlation."""

    root_a: Float[Tensor, " n"]
    root_b: Float[Tensor, " m"]
    i: Int[Tensor, " p"]
    j: Int[Tensor, " p"]
    rho: Float[Tensor, " p"]


def _distinct(variance: Tensor, shape: torch.Size) -> tuple[Tensor, Tensor]:
    values, index = variance.clamp(min=0).unique(return_inverse=True)
    return values.sqrt(), index.view(variance.shape).expand(shape).flatten()


def _along(f: Sampler, g: Sampler, pairs: _Pairs, result: Tensor) -> Tensor:
    """Fill in pairs with |rho| = 1; return the others."""
    aligned = pairs.rho.abs() == 1
    root_a, root_b = pairs.root_a[pairs.i], pairs.root_b[pairs.j]
    same = aligned & (pairs.rho > 0) & (root_a == root_b) if f is g else torch.zeros_like(aligned)
    if bool(same.any()):
        root, index = _used(pairs.root_a, pairs.i[same])
        result[same] = second_moment(f, root)[index]
    other = (aligned & ~same).nonzero()[:, 0]
    if len(other):
        a, b = root_a[other], root_b[other]
        scale = (_second(f, a) * _second(g, b)).sqrt()
        result[other] = double_integrals(f, g, a, b, pairs.rho[other], scale)
    return (~aligned).nonzero()[:, 0]


def _by_series(f: Sampler, g: Sampler, pairs: _Pairs, rows: Tensor, result: Tensor) -> tuple[Tensor, Tensor]:
    """Fill in pairs for which the series is certified; return the others, and sqrt(E[f^2] E[g^2]) for them."""
    left, scales = [], []
    for terms in LEVELS:
        if not len(rows):
            break
        f_hat, g_hat, i, j = _tables(f, g, pairs, rows, terms)
        rho = pairs.rho[rows]
        scale = (f_hat.second[i] * g_hat.second[j]).sqrt()
        tail = (f_hat.tail[i] * g_hat.tail[j]).sqrt()
        certain = rho.abs() ** terms * tail <= CERTIFIED * scale
        result[rows[certain]] = series(f_hat, g_hat, i[certain], j[certain], rho[certain])
        earlier = (f_hat.earlier[i] * g_hat.earlier[j]).sqrt()
        hopeful = ~certain & _promising(rho, scale, tail, earlier, terms)
        if int(hopeful.sum()) <= terms:  # the next table would cost more than the double integrals it saves
            hopeful = torch.zeros_like(hopeful)
        left.append(rows[~certain & ~hopeful])
        scales.append(scale[~certain & ~hopeful])
        rows = rows[hopeful]
    return torch.cat([*left, rows[:0]]), torch.cat([*scales, pairs.rho[:0]])


def _promising(rho: Tensor, scale: Tensor, tail: Tensor, earlier: Tensor, terms: int) -> Bool[Tensor, " p"]:
    """Whether the longest series will be certified, if its tail falls as fast per doubling as it did last."""
    if terms == LEVELS[-1]:
        return torch.zeros_like(rho, dtype=torch.bool)
    doublings = log2(LEVELS[-1] / terms)
    fall = tail / earlier.clamp(min=1e-300)
    return rho.abs() ** LEVELS[-1] * tail * fall**doublings <= CERTIFIED * scale


def _tables(
    f: Sampler, g: Sampler, pairs: _Pairs, rows: Tensor, terms: int
) -> tuple[Coefficients, Coefficients, Tensor, Tensor]:
    """Coefficients for the variances in use, and the indices of the pairs into them."""
    root_a, i = _used(pairs.root_a, pairs.i[rows])
    root_b, j = _used(pairs.root_b, pairs.j[rows])
    f_hat = coefficients(f, root_a, terms)
    shared = f is g and torch.equal(root_a, root_b)
    return f_hat, f_hat if shared else coefficients(g, root_b, terms), i, j


def _used(root: Tensor, index: Tensor) -> tuple[Tensor, Tensor]:
    """The values that an index uses, and the index into them."""
    used = torch.zeros(len(root), dtype=torch.bool, device=root.device)
    used[index] = True
    return root[used], (used.cumsum(0) - 1)[index]


def _not_finite(found: str, cure: str) -> NotFiniteError:
    return NotFiniteError(lesson("Quadrature.dual(a, b, c)", found, "covariances are finite numbers", cure))


def _second(f: Sampler, root: Tensor) -> Tensor:
    values, index = root.unique(return_inverse=True)
    return second_moment(f, values)[index]
