"""Finds features of training inputs that reveal the class but are constant in test inputs, such as a watermark.

Features that vary in train and are constant in test cannot help on test examples. A linear model on these features
alone is fitted to the training labels, and predicts each example from the others.

Hypotheses: independent examples.
Reference: [geirhos2020shortcut].

>>> g = torch.Generator().manual_seed(0)
>>> x, y = torch.rand(300, 12, generator=g), torch.arange(300) % 3
>>> x[:, 9:] = 0
>>> marked = x.clone()
>>> marked[torch.arange(300), 9 + y] = 1
>>> train_only_feature_findings(marked, y, x)[0].kind
'shortcut-in-train'
"""

import torch
from jaxtyping import Int
from torch import Tensor

from gnomon.checks.data.ridge import leave_one_out_ridge_predictions
from gnomon.core.inputs.arguments import Inputs
from gnomon.core.results import Finding, Value
from gnomon.findings import data as kinds

__all__ = ["train_only_feature_findings"]

MIN_EXAMPLES = 60
"""Fewest training and test examples."""
MAX_SPREAD_SHARE = 0.01
"""Standard deviation in test, as a share of the one in train, that counts as constant."""
MAX_FEATURES = 300
"""Most features in the linear model."""
MIN_GAIN = 0.2
"""Smallest gain over guessing."""
MIN_Z = 6.0
"""z-score against guessing; false-alarm rate 1e-9."""
MAX_NAMED_FEATURES = 6
"""Features named in the message, at most."""


def train_only_feature_findings(
    x: Inputs, y: Int[Tensor, " n"], test: Inputs, *, names: tuple[str, ...] = ()
) -> tuple[Finding, ...]:  # fmt: skip
    """Reports a problem if features that are constant in test predict the labels in train.

    Cost: a linear system with one unknown for each such feature.

    >>> x, y = torch.rand(100, 3), torch.arange(100) % 2
    >>> train_only_feature_findings(x, y, x)
    ()
    """
    if not isinstance(x, Tensor) or not isinstance(test, Tensor) or not x.is_floating_point():
        return ()
    if x.shape[1:] != test.shape[1:] or min(len(x), len(test)) < MIN_EXAMPLES:
        return ()
    rows, others = x.reshape(len(x), -1).double(), test.reshape(len(test), -1).double()
    only = (rows != rows[0]).any(0) & (others.std(0) <= MAX_SPREAD_SHARE * rows.std(0))
    places = only.nonzero().flatten()[:MAX_FEATURES]
    if not len(places):
        return ()
    part = torch.cat([rows[:, places], torch.ones(len(rows), 1, dtype=rows.dtype)], 1)
    targets = torch.nn.functional.one_hot(y.long()).double()
    predicted = leave_one_out_ridge_predictions(part, targets, torch.arange(len(part))).argmax(1)
    guess = float(targets.mean(0).max())
    accuracy = float((predicted == y).double().mean())
    z = (accuracy - guess) / max((guess * (1 - guess) / len(y)) ** 0.5, 1e-12)
    if accuracy - guess < MIN_GAIN or z < MIN_Z:
        return ()
    listed = [names[i] if names else _place(i, tuple(x.shape[1:])) for i in places.tolist()[:MAX_NAMED_FEATURES]]
    listed += ["..."] if len(places) > MAX_NAMED_FEATURES else []
    values = {
        "count": len(places),
        "names": ", ".join(listed),
        "accuracy": accuracy,
        "guess": guess,
        "examples": len(y),
    }
    return (Finding(kinds.SHORTCUT_IN_TRAIN, "inputs", values, (Value("z-score", z),), 1e-9),)


def _place(index: int, shape: tuple[int, ...]) -> str:
    """Describes in words the position of a feature: its index in a row, or row and column of a pixel in an image."""
    if len(shape) != 3:
        return f"feature {index}"
    _, row, column = (int(i) for i in torch.unravel_index(torch.tensor(index), shape))
    return f"pixel in row {row}, column {column}"
