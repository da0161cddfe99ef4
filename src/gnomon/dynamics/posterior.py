"""Computes the Bayesian posterior of an infinitely wide network, which is a Gaussian process.

With the prior covariance S (the NNGP kernel) and Gaussian noise s^2 of the targets:

    mean         S(x, X) (S(X, X) + s^2)^{-1} y                                                (1)
    covariance   S(x, x') - S(x, X) (S(X, X) + s^2)^{-1} S(X, x')                              (2)

This is not an ensemble of trained networks, `gnomon.dynamics.kernel_ensemble`, unless only the last layer is trained.

Hypotheses: infinite width; outputs independent, with one kernel for all; Gaussian noise.
Reference: [lee2018deep].
"""

from dataclasses import dataclass, field
from math import log, pi

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.arrays import Array
from gnomon.core.inputs.classes import targets_as_numbers
from gnomon.core.results import Axis, Histogram, Plot, Result
from gnomon.core.results.plain import HIDDEN_IN_JSON
from gnomon.dynamics.prior import positive, prior_at_test_points
from gnomon.dynamics.problem import columns, finite, penalty_weight
from gnomon.linalg import cholesky
from gnomon.linalg.square import as_square_matrix, symmetric_part

__all__ = ["GaussianProcessPosterior", "gp_posterior"]


@dataclass(frozen=True, slots=True, eq=False)
class GaussianProcessPosterior(Result):
    """The Bayesian posterior of an infinitely wide network: mean, variance and covariance of outputs, and log evidence.

    ``log_evidence`` is log p(y), summed over outputs.

    >>> result = gp_posterior(torch.ones(1, 1), torch.zeros(1))
    >>> round(abs(result.log_evidence + log(2 * pi) / 2), 12)              # the density of N(0, 1) at 0
    0.0
    """

    mean: Tensor = field(repr=False)
    variance: Float[Tensor, " m"] = field(repr=False)
    covariance: Float[Tensor, "m m"] | None = field(repr=False, metadata=HIDDEN_IN_JSON)
    log_evidence: float
    jitter: float

    @property
    def std(self) -> Float[Tensor, " m"]:
        """Returns the posterior standard deviation of the function at each point, without observation noise."""
        return self.variance.sqrt()

    @property
    def verdict(self) -> str:
        """States how certain the posterior is: the range of its standard deviations."""
        low, high = float(self.std.min()), float(self.std.max())
        return (
            f"The standard deviation of the posterior is {low:.3g} to {high:.3g} (at {len(self.variance)} "
            f"points); the log evidence of the prior is {self.log_evidence:.4g}."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots a histogram of the posterior standard deviations at the test points."""
        bars = Histogram.of("points", self.std.tolist(), bins=min(40, max(1, len(self.variance))))
        return (Plot("Uncertainty of the posterior", (bars,), Axis("standard deviation"), Axis("points")),)


@add_call_to_errors
def gp_posterior(
    nngp: Array,
    y: Array,
    *,
    nngp_test: Array | None = None,
    nngp_test_test: Array | None = None,
    noise: float = 0.0,
) -> GaussianProcessPosterior:
    """Computes the posterior of an infinitely wide Bayesian network, which is a Gaussian process.

    See equations (1) and (2) of the module docstring.

    Args:
        nngp: S(X, X) of the training points.
        y: targets: numbers (n,) or (n, k), or integer classes (n,), taken as one-hot rows.
        nngp_test: S(x, X); without it the posterior is that at the training points.
        nngp_test_test: S(x, x'), (m, m), or its diagonal (m,).
        noise: s^2, the variance of the noise of the targets.

    Cost: n^3 / 3 for the factor, m n^2 for the variances.

    >>> one = torch.ones(1, 1)
    >>> result = gp_posterior(one, torch.ones(1), noise=1.0)                  # 1 / (1 + 1), 1 - 1 / 2
    >>> round(float(result.mean), 12), round(float(result.variance), 12)
    (0.5, 0.5)
    """
    prior = symmetric_part(as_square_matrix(nngp).detach().double().cpu())
    targets = finite(targets_as_numbers(y), "y")
    table = columns(targets, "y", len(prior), None)
    if nngp_test is None:
        between, own = prior, prior
    else:
        m = len(finite(nngp_test, "nngp_test"))
        between, own = prior_at_test_points(nngp_test, nngp_test_test, m, len(prior))
    noisy = prior.clone()
    noisy.diagonal().add_(penalty_weight(noise, name="noise"))
    factor = cholesky(noisy)
    L = factor.lower
    white = torch.linalg.solve_triangular(L, table, upper=False)
    half = torch.linalg.solve_triangular(L, between.T.contiguous(), upper=False)
    mean = half.T @ white  # (1)
    covariance = None if own.ndim == 1 else symmetric_part(own - half.T @ half)  # (2)
    variance = (own if own.ndim == 1 else own.diagonal()) - half.square().sum(0)
    n, k = table.shape
    evidence = -float(white.square().sum()) / 2 - k * float(L.diagonal().log().sum()) - n * k * log(2 * pi) / 2
    mean = mean[:, 0] if targets.ndim == 1 else mean
    return GaussianProcessPosterior(mean, positive(variance, own), covariance, evidence, factor.jitter)
