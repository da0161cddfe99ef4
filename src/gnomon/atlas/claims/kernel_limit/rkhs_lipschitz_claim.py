"""Some Lipschitz functions do not belong to the function space (RKHS) of a ReLU layer on the circle.

The squared norm is sum_k |c_k|^2 / g_k^2 for Fourier coefficients c_k, with g_k = 2 / (k^2 - 1) for even k. The
triangle wave of period pi is Lipschitz, with c_k ~ k^-2 at k = 2, 6, 10, ..., so every term is of order one and

    sum_(k <= K) |c_k|^2 / g_k^2 ~ K                                                                         (1)

diverges. Smoothed with a Poisson kernel, c_k -> r^k c_k, the wave has a finite norm: Lipschitz functions can be
approximated, but need not be in the space. Reference: [bach2017breaking], Appendix D.
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, rate_is


def predicted():
    """Returns 1, the exponent of the number of frequencies in the squared norm of partial Fourier sums."""
    return 1.0


def partial_sums(cuts, points, smoothing):
    """Returns the squared RKHS norm of the triangle wave's partial Fourier sums, for each number of frequencies."""
    angles = 2 * np.pi * np.arange(points) / points
    wave = np.abs((2 * angles / np.pi) % 2 - 1)
    k = np.arange(2, max(cuts) + 1, 2)
    c = np.abs(np.fft.rfft(wave)[k]) / points * smoothing**k
    terms = (c * (k**2 - 1) / 2) ** 2
    return cuts, [terms[k <= cut].sum() for cut in cuts]


observed = partial(partial_sums, smoothing=1.0)  # The triangle wave.
control = partial(partial_sums, smoothing=0.95)  # Control: the triangle wave is smoothed, so it is in the space.

CLAIM = Claim(
    id="rkhs-lipschitz-claim",
    question="Is every Lipschitz function in the function space of a ReLU layer?",
    equation=r"\sum_{k \le K} |c_k|^2 / \gamma_k^2 \sim K",
    axes=("largest frequency K", "partial sum of the squared norm"),
    source=Source("derived"),
    premises=(Premise("the function has kinks"), Premise("the frequencies are even")),
    parameters={"cuts": (62, 126, 254, 510, 1022), "points": 65536},
    full={"cuts": (62, 126, 254, 510, 1022, 2046, 4094), "points": 1048576},
    judge=rate_is(confidence=0.999, within=0.02, because="partial sums are whole numbers of terms", label="K"),
    remark="Lecture notes say that Lipschitz functions are in this space; the triangle wave refutes that.",
)
