"""Computes training of a kernel model for any loss: gradient flow by an ODE solver, gradient descent step by step.

As for squared loss n k coefficients determine everything, theta - theta_0 = J^T c and f(X) = f(X, 0) + K c:

    c' = -(1 / n) dl/df(f(X, 0) + K c, y) - alpha c                                           (1)
    dc' / dc = -(1 / n) H_i[a, b] K_ij - alpha                                                (2)

with the Hessians H_i of the loss in the outputs, and H_i K_ij in (2) if the kernel couples outputs. The solver is
LSODA with the Jacobian (2), which becomes implicit if the problem is stiff; above ``MAX_DENSE_COEFFICIENTS``
coefficients no Jacobian
is formed, and the solver is an explicit one of order 8.

Hypotheses: a constant kernel; the loss has a continuous gradient.
Reference: [petzold1983automatic] for the solver, [lee2019wide], section 2.1, for the flow.
"""

from collections.abc import Callable
from math import inf

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.errors import InputError, NotFiniteError
from gnomon.core.losses import AbstractLoss
from gnomon.dynamics.problem import KernelProblem
from gnomon.training import SGD

MAX_DENSE_COEFFICIENTS = 2000
"""Maximum number of coefficients for which the Jacobian is formed: 32 MB."""


def flow(
    problem: KernelProblem, loss: AbstractLoss, times: Float[Tensor, " t"], penalty: float, tolerance: float
) -> Float[Tensor, "t n k"]:
    """Integrates gradient flow of a kernel model by an ODE solver; returns the kernel coefficients at finite times.

    See equation (1) of the module docstring.
    Cost: n^2 k operations for a step of the solver, (n k)^3 for a step that factorizes the Jacobian.
    """
    from scipy.integrate import solve_ivp  # slow to import

    n, k = problem.y.shape
    if float(times[-1]) == inf:
        what = f"the times include infinity, and the loss is the {loss.name}"
        fix = "Pass finite times: on separable data the outputs grow without bound, like log t"
        raise InputError(what, accepted="squared loss for infinite times", fix=fix)

    if float(times[-1]) == 0:
        return torch.zeros(len(times), n, k, dtype=torch.float64)

    def slope(_: float, flat: "object") -> "object":
        c = torch.as_tensor(flat).reshape(n, k)
        return (-loss.gradient(problem.f0 + problem.train(c), problem.y) / n - penalty * c).flatten().numpy()  # (1)

    def jacobian(_: float, flat: "object") -> "object":
        hessian = loss.hessian(problem.f0 + problem.train(torch.as_tensor(flat).reshape(n, k)), problem.y)
        if problem.full:
            full = -torch.einsum("iab,ibs->ias", hessian, problem.gram.reshape(n, k, -1)) / n
        else:
            full = -torch.einsum("iab,ij->iajb", hessian, problem.gram) / n  # (2)
        full = full.reshape(n * k, n * k)
        full.diagonal().sub_(penalty)
        return full.numpy()

    # An error d in the coefficients c changes outputs by at most |K|_inf d, so the tolerance is divided by this norm.
    scale = float(problem.gram.abs().sum(1).max()) or 1.0
    # A lambda is needed, because scipy before 1.17 counts the arguments of a Jacobian, which a wrapper would hide.
    stiff = {"method": "LSODA", "jac": lambda t, c: jacobian(t, c)}
    options: dict[str, object] = stiff if n * k <= MAX_DENSE_COEFFICIENTS else {"method": "DOP853"}
    span = (0.0, float(times[-1]))
    solution = solve_ivp(slope, span, torch.zeros(n * k).double().numpy(), t_eval=times.numpy(), rtol=tolerance,
                         atol=tolerance / scale, **options)  # fmt: skip
    if not solution.success:
        fix = "Pass shorter times, or scale the kernel down"
        raise NotFiniteError(f"the solver stopped: {solution.message}", accepted="a flow that stays finite", fix=fix)
    return torch.from_numpy(solution.y.T.copy()).reshape(len(times), n, k)


def descent(
    problem: KernelProblem, loss: AbstractLoss, optimizer: SGD, times: Float[Tensor, " t"], penalty: float
) -> Float[Tensor, "t n k"]:
    """Runs gradient descent or momentum on a kernel model's coefficients; returns the coefficients at the given times.

    Cost: n^2 k operations for a step.
    """
    if float(times[-1]) == inf:
        what = f"the times include infinity, and the loss is the {loss.name}"
        raise InputError(what, accepted="a finite number of steps", fix="Pass finite times")
    n = len(problem.y)

    def slope(c: Tensor) -> Tensor:
        return -loss.gradient(problem.f0 + problem.train(c), problem.y) / n - penalty * c

    return _steps(slope, torch.zeros_like(problem.y), optimizer.lr, optimizer.momentum, times)


def _steps(
    slope: Callable[[Tensor], Tensor], c: Tensor, lr: float, beta: float, times: Tensor
) -> Float[Tensor, "t n k"]:
    velocity, done, kept = torch.zeros_like(c), 0, []
    for stop in (times / lr).round().long().tolist():
        for _ in range(stop - done):
            velocity = beta * velocity + slope(c)
            c = c + lr * velocity
        if not bool(c.isfinite().all()):
            what = f"with lr {lr:.3g} the outputs are no longer finite at time {stop * lr:.3g}"
            raise NotFiniteError(what, accepted="a stable learning rate", fix="Use a smaller lr, or shorter times")
        done = stop
        kept.append(c)
    return torch.stack(kept)
