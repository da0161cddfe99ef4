"""Measures how fast the error of a network falls along each eigenvector of the tangent kernel.

    K u_i = lambda_i u_i,    r_t = f_t - y,    energy_i(t) = |u_i^T r_t|^2                                      (1)
    under descent on the squared loss with mean over n examples: energy_i falls by exp(-2 lambda_i lr / n) a step  (2)

Hypotheses: (2) for a kernel that does not move. Reference: [arora2019fine], section 4.

>>> import torch
>>> net = nn.Linear(2, 1, bias=False)
>>> residual_modes(net, [net], (torch.diag(torch.tensor([2.0, 1.0])), torch.ones(2))).values.round(decimals=5)
tensor([4., 1.], dtype=torch.float64)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_module_is_callable, check_number
from gnomon.core.inputs.classes import targets_as_numbers
from gnomon.core.inputs.source import data_source
from gnomon.core.modules.outputs import outputs_in_eval_mode
from gnomon.core.results import Axis, Line, Plot, Result
from gnomon.tangent.empirical import ntk

__all__ = ["ConvergenceRate", "ResidualModes", "convergence_rate", "residual_modes"]


@dataclass(frozen=True, slots=True, eq=False)
class ResidualModes(Result):
    """The squared error along each eigenvector of the initial tangent kernel at each checkpoint, with the
    eigenvalues.
    """

    values: Float[Tensor, " n"]
    energy: Float[Tensor, "t n"]

    @property
    def left(self) -> Float[Tensor, " n"]:
        """The fraction of the initial squared error along each eigenvector that is left at the last checkpoint."""
        return torch.where(self.energy[0] > 0, self.energy[-1] / self.energy[0].clamp_min(1e-300), 0.0)

    @property
    def verdict(self) -> str:
        """A sentence that says how much error is left along the leading half of the kernel's eigenvectors and along the
        others.
        """
        half = max(1, len(self.values) // 2)
        left = [float(part[-1].sum() / part[0].sum().clamp_min(1e-300)) for part in
                (self.energy[:, :half], self.energy[:, half:])]  # fmt: skip
        return (
            f"Training left {left[0]:.1%} of the squared error along the leading half of the kernel's eigenvectors, "
            f"and {left[1]:.1%} along the others."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots the squared error along each eigenvector of the tangent kernel at the start and at the end."""
        places = range(1, len(self.values) + 1)
        marks = (Line("start", places, self.energy[0]), Line("end", places, self.energy[-1]))
        return (Plot("Error by direction of the kernel", marks, Axis("direction"), Axis("squared error", log=True)),)


@dataclass(frozen=True, slots=True)
class ConvergenceRate(Result):
    """Predicted rates at which gradient descent learns: the fastest and the slowest direction, and the
    learning rate.
    """

    fastest: float
    slowest: float
    lr: float

    @property
    def steps(self) -> float:
        """The number of steps in which the slowest part of the error falls to 1 / e; infinite if the kernel is
        singular.
        """
        return 1 / (self.lr * self.slowest) if self.slowest > 0 else float("inf")

    @property
    def verdict(self) -> str:
        """A sentence that says how many steps the slowest part of the error takes to fall."""
        if self.slowest <= 0:
            return "The kernel is singular on these examples: a component of the targets is never learned."
        return (
            f"The slowest direction of the error falls to 1 / e in {self.steps:.3g} steps of {self.lr:.3g}, if the "
            f"kernel does not change."
        )


@add_call_to_errors
def residual_modes(start: nn.Module, checkpoints: Sequence[nn.Module], data: Any) -> ResidualModes:
    """Returns the squared error along each eigenvector of the initial tangent kernel, at each checkpoint.

    See equation (1) of the module docstring.
    Classes are one-hot rows; for several outputs the kernel is their mean one and energies are sums over outputs.
    Hypotheses: one architecture. Reference: [arora2019fine].
    Cost: one empirical kernel, its eigenvectors O(n^3), a forward pass for each checkpoint.

    >>> net = nn.Linear(1, 1, bias=False)
    >>> _ = nn.init.zeros_(net.weight)
    >>> residual_modes(net, [net], (torch.ones(1, 1), torch.tensor([3.0]))).energy.round(decimals=5).tolist()
    [[9.0], [9.0]]
    """
    check_module_is_callable(start)
    inputs, given = data_source(data, module=start).pair()
    f = outputs_in_eval_mode(start, inputs).double()
    target = targets_as_numbers(given, outputs=f.shape[1]).double().reshape(len(f), -1)
    if target.shape != f.shape:
        found = f"targets of shape {tuple(target.shape)} and outputs of shape {tuple(f.shape)}"
        raise InputError(found, accepted="a target for each output", fix="Give y a column for each output")
    values, vectors = torch.linalg.eigh(ntk(start, inputs).double())
    rows = [f, *(outputs_in_eval_mode(module, inputs).double() for module in checkpoints)]
    energy = torch.stack([(vectors.flip(1).T @ (row - target)).square().sum(1) for row in rows])  # (1)
    return ResidualModes(values.flip(0).clamp_min(0), energy)


@add_call_to_errors
def convergence_rate(module: nn.Module, data: Any, *, lr: float = 1.0) -> ConvergenceRate:
    """Predicts from the current kernel how fast gradient descent on the squared loss learns these examples.

    See equation (2) of the module docstring.
    Hypotheses: a kernel that does not move; the loss is half the mean square. Reference: [arora2019fine].
    Cost: one empirical kernel and its eigenvalues.

    >>> round(convergence_rate(nn.Linear(2, 1, bias=False), 2 * torch.eye(2)).slowest, 6)        # 4 / n
    2.0
    """
    rate = check_number("lr", lr, above=0)
    values = torch.linalg.eigvalsh(ntk(module, data).double())
    floor = torch.finfo(torch.float32).eps * float(values[-1]) * len(values)
    slowest = float(values[0]) if float(values[0]) > floor else 0.0
    return ConvergenceRate(float(values[-1]) / len(values), slowest / len(values), rate)  # (2)
