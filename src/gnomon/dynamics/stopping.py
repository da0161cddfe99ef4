"""Compares early stopping of training with full training under a ridge penalty that has a similar effect.

Along a mode of rate l (an eigenvalue of K / n), started from f(0), the share of the error that is learned is

    stopped at t        1 - p_t(l),    1 - exp(-l t) for the flow                              (1)
    ridge               l / (l + alpha)                                                        (2)

With t = 1 / alpha both are l / alpha for l << alpha, 1 for l >> alpha, and for the flow they never differ by more than

    max_z 1 / (1 + z) - exp(-z) = 0.20364,    at z = l / alpha = 2.51286, where exp(z / 2) = 1 + z      (3)

so that on training points the two functions differ by at most 0.204 |y - f(0)|. The ridge is the one of
``sklearn.kernel_ridge.KernelRidge(alpha=n alpha)``, because losses here are means.

Hypotheses: squared loss; a constant kernel; no other penalty.
Reference: [ali2019continuous].
"""

from dataclasses import dataclass, field, replace
from math import exp, inf

import torch
from torch import Tensor

from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.arrays import Array
from gnomon.core.inputs.checks import check_number
from gnomon.core.results import Axis, Line, Plot, Reference, Result
from gnomon.dynamics import squared
from gnomon.dynamics.error_decay import GradientFlow
from gnomon.dynamics.modes import modes_of
from gnomon.dynamics.problem import kernel_problem
from gnomon.training import SGD

__all__ = ["EquivalentStoppingTime", "equivalent_stopping_time"]

WORST_RATIO = 2.5128624172523393
"""Ratio l / alpha at which flow and ridge differ most: the positive root of exp(z / 2) = 1 + z."""


@dataclass(frozen=True, slots=True, eq=False)
class EquivalentStoppingTime(Result):
    """Result: the early-stopping time that replaces a ridge penalty, and how much the two solutions differ.

    ``gaps`` are the differences of learned shares, (1) minus (2), mode by mode; ``worst`` is the largest of them and
    ``bound`` what (3) allows, infinite for steps. ``train_gap`` and ``test_gap`` are the norms of the differences of
    the two functions, divided by the norm of the ridge's change f - f(0).

    >>> 0.2036 < equivalent_stopping_time(torch.eye(1), torch.ones(1), ridge=1 / WORST_RATIO).worst < 0.2037
    True
    """

    ridge: float
    time: float
    gaps: Tensor = field(repr=False)
    worst: float
    bound: float
    train_gap: float
    test_gap: float | None

    @property
    def verdict(self) -> str:
        """Reports how well early stopping replaces the ridge penalty."""
        return (
            f"Stopping at time {self.time:.3g} acts like a ridge of {self.ridge:.3g}: the fitted share of a mode "
            f"differs by at most {self.worst:.3g}, the predictions on the training points by "
            f"{100 * self.train_gap:.3g} %."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots the difference between early stopping and ridge penalty along each eigenvector, with a bound."""
        line = Line("stopped minus ridge", range(1, len(self.gaps) + 1), self.gaps)
        bound = (Reference("bound", self.bound),) if self.bound < inf else ()
        axes = Axis("mode"), Axis("difference of the learned share")
        return (Plot("Early stopping compared with a ridge", (line, *bound), *axes, self.verdict),)


@add_call_to_errors
def equivalent_stopping_time(
    ntk: Array,
    y: Array,
    *,
    ridge: float,
    test: Array | None = None,
    f0: Array | None = None,
    f0_test: Array | None = None,
    optimizer: GradientFlow | SGD | None = None,
) -> EquivalentStoppingTime:
    """Returns the time t = 1 / ridge at which to stop instead of using a ridge penalty, and the remaining difference.

        f_t - f_ridge = sum_i q_i (1 - p_t(l_i) - l_i / (l_i + alpha)) q_i^T (y - f(0))            (1)

    Args:
        ntk: the kernel of the training points.
        y: targets: numbers (n,) or (n, k), or integer classes (n,), taken as one-hot rows.
        ridge: alpha, the penalty of the mean loss.
        test: the kernel between test and training points, for the difference there.
        f0: outputs before training, and ``f0_test`` at the test points.
        f0_test: see ``f0``.
        optimizer: ``GradientFlow()`` by default.

    Cost: one eigendecomposition.

    >>> result = equivalent_stopping_time(2 * torch.eye(2), torch.ones(2), ridge=0.5)        # l = 1, z = 2
    >>> round(result.worst, 12) == round(1 / 3 - torch.e**-2, 12)
    True
    >>> print(result)
    Stopping at time 2 acts like a ridge of 0.5: the fitted share of a mode differs by at most 0.198, the
    predictions on the training points by 29.7 %.
    """
    ridge = check_number("ridge", ridge, above=0)
    problem = kernel_problem(ntk, y, test, f0, f0_test)
    stopped = modes_of(problem, optimizer or GradientFlow(), 0.0)
    ridged = replace(stopped, optimizer=GradientFlow(), penalty=ridge)
    one = stopped.decay.clock(torch.tensor([1 / ridge], dtype=torch.float64))
    time, end = float(one), torch.tensor([inf], dtype=torch.float64)
    gaps = (ridged.error(end) - stopped.error(one))[0]
    squared.check_stable(gaps[None], stopped, one)
    train, tested, _ = squared.evolve(problem, stopped, one)
    train_ridge, tested_ridge, _ = squared.evolve(problem, ridged, end)
    bound = 1 / (1 + WORST_RATIO) - exp(-WORST_RATIO) if isinstance(stopped.optimizer, GradientFlow) else inf  # (3)
    test_gap = None if test is None else _relative(tested - tested_ridge, tested_ridge - problem.f0_test)
    worst = float(gaps.abs().max())
    train_gap = _relative(train - train_ridge, train_ridge - problem.f0)
    return EquivalentStoppingTime(ridge, time, gaps, worst, bound, train_gap, test_gap)


def _relative(difference: Tensor, change: Tensor) -> float:
    size = float(change.norm())
    return float(difference.norm()) / size if size > 0 else 0.0
