"""Determines what a network predicts (its task) from its outputs for a few examples and their targets.

>>> import torch
>>> tokens = torch.randint(0, 7, (4, 5))
>>> read_output_meaning(torch.zeros(4, 5, 7), tokens, x=tokens).sentence
'read as a language model: 5 positions, 7 tokens, cross-entropy over positions'
>>> read_output_meaning(torch.zeros(4, 32, 3), torch.tensor([0, 2, 1, 1])).sentence
'read as an ensemble of 32 members, each with its own loss: 3 classes'
"""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from gnomon.adapter.graphs import NODE_COUNT
from gnomon.adapter.losses import IGNORED_LABEL, EnsembleSquaredLoss, PositionCrossEntropy
from gnomon.adapter.reading import TASKS, OutputMeaning, TaskName
from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.arguments import input_tensors
from gnomon.core.inputs.signature import TARGET_ARGUMENT_NAMES

__all__ = ["read_output_meaning"]

VOID_LABELS = (255,)
"""Labels that data sets use for unknown positions, above the classes."""
ENOUGH_MEMBERS = 2
"""Members from which a second axis of the outputs is read as an ensemble."""


@add_call_to_errors
def read_output_meaning(
    outputs: Tensor, y: Tensor, *, x: Any = None, largest: int | None = None, task: TaskName | None = None
) -> OutputMeaning:
    """Determines which task a network solves, such as classification or next-token prediction, from its outputs and
    targets.

    Args:
        outputs: what the network returned for a few examples.
        y: their targets.
        x: their inputs. Integer inputs like the labels make a language model.
        largest: the largest label of all examples, if known; by default the largest of these.
        task: one of `TASKS`; None works it out from shapes and labels.

    Hypotheses: the first axis of outputs and targets counts examples.
    Cost: a look at shapes and labels.

    >>> read_output_meaning(torch.zeros(2, 3), torch.tensor([0, 2])).task
    'class'
    """
    if task is not None and task not in TASKS:
        raise InputError(f"task is {task!r}", accepted=", ".join(TASKS), fix="Pass one of these, or leave it out")
    if largest is None and not y.is_floating_point() and not y.is_complex() and bool((y != IGNORED_LABEL).any()):
        largest = int(y[y != IGNORED_LABEL].max())
    found = _read(outputs, y, x, largest or 0, task)
    if task is not None and found.task != task:
        shapes = f"outputs have shape {tuple(outputs.shape)} and targets {tuple(y.shape)}"
        accepted = "outputs and targets of that task"
        raise InputError(f"{shapes}, which does not fit the task {task}", accepted=accepted, fix="Leave task= out")
    return OutputMeaning(
        found.task, found.positions, found.classes, found.numbers, found.shift, found.loss, task is not None
    )


def _read(outputs: Tensor, y: Tensor, x: Any, largest: int, task: TaskName | None) -> OutputMeaning:
    shape, labels = tuple(outputs.shape[1:]), not y.is_floating_point() and not y.is_complex()
    inner, wanted = _without_ones(shape), _without_ones(tuple(y.shape[1:]))
    if labels and wanted:
        return _positions(outputs, y, x, largest, task)
    if labels:
        return _classes(inner, largest, task)
    numbers = int(torch.tensor(wanted).prod()) if wanted else 1
    if task == "labels" and bool(((y >= 0) & (y <= 1)).all()):
        return OutputMeaning("labels", numbers=numbers)
    if task != "numbers" and len(shape) == 2 and shape[0] >= ENOUGH_MEMBERS and shape[1] == numbers:
        return OutputMeaning("ensemble", shape[0], 0, numbers, loss=EnsembleSquaredLoss(shape[0]))
    return OutputMeaning("numbers", numbers=numbers)


def _classes(inner: tuple[int, ...], largest: int, task: TaskName | None) -> OutputMeaning:
    """Describes outputs that have one label per example: a classifier, or an ensemble of classifiers."""
    if task != "class" and len(inner) == 2 and inner[0] >= ENOUGH_MEMBERS and largest < inner[1]:
        loss = PositionCrossEntropy(inner[1], inner[0], shared=True)
        return OutputMeaning("ensemble", inner[0], inner[1], loss=loss)
    count = int(torch.tensor(inner).prod()) if inner else 1
    return OutputMeaning("class", classes=max(2, count))


def _positions(outputs: Tensor, y: Tensor, x: Any, largest: int, task: TaskName | None) -> OutputMeaning:
    """Describes outputs that have one label per position: which dimension holds the classes, and whether positions are
    tokens or pixels.
    """
    inner, wanted = _without_ones(tuple(outputs.shape[1:])), _without_ones(tuple(y.shape[1:]))
    last, first = inner[: len(wanted)] == wanted, inner[1:] == wanted
    if len(inner) == len(wanted) + 1 and last and inner[-1] > largest:
        classes, classes_first = inner[-1], False
    elif len(inner) == len(wanted) + 1 and first and inner[0] > largest:
        classes, classes_first = inner[0], True
    else:
        shapes = f"the labels have shape {tuple(y.shape)} and the outputs {tuple(outputs.shape)}"
        found = f"{shapes}; labels go up to {largest}"
        fix = "Return outputs (n, positions, classes) or (n, classes, positions), or pass loss="
        if largest in VOID_LABELS and largest >= max(inner, default=0):
            fix = f"If {largest} marks unknown positions, pass loss=nn.CrossEntropyLoss(ignore_index={largest})"
        raise InputError(found, accepted="one label per example or per position", fix=fix)
    positions = int(torch.tensor(wanted).prod())
    pixels = len(wanted) > 1 and classes_first
    shift = int(not pixels and not classes_first and _is_copy(x, y))
    loss = PositionCrossEntropy(classes, positions, classes_first, shift)
    name: TaskName = "class per pixel" if pixels else "class per position"
    if isinstance(x, Mapping) and NODE_COUNT in x:
        return OutputMeaning("class per node", positions, classes, loss=loss)
    if not pixels and (task == "language model" or (task is None and _are_tokens(x, classes))):
        name = "language model"
    return OutputMeaning(name, positions, classes, shift=shift, loss=loss)


def _are_tokens(x: Any, classes: int) -> bool:
    """Checks whether an input holds integers below the number of classes, so that inputs and labels can be tokens of
    one vocabulary.
    """
    whole = [
        t
        for t in input_tensors(_without_targets(x))
        if not t.is_floating_point() and t.dtype != torch.bool and t.dim() == 2
    ]
    return any(1 < int(t.max()) < classes for t in whole if t.numel())


def _is_copy(x: Any, y: Tensor) -> bool:
    """Checks whether the labels are a copy of the inputs, which means that the model predicts the next token."""
    same = [t for t in input_tensors(_without_targets(x)) if t.shape == y.shape and not t.is_floating_point()]
    counted = y != IGNORED_LABEL
    return any(bool((t[counted] == y[counted]).all()) for t in same)


def _without_targets(x: Any) -> Any:
    """Returns a dict of inputs without the entries that hold targets."""
    return {name: t for name, t in x.items() if name not in TARGET_ARGUMENT_NAMES} if isinstance(x, Mapping) else x


def _without_ones(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Removes trailing dimensions of length one from a shape, such as the last two of pooled images (n, 10, 1, 1)."""
    while shape and shape[-1] == 1:
        shape = shape[:-1]
    return shape
