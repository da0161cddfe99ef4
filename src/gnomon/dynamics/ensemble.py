"""Predicts mean and covariance of wide networks' outputs during training, over random initializations.

Before training a wide network is a Gaussian process with covariance S (the NNGP kernel); training with the tangent
kernel T is linear in the initial function, so the ensemble stays Gaussian. With A = T(x, X) G_t,
G_t = Q g_t(l + alpha) Q^T / n on T(X, X) / n = Q diag(l) Q^T:

    mean         A y                                                                           (1)
    covariance   S(x, x') - A S(X, x') - S(x, X) A'^T + A S(X, X) A'^T                         (2)

At t = infinity without penalty A = T(x, X) T(X, X)^+. If only the last layer is trained, T = S, and (1) and (2) at
t = infinity are the Bayesian posterior without noise, `gnomon.dynamics.gp_posterior`.

Hypotheses: squared loss; infinite width; outputs independent, with one kernel for all.
Reference: [lee2019wide], section 2.3.
"""

from dataclasses import dataclass, field
from math import inf

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.arrays import Array
from gnomon.core.results import Axis, Bars, Line, Plot, Result
from gnomon.core.results.plain import HIDDEN_IN_JSON
from gnomon.dynamics.error_decay import GradientFlow
from gnomon.dynamics.modes import modes_of
from gnomon.dynamics.prior import positive, prior_at_test_points
from gnomon.dynamics.problem import kernel_problem, of_shape, penalty_weight, time_grid
from gnomon.dynamics.squared import check_stable, mode_gains
from gnomon.linalg.square import symmetric_part
from gnomon.training import SGD

__all__ = ["KernelEnsemble", "kernel_ensemble"]


@dataclass(frozen=True, slots=True, eq=False)
class KernelEnsemble(Result):
    """Predicted mean and variance of the outputs of trained wide networks at each time, over random initializations.

    The covariance applies to each output; outputs are independent.

    >>> from math import log
    >>> one = torch.ones(1, 1)
    >>> print(kernel_ensemble(one, 4 * one, torch.ones(1), times=[0.0, log(2)]))
    Over the ensemble the outputs spread by 2 at time 0 and by 1 at time 0.693.
    """

    times: Float[Tensor, " t"]
    mean: Tensor = field(repr=False)
    variance: Float[Tensor, "t m"] = field(repr=False)
    covariance: Float[Tensor, "t m m"] | None = field(repr=False, metadata=HIDDEN_IN_JSON)

    @property
    def std(self) -> Float[Tensor, "t m"]:
        """Returns the standard deviations of the outputs over random initializations, (times, points)."""
        return self.variance.sqrt()

    @property
    def verdict(self) -> str:
        """States how much the networks' outputs differ between initializations, before and after training."""
        first, last = self._spread[[0, -1]].tolist()
        head = f"Over the ensemble the outputs spread by {first:.3g} at time {float(self.times[0]):.3g}"
        return f"{head} and by {last:.3g} at time {float(self.times[-1]):.3g}."

    @property
    def _spread(self) -> Float[Tensor, " t"]:
        return self.std.square().mean(1).sqrt()

    def plots(self) -> tuple[Plot, ...]:
        """Plots the standard deviation of the outputs between initializations over training time, or as bars if all
        times are 0 or infinite.
        """
        shown = (self.times > 0) & (self.times < inf)
        if not shown.any():
            bars = Bars("spread", [f"time {t:.3g}" for t in self.times.tolist()], self._spread.tolist())
            of = Axis("standard deviation of the outputs")
            return (Plot("Spread of the ensemble", (bars,), of, caption=self.verdict),)
        line = Line("spread", self.times[shown], self._spread[shown])
        time = Axis("time (learning rate x steps)", log=True)
        return (Plot("Spread of the ensemble", (line,), time, Axis("standard deviation of the outputs"), self.verdict),)


@add_call_to_errors
def kernel_ensemble(
    ntk: Array,
    nngp: Array,
    y: Array,
    *,
    ntk_test: Array | None = None,
    nngp_test: Array | None = None,
    nngp_test_test: Array | None = None,
    times: Array | list[float] | tuple[float, ...] = (float("inf"),),
    optimizer: GradientFlow | SGD | None = None,
    penalty: float = 0.0,
) -> KernelEnsemble:
    """Returns mean and covariance of infinitely wide networks' outputs at each training time, over initializations.

    See equations (1), (2) of the module docstring.

    Args:
        ntk: T(X, X), and ``nngp`` S(X, X), of the n training points.
        nngp: see ``ntk``.
        y: targets: numbers (n,) or (n, k), or integer classes (n,), taken as one-hot rows.
        ntk_test: T(x, X), m test points in rows; without it the ensemble is that at the training points.
        nngp_test: S(x, X).
        nngp_test_test: S(x, x'), (m, m), or only its diagonal (m,), which then gives variances alone.
        times: from 0 to infinity, which is the default.
        optimizer: ``GradientFlow()`` by default, or ``SGD(lr, momentum=...)``.
        penalty: alpha.

    Cost: one eigendecomposition and n^3 once, then m n^2 + m^2 n for each time.

    >>> one = torch.ones(1, 1)                                # one point: the spread decays like exp(-t)
    >>> round(float(kernel_ensemble(one, one, torch.ones(1), times=[1.0]).std), 12) == round(torch.e**-1, 12)
    True
    """
    problem = kernel_problem(ntk, y, None, None, None)
    if problem.full:
        raise InputError("ntk must be of shape (n, n), one kernel for all outputs, but it couples outputs")
    n = len(problem.y)
    prior = symmetric_part(of_shape(nngp, "nngp", (n, n)))
    if ntk_test is None:
        cross, between, own = problem.gram, prior, prior
    else:
        cross = of_shape(ntk_test, "ntk_test", (None, n))
        between, own = prior_at_test_points(nngp_test, nngp_test_test, len(cross), n)
    modes = modes_of(problem, optimizer or GradientFlow(), penalty_weight(penalty))
    grid = modes.decay.clock(time_grid(times))
    check_stable(modes.error(grid), modes, grid)
    B, S, C = cross @ modes.vectors, modes.vectors.T @ prior @ modes.vectors, between @ modes.vectors
    means, variances, covariances = [], [], []
    for gain in mode_gains(modes, grid, n):
        A = B * gain
        means.append(A @ modes.coefficients)  # (1)
        if own.ndim == 1:
            # Appends the diagonal of the covariance of the predictions.
            variances.append(own - 2 * (A * C).sum(1) + ((A @ S) * A).sum(1))
        else:
            half = A @ C.T
            covariances.append(symmetric_part(own - half - half.T + A @ S @ A.T))  # (2)
            variances.append(covariances[-1].diagonal())
    mean = torch.stack(means)
    variance = positive(torch.stack(variances), own)
    covariance = torch.stack(covariances) if covariances else None
    return KernelEnsemble(grid, mean[..., 0] if problem.flat else mean, variance, covariance)
