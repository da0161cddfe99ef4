"""A scattering transform is a convolutional network: stride-2 filters, a modulus, and stride-2 averages.

    |x * psi_j| * phi,   psi_j^(w) = g^(2^j w) h^(w) ... h^(2^{j-1} w),   phi^(w) = h^(2^{j+1} w) ... h^(2^{J-1} w)  (1)

h and g are short filters, psi_j wavelets, phi an average, ^ the Fourier transform. The cascade a_{j+1} = (h . a_j)[2
n], |g . a_j|[2 n], followed by averages h, equals (1) at the positions 2^J n.
Reference: [bruna2013invariant], Section 2.2.
"""

from functools import partial

import numpy as np
import torch
from torch.nn import functional

from gnomon.lab import Claim, Premise, Source, equals

AVERAGE_FILTER = [0.25, 0.5, 0.25]
DETAIL_FILTER = [0.25, -0.5, 0.25]


def inputs(size, seed):
    """Returns a random signal."""
    return np.random.default_rng(seed).normal(size=size)


def predicted(size, J, seed):
    """Returns the scattering coefficients of the signal, computed by Fourier transforms."""
    w = 2 * np.pi * np.fft.fftfreq(size)
    low, rows, spectrum = np.ones(size), [], np.fft.fft(inputs(size, seed))
    for j in range(J):
        wave, low = low * (np.cos(2**j * w) - 1) / 2, low * (1 + np.cos(2**j * w)) / 2
        average = np.prod([(1 + np.cos(2**i * w)) / 2 for i in range(j + 1, J)] + [np.ones(size)], 0)
        rows.append(np.fft.ifft(np.fft.fft(np.abs(np.fft.ifft(spectrum * wave).real)) * average).real[:: 2**J])
    return np.stack(rows)


def network(size, J, seed, nonlinearity):
    """Returns the outputs of a network of stride-2 convolutions with this nonlinearity, for the signal."""

    def layer(x, kernel):
        return functional.conv1d(functional.pad(x, (1, 1), "circular"), torch.tensor([[kernel]]).double(), stride=2)

    a, rows = torch.from_numpy(inputs(size, seed))[None, None], []
    for j in range(J):
        out, a = nonlinearity(layer(a, DETAIL_FILTER)), layer(a, AVERAGE_FILTER)
        for _ in range(j + 1, J):
            out = layer(out, AVERAGE_FILTER)
        rows.append(out[0, 0])
    return torch.stack(rows)


observed = partial(network, nonlinearity=torch.abs)  # With the modulus.
control = partial(network, nonlinearity=torch.relu)  # With ReLU.

CLAIM = Claim(
    id="scattering-as-cnn",
    question="Is scattering a convolutional network?",
    equation=r"|x \star \psi_j| \star \phi \text{ by } a_{j+1} = (h \star a_j)[2n],\ |g \star a_j|[2n]",
    axes=("coefficient", "scattering coefficient"),
    source=Source("theorem", "bruna2013invariant", "Section 2.2"),
    premises=(Premise("the nonlinearity is the modulus"),),
    parameters={"size": 256, "J": 4},
    full={"size": 8192, "J": 8},
    judge=equals(rounding=1000),
)
