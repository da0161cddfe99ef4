"""Computes linear recurrences for all times in parallel (scan).

    h_t = a_t h_{t-1} + b_t,   h_{-1} = h_0 given                                                          (1)
    (a, b) then (a', b')  =  (a a', a' b + b')                                                             (2)

(2) is associative, so that all prefixes are found in ceil(log2 T) rounds of elementwise products [blelloch1990prefix].
"""

import torch
from torch import Tensor

__all__ = ["linear_scan"]


def linear_scan(a: Tensor, b: Tensor, start: Tensor | None = None) -> Tensor:
    """Computes all states of the recurrence h_t = a_t h_{t-1} + b_t along dimension 1, in parallel.

        h_t = sum over s <= t of (product over s < r <= t of a_r) b_s                                      (1)

    Hypotheses: a and b have one shape; ``start`` is (batch, channels), zero by default.
    Reference: [blelloch1990prefix]; [martin2018parallelizing] for recurrent networks.
    Cost: 2 T operations a channel in 2 log2 T rounds: pairs of steps are joined, the half is scanned, and the states
    between are filled in.

    >>> a, b = torch.full((1, 4, 1), 0.5), torch.ones(1, 4, 1)
    >>> linear_scan(a, b)[0, :, 0]                       # 2 - 2^-t
    tensor([1.0000, 1.5000, 1.7500, 1.8750])
    """
    if start is not None:
        b = torch.cat([b[:, :1] + a[:, :1] * start.unsqueeze(1), b[:, 1:]], 1)
    return _scan(a, b)[1]


def _scan(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """Combines the steps of a linear recurrence up to each time, along dimension 1."""
    times = a.shape[1]
    if times == 1:
        return a, b
    even = times - times % 2
    a0, a1, b0, b1 = a[:, 0:even:2], a[:, 1:even:2], b[:, 0:even:2], b[:, 1:even:2]
    odd_a, odd_b = _scan(a0 * a1, a1 * b0 + b1)  # results of the scan at the odd times 1, 3, 5, ...
    later_a, later_b = a[:, 2::2], b[:, 2::2]
    count = later_a.shape[1]
    even_a = torch.cat([a[:, :1], odd_a[:, :count] * later_a], 1)
    even_b = torch.cat([b[:, :1], later_a * odd_b[:, :count] + later_b], 1)  # (1)
    return _interleave(even_a, odd_a), _interleave(even_b, odd_b)


def _interleave(even: Tensor, odd: Tensor) -> Tensor:
    count = odd.shape[1]
    both = torch.stack([even[:, :count], odd], 2).flatten(1, 2)
    return torch.cat([both, even[:, count:]], 1)
