"""What a module says on a set of points now: outputs, mean loss, accuracy.

The points are passed in eval mode and in pieces; the targets are converted once, before training.

>>> import torch
>>> points = Points.of(torch.eye(2), torch.tensor([0, 1]), nn.Linear(2, 2), CrossEntropy(), "train(net, x, y)")
>>> points.n, points.targets.tolist()
(2, [[1.0, 0.0], [0.0, 1.0]])
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.arrays import Array
from gnomon.core.checks import as_inputs, as_numbers, as_targets
from gnomon.core.errors import InputError, lesson
from gnomon.core.inputs import Inputs, blamed, count, invoke, table, take, tensor_of
from gnomon.core.losses import AbstractLoss, CrossEntropy, Squared
from gnomon.core.metrics import accuracy
from gnomon.core.pure import evaluating

Loss = AbstractLoss | Callable[[Tensor, Tensor], Tensor]
"""A loss of the house, or a function (outputs, targets) -> mean loss such as ``torch.nn.CrossEntropyLoss()``."""

LEAST = 256
"""Points that are passed at once at least."""


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """Inputs and targets in the module's dtype and on its device."""

    x: Inputs
    targets: Tensor
    loss: Loss
    n: int
    call: str

    @classmethod
    def of(cls, x: Inputs, y: Array, module: nn.Module, loss: Loss, call: str) -> "Points":
        """Check and convert; one example is run, in eval mode, to learn the number of outputs."""
        data = as_inputs(x, module, call=call)
        n = count(data)
        given = as_targets(y, n, call=call)
        if not callable(loss) and not isinstance(loss, AbstractLoss):
            cure = "Pass Squared(), CrossEntropy(), ... or a function such as torch.nn.CrossEntropyLoss()"
            raise InputError(lesson(call, f"loss is {loss!r}"[:80], "a loss of outputs and targets", cure))
        like = next((t for t in module.parameters() if t.is_floating_point()), torch.zeros(()))
        given = given.to(like.device, like.dtype if given.is_floating_point() else given.dtype)
        if not isinstance(loss, AbstractLoss):
            return cls(data, given, loss, n, call)
        with evaluating(module), torch.no_grad():
            outputs = table(invoke(module, take(data, slice(0, 1)), call=call), 1, call).shape[1]
        targets = loss.targets(given, call, outputs=outputs).to(like.device)
        targets = targets.reshape(n, -1)
        if targets.shape[1] != outputs:
            found = f"targets of shape {tuple(given.shape)} and {outputs} outputs"
            cure = "Give y one column for each output, or integer classes"
            raise InputError(lesson(call, found, "a target for each output", cure))
        return cls(data, targets.to(like.dtype), loss, n, call)

    def some(self, index: Tensor) -> tuple[Inputs, Tensor]:
        """Inputs and targets at an index."""
        return take(self.x, index), self.targets[index]

    def value(self, module: nn.Module, x: Inputs, y: Tensor) -> Tensor:
        """The mean loss on some points, with its graph."""
        return self.loss_of(invoke(module, x, call=self.call), y)

    def loss_of(self, outputs: Any, y: Tensor) -> Tensor:
        """The mean loss of what a module returned for points with these targets."""
        if isinstance(self.loss, AbstractLoss):
            return self.loss.value(table(outputs, len(y), self.call), y)
        return self._one(tensor_of(outputs, self.call), y)

    def measure(self, module: nn.Module, size: int | None) -> tuple[float, float | None, Tensor]:
        """Mean loss, accuracy where the targets are classes, and outputs, in eval mode and without gradients."""
        pieces = []
        with evaluating(module), torch.no_grad():
            for i in range(0, self.n, max(LEAST, size or self.n)):
                part = take(self.x, slice(i, i + max(LEAST, size or self.n)))
                pieces.append(tensor_of(invoke(module, part, call=self.call), self.call))
            f = torch.cat(pieces)
            if isinstance(self.loss, AbstractLoss):
                f = f.reshape(self.n, -1)
                return float(self.loss.value(f, self.targets)), accuracy(f, self.targets), f
            return float(self._one(f, self.targets)), _matches(f, self.targets), f

    def _one(self, outputs: Tensor, y: Tensor) -> Tensor:
        """The user's own loss, as one number."""
        with blamed(None, (outputs, y), call=self.call, what="the loss"):
            value = self.loss(outputs, y)  # type: ignore[operator]
        if not isinstance(value, Tensor) or value.numel() != 1:
            found = f"shape {tuple(value.shape)}" if isinstance(value, Tensor) else f"type {type(value).__name__}"
            cure = "Return the mean over points, for instance with reduction='mean'"
            raise InputError(lesson(self.call, f"the loss has {found}", "one number", cure))
        return value.reshape(())


def by_targets(y: Array, *, call: str) -> AbstractLoss:
    """The loss that targets ask for: cross-entropy for integer classes, squared loss for real numbers.

    >>> classes, numbers = torch.tensor([0, 1]), torch.tensor([0.5])
    >>> [by_targets(y, call="train(module, x, y)").name for y in (classes, numbers)]
    ['cross-entropy', 'squared loss']
    """
    given = as_numbers(y, "y", call=call)
    return Squared() if given.is_floating_point() or given.is_complex() else CrossEntropy()


def _matches(f: Tensor, y: Tensor) -> float | None:
    if y.is_floating_point() or y.dim() != 1 or f.dim() != 2 or f.shape[1] < 2:
        return None
    return float((f.argmax(1) == y).double().mean())
