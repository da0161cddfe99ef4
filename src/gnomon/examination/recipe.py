"""Collects the training settings that the user passed: optimizer, batch size, epochs, schedule, loss.

>>> made = build_recipe(nn.Linear(2, 1), None, optimizer="sgd", lr=0.1)
>>> made.optimizer.lr, made.batch
(0.1, None)
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from torch import nn
from torch.nn import functional as F
from torch.optim import Optimizer
from torch.utils.data import DataLoader

from gnomon.core.errors import InputError
from gnomon.core.inputs.arguments import Inputs
from gnomon.core.inputs.checks import check_integer, check_number, check_type
from gnomon.core.inputs.source import AbstractSource, StreamingSource
from gnomon.core.losses import AbstractLoss, CrossEntropy, Logistic
from gnomon.core.results.record import Record
from gnomon.training import SGD, Adam, Schedule
from gnomon.training.evaluate import Loss
from gnomon.training.optimizers import AbstractOptimizer
from gnomon.training.torch_optimizers import OptimizerChoice, resolve_optimizer

__all__ = ["Recipe", "equivalent_theory_loss", "build_recipe"]


@dataclass(frozen=True, slots=True, eq=False)
class Recipe(Record):
    """The training settings that the user passed; None for each setting that was not passed.

    ``loader`` is the user's own loader, whose batches are used unchanged. ``given`` says that the loss is used as
    the user gave it though theory knows one like it: the targets are of a form that theory's does not take.
    """

    optimizer: AbstractOptimizer | None = None
    batch: int | None = None
    epochs: int | None = None
    schedule: Schedule | None = None
    loss: Loss | None = None
    augment: Callable[[Inputs], Inputs] | None = None
    loader: AbstractSource | None = None
    given: bool = False

    @property
    def own_loss(self) -> Loss | None:
        """Returns the user's loss if gnomon has no equations for it; otherwise None."""
        return self.loss if self.given or equivalent_theory_loss(self.loss) is None else None


def build_recipe(
    module: nn.Module,
    train: Any,
    *,
    optimizer: OptimizerChoice | None = None,
    lr: float | None = None,
    batch: int | None = None,
    epochs: int | None = None,
    schedule: Schedule | None = None,
    loss: Loss | None = None,
    augment: Callable[[Inputs], Inputs] | None = None,
) -> Recipe:
    """Validates the training settings that the user passed, and returns them as one object.

    >>> build_recipe(nn.Linear(2, 1), None, lr=0.01, batch=16).batch
    16
    """
    if loss is not None and not callable(loss) and not isinstance(loss, AbstractLoss):
        fix = "Pass a function such as torch.nn.CrossEntropyLoss(label_smoothing=0.1)"
        raise InputError(f"loss is {loss!r}"[:80], accepted="a loss of outputs and targets", fix=fix)
    if augment is not None:
        check_type("augment", augment, Callable, fix="Pass a function from a batch of inputs to inputs")
    if schedule is not None:
        fix = "Pass schedule=lambda o: torch.optim.lr_scheduler.CosineAnnealingLR(o, 20)"
        check_type("schedule", schedule, Callable, fix=fix)
    own = isinstance(train, DataLoader) and batch is None
    return Recipe(
        _optimizer(optimizer, lr, module),
        None if batch is None else check_integer("batch", batch),
        None if epochs is None else check_integer("epochs", epochs),
        schedule,
        loss,
        augment,
        StreamingSource(lambda: train, module) if own else None,
    )


def equivalent_theory_loss(loss: Loss | None) -> AbstractLoss | None:
    """Returns gnomon's own loss, with known derivatives, that equals a torch loss; None if there is none.

    >>> equivalent_theory_loss(nn.CrossEntropyLoss()), equivalent_theory_loss(nn.CrossEntropyLoss(label_smoothing=0.1))
    (CrossEntropy(), None)
    """
    if isinstance(loss, AbstractLoss):
        return loss
    if loss is F.cross_entropy:
        return CrossEntropy()
    if isinstance(loss, nn.CrossEntropyLoss):
        plain = loss.weight is None and not loss.label_smoothing and loss.ignore_index < 0 and loss.reduction == "mean"
        return CrossEntropy() if plain else None
    if loss is F.binary_cross_entropy_with_logits:
        return Logistic()
    if isinstance(loss, nn.BCEWithLogitsLoss):
        plain = loss.weight is None and loss.pos_weight is None and loss.reduction == "mean"
        return Logistic() if plain else None
    return None


def _optimizer(choice: OptimizerChoice | None, lr: float | None, module: nn.Module) -> AbstractOptimizer | None:
    if lr is None:
        return None if choice is None else resolve_optimizer(choice, module)
    lr = check_number("lr", lr, above=0)
    if choice is None:
        return Adam(lr)
    if isinstance(choice, type) and issubclass(choice, Optimizer):
        make: Any = choice
        return resolve_optimizer(lambda p: make(p, lr=lr), module)
    rule = resolve_optimizer(choice, module) if isinstance(choice, str) else choice
    if not isinstance(rule, SGD | Adam):
        what = "lr is given, but the optimizer already has a learning rate"
        raise InputError(
            what, accepted="one learning rate", fix="Set lr in the optimizer, or pass the optimizer's class"
        )
    return replace(rule, lr=lr)
