"""Computes margins: the probability of the correct class minus the largest probability of another class.

    m_i = p_i(y_i) - max over c != y_i of p_i(c)                                                      (1)

A negative margin is a wrong decision; the hardest examples are those whose own class has the smallest probability.

>>> import torch
>>> margins(torch.tensor([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]]), torch.tensor([0, 1])).smallest
-0.3...
"""

from dataclasses import dataclass, field

import torch
from jaxtyping import Float, Int
from torch import Tensor

from gnomon.core.errors import add_call_to_errors
from gnomon.core.metrics import binomial_interval, predicted_classes
from gnomon.core.results import Axis, Histogram, Interval, Plot, Reference, Result
from gnomon.core.results.plain import HIDDEN_IN_JSON

__all__ = ["MAX_NAMED_EXAMPLES", "Margins", "margins", "probabilities"]

MAX_NAMED_EXAMPLES = 8
"""Number of hardest examples that are listed."""
MAX_BINS = 40
"""Maximum number of bins of the histogram; for few examples it has twice the square root of their number."""


@dataclass(frozen=True, slots=True, eq=False)
class Margins(Result):
    """Result: the margin of each example, the number of correct predictions, and the indices of the hardest
    examples.
    """

    values: Float[Tensor, " n"] = field(metadata=HIDDEN_IN_JSON)
    right: int
    hardest: tuple[int, ...]

    @property
    def smallest(self) -> float:
        """Returns the smallest margin of all examples."""
        return float(self.values.min())

    @property
    def median(self) -> float:
        """Returns the median margin of all examples."""
        return float(self.values.median())

    @property
    def accuracy(self) -> float:
        """Returns the fraction of correct predictions."""
        return self.right / len(self.values)

    @property
    def accuracy_interval(self) -> Interval:
        """Returns the 95 % confidence interval of the accuracy."""
        return binomial_interval(self.right, len(self.values))

    @property
    def verdict(self) -> str:
        """States in one sentence the classifier's accuracy and its median margin."""
        share = f"{self.accuracy:.1%} of {len(self.values)} decisions are right"
        return f"{share}; half of the examples have a margin below {self.median:.2g}."

    def plots(self) -> tuple[Plot, ...]:
        """Plots a histogram of the margins of all examples."""
        bins = int(min(MAX_BINS, 2 * len(self.values) ** 0.5 + 1))
        marks = (Histogram.of("examples", self.values, bins=bins), Reference("wrong on the left", 0.0, vertical=True))
        words = (
            "Margin: probability of the right class minus the largest probability of another class; left of the dashed "
            "line the answer is wrong."
        )
        return (
            Plot(
                "Margins",
                marks,
                Axis("margin (difference of two probabilities)"),
                Axis("number of examples"),
                words,
                id="margins",
            ),
        )


@add_call_to_errors
def margins(p: Float[Tensor, "n k"], labels: Int[Tensor, " n"]) -> Margins:
    """Computes the margin of each example from class probabilities, and finds the hardest examples.

    See equation (1) of the module docstring.
    Hypotheses: rows of p are probabilities; labels are classes 0 to k - 1.
    Reference: [bartlett1998sample].
    Cost: one pass over p.

    >>> margins(torch.tensor([[0.5, 0.25, 0.25]]), torch.tensor([1])).values.tolist()
    [-0.25]
    """
    own = p.gather(1, labels[:, None]).squeeze(1)
    values = own - p.scatter(1, labels[:, None], -1.0).max(1).values  # (1)
    right = int((predicted_classes(p) == labels).sum())
    hardest = own.topk(min(MAX_NAMED_EXAMPLES, len(own)), largest=False).indices
    return Margins(values, right, tuple(hardest.tolist()))


def probabilities(outputs: Float[Tensor, "n k"]) -> Float[Tensor, "n c"]:
    """Converts network outputs to class probabilities: by softmax, or by the logistic function if there is one output.

    Cost: one pass over the outputs.

    >>> probabilities(torch.zeros(1, 1)).tolist(), probabilities(torch.zeros(1, 4)).tolist()
    ([[0.5, 0.5]], [[0.25, 0.25, 0.25, 0.25]])
    """
    if outputs.shape[1] == 1:
        p = torch.sigmoid(outputs[:, 0])
        return torch.stack([1 - p, p], 1)
    return outputs.softmax(1)
