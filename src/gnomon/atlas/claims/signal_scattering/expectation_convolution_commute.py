"""The mean of a filtered random process is its filtered mean; with a modulus after the filter this is false.

    E (X * f) = (E X) * f                                                                                     (1)

X is a random process and f a filter. For a stationary X and a wavelet both sides are 0, so scattering takes the modulus
before the mean. Reference: [bruna2013invariant], Section 2.4.
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, mean_equals


def inputs():
    """Returns the mean of the random process, and a wavelet: the second difference of a window."""
    t = np.arange(48)
    return np.sin(t / 3) + 0.05 * t, np.diff(np.hanning(9), 2)


def predicted():
    """Returns the mean of the process, filtered with the wavelet."""
    mean, wave = inputs()
    return np.convolve(mean, wave, "valid")


def filtered_realizations(realizations, seed, after):
    """Returns filtered realizations of the process: mean plus Laplace noise; ``after`` follows the filter."""
    mean, wave = inputs()
    noise = np.random.default_rng(seed).laplace(size=(realizations, len(mean)))
    return [after(np.convolve(mean + row, wave, "valid")) for row in noise]


observed = partial(filtered_realizations, after=lambda y: y)  # Without modulus.
control = partial(filtered_realizations, after=np.abs)  # With modulus.

CLAIM = Claim(
    id="expectation-convolution-commute",
    question="Why does scattering take the modulus before the mean?",
    equation=r"E(X \star f) = E(X) \star f",
    axes=("position", "mean of the filtered process"),
    source=Source("theorem", "bruna2013invariant", "Section 2.4"),
    premises=(Premise("only convolutions come before the mean"),),
    parameters={"realizations": 4000},
    full={"realizations": 40000},
    judge=mean_equals(confidence=0.999, resolution=0.3),
)
