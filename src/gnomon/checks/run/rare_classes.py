"""Finds a rare class that a trained network nearly never predicts, although it is right on most examples.

With nearly all examples (or pixels) in one class, always saying this class has a high accuracy and a low loss.

    recall of class c = examples of c that are predicted as c / examples of c                                     (1)

Hypotheses: labels of held-out examples, or of their positions.

>>> import torch
>>> y = torch.tensor([0] * 950 + [1] * 50)
>>> rare_class_findings(y, torch.zeros(1000).long(), unit="pixels")[0].values["label"]
1
>>> rare_class_findings(y, y, unit="pixels")
()
"""

import torch
from torch import Tensor

from gnomon.core.results import Finding, Value
from gnomon.findings import training as kinds

__all__ = ["rare_class_findings"]

MIN_COUNT = 30
"""Fewest held-out examples of a class; if a network is right on half of them, fewer than 4 have chance 1e-5."""
MAX_RECALL = 0.1
"""Largest recall (1) of a class that is lost."""
MAX_SHARE = 0.2
"""Largest share of a rare class."""
MAX_CLASSES = 12
"""Most classes: of many classes some are hard in any network."""
MIN_ACCURACY = 0.7
"""Accuracy over all examples, at least: below it the network has not learned its task at all."""


def rare_class_findings(labels: Tensor, answers: Tensor, *, unit: str) -> tuple[Finding, ...]:
    """Returns a finding for the most frequent of the rare classes with a recall (1) near zero.

    Cost: counting the labels.

    >>> rare_class_findings(torch.zeros(9).long(), torch.zeros(9).long(), unit="examples")
    ()
    """
    if not len(labels) or float((labels == answers).double().mean()) < MIN_ACCURACY:
        return ()
    counts = torch.bincount(labels.flatten())
    if int((counts > 0).sum()) > MAX_CLASSES:
        return ()
    right = torch.bincount(labels[labels == answers].flatten(), minlength=len(counts))
    recall = right.double() / counts.clamp(min=1)
    lost = (counts >= MIN_COUNT) & (counts <= MAX_SHARE * len(labels)) & (recall <= MAX_RECALL)
    if not bool(lost.any()):
        return ()
    label = int(torch.where(lost, counts, 0).argmax())
    values = {"label": label, "recall": float(recall[label]), "count": int(counts[label]), "unit": unit}
    values["share"] = float(counts[label]) / len(labels)
    return (Finding(kinds.RARE_CLASS_LOST, "", values, (Value("recall", float(recall[label])),), 1e-5),)
