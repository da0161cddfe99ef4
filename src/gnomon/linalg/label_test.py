"""Tests whether labels are related to inputs, by comparing the kernel's alignment with true and with shuffled labels.

    A(y) = <HKH, y y^T> / (|HKH| |y y^T|),    p = (1 + #{s : A(y_s) >= A(y)}) / (1 + number of shuffles)        (1)

with centered labels y and their shuffles y_s. If labels are unrelated to inputs, every order of them is as likely,
and p is below any level a with probability at most a: the test is exact for every kernel and every n.

Hypotheses: examples are exchangeable; labels and kernel are not constant.
Reference: [cortes2012algorithms] for the alignment.

>>> import torch
>>> y = torch.tensor([1.0, -1.0]).repeat(20)
>>> label_test(torch.outer(y, y), y).p_value == 1 / 401           # no shuffle is aligned as well
True
"""

from dataclasses import dataclass, field

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.arrays import Array
from gnomon.core.inputs.checks import as_targets, check_integer, check_seed
from gnomon.core.inputs.classes import targets_as_numbers
from gnomon.core.results import Axis, Histogram, Interval, Plot, Reference, Result
from gnomon.core.results.plain import HIDDEN_IN_JSON
from gnomon.linalg.alignment import alignment
from gnomon.linalg.square import as_square_matrix

__all__ = ["LabelTest", "label_test"]

SIGNIFICANCE_LEVEL = 0.01
"""False-alarm rate at which the verdict calls labels related."""


@dataclass(frozen=True, slots=True, eq=False)
class LabelTest(Result):
    """Result: the kernel's alignment with the labels and with shuffled labels, and the p-value."""

    alignment: float
    p_value: float
    shuffled: Float[Tensor, " s"] = field(metadata=HIDDEN_IN_JSON)

    @property
    def related(self) -> bool:
        """Whether the labels are related to the inputs: the p-value of the test is below the significance level."""
        return self.p_value < SIGNIFICANCE_LEVEL

    @property
    def shuffled_interval(self) -> Interval:
        """The interval that contains 95 % of the alignments with shuffled labels."""
        low, high = torch.quantile(self.shuffled, torch.tensor([0.025, 0.975], dtype=self.shuffled.dtype)).tolist()
        return Interval(low, high, 0.95)

    @property
    def detectable(self) -> float:
        """The smallest alignment with labels that the test detects in 80 % of cases, if alignments are normally
        distributed.
        """
        # 2.326 and 0.842 are normal quantiles: of 99 % for the significance level, and of 80 % for the power.
        return float(self.shuffled.mean() + (2.326 + 0.842) * self.shuffled.std())

    @property
    def verdict(self) -> str:
        """A sentence that says whether the labels are related to the inputs."""
        word = "far from" if self.related else "no better than"
        return (
            f"The alignment of the kernel with the labels, {self.alignment:.2g}, is {word} the alignment with "
            f"shuffled labels (p = {self.p_value:.2g})."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots a histogram of the alignments with shuffled labels, and the alignment with the true labels."""
        marks = (Histogram.of("shuffled labels", self.shuffled), Reference("labels", self.alignment, vertical=True))
        return (Plot("Alignment with the labels", marks, Axis("alignment"), Axis("shuffles"), self.verdict),)


@add_call_to_errors
def label_test(kernel: Array, y: Array, *, shuffles: int = 400, seed: int = 0) -> LabelTest:
    """Compares a kernel's alignment with the labels to its alignment with shuffled labels.

    See equation (1) of the module docstring.
    Integer labels (n,) are classes, taken as one-hot rows; floating-point ones, (n,) or (n, k), are numbers.

    Hypotheses: examples are exchangeable. On few examples, or with a kernel that does not see the structure of the
    labels, related labels may fail the test too.
    Reference: [cortes2012algorithms].
    Cost: n^2 k for each shuffle.

    >>> x = torch.randn(50, 3, generator=torch.Generator().manual_seed(0))
    >>> label_test(x @ x.T, x[:, 0]).related
    True
    """
    shuffles, seed = check_integer("shuffles", shuffles), check_seed(seed)
    aligned = alignment(kernel, y)
    k = as_square_matrix(kernel).detach().double()
    labels = targets_as_numbers(as_targets(y, len(k))).to(k).reshape(len(k), -1)
    labels = labels - labels.mean(0)
    centered = k - k.mean(0) - k.mean(1, keepdim=True) + k.mean()
    scale = float(centered.norm() * (labels @ labels.mT).norm())
    generator = torch.Generator().manual_seed(seed)
    orders = (torch.randperm(len(k), generator=generator) for _ in range(shuffles))
    values = [float((labels[order] * (centered @ labels[order])).sum()) / scale for order in orders]
    shuffled = torch.tensor(values, dtype=torch.float64)
    p = float(1 + (shuffled >= aligned).sum()) / (1 + shuffles)  # (1)
    return LabelTest(aligned, p, shuffled)
