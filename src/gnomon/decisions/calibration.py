"""Calibration: is a classifier that is 80 % confident correct in 80 % of the cases?

Examples are sorted by confidence, the largest probability, and put in bins B of equal size:

    ECE = sum over B of |B| / n |accuracy(B) - confidence(B)|                                         (1)

Reference: [guo2017calibration].

>>> import torch
>>> calibration(torch.tensor([[0.75, 0.25]] * 2), torch.tensor([0, 1]), bins=1).error     # 75 % sure, 50 % right
0.25
"""

from dataclasses import dataclass
from statistics import NormalDist

from jaxtyping import Float, Int
from torch import Tensor

from gnomon.core.errors import add_call_to_errors
from gnomon.core.metrics import predicted_classes
from gnomon.core.results import Axis, Finding, Line, Plot, Result, Scatter, Value
from gnomon.core.results.plot import NEUTRAL_SERIES_INDEX
from gnomon.findings import decisions as kinds

__all__ = ["Calibration", "calibration"]

BIN_COUNT = 10
"""Number of bins."""
SIGNIFICANCE_LEVEL = 0.01
"""Probability that a calibrated network is called overconfident."""
MIN_CONFIDENCE_GAP = 0.05
"""Difference between confidence and accuracy at which the verdict mentions it."""


@dataclass(frozen=True, slots=True)
class Calibration(Result):
    """Result: the calibration error, mean confidence and accuracy of a classifier, and the accuracy in each confidence
    bin.

    ``deviation`` is the standard error of confidence minus accuracy, ``level`` the probability that a calibrated
    network is called overconfident.
    """

    error: float
    confidence: float
    accuracy: float
    bins: tuple[tuple[float, float], ...]
    deviation: float = 0.0
    level: float = SIGNIFICANCE_LEVEL

    @property
    def gap(self) -> float:
        """Returns the classifier's mean confidence minus its accuracy; a positive number means that it is
        overconfident.
        """
        return self.confidence - self.accuracy

    @property
    def verdict(self) -> str:
        """States in one sentence the classifier's confidence and accuracy, and whether they agree."""
        numbers = f"{self.confidence:.1%} confident in its answers on average and right in {self.accuracy:.1%} of cases"
        return f"The network is {numbers}: {self.judgment}."

    @property
    def judgment(self) -> str:
        """Describes in a few words whether confidence and accuracy agree."""
        off = abs(self.gap) > max(MIN_CONFIDENCE_GAP, self.margin)
        if not off and not self.tells:
            return "too few examples to decide whether it is too sure"
        return "well calibrated" if not off else "too sure" if self.gap > 0 else "less sure than it could be"

    @property
    def margin(self) -> float:
        """Returns the largest difference between confidence and accuracy that chance explains at the significance
        level.
        """
        return NormalDist().inv_cdf(1 - self.level) * self.deviation

    @property
    def tells(self) -> bool:
        """Checks whether there are enough examples to detect overconfidence."""
        return self.margin <= 2 * MIN_CONFIDENCE_GAP

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Reports a problem if the network is overconfident by more than a threshold and by more than chance
        explains.
        """
        if self.gap <= max(MIN_CONFIDENCE_GAP, self.margin):
            return ()
        evidence = (Value("confidence gap", self.gap),)
        return (Finding(kinds.OVERCONFIDENT, "outputs", {"gap": self.gap}, evidence, self.level),)

    def plots(self) -> tuple[Plot, ...]:
        """Plots the classifier's accuracy over its confidence, for each bin of examples with similar confidence."""
        x, y = zip(*self.bins, strict=True)
        marks = (
            Scatter("measured", x, y, 0),
            Line("confidence equals accuracy", (0, 1), (0, 1), "dotted", NEUTRAL_SERIES_INDEX),
        )  # fmt: skip
        words = (
            f"Each point is one of {len(x)} groups of examples with similar confidence. On the dotted line confidence "
            "equals accuracy (calibrated); below it the network is too sure."
        )
        axes = Axis("mean confidence of the group", limits=(0, 1.02)), Axis("share right", limits=(0, 1.02))
        return (Plot("Calibration", marks, *axes, words, id="calibration"),)


@add_call_to_errors
def calibration(
    p: Float[Tensor, "n k"], labels: Int[Tensor, " n"], *, bins: int = BIN_COUNT, level: float = SIGNIFICANCE_LEVEL
) -> Calibration:
    """Computes the expected calibration error of predicted class probabilities, with confidence bins.

    See equation (1) of the module docstring.
    Hypotheses: rows of p are probabilities; labels are classes 0 to k - 1.
    Reference: [guo2017calibration].
    Cost: one sort.

    >>> import torch
    >>> calibration(torch.tensor([[0.75, 0.25]] * 4), torch.tensor([0, 0, 0, 1]), bins=1).error
    0.0
    """
    confidence, right = p.max(1).values.double(), (predicted_classes(p) == labels).double()
    rows, error = [], 0.0
    for part in confidence.argsort().chunk(min(bins, len(p))):
        mean, share = float(confidence[part].mean()), float(right[part].mean())
        rows.append((mean, share))
        error += len(part) / len(p) * abs(mean - share)  # (1)
    gap = confidence - right
    deviation = float(gap.std(correction=0) / len(gap) ** 0.5)
    return Calibration(error, float(confidence.mean()), float(right.mean()), tuple(rows), deviation, level)
