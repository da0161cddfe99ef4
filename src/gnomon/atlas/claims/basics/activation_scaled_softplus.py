"""A softplus with sharpness 5 keeps the mean square of standard normal inputs at 1 if it is multiplied by 1.4044.

s(z) = (a / beta) ln(1 + e^{beta z}) with

    a = 1 / sqrt(E[sp(z)^2]),    z ~ N(0, 1),    sp(z) = ln(1 + e^{beta z}) / beta                       (1)

keeps E[s(z)^2] = 1 from layer to layer. beta is the sharpness. Reference: [geiger2020disentangling].
"""

from functools import partial

import numpy as np
import torch

from gnomon.checks import activation_gain
from gnomon.lab import Claim, Premise, Source, mean_equals


def predicted(beta):
    """Returns the factor that keeps the mean square of normal inputs, by integration over torch's Softplus."""
    return activation_gain(torch.nn.Softplus(beta, threshold=100)).gain


def factors(beta, samples, repetitions, seed, scale):
    """Returns estimates of the softplus's factor a from samples, one in each of many slices of equal probability."""
    from scipy.stats import norm

    rng = np.random.default_rng(seed)
    z = norm.ppf((np.arange(samples) + rng.random((repetitions, samples))) / samples) * scale
    return (np.logaddexp(0, beta * z) ** 2).mean(1) ** -0.5 * beta


observed = partial(factors, scale=1.0)  # Standard normal samples.
control = partial(factors, scale=1.1**0.5)  # Control: the input has ten percent more variance than assumed.

CLAIM = Claim(
    id="activation-scaled-softplus",
    question="How must a softplus be scaled to keep the size of signals?",
    equation=r"a = (E[\mathrm{sp}_\beta(z)^2])^{-1/2}, \quad z \sim N(0, 1)",
    axes=("one activation", "factor a"),
    source=Source("derived", "geiger2020disentangling"),
    premises=(Premise("the input has variance 1"),),
    parameters={"beta": 5.0, "samples": 8000, "repetitions": 20},
    full={"samples": 20_000, "repetitions": 50},
    judge=mean_equals(confidence=0.9999, resolution=1e-3, within=1e-5, because="the root of a mean over slices"),
)
