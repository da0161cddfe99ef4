"""Scores a simple model (ridge regression) on held-out examples, and estimates how much more data would improve it.

Ridge regression on random features is fitted to three quarters of the examples, and to half of these; with the scores s
and s_half on the rest (accuracy, or the share of the variance that is explained)

    gain = s - s_half                                                                                        (1)

is what the last doubling of the data brought, and about an upper end of what the next one will: curves of learning
flatten.

Hypotheses: examples in random order do not matter; independent examples.
Reference: [hestness2017deep] for curves of learning; [rahimi2007random] for the features.

>>> x = torch.randn(400, 3, generator=torch.Generator().manual_seed(0))
>>> simple_model_baseline((x, x[:, :1])).score > 0.99, simple_model_baseline((x, (x[:, 0] > 0).long())).score > 0.9
(True, True)
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from gnomon.checks.data.ridge import leave_one_out_ridge_predictions
from gnomon.checks.data.rows import example_rows, random_features
from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.arguments import count_examples
from gnomon.core.inputs.checks import check_finite_inputs, check_seed
from gnomon.core.inputs.classes import are_classes
from gnomon.core.inputs.source import data_source
from gnomon.core.results.record import Record

__all__ = ["SimpleModelBaseline", "simple_model_baseline"]

MAX_EXAMPLES = 2500
"""Examples used, at most."""
MIN_EXAMPLES = 150
"""Examples needed, at least."""
RANDOM_FEATURES = 400
"""Number of random features."""


@dataclass(frozen=True, slots=True)
class SimpleModelBaseline(Record):
    """Result of a simple model: its score on held-out examples, the score's gain from twice the data, and its training
    set size.
    """

    score: float
    gain: float
    examples: int


@add_call_to_errors
def simple_model_baseline(data: Any, *, seed: int = 0) -> SimpleModelBaseline:
    """Fits ridge regression on random features to the training data and to half of it; returns held-out score and gain.

    See equation (1) of the module docstring.
    ``data`` have inputs and targets: a pair, a ``Dataset``, a ``DataLoader``, batches.
    Integers (n,) are classes and scored by accuracy, numbers by the share of their variance that is explained.

    Hypotheses: as above; at least 150 examples.
    Reference: [rahimi2007random].
    Cost: two eigendecompositions of 400 to 600 features.

    >>> simple_model_baseline((torch.zeros(10, 2), torch.zeros(10).long())).examples              # too few to say
    0
    """
    seed = check_seed(seed)
    x, y = data_source(data).pair()
    check_finite_inputs(x)
    n = count_examples(x)
    if n < MIN_EXAMPLES:
        return SimpleModelBaseline(0.0, 0.0, 0)
    classes = are_classes(y)
    table = torch.nn.functional.one_hot(y.cpu().long()).double() if classes else y.cpu().double().reshape(n, -1)
    features = random_features(example_rows(x, seed=seed), width=RANDOM_FEATURES, seed=seed).double()
    order = torch.randperm(n, generator=torch.Generator().manual_seed(seed))[:MAX_EXAMPLES]
    held, rest = order[: len(order) // 4], order[len(order) // 4 :]
    half, whole = (
        _score(leave_one_out_ridge_predictions(features, table, part)[held], table[held], classes)
        for part in (rest[: len(rest) // 2], rest)
    )
    return SimpleModelBaseline(whole, whole - half, len(rest))  # (1)


def _score(v: Tensor, table: Tensor, classes: bool) -> float:
    if classes:
        return float((v.argmax(1) == table.argmax(1)).double().mean())
    spread = float((table - table.mean(0)).square().sum())
    return 1 - float((v - table).square().sum()) / spread if spread > 0 else 0.0
