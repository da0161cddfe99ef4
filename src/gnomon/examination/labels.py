"""Recognizes floating-point labels of 0 and 1, and converts them to integer classes.

>>> import torch
>>> from gnomon.core.inputs.source import data_source
>>> IntegerClassSource(data_source((torch.zeros(2, 1), torch.tensor([[0.0], [1.0]])))).labels()
tensor([0, 1])
"""

from collections.abc import Iterator

from torch import Tensor, nn

from gnomon.checks.network.head import last_operation
from gnomon.core.inputs.source import AbstractSource, Batch, InMemorySource
from gnomon.core.modules.outputs import output_tensor
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.run import run_module

__all__ = ["IntegerClassSource", "are_logits_of_labels", "with_integer_classes"]

BOUNDED = ("Sigmoid", "Softmax", "LogSoftmax", "LogSigmoid", "Tanh", "Relu", "Softplus", "Hardtanh", "Clamp")
"""Last operations whose results are not logits, but may be compared with 0 and 1 by a squared loss."""


def are_logits_of_labels(module: nn.Module, data: AbstractSource) -> bool:
    """Checks whether real-valued targets are labels: 0 and 1 for one output, or one-hot rows for several.

    If a sigmoid, a softmax or another bounded function computes the outputs, they are not logits, and the loss of
    classification does not fit.
    Cost: a forward pass on two examples, and a look at all targets.

    >>> import torch
    >>> from gnomon.core.inputs.source import data_source
    >>> are_logits_of_labels(nn.Linear(2, 1), data_source((torch.zeros(4, 2), torch.tensor([0.0, 1.0, 1.0, 0.0]))))
    True
    """
    y = data.labels()
    if y is None or not y.is_floating_point() or y.dim() > 2:
        return False
    rows = y.reshape(len(y), -1)
    if not bool(((rows == 0) | (rows == 1)).all()) or len(rows[:, 0].unique()) != 2:
        return False
    with preserve(module, grad=True, seed=0):
        f = output_tensor(run_module(module, data.first(2).x))
    if f.reshape(len(f), -1).shape[1] != rows.shape[1] or last_operation(f) in BOUNDED:
        return False
    return rows.shape[1] == 1 or bool((rows.sum(1) == 1).all())


class IntegerClassSource(AbstractSource):
    """A data source that converts labels stored as 0.0 and 1.0, or as one-hot rows, to integer classes."""

    def __init__(self, source: AbstractSource) -> None:
        self.source, self.module = source, source.module

    def __len__(self) -> int:
        return len(self.source)

    def batches(self, size: int | None = None) -> Iterator[Batch]:  # noqa: D102
        return (_as_classes(batch) for batch in self.source.batches(size))

    def at(self, index: Tensor) -> Batch:  # noqa: D102
        return _as_classes(self.source.at(index))


def with_integer_classes(source: AbstractSource) -> AbstractSource:
    """Returns the same data with labels as integer classes; labels in memory are converted once, others when read.

    >>> import torch
    >>> with_integer_classes(InMemorySource(Batch(torch.eye(2), torch.eye(2)), None)).labels()
    tensor([0, 1])
    """
    if isinstance(source, InMemorySource):
        return InMemorySource(_as_classes(source.batch), None)
    return IntegerClassSource(source)


def _as_classes(batch: Batch) -> Batch:
    if batch.y is None:
        return batch
    rows = batch.y.reshape(len(batch), -1)
    return Batch(batch.x, rows.argmax(1) if rows.shape[1] > 1 else rows[:, 0].long())
