"""Keeps a sample of examples and labels, to test at the end whether labels depend on inputs, and sums of inputs.

>>> sample = LabelSample()
>>> sample.note_batch(torch.zeros(4, 3), [torch.zeros(4, 3), torch.tensor([0, 1, 1, 0])])
>>> len(sample.labels), sample.are_related()
(4, None)
"""

from dataclasses import dataclass, field
from math import nan
from typing import Any

import torch
from torch import Tensor

__all__ = ["InputNumbers", "LabelSample", "labels_in_batch"]

MAX_LABELS_READ = 256
"""Labels of each batch that are read."""
MAX_CLASSES = 1000
"""More different labels than this are not classes."""
MAX_EXAMPLES = 400
"""Examples that are kept."""
MIN_EXAMPLES = 200
"""Examples for a test; with fewer, weak relations are missed."""
BATCHES_SUMMED = 8
"""First batches of a loader whose mean and deviation are read."""
NUMBERS_KEPT = 64
"""Numbers of each example that are kept, spread over the example."""


@dataclass(slots=True, eq=False)
class LabelSample:
    """Some numbers of the first examples of a loader, and their labels."""

    inputs: list[Tensor] = field(default_factory=list)
    labels: list[int] = field(default_factory=list)

    def note_batch(self, tensor: Tensor | None, batch: Any) -> None:
        """Adds the examples of a batch, if it has labels and inputs on the CPU."""
        if len(self.labels) >= MAX_EXAMPLES or tensor is None or tensor.device.type != "cpu" or tensor.dim() < 2:
            return
        labels = labels_in_batch(batch)
        if labels is None or len(labels) > len(tensor) or tensor.layout != torch.strided:
            return
        rows = tensor.detach()[: len(labels)].reshape(len(labels), -1)
        self.inputs.append(rows[:, :: max(1, rows.shape[1] // NUMBERS_KEPT)].clone())
        self.labels += labels

    def are_related(self) -> bool | None:
        """Tests whether labels depend on inputs; None if there are too few examples."""
        if len(self.labels) < MIN_EXAMPLES or len({part.shape[1] for part in self.inputs}) != 1:
            return None
        from gnomon.checks.data.input_relation import label_input_test

        test = label_input_test(torch.cat(self.inputs), torch.tensor(self.labels), seed=0)
        return None if test is None else test.related


@dataclass(slots=True, eq=False)
class InputNumbers:
    """Sums over the numbers in the first batches of a loader.

    >>> numbers = InputNumbers()
    >>> numbers.note_batch(torch.tensor([[1.0, 3.0], [5.0, 7.0]]))
    >>> mean, deviation = numbers.mean_and_deviation()
    >>> mean, round(deviation, 4)
    (4.0, 2.2361)
    """

    batches: int = 0
    count: int = 0
    total: float = 0.0
    squares: float = 0.0

    def note_batch(self, tensor: Tensor | None) -> None:
        """Adds the numbers of a batch, if they are real numbers on the CPU."""
        if tensor is None or self.batches >= BATCHES_SUMMED or tensor.device.type != "cpu" or tensor.dim() < 2:
            return
        if tensor.is_floating_point() and tensor.layout == torch.strided:
            numbers = tensor.detach().double()
            self.batches += 1
            self.count += numbers.numel()
            self.total += float(numbers.sum())
            self.squares += float(numbers.square().sum())

    def mean_and_deviation(self) -> tuple[float, float]:
        """Returns mean and standard deviation; NaN if there are no numbers."""
        if not self.count:
            return nan, nan
        mean = self.total / self.count
        return mean, max(0.0, self.squares / self.count - mean * mean) ** 0.5


def labels_in_batch(batch: Any) -> list[int] | None:
    """Returns the class labels in a batch: its last integer tensor with one number per example.

    >>> labels_in_batch([torch.zeros(2, 3), torch.tensor([1, 0])])
    [1, 0]
    """
    parts = list(batch.values()) if isinstance(batch, dict) else list(batch) if isinstance(batch, tuple | list) else []
    found = [t for t in parts if isinstance(t, Tensor) and t.dim() == 1 and len(t) > 1 and t.device.type == "cpu"]
    found = [t for t in found if not t.is_floating_point() and not t.is_complex()]
    if not found:
        return None
    labels = [int(v) for v in found[-1][:MAX_LABELS_READ].tolist()]
    return labels if max(labels) - min(labels) < MAX_CLASSES else None
