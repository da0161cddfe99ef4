"""Distinguishes class labels (integers) from numeric targets (floats), as ``torch.nn.CrossEntropyLoss`` does.

Targets (n,) of integers or booleans are class indices 0, 1, ..., and become one-hot rows wherever numbers are needed.
Floating-point targets are numbers, and so is a table (n, k) of integers, which has a column for each output already.

>>> import torch
>>> targets_as_numbers(torch.tensor([1, 0])).tolist()
[[0.0, 1.0], [1.0, 0.0]]
>>> targets_as_numbers(torch.tensor([1.0, 0.0])).tolist()
[1.0, 0.0]
"""

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.errors import InputError
from gnomon.core.inputs.arrays import Array, as_tensor

__all__ = ["are_classes", "targets_as_numbers", "one_hot"]


def are_classes(y: Tensor) -> bool:
    """Checks whether targets are class indices: a tensor with one dimension that holds integers or booleans.

    >>> are_classes(torch.tensor([2, 0])), are_classes(torch.tensor([2.0])), are_classes(torch.tensor([[1, 0]]))
    (True, False, False)
    """
    return y.ndim == 1 and not y.is_floating_point() and not y.is_complex()


def targets_as_numbers(y: Array, *, outputs: int | None = None) -> Tensor:
    """Converts targets to numbers: class labels become one-hot rows, other targets stay unchanged.

    Cost: n k numbers for classes, none otherwise.

    >>> targets_as_numbers(torch.tensor([True, False]), outputs=2).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    table = as_tensor(y)
    if not are_classes(table):
        return table
    if outputs == 1:
        found = f"y holds integer labels ({table.dtype}) but the network has one output"
        fix = "Pass y.float() for regression, or give the network one output per class"
        raise InputError(found, accepted="one output for each class", fix=fix)
    return one_hot(table, outputs)


def one_hot(labels: Tensor, classes: int | None) -> Float[Tensor, "n k"]:
    """Converts class labels 0, 1, ... to one-hot rows; the number of columns is ``classes``, or the largest label plus
    1.

    Cost: n k numbers.

    >>> one_hot(torch.tensor([1, 0]), 3).tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]
    """
    if len(labels) == 0:
        raise InputError("y is empty", accepted="at least one label", fix="Pass a label for each point")
    least, most = int(labels.min()), int(labels.max())
    if least < 0 or (classes is not None and most >= classes):
        room = "0, 1, ..." if classes is None else f"0 to {classes - 1}, one for each output"
        found = f"y holds labels from {least} to {most}"
        fix = f"Number the classes {room}; for regression pass y.float()"
        raise InputError(found, accepted="class labels", fix=fix)
    return torch.nn.functional.one_hot(labels.long(), -1 if classes is None else classes).double()
