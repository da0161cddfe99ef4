"""Averaging T iterates of SGD on a quadratic divides their variance by T / (2 tau), tau the correlation time.

tau = 1 / (lr l) is the number of steps after which the iterates forget, with learning rate lr and curvature l. The
iterates are x' = r x + noise with r = 1 - lr l, variance V and correlations r^k, so

    Var(mean of T) / V = ((1 + r) / (1 - r) - 2 r (1 - r^T) / (T (1 - r)^2)) / T                         (1)

which is about 2 tau / T for T much larger than tau. Reference: [polyak1992acceleration].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, mean_equals

CURVATURES = np.array([0.5, 1.0, 2.0])


def predicted(lr, length):
    """Returns the variance of averaged iterates divided by the variance of one, for three curvatures."""
    r = 1 - lr * CURVATURES
    return ((1 + r) / (1 - r) - 2 * r * (1 - r**length) / (length * (1 - r) ** 2)) / length


def averages(share, lr, length, runs, seed):
    """Returns the squared average of iterates over their variance; a ``share`` of the noise is common to all steps."""
    rng = np.random.default_rng(seed)
    r = 1 - lr * CURVATURES
    x = rng.normal(size=(runs, 3))
    common, total = rng.normal(size=(runs, 3)), np.zeros((runs, 3))
    for _ in range(length):
        total += x
        x = r * x + np.sqrt(1 - r**2) * ((1 - share**2) ** 0.5 * rng.normal(size=x.shape) + share * common)
    return (total / length) ** 2


observed = partial(averages, share=0.0)  # Independent noise.
control = partial(averages, share=0.5)  # Control: half of the noise is common to all steps and does not average out.

CLAIM = Claim(
    id="weight-averaging-swa",
    question="How much does averaging the iterates of SGD reduce their noise?",
    equation=r"\mathrm{Var}(\bar\theta_T) / V \approx 2 \tau / T, \quad \tau = 1 / (\eta \lambda)",
    axes=("direction with curvature 0.5, 1, 2", "variance of the mean / variance of an iterate"),
    source=Source("derived", "polyak1992acceleration"),
    premises=(Premise("the noise of different steps is independent"),),
    parameters={"lr": 0.2, "length": 100, "runs": 4000},
    full={"length": 1000, "runs": 20_000},
    judge=mean_equals(confidence=0.9999, resolution=0.15),
)
