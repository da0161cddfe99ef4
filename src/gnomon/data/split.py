"""Defines a data set that is split into training and test examples."""

from dataclasses import dataclass

from torch import Tensor

__all__ = ["TrainTestSplit"]


@dataclass(frozen=True, slots=True, eq=False)
class TrainTestSplit:
    """Inputs and class labels of a training set and a test set.

    ``x`` and ``x_test`` are float32, one input per row; ``y`` and ``y_test`` are int64 class numbers from 0 to
    ``classes - 1``.

    >>> import torch
    >>> x, y = torch.zeros(3, 2), torch.tensor([0, 1, 0])
    >>> TrainTestSplit("toy", 2, x, y, x[:1], y[:1])
    TrainTestSplit('toy': 3 to train, 1 to test, inputs (2,), 2 classes)
    """

    name: str
    classes: int
    x: Tensor
    y: Tensor
    x_test: Tensor
    y_test: Tensor

    def __repr__(self) -> str:
        inputs = tuple(self.x.shape[1:])
        sizes = f"{len(self.x)} to train, {len(self.x_test)} to test"
        return f"TrainTestSplit({self.name!r}: {sizes}, inputs {inputs}, {self.classes} classes)"
