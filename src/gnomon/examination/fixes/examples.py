"""Possible fixes of the training data: removes suspicious labels or contradicting copies, gives rare classes more
weight.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Tensor, nn

from gnomon.checks import suspect_labels
from gnomon.checks.data.rows import example_hashes
from gnomon.core.inputs.source import AbstractSource, Batch
from gnomon.core.losses import CrossEntropy
from gnomon.core.results import Finding
from gnomon.examination.fixes.fix import Fix, TrialChange, diff
from gnomon.examination.fixes.trial import TrialRun
from gnomon.examination.subject import Subject
from gnomon.training.plan import BatchPlan

__all__ = ["FIXES", "SourceOfChosenExamples"]

MAX_EXAMPLES = 8000
"""Most examples whose labels are compared with their neighbors."""


class SourceOfChosenExamples(AbstractSource):
    """A data source with some of the examples of another data source, chosen by index.

    >>> from gnomon.core.inputs.source import data_source
    >>> some = SourceOfChosenExamples(data_source((torch.eye(3), torch.arange(3))), torch.tensor([2, 0]))
    >>> len(some), some.labels().tolist()
    (2, [2, 0])
    """

    def __init__(self, source: AbstractSource, index: Tensor) -> None:
        self.source, self.index, self.module = source, index, source.module

    def __len__(self) -> int:
        return len(self.index)

    def batches(self, size: int | None = None) -> Iterator[Batch]:  # noqa: D102
        for part in self.index.split(size or 256):
            yield self.source.at(part)

    def at(self, index: Tensor) -> Batch:  # noqa: D102
        return self.source.at(self.index[index])

    def labels(self) -> Tensor | None:  # noqa: D102
        known = self.source.labels()
        return None if known is None else known[self.index.to(known.device)]


def _without(trial: TrialRun, dropped: Tensor, words: str, code: str) -> tuple[TrialChange, ...]:
    """Returns the training run without some examples, as a possible fix."""
    n = len(trial.train)
    if not 0 < len(dropped) < n / 2:
        return ()
    kept = torch.ones(n, dtype=torch.bool)
    kept[dropped] = False
    batches = trial.batches
    if batches.loader is not None:
        batches = BatchPlan(len(next(batches.loader.batches())), None, batches.augment)
    left = SourceOfChosenExamples(trial.train, kept.nonzero().flatten())
    return (TrialChange(replace(trial, train=left, batches=batches), words, diff("", code)),)


def drop_suspects(trial: TrialRun, finding: Finding, subject: Subject) -> tuple[TrialChange, ...]:
    """Possible fix: removes training examples whose labels contradict similar examples."""
    if not subject.task.classes or len(trial.train) > MAX_EXAMPLES:
        return ()
    whole = subject.examples(trial.train.whole())
    found = suspect_labels((whole.x, whole.y))
    count = int((found.margins < 0).sum()) if found.ranked else 0
    wanted = min(count, round(float(finding.values.get("share", found.rate)) * len(whole)))
    dropped = torch.tensor(found.ranked[:wanted], dtype=torch.long)
    words = f"without the {wanted} most suspect labels"
    code = (
        "suspect = gnomon.checks.suspect_labels(x, y).ranked[:%d]\nkept = [i for i in range(len(y)) if i not in "
        "suspect]"
    )
    return _without(trial, dropped, words, code % wanted)


def drop_conflicts(trial: TrialRun, finding: Finding, subject: Subject) -> tuple[TrialChange, ...]:
    """Possible fix: removes training examples that have an equal example with another label."""
    whole = trial.train.whole()
    groups: dict[bytes, list[int]] = defaultdict(list)
    for i, code in enumerate(example_hashes(whole.x)):
        groups[code].append(i)
    assert whole.y is not None  # never fails: an examination always has targets
    rows = whole.y.reshape(len(whole), -1)
    dropped = [i for group in groups.values() if len({tuple(rows[i].tolist()) for i in group}) > 1 for i in group]
    words = f"without {len(dropped)} examples that contradict a copy"
    return _without(trial, torch.tensor(dropped, dtype=torch.long), words, "train = [train[i] for i in kept]")


def weight_classes(trial: TrialRun, finding: Finding, subject: Subject) -> tuple[TrialChange, ...]:
    """Possible fix: gives rare classes more weight in the cross-entropy; success is measured by the mean accuracy over
    classes.
    """
    y = trial.train.labels()
    if not isinstance(subject.loss, CrossEntropy) or subject.task.outputs < 2 or y is None:
        return ()
    counts = torch.bincount(y.long().cpu(), minlength=subject.task.classes).float()
    weights = torch.where(counts > 0, len(y) / (len(counts) * counts.clamp(min=1)), torch.zeros(()))
    first = next(trial.module.parameters())
    loss = nn.CrossEntropyLoss(weight=weights.to(first))
    code = "weight = len(y) / (counts * len(counts))\nloss = nn.CrossEntropyLoss(weight=weight)"
    changed = replace(trial, loss=loss, balanced=True)
    return (TrialChange(changed, "class weights", diff("loss = nn.CrossEntropyLoss()", code)),)


FIXES = (
    Fix("drop-suspects", drop_suspects),
    Fix("drop-conflicts", drop_conflicts),
    Fix("weight-classes", weight_classes),
)
