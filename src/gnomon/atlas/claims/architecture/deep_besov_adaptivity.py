"""Functions with jumps are learned at a better error rate if the jump positions are fitted than by any linear method.

    mean square error ~ n^(-1) with jumps that are searched for,   ~ n^(-1/2) for the best linear method      (1)

n is the number of examples. In a log-log plot the two slopes differ by 1/2. A jump is a pair of steep ReLU units.
The best linear method on average over all shifts of the function, of known spectrum p_k, multiplies Fourier coefficient
k by p_k / (p_k + s^2 / n), with noise variance s^2 (the Wiener filter).
Reference: [suzuki2019adaptivity], [donoho1998minimax].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, rate_is

NOISE_STD = 0.5


def predicted():
    """Returns 1/2, the difference of the exponents of both error rates, n^-1 and n^(-1/2), for n examples."""
    return 0.5


def linear_error(f):
    """Returns the expected error of the best linear method for all shifts of f on a circle, the Wiener filter."""
    power = np.abs(np.fft.fft(f) / len(f)) ** 2
    noise = NOISE_STD**2 / len(f)
    return float((power * noise / (power + noise)).sum())


def network_error(f, weight, rng):
    """Returns the squared error of the best fit by two jumps, over all pairs of positions (``weight``: fit per sum)."""
    y = f + NOISE_STD * rng.normal(size=len(f))
    total = np.concatenate([[0.0], (y - y.mean()).cumsum()])
    i, j = sorted(np.unravel_index((np.abs(total - total[:, None]) * weight).argmax(), weight.shape))
    inside = (np.arange(len(f)) >= i) & (np.arange(len(f)) < j)
    return float(((np.where(inside, y[inside].mean(), y[~inside].mean()) - f) ** 2).mean())


def error_ratios(target, sizes, groups, repeats, seed):
    """Returns the linear method's error divided by the jump fit's mean error, for each n and group of data sets."""
    rng, columns = np.random.default_rng(seed), []
    for n in sizes:
        f = target((np.arange(n) + 0.5) / n)
        count = np.abs(np.subtract.outer(np.arange(n + 1), np.arange(n + 1))).clip(1, n - 1)
        found = np.array([network_error(f, (count * (n - count)) ** -0.5, rng) for _ in range(groups * repeats)])
        columns.append(linear_error(f) / found.reshape(groups, repeats).mean(1))
    return np.array(sizes, float), np.stack(columns, 1)


observed = partial(error_ratios, target=lambda x: ((x > 0.31) & (x < 0.74)) * 2.0)  # The target jumps at 0.31 and 0.74.
control = partial(error_ratios, target=lambda x: np.cos(2 * np.pi * x))  # A smooth target.

CLAIM = Claim(
    id="deep-besov-adaptivity",
    question="When does a network learn faster than every linear method?",
    equation=r"\text{error}_{\text{linear}} / \text{error}_{\text{adaptive}} \sim n^{1/2}",
    axes=("number of examples n", "error of the linear method / error of the network"),
    source=Source("theorem", "suzuki2019adaptivity"),
    premises=(Premise("the target has jumps"),),
    parameters={"sizes": (64, 128, 256, 512), "groups": 10, "repeats": 150},
    full={"sizes": (64, 128, 256, 512, 1024), "repeats": 250},
    judge=rate_is(within=0.025, because="the linear method's exponent is -0.48 at these n", label="examples"),
    remark="Least squares over jump positions stands in for a trained network, which also has optimization error.",
)
