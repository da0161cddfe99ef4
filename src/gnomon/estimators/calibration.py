"""Probabilities from scores: one temperature, fitted on scores of rows that were left out.

    p_c(x) = exp(s f_c(x)) / sum_b exp(s f_b(x))                                                       (1)
    s minimizes -sum_i w_i sum_c q_ic log p_c(x_i),  with f_{-i} in place of f                          (2)
    q_ic = (1 - e) [y_i = c] + e / k,   e = k / (N + k),   N = sum_i w_i                                (3)

(1) keeps the order of the classes, so that the likeliest class is the predicted one. (2) is convex in s, with f_{-i}
from the leave-one-out shortcut: no row judges a function that it helped to fit, and nothing is fitted twice. (3) is
Laplace's rule of succession: a perfect score on N rows is no proof of certainty, and s stays finite.

Hypotheses: rows are exchangeable; s moves little between N - 1 and N rows.
Reference: [platt1999probabilistic], [guo2017calibration].
Cost: n k for each of some fifty evaluations.

>>> import torch
>>> scores = torch.tensor([[1.0, 0.0]] * 3 + [[0.0, 1.0]]).double()          # right three times of four
>>> s = temperature(scores, torch.zeros(4, dtype=torch.long), torch.ones(4).double() * 1e9)     # (3) vanishes
>>> round(float(torch.sigmoid(torch.tensor(s))), 6)
0.75
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

RANGE = (1e-6, 1e6)


def temperature(scores: Float[Tensor, "n k"], classes: Int[Tensor, " n"], weights: Float[Tensor, " n"]) -> float:
    """The factor s of (1) for which (2) is least, by bisection of the derivative, within RANGE."""
    n, k = scores.shape
    smoothing = k / (float(weights.sum()) + k)
    wanted = torch.full_like(scores, smoothing / k)
    wanted[torch.arange(n), classes] += 1 - smoothing  # (3)

    def slope(s: float) -> float:
        return float(weights @ (scores * (torch.softmax(s * scores, 1) - wanted)).sum(1))  # d (2) / ds

    low, high = RANGE
    if slope(low) >= 0:
        return low
    if slope(high) <= 0:
        return high
    while high / low > 1 + 1e-14:
        middle = (low * high) ** 0.5
        if not low < middle < high:
            break
        low, high = (middle, high) if slope(middle) < 0 else (low, middle)
    return low
