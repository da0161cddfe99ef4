"""Evaluates predictions at each position, such as tokens or pixels: errors, plots and worst examples.

perplexity at position t = exp(mean over examples of the cross-entropy at t)                             (1)
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from gnomon.adapter.losses import PositionCrossEntropy
from gnomon.checks.run.rare_classes import rare_class_findings
from gnomon.core.results import Axis, Finding, Plot, Scatter, Value
from gnomon.core.results.record import Record
from gnomon.examination.decision_plots import class_table, confusion_counts, confusion_plot
from gnomon.examination.score_intervals import perplexity_interval, share_interval
from gnomon.examination.subject import Subject
from gnomon.report.table import PageTable

__all__ = ["PredictionsAtPositions", "predictions_at_positions", "decisions_at_positions"]

MAX_CONFUSED_CLASSES = 40
"""Maximum number of classes for a confusion matrix; a vocabulary has more."""
MAX_SHARE_WITH_CONTEXT = 0.95
"""Perplexity at the last third of the positions, relative to the first third, below which context helps."""


@dataclass(frozen=True, slots=True, eq=False)
class PredictionsAtPositions(Record):
    """Labels, predicted classes and cross-entropies at each position of each example, such as tokens or pixels.

    >>> one = torch.ones(1, 2)
    >>> PredictionsAtPositions(one.long(), one.long(), 3 * one, one.bool()).error()
    tensor([3.])
    """

    labels: Tensor
    answers: Tensor
    losses: Tensor
    counted: Tensor

    def error(self) -> Tensor:
        """Returns the mean cross-entropy of each example."""
        return self.losses.sum(1) / self.counted.sum(1).clamp(min=1)

    def perplexity(self) -> list[float]:
        """Returns the perplexity at each position over all examples; NaN if all labels at a position are ignored.

        See equation (1) of the module docstring.
        """
        count = self.counted.sum(0)
        means = torch.where(count > 0, self.losses.sum(0) / count.clamp(min=1), torch.nan)
        return means.clamp(max=700.0).exp().tolist()  # (1)

    def with_intervals(self, values: Sequence[Value], data: str) -> tuple[Value, ...]:
        """Adds the intervals of accuracy and perplexity on these examples to values of the report.

        ``data`` is "train" or "test".
        """
        counts = self.counted.sum(1)
        right = ((self.answers == self.labels) & self.counted).sum(1)
        known = {
            f"accuracy-on-{data}": share_interval(right, counts),
            f"perplexity-on-{data}": perplexity_interval((self.losses * self.counted).sum(1), counts),
        }
        return tuple(replace(value, interval=known.get(value.id, value.interval)) for value in values)

    def plots(self, subject: Subject, which: str) -> tuple[Plot, ...]:
        """Plots perplexity by position for language models, and a confusion matrix if there are few classes."""
        reading = subject.task.reading
        assert reading is not None
        found: tuple[Plot, ...] = ()
        if reading.task == "language model" and self.labels.shape[1] > 2:
            line = Scatter("perplexity", range(1, self.labels.shape[1] + 1), self.perplexity())
            words = (
                f"Perplexity of the next token after 1, 2, ... tokens ({which} examples). {_effect_of_context(line.y)}"
            )
            axes = Axis("tokens seen before the predicted one"), Axis("perplexity (tokens to choose from)")
            found = (Plot("Perplexity by position", (line,), *axes, words, id="perplexity-by-position"),)
        return (
            (*found, *confusion_plot(*self._counts(subject), f"{which} {reading.unit}s"))
            if self._few(subject)
            else found
        )

    def tables(self, subject: Subject) -> tuple[PageTable, ...]:
        """Returns a table of recall, precision and F1 by class, if there are few classes."""
        return class_table(*self._counts(subject)) if self._few(subject) else ()

    def rare_class_findings(self, subject: Subject) -> tuple[Finding, ...]:
        """Returns a finding about a class of pixels or tags that is never predicted; words of a language may be
        hard.
        """
        reading = subject.task.reading
        if reading is None or reading.task == "language model":
            return ()
        return rare_class_findings(self.labels[self.counted], self.answers[self.counted], unit=f"{reading.unit}s")

    def _few(self, subject: Subject) -> bool:
        reading = subject.task.reading
        return reading is not None and 2 <= reading.classes <= MAX_CONFUSED_CLASSES

    def _counts(self, subject: Subject) -> tuple[Tensor, list[str]]:
        assert subject.task.reading is not None
        words, classes = subject.vocabulary, subject.task.reading.classes
        names = [
            words[c] if c < len(words) and not subject.class_names else subject.class_name(c) for c in range(classes)
        ]
        return confusion_counts(self.answers[self.counted], self.labels[self.counted], classes), names


def _effect_of_context(perplexity: Sequence[float]) -> str:
    """Says in one sentence whether the perplexity falls from the first third of the positions to the last third.

    >>> _effect_of_context([9.0, 6.0, 3.0])
    'The perplexity falls along the sequence (from 9 to 3): a longer context helps.'
    """
    known = [value for value in perplexity if value == value]
    third = max(1, len(known) // 3)
    first, last = (sum(part) / len(part) for part in (known[:third], known[-third:]))
    if last < MAX_SHARE_WITH_CONTEXT * first:
        return f"The perplexity falls along the sequence (from {first:.3g} to {last:.3g}): a longer context helps."
    return "The perplexity does not fall along the sequence: a longer context does not help this network."


def predictions_at_positions(loss: PositionCrossEntropy, f: Tensor, y: Tensor) -> PredictionsAtPositions:
    """Computes the predicted class and the cross-entropy at each position, from the network's outputs and the targets.

    Cost: one pass over the outputs.

    >>> import torch
    >>> loss = PositionCrossEntropy(classes=4, positions=2)
    >>> found = predictions_at_positions(loss, torch.zeros(3, 8), torch.zeros(3, 2).long())
    >>> [round(value, 6) for value in found.perplexity()]
    [4.0, 4.0]
    """
    logits, labels = loss.by_position(f, y)
    each = F.cross_entropy(
        logits.double().flatten(0, 1), labels.flatten(), ignore_index=loss.ignored, reduction="none"
    ).reshape(labels.shape)
    return PredictionsAtPositions(labels, logits.argmax(2), each, labels != loss.ignored)


def decisions_at_positions(subject: Subject, model: nn.Module, n: int, seed: int) -> PredictionsAtPositions | None:
    """Returns the predictions at each position of held-out examples; None for tasks with one label per example.

    >>> from gnomon.examination.subject import build_subject
    >>> x = torch.randn(80, 3, generator=torch.Generator().manual_seed(0))
    >>> network = build_subject(torch.nn.Linear(3, 2), (x, (x[:, 0] > 0).long()), None, seed=0)
    >>> decisions_at_positions(network, network.module, 4, 0) is None
    True
    """
    reading, data = subject.task.reading, subject.train if subject.test is None else subject.test
    if reading is None or not isinstance(reading.loss, PositionCrossEntropy) or reading.loss.shared:
        return None
    some = subject.examples(data.probe(n, seed=seed))
    return predictions_at_positions(reading.loss, subject.outputs(some.x, model), some.y)
