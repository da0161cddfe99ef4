"""Losses for outputs with an extra dimension: positions of a sequence, pixels, or members of an ensemble.

For an example with outputs f_t at positions t and labels c_t, and N labels in all examples that are not ignored,

    cross-entropy over positions   L = (1 / N) sum_i sum_t -log softmax(f_it)[c_it]                          (1)
    squared error of members       L = (1 / n) sum_i (1 / m) sum_j |f_ij - y_i|^2 / 2                        (2)

(1) is ``torch.nn.functional.cross_entropy`` of all positions at once; members of an ensemble are positions that share
the label of their example. Outputs arrive as rows (n, all outputs of an example), as everywhere in gnomon.

Hypotheses: positions that are not ignored count equally. Reference: [rosasco2004loss].

>>> import torch
>>> loss = PositionCrossEntropy(classes=4, positions=3)
>>> round(float(loss.value(torch.zeros(2, 12), torch.tensor([[0, 1, 2], [3, -100, 0]]))), 6)             # log 4
1.386294
"""

from abc import abstractmethod
from dataclasses import dataclass
from math import sqrt

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from gnomon.core.errors import InputError
from gnomon.core.inputs.arrays import Array, as_tensor
from gnomon.core.losses import AbstractLoss

__all__ = ["IGNORED_LABEL", "AbstractLossWithAxes", "EnsembleSquaredLoss", "PositionCrossEntropy"]

IGNORED_LABEL = -100
"""Label of positions that do not count, as in ``torch.nn.CrossEntropyLoss``."""


class AbstractLossWithAxes(AbstractLoss):
    """Base class of losses for outputs with an extra dimension, such as positions of a sequence; integer labels stay
    integers.
    """

    @abstractmethod
    def root(self, f: Float[Tensor, "n k"], y: Tensor) -> Float[Tensor, "n k k"]:
        """Returns a matrix square root of the Hessian of the loss with respect to the outputs, for each example."""

    @abstractmethod
    def table(self, y: Tensor, f: Float[Tensor, "n k"]) -> Float[Tensor, "n k"]:
        """Converts the targets to real numbers in the shape of the outputs, (examples, number of outputs)."""

    @abstractmethod
    def decisions(self, y: Tensor) -> int:
        """Returns the number of terms over which the loss is averaged: the labels that are not ignored, or the
        examples.
        """

    @abstractmethod
    def observations(self, y: Tensor) -> int:
        """Returns the number of observed labels; counts every position, but counts a label once if ensemble members
        share it.
        """

    @abstractmethod
    def right(self, f: Float[Tensor, "n k"], y: Tensor) -> tuple[int, int] | None:
        """Counts correct predictions and all predictions; returns None if the network predicts real numbers."""

    def __call__(self, outputs: Tensor, y: Tensor) -> Tensor:
        """Computes the loss of outputs with extra dimensions, so that the object can be called like a loss of torch."""
        return self.value(outputs.reshape(len(outputs), -1), y)


@dataclass(frozen=True, slots=True)
class PositionCrossEntropy(AbstractLossWithAxes):
    """Cross-entropy over the labels at all positions of a sequence or all pixels of an image.

    See equation (1) of the module docstring.
    ``classes_first`` says that an example's outputs are (classes, positions) and not (positions, classes). With
    ``shift`` 1 the outputs at a position are compared with the label at the next one. With ``shared`` labels are (n,)
    and belong to all positions, the members of an ensemble.

    >>> f = torch.tensor([[0.0, 9.0, 9.0, 0.0]])
    >>> PositionCrossEntropy(classes=2, positions=2).right(f, torch.tensor([[1, 0]]))
    (2, 2)
    """

    classes: int
    positions: int
    classes_first: bool = False
    shift: int = 0
    shared: bool = False
    ignored: int = IGNORED_LABEL
    name = "cross-entropy"
    curvature = 0.5  # bound of the curvature: the largest eigenvalue of diag(p) - p p^T over all probabilities p

    def value(self, f: Float[Tensor, "n k"], y: Tensor) -> Float[Tensor, ""]:  # noqa: D102
        if _is_table(f, y):
            chances = self._rows(f.double()).log_softmax(2)
            return -(self._rows(y) * chances).sum() / y.sum()
        exact, labels = f.double() if f.numel() <= MAX_EXACT_OUTPUTS else f, self._labels(y)
        if self.classes_first and not self.shift:  # torch takes this layout without copying the outputs
            logits = exact.reshape(len(f), self.classes, -1)
            return F.cross_entropy(logits, labels, ignore_index=self.ignored).double()  # (1)
        logits = self._axes(exact).flatten(0, 1)
        return F.cross_entropy(logits, labels.flatten(), ignore_index=self.ignored).double()  # (1)

    def gradient(self, f: Float[Tensor, "n k"], y: Tensor) -> Float[Tensor, "n k"]:  # noqa: D102
        table = self.table(y, f)
        rows, wanted = self._rows(f), self._rows(table)
        found = rows.softmax(2) * wanted.sum(2, keepdim=True) - wanted
        return self._flat(found) * (len(f) / table.sum())

    def hessian(self, f: Float[Tensor, "n k"], y: Tensor) -> Float[Tensor, "n k k"]:  # noqa: D102
        root = self.root(f, y)
        return root @ root.transpose(1, 2)

    def root(self, f: Float[Tensor, "n k"], y: Tensor) -> Float[Tensor, "n k k"]:  # noqa: D102
        table = self.table(y, f)
        p, counted = self._rows(f).softmax(2), self._rows(table).sum(2)
        # Computes R with R R^T = diag(p) - p p^T, the Hessian of the cross-entropy with respect to the logits of one
        # position.
        blocks = torch.diag_embed(p.sqrt()) - p[:, :, :, None] * p.sqrt()[:, :, None, :]
        blocks = blocks * (counted * len(f) / table.sum()).sqrt()[:, :, None, None]
        places = self._rows(torch.arange(f.shape[1], device=f.device)[None])[0]
        found = torch.zeros(len(f), f.shape[1], f.shape[1], dtype=f.dtype, device=f.device)
        found[:, places[:, :, None], places[:, None, :]] = blocks
        return found

    def table(self, y: Tensor, f: Float[Tensor, "n k"]) -> Float[Tensor, "n k"]:
        """Returns the labels as one-hot vectors in the shape of the outputs, with zeros at positions without a
        label.
        """
        if _is_table(f, y):
            return y
        labels = self._labels(y)
        hot = F.one_hot(labels.clamp_min(0), self.classes) * (labels != self.ignored)[:, :, None]
        return self._flat(F.pad(hot, (0, 0, 0, self.shift))).to(f)

    def by_position(self, f: Float[Tensor, "n k"], y: Tensor) -> tuple[Tensor, Tensor]:
        """Returns outputs (examples, positions, classes) and labels (examples, positions), aligned with each other.

        >>> loss = PositionCrossEntropy(classes=2, positions=3)
        >>> logits, labels = loss.by_position(torch.zeros(1, 6), torch.ones(1, 3))
        >>> logits.shape, labels.tolist()
        (torch.Size([1, 3, 2]), [[1, 1, 1]])
        """
        return self._axes(f), self._labels(y)

    def right(self, f: Float[Tensor, "n k"], y: Tensor) -> tuple[int, int]:  # noqa: D102
        logits = self._axes(f)
        if self.shared:  # an ensemble predicts the class with the largest mean probability of its members
            chosen, labels = logits.softmax(2).mean(1).argmax(1), y.reshape(len(y)).long()
        else:
            chosen, labels = logits.argmax(2), self._labels(y)
        counted = labels != self.ignored
        return int((chosen[counted] == labels[counted]).sum()), int(counted.sum())

    def observations(self, y: Tensor) -> int:  # noqa: D102
        return len(y) if self.shared else self.decisions(y)

    def decisions(self, y: Tensor) -> int:  # noqa: D102
        return int((self._labels(y) != self.ignored).sum())

    def targets(self, y: Array, *, outputs: int | None = None) -> Tensor:  # noqa: D102
        given = as_tensor(y)
        if given.is_floating_point() and given.dim() == 2 and given.shape[1] == outputs:
            return given  # The targets are already one-hot rows, which `table` made.
        table = given.long()
        table = table.reshape(len(table), -1) if table.dim() != 1 or not self.shared else table
        counted = table[table != self.ignored]
        if len(counted) and (int(counted.min()) < 0 or int(counted.max()) >= self.classes):
            found = f"labels go from {int(counted.min())} to {int(counted.max())} and there are {self.classes} classes"
            fix = (
                f"Number the classes from 0 to {self.classes - 1}; {self.ignored} marks positions that the loss ignores"
            )
            raise InputError(found, accepted="one output for each class", fix=fix)
        return table

    def _rows(self, f: Tensor) -> Tensor:
        """Reshapes flattened outputs to (examples, positions, classes)."""
        if self.classes_first:
            return f.reshape(len(f), self.classes, -1).transpose(1, 2)
        return f.reshape(len(f), -1, self.classes)

    def _flat(self, rows: Tensor) -> Tensor:
        """Flattens outputs of shape (examples, positions, classes) to one row per example."""
        return (rows.transpose(1, 2) if self.classes_first else rows).reshape(len(rows), -1)

    def _axes(self, f: Tensor) -> Tensor:
        """Reshapes outputs to (examples, positions, classes); drops last positions whose next token is not in the
        data.
        """
        rows = self._rows(f)
        return rows[:, : rows.shape[1] - self.shift]

    def _labels(self, y: Tensor) -> Tensor:
        """Reshapes integer labels to (examples, positions)."""
        if self.shared:
            return y.reshape(len(y), 1).long().expand(-1, self.positions)
        return y.reshape(len(y), -1).long()[:, self.shift :]


@dataclass(frozen=True, slots=True)
class EnsembleSquaredLoss(AbstractLossWithAxes):
    """Half the squared error of each member of an ensemble, averaged over members and examples.

    See equation (2) of the module docstring.

    >>> float(EnsembleSquaredLoss(members=2).value(torch.tensor([[1.0, 3.0]]), torch.tensor([[1.0]])))
    1.0
    """

    members: int
    name = "squared loss"
    curvature = 1.0

    def value(self, f: Float[Tensor, "n k"], y: Tensor) -> Float[Tensor, ""]:  # noqa: D102
        return self._errors(f.double(), y).square().sum(2).mean() / 2  # (2)

    def gradient(self, f: Float[Tensor, "n k"], y: Tensor) -> Float[Tensor, "n k"]:  # noqa: D102
        return self._errors(f, y).reshape(f.shape) / self.members

    def hessian(self, f: Float[Tensor, "n k"], y: Tensor) -> Float[Tensor, "n k k"]:  # noqa: D102
        return torch.eye(f.shape[1], dtype=f.dtype).expand(len(f), -1, -1) / self.members

    def root(self, f: Float[Tensor, "n k"], y: Tensor) -> Float[Tensor, "n k k"]:  # noqa: D102
        return torch.eye(f.shape[1], dtype=f.dtype).expand(len(f), -1, -1) / sqrt(self.members)

    def table(self, y: Tensor, f: Float[Tensor, "n k"]) -> Float[Tensor, "n k"]:  # noqa: D102
        if _is_table(f, y) and self.members > 1:
            return y
        return y.reshape(len(y), 1, -1).expand(-1, self.members, -1).reshape(len(y), -1).to(f)

    def right(self, f: Float[Tensor, "n k"], y: Tensor) -> None:  # noqa: D102
        return None

    def observations(self, y: Tensor) -> int:  # noqa: D102
        return len(y)

    def decisions(self, y: Tensor) -> int:  # noqa: D102
        return len(y)

    def targets(self, y: Array, *, outputs: int | None = None) -> Tensor:  # noqa: D102
        table = as_tensor(y)
        return table.reshape(len(table), -1)

    def _errors(self, f: Tensor, y: Tensor) -> Tensor:
        return (f - self.table(y, f)).reshape(len(f), self.members, -1)


def _is_table(f: Tensor, y: Tensor) -> bool:
    """Checks whether the targets y are already floating-point numbers in the shape of the outputs f."""
    return y.is_floating_point() and y.shape == f.shape


MAX_EXACT_OUTPUTS = 2**16
"""Numbers of outputs that are converted to double precision for their loss. Converting more would take a tenth of a
training step, and the mean over that number of positions is exact to six digits in single precision."""
