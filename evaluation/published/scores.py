"""Test scores: each is 1 for a perfect network."""

import torch
from torch import Tensor

LOWEST_SCORE = -1.0
"""The score of a network whose outputs are not finite, and the lowest R2 that is reported."""


def accuracy(outputs: Tensor, targets: Tensor) -> float:
    """Fraction of the positions with the right class; the classes are on axis 1 of the outputs."""
    return float((outputs.argmax(1) == targets).double().mean())


def token_accuracy(outputs: Tensor, targets: Tensor) -> float:
    """Fraction of the tokens with the right class; the classes are on the last axis of the outputs."""
    return float((outputs.argmax(-1) == targets).double().mean())


def balanced_accuracy(outputs: Tensor, targets: Tensor) -> float:
    """Mean of the accuracies of the classes."""
    right = (outputs.argmax(1) == targets).double()
    return float(torch.stack([right[targets == c].mean() for c in targets.unique()]).mean())


def logit_accuracy(outputs: Tensor, targets: Tensor) -> float:
    """Fraction of 0/1 targets on the right side of logit 0."""
    return float(((outputs.reshape(targets.shape) > 0) == (targets > 0.5)).double().mean())


def probability_accuracy(outputs: Tensor, targets: Tensor) -> float:
    """Fraction of 0/1 targets on the right side of probability 0.5."""
    return float(((outputs.reshape(targets.shape) > 0.5) == (targets > 0.5)).double().mean())


def one_hot_accuracy(outputs: Tensor, targets: Tensor) -> float:
    """Accuracy for targets that are one-hot rows."""
    return float((outputs.argmax(1) == targets.argmax(1)).double().mean())


def label_jaccard(outputs: Tensor, targets: Tensor) -> float:
    """Mean overlap of predicted and true label sets, for logits; a label is predicted above logit 0."""
    predicted, true = outputs > 0, targets > 0.5
    union = (predicted | true).sum(1).clamp(min=1)
    return float(((predicted & true).sum(1) / union).double().mean())


def mean_iou(outputs: Tensor, targets: Tensor) -> float:
    """Mean intersection over union of the classes, for outputs with the classes on axis 1; ignores label 255."""
    predicted, seen = outputs.argmax(1), targets != 255
    scores = []
    for c in range(outputs.shape[1]):
        of_class, found = (targets == c) & seen, (predicted == c) & seen
        if of_class.any():
            scores.append(float((of_class & found).sum() / (of_class | found).sum()))
    return sum(scores) / len(scores)


def r2(outputs: Tensor, targets: Tensor) -> float:
    """Explained part of the variance of the targets, at least -1."""
    outputs = outputs.reshape(targets.shape)
    explained = 1 - float((outputs - targets).square().sum() / (targets - targets.mean(0)).square().sum())
    return max(explained, LOWEST_SCORE)


def default_score(outputs: Tensor, targets: Tensor) -> float:
    """Accuracy for integer targets, R2 for numbers."""
    return r2(outputs, targets) if targets.is_floating_point() else accuracy(outputs, targets)
