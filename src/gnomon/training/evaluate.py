"""Computes the mean loss of a module over a source of examples.

    L(w) = (1 / n) sum_i l(f(w, x_i), y_i)                                                               (1)

Examples pass in batches. Targets are converted to what the loss takes: once if all examples are in memory, else
when a batch is read.

Hypotheses: a loss that is a mean over examples, so that the means of batches add up to (1).
Reference: [robbins1951stochastic].

>>> import torch
>>> objective = Objective.of((torch.eye(2), torch.tensor([0, 1])), nn.Linear(2, 2), CrossEntropy())
>>> [y.tolist() for x, y in objective.batches(1)]
[[[1.0, 0.0]], [[0.0, 1.0]]]
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.adapter import read_output_meaning
from gnomon.adapter.losses import AbstractLossWithAxes
from gnomon.adapter.users_loss import call_user_loss, loss_takes_predictions, rewards_labels
from gnomon.core.errors import InputError
from gnomon.core.inputs.arguments import Inputs
from gnomon.core.inputs.arrays import Array
from gnomon.core.inputs.checks import as_numbers
from gnomon.core.inputs.source import AbstractSource, Batch, InMemorySource, StreamingSource, data_source
from gnomon.core.losses import AbstractLoss, CrossEntropy, Squared
from gnomon.core.metrics import accuracy
from gnomon.core.modules.outputs import output_rows, output_tensor
from gnomon.core.modules.preserve import preserve, set_mode
from gnomon.core.modules.run import run_module, wrap_user_errors
from gnomon.core.results.record import Record

__all__ = ["Loss", "Objective", "loss_for_targets", "loss_reads_classes"]

Loss = AbstractLoss | Callable[[Tensor, Tensor], Tensor]
"""A loss of `gnomon.training`, or a function (outputs, targets) -> mean loss such as ``nn.CrossEntropyLoss()``."""

MIN_EXAMPLES_PER_PASS = 256
"""Minimum number of examples per forward pass."""
MAX_EXAMPLES_PER_PASS = 32
"""Maximum number of examples per pass if the outputs have positions."""
EXAMPLES_OF_A_USERS_LOSS = 32
"""Number of examples on which a user's loss shows whether it reads classes."""
MAX_OUTPUTS = 2**26
"""Maximum number of output values that a measurement keeps."""


@dataclass(frozen=True, slots=True, eq=False)
class Objective(Record):
    """Computes the mean loss of any module on a data source; converts targets to the form that the loss needs."""

    data: AbstractSource
    loss: Loss
    convert: Callable[[Tensor], Tensor]
    convert_loaded: Callable[[Tensor], Tensor] | None = None
    """Converts targets of a loader other than ``data``; None if they are converted in the same way."""
    classifies: bool = True
    """Whether integer targets are classes that the outputs score; a user's loss may compare embeddings instead."""

    @classmethod
    def of(cls, data: Any, module: nn.Module, loss: Loss | None) -> "Objective":
        """Validates data and loss; runs one example in eval mode to find the number of outputs.

        ``data`` is what `gnomon.core.inputs.source` takes, with targets.
        """
        examples = data_source(data, module=module)
        first = examples.first(1)
        targets = _targets(first)
        outputs = None if isinstance(loss, AbstractLossWithAxes) else _first_outputs(first.x, module, loss)
        if outputs is not None and outputs.dim() > 2 and (loss is None or isinstance(loss, CrossEntropy)):
            loss = read_output_meaning(outputs, targets, x=first.x, largest=_largest_label(examples)).loss or loss
        loss = loss_for_targets(targets) if loss is None else loss
        if not callable(loss) and not isinstance(loss, AbstractLoss):
            fix = "Pass Squared(), CrossEntropy(), ... or a function such as torch.nn.CrossEntropyLoss()"
            raise InputError(f"loss is {loss!r}"[:80], accepted="a loss of outputs and targets", fix=fix)
        convert = _conversion(0 if outputs is None else outputs[0].numel(), module, loss)
        classifies = isinstance(loss, AbstractLoss) or loss_reads_classes(loss, examples, module)
        if isinstance(examples, InMemorySource):
            return cls(_in_memory(examples.batch, convert), loss, _as_they_are, convert, classifies)
        return cls(examples, loss, convert, classifies=classifies)

    def __len__(self) -> int:
        return len(self.data)

    @property
    def name(self) -> str:
        """Returns the name of the loss function."""
        known = isinstance(self.loss, AbstractLoss)
        return self.loss.name if known else getattr(self.loss, "__name__", type(self.loss).__name__)  # type: ignore[union-attr]

    def indexable(self) -> "Objective":
        """Loads the examples into memory if they can only be read in order, so that each can be read by index."""
        if not isinstance(self.data, StreamingSource):
            return self
        whole = _in_memory(self.data.whole(), self.convert)
        return Objective(whole, self.loss, _as_they_are, classifies=self.classifies)

    def sample(self, n: int | None, seed: int) -> "Objective":
        """Returns the same loss on a random sample of at most n examples, stratified by class."""
        if n is None or n >= len(self):
            return self
        chosen = _in_memory(self.data.probe(n, seed=seed), self.convert)
        return Objective(chosen, self.loss, _as_they_are, classifies=self.classifies)

    def at(self, index: Tensor) -> tuple[Inputs, Tensor]:
        """Returns inputs and targets of the examples with these indices, ready for the loss."""
        return self.of_batch(self.data.at(index))

    def of_batch(self, batch: Batch) -> tuple[Inputs, Tensor]:
        """Returns inputs and targets of a batch, with targets converted for the loss."""
        return batch.x, self.convert(_targets(batch))

    def of_loaded_batch(self, batch: Batch) -> tuple[Inputs, Tensor]:
        """Returns inputs and targets of a batch from the user's loader, with targets converted for the loss."""
        return batch.x, (self.convert_loaded or self.convert)(_targets(batch))

    def batches(self, size: int | None = None) -> Iterator[tuple[Inputs, Tensor]]:
        """Yields all inputs and targets in order, at most ``size`` per batch; None yields data in memory as one
        batch.
        """
        in_memory = isinstance(self.data, InMemorySource)
        for batch in self.data.batches(len(self) if in_memory and size is None else size):
            for start in range(0, len(batch), size or len(batch)):
                part = batch[start : start + (size or len(batch))]
                yield part.x, self.convert(_targets(part))

    def value(self, module: nn.Module, x: Inputs, y: Tensor) -> Tensor:
        """Returns the mean loss on some examples, with its autograd graph."""
        return self.loss_of(run_module(module, x), y)

    def loss_of(self, outputs: Any, y: Tensor) -> Tensor:
        """Returns the mean loss of a module's output for examples with these targets."""
        if isinstance(self.loss, AbstractLoss):
            return self.loss.value(output_rows(outputs, len(y)), y)
        return self._users_loss(outputs, y)

    def measure(self, module: nn.Module, size: int | None) -> tuple[float, float | None, Tensor]:
        """Computes mean loss, accuracy (if the targets are classes) and outputs, in eval mode without gradients."""
        if isinstance(self.loss, AbstractLossWithAxes):
            return self._measure_axes(module, self.loss, size)
        outputs, targets, losses = [], [], []
        with set_mode(module, "eval"), torch.no_grad():
            for x, y in self.batches(None if size is None else max(MIN_EXAMPLES_PER_PASS, size)):
                returned = run_module(module, x)
                if not isinstance(self.loss, AbstractLoss) and not loss_takes_predictions(returned):
                    losses.append(len(y) * float(self._users_loss(returned, y)))
                outputs.append(output_tensor(returned))
                targets.append(y)
            if losses:
                return sum(losses) / sum(len(y) for y in targets), None, torch.cat(outputs)
            f, y = torch.cat(outputs), torch.cat(targets)
            if isinstance(self.loss, AbstractLoss):
                f = f.reshape(len(y), -1)
                return float(self.loss.value(f, y)), accuracy(f, y), f
            classes = self.classifies and y.dim() == 1 and not y.is_floating_point() and f.dim() == 2
            return float(self._users_loss(f, y)), accuracy(f, y) if classes else None, f

    def _measure_axes(
        self, module: nn.Module, loss: AbstractLossWithAxes, size: int | None
    ) -> tuple[float, float | None, Tensor]:  # fmt: skip
        """Computes mean loss and accuracy for outputs with positions, such as tokens; drops outputs that are too large
        to keep.
        """
        total, weights, right, decisions, numbers = 0.0, 0, 0, 0, 0
        kept: list[Tensor] = []
        with set_mode(module, "eval"), torch.no_grad():
            for x, y in self.batches(MAX_EXAMPLES_PER_PASS if size is None else min(size, MAX_EXAMPLES_PER_PASS)):
                f, weight = output_rows(run_module(module, x), len(y)), loss.decisions(y)
                total, weights, numbers = (
                    total + weight * float(loss.value(f, y)),
                    weights + weight,
                    numbers + f.numel(),
                )
                counted = loss.right(f, y)
                if counted is not None:
                    right, decisions = right + counted[0], decisions + counted[1]
                kept = [*kept, f] if numbers <= MAX_OUTPUTS else []
        outputs = torch.cat(kept) if kept else torch.zeros(0)
        return total / max(1, weights), right / decisions if decisions else None, outputs

    def _users_loss(self, outputs: Any, y: Tensor) -> Tensor:
        with wrap_user_errors(None, (outputs, y), what="the loss"):
            value = call_user_loss(self.loss, outputs, y)  # type: ignore[arg-type]
        if not isinstance(value, Tensor) or value.numel() != 1:
            what = f"shape {tuple(value.shape)}" if isinstance(value, Tensor) else f"type {type(value).__name__}"
            fix = "Return the mean over examples, for instance with reduction='mean'"
            raise InputError(f"the loss has {what}", accepted="one number", fix=fix)
        return value.reshape(())


def loss_for_targets(y: Array) -> AbstractLoss:
    """Returns the loss that fits the targets: cross-entropy for integer classes, squared loss for real numbers.

    >>> classes, numbers = torch.tensor([0, 1]), torch.tensor([0.5])
    >>> [loss_for_targets(y).name for y in (classes, numbers)]
    ['cross-entropy', 'squared loss']
    """
    targets = as_numbers(y, "y")
    return Squared() if targets.is_floating_point() or targets.is_complex() else CrossEntropy()


def loss_reads_classes(loss: Callable[[Any, Tensor], Any], data: AbstractSource, module: nn.Module) -> bool:
    """Checks whether a user's loss takes the outputs for scores of classes and the targets for classes.

    Targets that are not integers, one for each example, are never classes.
    Cost: a forward pass and an evaluation of the loss on 32 examples, if the targets are integers.

    >>> data = data_source((torch.eye(2), torch.tensor([0, 1])))
    >>> loss_reads_classes(torch.nn.functional.cross_entropy, data, nn.Linear(2, 2))
    True
    """
    few = data.first(EXAMPLES_OF_A_USERS_LOSS)
    if few.y is None or few.y.dim() != 1 or few.y.is_floating_point():
        return False
    with preserve(module, grad=False, seed=0):
        returned = run_module(module, few.x)
    return loss_takes_predictions(returned) and rewards_labels(loss, output_tensor(returned), few.y)


def _first_outputs(one: Inputs, module: nn.Module, loss: Loss | None) -> Tensor | None:
    """Returns the module's outputs for one example; None if the user passed their own loss function."""
    if loss is not None and not isinstance(loss, AbstractLoss):
        return None
    with set_mode(module, "eval"), torch.no_grad():
        outputs = output_tensor(run_module(module, one))
    output_rows(outputs, 1)
    return outputs


def _largest_label(data: AbstractSource) -> int | None:
    """Returns the largest label if all labels are in memory; None otherwise."""
    if not isinstance(data, InMemorySource) or data.batch.y is None or data.batch.y.is_floating_point():
        return None
    return int(data.batch.y.max())


def _conversion(outputs: int, module: nn.Module, loss: Loss) -> Callable[[Tensor], Tensor]:
    """Returns a function that converts targets to the loss's form, on the module's device and in its dtype."""
    like = next((t for t in module.parameters() if t.is_floating_point()), torch.zeros(()))

    def to_module_targets(y: Tensor) -> Tensor:
        return y.to(like.device, like.dtype if y.is_floating_point() else y.dtype)

    if not isinstance(loss, AbstractLoss):
        return to_module_targets
    if isinstance(loss, AbstractLossWithAxes):
        return lambda y: loss.targets(to_module_targets(y))

    def convert(y: Tensor) -> Tensor:
        targets = loss.targets(to_module_targets(y), outputs=outputs).to(like.device).reshape(len(y), -1)
        if targets.shape[1] != outputs:
            what = f"targets of shape {tuple(y.shape)} and {outputs} outputs"
            fix = "Give y one column for each output, or integer classes"
            raise InputError(what, accepted="a target for each output", fix=fix)
        return targets.to(like.dtype)

    return convert


def _in_memory(batch: Batch, convert: Callable[[Tensor], Tensor]) -> InMemorySource:
    return InMemorySource(Batch(batch.x, convert(_targets(batch))), None)


def _as_they_are(y: Tensor) -> Tensor:
    return y


def _targets(batch: Batch) -> Tensor:
    if batch.y is None:
        fix = "Pass (inputs, targets), or batches with targets: pairs, or dicts with the key 'labels'"
        raise InputError("the data have no targets", accepted="a target for each input", fix=fix)
    return batch.y
