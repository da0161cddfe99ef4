"""Mixtures of Gaussian distributions, for which density, score and diffusion have closed forms.

    p(x) = sum_k w_k N(x; m_k, C_k)                                                                        (1)
    grad log p(x) = -sum_k r_k(x) C_k^-1 (x - m_k),    r_k(x) = w_k N(x; m_k, C_k) / p(x)                  (2)
    a x_0 + s e,  e ~ N(0, I)    has the density of the mixture (w_k, a m_k, a^2 C_k + s^2 I)              (3)
    E[x_0 | x] = (x + s^2 grad log p_{a,s}(x)) / a                                                        (4)

Whatever a generative model learns from such data can be compared with what it should have learned.

Hypotheses: positive weights with sum 1, positive definite covariances; (4) is Tweedie's formula.
Reference: [bishop2006pattern] for (1) and (2), [efron2011tweedie] for (4).

>>> import torch
>>> two = gaussian_mixture([[-2.0], [2.0]], std=0.5)
>>> two.score(torch.zeros(1, 1).double()).item(), two.posterior(torch.tensor([[2.0]]).double()).round().tolist()
(0.0, [[0.0, 1.0]])
"""

from dataclasses import dataclass
from math import cos, log, pi, sin
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import as_numbers, check_integer, check_number, check_seed
from gnomon.core.results.record import Record

__all__ = ["GaussianMixture", "js_divergence", "gaussian_mixture", "optimal_discriminator", "ring_of_gaussians"]

QUADRATURE_DEVIATIONS = 9.0
"""Standard deviations around every mean that the quadrature covers; the rest is below 1e-17."""
MAX_NUMBERS_PER_TILE = 2**22
"""Maximum number of values in one tile of the quadrature."""


@dataclass(frozen=True, slots=True, eq=False)
class GaussianMixture(Record):
    """A mixture of Gaussian distributions in float64, which `gaussian_mixture` or `ring_of_gaussians` creates."""

    weights: Float[Tensor, " k"]
    means: Float[Tensor, "k d"]
    covariances: Float[Tensor, "k d d"]

    @property
    def mean(self) -> Float[Tensor, " d"]:
        """Returns the mean of the mixture of Gaussians."""
        return self.weights @ self.means

    @property
    def covariance(self) -> Float[Tensor, "d d"]:
        """Returns the covariance matrix of the mixture of Gaussians."""
        apart = self.means - self.mean
        return torch.einsum("k,kij->ij", self.weights, self.covariances + apart[:, :, None] * apart[:, None, :])

    def log_prob(self, x: Tensor) -> Float[Tensor, " n"]:
        """Returns the logarithm of the mixture's density at each point.

        See equation (1) of the module docstring.
        """
        return self._joint(x).logsumexp(1)  # (1)

    def posterior(self, x: Tensor) -> Float[Tensor, "n k"]:
        """Returns for each point the probability that it was drawn from each Gaussian of the mixture."""
        return self._joint(x).softmax(1)

    def score(self, x: Tensor) -> Float[Tensor, "n d"]:
        """Returns the score of the mixture (the gradient of its log density) at each point.

        See equation (2) of the module docstring.
        """
        x = self._points(x)
        pulls = torch.linalg.solve(self.covariances, (self.means[:, None] - x).mT)  # (k, d, n)
        return torch.einsum("nk,kdn->nd", self.posterior(x), pulls)  # (2)

    def noised(self, scale: float, std: float) -> "GaussianMixture":
        """Returns the distribution of ``scale`` x + noise, for x from the mixture and Gaussian noise with deviation
        ``std``.

        See equation (3) of the module docstring.
        """
        noise = std**2 * torch.eye(self.means.shape[1], dtype=torch.float64)
        return GaussianMixture(self.weights, scale * self.means, scale**2 * self.covariances + noise)  # (3)

    def denoised(self, x: Tensor, scale: float, std: float) -> Float[Tensor, "n d"]:
        """Returns the expected clean point, given a noisy point x = ``scale`` clean + noise with standard deviation
        ``std``.

        See equation (4) of the module docstring.
        """
        return (self._points(x) + std**2 * self.noised(scale, std).score(x)) / scale  # (4)

    @add_call_to_errors
    def sample(self, n: int, *, seed: int = 0) -> Float[Tensor, "n d"]:
        """Draws n independent points from the mixture of Gaussians."""
        n, generator = check_integer("n", n), torch.Generator().manual_seed(check_seed(seed))
        which = torch.multinomial(self.weights, n, replacement=True, generator=generator)
        noise = torch.randn(n, self.means.shape[1], generator=generator, dtype=torch.float64)
        roots = torch.linalg.cholesky(self.covariances)
        return self.means[which] + torch.einsum("nij,nj->ni", roots[which], noise)

    def _joint(self, x: Tensor) -> Tensor:
        """Returns for each point and component the logarithm of the component's weight times its density."""
        x, d = self._points(x), self.means.shape[1]
        roots = torch.linalg.cholesky(self.covariances)
        apart = torch.linalg.solve_triangular(roots, (x - self.means[:, None]).mT, upper=False)
        widths = roots.diagonal(dim1=1, dim2=2).log().sum(1)
        return self.weights.log() - widths - d / 2 * log(2 * pi) - apart.square().sum(1).mT / 2

    def _points(self, x: Tensor) -> Tensor:
        d = self.means.shape[1]
        if x.dim() != 2 or x.shape[1] != d:
            found, fix = f"x has shape {tuple(x.shape)}", f"Pass points as a table (n, {d})"
            raise InputError(found, accepted=f"points in {d} dimensions", fix=fix)
        return x.double()


@add_call_to_errors
def gaussian_mixture(
    means: Any, *, std: float | None = None, covariances: Any = None, weights: Any = None
) -> GaussianMixture:
    """Creates a mixture of Gaussians with these means (components, dimensions), by default with equal weights.

        p(x) = sum_k w_k N(x; m_k, C_k)                                                                    (1)

    Args:
        means: one row for each component.
        std: of every coordinate of every component; 1 if neither this nor ``covariances`` is given.
        covariances: instead, a matrix for each component (k, d, d), or one for all (d, d).
        weights: shares of the components, equal by default; they are divided by their sum.

    Hypotheses: positive weights, positive definite covariances. Reference: [bishop2006pattern].
    Cost: a Cholesky decomposition for each component.

    >>> p = gaussian_mixture([[0.0, 0.0], [4.0, 0.0]], weights=[3, 1])
    >>> p.mean.tolist(), p.covariance.tolist()                                             # 1 + 3/4 1/4 4^2
    ([1.0, 0.0], [[4.0, 0.0], [0.0, 1.0]])
    """
    m = as_numbers(means, "means").double()
    if m.dim() != 2 or not m.numel() or not bool(m.isfinite().all()):
        raise InputError(
            f"means have shape {tuple(m.shape)}", accepted="a table (k, d)", fix="Pass one row per component"
        )
    k, d = m.shape
    if covariances is None:
        width = check_number("std", 1.0 if std is None else std, above=0)
        c = width**2 * torch.eye(d, dtype=torch.float64).expand(k, d, d)
    else:
        c = as_numbers(covariances, "covariances").double()
        if c.shape not in ((d, d), (k, d, d)):
            found = f"covariances have shape {tuple(c.shape)} for {k} means in {d} dimensions"
            raise InputError(found, accepted="a matrix for each component", fix=f"Pass ({k}, {d}, {d}) or ({d}, {d})")
        c = c.expand(k, d, d)
    if not bool((torch.linalg.cholesky_ex(c).info == 0).all()):
        fix = "Add a small multiple of the identity"
        raise InputError("a covariance is not positive definite", accepted="positive definite covariances", fix=fix)
    w = torch.ones(k) if weights is None else as_numbers(weights, "weights")
    if w.shape != (k,) or not bool((w > 0).all()):
        found = f"weights have shape {tuple(w.shape)} for {k} components, or one is not positive"
        raise InputError(found, accepted="a positive share for each component", fix=f"Pass {k} positive numbers")
    return GaussianMixture(w.double() / w.double().sum(), m, c)


@add_call_to_errors
def ring_of_gaussians(modes: int = 8, *, radius: float = 2.0, std: float = 0.2) -> GaussianMixture:
    """Creates a mixture of equal Gaussians on a circle in the plane, a common test of GANs for mode collapse.

        m_k = radius (cos 2 pi k / modes, sin 2 pi k / modes)                                              (1)

    Hypotheses: none. Reference: [metz2017unrolled].

    >>> ring_of_gaussians(4, radius=1.0).means.round().abs().tolist()
    [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]
    """
    modes = check_integer("modes", modes)
    angles = [2 * pi * k / modes for k in range(modes)]
    return gaussian_mixture([[radius * cos(a), radius * sin(a)] for a in angles], std=std)  # (1)


@add_call_to_errors
def optimal_discriminator(p: GaussianMixture, q: GaussianMixture, x: Tensor) -> Float[Tensor, " n"]:
    """Returns for each point the probability that it was drawn from p and not from q, if both are equally likely.

        D*(x) = p(x) / (p(x) + q(x))                                                                       (1)

    Hypotheses: none. Reference: [goodfellow2014generative], Proposition 1.
    Cost: both densities.

    >>> p, q = gaussian_mixture([[0.0]]), gaussian_mixture([[2.0]])
    >>> optimal_discriminator(p, q, torch.tensor([[1.0]]).double()).item()
    0.5
    """
    return (p.log_prob(x) - q.log_prob(x)).sigmoid()  # (1)


@add_call_to_errors
def js_divergence(p: GaussianMixture, q: GaussianMixture, *, points: int = 400) -> float:
    """Computes the Jensen-Shannon divergence of two Gaussian mixtures in one or two dimensions, by numerical
    integration.

        JS = (KL(p | m) + KL(q | m)) / 2,    m = (p + q) / 2                                               (1)

    Args:
        p: a mixture.
        q: another, in as many dimensions.
        points: of the grid in each dimension; the trapezoidal rule on smooth functions that vanish at the ends is exact
            to rounding once the grid is finer than half the narrowest standard deviation.

    Hypotheses: one or two dimensions. References: [lin1991divergence], [trefethen2014trapezoidal].
    Cost: both densities at points^d places.

    >>> far, near = gaussian_mixture([[-20.0]]), gaussian_mixture([[20.0]])
    >>> round(js_divergence(far, near), 6), round(js_divergence(near, near), 12)         # log 2 for no overlap
    (0.693147, 0.0)
    """
    d = p.means.shape[1]
    if d != q.means.shape[1] or d > 2:
        found, fix = (
            f"p and q have {d} and {q.means.shape[1]} dimensions",
            "Estimate the divergence with generative.jensen_shannon_lower_bound",
        )
        raise InputError(found, accepted="a grid over one or two dimensions", fix=fix)
    spread = [QUADRATURE_DEVIATIONS * c.diagonal(dim1=1, dim2=2).amax(0).sqrt() for c in (p.covariances, q.covariances)]
    low = torch.minimum(p.means.amin(0) - spread[0], q.means.amin(0) - spread[1])
    high = torch.maximum(p.means.amax(0) + spread[0], q.means.amax(0) + spread[1])
    axes = [torch.linspace(float(a), float(b), points, dtype=torch.float64) for a, b in zip(low, high, strict=True)]
    cell = float(((high - low) / (points - 1)).prod())
    total = 0.0
    grid = torch.cartesian_prod(*axes).reshape(-1, d)
    for part in grid.split(max(1, MAX_NUMBERS_PER_TILE // (d * max(len(p.weights), len(q.weights))))):
        a, b = p.log_prob(part), q.log_prob(part)
        middle = torch.logaddexp(a, b) - log(2)
        total += cell / 2 * float((a.exp() * (a - middle) + b.exp() * (b - middle)).sum())  # (1)
    return total
