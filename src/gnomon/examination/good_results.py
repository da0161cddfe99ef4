"""Decides whether a trained network has good results on held-out examples.

    avoided error = (accuracy - guess) / (1 - guess)                                                            (1)

with the accuracy on test examples and the share of the largest class. For numbers, the explained variance of the test
targets is the avoided error.

>>> avoided_error(0.9, 0.5)
0.8
"""

import torch
from torch import Tensor

from gnomon.adapter.losses import IGNORED_LABEL
from gnomon.training import TrainingRun

__all__ = ["MIN_AVOIDED_ERROR", "avoided_error", "results_are_good"]

MIN_AVOIDED_ERROR = 0.8
"""Share of the error of a guess that good results avoid on held-out examples."""


def avoided_error(accuracy: float, guess: float) -> float:
    """Returns how much better than guessing an accuracy is: 0 for guessing, 1 for no errors.

    See equation (1) of the module docstring.

    >>> avoided_error(1.0, 1.0)
    0.0
    """
    return 0.0 if guess >= 1 else (accuracy - guess) / (1 - guess)  # (1)


def results_are_good(run: TrainingRun, labels: Tensor) -> bool:
    """Checks whether the network avoids most of the errors of guessing on test examples.

    ``labels`` are the labels of all training examples, or of all their positions. False without test examples, and for
    numbers.
    Cost: counting the labels.

    >>> from gnomon.training import train
    >>> x, y = torch.tensor([[-1.0], [1.0]]), torch.tensor([0, 1])
    >>> run = train(torch.nn.Linear(1, 2), (x, y), test=(x, y), steps=200)
    >>> results_are_good(run, y)
    True
    """
    if run.test_accuracy is None or run.diverges or labels.is_floating_point():
        return False
    counted = labels[labels != IGNORED_LABEL]
    if not len(counted):
        return False
    guess = float(torch.bincount(counted.flatten().long().clamp_min(0)).max()) / counted.numel()
    return avoided_error(float(run.test_accuracy[-1]), guess) >= MIN_AVOIDED_ERROR
