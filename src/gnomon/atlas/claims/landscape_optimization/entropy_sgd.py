"""Local entropy (a smoothed loss) prefers a wide valley to a deeper narrow one if it averages far enough.

Local entropy at x is the logarithm of the integral of exp(-L(x') - g (x - x')^2 / 2) over x', with reach 1/g. For
distant wells, exp(-L) = sum_k exp(-d_k - (x - c_k)^2 / (2 s_k^2)), it is -d_k + log(s_k / sqrt(s_k^2 + 1/g)) + const at
the center c_k of width s_k. With R^2 = exp(2 (d_wide - d_narrow)) > 1 the wide well wins exactly for

    1/g > s_w^2 s_n^2 (R^2 - 1) / (s_w^2 - R^2 s_n^2)                                                    (1)
Reference: [chaudhari2017entropy].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals

EXTRA_DEPTH = 1.0
NARROW_WIDTH = 0.1
DISTANCE = 12.0


def predicted(wide):
    """Returns the width of averaging at which the preference changes from the narrow to the wide valley."""
    r = np.exp(2 * EXTRA_DEPTH)
    return wide**2 * NARROW_WIDTH**2 * (r - 1) / (wide**2 - r * NARROW_WIDTH**2)


def threshold(smoothed, wide):
    """Returns the width of averaging at which the preferred valley changes, by bisection."""
    x = np.linspace(-20, DISTANCE + 20, 64_001)
    weight = (
        np.exp(EXTRA_DEPTH - x**2 / (2 * NARROW_WIDTH**2)) + np.exp(-((x - DISTANCE) ** 2) / (2 * wide**2)) + 1e-300
    )
    low, high = 1e-4, 4.0
    for _ in range(40):
        reach = (low * high) ** 0.5
        narrow, broad = (smoothed(weight, np.exp(-((x - c) ** 2) / (2 * reach))) for c in (0.0, DISTANCE))
        low, high = (low, reach) if broad > narrow else (reach, high)
    return (low * high) ** 0.5


observed = partial(threshold, smoothed=lambda weight, kernel: np.log(weight @ kernel))  # Local entropy.
# Control: the neighborhood's mean of -L replaces its mean of exp(-L), so the width of a valley does not count.
control = partial(threshold, smoothed=lambda weight, kernel: np.log(weight) @ kernel / kernel.sum())

CLAIM = Claim(
    id="entropy-sgd",
    question="When does local entropy prefer a wide valley to a deeper narrow one?",
    equation=r"1/\gamma > s_w^2 s_n^2 (R^2 - 1) / (s_w^2 - R^2 s_n^2)",
    axes=("one pair of wells", "reach 1/g at which the preference changes"),
    source=Source("derived", "chaudhari2017entropy"),
    premises=(
        Premise("the average is over exp(-L)"),
        Premise("the wells are far apart", lambda wide: wide < 2),
        Premise(
            "the wide well is more than R times as wide as the narrow one",
            lambda wide: wide > np.exp(EXTRA_DEPTH) * NARROW_WIDTH,
        ),
    ),
    parameters={"wide": 1.0},
    judge=equals(rounding=1e6),  # tolerance: narrow and wide wells overlap slightly; sums over the grid are exact
)
