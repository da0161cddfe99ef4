"""Scores in points, from 0 (useless) to 100 (perfect), so that a difference of 3 points means the same everywhere."""

import torch
from torch import Tensor

IGNORED = -100
"""Label of positions without a target, as in torch and Hugging Face."""


def accuracy(logits: Tensor, targets: Tensor) -> float:
    """Share of right classes; logits (..., classes), targets (...), ignored positions left out."""
    kept = targets.flatten() != IGNORED
    right = logits.argmax(-1).flatten()[kept] == targets.flatten()[kept]
    return 100.0 * float(right.double().mean())


def binary_accuracy(scores: Tensor, targets: Tensor) -> float:
    """Share of right answers to yes-or-no questions; a positive score means yes."""
    return 100.0 * float(((scores > 0) == (targets > 0.5)).double().mean())


def explained(predictions: Tensor, targets: Tensor) -> float:
    """Share of the targets' variance that the predictions explain, at least 0."""
    wrong = (predictions - targets).double().square().mean()
    spread = (targets - targets.mean(0)).double().square().mean()
    return 100.0 * max(0.0, float(1 - wrong / spread))


def loss_saved(losses: Tensor, reference: Tensor) -> float:
    """Share of a reference loss, such as the entropy of single tokens, that the model avoids; at least 0."""
    return 100.0 * max(0.0, float(1 - torch.as_tensor(losses).double().mean() / reference.double().mean()))
