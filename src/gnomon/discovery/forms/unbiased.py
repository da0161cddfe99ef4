"""Corrects powers and products of noisy fields so that noise does not change their mean.

With u = v + e and noise e of variance s^2, powers of u are too large on average: E u^3 = v^3 + 3 s^2 v, and a
regression meets a term that the law does not have. Taken off, for real fields and complex ones with E |e|^2 = s^2:

    E H_p(u) = v^p,    H_p(u) = sum_k (-s^2)^k p! / (k! (p - 2 k)! 2^k) u^(p - 2 k)                               (1)
    E I_ab(u) = v^a |v|^(2b),    I_ab(u) = sum_k (-s^2)^k k! C(a + b, k) C(b, k) u^a |u|^(2 b - 2 k)              (2)
    s^2 = min over orders k and axes of mean |D^k u|^2 / C(2 k, k),    D the difference of neighbors             (3)

Hypotheses: Gaussian noise, independent between points and fields (complex: circular); fields smooth on the grid, else
(3) is too large. Noise below `MIN_CORRECTED_NOISE` is not corrected.
Reference: [janson1997gaussian], chapter 3, for (1) and (2); [gasser1986residual] for (3).
Cost: (3) some differences of some lines; (1) and (2) one sum for each order.

>>> draw = np.random.default_rng(0)
>>> noisy = 1 + 0.5 * draw.standard_normal(100_000)
>>> bool(np.mean(noisy**3) > 1.7), round(float(np.mean(unbiased_power(noisy, 3, 0.25))), 1)
(True, 1.0)
"""

from math import comb, factorial

import numpy as np

from gnomon.discovery.derivatives.polynomial import sample_grid_lines

__all__ = ["unbiased_modulus_power", "noise_variance", "unbiased_power"]

MIN_CORRECTED_NOISE = 1e-3
"""Noise below this share of the field's standard deviation is not corrected: its effect on products is a millionth."""
ORDERS = range(2, 9)


def noise_variance(u: np.ndarray) -> float:
    """Estimates the variance of the noise in a field from differences of neighboring samples; 0 if it is negligible.

    See equation (3) of the module docstring.
    Hypotheses: see the module.
    Reference: [gasser1986residual].
    Cost: see the module.

    >>> x = np.sin(np.linspace(0, 6, 200))[:, None] * np.ones(50)
    >>> noise_variance(x), round(noise_variance(x + 0.1 * np.random.default_rng(0).standard_normal(x.shape)), 3)
    (0.0, 0.01)
    """
    found = []
    for axis in range(u.ndim):
        lines = sample_grid_lines(u, axis)
        for k in ORDERS:
            if lines.shape[1] > 2 * k:
                found.append(float(np.mean(np.diff(lines, k, axis=1) ** 2)) / comb(2 * k, k))  # (3)
    variance = min(found, default=0.0) * (2 if np.iscomplexobj(u) else 1)
    return variance if variance > MIN_CORRECTED_NOISE**2 * float(np.var(u)) else 0.0


def unbiased_power(u: np.ndarray, p: int, variance: float) -> np.ndarray:
    """Estimates u^p from a noisy field, corrected so that noise does not change the mean.

    Hypotheses: see the module.
    Reference: [janson1997gaussian].
    Cost: p / 2 products.

    >>> unbiased_power(np.array([2.0]), 2, 1.0).tolist()
    [3.0]
    """
    return _sum(
        [
            (-variance) ** k * factorial(p) / (factorial(k) * factorial(p - 2 * k) * 2**k) * u ** (p - 2 * k)
            for k in range(p // 2 + 1)
        ]
    )  # (1)


def unbiased_modulus_power(u: np.ndarray, a: int, b: int, variance: float) -> np.ndarray:
    """Estimates u^a conj(u)^b from a noisy complex field, corrected so that noise does not change the mean.

    Hypotheses: see the module.
    Reference: [janson1997gaussian].
    Cost: b products.

    >>> unbiased_modulus_power(np.array([2.0j]), 0, 1, 1.0).real.tolist()
    [3.0]
    """
    square = np.abs(u) ** 2
    return u**a * _sum(
        [(-variance) ** k * factorial(k) * comb(a + b, k) * comb(b, k) * square ** (b - k) for k in range(b + 1)]
    )  # (2)


def _sum(parts: list[np.ndarray]) -> np.ndarray:
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total
