"""If the data contain all shifts of each example, shifting the weights keeps the loss and shifts the gradient.

    L(g w) = L(w),    grad L(g w) = g grad L(w)    for orthogonal g, over whole orbits                             (1)

L is the loss, w are the weights, g is a shift (orthogonal). Reference: [chen2020group].
"""

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals


def loss(w, x, y):
    """Returns the logistic loss of the weights w and its gradient."""
    m = y * (x @ w)
    return np.log1p(np.exp(-m)).mean(), -(y / (1 + np.exp(m))) @ x / len(x)


def differences(shifts, n, d, seed):
    """Returns the largest differences of losses and of gradients, over all shifts of the weights."""
    rng = np.random.default_rng(seed)
    x, y, w = rng.normal(size=(n, d)), rng.choice((-1.0, 1.0), n), rng.normal(size=d)
    whole, labels = np.concatenate([np.roll(x, s, 1) for s in shifts]), np.tile(y, len(shifts))
    value, slope = loss(w, whole, labels)
    found = [loss(np.roll(w, s), whole, labels) for s in range(d)]
    turned = max(np.abs(g - np.roll(slope, s)).max() for s, (_, g) in enumerate(found))
    return [max(abs(v - value) for v, _ in found), turned]


def predicted():
    """Returns 0 twice, for the differences of losses and of gradients."""
    return [0.0, 0.0]


def observed(n, d, seed):
    """Returns the differences of losses and gradients if the data contain all shifts of each example."""
    return differences(range(d), n, d, seed)


def control(n, d, seed):
    """Returns the differences of losses and gradients if the data contain only half of the shifts."""
    return differences(range(d // 2), n, d, seed)


CLAIM = Claim(
    id="augmented-loss-invariance",
    question="How does data augmentation change the loss?",
    equation=r"L(gw) = L(w), \quad \nabla L(gw) = g\nabla L(w)",
    axes=("loss, then gradient", "largest difference"),
    source=Source("theorem", "chen2020group"),
    premises=(Premise("the data contain each example in all positions"),),
    parameters={"n": 10, "d": 8},
    judge=equals(within=1e-13, because="means of 80 numbers of size 1"),
    covers=("augmentation-gradient-equivariance",),
)
