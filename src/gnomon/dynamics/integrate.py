"""Any loss: the flow in function space by an adaptive solver, and descent step by step.

As for squared loss n k coefficients say everything, theta - theta_0 = J^T c and f(X) = f(X, 0) + K c:

    c' = -(1 / n) dl/df(f(X, 0) + K c, y) - alpha c                                           (1)
    dc' / dc = -(1 / n) H_i[a, b] K_ij - alpha                                                (2)

with the Hessians H_i of the loss in the outputs, and H_i K_ij in (2) where the kernel couples outputs. The solver is
LSODA with the Jacobian (2), which turns implicit where the problem is stiff; above ``DENSE`` coefficients no Jacobian
is formed, and the solver is an explicit one of order 8.

Hypotheses: a constant kernel; the loss has a continuous gradient.
Reference: [petzold1983automatic] for the solver, [lee2019wide], section 2.1, for the flow.
"""

from collections.abc import Callable
from math import inf

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.errors import InputError, NotFiniteError, lesson
from gnomon.core.losses import AbstractLoss
from gnomon.dynamics.gram import Problem
from gnomon.dynamics.optimizers import AbstractOptimizer, Momentum

DENSE = 2000
"""Coefficients up to which the Jacobian is formed: 32 MB."""


def flow(
    given: Problem, loss: AbstractLoss, times: Float[Tensor, " t"], penalty: float, tolerance: float, call: str
) -> Float[Tensor, "t n k"]:
    """The coefficients c of (1) at finite times, to a local tolerance in the outputs.

    Cost: n^2 k operations for a step of the solver, (n k)^3 for a step that factorizes the Jacobian.
    """
    from scipy.integrate import solve_ivp  # slow to import, and needed by this function alone

    n, k = given.y.shape
    if float(times[-1]) == inf:
        what = f"infinite time is asked for {loss.name}"
        cure = "Pass finite times: on separable data the outputs grow for ever, like log t, and have no limit"
        raise InputError(lesson(call, what, "squared loss, whose limit is known", cure))

    if float(times[-1]) == 0:
        return torch.zeros(len(times), n, k, dtype=torch.float64)

    def slope(_: float, flat: "object") -> "object":
        c = torch.as_tensor(flat).reshape(n, k)
        return (-loss.gradient(given.f0 + given.train(c), given.y) / n - penalty * c).flatten().numpy()  # (1)

    def jacobian(_: float, flat: "object") -> "object":
        hessian = loss.hessian(given.f0 + given.train(torch.as_tensor(flat).reshape(n, k)), given.y)
        if given.full:
            full = -torch.einsum("iab,ibs->ias", hessian, given.gram.reshape(n, k, -1)) / n
        else:
            full = -torch.einsum("iab,ij->iajb", hessian, given.gram) / n  # (2)
        full = full.reshape(n * k, n * k)
        full.diagonal().sub_(penalty)
        return full.numpy()

    # An error d in c moves the outputs by at most |K|_inf d.
    scale = float(given.gram.abs().sum(1).max()) or 1.0
    # A lambda, because LSODA before scipy 1.17 counts the arguments of the function, which a wrapped one hides.
    stiff = {"method": "LSODA", "jac": lambda t, c: jacobian(t, c)}
    options: dict[str, object] = stiff if n * k <= DENSE else {"method": "DOP853"}
    span = (0.0, float(times[-1]))
    found = solve_ivp(slope, span, torch.zeros(n * k).double().numpy(), t_eval=times.numpy(), rtol=tolerance,
                      atol=tolerance / scale, **options)  # fmt: skip
    if not found.success:
        why = "Ask for shorter times, or scale the kernel down"
        raise NotFiniteError(lesson(call, f"the solver stopped: {found.message}", "a flow that exists", why))
    return torch.from_numpy(found.y.T.copy()).reshape(len(times), n, k)


def descent(
    given: Problem,
    loss: AbstractLoss,
    optimizer: AbstractOptimizer,
    times: Float[Tensor, " t"],
    penalty: float,
    call: str,
) -> Float[Tensor, "t n k"]:
    """The coefficients after whole steps of descent or momentum, taken one by one.

    Cost: n^2 k operations for a step.
    """
    if float(times[-1]) == inf:
        what = f"infinite time is asked for {loss.name}"
        raise InputError(lesson(call, what, "a finite number of steps", "Pass finite times"))
    beta = optimizer.beta if isinstance(optimizer, Momentum) else 0.0
    n = len(given.y)

    def slope(c: Tensor) -> Tensor:
        return -loss.gradient(given.f0 + given.train(c), given.y) / n - penalty * c

    return _walk(slope, torch.zeros_like(given.y), optimizer.lr, beta, times, call)


def _walk(
    slope: Callable[[Tensor], Tensor], c: Tensor, lr: float, beta: float, times: Tensor, call: str
) -> Float[Tensor, "t n k"]:
    velocity, done, kept = torch.zeros_like(c), 0, []
    for stop in (times / lr).round().long().tolist():
        for _ in range(stop - done):
            velocity = beta * velocity + slope(c)
            c = c + lr * velocity
        if not bool(c.isfinite().all()):
            what = f"with lr {lr:.3g} the outputs are no longer finite at time {stop * lr:.3g}"
            raise NotFiniteError(lesson(call, what, "a stable learning rate", "Use a smaller lr, or shorter times"))
        done = stop
        kept.append(c)
    return torch.stack(kept)
