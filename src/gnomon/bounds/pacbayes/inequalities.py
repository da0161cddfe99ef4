"""PAC-Bayes inequalities: bounds on the test error of networks with random weights, from training error and KL
divergence.

Weights are drawn from a distribution Q; r is the mean error of such networks on n training examples, R on new ones, and
KL the divergence of Q from a distribution P that was fixed without these examples. With probability at least 1 - delta,
for all Q,

    kl(r | R) <= (KL + ln(2 sqrt(n) / delta)) / n =: 2 B,   kl(r | R) = r ln(r/R) + (1 - r) ln((1 - r)/(1 - R))     (1)
    R <= r + sqrt(B)                                                                                                (2)
    R <= (sqrt(r + B) + sqrt(B))^2                                                                                  (3)
    R <= (1 - exp(-c r - (KL + ln(1 / delta)) / n)) / (1 - exp(-c)),    c > 0 fixed without the examples            (4)

(2) and (3) follow from (1) by Pinsker's inequality and its refinement, so (1) is never the weaker. For several c, (4)
is taken at delta over their number, and the smallest is valid.

Hypotheses: independent examples; a loss in [0, 1]; P fixed without the examples.
Reference: [maurer2004note] for (1), [mcallester1999pac] for (2), [perez2021tighter] for (3), [catoni2007pac] for (4).

>>> round(seeger_bound(0.0, 0.0, 100, 0.05), 6) == round(1 - (0.05 / 20) ** (1 / 100), 6)  # no error seen: closed form
True
"""

from collections.abc import Sequence
from math import exp, expm1, inf, log, log1p, sqrt

from gnomon.core.errors import add_call_to_errors, out_of_range_error
from gnomon.core.inputs.checks import check_integer, check_number

__all__ = [
    "bernstein_upper_bound",
    "binary_kl",
    "catoni_bound",
    "inverse_kl",
    "mcallester_bound",
    "quadratic_bound",
    "seeger_bound",
]

CONSTANTS = (0.3, 0.5, 0.8, 1.2, 1.8, 2.7, 4.0)
"""Default values of c in (4)."""


def binary_kl(r: float, p: float) -> float:
    """Returns the KL divergence between Bernoulli distributions with probabilities r and p.

    See equation (1) of the module docstring.
    Hypotheses: shares in [0, 1].
    Reference: [maurer2004note].

    >>> binary_kl(0.5, 0.5), binary_kl(0.5, 1.0)
    (0.0, inf)
    """
    first = 0.0 if r == 0 else inf if p == 0 else r * log(r / p)
    second = 0.0 if r == 1 else inf if p == 1 else (1 - r) * (log1p(-r) - log1p(-p))
    return max(0.0, first + second)


@add_call_to_errors
def inverse_kl(risk: float, budget: float) -> float:
    """Returns the largest error rate R such that the KL divergence of Bernoulli(risk) from Bernoulli(R) is within
    budget.

        R = sup {p : kl(risk | p) <= budget}                                                                  (1)

    Hypotheses: a risk in [0, 1] and a budget of at least 0.
    Reference: [maurer2004note].
    Cost: sixty evaluations of a logarithm.

    >>> round(inverse_kl(0.0, 0.1), 12) == round(-expm1(-0.1), 12)           # kl(0 | p) = -ln(1 - p)
    True
    """
    risk = _share("risk", risk)
    if not budget >= 0:
        raise out_of_range_error("budget", "a number of at least 0", budget)
    low, high = risk, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if binary_kl(risk, middle) <= budget else (low, middle)
    return high


@add_call_to_errors
def seeger_bound(risk: float, kl: float, n: int, delta: float = 0.05) -> float:
    """Returns Seeger's PAC-Bayes bound on the test error, the tightest bound in this file.

    See equation (1) of the module docstring.
    Hypotheses: as for the module.
    Reference: [maurer2004note], Theorem 5.

    >>> seeger_bound(0.02, 50.0, 30_000) < quadratic_bound(0.02, 50.0, 30_000) < mcallester_bound(0.02, 50.0, 30_000)
    True
    """
    return inverse_kl(risk, 2 * _half(risk, kl, n, delta))  # (1)


@add_call_to_errors
def mcallester_bound(risk: float, kl: float, n: int, delta: float = 0.05) -> float:
    """Returns McAllester's PAC-Bayes bound on the test error: the training error plus a square root; may exceed 1.

    See equation (2) of the module docstring.
    Hypotheses: as for the module.
    Reference: [mcallester1999pac], with the constant of [maurer2004note].

    >>> mcallester_bound(0.1, 0.0, 50, 0.05) == 0.1 + (log(2 * 50**0.5 / 0.05) / 100) ** 0.5
    True
    """
    return risk + sqrt(_half(risk, kl, n, delta))  # (2)


@add_call_to_errors
def quadratic_bound(risk: float, kl: float, n: int, delta: float = 0.05) -> float:
    """Returns a PAC-Bayes bound on the test error that is tight if the training error is small; may exceed 1.

    See equation (3) of the module docstring.
    Hypotheses: as for the module.
    Reference: [perez2021tighter].

    >>> round(quadratic_bound(0.0, 0.0, 50, 0.05), 12) == round(4 * log(2 * 50**0.5 / 0.05) / 100, 12)
    True
    """
    half = _half(risk, kl, n, delta)
    return (sqrt(risk + half) + sqrt(half)) ** 2  # (3)


@add_call_to_errors
def catoni_bound(
    risk: float, kl: float, n: int, delta: float = 0.05, *, constants: Sequence[float] = CONSTANTS
) -> float:
    """Returns the smallest of Catoni's PAC-Bayes bounds over several constants, which share the allowed failure
    probability.

    See equation (4) of the module docstring.
    Hypotheses: as for the module; constants chosen without the examples.
    Reference: [catoni2007pac], Theorem 1.2.6.

    >>> one = catoni_bound(0.0, 0.0, 100, 0.05, constants=[1.0])
    >>> round(one, 12) == round(-expm1(log(0.05) / 100) / -expm1(-1.0), 12)
    True
    """
    _half(risk, kl, n, delta)
    if not len(constants) or not all(c > 0 for c in constants):
        raise out_of_range_error("constants", "positive numbers", list(constants))
    spent = (kl + log(len(constants) / delta)) / n
    return min((1 - exp(-c * risk - spent)) / -expm1(-c) for c in constants)  # (4)


def bernstein_upper_bound(mean: float, variance: float, draws: int, delta: float) -> float:
    """Returns an upper confidence bound of an expectation from the mean and variance of independent draws in [0, 1].

        E[X] <= mean + sqrt(2 V ln(2 / delta) / m) + 7 ln(2 / delta) / (3 (m - 1))                            (5)

    Hypotheses: independent, identically distributed draws in [0, 1]; V their unbiased variance.
    Reference: [maurer2009empirical], Theorem 4.

    >>> bernstein_upper_bound(0.5, 0.0, 8, 2 / exp(3)) == 0.5 + 1.0                  # 7 * 3 / (3 * 7)
    True
    """
    odds = log(2 / delta)
    return mean + sqrt(2 * variance * odds / draws) + 7 * odds / (3 * (draws - 1))  # (5)


def _half(risk: float, kl: float, n: int, delta: float) -> float:
    """Validates the arguments of a PAC-Bayes bound, and returns its term for the KL divergence and the number of
    examples.
    """
    _share("risk", risk)
    n = check_integer("n", n)
    delta = check_number("delta", delta, above=0, below=1)
    if not 0 <= kl < inf:
        raise out_of_range_error("kl", "a finite number of at least 0", kl)
    return (kl + log(2 * sqrt(n) / delta)) / (2 * n)


def _share(name: str, value: float) -> float:
    if not 0 <= value <= 1:
        raise out_of_range_error(name, "a share in [0, 1]", value)
    return float(value)
