"""Converts floating-point 0/1 labels to integer classes.

>>> import torch
>>> from gnomon.core.inputs.source import source
>>> IntegerClassSource(source((torch.zeros(2, 1), torch.tensor([[0.0], [1.0]])))).labels()
tensor([0, 1])
"""

from collections.abc import Iterator

from torch import Tensor

from gnomon.core.inputs.source import AbstractSource, Batch

__all__ = ["IntegerClassSource"]


class IntegerClassSource(AbstractSource):
    """A data source that converts targets (n,), (n, 1) or one-hot rows (n, k) to integer classes (n,)."""

    def __init__(self, source: AbstractSource) -> None:
        self.source, self.module = source, source.module

    def __len__(self) -> int:
        return len(self.source)

    def batches(self, size: int | None = None) -> Iterator[Batch]:  # noqa: D102
        return (_as_classes(batch) for batch in self.source.batches(size))

    def at(self, index: Tensor) -> Batch:  # noqa: D102
        return _as_classes(self.source.at(index))


def _as_classes(batch: Batch) -> Batch:
    if batch.y is None:
        return batch
    rows = batch.y.reshape(len(batch), -1)
    return Batch(batch.x, rows.argmax(1) if rows.shape[1] > 1 else rows[:, 0].long())
