"""Ensembles of wide networks: their mean and covariance while they train, and the Bayesian posterior.

Before training a wide network is a Gaussian process with covariance S (the NNGP kernel); training with the tangent
kernel T is linear in the initial function, so the ensemble stays Gaussian. With A = T(x, X) G_t,
G_t = Q g_t(l + alpha) Q^T / n on T(X, X) / n = Q diag(l) Q^T:

    mean         A y                                                                           (1)
    covariance   S(x, x') - A S(X, x') - S(x, X) A'^T + A S(X, X) A'^T                         (2)

At t = infinity without penalty A = T(x, X) T(X, X)^+. The Bayesian posterior of prior S and Gaussian noise s^2 is

    mean         S(x, X) (S(X, X) + s^2)^{-1} y                                                (3)
    covariance   S(x, x') - S(x, X) (S(X, X) + s^2)^{-1} S(X, x')                              (4)

which is no ensemble of trained networks unless T = S: where only the last layer is trained, (1) and (2) at t = infinity
are (3) and (4) without noise.

Hypotheses: squared loss; infinite width; outputs independent, with one kernel for all.
Reference: [lee2019wide], section 2.3, for (1) and (2); [lee2018deep] for (3) and (4).
"""

from dataclasses import dataclass, field
from math import isinf, log, pi

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.arrays import Array
from gnomon.core.classes import numbers
from gnomon.core.errors import InputError, lesson
from gnomon.core.record import Record
from gnomon.dynamics.gram import columns, dense, instants, problem, rectangle, weight
from gnomon.dynamics.modes import Modes, spectrum
from gnomon.dynamics.optimizers import AbstractOptimizer, Flow
from gnomon.dynamics.squared import check_finite, gains
from gnomon.linalg import cholesky
from gnomon.linalg.square import square, symmetric_part


@dataclass(frozen=True, slots=True, eq=False)
class Ensemble(Record):
    """Mean (t, m) or (t, m, k), variance (t, m) and, where asked for, covariance (t, m, m) of trained networks.

    The covariance is that of each output; outputs are independent.

    >>> one = torch.ones(1, 1)
    >>> print(ensemble(one, 4 * one, torch.ones(1), times=[0.0, log(2)]).verdict)
    Over the ensemble the outputs spread by 2 at time 0 and by 1 at time 0.693.
    """

    times: Float[Tensor, " t"]
    mean: Tensor = field(repr=False)
    variance: Float[Tensor, "t m"] = field(repr=False)
    covariance: Float[Tensor, "t m m"] | None = field(repr=False)

    @property
    def std(self) -> Float[Tensor, "t m"]:
        """Standard deviations."""
        return self.variance.sqrt()

    @property
    def verdict(self) -> str:
        """One sentence on how far the members agree."""
        first, last = self.std.square().mean(1).sqrt()[[0, -1]].tolist()
        head = f"Over the ensemble the outputs spread by {first:.3g} at time {float(self.times[0]):.3g}"
        return f"{head} and by {last:.3g} at time {float(self.times[-1]):.3g}."

    def to_dict(self) -> dict[str, object]:
        """All fields and the verdict as plain values for JSON; infinite time becomes None."""
        return {
            "times": [None if isinf(t) else t for t in self.times.tolist()],
            "mean": self.mean.tolist(),
            "variance": self.variance.tolist(),
            "covariance": None if self.covariance is None else self.covariance.tolist(),
            "verdict": self.verdict,
        }


@dataclass(frozen=True, slots=True, eq=False)
class Posterior(Record):
    """Mean, variance and covariance of a Bayesian posterior; ``jitter`` was added to factorize, in units of the kernel.

    ``log_evidence`` is log p(y), summed over outputs.

    >>> found = posterior(torch.ones(1, 1), torch.zeros(1))
    >>> round(abs(found.log_evidence + log(2 * pi) / 2), 12)               # the density of N(0, 1) at 0
    0.0
    """

    mean: Tensor = field(repr=False)
    variance: Float[Tensor, " m"] = field(repr=False)
    covariance: Float[Tensor, "m m"] | None = field(repr=False)
    log_evidence: float
    jitter: float

    @property
    def std(self) -> Float[Tensor, " m"]:
        """Standard deviations of the function, without the noise."""
        return self.variance.sqrt()


def ensemble(
    ntk: Array,
    nngp: Array,
    y: Array,
    *,
    ntk_test: Array | None = None,
    nngp_test: Array | None = None,
    nngp_test_test: Array | None = None,
    times: Array | list[float] | tuple[float, ...] = (float("inf"),),
    optimizer: AbstractOptimizer | None = None,
    penalty: float = 0.0,
) -> Ensemble:
    """Mean and covariance, over initializations, of infinitely wide networks trained until each time: (1) and (2).

    Args:
        ntk: T(X, X), and ``nngp`` S(X, X), of the n training points.
        nngp: see ``ntk``.
        y: targets: numbers (n,) or (n, k), or integer classes (n,), taken as one-hot rows.
        ntk_test: T(x, X), m test points in rows; without it the training points themselves are described.
        nngp_test: S(x, X).
        nngp_test_test: S(x, x'), (m, m), or only its diagonal (m,), which then gives variances alone.
        times: from 0 to infinity, which is the default.
        optimizer: ``Flow()`` by default.
        penalty: alpha.

    Cost: one eigendecomposition and n^3 once, then m n^2 + m^2 n for each time.

    >>> one = torch.ones(1, 1)                                # one point: the spread dies like exp(-t)
    >>> round(float(ensemble(one, one, torch.ones(1), times=[1.0]).std), 12) == round(torch.e**-1, 12)
    True
    """
    call = "dynamics.ensemble(ntk, nngp, y)"
    given = problem(call, ntk, y, None, None, None)
    prior = _prior(nngp, len(given.y), call)
    if ntk_test is None:
        cross, between, own = given.gram, prior, prior
    else:
        cross = rectangle(ntk_test, "ntk_test", (None, len(prior)), call)
        between, own = _tested(nngp_test, nngp_test_test, len(cross), len(prior), call)
    rates, vectors = spectrum(given, call)
    modes = Modes(rates, vectors, vectors.T @ given.y, optimizer or Flow(), weight(penalty, call))
    grid = modes.optimizer.clock(instants(times, call))
    check_finite(modes.error(grid), modes, grid, call)
    B, S, C = cross @ vectors, vectors.T @ prior @ vectors, between @ vectors
    means, variances, covariances = [], [], []
    for gain in gains(modes, grid, len(prior)):
        A = B * gain
        means.append(A @ modes.coefficients)  # (1)
        if own.ndim == 1:
            variances.append(own - 2 * (A * C).sum(1) + ((A @ S) * A).sum(1))  # the diagonal of (2)
        else:
            half = A @ C.T
            covariances.append(symmetric_part(own - half - half.T + A @ S @ A.T))  # (2)
            variances.append(covariances[-1].diagonal())
    mean = torch.stack(means)
    variance = _positive(torch.stack(variances), own, call)
    covariance = torch.stack(covariances) if covariances else None
    return Ensemble(grid, mean[..., 0] if given.flat else mean, variance, covariance)


def posterior(
    nngp: Array,
    y: Array,
    *,
    nngp_test: Array | None = None,
    nngp_test_test: Array | None = None,
    noise: float = 0.0,
) -> Posterior:
    """The Gaussian process posterior of an infinitely wide Bayesian network: (3) and (4).

    Args:
        nngp: S(X, X) of the training points.
        y: targets: numbers (n,) or (n, k), or integer classes (n,), taken as one-hot rows.
        nngp_test: S(x, X); without it the training points themselves are described.
        nngp_test_test: S(x, x'), (m, m), or its diagonal (m,).
        noise: s^2, the variance of the noise of the targets.

    Cost: n^3 / 3 for the factor, m n^2 for the variances.

    >>> one = torch.ones(1, 1)
    >>> found = posterior(one, torch.ones(1), noise=1.0)                   # 1 / (1 + 1), 1 - 1 / 2
    >>> round(float(found.mean), 12), round(float(found.variance), 12)
    (0.5, 0.5)
    """
    call = "dynamics.posterior(nngp, y)"
    prior = symmetric_part(square(nngp, call).detach().double().cpu())
    targets = dense(numbers(y, call), "y", call)
    table = columns(targets, "y", len(prior), None, call)
    between, own = (prior, prior) if nngp_test is None else _tested(
        nngp_test, nngp_test_test, len(dense(nngp_test, "nngp_test", call)), len(prior), call
    )  # fmt: skip
    noisy = prior.clone()
    noisy.diagonal().add_(weight(noise, call))
    factor = cholesky(noisy)
    L = factor.lower
    white = torch.linalg.solve_triangular(L, table, upper=False)
    half = torch.linalg.solve_triangular(L, between.T.contiguous(), upper=False)
    mean = half.T @ white  # (3)
    covariance = None if own.ndim == 1 else symmetric_part(own - half.T @ half)  # (4)
    variance = (own if own.ndim == 1 else own.diagonal()) - half.square().sum(0)
    n, k = table.shape
    evidence = -float(white.square().sum()) / 2 - k * float(L.diagonal().log().sum()) - n * k * log(2 * pi) / 2
    mean = mean[:, 0] if targets.ndim == 1 else mean
    return Posterior(mean, _positive(variance, own, call), covariance, evidence, factor.jitter)


def _prior(nngp: Array, n: int, call: str) -> Float[Tensor, "n n"]:
    return symmetric_part(rectangle(nngp, "nngp", (n, n), call))


def _tested(between: Array | None, own: Array | None, m: int, n: int, call: str) -> tuple[Tensor, Tensor]:
    if between is None or own is None:
        cure = "Pass nngp_test, (m, n), and nngp_test_test, (m, m) or its diagonal (m,)"
        raise InputError(lesson(call, "the prior at the test points is missing", "a prior on all points", cure))
    table = dense(own, "nngp_test_test", call)
    if table.shape not in ((m,), (m, m)):
        what = f"nngp_test_test has shape {tuple(table.shape)}"
        raise InputError(lesson(call, what, "kernels of the same points", f"Pass ({m}, {m}) or ({m},)"))
    return rectangle(between, "nngp_test", (m, n), call), table


def _positive(variance: Tensor, own: Tensor, call: str) -> Tensor:
    """Variances, with what rounding made negative set to zero, and an error for what rounding cannot."""
    scale = float((own if own.ndim == 1 else own.diagonal()).abs().max()) or 1.0
    # Cancellation leaves errors of about sqrt(eps) in solves with nearly singular kernels.
    if float(variance.min()) < -(torch.finfo(torch.float64).eps ** 0.5) * scale:
        what = f"a variance is {float(variance.min()):.2e}, with a prior of scale {scale:.2e}"
        cure = "Check that the kernels are those of the same network on the same points, in the same order"
        raise InputError(lesson(call, what, "one prior on all points", cure))
    return variance.clamp_min(0)
