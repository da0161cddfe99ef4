"""Multiplying weights by dropout's keep probability gives the geometric mean of the softmax over all masks.

The log of a softmax is linear in the scores up to a constant for each mask, and scores are linear in the mask:

    prod_b p_b(y)^P(b) / sum_y' prod_b p_b(y')^P(b) = softmax(sum_b P(b) W (b * x)) = softmax(k W x)           (1)

b is a mask with probability P(b), p_b the prediction with it, k the keep probability, W the weights, x the inputs.
"""

from itertools import product

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals


def problem(units, classes, seed):
    """Returns inputs, weights and biases of a softmax layer."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=units), rng.normal(size=(classes, units)), rng.normal(size=classes)


def predicted(units, classes, keep, seed):
    """Returns the class probabilities of the network whose weights are scaled by the keep probability."""
    x, w, b = (torch.from_numpy(v) for v in problem(units, classes, seed))
    return torch.softmax(keep * (w @ x) + b, dim=0)


def members(units, classes, keep, seed):
    """Returns the probability of each dropout mask, and the class probabilities with this mask."""
    x, w, b = problem(units, classes, seed)
    masks = np.array(list(product((0.0, 1.0), repeat=units)))
    scores = np.exp((masks * x) @ w.T + b)
    return np.prod(np.where(masks == 1, keep, 1 - keep), axis=1), scores / scores.sum(1, keepdims=True)


def observed(units, classes, keep, seed):
    """Returns the normalized geometric mean of the class probabilities over all masks."""
    chance, p = members(units, classes, keep, seed)
    mean = np.exp(chance @ np.log(p))
    return mean / mean.sum()


def control(units, classes, keep, seed):
    """Returns the arithmetic mean of the class probabilities over all masks."""
    chance, p = members(units, classes, keep, seed)
    return chance @ p


CLAIM = Claim(
    id="dropout-weight-scaling",
    question="What does scaling the weights after dropout compute?",
    equation=r"\mathrm{softmax}(k W x) \propto \prod_b p_b(y)^{P(b)}",
    axes=("class", "probability"),
    source=Source("derived", "srivastava2014dropout"),
    premises=(
        Premise("predictions are averaged geometrically"),
        Premise("a single softmax layer follows the dropped units"),
    ),
    parameters={"units": 10, "classes": 4, "keep": 0.5},
    full={"units": 16, "classes": 10},
    judge=equals(rounding=100_000),  # tolerance 100,000 x machine precision: a sum over 2^16 = 65,536 masks
    remark="Dropout samples the arithmetic mean, which is another number; in deeper networks neither is exact.",
)
