"""Noisy gradient descent prefers the flatter of two equally deep minima, in proportion to their widths.

Steps w <- w - r h'(w) + sqrt(2 r T) noise on the loss h have the stationary density e^{-h/T} as r -> 0. So for equal
depth the probability of the flat well is

    P(flat) = int_flat e^{-h/T} / int e^{-h/T},   about sqrt(h_s) / (sqrt(h_s) + sqrt(h_f)) for small T       (1)

T is the temperature, h_s > h_f are the curvatures of the sharp and the flat minimum.
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, mean_equals


def problem(sharp, flat):
    """Returns a loss with equally deep minima at -1 and 1, as two parabolas, and the maximum between them."""
    parts = lambda w: (sharp * (w + 1) ** 2 / 2, flat * (w - 1) ** 2 / 2)  # noqa: E731
    return parts, -1 + 2 / (1 + (sharp / flat) ** 0.5)


def predicted(sharp, flat, temperature):
    """Returns the probability of the flat minimum in the stationary distribution, by integration."""
    parts, top = problem(sharp, flat)
    w = np.linspace(-4, 12, 200_001)
    density = np.exp(np.logaddexp(*(-p for p in parts(w))) / temperature)
    return density[w > top].sum() / density.sum()


def shares(sharp, flat, temperature, walkers, steps, rate, seed):
    """Returns the share of runs in the flat minimum for 20 groups; half of the runs start in each minimum."""
    parts, top = problem(sharp, flat)
    rng = np.random.default_rng(seed)
    w = np.where(np.arange(20 * walkers) % 2, 1.0, -1.0)
    for _ in range(steps):
        a, b = parts(w)
        of_sharp = 1 / (1 + np.exp(np.clip(a - b, -50, 50)))
        slope = of_sharp * sharp * (w + 1) + (1 - of_sharp) * flat * (w - 1)
        w = w - rate * slope + (2 * rate * temperature) ** 0.5 * rng.normal(size=w.shape)
    return (w.reshape(20, walkers) > top).mean(1)


observed = shares  # With noise.
control = partial(shares, temperature=0.0)  # Control: temperature zero means no noise, as with full batches.

CLAIM = Claim(
    id="sgd-flat-minima",
    question="Does noise lead descent to flat minima?",
    equation=r"P(\text{flat}) = \int_{flat} e^{-h/T} / \int e^{-h/T} \approx \sqrt{h_s} / (\sqrt{h_s} + \sqrt{h_f})",
    axes=("two wells", "share of time in the flat well"),
    source=Source("derived", "keskar2017large"),
    premises=(
        Premise("every step has noise"),
        Premise("steps are small compared with 1 / curvature", lambda sharp, rate: sharp * rate < 0.2),
    ),
    parameters={"sharp": 20.0, "flat": 2.0, "temperature": 1.5, "walkers": 100, "steps": 2500, "rate": 0.004},
    full={"walkers": 400, "steps": 6000, "rate": 0.002},
    judge=mean_equals(confidence=0.9999, within=0.04, because="the temperature is off by rate * curvature / 2"),
    remark="Here the noise has one size everywhere. SGD's noise grows with curvature, which favors flat minima more.",
)
