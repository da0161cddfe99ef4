"""Two short filters, repeated with subsampling, compute all wavelet coefficients in linear time.

    x_j = (h . x_{j-1})[2 n],   d_j = (g . x_{j-1})[2 n],   d_j[n] = <x, psi_j(. - 2^j n)>                    (1)
    psi_j = h * h(./2) * ... * g(./2^{j-1})

h is the averaging filter, g the detail filter, x_j the averages and d_j the details of level j. With 4 taps this takes
8 N (1 - 2^-J) multiplications for N samples and J levels: fewer than 8 per sample.
Reference: [mallat2009wavelet], Section 7.3.1.
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals

AVERAGE_FILTER = np.array([1 + 3**0.5, 3 + 3**0.5, 3 - 3**0.5, 1 - 3**0.5]) / (4 * 2**0.5)


def inputs(size, seed):
    """Returns a random signal, the input of the wavelet transform."""
    return np.random.default_rng(seed).normal(size=size)


def predicted(size, J, seed):
    """Returns inner products of the signal with all wavelets, then the number of multiplications per sample."""
    x, low, rows = inputs(size, seed), np.ones(1), []
    g = AVERAGE_FILTER[::-1] * [1, -1, 1, -1]
    for j in range(J):
        spread = np.zeros((2, 3 * 2**j + 1))
        spread[:, :: 2**j] = [AVERAGE_FILTER, g]
        low, wave = np.convolve(low, spread[0]), np.convolve(low, spread[1])
        places = np.arange(0, size, 2 ** (j + 1))[:, None] + np.arange(len(wave))
        rows.append(x[places % size] @ wave)
    return np.append(np.concatenate(rows), 8 * (1 - 2.0**-J))


def cascade(size, J, seed, keep):
    """Returns the details of all levels, then multiplications per sample; ``keep`` says which output goes on."""
    x, rows, count = inputs(size, seed), [], 0
    for _ in range(J):
        both = np.zeros((2, len(x) // 2))
        for t in range(4):
            both += np.array([[AVERAGE_FILTER[t]], [(-1) ** t * AVERAGE_FILTER[3 - t]]]) * np.roll(x, -t)[::2]
            count += both.size
        rows.append(both[1])
        x = both[keep]
    return np.append(np.concatenate(rows), count / size)


observed = partial(cascade, keep=0)  # Each level filters the averages of the level before.
control = partial(cascade, keep=1)  # Control: each level filters the details of the level before instead.

CLAIM = Claim(
    id="fast-wavelet-transform",
    question="How can all wavelet coefficients be computed in linear time?",
    equation=r"x_j = (h \star x_{j-1})[2n], \; d_j = (g \star x_{j-1})[2n] = \langle x, \psi_j(\cdot - 2^j n)\rangle",
    axes=("coefficient, then multiplications per sample", "coefficient; multiplications"),
    source=Source("theorem", "mallat2009wavelet", "Section 7.3.1"),
    premises=(Premise("each level filters the average of the level before"),),
    parameters={"size": 128, "J": 4},
    full={"size": 4096, "J": 8},
    judge=equals(rounding=1000),
)
