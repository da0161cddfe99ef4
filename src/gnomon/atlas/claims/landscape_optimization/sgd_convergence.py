"""With a constant learning rate, SGD on a quadratic loss ends in a stationary distribution of known variance.

x' = (1 - lr l) x - lr s xi with curvature l, noise size s and independent xi of variance 1. The stationary variance V =
(1 - lr l)^2 V + lr^2 s^2 is

    V = lr s^2 / (2 l - lr l^2)                                                                          (1)
Reference: [mandt2017stochastic].
"""

import numpy as np

from gnomon.lab import Claim, Premise, Source, mean_equals

CURVATURES = np.array([0.5, 1.0, 2.0, 3.0])
NOISE_STDS = np.array([1.0, 2.0, 0.5, 1.0])


def predicted(lr):
    """Returns the predicted stationary variance along four eigenvectors of different curvature."""
    return lr * NOISE_STDS**2 / (2 * CURVATURES - lr * CURVATURES**2)


def squared_positions(rates, runs, seed):
    """Returns squares of the final positions of many runs from zero with noisy gradients."""
    rng = np.random.default_rng(seed)
    x = np.zeros((runs, 4))
    for rate in rates:
        x -= rate * (CURVATURES * x + NOISE_STDS * rng.normal(size=x.shape))
    return x**2


def observed(lr, runs, steps, seed):
    """Returns squared final positions with a constant learning rate."""
    return squared_positions([lr] * steps, runs, seed)


def control(lr, runs, steps, seed):
    """Returns squared final positions with a learning rate that decays as 1/t, so the variance goes to zero."""
    return squared_positions(lr * 10 / (10 + np.arange(steps)), runs, seed)


CLAIM = Claim(
    id="sgd-convergence",
    question="Where does SGD with a constant learning rate end?",
    equation=r"V = \frac{\eta \sigma^2}{2 \lambda - \eta \lambda^2}",
    axes=("direction with curvature 0.5, 1, 2, 3", "variance of the final position"),
    source=Source("derived", "mandt2017stochastic"),
    premises=(
        Premise("the learning rate is constant"),
        Premise("the noise of different steps is independent"),
        Premise("the learning rate is below 2 / curvature", lambda lr: lr * CURVATURES.max() < 2),
    ),
    parameters={"lr": 0.3, "runs": 20_000, "steps": 60},
    full={"runs": 200_000, "steps": 200},
    judge=mean_equals(confidence=0.9999, resolution=0.1),
    remark="With decaying rates whose sum diverges the cloud shrinks to the minimum, as in the control.",
)
