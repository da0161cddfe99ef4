"""Intervals of scores that are ratios of two sums over examples: they must contain the true score as often as they say."""

from math import e

import numpy as np
import torch

from evaluation.levels.statement import Statement
from gnomon.examination.score_intervals import explained_variance_interval, perplexity_interval, share_interval

Covered = tuple[float, None]
"""Whether the interval contains the true score."""


def _explained_variance(seed: int) -> Covered:
    """x predicts x plus noise of variance 1/4: 0.8 of the variance are explained."""
    x, noise = np.random.default_rng(seed).standard_normal((2, 200, 1))
    found = explained_variance_interval(torch.from_numpy(x), torch.from_numpy(x + 0.5 * noise))
    return found is not None and 0.8 in found, None


def _perplexity(seed: int) -> Covered:
    """Texts of 5 to 40 tokens, whose losses are 1 on average and depend on the text."""
    draw = np.random.default_rng(seed)
    counts = draw.integers(5, 41, 200)
    losses = counts * (1 + 0.3 * draw.standard_normal(200))
    found = perplexity_interval(torch.from_numpy(losses), torch.from_numpy(counts))
    return found is not None and e in found, None


def _share(seed: int) -> Covered:
    """Twelve tokens of a text are all right with probability 0.8, and all wrong otherwise."""
    right = 12.0 * (np.random.default_rng(seed).random(200) < 0.8)
    found = share_interval(torch.from_numpy(right), torch.full((200,), 12))
    return found is not None and 0.8 in found, None


SCORES = (
    Statement("examination.explained_variance_interval", "0.8 of the variance, 200 examples", "interval", 0.95,
              _explained_variance, 1000, 300),
    Statement("examination.perplexity_interval", "200 texts of different lengths", "interval", 0.95, _perplexity, 1000, 300),
    Statement("examination.share_interval", "200 texts of 12 tokens that are right together", "cautious interval", 0.95,
              _share, 1000, 300, "exact interval of the number of independent tokens"),
)  # fmt: skip
