"""Validates column names, class names and class probabilities that the user passed."""

from collections.abc import Sequence

from torch import Tensor

from gnomon.core.errors import InputError
from gnomon.core.inputs.arguments import Inputs, input_tensors

__all__ = ["check_class_names", "check_probabilities", "column_names"]


def column_names(names: Sequence[str], x: Inputs) -> tuple[str, ...]:
    """Checks that there is one column name for each number of an example, and returns the names; empty without names.

    >>> import torch
    >>> column_names(["a", "b"], torch.zeros(3, 2))
    ('a', 'b')
    """
    count = sum(t[0].numel() for t in input_tensors(x))
    if names and (isinstance(names, str) or len(names) != count):
        given = f"the text {names!r}" if isinstance(names, str) else f"{len(names)} names"
        what = f"columns is {given}, and an example has {count} numbers"
        raise InputError(what, accepted="one name for each column", fix="Pass list(frame.columns) without the target")
    return tuple(names)


def check_class_names(names: Sequence[str], count: int) -> tuple[str, ...]:
    """Raises an error unless there is one class name for each class, or none at all.

    >>> check_class_names(["cat", "dog"], 2)
    ('cat', 'dog')
    """
    if names and (isinstance(names, str) or len(names) < count):
        given = f"the text {names!r}" if isinstance(names, str) else f"{len(names)} names"
        what = f"class_names is {given}, and there are {count} classes"
        raise InputError(what, accepted="one name for each class", fix="Pass the names in the order of the labels")
    return tuple(map(str, names))


def check_probabilities(y: Tensor, outputs: int) -> None:
    """Raises an error if real-valued targets of cross-entropy are not class probabilities.

    >>> import torch
    >>> check_probabilities(torch.tensor([[0.5, 0.5]]), 2)
    """
    sums = y.reshape(len(y), -1).double().sum(1)
    if outputs > 1 and bool(((sums - 1).abs() < 1e-3).all()):
        return
    what = f"the loss is cross-entropy and rows of the targets sum to {float(sums.min()):g} to {float(sums.max()):g}"
    fix = "For several labels per example use binary_cross_entropy_with_logits; for classes pass integers"
    if outputs == 1:
        what = "the loss is cross-entropy and the network has one output: the loss is 0 whatever the output is"
        fix = "Use binary_cross_entropy_with_logits for one output and two classes, or one output for each class"
    raise InputError(what, accepted="class numbers, or probabilities that sum to 1", fix=fix)
