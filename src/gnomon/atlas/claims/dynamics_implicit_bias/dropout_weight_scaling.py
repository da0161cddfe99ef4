"""Scaling the weights by the chance to be kept gives the normalized geometric mean over all masks of a softmax.

The logarithm of a softmax is linear in the scores up to a constant for each mask, and scores are linear in the mask:

    prod_b p_b(y)^P(b) / sum_y' prod_b p_b(y')^P(b) = softmax(sum_b P(b) W (b * x)) = softmax(k W x)           (1)
"""

from itertools import product

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals


def problem(units, classes, seed):
    """Inputs, weights and biases of a softmax layer."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=units), rng.normal(size=(classes, units)), rng.normal(size=classes)


def predicted(units, classes, keep, seed):
    """The right side of equation (1)."""
    x, w, b = (torch.from_numpy(v) for v in problem(units, classes, seed))
    return torch.softmax(keep * (w @ x) + b, dim=0)


def members(units, classes, keep, seed):
    """The probability of each mask, and the class probabilities of its network."""
    x, w, b = problem(units, classes, seed)
    masks = np.array(list(product((0.0, 1.0), repeat=units)))
    scores = np.exp((masks * x) @ w.T + b)
    return np.prod(np.where(masks == 1, keep, 1 - keep), axis=1), scores / scores.sum(1, keepdims=True)


def observed(units, classes, keep, seed):
    """The geometric mean over all masks, normalized."""
    chance, p = members(units, classes, keep, seed)
    mean = np.exp(chance @ np.log(p))
    return mean / mean.sum()


def control(units, classes, keep, seed):
    """The arithmetic mean."""
    chance, p = members(units, classes, keep, seed)
    return chance @ p


CLAIM = Claim(
    id="dropout-weight-scaling",
    title="Weights scaled by the chance to be kept give the geometric mean over dropout masks of a softmax layer",
    equation=r"\mathrm{softmax}(k W x) \propto \prod_b p_b(y)^{P(b)}",
    source=Source("derived", "srivastava2014dropout"),
    premises=(
        Premise("members are averaged geometrically"),
        Premise("one softmax layer on the dropped units"),
    ),
    parameters={"units": 10, "classes": 4, "keep": 0.5},
    full={"units": 16, "classes": 10},
    judge=equals(rounding=100_000),  # sums over 2^16 masks
    remark="The arithmetic mean, which dropout samples, is another number; in deeper networks neither is exact.",
)
