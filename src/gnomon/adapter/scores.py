"""Scores networks that predict many labels per example, such as tokens or pixels: loss, accuracy, perplexity, bits per
token.

    perplexity = exp(L),    bits per token = L / log 2,    L the mean cross-entropy over tokens                  (1)

Reference: [rosasco2004loss] for the loss.

>>> score = DecisionScore(loss=log(8), right=3, decisions=4, unit="token")
>>> score.accuracy, round(score.perplexity, 6), round(score.bits, 6)
(0.75, 8.0, 3.0)
"""

from dataclasses import dataclass
from math import exp, log, nan

from torch import Tensor, nn

from gnomon.adapter.reading import OutputMeaning
from gnomon.core.inputs.arguments import Inputs, take_examples
from gnomon.core.modules.outputs import output_rows
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.run import run_module
from gnomon.core.results import Value

__all__ = ["DecisionScore", "score_decisions"]

EXAMPLES_AT_ONCE = 32
"""Examples that are passed at once: each may have tens of thousands of outputs at each position."""


@dataclass(frozen=True, slots=True)
class DecisionScore:
    """A classifier's score on some examples: mean loss per predicted label, number of correct labels, and number of all
    predicted labels.

    >>> DecisionScore(loss=log(2), right=1, decisions=2, unit="pixel").accuracy
    0.5
    """

    loss: float
    right: int
    decisions: int
    unit: str

    @property
    def accuracy(self) -> float:
        """Returns the fraction of correct predictions."""
        return self.right / max(1, self.decisions)

    @property
    def perplexity(self) -> float:
        """Returns the perplexity, exp(mean cross-entropy): the number of equally likely classes that would be as hard
        to guess.

        See equation (1) of the module docstring.
        """
        return exp(min(self.loss, 700.0))  # The loss is capped, because the exponential of a large number overflows.

    @property
    def bits(self) -> float:
        """Returns the mean cross-entropy per predicted label in bits.

        See equation (1) of the module docstring.
        """
        return self.loss / log(2)  # (1)

    def values(self, data: str) -> tuple[Value, ...]:
        """Lists a classifier's accuracy for the report, and for tokens also perplexity and bits; ``data`` is "train" or
        "test".
        """
        seen = f"{self.decisions} {self.unit}s"
        found = [Value(f"accuracy on {data}", self.accuracy, meaning=seen, id=f"accuracy-on-{data}")]
        if self.unit == "token":
            found.append(Value(f"perplexity on {data}", self.perplexity, meaning=seen, id=f"perplexity-on-{data}"))
            found.append(Value(f"bits per token on {data}", self.bits, meaning=seen, id=f"bits-on-{data}"))
        return tuple(found)


def score_decisions(module: nn.Module, x: Inputs, y: Tensor, reading: OutputMeaning) -> DecisionScore | None:
    """Computes a classifier's mean loss and number of correct labels on some examples; returns None for other networks.

    Hypotheses: outputs mean what the reading says. Reference: [rosasco2004loss].
    Cost: a forward pass.

    >>> import torch
    >>> from gnomon.adapter.read import read_output_meaning
    >>> net, x, y = nn.Unflatten(1, (2, 2)), torch.tensor([[0.0, 9.0, 0.0, 9.0]]), torch.tensor([[1, 0]])
    >>> score_decisions(net, x, y, read_output_meaning(net(x), y)).accuracy
    0.5
    """
    if reading.loss is None:
        return None
    total, weights, right, decisions = 0.0, 0, 0, 0
    with preserve(module, grad=False, seed=0):
        for start in range(0, len(y), EXAMPLES_AT_ONCE):
            few, labels = take_examples(x, slice(start, start + EXAMPLES_AT_ONCE)), y[start : start + EXAMPLES_AT_ONCE]
            f, weight = output_rows(run_module(module, few), len(labels)), reading.loss.decisions(labels)
            counted = reading.loss.right(f, labels)
            if counted is None:
                return None
            if weight:  # A batch without labels has no mean loss (0 / 0 = NaN), so it is skipped.
                total, weights = total + weight * float(reading.loss.value(f, labels)), weights + weight
            right, decisions = right + counted[0], decisions + counted[1]
    return DecisionScore(total / weights if weights else nan, right, decisions, reading.unit)
