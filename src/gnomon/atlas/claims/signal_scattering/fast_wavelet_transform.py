"""A cascade of two short filters and subsampling gives all inner products with the dilated wavelets.

    x_j = (h . x_{j-1})[2 n],   d_j = (g . x_{j-1})[2 n],   d_j[n] = <x, psi_j(. - 2^j n)>                    (1)
    psi_j = h * h(./2) * ... * g(./2^{j-1})

with 4 taps in 8 N (1 - 2^-J) multiplications, less than 8 for each sample however many levels there are.

Reference: [mallat2009wavelet], Section 7.3.1.
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals

H = np.array([1 + 3**0.5, 3 + 3**0.5, 3 - 3**0.5, 1 - 3**0.5]) / (4 * 2**0.5)


def inputs(size, seed):
    """A signal."""
    return np.random.default_rng(seed).normal(size=size)


def predicted(size, J, seed):
    """Inner products with the wavelets, built by (1), at the places 2^j n on a circle; multiplications a sample."""
    x, low, rows = inputs(size, seed), np.ones(1), []
    g = H[::-1] * [1, -1, 1, -1]
    for j in range(J):
        spread = np.zeros((2, 3 * 2**j + 1))
        spread[:, :: 2**j] = [H, g]
        low, wave = np.convolve(low, spread[0]), np.convolve(low, spread[1])
        places = np.arange(0, size, 2 ** (j + 1))[:, None] + np.arange(len(wave))
        rows.append(x[places % size] @ wave)
    return np.append(np.concatenate(rows), 8 * (1 - 2.0**-J))


def cascade(size, J, seed, keep):
    """The details of (1), level after level, and the multiplications; ``keep`` goes on: 0 the average, 1 the detail."""
    x, rows, count = inputs(size, seed), [], 0
    for _ in range(J):
        both = np.zeros((2, len(x) // 2))
        for t in range(4):
            both += np.array([[H[t]], [(-1) ** t * H[3 - t]]]) * np.roll(x, -t)[::2]
            count += both.size
        rows.append(both[1])
        x = both[keep]
    return np.append(np.concatenate(rows), count / size)


observed = partial(cascade, keep=0)  # From the averages.
control = partial(cascade, keep=1)  # From the details.

CLAIM = Claim(
    id="fast-wavelet-transform",
    title="A cascade of two filters with subsampling gives the inner products with all dilated wavelets",
    equation=r"x_j = (h \star x_{j-1})[2n], \; d_j = (g \star x_{j-1})[2n] = \langle x, \psi_j(\cdot - 2^j n)\rangle",
    source=Source("theorem", "mallat2009wavelet", "Section 7.3.1"),
    premises=(Premise("each level filters the average of the level before"),),
    parameters={"size": 128, "J": 4},
    full={"size": 4096, "J": 8},
    judge=equals(rounding=1000),
)
