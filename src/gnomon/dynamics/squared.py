"""Computes outputs during training with squared loss in closed form, from the kernel's eigenvectors.

The parameters of a model that is linear in them move in the span of the training gradients, theta - theta_0 = J^T c, so
n coefficients determine everything. With r = y - f(0), on K / n = Q diag(l) Q^T,

    c' = -(K / n + alpha) c + r / n,    c(t) = Q g_t(l + alpha) Q^T r / n                     (1)
    f(x, t) = f(x, 0) + K(x, X) c(t)                                                          (2)
    f(X, t) - y = -Q e(t) Q^T r                                                               (3)

with g_t the gain of the optimizer and e(t) the errors of the modes. f(x, 0) stays in (2) at all times: training adds a
correction to the initial function.

Hypotheses: squared loss; a constant kernel.
Reference: [lee2019wide], section 2.2.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.errors import NotFiniteError
from gnomon.dynamics.modes import TrainingModes
from gnomon.dynamics.problem import KernelProblem

__all__ = ["mode_gains"]


def evolve(problem: KernelProblem, modes: TrainingModes, times: Float[Tensor, " t"]) -> tuple[Tensor, Tensor, Tensor]:
    """Returns the predicted training outputs (t, n, k), test outputs (t, m, k) and training loss (t,) at all times."""
    errors = modes.error(times)  # (t, r)
    check_stable(errors, modes, times)
    left = errors[:, :, None] * modes.coefficients
    train = problem.y - problem.outputs(torch.einsum("nr,trk->tnk", modes.vectors, left))  # (3)
    loss = left.square().sum((1, 2)) / (2 * len(problem.y))
    weights = mode_gains(modes, times, len(problem.y))[:, :, None] * modes.coefficients
    change = torch.einsum("mr,trk->tmk", problem.cross @ modes.vectors, weights)  # (1)
    return train, problem.f0_test + problem.outputs(change), loss  # (2)


def mode_gains(modes: TrainingModes, times: Float[Tensor, " t"], n: int) -> Float[Tensor, "t r"]:
    """Returns how far the outputs have moved along each eigenvector of the kernel at each time; 0 if they never move.

    Cost: t r numbers.

    >>> from gnomon.dynamics import training_modes
    >>> one = training_modes(torch.eye(1), torch.ones(1))
    >>> round(float(mode_gains(one, torch.ones(1).double(), 1)), 12)                          # 1 - exp(-1)
    0.632120558829
    """
    learned = modes.rates > 0
    gain = modes.decay.gain(torch.where(learned, modes.rates + modes.penalty, 1.0), times)
    return torch.where(learned, gain, 0.0) / n


def check_stable(errors: Tensor, modes: TrainingModes, times: Tensor) -> None:
    """Raises an error if training diverges so far that the error is infinite at one of the times."""
    bad = ~errors.isfinite().all(1)
    if bool(bad.any()):
        when = float(times[bad][0])
        what = f"with lr {modes.optimizer.lr:.3g} the error is infinite at time {when:.3g}"
        fix = f"Use an lr below {modes.largest_lr:.3g}, or earlier times, at which the error is still finite"
        raise NotFiniteError(what, accepted="a stable learning rate, or a short time", fix=fix)
