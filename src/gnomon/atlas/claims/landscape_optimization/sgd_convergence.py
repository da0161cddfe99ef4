"""With a constant learning rate, SGD on a quadratic ends in a cloud whose variance is set by the rate.

x' = (1 - lr l) x - lr s xi with independent xi of variance 1: the stationary variance V = (1 - lr l)^2 V + lr^2 s^2 is

    V = lr s^2 / (2 l - lr l^2)                                                                          (1)

Reference: [mandt2017stochastic].
"""

import numpy as np

from gnomon.lab import Claim, Premise, Source, mean_equals

CURVATURES = np.array([0.5, 1.0, 2.0, 3.0])
SCALES = np.array([1.0, 2.0, 0.5, 1.0])


def predicted(lr):
    """Equation (1) for four directions."""
    return lr * SCALES**2 / (2 * CURVATURES - lr * CURVATURES**2)


def cloud(rates, runs, seed):
    """Squares of the final places of many runs from zero with noisy gradients."""
    rng = np.random.default_rng(seed)
    x = np.zeros((runs, 4))
    for rate in rates:
        x -= rate * (CURVATURES * x + SCALES * rng.normal(size=x.shape))
    return x**2


def observed(lr, runs, steps, seed):
    """A constant rate."""
    return cloud([lr] * steps, runs, seed)


def control(lr, runs, steps, seed):
    """A rate that decays as 1/t: the cloud shrinks."""
    return cloud(lr * 10 / (10 + np.arange(steps)), runs, seed)


CLAIM = Claim(
    id="sgd-convergence",
    title="SGD at a constant rate ends in a cloud of variance lr s^2 / (2 l - lr l^2) in each direction",
    equation=r"V = \frac{\eta \sigma^2}{2 \lambda - \eta \lambda^2}",
    source=Source("derived", "mandt2017stochastic"),
    premises=(
        Premise("the learning rate is constant"),
        Premise("the noise of different steps is independent"),
    ),
    parameters={"lr": 0.3, "runs": 20_000, "steps": 60},
    full={"runs": 200_000, "steps": 200},
    judge=mean_equals(confidence=0.9999, resolution=0.1),
    remark="With decaying rates whose sum diverges the cloud shrinks to the minimum, as the control does.",
)
