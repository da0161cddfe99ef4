"""Expectation and convolution change places; expectation and modulus do not.

    E (X * f) = (E X) * f                                                                                     (1)

For a stationary X and a wavelet both sides are 0, which is why scattering takes the modulus before the mean.

Reference: [bruna2013invariant], Section 2.4.
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, mean_equals


def inputs():
    """The mean of the process, and a wavelet: the second difference of a window."""
    t = np.arange(48)
    return np.sin(t / 3) + 0.05 * t, np.diff(np.hanning(9), 2)


def predicted():
    """The convolution of the mean."""
    mean, wave = inputs()
    return np.convolve(mean, wave, "valid")


def filtered(realizations, seed, after):
    """Filtered realizations of the mean plus noise with exponential tails."""
    mean, wave = inputs()
    noise = np.random.default_rng(seed).laplace(size=(realizations, len(mean)))
    return [after(np.convolve(mean + row, wave, "valid")) for row in noise]


observed = partial(filtered, after=lambda y: y)  # As they are.
control = partial(filtered, after=np.abs)  # Their moduli.

CLAIM = Claim(
    id="expectation-convolution-commute",
    title="The mean of a filtered process is the filtered mean; the mean of its modulus is not",
    equation=r"E(X \star f) = E(X) \star f",
    source=Source("theorem", "bruna2013invariant", "Section 2.4"),
    premises=(Premise("nothing but convolutions stands before the mean"),),
    parameters={"realizations": 4000},
    full={"realizations": 40000},
    judge=mean_equals(confidence=0.999, resolution=0.3),
)
