"""Convolutions along several axes (attributes), summed over all axes, ignore shifts along any of them.

    x_{j+1} = r(x_j * psi along the axes v_1 ... v_j),   x_J = sum over v_1 ... v_{J-1}                             (1)

x_j are the features of layer j with attributes v, psi filters, r the activation. Reference: [mallat2016understanding].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals


def layers(n, seed):
    """Returns a network with a layer along one attribute, one along two, and a final sum; and a random input."""
    rng = np.random.default_rng(seed)
    first, second = rng.normal(size=(n, n)), rng.normal(size=(n, n, n))

    def network(x, total, move=0):
        one = np.maximum(np.fft.ifft(np.fft.fft(x)[:, None] * np.fft.fft(first, axis=0), axis=0).real, 0)
        spectrum = np.fft.fft2(np.roll(one, move, 1))[:, :, None] * np.fft.fft2(second, axes=(0, 1))
        two = np.maximum(np.fft.ifft2(spectrum, axes=(0, 1)).real, 0)
        return two.sum((0, 1)) if total else two[:, 0, :].sum(1)

    return network, rng.normal(size=n)


def change(total, n, seed):
    """Returns the output's relative change under a shift of the input, and of layer 1 along its own attribute."""
    network, x = layers(n, seed)
    base = network(x, total)
    moved = network(np.roll(x, n // 2), total), network(x, total, move=n // 2)
    return [float(np.linalg.norm(y - base) / np.linalg.norm(base)) for y in moved]


def predicted():
    """Returns 0, the change of the output, for each of both shifts."""
    return [0.0, 0.0]


observed = partial(change, total=True)  # The output is summed over both attributes (axes).
control = partial(change, total=False)  # Control: the output is summed over the last attribute only.

CLAIM = Claim(
    id="multi-attribute-convolution",
    question="How can a network be invariant along several attributes?",
    equation=r"x_J(v_J) = \sum_{v_1\ldots v_{J-1}} x_{J-1}(v_1,\ldots,v_J)",
    axes=("shift along the first attribute, then along the second", "relative change of the output"),
    source=Source("derived", "mallat2016understanding"),
    premises=(Premise("the output is summed along all attributes"),),
    parameters={"n": 8},
    judge=equals(within=1e-11, because="Fourier transforms of 512 numbers"),
)
