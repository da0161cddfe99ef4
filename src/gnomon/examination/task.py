"""Defines what a network learns, by its outputs, targets and loss: classes, or real numbers.

>>> Task(CrossEntropy(), classes=3, outputs=3).table(torch.tensor([2])).tolist()
[[0.0, 0.0, 1.0]]
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.adapter.reading import OutputMeaning
from gnomon.core.errors import InputError
from gnomon.core.inputs.arguments import Inputs, input_tensors, take_examples
from gnomon.core.inputs.source import AbstractSource, Batch
from gnomon.core.inputs.strata import stratified_sample
from gnomon.core.losses import AbstractLoss, CrossEntropy, Logistic, Squared
from gnomon.core.results.record import Record
from gnomon.examination.first_outputs import labels_of_all_examples
from gnomon.examination.names import check_probabilities
from gnomon.examination.recipe import equivalent_theory_loss
from gnomon.training.evaluate import Loss

__all__ = ["Examples", "Task", "task_of_targets"]


@dataclass(frozen=True, slots=True, eq=False)
class Examples(Record):
    """Inputs and targets of some examples; targets are integer classes (n,) or real numbers (n, k)."""

    x: Inputs
    y: Tensor

    def __len__(self) -> int:
        return len(self.y)

    def some(self, n: int) -> "Examples":
        """Returns at most n of the examples, stratified by class; always the same ones."""
        if n >= len(self):
            return self
        chosen = stratified_sample(len(self), self.y, n).to(self.y.device)
        return Examples(take_examples(self.x, chosen), self.y[chosen])


@dataclass(frozen=True, slots=True)
class Task(Record):
    """What the network learns: the loss, the number of classes (0 for regression) and the number of outputs.

    ``shape`` is the shape of one target as the user passed it; ``reading`` is the meaning of the outputs, or None if
    only the user's own loss knows it.
    """

    loss: AbstractLoss
    classes: int
    outputs: int
    shape: tuple[int, ...] = ()
    reading: OutputMeaning | None = None

    def examples(self, batch: Batch) -> Examples:
        """Returns inputs and targets of a batch, with targets in standard form on the device of the inputs."""
        assert batch.y is not None  # never fails: an examination always has targets
        y = batch.y.to(next(input_tensors(batch.x)).device)
        return Examples(batch.x, y.long() if self.classes else y.reshape(len(y), -1))

    def loss_targets(self, y: Tensor) -> Tensor:
        """Converts targets to the form that the task's loss takes: +1 and -1 for two classes with one output."""
        return 2.0 * y - 1.0 if isinstance(self.loss, Logistic) else y

    def table(self, y: Tensor) -> Float[Tensor, "n k"]:
        """Converts targets to a matrix of real numbers: one-hot classes, or +1 and -1 for two classes with one
        output.
        """
        if not self.classes:
            return y.reshape(len(y), -1).double()
        return self.loss.targets(self.loss_targets(y), outputs=self.outputs).reshape(len(y), -1).double()


def task_of_targets(
    train: AbstractSource, test: AbstractSource | None, outputs: int, loss: Loss | None, *, classifies: bool = True
) -> Task:
    """Determines the task: classification for integer targets, otherwise regression or (by the loss) binary labels.

    ``outputs`` is the number of outputs, ``loss`` the loss that the user passed; with ``classifies=False`` this loss
    does not read outputs as scores of classes.

    >>> from gnomon.core.inputs.source import data_source
    >>> task_of_targets(data_source((torch.zeros(4, 2), torch.arange(4) % 2)), None, 3, None).classes
    3
    """
    y = labels_of_all_examples(train)
    shape, wanted = tuple(y.shape[1:]), equivalent_theory_loss(loss)
    if y.is_floating_point():
        return _numbers_task(y, outputs, loss)
    if (y.dim() != 1 or not classifies) and loss is not None and not isinstance(loss, AbstractLoss):
        return Task(Squared(), 0, outputs, shape)  # Only the user's loss knows the meaning of these targets.
    others = None if test is None else test.labels()
    labels = y if others is None else torch.cat([y.flatten(), others.flatten().to(y)])
    if y.dim() != 1 or int(labels.min()) < 0:
        what = f"the labels have shape {tuple(y.shape)} and begin at {int(labels.min())}"
        fix = "Pass y[:, 0]" if y.dim() == 2 and y.shape[1] == 1 else "Number the classes from 0, one per example"
        raise InputError(what, accepted="classes 0, 1, 2, ...", fix=fix)
    top = int(labels.max())
    if outputs == 1 and top == 1:
        return Task(wanted or Logistic(), 2, 1)
    if top >= outputs and loss is not None and wanted is None:
        return Task(Squared(), 0, outputs, shape)  # Ordered classes, if the loss compares one output with them
    if top >= outputs:
        what = f"labels go up to {top} and the network has {outputs} output{'s' if outputs > 1 else ''}"
        fix = "For numbers to predict pass y.float(); for classes" if outputs == 1 else "Number classes from 0, or"
        raise InputError(what, accepted="one output for each class", fix=f"{fix} add outputs")
    return Task(wanted or CrossEntropy(), outputs, outputs)


def _numbers_task(y: Tensor, outputs: int, loss: Loss | None) -> Task:
    """Determines the task of real-valued targets: binary labels, one-hot classes, or regression."""
    shape, wanted = tuple(y.shape[1:]), equivalent_theory_loss(loss)
    logistic, whole = isinstance(wanted, Logistic), bool(((y == 0) | (y == 1)).all())
    if logistic and outputs == 1 and whole:
        return Task(Logistic(), 2, 1)
    if logistic and not isinstance(loss, AbstractLoss):
        if not bool(((y >= 0) & (y <= 1)).all()):
            what = f"the targets range from {float(y.min()):g} to {float(y.max()):g} under BCEWithLogitsLoss"
            fix = "Encode labels as 0 and 1: y = (y + 1) / 2 for -1 and 1"
            raise InputError(what, accepted="targets between 0 and 1", fix=fix)
        _check_numbers(y, outputs, loss)
        # An example has several labels, which only the user's own loss can interpret.
        return Task(Squared(), 0, outputs, shape)
    if isinstance(wanted, CrossEntropy) and y.dim() == 2 and whole and bool((y.sum(1) == 1).all()):
        _check_numbers(y, outputs, loss)
        return Task(wanted, outputs, outputs)
    if isinstance(wanted, CrossEntropy):
        check_probabilities(y, outputs)
    _check_numbers(y, outputs, loss)
    return Task(wanted or Squared(), 0, outputs, shape)


def _check_numbers(y: Tensor, outputs: int, loss: Loss | None) -> None:
    """Raises an error unless targets have one column per output or the user's loss accepts their shape."""
    columns = 1 if y.dim() == 1 else y.reshape(len(y), -1).shape[1]
    if columns != outputs and (loss is None or equivalent_theory_loss(loss) is not None):
        whole = y.dim() == 1 and bool((y == y.round()).all())
        what = f"the targets are {y.dtype} of shape {tuple(y.shape)} and the network has {outputs} outputs"
        fix = "For classes pass integers: y.long()" if whole else "Give each output its target"
        raise InputError(what, accepted="targets that fit the outputs", fix=fix)
