"""Keeping dropout on at test time averages the predictions of an ensemble, one network for each dropout mask.

    p(y | x) = sum_b P(b) p_b(y | x),    P(b) = prod_i k^b_i (1 - k)^(1 - b_i)                                (1)

b is a mask with one bit per unit, k the probability to keep a unit, and p_b the prediction with mask b. 10 units have
2^10 masks; a layer of 4096 units has 2^4096 = 10^1233.02 of them. Reference: [srivastava2014dropout].
"""

from functools import partial
from itertools import product

import numpy as np
import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, mean_equals


def problem(units, seed):
    """Returns the hidden activations for one input, and output weights for three classes."""
    rng = np.random.default_rng(seed)
    hidden = np.maximum(rng.normal(size=(units, 4)) @ rng.normal(size=4) + 1, 0) + 0.2
    return hidden, rng.normal(size=(3, units))


def predicted(units, keep, seed):
    """Returns the class probabilities averaged over all masks."""
    hidden, out = problem(units, seed)
    masks = np.array(list(product((0.0, 1.0), repeat=units)))
    chance = np.prod(np.where(masks == 1, keep, 1 - keep), axis=1)
    scores = np.exp((masks * hidden / keep) @ out.T)
    return chance @ (scores / scores.sum(1, keepdims=True))


def sample_predictions(units, keep, draws, seed, shared):
    """Returns the class probabilities for each draw of torch's dropout; ``shared`` drops all units together."""
    hidden, out = (torch.from_numpy(v) for v in problem(units, seed))
    mask = nn.Dropout(1 - keep)(torch.ones(draws, 1 if shared else units).double())
    return torch.softmax((mask * hidden) @ out.T, dim=1)


observed = partial(sample_predictions, shared=False)  # The test draws an independent mask bit for each unit.
control = partial(sample_predictions, shared=True)  # Control: one mask bit drops or keeps the whole layer.

CLAIM = Claim(
    id="dropout-as-ensemble",
    question="In which sense is dropout an ensemble of networks?",
    equation=r"p(y | x) = \sum_b \prod_i k^{b_i} (1 - k)^{1 - b_i} \, p_b(y | x)",
    axes=("class", "probability"),
    source=Source("derived", "srivastava2014dropout"),
    premises=(
        Premise("each unit is dropped independently"),
        Premise("few enough units to list all masks", lambda units: units <= 16),
    ),
    parameters={"units": 10, "keep": 0.7, "draws": 20_000},
    full={"units": 14, "draws": 200_000},
    judge=mean_equals(confidence=0.9999, resolution=0.05),
)
