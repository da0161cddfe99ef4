"""Loss functions with their gradient and Hessian with respect to the network's outputs.

The loss of training is the mean over points, (1 / n) sum_i l(f_i, y_i). With margins m = y f and p = softmax(f):

    squared         l = |f - y|^2 / 2                                                       (1)
    cross-entropy   l = -sum_c y_c log p_c                                                  (2)
    logistic        l = sum log(1 + exp(-m))                                                (3)
    exponential     l = sum exp(-m)                                                         (4)
    hinge           l = sum h(1 - m),  h(z) = 0, z^2 / 2w, z - w / 2 on z < 0, z < w, z >= w   (5)

(3) to (5) sum over outputs. (1) is half of ``torch.nn.MSELoss`` for one output; for k outputs MSELoss with learning
rate r moves like (1) with learning rate 2 r / k. (2) is ``torch.nn.CrossEntropyLoss``. The hinge is rounded over a
width w, because at its corner the flow of the sharp one slides along margin 1, where a differential equation has no
solution; as w falls the rounded flow tends to that sliding one.

Integer targets (n,) are classes for every loss: one-hot rows for (1) and (2), for the others +1 in the column of the
class and -1 elsewhere, or -1 and +1 for classes 0 and 1 of a single output.

Hypotheses: classes, or labels +1 and -1, for (3), (4), (5); classes or probabilities for (2).
Reference: [rosasco2004loss].

>>> import torch
>>> round(float(Logistic().value(torch.zeros(1, 1), torch.ones(1, 1))), 12)  # log 2
0.69314718056
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import inf

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.arrays import Array, as_tensor
from gnomon.core.inputs.classes import are_classes, one_hot, targets_as_numbers

__all__ = ["AbstractLoss", "CrossEntropy", "Exponential", "Hinge", "Logistic", "Squared"]

Outputs = Float[Tensor, "n k"]


class AbstractLoss(ABC):
    """Base class of loss functions that compare the outputs f with the targets y of one example; all are convex in
    f.
    """

    name: str
    """The name of the loss in a sentence."""

    @property
    @abstractmethod
    def curvature(self) -> float:
        """Returns the largest possible eigenvalue of the loss's Hessian with respect to the outputs, or infinity."""

    @abstractmethod
    def value(self, f: Outputs, y: Outputs) -> Float[Tensor, ""]:
        """Returns the loss of outputs f and targets y, averaged over the examples."""

    @abstractmethod
    def gradient(self, f: Outputs, y: Outputs) -> Outputs:
        """Returns the gradient of the loss with respect to the outputs, for each example."""

    @abstractmethod
    def hessian(self, f: Outputs, y: Outputs) -> Float[Tensor, "n k k"]:
        """Returns the Hessian matrix of the loss with respect to the outputs, for each example."""

    def targets(self, y: Array, *, outputs: int | None = None) -> Tensor:
        """Converts targets to the numbers that this loss compares with the outputs; raises an error if the targets do
        not fit.
        """
        return as_tensor(y)


@dataclass(frozen=True, slots=True)
class Squared(AbstractLoss):
    """Squared error loss of outputs f and targets y: half of |f - y|^2.

    See equation (1) of the module docstring.

    >>> float(Squared().value(torch.zeros(1, 1), torch.full((1, 1), 2.0)))
    2.0
    """

    name = "squared loss"
    curvature = 1.0

    def value(self, f: Outputs, y: Outputs) -> Float[Tensor, ""]:  # noqa: D102
        return (f.double() - y).square().sum(1).mean() / 2  # (1)

    def gradient(self, f: Outputs, y: Outputs) -> Outputs:  # noqa: D102
        return f - y

    def hessian(self, f: Outputs, y: Outputs) -> Float[Tensor, "n k k"]:  # noqa: D102
        return torch.eye(f.shape[1], dtype=f.dtype).expand(len(f), -1, -1)

    def targets(self, y: Array, *, outputs: int | None = None) -> Tensor:  # noqa: D102
        return targets_as_numbers(y, outputs=outputs)


@dataclass(frozen=True, slots=True)
class CrossEntropy(AbstractLoss):
    """Cross-entropy of the softmax of the outputs; targets are classes (n,) or probabilities (n, k).

    See equation (2) of the module docstring.

    >>> round(float(CrossEntropy().value(torch.zeros(1, 4), torch.eye(4)[:1])), 6)        # log 4
    1.386294
    """

    name = "cross-entropy"
    curvature = 0.5  # largest eigenvalue of diag(p) - p p^T over probabilities p, reached if two classes have p = 1/2

    def value(self, f: Outputs, y: Outputs) -> Float[Tensor, ""]:  # noqa: D102
        return -(y * torch.log_softmax(f.double(), 1)).sum(1).mean()  # (2)

    def gradient(self, f: Outputs, y: Outputs) -> Outputs:  # noqa: D102
        return torch.softmax(f, 1) * y.sum(1, keepdim=True) - y

    def hessian(self, f: Outputs, y: Outputs) -> Float[Tensor, "n k k"]:  # noqa: D102
        p = torch.softmax(f, 1)
        return torch.diag_embed(p) - p[:, :, None] * p[:, None, :]

    def targets(self, y: Array, *, outputs: int | None = None) -> Tensor:  # noqa: D102
        table = as_tensor(y)
        if are_classes(table):
            return one_hot(table, outputs)
        sums = table.double().sum(-1)
        right = table.ndim == 2 and bool((table >= 0).all()) and bool(((sums - 1).abs() < 1e-6).all())
        if not right:  # float32 probabilities sum to 1 only up to rounding, so the tolerance is 1e-6.
            fix = "Pass classes as integers 0, 1, ..., or an (n, k) table of probabilities, one-hot for certain labels"
            raise InputError(f"y has shape {tuple(table.shape)}, {table.dtype}", accepted="class labels", fix=fix)
        return table


@dataclass(frozen=True, slots=True)
class Logistic(AbstractLoss):
    """Logistic loss log(1 + exp(-y f)) of outputs f and labels y, which are +1 and -1.

    See equation (3) of the module docstring.

    >>> float(Logistic().gradient(torch.zeros(1, 1), torch.ones(1, 1)))
    -0.5
    """

    name = "logistic loss"
    curvature = 0.25

    def value(self, f: Outputs, y: Outputs) -> Float[Tensor, ""]:  # noqa: D102
        return torch.nn.functional.softplus(-y * f.double(), threshold=inf).sum(1).mean()  # (3)

    def gradient(self, f: Outputs, y: Outputs) -> Outputs:  # noqa: D102
        return -y * torch.sigmoid(-y * f)

    def hessian(self, f: Outputs, y: Outputs) -> Float[Tensor, "n k k"]:  # noqa: D102
        return torch.diag_embed(torch.sigmoid(f) * torch.sigmoid(-f))

    def targets(self, y: Array, *, outputs: int | None = None) -> Tensor:  # noqa: D102
        return _signs(y, self.name, outputs)


@dataclass(frozen=True, slots=True)
class Exponential(AbstractLoss):
    """Exponential loss exp(-y f) of outputs f and labels y, which are +1 and -1.

    See equation (4) of the module docstring.

    >>> float(Exponential().value(torch.zeros(1, 1), torch.ones(1, 1)))
    1.0
    """

    name = "exponential loss"
    curvature = inf

    def value(self, f: Outputs, y: Outputs) -> Float[Tensor, ""]:  # noqa: D102
        return torch.exp(-y * f.double()).sum(1).mean()  # (4)

    def gradient(self, f: Outputs, y: Outputs) -> Outputs:  # noqa: D102
        return -y * torch.exp(-y * f)

    def hessian(self, f: Outputs, y: Outputs) -> Float[Tensor, "n k k"]:  # noqa: D102
        return torch.diag_embed(torch.exp(-y * f))

    def targets(self, y: Array, *, outputs: int | None = None) -> Tensor:  # noqa: D102
        return _signs(y, self.name, outputs)


@dataclass(frozen=True, slots=True)
class Hinge(AbstractLoss):
    """Hinge loss max(0, 1 - y f) of outputs f and labels y = +1 or -1, with its corner rounded over ``width`` to be
    smooth.

    See equation (5) of the module docstring.

    >>> float(Hinge(width=0.5).value(torch.zeros(1, 1), torch.ones(1, 1)))                # 1 - w / 2
    0.75
    """

    width: float = 1e-3
    name = "hinge loss"

    @add_call_to_errors
    def __post_init__(self) -> None:
        if not 0 < self.width < inf:
            fix = "Pass a small positive width, such as 1e-3: gradient flow is not defined at a sharp corner"
            raise InputError(f"width is {self.width}", accepted="a positive width", fix=fix)

    @property
    def curvature(self) -> float:  # noqa: D102
        return 1 / self.width

    def value(self, f: Outputs, y: Outputs) -> Float[Tensor, ""]:  # noqa: D102
        z = (1 - y * f.double()).clamp_min(0)
        near = z.clamp_max(self.width)
        return (near.square() / (2 * self.width) + (z - near)).sum(1).mean()  # (5)

    def gradient(self, f: Outputs, y: Outputs) -> Outputs:  # noqa: D102
        return -y * ((1 - y * f) / self.width).clamp(0, 1)

    def hessian(self, f: Outputs, y: Outputs) -> Float[Tensor, "n k k"]:  # noqa: D102
        z = 1 - y * f
        return torch.diag_embed(((z > 0) & (z < self.width)).to(f.dtype) / self.width)

    def targets(self, y: Array, *, outputs: int | None = None) -> Tensor:  # noqa: D102
        return _signs(y, self.name, outputs)


def _signs(y: Array, name: str, outputs: int | None) -> Tensor:
    table = as_tensor(y)
    if are_classes(table) and not bool((table == -1).any()):
        if outputs is not None and outputs > 1:
            return 2 * one_hot(table, outputs) - 1
        table = torch.where(table == 0, -1, table)  # Classes 0 and 1 become -1 and +1. Other labels are rejected below.
    if not bool((table.abs() == 1).all()):
        odd = next(v for v in table.flatten().tolist() if abs(v) != 1)
        fix = "Pass two classes as 0 and 1, or as -1 and +1; for more classes use CrossEntropy()"
        raise InputError(f"y holds {odd}", accepted=f"labels +1 and -1 for the {name}", fix=fix)
    return table.double() if not table.is_floating_point() else table
