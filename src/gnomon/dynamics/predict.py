"""Predicts losses and outputs of a training run from a kernel matrix.

Losses are means over points, squared loss with a half; time is learning rate times steps:

    L = (1 / n) sum_i l(f_i, y_i) + (alpha / 2) |theta - theta_0|^2                                (1)
    f'(x) = -(1 / n) sum_i K(x, x_i) dl/df_i - alpha (f(x) - f(x, 0))                              (2)

and for squared loss f' = -(1 / n) K (f - y). The penalty pulls to the initial parameters, whose function is f(x, 0).
"""

from math import inf, log

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.arrays import Array
from gnomon.core.inputs.checks import as_numbers, check_number, check_real, check_type
from gnomon.core.losses import AbstractLoss, Squared
from gnomon.core.metrics import accuracy
from gnomon.core.results import Curves
from gnomon.dynamics import integrate, squared
from gnomon.dynamics.error_decay import GradientFlow, error_decay
from gnomon.dynamics.modes import TrainingModes, modes_of
from gnomon.dynamics.problem import KernelProblem, columns, finite, kernel_problem, penalty_weight, time_grid
from gnomon.dynamics.trajectory import Trajectory
from gnomon.linalg.square import dense_matrix
from gnomon.training import SGD

__all__ = ["ACCEPTED_LOSSES", "predict_from_kernel"]

ACCEPTED_LOSSES = "Pass Squared(), CrossEntropy(), Logistic(), Exponential() or Hinge()"
"""Advice in the error for an unknown loss."""
DEFAULT_TIMES = 60
"""Number of times between the fastest and the slowest mode by default."""


@add_call_to_errors
def predict_from_kernel(
    ntk: Array,
    y: Array,
    *,
    test: Array | None = None,
    y_test: Array | None = None,
    f0: Array | None = None,
    f0_test: Array | None = None,
    times: Array | list[float] | tuple[float, ...] | None = None,
    loss: AbstractLoss | None = None,
    optimizer: GradientFlow | SGD | None = None,
    penalty: float = 0.0,
    tolerance: float = 1e-8,
) -> Trajectory:
    """Predicts losses and outputs of full-batch training from a kernel at given times, on training and test points.

        f' = -(1 / n) K dl/df - alpha (f - f(0)),    f(X, t) = y + exp(-K t / n) (f(X, 0) - y)     (1)

    The second form holds for squared loss without penalty. It is evaluated in closed form at every time, infinity
    included, for the flow and for steps; other losses are integrated, or stepped.

    Args:
        ntk: the kernel of the n training points, for instance ``gnomon.limit(net).ntk(x)``: (n, n), shared by all
            outputs, or (n, n, k, k) if it couples them, as ``gnomon.ntk(net, x, outputs="full")`` does.
        y: targets: numbers (n,) or (n, k), or integer classes (n,), for the squared loss taken as one-hot rows.
        test: the kernel between m test points, in rows, and the training points, in columns.
        y_test: targets at the test points, for the test loss.
        f0: outputs before training, zero by default; ``f0_test`` the same at the test points.
        f0_test: see ``f0``.
        times: any times from 0 to infinity; they are sorted, and moved to whole steps. By default 0, a logarithmic
            grid from the fastest mode to the slowest, and infinity if the limit exists.
        loss: ``Squared()`` (default), ``CrossEntropy()``, ``Logistic()``, ``Exponential()``, ``Hinge()``
        optimizer: ``GradientFlow()`` by default, or ``SGD(lr, momentum=...)``.
        penalty: alpha.
        tolerance: of the solver, in the outputs, for losses other than the squared one.

    Hypotheses: the kernel does not move during training: a linear model, or a wide network in the lazy regime, whose
    deviation falls with its width.
    Reference: [jacot2018neural], [lee2019wide].
    Cost: one eigendecomposition, 9 n^3, then n^2 for each time; for other losses n^2 k for each step.

    >>> from math import exp, inf
    >>> K = torch.tensor([[2.0, 0.0], [0.0, 4.0]])
    >>> run = predict_from_kernel(K, torch.tensor([1.0, 1.0]), times=[0.5, inf])
    >>> abs(float(run.train[0, 1]) - (1 - exp(-4 * 0.5 / 2))) < 1e-15
    True
    >>> print(run)
    Gradient flow takes the squared loss from 0.126 to 0 by time inf; 2 of 2 modes are 99 % learned by then, and the
    slowest needs time 4.61.
    """
    loss, optimizer = loss or Squared(), optimizer or GradientFlow()
    check_type("loss", loss, AbstractLoss, fix=ACCEPTED_LOSSES)
    decay = error_decay(optimizer)
    tolerance = check_number("tolerance", tolerance, above=0)
    f0 = None if f0 is None else as_numbers(f0, "f0")
    ntk = dense_matrix(ntk)
    y = check_real(as_numbers(y, "y"), "y")
    targets = loss.targets(y, outputs=_outputs(ntk, f0))
    problem = kernel_problem(ntk, targets, test, f0, f0_test)
    alpha = penalty_weight(penalty)
    if isinstance(loss, Squared):
        modes = modes_of(problem, optimizer, alpha)
        grid = decay.clock(_default(modes) if times is None else time_grid(times))
        train, outputs, losses = squared.evolve(problem, modes, grid)
        largest = modes.largest_lr
    else:
        modes, curvature = None, float(torch.linalg.eigvalsh(problem.gram)[-1]) / len(problem.y)
        largest = decay.largest_lr(loss.curvature * curvature + alpha)
        grid = decay.clock(_short(curvature + alpha) if times is None else time_grid(times))
        train, outputs, losses = _numerical(problem, loss, optimizer, grid, alpha, tolerance)
    test_targets = None if y_test is None else _test_targets(loss, y_test, problem, has_test=test is not None)
    curves = Curves(
        grid, losses, loss.name,
        None if test_targets is None else torch.stack([loss.value(f, test_targets) for f in outputs]),
        _accuracies(train, problem.y),
        None if test_targets is None else _accuracies(outputs, test_targets),
        _reshape(train, problem), None if test is None else _reshape(outputs, problem),
    )  # fmt: skip
    return Trajectory(curves, optimizer, largest, modes)


def _numerical(
    problem: KernelProblem,
    loss: AbstractLoss,
    optimizer: GradientFlow | SGD,
    times: Tensor,
    alpha: float,
    tolerance: float,
) -> tuple[Tensor, Tensor, Tensor]:
    if isinstance(optimizer, GradientFlow):
        c = integrate.flow(problem, loss, times, alpha, tolerance)
    else:
        c = integrate.descent(problem, loss, optimizer, times, alpha)
    train = problem.f0 + problem.train(c)
    return train, problem.f0_test + problem.test(c), torch.stack([loss.value(f, problem.y) for f in train])


def _test_targets(loss: AbstractLoss, y_test: Array, problem: KernelProblem, *, has_test: bool) -> Float[Tensor, "m k"]:
    if not has_test:
        fix = "Pass test as well, the kernel between test and training points"
        raise InputError(f"y_test is passed without test. {fix}")
    k, labels = problem.y.shape[1], check_real(as_numbers(y_test, "y_test"), "y_test")
    targets = finite(loss.targets(labels, outputs=k), "y_test")
    return columns(targets, "y_test", len(problem.f0_test), k)


def _accuracies(outputs: Float[Tensor, "t m k"], targets: Float[Tensor, "m k"]) -> Float[Tensor, " t"] | None:
    shares = [accuracy(f, targets) for f in outputs]
    return None if shares[0] is None else torch.tensor(shares, dtype=torch.float64)


def _outputs(ntk: Tensor | np.ndarray, f0: Tensor | np.ndarray | None) -> int | None:
    """Returns the number of network outputs if the kernel's or the initial outputs' shape determines it; otherwise
    None.
    """
    if ntk.ndim == 4:
        return ntk.shape[-1]
    return f0.shape[1] if f0 is not None and f0.ndim == 2 else None


def _reshape(outputs: Tensor, problem: KernelProblem) -> Tensor:
    return outputs[..., 0] if problem.flat else outputs


def _default(modes: TrainingModes) -> Float[Tensor, " t"]:
    """Returns times at which to predict training: from well before the fastest learning to well after the slowest."""
    total = (modes.rates + modes.penalty)[modes.rates > 0]
    if len(total) == 0:
        return torch.tensor([0.0, inf], dtype=torch.float64)
    growth = -float(modes.decay.decay(total).min())
    if growth >= 0:
        last = min(100 * modes.optimizer.lr, log(1e6) / growth if growth > 0 else inf)
        return torch.linspace(0.0, last, DEFAULT_TIMES, dtype=torch.float64)
    return torch.cat([_grid(0.01 / float(total[0]), 100 / float(total[-1])), torch.tensor([inf]).double()])


def _short(rate: float) -> Float[Tensor, " t"]:
    return _grid(0.01 / rate, 1000 / rate) if rate > 0 else torch.tensor([0.0, 1.0], dtype=torch.float64)


def _grid(first: float, last: float) -> Float[Tensor, " t"]:
    return torch.cat([torch.zeros(1), torch.linspace(log(first), log(last), DEFAULT_TIMES, dtype=torch.float64).exp()])
